//! Calls every function of the contract once, in a workspace that is empty but for what it makes there, and
//! answers a line for each: its name, and `ok` or the error's kind.
#![cfg(target_family = "wasm")]

use belljar_guest::raw::belljar::sandbox::{
    files::{self, Query, ReplaceOptions, Scope, Syntax, WriteOptions},
    processes::{self, Command, OutputStream, RunOptions, SignalKind},
    progress, session,
    types::{Error, Expected},
};

belljar_test_guests::guest!(|_| {
    let mut lines = Vec::new();
    tour_files(&mut lines);
    tour_processes(&mut lines);
    session::describe();
    lines.push("session.describe ok".to_owned());
    let sh = "sh".to_owned();
    note(
        &mut lines,
        "session.find-commands",
        session::find_commands(&[sh]),
    );
    progress::report(1, Some(1), "done");
    progress::log(progress::Level::Info, "done");
    lines.join("\n")
});

fn tour_files(lines: &mut Vec<String>) {
    let write = WriteOptions {
        expected: Expected::Absent,
        make_parents: true,
        executable: false,
    };
    let append = WriteOptions {
        expected: Expected::Any,
        make_parents: false,
        executable: false,
    };
    let replace = ReplaceOptions {
        expected: Expected::Any,
        all: false,
    };
    let scope = Scope {
        base: None,
        hidden: false,
        ignored: false,
        limit: None,
    };
    let query = Query {
        pattern: "three".to_owned(),
        syntax: Syntax::Literal,
        ignore_case: false,
        include: Vec::new(),
        exclude: Vec::new(),
        context: 0,
    };
    let a = "tour/a.txt";
    note(lines, "files.make-directory", files::make_directory("tour"));
    note(lines, "files.write", files::write(a, b"one\ntwo\n", &write));
    note(lines, "files.append", files::append(a, b"tree\n", &append));
    note(lines, "files.read", files::read(a));
    note(
        lines,
        "files.replace",
        files::replace(a, b"tree", b"three", &replace),
    );
    note(lines, "files.read-range", files::read_range(a, 4, 3));
    note(lines, "files.list", files::list("tour", None));
    note(lines, "files.glob", files::glob("**/*.txt", &scope));
    note(lines, "files.search", files::search(&query, &scope));
    note(lines, "files.stat", files::stat(a));
    note(lines, "files.resolve", files::resolve("tour/../tour/a.txt"));
    note(
        lines,
        "files.copy",
        files::copy(a, "tour/b.txt", &Expected::Absent),
    );
    note(
        lines,
        "files.rename",
        files::rename(a, "tour/c.txt", &Expected::Absent),
    );
    note(lines, "files.remove", files::remove("tour", true));
}

fn tour_processes(lines: &mut Vec<String>) {
    let options = RunOptions {
        directory: None,
        environment: Vec::new(),
        stdin: Vec::new(),
        user: None,
        timeout: None,
        output_limit: None,
    };
    let shell = Command::Shell("echo out".to_owned());
    note(lines, "processes.run", processes::run(&shell, &options));
    let cat = Command::Argv(vec!["cat".to_owned()]);
    let started = processes::start(&cat, &options);
    // Without processes, what belongs to one is asked for all the same, to see each refused.
    let id = *started.as_ref().unwrap_or(&1);
    note(lines, "processes.start", started);
    let input = processes::write_input(id, b"text", false);
    note(lines, "processes.write-input", input);
    let output = processes::read_output(id, OutputStream::Stdout, 0, 4, 5_000);
    note(lines, "processes.read-output", output);
    note(
        lines,
        "processes.signal",
        processes::signal(id, SignalKind::Kill),
    );
    note(lines, "processes.wait", processes::wait(id, 5_000));
}

fn note<T>(lines: &mut Vec<String>, operation: &str, result: Result<T, Error>) {
    lines.push(match result {
        Ok(_) => format!("{operation} ok"),
        Err(error) => format!("{operation} {:?}", error.kind),
    });
}
