//! `run`: commands, arguments, environment, directory, exit codes.

use belljar_contract::{ErrorKind, Expected, RunOptions, files::WriteOptions, processes::Outcome};

use super::files_write::ODD_NAMES;
use crate::{
    case::{Case, RUN, RUN_FILES, Verdict, case},
    check::{eq, expect_kind, same_bytes, that},
    fixture::Fixture,
    fixture_processes::{argv, kept, shell},
};

pub(super) const CASES: &[Case] = &[
    case!(
        exit_codes,
        "processes.run/exit-codes",
        "Every exit code is told as it is, also 124, 126, 127 and 137.",
        RUN
    ),
    case!(
        signals,
        "processes.run/signals",
        "A program that a signal ended is signalled, with the signal's number.",
        RUN
    ),
    case!(
        not_signalled_by_number,
        "processes.run/137-is-not-a-signal",
        "Exiting with 137 and dying of signal 9 are two answers; so are 124 and the time limit.",
        RUN
    ),
    case!(
        arguments,
        "processes.run/arguments-are-data",
        "Arguments reach the program byte for byte: empty, spaces, newlines, quotes, $(), options.",
        RUN
    ),
    case!(
        many_arguments,
        "processes.run/large-arguments",
        "An argument of 100,000 bytes and 5,000 arguments reach the program.",
        RUN
    ),
    case!(
        shell_text,
        "processes.run/shell-text",
        "Shell text is one value for sh -c: quotes, pipes, several lines.",
        RUN
    ),
    case!(
        no_program,
        "processes.run/no-such-program",
        "A program that is not there is program-not-found, by name and by path.",
        RUN
    ),
    case!(
        shell_127,
        "processes.run/what-the-shell-cannot-find-is-127",
        "A shell that finds no program exits with 127, which is not an error.",
        RUN
    ),
    case!(
        not_executable,
        "processes.run/not-executable",
        "A file without x, a directory, a foreign binary, a missing interpreter: not-executable.",
        RUN_FILES
    ),
    case!(
        executable_file,
        "processes.run/a-written-program",
        "A program written with executable runs, by a relative path and from a sub-directory.",
        RUN_FILES
    ),
];

async fn exit_codes(f: &Fixture) -> Verdict {
    for code in [
        0, 1, 2, 64, 124, 125, 126, 127, 128, 130, 137, 139, 143, 254, 255,
    ] {
        let execution = f.sh(&format!("exit {code}")).await?;
        eq("the outcome", execution.outcome, Outcome::Exited(code))?;
    }
    Ok(())
}

async fn signals(f: &Fixture) -> Verdict {
    for (name, number) in [
        ("KILL", 9),
        ("TERM", 15),
        ("SEGV", 11),
        ("INT", 2),
        ("HUP", 1),
    ] {
        let execution = f
            .sh(&format!("echo before; kill -{name} $$; sleep 5"))
            .await?;
        eq(name, execution.outcome, Outcome::Signalled(number))?;
        same_bytes("the output", &kept(&execution.stdout), b"before\n")?;
    }
    Ok(())
}

async fn not_signalled_by_number(f: &Fixture) -> Verdict {
    let outcomes = [
        f.sh("exit 137").await?.outcome,
        f.sh("kill -KILL $$").await?.outcome,
        f.sh("exit 124").await?.outcome,
        f.run(shell("sleep 30"), crate::fixture_processes::limited(100))
            .await?
            .outcome,
    ];
    let right = [
        Outcome::Exited(137),
        Outcome::Signalled(9),
        Outcome::Exited(124),
        Outcome::TimedOut,
    ];
    eq("the outcomes", outcomes, right)
}

/// Prints each argument between brackets.
const PRINT: &str = r#"for a; do printf '[%s]' "$a"; done"#;

async fn arguments(f: &Fixture) -> Verdict {
    let mut parts = vec![
        "sh", "-c", PRINT, "sh", "", " ", "'", "\"", "\\", "$HOME", "%s", "\n\n",
    ];
    parts.extend(ODD_NAMES);
    let every: String = (1..=127u8).map(char::from).collect();
    parts.push(&every);
    let execution = f.run(argv(&parts), RunOptions::default()).await?;
    let right: String = parts[4..].iter().map(|part| format!("[{part}]")).collect();
    same_bytes("the arguments", &kept(&execution.stdout), right.as_bytes())
}

async fn many_arguments(f: &Fixture) -> Verdict {
    let long = "x".repeat(100_000);
    let execution = f
        .run(
            argv(&["sh", "-c", "printf %s \"$1\"", "sh", &long]),
            RunOptions::default(),
        )
        .await?;
    same_bytes("one of 100,000", &kept(&execution.stdout), long.as_bytes())?;
    let mut parts = vec!["sh", "-c", "echo $#", "sh"];
    parts.extend(["argument"; 5000]);
    let execution = f.run(argv(&parts), RunOptions::default()).await?;
    same_bytes("5,000 of them", &kept(&execution.stdout), b"5000\n")
}

async fn shell_text(f: &Fixture) -> Verdict {
    let text = "x='a  b'\nprintf '%s|' \"$x\" 'it'\"'\"'s'\necho $(echo 1 | cat) # done";
    same_bytes("the output", &f.printed(text).await?, b"a  b|it's|1\n")?;
    // It is /bin/sh -c TEXT: $0 is the shell, and there are no arguments.
    same_bytes("$#", &f.printed("echo $#").await?, b"0\n")
}

async fn no_program(f: &Fixture) -> Verdict {
    for program in [
        "belljar-no-such-program",
        "./none",
        "/none/x",
        "none/x",
        "-x",
        "two words",
    ] {
        let ran = f.run(argv(&[program]), RunOptions::default()).await;
        expect_kind(program, ran, ErrorKind::ProgramNotFound)?;
    }
    Ok(())
}

async fn shell_127(f: &Fixture) -> Verdict {
    let execution = f.sh("belljar-no-such-program").await?;
    eq("the outcome", execution.outcome, Outcome::Exited(127))?;
    that(
        !kept(&execution.stderr).is_empty(),
        "the shell said nothing",
    )
}

pub(super) fn executable() -> WriteOptions {
    WriteOptions {
        make_parents: true,
        executable: true,
        ..WriteOptions::default()
    }
}

async fn not_executable(f: &Fixture) -> Verdict {
    f.put("plain", "#!/bin/sh\necho ran\n").await?;
    f.make_directory("dir").await?;
    // An ELF file for a machine that nobody has.
    let mut foreign = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xfe\xfe\x01\0\0\0".to_vec();
    foreign.resize(128, 0);
    f.write_with("foreign", foreign, executable()).await?;
    f.write_with("lost", "#!/none/interpreter\n", executable())
        .await?;
    for program in ["./plain", "./dir", "./foreign", "./lost"] {
        let ran = f.run(argv(&[program]), RunOptions::default()).await;
        expect_kind(program, ran, ErrorKind::NotExecutable)?;
    }
    Ok(())
}

async fn executable_file(f: &Fixture) -> Verdict {
    let text = "#!/bin/sh\necho \"ran $1\"\n";
    f.write_with("bin/tool", text, executable()).await?;
    let execution = f
        .run(argv(&["bin/tool", "one"]), RunOptions::default())
        .await?;
    same_bytes("from here", &kept(&execution.stdout), b"ran one\n")?;
    let options = RunOptions {
        directory: Some("bin".to_owned()),
        ..RunOptions::default()
    };
    let execution = f.run(argv(&["./tool", "two"]), options).await?;
    same_bytes("from bin", &kept(&execution.stdout), b"ran two\n")?;
    // The new text runs, at once.
    f.write("bin/tool", "#!/bin/sh\necho new\n", Expected::Any)
        .await?;
    same_bytes("replaced", &f.printed("bin/tool").await?, b"new\n")
}
