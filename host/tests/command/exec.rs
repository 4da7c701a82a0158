//! `belljar exec`: streams, codes, and what a program does not get.

use std::{io::Write as _, process::Output};

use crate::{child::belljar, folder::Folder};

fn exec(folder: &Folder, options: &[&str], program: &[&str], input: &[u8]) -> Output {
    let mut child = belljar(folder.path())
        .args(["exec", "--config", "local.toml"])
        .args(options)
        .arg("--")
        .args(program)
        .env("BELLJAR_TEST_SECRET", "s3cret")
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program that does not read gives the writer a closed pipe.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[test]
fn the_programs_code_is_the_commands() {
    let folder = Folder::new();
    let code =
        |options: &[&str], program: &[&str]| exec(&folder, options, program, b"").status.code();
    assert_eq!(code(&[], &["true"]), Some(0));
    assert_eq!(code(&[], &["sh", "-c", "exit 124"]), Some(124));
    assert_eq!(code(&[], &["sh", "-c", "kill -9 $$"]), Some(137));
    assert_eq!(code(&[], &["no-such-program"]), Some(127));
    std::fs::write(folder.work("text"), "text").unwrap();
    assert_eq!(code(&[], &["./text"]), Some(126));
    assert_eq!(
        code(&["--timeout", "50ms"], &["sleep", "606.25"]),
        Some(124)
    );
    assert_eq!(code(&["--dir", "missing"], &["true"]), Some(125));
}

#[test]
fn the_three_streams_are_passed_on() {
    let folder = Folder::new();
    let input: Vec<u8> = (0..3_000_000_u32)
        .map(|number| number.to_le_bytes()[0])
        .collect();
    let output = exec(
        &folder,
        &[],
        &["sh", "-c", "echo begun >&2; cat; echo done >&2"],
        &input,
    );
    assert!(output.stdout == input);
    assert_eq!(output.stderr, b"begun\ndone\n");
}

#[test]
fn a_program_that_does_not_read_ends_as_it_likes() {
    let folder = Folder::new();
    let output = exec(&folder, &[], &["sh", "-c", "exit 3"], &vec![b'x'; 4 << 20]);
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_program_gets_the_variables_that_are_named_and_no_others() {
    let folder = Folder::new();
    let print = ["sh", "-c", "echo \"[$BELLJAR_TEST_SECRET]\""];
    assert_eq!(exec(&folder, &[], &print, b"").stdout, b"[]\n");
    assert_eq!(
        exec(&folder, &["--env", "BELLJAR_TEST_SECRET"], &print, b"").stdout,
        b"[s3cret]\n"
    );
    let refused = exec(
        &folder,
        &["--env", "BELLJAR_TEST_SECRET=s3cret"],
        &print,
        b"",
    );
    assert_eq!(refused.status.code(), Some(125));
    let told = [refused.stdout, refused.stderr].concat();
    assert!(
        !String::from_utf8(told).unwrap().contains("s3cret"),
        "a value is never repeated"
    );
}

#[test]
fn as_json_the_outcome_is_told_from_a_code() {
    let folder = Folder::new();
    let output = exec(
        &folder,
        &["--json", "--timeout", "50ms"],
        &["sleep", "607.25"],
        b"",
    );
    let execution: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(execution["outcome"], "timed-out");
    assert_eq!(output.status.code(), Some(124));
}

#[test]
fn a_configured_environment_reaches_every_process_and_no_message() {
    let folder = Folder::new();
    let file = folder.path().join("local.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let more = "path = \"/usr/bin:/bin\"\n[sandbox.local.environment]\nTOKEN = \"s3cret\"\n";
    std::fs::write(&file, text + more).unwrap();
    let print = ["sh", "-c", "echo \"$TOKEN $PATH $LANG\""];
    let output = exec(&folder, &["-vv"], &print, b"");
    assert_eq!(output.stdout, b"s3cret /usr/bin:/bin C.UTF-8\n");
    assert!(!String::from_utf8(output.stderr).unwrap().contains("s3cret"));
    let failed = exec(&folder, &["-vv"], &["no-such-program"], b"");
    assert!(!String::from_utf8(failed.stderr).unwrap().contains("s3cret"));
}
