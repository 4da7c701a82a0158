use std::sync::Arc;

use belljar_contract::{
    Backend, ErrorKind, Expected, GuestPath, QueryOptions, Request, Response, RunOptions, Sandbox,
    ScopeOptions,
    processes::{Command, OutputStream, ProcessId, SignalKind},
    session::Capability,
};

use crate::layers::fake::{Fake, Node, wait};

use super::*;

const TREE: &[&str] = &[
    "README.md=readme",
    "src/a.rs=one",
    "src/deep/b.rs=two",
    "secret/key=s3cret",
    "secret/src/x.rs=hidden",
    "into->secret",
    "way->src",
    "src/out->../secret/key",
    "src/nowhere->../gone",
    "src/dir/",
];

fn through(fake: &Arc<Fake>, policy: Policy) -> Sandbox {
    let below: Arc<dyn Backend> = fake.clone();
    Sandbox::new(Arc::new(PolicyBackend::new(below, policy)))
}

fn reader(globs: &[&str]) -> (Arc<Fake>, Sandbox) {
    let fake = Fake::with(TREE);
    let policy = Policy::nothing().and_read_only(globs).unwrap();
    let sandbox = through(&fake, policy);
    (fake, sandbox)
}

fn writer(globs: &[&str]) -> (Arc<Fake>, Sandbox) {
    let fake = Fake::with(TREE);
    let policy = Policy::nothing().and_read().and_write_only(globs).unwrap();
    let sandbox = through(&fake, policy);
    (fake, sandbox)
}

fn kind<T: std::fmt::Debug>(result: belljar_contract::Result<T>) -> ErrorKind {
    result.expect_err("a denial").kind
}

#[test]
fn what_is_not_allowed_is_not_described_and_is_denied() {
    let fake = Fake::with(TREE);
    let sandbox = through(&fake, Policy::nothing());
    let described = sandbox.describe();
    assert!(!described.writable);
    for capability in [
        Capability::Read,
        Capability::Write,
        Capability::Run,
        Capability::Start,
    ] {
        assert!(!described.can(capability));
    }
    assert_eq!(
        kind(wait(sandbox.read("README.md"))),
        ErrorKind::AccessDenied
    );
    assert_eq!(
        kind(wait(sandbox.write("a", "b", Default::default()))),
        ErrorKind::ReadOnly
    );
    let run = sandbox.run(Command::Shell("true".into()), RunOptions::default());
    assert_eq!(kind(wait(run)), ErrorKind::AccessDenied);
    // Also without a handle that looks at the description.
    let bare = PolicyBackend::new(fake.clone(), Policy::nothing());
    let path = GuestPath::try_from("README.md".to_owned()).unwrap();
    for (request, right) in [
        (
            Request::Read { path: path.clone() },
            ErrorKind::AccessDenied,
        ),
        (
            Request::MakeDirectory { path: path.clone() },
            ErrorKind::ReadOnly,
        ),
        (
            Request::Wait {
                process: ProcessId(1),
                wait: Default::default(),
            },
            ErrorKind::AccessDenied,
        ),
    ] {
        assert_eq!(kind(wait(bare.call(&Default::default(), request))), right);
    }
    assert!(fake.asked.lock().unwrap().is_empty());
}

#[test]
fn everything_changes_nothing() {
    let fake = Fake::with(TREE);
    let sandbox = through(&fake, Policy::everything());
    assert!(Arc::ptr_eq(&sandbox.describe(), &fake.describe()));
    assert_eq!(wait(sandbox.read("into/key")).unwrap().bytes, b"s3cret");
    assert_eq!(fake.asked.lock().unwrap().len(), 1);
}

#[test]
fn a_rule_for_reading_is_about_where_a_path_leads() {
    let (_, sandbox) = reader(&["src/**"]);
    for path in [
        "src/a.rs",
        "way/a.rs",
        "./src//deep/../a.rs",
        "/workspace/way/a.rs",
    ] {
        assert_eq!(wait(sandbox.read(path)).unwrap().bytes, b"one", "{path}");
    }
    for path in [
        "README.md",
        "secret/key",
        "into/key",
        "src/out",
        "way/out",
        "into/src/x.rs",
    ] {
        assert_eq!(
            kind(wait(sandbox.read(path))),
            ErrorKind::AccessDenied,
            "{path}"
        );
        assert_eq!(
            kind(wait(sandbox.read_range(path, 0, 1))),
            ErrorKind::AccessDenied
        );
        assert_eq!(
            kind(wait(sandbox.stat(path))),
            ErrorKind::AccessDenied,
            "{path}"
        );
        assert_eq!(
            kind(wait(sandbox.resolve(path))),
            ErrorKind::AccessDenied,
            "{path}"
        );
    }
    assert_eq!(
        wait(sandbox.resolve("way/deep")).unwrap().to_string(),
        "src/deep"
    );
    assert!(!wait(sandbox.resolve("way/deep")).unwrap().no_links());
    // What may be seen, because of what is below it.
    assert!(wait(sandbox.stat("src")).is_ok() && wait(sandbox.stat(".")).is_ok());
    assert_eq!(kind(wait(sandbox.stat("secret"))), ErrorKind::AccessDenied);
}

#[test]
fn what_may_not_be_read_is_not_told_to_be_there_or_not() {
    let (_, sandbox) = reader(&["src/**"]);
    for path in [
        "secret/key",
        "secret/none",
        "none",
        "none/none",
        "README.md/none",
        "into/none",
    ] {
        assert_eq!(
            kind(wait(sandbox.read(path))),
            ErrorKind::AccessDenied,
            "{path}"
        );
    }
    let missing = wait(sandbox.read("src/none")).unwrap_err();
    assert_eq!(
        (missing.kind, missing.path.as_deref()),
        (ErrorKind::NotFound, Some("src/none"))
    );
    let missing = wait(sandbox.read("way/none")).unwrap_err();
    assert_eq!(
        (missing.kind, missing.path.as_deref()),
        (ErrorKind::NotFound, Some("way/none"))
    );
    assert_eq!(kind(wait(sandbox.read("src/nowhere"))), ErrorKind::NotFound);
}

#[test]
fn what_may_only_be_a_directory_is_seen_as_one_or_not_at_all() {
    let (_, sandbox) = reader(&["**/*.rs"]);
    assert!(wait(sandbox.stat("secret")).is_ok());
    assert_eq!(kind(wait(sandbox.read("secret"))), ErrorKind::IsADirectory);
    assert!(wait(sandbox.read("into/src/x.rs")).is_ok());
    // What is there and may not be read answers as what is not there.
    for path in [
        "secret/key",
        "into/key",
        "secret/none",
        "README.md/x",
        "none/x",
        "secret/key/x.rs",
    ] {
        assert_eq!(
            kind(wait(sandbox.read(path))),
            ErrorKind::NotFound,
            "{path}"
        );
        assert_eq!(
            kind(wait(sandbox.stat(path))),
            ErrorKind::NotFound,
            "{path}"
        );
        assert_eq!(
            kind(wait(sandbox.list(path, None))),
            ErrorKind::NotFound,
            "{path}"
        );
        assert_eq!(
            kind(wait(sandbox.resolve(path))),
            ErrorKind::NotFound,
            "{path}"
        );
        let base = ScopeOptions {
            base: Some(path.into()),
            ..ScopeOptions::default()
        };
        assert_eq!(
            kind(wait(sandbox.glob("*", base))),
            ErrorKind::NotFound,
            "{path}"
        );
    }
}

#[test]
fn listings_and_results_show_what_may_be_seen() {
    let (_, sandbox) = reader(&["src/**", "*.md"]);
    let names = |listing: belljar_contract::files::Listing| {
        let names = listing.entries.into_iter().map(|entry| entry.name.text);
        (names.collect::<Vec<_>>(), listing.total)
    };
    let listing = names(wait(sandbox.list(".", None)).unwrap());
    assert_eq!(listing, (vec!["README.md".into(), "src".into()], 2));
    let listing = names(wait(sandbox.list(".", Some(1))).unwrap());
    assert_eq!(listing, (vec!["README.md".into()], 2));
    assert_eq!(
        kind(wait(sandbox.list("into", None))),
        ErrorKind::AccessDenied
    );

    let glob = |pattern: &str, limit| {
        let scope = ScopeOptions {
            limit,
            ..ScopeOptions::default()
        };
        let result = wait(sandbox.glob(pattern, scope)).unwrap();
        let paths = result.paths.into_iter().map(|found| found.path.text);
        (paths.collect::<Vec<_>>(), result.total)
    };
    assert_eq!(
        glob("**/*.rs", None),
        (vec!["src/a.rs".into(), "src/deep/b.rs".into()], 2)
    );
    assert_eq!(glob("**/*.rs", Some(1)), (vec!["src/a.rs".into()], 2));
    assert_eq!(glob("secret/*", None), (vec![], 0));

    let search = |pattern: &str, limit| {
        let query = QueryOptions {
            pattern: pattern.into(),
            ..QueryOptions::default()
        };
        let scope = ScopeOptions {
            limit,
            ..ScopeOptions::default()
        };
        let result = wait(sandbox.search(query, scope)).unwrap();
        let paths = result.matches.into_iter().map(|found| found.path.text);
        (paths.collect::<Vec<_>>(), result.more)
    };
    assert_eq!(
        search("e", None),
        (vec!["README.md".into(), "src/a.rs".into()], false)
    );
    assert_eq!(search("e", Some(1)), (vec!["README.md".into()], true));
    assert_eq!(search("s3cret", None), (vec![], false));
}

#[test]
fn a_glob_that_begins_at_a_link_is_judged_by_where_it_leads() {
    let (fake, sandbox) = reader(&["src/**"]);
    let glob = |pattern: &str| {
        let result = wait(sandbox.glob(pattern, ScopeOptions::default())).unwrap();
        let paths = result.paths.into_iter().map(|found| found.path.text);
        paths.collect::<Vec<_>>()
    };
    assert_eq!(glob("way/*.rs"), ["way/a.rs"]);
    assert_eq!(glob("into/*"), [""; 0]);
    assert_eq!(glob("into/src/*"), [""; 0]);
    for request in fake.asked.lock().unwrap().iter() {
        if let Request::Glob { scope, .. } = request {
            assert!(scope.base.no_links());
        }
    }
}

#[test]
fn a_link_into_what_is_hidden_does_not_tell_what_is_there() {
    let fake = Fake::with(&["src/a=1", "secret/key=s", "src/in->../secret"]);
    let policy = Policy::nothing().and_read_only(["src/**"]).unwrap();
    let sandbox = through(&fake, policy.and_write_only(["src/**"]).unwrap());
    for path in [
        "src/in/key/x",
        "src/in/none/x",
        "src/in/key/x/y",
        "src/in/none/x/y",
    ] {
        let kinds = [
            kind(wait(sandbox.stat(path))),
            kind(wait(sandbox.read(path))),
            kind(wait(sandbox.write(path, "b", Default::default()))),
            kind(wait(sandbox.make_directory(path))),
            kind(wait(sandbox.remove(path, false))),
        ];
        assert_eq!(kinds, [ErrorKind::AccessDenied; 5], "{path}");
    }
    // What may be seen is told as it is.
    assert_eq!(
        kind(wait(sandbox.write("src/a/x", "b", Default::default()))),
        ErrorKind::NotADirectory
    );
}

#[test]
fn a_link_that_comes_after_the_judgement_leads_nowhere() {
    for replaced in ["src/deep", "src/deep/b.rs"] {
        let (fake, sandbox) = reader(&["src/**"]);
        fake.meanwhile(move |request, tree| {
            if matches!(request, Request::Read { .. } | Request::List { .. }) {
                let target = if replaced.ends_with(".rs") {
                    "../../secret/key"
                } else {
                    "../secret/src"
                };
                tree.insert(replaced.into(), Node::Link(target.into()));
            }
        });
        assert_eq!(
            kind(wait(sandbox.read("src/deep/b.rs"))),
            ErrorKind::AccessDenied
        );
    }
    let (fake, sandbox) = writer(&["src/**"]);
    fake.meanwhile(|request, tree| {
        if matches!(request, Request::Write { .. }) {
            tree.insert("src/new".into(), Node::Link("../secret/key".into()));
        }
    });
    assert_eq!(
        kind(wait(sandbox.write("src/new", "x", Default::default()))),
        ErrorKind::AccessDenied
    );
    assert_eq!(fake.content("secret/key").as_deref(), Some("s3cret"));
}

#[test]
fn a_rule_for_writing_is_apart_from_the_one_for_reading() {
    let (fake, sandbox) = writer(&["src/**", "new/deep/*.txt"]);
    let parents = || belljar_contract::files::WriteOptions {
        make_parents: true,
        ..Default::default()
    };
    assert!(wait(sandbox.read("secret/key")).is_ok());
    for path in ["src/a.rs", "way/n.rs"] {
        wait(sandbox.write(path, "new", Default::default())).unwrap();
    }
    assert_eq!(fake.content("src/n.rs").as_deref(), Some("new"));
    wait(sandbox.write("new/deep/a.txt", "x", parents())).unwrap();
    for path in [
        "README.md",
        "src/out",
        "into/key",
        "into/new",
        "srcx",
        "new/deep/a.rs",
        "new/a.txt",
    ] {
        let denied = wait(sandbox.write(path, "x", parents())).unwrap_err();
        assert_eq!(
            (denied.kind, denied.path.as_deref()),
            (ErrorKind::AccessDenied, Some(path))
        );
        assert_eq!(
            kind(wait(sandbox.append(path, "x", parents()))),
            ErrorKind::AccessDenied
        );
        assert_eq!(
            kind(wait(sandbox.copy("src/a.rs", path, Expected::Any))),
            ErrorKind::AccessDenied
        );
    }
    let replace = sandbox.replace("into/key", "s3cret", "x", Default::default());
    assert_eq!(kind(wait(replace)), ErrorKind::AccessDenied);
    assert_eq!(fake.content("secret/key").as_deref(), Some("s3cret"));

    let dangling = sandbox.write("src/nowhere", "x", parents());
    assert_eq!(kind(wait(dangling)), ErrorKind::NotFound);
    let absent = belljar_contract::files::WriteOptions {
        expected: Expected::Absent,
        ..Default::default()
    };
    assert_eq!(
        kind(wait(sandbox.write("src/nowhere", "x", absent))),
        ErrorKind::AlreadyExists
    );
    assert_eq!(
        kind(wait(sandbox.write("src/none/x", "x", Default::default()))),
        ErrorKind::NotFound
    );

    wait(sandbox.make_directory("new")).unwrap();
    wait(sandbox.make_directory("src/d/e")).unwrap();
    wait(sandbox.make_directory("way/f/")).unwrap();
    assert_eq!(fake.tree().get("src/f"), Some(&Node::Directory));
    assert_eq!(
        kind(wait(sandbox.make_directory("other"))),
        ErrorKind::AccessDenied
    );
    assert_eq!(
        kind(wait(sandbox.make_directory("into/new"))),
        ErrorKind::AccessDenied
    );
}

#[test]
fn changing_what_may_not_be_read_tells_nothing_of_it() {
    let fake = Fake::with(TREE);
    let policy = Policy::nothing()
        .and_read_only(["src/**"])
        .unwrap()
        .and_write();
    let sandbox = through(&fake, policy);
    assert!(wait(sandbox.write("secret/key", "x", Default::default())).is_ok());
    let replace = sandbox.replace("README.md", "readme", "x", Default::default());
    assert_eq!(kind(wait(replace)), ErrorKind::AccessDenied);
    assert_eq!(
        kind(wait(sandbox.copy("README.md", "src/r", Expected::Any))),
        ErrorKind::AccessDenied
    );
    assert_eq!(
        kind(wait(sandbox.copy("into/key", "src/r", Expected::Any))),
        ErrorKind::AccessDenied
    );
    assert_eq!(
        kind(wait(sandbox.rename("README.md", "src/r", Expected::Any))),
        ErrorKind::AccessDenied
    );
    assert_eq!(
        kind(wait(sandbox.rename("secret", "src/s", Expected::Any))),
        ErrorKind::AccessDenied
    );

    let blind = through(&fake, Policy::nothing().and_write());
    assert!(wait(blind.append("src/a.rs", "x", Default::default())).is_ok());
    let replace = blind.replace("src/a.rs", "one", "x", Default::default());
    assert_eq!(kind(wait(replace)), ErrorKind::AccessDenied);
}

#[test]
fn a_directory_is_removed_only_if_everything_in_it_may_be() {
    let (fake, sandbox) = writer(&["src/**"]);
    assert_eq!(
        kind(wait(sandbox.remove("secret", true))),
        ErrorKind::AccessDenied
    );
    assert_eq!(
        kind(wait(sandbox.remove("into/key", false))),
        ErrorKind::AccessDenied
    );
    assert_eq!(
        kind(wait(sandbox.remove("way", false))),
        ErrorKind::AccessDenied
    );
    wait(sandbox.remove("src/out", false)).unwrap();
    wait(sandbox.remove("way/deep", true)).unwrap();
    assert_eq!(fake.content("src/deep/b.rs"), None);
    wait(sandbox.remove("src", true)).unwrap();
    assert!(fake.content("secret/key").is_some());

    let (fake, sandbox) = writer(&["src/*", "src/deep/*.txt"]);
    assert_eq!(
        kind(wait(sandbox.remove("src/deep", true))),
        ErrorKind::AccessDenied
    );
    assert_eq!(
        kind(wait(sandbox.remove("src", true))),
        ErrorKind::AccessDenied
    );
    wait(sandbox.remove("src/a.rs", true)).unwrap();
    wait(sandbox.remove("src/dir", true)).unwrap();
    assert!(fake.content("src/deep/b.rs").is_some());

    // A file in the place of a directory is not what the rule is about.
    let fake = Fake::with(&["src=a file"]);
    let sandbox = through(&fake, Policy::nothing().and_write_only(["src/**"]).unwrap());
    assert_eq!(
        kind(wait(sandbox.remove("src", true))),
        ErrorKind::NotADirectory
    );
}

#[test]
fn a_directory_moves_only_if_everything_in_it_may() {
    let (fake, sandbox) = writer(&["src/*", "src/deep/**", "new/**"]);
    assert_eq!(
        kind(wait(sandbox.rename("src/a.rs", "README.md", Expected::Any))),
        ErrorKind::AccessDenied
    );
    assert_eq!(
        kind(wait(sandbox.rename("README.md", "src/r", Expected::Any))),
        ErrorKind::AccessDenied
    );
    assert_eq!(
        kind(wait(sandbox.rename("src/deep", "src/d", Expected::Any))),
        ErrorKind::AccessDenied
    );
    assert_eq!(
        kind(wait(sandbox.rename("src/dir", "src/d", Expected::Any))),
        ErrorKind::AccessDenied
    );
    wait(sandbox.rename("way/a.rs", "src/b.rs", Expected::Absent)).unwrap();
    // A link moves as what it is.
    wait(sandbox.rename("src/out", "src/link", Expected::Absent)).unwrap();
    assert_eq!(
        fake.tree().get("src/link"),
        Some(&Node::Link("../secret/key".into()))
    );
    wait(sandbox.rename("src/deep", "new", Expected::Absent)).unwrap();
    assert_eq!(fake.content("new/b.rs").as_deref(), Some("two"));
}

fn launch(sandbox: &Sandbox, argv: &[&str]) -> Result<(), ErrorKind> {
    let argv = argv.iter().map(|&argument| argument.to_owned()).collect();
    let run = sandbox.run(Command::Argv(argv), RunOptions::default());
    wait(run).map(|_| ()).map_err(|error| error.kind)
}

#[test]
fn programs_are_allowed_by_the_name_that_they_are_called_by() {
    let fake = Fake::with(TREE);
    let policy = Policy::nothing().and_run_only(["git", "/opt/tool", "src/x.sh"]);
    let sandbox = through(&fake, policy);
    let denied = Err(ErrorKind::AccessDenied);
    for (program, right) in [
        ("git", Ok(())),
        ("/opt/tool", Ok(())),
        ("src/x.sh", Ok(())),
        ("gitk", denied),
        ("/usr/bin/git", denied),
        ("./git", denied),
        ("tool", denied),
        ("../opt/tool", denied),
        ("x.sh", denied),
        ("sh", denied),
    ] {
        assert_eq!(launch(&sandbox, &[program]), right, "{program}");
    }
    let run = |command: Command, options: RunOptions| {
        wait(sandbox.run(command, options)).map_err(|error| error.kind)
    };
    let git = || Command::Argv(vec!["git".into()]);
    let with = |name: &str| RunOptions {
        environment: vec![(name.into(), "x".into())],
        ..Default::default()
    };
    assert!(run(git(), with("HOME")).is_ok());
    assert_eq!(run(git(), with("PATH")), Err(ErrorKind::AccessDenied));
    assert_eq!(run(git(), with("LD_PRELOAD")), Err(ErrorKind::AccessDenied));
    assert_eq!(
        run(Command::Shell("git".into()), Default::default()),
        Err(ErrorKind::AccessDenied)
    );
    let elsewhere = RunOptions {
        directory: Some("src".into()),
        ..Default::default()
    };
    let script = Command::Argv(vec!["src/x.sh".into()]);
    assert_eq!(run(script, elsewhere), Err(ErrorKind::AccessDenied));
    let shell = through(&fake, Policy::nothing().and_run_only(["sh"]));
    assert!(wait(shell.run(Command::Shell("git".into()), Default::default())).is_ok());

    let found = wait(sandbox.find_commands(vec!["git".into(), "sh".into()])).unwrap();
    let there: Vec<bool> = found.iter().map(|info| info.path.is_some()).collect();
    assert_eq!(there, [true, false]);
}

#[test]
fn processes_of_other_programs_are_out_of_reach() {
    let fake = Fake::with(TREE);
    let started = Arc::new(StartedPrograms::default());
    let tool = |program: &str| {
        let policy = Policy::nothing().and_run_only([program]);
        let below: Arc<dyn Backend> = fake.clone();
        Sandbox::new(Arc::new(
            PolicyBackend::new(below, policy).sharing(Arc::clone(&started)),
        ))
    };
    let (shell, git) = (tool("sh"), tool("git"));
    let process = wait(shell.start(Command::Shell("cat".into()), Default::default())).unwrap();
    assert!(wait(shell.signal(process, SignalKind::Kill)).is_ok());
    assert!(wait(tool("sh").write_input(process, "x", true)).is_ok());
    assert_eq!(
        kind(wait(git.write_input(process, "x", true))),
        ErrorKind::NotFound
    );
    assert_eq!(
        kind(wait(git.signal(process, SignalKind::Kill))),
        ErrorKind::NotFound
    );
    assert_eq!(
        kind(wait(git.wait(process, Default::default()))),
        ErrorKind::NotFound
    );
    let read = git.read_output(process, OutputStream::Stdout, 0, 1, Default::default());
    assert_eq!(kind(wait(read)), ErrorKind::NotFound);
}

#[test]
fn two_policies_leave_what_both_allow() {
    let fake = Fake::with(TREE);
    let one = Policy::nothing()
        .and_read_only(["src/**", "*.md"])
        .unwrap()
        .and_write()
        .and_run_only(["git", "sh"]);
    let two = Policy::nothing()
        .and_read_only(["src/deep/**", "secret/**"])
        .unwrap()
        .and_run_only(["git", "cargo"]);
    for (below, above) in [(one.clone(), two.clone()), (two, one)] {
        let below: Arc<dyn Backend> = Arc::new(PolicyBackend::new(fake.clone(), below));
        let sandbox = Sandbox::new(Arc::new(PolicyBackend::new(below, above)));
        assert!(wait(sandbox.read("src/deep/b.rs")).is_ok());
        for path in ["src/a.rs", "secret/key", "README.md"] {
            assert_eq!(
                kind(wait(sandbox.read(path))),
                ErrorKind::AccessDenied,
                "{path}"
            );
        }
        assert_eq!(launch(&sandbox, &["git"]), Ok(()));
        assert_eq!(launch(&sandbox, &["sh"]), Err(ErrorKind::AccessDenied));
        let described = sandbox.describe();
        assert!(!described.writable);
        assert_eq!(
            described.policy.read.as_deref(),
            Some(&["src/deep/**".to_owned()][..])
        );
        assert_eq!(described.policy.write.as_deref(), Some(&[][..]));
        assert_eq!(
            described.policy.programs.as_deref(),
            Some(&["git".to_owned()][..])
        );
        assert_eq!(described.hardening_gaps.len(), 1);
    }
}

#[test]
fn what_is_derived_is_kept_while_it_holds() {
    let fake = Fake::with(TREE);
    let sandbox = through(&fake, Policy::nothing().and_read());
    assert!(Arc::ptr_eq(&sandbox.describe(), &sandbox.describe()));
    assert!(
        sandbox
            .describe()
            .instructions
            .starts_with("Fake. By policy")
    );
}

#[test]
fn a_response_of_another_operation_is_passed_on_and_not_trusted() {
    struct Liar(Arc<Fake>);
    #[belljar_contract::async_trait]
    impl Backend for Liar {
        fn describe(&self) -> Arc<belljar_contract::session::Description> {
            self.0.describe()
        }
        async fn call(
            &self,
            _: &belljar_contract::Context,
            _: Request,
        ) -> belljar_contract::Result<Response> {
            Ok(Response::Done)
        }
        async fn close(&self) -> belljar_contract::Result<()> {
            Ok(())
        }
    }
    let policy = Policy::nothing().and_read_only(["src/**"]).unwrap();
    let liar = Arc::new(Liar(Fake::with(TREE)));
    let sandbox = Sandbox::new(Arc::new(PolicyBackend::new(liar, policy)));
    assert_eq!(
        kind(wait(sandbox.read("src/a.rs"))),
        ErrorKind::BackendFailed
    );
}
