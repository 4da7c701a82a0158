//! A network on this machine: whatever goes through it comes out later.

use std::{
    io::{self, Read, Write},
    process::{Command, ExitCode, Stdio},
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

/// The word that makes this program one.
pub(crate) const WORD: &str = "delayed";

/// Runs a command whose standard input and output are so far away: milliseconds one way, the program, its arguments.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let [millis, program, arguments @ ..] = words else {
        return ExitCode::FAILURE;
    };
    let delay = Duration::from_millis(millis.parse().expect("milliseconds"));
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (input, output) = input.zip(output).expect("piped");
    thread::spawn(move || carry(io::stdin(), input, delay));
    carry(output, io::stdout(), delay);
    match child.wait().expect("it ends").success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// One direction, until its end has come through or nobody is there any more.
fn carry(mut from: impl Read + Send + 'static, mut to: impl Write, delay: Duration) {
    let (sender, under_way) = channel();
    thread::spawn(move || {
        let mut buffer = vec![0; 128 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let due = Instant::now() + delay;
            if sender.send((due, buffer[..count].to_vec())).is_err() {
                return;
            }
        }
    });
    for (due, bytes) in under_way {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if to.write_all(&bytes).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}
