//! What becomes of Pods whose owner is gone.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command as Program, Stdio},
};

use super::*;

/// The command, which a build has made.
fn belljar() -> Program {
    let built = std::env::var_os("BELLJAR_COMMAND").map(PathBuf::from);
    let built =
        built.unwrap_or_else(|| belljar_tests::workspace_root().join("target/debug/belljar"));
    Program::new(built)
}

/// Writes a configuration, and gives its path.
fn configuration(place: &KubernetesPlace, more: &str) -> PathBuf {
    let path = place.folder().join("belljar.toml");
    let text = format!(
        "version = 1\n[sandbox]\nbackend = \"kubernetes\"\nwritable = true\n[sandbox.kubernetes]\nimage = \"{image}\"\n\
         pull = \"never\"\nkubeconfig = \"{kubeconfig}\"\nnamespace = \"{namespace}\"\ncpus = 0.1\nmemory = \"256MiB\"\n{more}",
        image = belljar_tests::BUSYBOX,
        kubeconfig = place.kubeconfig().display(),
        namespace = place.namespace(),
    );
    std::fs::write(&path, text).expect("it is written");
    path
}

#[test]
fn an_owner_that_is_killed_leaves_no_pod_that_runs() {
    let Some(place) = place() else { return };
    let configuration = configuration(&place, "");
    let mut owner = belljar()
        .arg("session")
        .arg("--config")
        .arg(&configuration)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = owner.stdin.take().expect("piped");
    let question = r#"{"jsonrpc":"2.0","id":1,"method":"files.list","params":{"path":"."}}"#;
    writeln!(stdin, "{question}").expect("it reads");
    let mut answers = BufReader::new(owner.stdout.take().expect("piped"));
    let mut answer = String::new();
    answers.read_line(&mut answer).expect("it answers");
    assert!(answer.contains("\"result\""), "{answer}");
    assert_eq!(place.pods().len(), 1);
    owner.kill().expect("it is ours");
    owner.wait().expect("it ends");
    // The resident sees the end of its stream, and process 1 with it.
    until("nothing runs", || place.pods().is_empty());
    // What is left of it is a name, which whoever looks for such takes away.
    let pruned = belljar()
        .arg("prune")
        .arg("--config")
        .arg(&configuration)
        .output()
        .expect("it runs");
    assert!(pruned.status.success(), "{pruned:?}");
    until("the Pod is removed", || {
        place.ask(&["get", "pods", "--output=name"]).is_empty()
    });
}
