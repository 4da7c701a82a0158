//! The session: its description, its commands, its end.

use std::time::Duration;

use belljar_contract::{
    ErrorKind, Expected, MAX_COMMAND_NAMES, QueryOptions, RunOptions, ScopeOptions,
    files::{ReplaceOptions, WriteOptions},
    processes::{OutputStream, SignalKind},
    session::Capability,
};

use crate::{
    case::{ANY, Case, OWN, OWN_FILES, OWN_START, RUN, RUN_FILES, Verdict, case},
    check::{eq, expect_kind, that},
    fixture::Fixture,
    fixture_processes::shell,
};

pub(super) const CASES: &[Case] = &[
    case!(
        described,
        "session.describe/is-complete-and-steady",
        "The description is sane, its capabilities are sorted, and it is the same again.",
        ANY
    ),
    case!(
        roots,
        "session.describe/roots",
        "pwd in a process at the root says what the description says.",
        RUN
    ),
    case!(
        unsupported,
        "session.describe/what-is-not-there-is-unsupported",
        "A function whose capability is not there answers unsupported, and nothing else.",
        ANY
    ),
    case!(
        no_user,
        "session.describe/without-users",
        "Without the capability, a user is unsupported, and nothing runs.",
        RUN_FILES
    ),
    case!(
        commands,
        "session.find-commands/finds-and-misses",
        "Commands are answered in the order asked for; what is not there is none, not an error.",
        RUN
    ),
    case!(
        command_errors,
        "session.find-commands/errors",
        "A slash, a NUL and an empty name are invalid-argument, 101 names are too-large.",
        RUN
    ),
    case!(
        closed,
        "session.close/everything-is-closed",
        "After the end every function of files answers closed.",
        OWN_FILES
    ),
    case!(
        closed_processes,
        "session.close/processes-are-closed",
        "After the end every function of processes answers closed, for old ids too.",
        OWN_START
    ),
    case!(
        closed_twice,
        "session.close/twice",
        "Ending a session twice does nothing; it can still be described.",
        OWN
    ),
    case!(
        closed_at_once,
        "session.close/at-once",
        "Eight that end a session at once all succeed.",
        OWN
    ),
    case!(
        closed_for_clones,
        "session.close/for-every-handle",
        "Handles for other contexts are the same session, and end with it.",
        OWN_FILES
    ),
];

async fn described(f: &Fixture) -> Verdict {
    let description = f.sandbox.describe();
    that(!description.backend.is_empty(), "the backend has no name")?;
    that(
        description.root.starts_with('/'),
        "the root is not absolute",
    )?;
    let normal = description.root == "/"
        || description.root[1..]
            .split('/')
            .all(|name| !matches!(name, "" | "." | ".."));
    that(normal, "the root is not normal")?;
    let mut sorted = description.capabilities.clone();
    sorted.sort_unstable();
    sorted.dedup();
    eq("the capabilities", &description.capabilities, &sorted)?;
    let limits = &description.limits;
    for (what, zero) in [
        ("file-bytes", limits.file_bytes == 0),
        ("results", limits.results == 0),
        (
            "processes",
            limits.processes == 0 && description.can(Capability::Run),
        ),
        (
            "output-maximum",
            limits.output_maximum < limits.output_default,
        ),
        (
            "timeout-maximum",
            limits.timeout_maximum < limits.timeout_default,
        ),
    ] {
        that(!zero, &format!("the limit {what} makes no sense"))?;
    }
    eq("again", &*f.sandbox.describe(), &*description)
}

async fn roots(f: &Fixture) -> Verdict {
    let description = f.sandbox.describe();
    let right = description
        .process_root
        .as_ref()
        .unwrap_or(&description.root);
    let execution = f.sandbox.run(shell("pwd"), RunOptions::default()).await?;
    let said = crate::fixture_processes::kept(&execution.stdout);
    eq("pwd", String::from_utf8_lossy(&said).trim_end(), right)
}

async fn unsupported(f: &Fixture) -> Verdict {
    let description = f.sandbox.describe();
    let s = &f.sandbox;
    let no = ErrorKind::Unsupported;
    if !description.can(Capability::Run) {
        let ran = s.run(shell("true"), RunOptions::default()).await;
        expect_kind("run", ran, no)?;
        let found = s.find_commands(vec!["sh".to_owned()]).await;
        expect_kind("find-commands", found, no)?;
    }
    if !description.can(Capability::Start) {
        let id = belljar_contract::processes::ProcessId(1);
        let started = s.start(shell("true"), RunOptions::default()).await;
        expect_kind("start", started, no)?;
        expect_kind("signal", s.signal(id, SignalKind::Kill).await, no)?;
        expect_kind("wait", s.wait(id, Duration::ZERO).await, no)?;
        expect_kind("write-input", s.write_input(id, "", true).await, no)?;
        let read = s
            .read_output(id, OutputStream::Stdout, 0, 1, Duration::ZERO)
            .await;
        expect_kind("read-output", read, no)?;
    }
    if !description.can(Capability::Read) {
        expect_kind("read", s.read("a").await, no)?;
        expect_kind("list", s.list(".", None).await, no)?;
    }
    if !description.can(Capability::Write) && description.writable {
        let written = s.write("a", "", WriteOptions::default()).await;
        expect_kind("write", written, no)?;
    }
    if !description.writable {
        let written = s.write("a", "", WriteOptions::default()).await;
        expect_kind("write", written, ErrorKind::ReadOnly)?;
        expect_kind("remove", s.remove("a", true).await, ErrorKind::ReadOnly)?;
    }
    Ok(())
}

async fn no_user(f: &Fixture) -> Verdict {
    if f.sandbox.describe().can(Capability::User) {
        return Err(crate::Failure::unmet("the sandbox runs as other users"));
    }
    let options = RunOptions {
        user: Some("nobody".to_owned()),
        ..RunOptions::default()
    };
    let ran = f.run(shell("touch started"), options).await;
    expect_kind("run", ran, ErrorKind::Unsupported)?;
    f.absent("started").await
}

async fn commands(f: &Fixture) -> Verdict {
    let names = [
        "sh",
        "belljar-no-such-command",
        "-x",
        "two words",
        "sh",
        "$(x)",
    ];
    let owned = names.iter().map(ToString::to_string).collect();
    let found = f.sandbox.find_commands(owned).await?;
    let got: Vec<&str> = found.iter().map(|command| command.name.as_str()).collect();
    eq("the names", got, names)?;
    for command in &found {
        eq(&command.name, command.path.is_some(), command.name == "sh")?;
    }
    let absolute = found[0]
        .path
        .as_ref()
        .is_some_and(|path| path.starts_with('/'));
    that(absolute, "the path of sh is not absolute")?;
    eq("none", f.sandbox.find_commands(Vec::new()).await?.len(), 0)
}

async fn command_errors(f: &Fixture) -> Verdict {
    for name in ["", "/bin/sh", "a/b", "a\0"] {
        let found = f.sandbox.find_commands(vec![name.to_owned()]).await;
        expect_kind(&format!("{name:?}"), found, ErrorKind::InvalidArgument)?;
    }
    let many = vec!["belljar-none".to_owned(); MAX_COMMAND_NAMES];
    eq(
        "100 names",
        f.sandbox.find_commands(many.clone()).await?.len(),
        100,
    )?;
    let more = [many, vec!["x".to_owned()]].concat();
    expect_kind(
        "101 names",
        f.sandbox.find_commands(more).await,
        ErrorKind::TooLarge,
    )
}

async fn closed(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    f.sandbox.close().await?;
    let (s, c) = (&f.sandbox, ErrorKind::Closed);
    let word = QueryOptions {
        pattern: "x".to_owned(),
        ..QueryOptions::default()
    };
    let scope = ScopeOptions::default;
    let plain = WriteOptions::default;
    let any = || Expected::Any;
    expect_kind("read", s.read("a").await, c)?;
    expect_kind("read-range", s.read_range("a", 0, 1).await, c)?;
    expect_kind("write", s.write("a", "y", plain()).await, c)?;
    expect_kind("append", s.append("a", "y", plain()).await, c)?;
    let replaced = s.replace("a", "x", "y", ReplaceOptions::default()).await;
    expect_kind("replace", replaced, c)?;
    expect_kind("list", s.list(".", None).await, c)?;
    expect_kind("glob", s.glob("*", scope()).await, c)?;
    expect_kind("search", s.search(word, scope()).await, c)?;
    expect_kind("stat", s.stat("a").await, c)?;
    expect_kind("resolve", s.resolve("a").await, c)?;
    expect_kind("make-directory", s.make_directory("d").await, c)?;
    expect_kind("remove", s.remove("a", false).await, c)?;
    expect_kind("rename", s.rename("a", "b", any()).await, c)?;
    expect_kind("copy", s.copy("a", "b", any()).await, c)?;
    // What is wrong with the arguments is told before it.
    expect_kind(
        "an empty path",
        s.read("").await,
        ErrorKind::InvalidArgument,
    )
}

async fn closed_processes(f: &Fixture) -> Verdict {
    let id = f.start_sh("sleep 60").await?;
    f.sandbox.close().await?;
    let (s, c) = (&f.sandbox, ErrorKind::Closed);
    let read = s
        .read_output(id, OutputStream::Stdout, 0, 1, Duration::ZERO)
        .await;
    expect_kind("read-output", read, c)?;
    expect_kind("write-input", s.write_input(id, "", true).await, c)?;
    expect_kind("signal", s.signal(id, SignalKind::Kill).await, c)?;
    expect_kind("wait", s.wait(id, Duration::from_secs(9)).await, c)?;
    expect_kind("run", f.sh("true").await, c)?;
    expect_kind("start", f.start_sh("true").await, c)?;
    let found = s.find_commands(vec!["sh".to_owned()]).await;
    expect_kind("find-commands", found, c)
}

async fn closed_twice(f: &Fixture) -> Verdict {
    let description = f.sandbox.describe();
    f.sandbox.close().await?;
    f.sandbox.close().await?;
    eq(
        "the description",
        &f.sandbox.describe().root,
        &description.root,
    )
}

async fn closed_at_once(f: &Fixture) -> Verdict {
    f.at_once(8, |_, f| async move { Ok(f.sandbox.close().await?) })
        .await?;
    that(f.sandbox.is_closed(), "the session is not closed")
}

async fn closed_for_clones(f: &Fixture) -> Verdict {
    let other = f.within(f.context().child());
    f.sandbox.close().await?;
    expect_kind("another handle", other.stat(".").await, ErrorKind::Closed)?;
    Ok(other.sandbox.close().await?)
}
