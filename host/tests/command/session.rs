//! `belljar session` over real pipes.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    child::{self, belljar, is_running, until},
    folder::Folder,
};

/// How long the command may outlive its client.
const GONE_WITHIN: Duration = Duration::from_secs(2);

struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
    folder: Folder,
}

impl Session {
    fn start(config: &str) -> Self {
        let folder = Folder::new();
        let mut child = belljar(folder.path())
            .args(["session", "--config", config])
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take().map(BufReader::new),
            child,
            folder,
        }
    }

    fn send_line(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(&[line, b"\n"].concat()).unwrap();
    }

    fn send(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let id = id.into();
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send_line(request.to_string().as_bytes());
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        line
    }

    fn answer(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(1, method, params);
        self.answer()
    }

    fn end(mut self) {
        drop(self.stdin.take());
        assert!(child::end(&mut self.child).0.success());
    }
}

/// Arguments of a `sleep` that no other test has.
fn sleep(seconds: &str) -> Value {
    json!({ "command": { "argv": ["sleep", seconds] } })
}

#[test]
fn files_are_written_and_read_as_the_wit_names_it() {
    let mut session = Session::start("virtual.toml");
    let options = json!({ "expected": "absent", "make-parents": true });
    let written = session.ask(
        "files.write",
        json!({ "path": "d/a", "bytes": "aABp/w==", "options": options }),
    );
    let version = written["result"].as_str().unwrap().to_owned();
    let read = session.ask("files.read", json!({ "path": "d/a" }));
    assert_eq!(
        read["result"],
        json!({ "bytes": "aABp/w==", "version": version })
    );
    let expected = json!({ "expected": { "version": version } });
    let replaced = session.ask(
        "files.replace",
        json!({ "path": "d/a", "old": "aA==", "new": "", "options": expected }),
    );
    assert_eq!(replaced["result"]["count"], 1);
    let again = session.ask(
        "files.replace",
        json!({ "path": "d/a", "old": "aQ==", "new": "", "options": expected }),
    );
    assert_eq!(again["error"]["data"]["kind"], "stale");
    let info = session.ask("files.stat", json!({ "path": "d/a" }));
    assert_eq!(
        (&info["result"]["kind"], &info["result"]["size"]),
        (&json!("file"), &json!(3))
    );
    let moved = session.ask(
        "files.rename",
        json!({ "source": "d/a", "target": "b", "destination": "absent" }),
    );
    assert_eq!(moved["result"], Value::Null);
    let found = session.ask("files.glob", json!({ "pattern": "*" }));
    assert_eq!(found["result"]["paths"][0]["path"]["text"], "b");
    session.end();
}

#[test]
fn the_description_has_the_names_of_the_wit() {
    let mut session = Session::start("virtual.toml");
    let described = session.ask("session.describe", json!({}));
    let description = described["result"].as_object().unwrap();
    let names: Vec<&str> = description.keys().map(String::as_str).collect();
    let wit = [
        "backend",
        "capabilities",
        "durable",
        "hardening-gaps",
        "instructions",
        "limits",
        "policy",
        "process-root",
        "root",
        "writable",
    ];
    assert_eq!(names, wit);
    assert_eq!(description["limits"]["timeout-default"], 30_000);
    session.end();
}

#[test]
fn ids_come_back_as_they_were() {
    let mut session = Session::start("virtual.toml");
    for id in [
        "0",
        "-7",
        "1784000000000000000",
        "9007199254740993",
        "\"\"",
        "\"a\"",
        "\"\\u00e9\"",
        "null",
    ] {
        session.send_line(
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"session.describe"}}"#).as_bytes(),
        );
        let begin = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
        assert!(session.line().starts_with(&begin), "{id}");
    }
    session.end();
}

#[test]
fn a_slow_call_does_not_hold_up_quick_ones() {
    let mut session = Session::start("local.toml");
    std::fs::write(session.folder.work("a"), "a").unwrap();
    session.send("slow", "processes.run", sleep("600.25"));
    for id in 0..32 {
        session.send(
            id,
            "files.read-range",
            json!({ "path": "a", "offset": 0, "length": id }),
        );
    }
    let answers: BTreeMap<String, Value> = (0..32)
        .map(|_| session.answer())
        .map(|answer| (answer["id"].to_string(), answer["result"]["bytes"].clone()))
        .collect();
    for id in 0..32 {
        let bytes = if id == 0 { "" } else { "YQ==" };
        assert_eq!(answers[&id.to_string()], bytes, "{id}");
    }
    session.send(99, "$/cancel", json!({ "id": "slow" }));
    let ends: BTreeMap<String, Value> = (0..2)
        .map(|_| session.answer())
        .map(|answer| (answer["id"].to_string(), answer["result"].clone()))
        .collect();
    assert_eq!(ends["99"], true);
    assert_eq!(ends["\"slow\""]["outcome"], "cancelled");
    assert!(!is_running(&["sleep", "600.25"]));
    session.end();
}

#[test]
fn cancelling_what_does_not_run_does_nothing() {
    let mut session = Session::start("virtual.toml");
    assert_eq!(
        session.ask("session.cancel", json!({ "id": 7 }))["result"],
        false
    );
    session.send_line(br#"{"jsonrpc":"2.0","method":"$/cancel","params":{"id":"x"}}"#);
    assert_eq!(
        session.ask("files.stat", json!({ "path": "." }))["result"]["kind"],
        "directory"
    );
    session.end();
}

#[test]
fn what_is_wrong_is_answered_and_the_session_goes_on() {
    let mut session = Session::start("virtual.toml");
    for (line, code, part) in [
        (&b"{\"jsonrpc\""[..], -32700, ""),
        (b"\xff\xfe", -32700, ""),
        (b"[]", -32600, ""),
        (br#"{"jsonrpc":"2.0","id":1}"#, -32600, "method"),
        (br#"{"jsonrpc":"2.0","id":{},"method":"files.read"}"#, -32600, "id"),
        (br#"{"jsonrpc":"2.0","id":1,"method":"files.open"}"#, -32601, "files.open"),
        (br#"{"jsonrpc":"2.0","id":1,"method":"session.open"}"#, -32601, ""),
        (br#"{"jsonrpc":"2.0","id":1,"method":"files.read"}"#, -32602, "path"),
        (br#"{"jsonrpc":"2.0","id":1,"method":"files.read","params":["a"]}"#, -32602, "params"),
        (br#"{"jsonrpc":"2.0","id":1,"method":"files.read","params":{"path":"a","Path":1}}"#, -32602, "Path"),
        (
            br#"{"jsonrpc":"2.0","id":1,"method":"files.write","params":{"path":"a","bytes":"","options":{"expected":"x"}}}"#,
            -32602,
            "params.options.expected",
        ),
        (
            br#"{"jsonrpc":"2.0","id":1,"method":"files.write","params":{"path":"a","bytes":"*"}}"#,
            -32602,
            "params.bytes",
        ),
        (br#"{"jsonrpc":"2.0","id":1,"method":"files.read","params":{"path":"../a"}}"#, -32000, "../a"),
    ] {
        session.send_line(line);
        let answer = session.answer();
        let shown = String::from_utf8_lossy(line);
        assert_eq!(answer["error"]["code"], code, "{shown}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(part), "{shown}: {answer}");
    }
    let refused = session.ask("files.read", json!({ "path": "../a" }));
    let data = &refused["error"]["data"];
    assert_eq!(
        (&data["kind"], &data["operation"], &data["path"]),
        (
            &json!("access-denied"),
            &json!("files.read"),
            &json!("../a")
        )
    );
    session.end();
}

/// What a client does not read takes memory; a batch is not read before it is done.
#[test]
fn the_answers_of_a_batch_are_bounded() {
    let mut session = Session::start("virtual.toml");
    std::fs::write(session.folder.work("big"), vec![b'x'; 16 << 20]).unwrap();
    let read = |id| json!({ "jsonrpc": "2.0", "id": id, "method": "files.read", "params": { "path": "big" } });
    let batch = Value::from((0..40).map(read).collect::<Vec<_>>());
    session.send_line(batch.to_string().as_bytes());
    let answers = session.answer();
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 40);
    let busy = |answer: &&Value| answer["error"]["code"] == -32001;
    let refused = answers.iter().filter(busy).count();
    let given = answers
        .iter()
        .filter(|answer| answer.get("result").is_some());
    let given = given.count();
    assert!(
        given > 0 && refused > 0 && given + refused == 40,
        "{given} {refused}"
    );
    // They give their room back.
    for _ in 0..15 {
        let read = session.ask("files.read", json!({ "path": "big" }));
        assert!(read.get("result").is_some());
    }
    session.end();
}

#[test]
fn a_batch_is_answered_together() {
    let mut session = Session::start("virtual.toml");
    session.send_line(
        br#"[{"jsonrpc":"2.0","id":1,"method":"files.stat","params":{"path":"."}},{"jsonrpc":"2.0","method":"session.describe"},2]"#,
    );
    let answers = session.answer();
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 2);
    assert!(
        answers
            .iter()
            .any(|answer| answer["id"] == 1 && answer["result"]["kind"] == "directory")
    );
    assert!(
        answers
            .iter()
            .any(|answer| answer["id"].is_null() && answer["error"]["code"] == -32600)
    );
    session.end();
}

#[test]
fn the_answers_to_what_was_sent_before_the_end_still_come() {
    let mut session = Session::start("virtual.toml");
    session.send(1, "files.stat", json!({ "path": "." }));
    drop(session.stdin.take());
    assert_eq!(session.answer()["result"]["kind"], "directory");
    assert!(child::end(&mut session.child).0.success());
}

#[test]
fn the_end_of_input_in_the_middle_of_a_call_ends_everything() {
    let mut session = Session::start("local.toml");
    // A child that left the group, one that ignores the first signal, and one that was started.
    let shell = "setsid sleep 601.25 & trap '' TERM; sleep 602.25 & wait; wait";
    session.send(1, "processes.run", json!({ "command": { "shell": shell } }));
    session.send(2, "processes.start", sleep("603.25"));
    let all = ["601.25", "602.25", "603.25"];
    until("the processes run", || {
        all.iter().all(|seconds| is_running(&["sleep", seconds]))
    });
    drop(session.stdin.take());
    let (status, took) = child::end(&mut session.child);
    assert!(
        status.success() && took < GONE_WITHIN,
        "{status} after {took:?}"
    );
    assert!(!all.iter().any(|seconds| is_running(&["sleep", seconds])));
}

#[test]
fn a_client_that_stops_reading_is_not_outlived() {
    let mut session = Session::start("local.toml");
    session.send(1, "processes.run", sleep("604.25"));
    until("the process runs", || is_running(&["sleep", "604.25"]));
    drop(session.stdout.take());
    // Standard input stays open: the command finds out by itself.
    let (_, took) = child::end(&mut session.child);
    assert!(took < GONE_WITHIN, "{took:?}");
    assert!(!is_running(&["sleep", "604.25"]));
}

#[test]
fn closing_ends_what_runs_and_what_comes_after_is_closed() {
    let mut session = Session::start("local.toml");
    session.send(1, "processes.run", sleep("605.25"));
    until("the process runs", || is_running(&["sleep", "605.25"]));
    session.send(2, "session.close", json!({}));
    let ends: BTreeMap<String, Value> = (0..2)
        .map(|_| session.answer())
        .map(|answer| (answer["id"].to_string(), answer["result"].clone()))
        .collect();
    assert_eq!(
        (&ends["1"]["outcome"], &ends["2"]),
        (&json!("cancelled"), &Value::Null)
    );
    let after = session.ask("files.stat", json!({ "path": "." }));
    assert_eq!(after["error"]["data"]["kind"], "closed");
    session.end();
}

#[test]
fn an_idle_session_uses_no_processor() {
    let mut session = Session::start("virtual.toml");
    session.ask("session.describe", json!({}));
    let ticks = |session: &Session| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", session.child.id())).unwrap();
        let fields: Vec<u64> = stat
            .rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(|field| field.parse().unwrap())
            .collect();
        fields[0] + fields[1]
    };
    let (before, began) = (ticks(&session), Instant::now());
    std::thread::sleep(Duration::from_millis(500));
    // A loop that spins would use about as many hundredths of a second as pass.
    let (used, passed) = (ticks(&session) - before, began.elapsed());
    assert!(
        u128::from(used) * 10 < passed.as_millis() / 4,
        "{used} ticks in {passed:?}"
    );
    session.end();
}

#[test]
fn a_result_of_many_megabytes_is_one_line() {
    let mut session = Session::start("virtual.toml");
    std::fs::write(session.folder.work("big"), vec![b'x'; 12 << 20]).unwrap();
    let read = session.ask("files.read", json!({ "path": "big" }));
    assert_eq!(read["result"]["bytes"].as_str().unwrap().len(), 16 << 20);
    drop(session.stdin.take());
    let mut rest = Vec::new();
    session
        .stdout
        .as_mut()
        .unwrap()
        .read_to_end(&mut rest)
        .unwrap();
    assert!(rest.is_empty());
    assert!(child::end(&mut session.child).0.success());
}
