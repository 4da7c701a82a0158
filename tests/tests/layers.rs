//! The conformance suite through the layers: where they take nothing away, nothing is different.

#![expect(
    clippy::disallowed_methods,
    reason = "a test makes the files that it looks for"
)]

use std::{path::Path, sync::Arc};

use belljar::{
    Backend,
    backends::VirtualOptions,
    layers::{Policy, PolicyBackend},
};
use belljar_conformance::{Factory, Failure, HostDirectory, Options, Outcome, Workspace, run};
use belljar_contract::{
    Context, QueryOptions, Sandbox, ScopeOptions, async_trait, blocking::block_on, files::Syntax,
};

type Layer = fn(Arc<dyn Backend>) -> Arc<dyn Backend>;

/// Opens each sandbox in a folder of its own, through a layer.
struct Layered(Layer);

#[async_trait]
impl Factory for Layered {
    async fn open(&self, context: &Context) -> Result<Workspace, Failure> {
        let failed = |error: &dyn std::error::Error| Failure::wrong(error.to_string());
        let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
        let at = |name: &str| -> Result<_, Failure> {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).map_err(|error| failed(&error))?;
            Ok(path)
        };
        let (inside, outside) = (at("workspace")?, at("outside")?);
        let backend = open(&inside).map_err(|error| failed(&*error))?;
        let sandbox = Sandbox::new((self.0)(backend)).within(context.clone());
        Ok(Workspace::fresh(sandbox)
            .with_outside(Arc::new(HostDirectory::new_ambient(inside, outside)))
            .keeping(folder))
    }
}

fn open(path: &Path) -> Result<Arc<dyn Backend>, Box<dyn std::error::Error>> {
    let options = VirtualOptions {
        workspace: Some(path.to_owned()),
        ..VirtualOptions::default()
    };
    Ok(options.open_ambient()?)
}

/// Runs the suite, and gives the names of the cases that failed.
fn failures(layer: Layer) -> Vec<String> {
    let factory: Arc<dyn Factory> = Arc::new(Layered(layer));
    let report = run(
        &factory,
        &Options {
            jobs: 2,
            ..Options::default()
        },
    );
    let passed = report
        .cases
        .iter()
        .filter(|case| matches!(case.outcome, Outcome::Passed));
    assert!(passed.count() > 50, "the suite did not run");
    let failed = report.cases.iter().filter_map(|case| match &case.outcome {
        Outcome::Failed(why) => Some(format!("{}: {why}", case.name)),
        _ => None,
    });
    failed.collect()
}

fn everything(below: Arc<dyn Backend>) -> Arc<dyn Backend> {
    Arc::new(PolicyBackend::new(below, Policy::everything()))
}

/// Every path is judged, and each is allowed.
fn every_path(below: Arc<dyn Backend>) -> Arc<dyn Backend> {
    let policy = Policy::everything().and_read_only(["**"]);
    let policy = policy.and_then(|policy| policy.and_write_only(["**"]));
    Arc::new(PolicyBackend::new(below, policy.expect("globs")))
}

#[test]
fn a_policy_of_everything_conforms() {
    assert_eq!(failures(everything), [""; 0]);
}

#[test]
fn a_policy_for_every_path_conforms() {
    assert_eq!(failures(every_path), [""; 0]);
}

/// A file with as many lines as one answer has fills it; were others searched, `more` would say what is in them.
#[test]
fn numbers_tell_nothing_of_what_a_policy_hides() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["open", "shut"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let write = |path: &str, text: &[u8]| std::fs::write(folder.path().join(path), text).unwrap();
    write("shut/key", b"password");
    write("shut/binary", b"\0");
    let backend = open(folder.path()).unwrap();
    let most = backend.describe().limits.results;
    write("open/full", "x\n".repeat(most as usize).as_bytes());
    let policy = Policy::nothing().and_read_only(["open/**"]).unwrap();
    let sandbox = Sandbox::new(Arc::new(PolicyBackend::new(backend, policy)));
    let search = |pattern: &str| {
        let query = QueryOptions {
            pattern: pattern.to_owned(),
            syntax: Syntax::Regex,
            include: vec!["**".to_owned()],
            ..QueryOptions::default()
        };
        let scope = ScopeOptions::default();
        block_on(&Context::new(), sandbox.search(query, scope))
            .unwrap()
            .unwrap()
    };
    let (guessed, missed) = (search("x|^pass"), search("x|^fail"));
    assert_eq!(guessed.matches.len(), most as usize);
    assert_eq!(
        (guessed.more, guessed.skipped),
        (missed.more, missed.skipped)
    );
    assert!(!guessed.more && guessed.skipped == Default::default());
}

/// Judged by where they lead, and told as they were asked for.
#[cfg(unix)]
#[test]
fn a_base_that_is_a_link_is_looked_at_through_a_policy() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("open")).unwrap();
    std::fs::write(folder.path().join("open/a.txt"), "word").unwrap();
    std::os::unix::fs::symlink("open", folder.path().join("way")).unwrap();
    let policy = Policy::nothing().and_read_only(["open/**"]).unwrap();
    let backend = open(folder.path()).unwrap();
    let sandbox = Sandbox::new(Arc::new(PolicyBackend::new(backend, policy)));
    let scope = || ScopeOptions {
        base: Some("way".to_owned()),
        ..ScopeOptions::default()
    };
    let query = QueryOptions {
        pattern: "word".to_owned(),
        ..QueryOptions::default()
    };
    let searched = block_on(&Context::new(), sandbox.search(query, scope()));
    let searched = searched.unwrap().unwrap().matches;
    assert_eq!(searched.len(), 1);
    assert_eq!(searched[0].path.text, "way/a.txt");
    let globbed = block_on(&Context::new(), sandbox.glob("*.txt", scope()));
    let globbed = globbed.unwrap().unwrap().paths;
    assert_eq!(globbed.len(), 1);
    assert_eq!(globbed[0].path.text, "way/a.txt");
}
