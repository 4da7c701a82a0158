//! What a program reaches: the workspace, and nothing else.

use belljar::{
    ErrorKind, RunOptions,
    processes::{Command, Outcome},
};

use crate::{Place, built, shown};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outside_of_the_workspace_is_reached() {
    let outside = tempfile::tempdir().expect("a temporary directory");
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "secret").expect("a file");
    let place = Place::of(built());
    place.write("in", "in");
    place.write("sub/in", "in sub");
    let link = |target: &std::path::Path, name: &str| {
        let link = place.folder.path().join(name);
        std::os::unix::fs::symlink(target, link).expect("a link");
    };
    link(&secret, "absolute");
    link(outside.path(), "directory");
    let up = format!(
        "../{}/secret",
        outside.path().file_name().expect("a name").display()
    );
    link(up.as_ref(), "relative");
    link("in".as_ref(), "inside");
    let secret = secret.display().to_string();
    for path in [
        "absolute",
        "relative",
        "directory/secret",
        &up,
        &secret,
        "/etc/passwd",
        "../../../../../../etc/passwd",
        "sub/../../in",
        "/workspace/../etc/passwd",
        "/proc/self/environ",
    ] {
        let ended = place.run(&["cat", path], RunOptions::default()).await;
        assert_eq!(ended.outcome, Outcome::Exited(1), "{path}");
        assert_eq!(shown(&ended.stdout), "", "{path}");
    }
    for path in ["in", "inside", "sub/../in", "/workspace/in", "./in"] {
        let ended = place.run(&["cat", path], RunOptions::default()).await;
        assert_eq!(
            (ended.outcome, shown(&ended.stdout).as_str()),
            (Outcome::Exited(0), "in"),
            "{path}"
        );
    }
    for line in [
        format!("cat < {secret}"),
        "cat < absolute".to_owned(),
        "cat < directory/secret".to_owned(),
        format!("echo x > {up}"),
        "echo x > relative".to_owned(),
        "echo x >> directory/new".to_owned(),
        "cp in directory/new".to_owned(),
        "mv in directory/new".to_owned(),
        "rm directory/secret".to_owned(),
        "cd directory".to_owned(),
        "cd ..".to_owned(),
        "echo directory/* | tr -d '*' | rg secret -".to_owned(),
    ] {
        let ended = place.line(&line).await;
        assert_eq!(ended.outcome, Outcome::Exited(1), "{line}");
    }
    let left: Vec<_> = std::fs::read_dir(outside.path())
        .expect("a directory")
        .collect();
    assert_eq!(left.len(), 1);
    assert_eq!(std::fs::read(&secret).expect("a file"), b"secret");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_works_in_its_directory() {
    let place = Place::of(built());
    place.write("sub/deep/a", "deep");
    place.write("top", "top");
    let within = |directory: &str| RunOptions {
        directory: Some(directory.into()),
        ..RunOptions::default()
    };
    let ended = place
        .run(&["cat", "deep/a", "/workspace/top"], within("sub"))
        .await;
    assert_eq!(shown(&ended.stdout), "deeptop");
    let ended = place.run(&["printenv", "PWD"], within("sub/deep")).await;
    assert_eq!(shown(&ended.stdout), "/workspace/sub/deep\n");
    let refused = place
        .sandbox
        .run(Command::Argv(vec!["ls".into()]), within("top"))
        .await;
    let error = refused.expect_err("it is a file");
    assert_eq!(error.kind, ErrorKind::NotADirectory);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_may_not_be_changed_is_not() {
    let place = Place::with(built(), |options| options.writable = false);
    place.write("in", "in");
    for line in [
        "cp in new",
        "mv in new",
        "rm in",
        "mkdir new",
        "echo x > new",
        "echo x >> in",
        "tee in < in",
    ] {
        let ended = place.line(line).await;
        assert_eq!(ended.outcome, Outcome::Exited(1), "{line}");
    }
    assert_eq!(place.printed("cat in").await, "in");
    assert_eq!(
        std::fs::read_dir(place.folder.path())
            .expect("a directory")
            .count(),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_the_hosts_environment_is_inherited() {
    let place = Place::of(built());
    let options = RunOptions {
        environment: vec![("ONE".into(), "1".into()), ("TERM".into(), "xterm".into())],
        ..RunOptions::default()
    };
    let ended = place.run(&["printenv"], options).await;
    let printed = shown(&ended.stdout);
    let mut names: Vec<_> = printed
        .lines()
        .filter_map(|line| line.split_once('=').map(|(name, _)| name))
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "ONE", "PATH", "PWD", "TERM"]);
    assert!(printed.contains("TERM=xterm\n") && printed.contains("HOME=/workspace\n"));
}
