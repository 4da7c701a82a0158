//! A stand-in for an engine's program: a shell, whose first argument is what it does.

use std::{thread, time::Instant};

use belljar_contract::Stop;

use super::{super::super::program::MAX_WORDS, *};

/// Calls `sh -c TEXT`.
fn sh(context: &Context, text: &str, timeout: Duration) -> Result<Answer, CliError> {
    call(context, text, None, timeout)
}

fn call(
    context: &Context,
    text: &str,
    input: Option<&[u8]>,
    timeout: Duration,
) -> Result<Answer, CliError> {
    let environment = EngineEnvironment::from_variables([
        ("PATH".into(), "/usr/bin:/bin".into()),
        ("DOCKER_HOST".into(), "unix:///x".into()),
        ("SECRET".into(), "s3cret".into()),
    ]);
    let cli = Cli::new(ContainerEngine::Docker, Some(Path::new("sh")), environment);
    let arguments = ["-c".to_owned(), text.to_owned()];
    cli.call(
        context,
        Call {
            arguments: &arguments,
            input,
            timeout,
        },
    )
}

const LONG: Duration = Duration::from_secs(60);

#[expect(clippy::disallowed_methods, reason = "the time that a test takes")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let value = work();
    (value, start.elapsed())
}

#[test]
fn the_environment_is_what_was_named() {
    let answer = sh(
        &Context::new(),
        "echo $DOCKER_HOST,$SECRET,$LC_ALL; pwd",
        LONG,
    );
    assert_eq!(answer.expect("it runs").stdout, b"unix:///x,,C\n/\n");
}

#[test]
fn input_and_both_outputs_travel() {
    let input = vec![b'x'; 1 << 20];
    let text = "echo warned >&2; cat";
    let answer = call(&Context::new(), text, Some(&input), LONG).expect("it runs");
    assert_eq!(answer.stdout.len(), input.len());
    // One that does not read its input does not hang.
    assert!(call(&Context::new(), "true", Some(&input), LONG).is_ok());
}

#[test]
fn an_answer_is_bounded_and_the_last_words_are_kept() {
    let text = "head -c 5000000 /dev/zero";
    let error = sh(&Context::new(), text, LONG).expect_err("too large");
    assert!(matches!(error.failure, CliFailure::AnswerTooLarge { .. }));
    let text = "head -c 100000 /dev/zero >&2; echo the reason >&2; exit 3";
    let error = sh(&Context::new(), text, LONG).expect_err("it failed");
    assert!(matches!(error.failure, CliFailure::Other { code: Some(3) }));
    assert!(error.words.len() <= MAX_WORDS && error.words.ends_with("the reason"));
}

#[test]
fn one_that_hangs_is_killed_with_what_it_started() {
    let folder = tempfile::tempdir().expect("a folder");
    let fifo = folder.path().join("held");
    let text = format!(
        "mkfifo {0}; (exec 9<>{0}; sleep 1000) & sleep 1000",
        fifo.display()
    );
    let limit = Duration::from_millis(200);
    let (result, took) = timed(|| sh(&Context::new(), &text, limit));
    let error = result.expect_err("no answer");
    assert!(matches!(error.failure, CliFailure::Hangs { after } if after == limit));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn a_call_ends_with_its_context() {
    let context = Context::new().with_timeout(Duration::from_millis(100));
    let error = sh(&context, "sleep 1000", LONG).expect_err("no time");
    assert!(matches!(error.failure, CliFailure::Stopped(Stop::TimedOut)));

    let context = Context::new();
    let cancellation = context.cancellation().clone();
    let canceller = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        cancellation.cancel();
    });
    let error = sh(&context, "sleep 1000", LONG).expect_err("cancelled");
    assert!(matches!(
        error.failure,
        CliFailure::Stopped(Stop::Cancelled)
    ));
    canceller.join().expect("it cancels");

    let error = sh(&context, "true", LONG).expect_err("never starts");
    assert!(matches!(
        error.failure,
        CliFailure::Stopped(Stop::Cancelled)
    ));
}

#[test]
fn a_helper_that_holds_the_output_does_not_hold_the_call() {
    let text = "echo done; setsid sleep 5 & exit 0";
    let (answer, took) = timed(|| sh(&Context::new(), text, LONG));
    assert_eq!(answer.expect("it ended").stdout, b"done\n");
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn a_program_that_is_not_there_is_missing() {
    for program in ["no-such-engine", "/no/such/engine"] {
        let cli = Cli::new(
            ContainerEngine::Podman,
            Some(Path::new(program)),
            EngineEnvironment::default(),
        );
        let arguments = ["info".to_owned()];
        let call = Call {
            arguments: &arguments,
            input: None,
            timeout: LONG,
        };
        let error = cli.call(&Context::new(), call).expect_err("missing");
        assert!(matches!(error.failure, CliFailure::ProgramMissing { .. }));
        assert_eq!(error.command, "info");
    }
    // A folder is no program.
    let cli = Cli::new(
        ContainerEngine::Podman,
        Some(Path::new("/etc/")),
        EngineEnvironment::default(),
    );
    let call = Call {
        arguments: &[],
        input: None,
        timeout: LONG,
    };
    let error = cli.call(&Context::new(), call).expect_err("no program");
    assert!(matches!(error.failure, CliFailure::NotStarted { .. }));
}
