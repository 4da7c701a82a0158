//! A session over `ssh` that nothing happens to.

use belljar::{WriteOptions, config::Config, examine_ambient, processes::Outcome};

use super::*;

#[test]
fn a_session_over_ssh_is_a_session() {
    let Some(place) = Place::start() else { return };
    let sandbox = open(place.options());
    let description = sandbox.describe();
    assert_eq!(description.backend, "remote");
    assert!(description.durable && description.writable);
    assert!(!description.hardening_gaps.is_empty());
    // More than a pipe holds, with every byte.
    let bytes: Vec<u8> = (0..3 << 20)
        .map(|at: u32| at.to_le_bytes()[at as usize % 4])
        .collect();
    wait(sandbox.write("a", bytes.clone(), WriteOptions::default())).expect("it writes");
    let there = std::fs::read(place.workspace.path().join("a")).expect("it is there");
    assert_eq!(there, bytes);
    assert_eq!(wait(sandbox.read("a")).expect("it reads").bytes, bytes);
    // Its own output is not the stream.
    assert_eq!(printed(&sandbox, "echo out; echo err >&2"), "out");
    // It is where the server is, and not where this is.
    let interfaces = printed(&sandbox, "ip -brief link show far");
    assert!(interfaces.starts_with("far"), "{interfaces}");
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|at| {
                scope.spawn({
                    let sandbox = &sandbox;
                    move || printed(sandbox, &format!("sleep 0.1; echo {at}"))
                })
            })
            .collect();
        for (at, call) in calls.into_iter().enumerate() {
            assert_eq!(call.join().expect("no panic"), at.to_string());
        }
    });
    let limited = RunOptions {
        timeout: Some(200),
        ..RunOptions::default()
    };
    let command = Command::Shell("sleep 60".into());
    let ended = wait(sandbox.run(command, limited)).expect("it tells");
    assert_eq!(ended.outcome, Outcome::TimedOut);
    close(&sandbox);
    let error = wait(sandbox.read("a")).expect_err("it is closed");
    assert_eq!(error.kind, ErrorKind::Closed);
    close(&sandbox);
}

#[test]
fn secrets_travel_on_the_stream_and_are_in_no_argument() {
    let Some(place) = Place::start() else { return };
    let mut options = place.options();
    options
        .environment
        .insert("TOKEN".into(), "s3cret-of-a-test".into());
    let sandbox = open(options);
    assert_eq!(printed(&sandbox, "echo $TOKEN"), "s3cret-of-a-test");
    let arguments = printed(&sandbox, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '");
    assert!(arguments.contains("stdio"));
    assert!(!arguments.contains("s3cret-of-a-test"));
    close(&sandbox);
}

#[test]
fn the_connection_is_made_once_for_all_that_come_at_once() {
    let Some(place) = Place::start() else { return };
    let count = place.server.folder().join("count");
    let text = format!("echo >>{}; exec \"$@\"", count.display());
    let mut command: Vec<OsString> = ["sh", "-c", &text, "sh"].map(Into::into).into();
    command.extend(place.options().command);
    let sandbox = open(RemoteOptions {
        command,
        ..place.options()
    });
    assert!(!count.exists(), "nobody has called yet");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| printed(&sandbox, "true"));
        }
    });
    let lines = std::fs::read_to_string(count).expect("it is there");
    assert_eq!(lines.lines().count(), 1);
    close(&sandbox);
}

#[test]
fn a_session_that_rests_says_that_it_lives() {
    let Some(place) = Place::start() else { return };
    let sandbox = open(RemoteOptions {
        keep_alive: Duration::from_millis(100),
        ..place.options()
    });
    printed(&sandbox, "true");
    let packets = || -> u64 {
        let counter = "/sys/class/net/far/statistics/rx_packets";
        let output = place.server.command("cat").arg(counter).output();
        let text = String::from_utf8(output.expect("it runs").stdout).expect("a number");
        text.trim().parse().expect("a number")
    };
    let before = packets();
    until("it says so", Duration::from_secs(10), || {
        packets() > before + 10
    });
    assert_eq!(printed(&sandbox, "echo still"), "still");
    close(&sandbox);
}

#[test]
fn who_may_only_read_changes_nothing() {
    let Some(place) = Place::start() else { return };
    let sandbox = open(RemoteOptions {
        writable: false,
        ..place.options()
    });
    let error = wait(sandbox.write("a", "b", WriteOptions::default())).expect_err("refused");
    assert_eq!(error.kind, ErrorKind::ReadOnly, "{error:?}");
    let gaps = sandbox.describe().hardening_gaps.clone();
    assert!(
        gaps.iter()
            .any(|gap| gap.starts_with("writable-by-processes:"))
    );
    close(&sandbox);
}

#[test]
fn what_it_gives_is_looked_at_from_inside() {
    let Some(place) = Place::start() else { return };
    let options = place.options();
    let words = options.command.iter().map(|word| {
        let word = word.to_str().expect("UTF-8");
        format!("{word:?}")
    });
    let text = format!(
        "version = 1\nsandbox.backend = 'remote'\nsandbox.remote.command = [{}]\nsandbox.remote.root = {:?}",
        words.collect::<Vec<_>>().join(", "),
        options.root
    );
    let config = Config::from_toml(&text, Path::new("/")).expect("right");
    let more = belljar::OpenOptions {
        engine_environment: options.program_environment,
        ..belljar::OpenOptions::default()
    };
    let report = wait(examine_ambient(&Context::new(), &config, more)).expect("it tells");
    assert_eq!(report.backend, "remote");
    let got = |name: &str| {
        let row = report.rows.iter().find(|row| row.guarantee == name);
        row.expect("a row").got.clone()
    };
    assert_eq!(got("user"), "user 0, group 0");
    assert!(got("no-network").contains("far"));
    assert_eq!(report.failures().count(), 0);
}
