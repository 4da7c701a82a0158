//! Input and output of programs.

use std::time::Duration;

use belljar::{
    RunOptions,
    processes::{Command, Outcome, OutputStream},
};

use crate::{Place, made, made_up};

const MUCH: usize = 8 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn much_input_comes_back_byte_for_byte() {
    let place = Place::of(made("copy", &made_up::copy()));
    let input: Vec<u8> = (0..=250).cycle().take(MUCH).collect();
    let options = RunOptions {
        stdin: input.clone(),
        output_limit: Some(MUCH as u64 + 2),
        ..RunOptions::default()
    };
    let ended = place.run(&["copy"], options).await;
    assert_eq!(ended.outcome, Outcome::Exited(0));
    assert!([ended.stdout.head, ended.stdout.tail].concat() == input);
    let ended = place.run(&["copy"], RunOptions::default()).await;
    assert_eq!(
        (ended.outcome, ended.stdout.head.len()),
        (Outcome::Exited(0), 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn input_that_nobody_reads_harms_nothing() {
    let place = Place::of(made("it", &made_up::exit(3)));
    let options = RunOptions {
        stdin: vec![7; MUCH],
        ..RunOptions::default()
    };
    let ended = place.run(&["it"], options).await;
    assert_eq!(ended.outcome, Outcome::Exited(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn output_is_capped_while_it_is_read() {
    let place = Place::of(made("print", &made_up::print(10_000)));
    let options = RunOptions {
        output_limit: Some(1000),
        ..RunOptions::default()
    };
    let ended = place.run(&["print"], options).await;
    assert_eq!(ended.outcome, Outcome::Exited(0));
    let output = ended.stdout;
    assert_eq!((output.head.len(), output.tail.len()), (500, 500));
    assert_eq!(output.dropped, 10_000 * 1024 - 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_printed_before_the_limit_is_kept() {
    let place = Place::of(made(
        "it",
        &made_up::module("(drop (call $print)) (loop $again (br $again))"),
    ));
    let options = RunOptions {
        timeout: Some(200),
        ..RunOptions::default()
    };
    let ended = place.run(&["it"], options).await;
    assert_eq!(
        (ended.outcome, ended.stdout.head.len()),
        (Outcome::TimedOut, 1024)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_started_program_is_talked_with() {
    let place = Place::of(made("copy", &made_up::copy()));
    let command = Command::Argv(vec!["copy".into()]);
    let started = place.sandbox.start(command, RunOptions::default()).await;
    let id = started.expect("the program starts");
    let mut cursor = 0;
    for text in ["one", "two"] {
        let written = place.sandbox.write_input(id, text, false).await;
        written.expect("it takes input");
        let chunk = place
            .sandbox
            .read_output(
                id,
                OutputStream::Stdout,
                cursor,
                100,
                Duration::from_secs(20),
            )
            .await
            .expect("it can be read");
        assert_eq!(chunk.bytes, text.as_bytes());
        cursor = chunk.cursor;
    }
    let written = place.sandbox.write_input(id, "", true).await;
    written.expect("its input can be ended");
    let ended = place.sandbox.wait(id, Duration::from_secs(20)).await;
    let ended = ended.expect("it can be waited for").expect("it ends");
    assert_eq!(ended.outcome, Outcome::Exited(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_run_at_once() {
    let place = Place::of(made("copy", &made_up::copy()));
    let runs: Vec<_> = (0..32_u8)
        .map(|number| {
            let sandbox = place.sandbox.clone();
            let options = RunOptions {
                stdin: vec![number; 100_000],
                ..RunOptions::default()
            };
            tokio::spawn(async move {
                let command = Command::Argv(vec!["copy".into()]);
                sandbox.run(command, options).await
            })
        })
        .collect();
    for (number, run) in (0..).zip(runs) {
        let ended = run.await.expect("no panic").expect("it starts");
        assert_eq!(ended.outcome, Outcome::Exited(0));
        assert!(ended.stdout.head == vec![number; 100_000]);
    }
}
