//! What a program finds: its environment, its directory, its PATH.

use super::processes_run::executable;
use belljar_contract::{ErrorKind, RunOptions, processes::Outcome};

use super::files_write::ODD_NAMES;
use crate::{
    case::{Case, RUN, RUN_FILES, Verdict, case},
    check::{Failure, eq, expect_kind, same_bytes, that},
    fixture::Fixture,
    fixture_processes::{argv, kept, shell},
};

pub(super) const CASES: &[Case] = &[
    case!(
        path_lookup,
        "processes.run/looked-up-in-its-own-path",
        "A name is looked up in the PATH of the process's own environment.",
        RUN_FILES
    ),
    case!(
        environment,
        "processes.run/the-environment-is-what-is-documented",
        "Nothing is inherited: the defaults, the marker, and nothing else.",
        RUN
    ),
    case!(
        variables,
        "processes.run/variables",
        "Variables are added and replace defaults; of two with one name the last counts.",
        RUN
    ),
    case!(
        bad_variables,
        "processes.run/bad-variables-and-arguments",
        "A bad variable name, a NUL, and an empty command are invalid-argument; nothing runs.",
        RUN_FILES
    ),
    case!(
        directory,
        "processes.run/directory",
        "The working directory is the root or the one that is named, and PWD says so.",
        RUN_FILES
    ),
    case!(
        bad_directory,
        "processes.run/bad-directories",
        "A directory that is not there is not-found, one that is a file not-a-directory.",
        RUN_FILES
    ),
    case!(
        odd_directories,
        "processes.run/odd-directories",
        "A directory's name may hold what a shell would take for more.",
        RUN_FILES
    ),
];

fn in_directory(directory: &str) -> RunOptions {
    RunOptions {
        directory: Some(directory.to_owned()),
        ..RunOptions::default()
    }
}

async fn path_lookup(f: &Fixture) -> Verdict {
    let text = "#!/bin/sh\necho mine\n";
    f.write_with("bin/belljar-mine", text, executable()).await?;
    let bin = f.printed("cd bin && pwd").await?;
    let bin = String::from_utf8_lossy(&bin).trim_end().to_owned();
    let options = RunOptions {
        environment: vec![("PATH".into(), bin)],
        ..RunOptions::default()
    };
    let execution = f.run(argv(&["belljar-mine"]), options.clone()).await;
    same_bytes("the output", &kept(&execution?.stdout), b"mine\n")?;
    let gone = f.run(argv(&["ls"]), options).await;
    expect_kind("ls in another PATH", gone, ErrorKind::ProgramNotFound)
}

async fn environment(f: &Fixture) -> Verdict {
    let description = f.sandbox.describe();
    let root = description
        .process_root
        .as_ref()
        .unwrap_or(&description.root);
    let execution = f.sandbox.run(argv(&["env"]), RunOptions::default()).await?;
    let text = String::from_utf8_lossy(&kept(&execution.stdout)).into_owned();
    let mut lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("BELLJAR_PROCESS=") && !line.starts_with("_="))
        .collect();
    lines.sort_unstable();
    let right = [
        format!("HOME={root}"),
        "LANG=C.UTF-8".to_owned(),
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned(),
        format!("PWD={root}"),
        "TERM=dumb".to_owned(),
    ];
    eq("the environment", lines, right)?;
    that(text.contains("BELLJAR_PROCESS="), "the marker is not there")
}

async fn variables(f: &Fixture) -> Verdict {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let options = RunOptions {
        environment: vec![
            pair("A", "1"),
            pair("A", "2"),
            pair("HOME", "/elsewhere"),
            pair("EMPTY", ""),
            pair("ODD", "a=b\n\"$(x)' "),
            pair("LANG", "C"),
        ],
        ..RunOptions::default()
    };
    let text = r#"printf '[%s]' "$A" "$HOME" "${EMPTY-unset}" "$ODD" "$LANG" "$TERM""#;
    let execution = f.run(shell(text), options).await?;
    let right = "[2][/elsewhere][][a=b\n\"$(x)' ][C][dumb]";
    same_bytes("the variables", &kept(&execution.stdout), right.as_bytes())
}

async fn bad_variables(f: &Fixture) -> Verdict {
    let touch = shell("touch started");
    for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0")] {
        let options = RunOptions {
            environment: vec![(name.into(), value.into())],
            ..RunOptions::default()
        };
        let ran = f.run(touch.clone(), options).await;
        expect_kind(&format!("{name:?}"), ran, ErrorKind::InvalidArgument)?;
    }
    for command in [
        argv(&[]),
        argv(&[""]),
        argv(&["touch", "a\0b"]),
        shell(""),
        shell("a\0"),
    ] {
        let what = format!("{command:?}");
        let ran = f.run(command, RunOptions::default()).await;
        expect_kind(&what, ran, ErrorKind::InvalidArgument)?;
    }
    f.absent("started").await
}

async fn directory(f: &Fixture) -> Verdict {
    f.put("d/e/file", "").await?;
    let here = f.printed("pwd").await?;
    let here = String::from_utf8_lossy(&here).trim_end().to_owned();
    for path in ["d/e", "d/e/", "d//e/.", "x/../d/e"] {
        let text = "pwd; echo \"$PWD\"; ls";
        let execution = f.run(shell(text), in_directory(path)).await?;
        let right = format!("{here}/d/e\n{here}/d/e\nfile\n");
        same_bytes(path, &kept(&execution.stdout), right.as_bytes())?;
    }
    Ok(())
}

async fn bad_directory(f: &Fixture) -> Verdict {
    f.put("a", "").await?;
    for (path, right) in [
        ("none", ErrorKind::NotFound),
        ("a", ErrorKind::NotADirectory),
        ("a/", ErrorKind::NotADirectory),
        ("a/b", ErrorKind::NotADirectory),
    ] {
        let ran = f.run(shell("touch started"), in_directory(path)).await;
        expect_kind(path, ran, right)?;
    }
    f.absent("started").await?;
    let empty = f.sandbox.run(shell("true"), in_directory("")).await;
    expect_kind("an empty path", empty, ErrorKind::InvalidArgument)
}

async fn odd_directories(f: &Fixture) -> Verdict {
    for name in ODD_NAMES {
        f.put(&format!("{name}/here"), "").await?;
        let execution = f.run(argv(&["ls"]), in_directory(name)).await?;
        if execution.outcome != Outcome::Exited(0) {
            return Err(Failure::wrong(format!("ls in {name:?} failed")));
        }
        same_bytes(name, &kept(&execution.stdout), b"here\n")?;
    }
    Ok(())
}
