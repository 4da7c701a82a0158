use std::sync::{Arc, Barrier};

use belljar_contract::{
    Backend, ErrorKind, Expected, QueryOptions, Request, Result, Sandbox, ScopeOptions,
    files::{ReplaceOptions, WriteOptions},
};

use crate::layers::fake::{Fake, Node, version, wait};

use super::*;

fn guarded(nodes: &[&str]) -> (Arc<Fake>, Sandbox) {
    let fake = Fake::with(nodes);
    let sandbox = tool(&fake, &Arc::default());
    (fake, sandbox)
}

fn tool(fake: &Arc<Fake>, seen: &Arc<GuardState>) -> Sandbox {
    let below: Arc<dyn Backend> = fake.clone();
    Sandbox::new(Arc::new(Guard::new(below, Arc::clone(seen))))
}

fn write(sandbox: &Sandbox, path: &str, text: &str) -> Result<(), ErrorKind> {
    write_if(sandbox, path, text, Expected::Any)
}

fn write_if(
    sandbox: &Sandbox,
    path: &str,
    text: &str,
    expected: Expected,
) -> Result<(), ErrorKind> {
    let options = WriteOptions {
        expected,
        ..WriteOptions::default()
    };
    wait(sandbox.write(path, text, options))
        .map(|_| ())
        .map_err(|error| error.kind)
}

fn append(sandbox: &Sandbox, path: &str, text: &str) -> Result<(), ErrorKind> {
    let added = wait(sandbox.append(path, text, WriteOptions::default()));
    added.map(|_| ()).map_err(|error| error.kind)
}

fn replace(sandbox: &Sandbox, path: &str, old: &str, new: &str) -> Result<(), ErrorKind> {
    let replaced = wait(sandbox.replace(path, old, new, ReplaceOptions::default()));
    replaced.map(|_| ()).map_err(|error| error.kind)
}

fn rename(sandbox: &Sandbox, source: &str, target: &str) -> Result<(), ErrorKind> {
    wait(sandbox.rename(source, target, Expected::Any)).map_err(|error| error.kind)
}

fn copy(sandbox: &Sandbox, source: &str, target: &str) -> Result<(), ErrorKind> {
    wait(sandbox.copy(source, target, Expected::Any))
        .map(|_| ())
        .map_err(|error| error.kind)
}

const STALE: Result<(), ErrorKind> = Err(ErrorKind::Stale);

#[test]
fn a_file_that_was_not_read_is_not_changed() {
    let (fake, sandbox) = guarded(&["a=one", "b=two", "d/"]);
    assert_eq!(write(&sandbox, "a", "x"), STALE);
    assert_eq!(append(&sandbox, "a", "x"), STALE);
    assert_eq!(replace(&sandbox, "a", "one", "x"), STALE);
    assert_eq!(copy(&sandbox, "b", "a"), STALE);
    assert_eq!(rename(&sandbox, "b", "a"), STALE);
    let known = || Expected::Version(version(b"one"));
    assert_eq!(write_if(&sandbox, "a", "x", known()), STALE);
    let moved = wait(sandbox.rename("b", "a", known())).map_err(|error| error.kind);
    assert_eq!(moved, STALE);
    assert_eq!(fake.content("a").as_deref(), Some("one"));
    // To look at its size, or at its kind, is not to read it.
    wait(sandbox.read_range("a", 0, 0)).unwrap();
    wait(sandbox.stat("a")).unwrap();
    assert_eq!(append(&sandbox, "a", "x"), STALE);
    // Other errors are what they are.
    assert_eq!(write(&sandbox, "d", "x"), Err(ErrorKind::IsADirectory));
    assert_eq!(
        replace(&sandbox, "none", "x", "y"),
        Err(ErrorKind::NotFound)
    );
    assert_eq!(write(&sandbox, "none/x", "y"), Err(ErrorKind::NotFound));
    assert_eq!(
        write_if(&sandbox, "a", "x", Expected::Absent),
        Err(ErrorKind::AlreadyExists)
    );
    assert_eq!(write_if(&sandbox, "none", "x", known()), STALE);
}

#[test]
fn what_was_read_or_written_can_be_changed_again_and_again() {
    let (fake, sandbox) = guarded(&["a=one", "b=two", "c=three"]);
    wait(sandbox.read("a")).unwrap();
    for text in ["x", "y", "z"] {
        assert_eq!(write(&sandbox, "a", text), Ok(()));
    }
    assert_eq!(append(&sandbox, "a", "1"), Ok(()));
    assert_eq!(replace(&sandbox, "a", "z1", "w"), Ok(()));
    assert_eq!(write(&sandbox, "a", "v"), Ok(()));
    assert_eq!(
        write_if(&sandbox, "a", "u", Expected::Version(version(b"v"))),
        Ok(())
    );
    assert_eq!(write(&sandbox, "new", "n"), Ok(()));
    assert_eq!(write(&sandbox, "new", "m"), Ok(()));
    assert_eq!(copy(&sandbox, "b", "a"), Ok(()));
    assert_eq!(write(&sandbox, "a", "after a copy"), Ok(()));
    assert_eq!(rename(&sandbox, "c", "a"), Ok(()));
    assert_eq!(fake.content("a").as_deref(), Some("three"));
    // What was moved was not read.
    assert_eq!(write(&sandbox, "a", "x"), STALE);
    // No question is asked for a file that is as it was read.
    wait(sandbox.read("a")).unwrap();
    fake.asked.lock().unwrap().clear();
    assert_eq!(write(&sandbox, "a", "x"), Ok(()));
    assert_eq!(fake.asked.lock().unwrap().len(), 1);
}

#[test]
fn what_changed_since_is_not_overwritten() {
    let (fake, sandbox) = guarded(&["a=one"]);
    wait(sandbox.read("a")).unwrap();
    fake.tree()
        .insert("a".into(), Node::File(b"theirs".to_vec()));
    assert_eq!(write(&sandbox, "a", "x"), STALE);
    assert_eq!(append(&sandbox, "a", "x"), STALE);
    assert_eq!(replace(&sandbox, "a", "theirs", "x"), STALE);
    assert_eq!(fake.content("a").as_deref(), Some("theirs"));
    wait(sandbox.read("a")).unwrap();
    assert_eq!(write(&sandbox, "a", "x"), Ok(()));
    // What has gone can be made anew.
    fake.tree().remove("a");
    assert_eq!(write(&sandbox, "a", "y"), Ok(()));
}

#[test]
fn what_changes_at_the_last_moment_is_not_overwritten() {
    let (fake, sandbox) = guarded(&["a=one"]);
    wait(sandbox.read("a")).unwrap();
    fake.meanwhile(|request, tree| {
        if matches!(request, Request::Write { .. }) {
            tree.insert("a".into(), Node::File(b"theirs".to_vec()));
            tree.insert("new".into(), Node::File(b"theirs".to_vec()));
        }
    });
    assert_eq!(write(&sandbox, "a", "x"), STALE);
    assert_eq!(write(&sandbox, "new", "x"), STALE);
    assert_eq!(fake.content("a").as_deref(), Some("theirs"));
    assert_eq!(fake.content("new").as_deref(), Some("theirs"));
}

#[test]
fn a_part_is_enough_to_add_and_not_to_overwrite() {
    let (fake, sandbox) = guarded(&["a=0123456789", "b=two"]);
    wait(sandbox.read_range("a", 0, 4)).unwrap();
    assert_eq!(write(&sandbox, "a", "x"), STALE);
    assert_eq!(copy(&sandbox, "b", "a"), STALE);
    assert_eq!(rename(&sandbox, "b", "a"), STALE);
    assert_eq!(
        write_if(
            &sandbox,
            "a",
            "x",
            Expected::Version(version(b"0123456789"))
        ),
        STALE
    );
    assert_eq!(replace(&sandbox, "a", "0", "A"), Ok(()));
    assert_eq!(append(&sandbox, "a", "B"), Ok(()));
    assert_eq!(write(&sandbox, "a", "x"), STALE);
    wait(sandbox.read_range("a", 5, 100)).unwrap();
    assert_eq!(write(&sandbox, "a", "x"), STALE);
    wait(sandbox.read_range("a", 0, 5)).unwrap();
    assert_eq!(write(&sandbox, "a", "x"), Ok(()));
    assert_eq!(fake.content("a").as_deref(), Some("x"));
}

#[test]
fn a_line_that_was_found_is_a_part() {
    let (_, sandbox) = guarded(&["a=needle", "b=hay"]);
    let query = QueryOptions {
        pattern: "needle".into(),
        ..QueryOptions::default()
    };
    wait(sandbox.search(query, ScopeOptions::default())).unwrap();
    assert_eq!(write(&sandbox, "a", "x"), STALE);
    assert_eq!(replace(&sandbox, "b", "hay", "x"), STALE);
    assert_eq!(replace(&sandbox, "a", "needle", "pin"), Ok(()));
    assert_eq!(append(&sandbox, "a", "s"), Ok(()));
    assert_eq!(write(&sandbox, "a", "x"), STALE);
}

#[test]
fn every_spelling_is_the_same_file() {
    let nodes = &["d/a=one", "link->d/a", "way->d", "d/b=one", "other=one"];
    for read in ["d/a", "link", "way/a", "/workspace/d//a"] {
        for written in ["d/a", "link", "way/a", "./d/../d/a"] {
            let (fake, sandbox) = guarded(nodes);
            wait(sandbox.read(read)).unwrap();
            assert_eq!(write(&sandbox, written, "x"), Ok(()), "{read} {written}");
            // Its own change counts, by every name.
            assert_eq!(write(&sandbox, read, "y"), Ok(()), "{read} {written}");
            assert_eq!(write(&sandbox, written, "z"), Ok(()), "{read} {written}");
            assert_eq!(fake.content("d/a").as_deref(), Some("z"));
            // Another file with the same content is another file.
            assert_eq!(write(&sandbox, "d/b", "x"), STALE);
            assert_eq!(write(&sandbox, "other", "x"), STALE);
        }
    }
}

#[test]
fn a_link_that_was_turned_to_another_file_is_that_file() {
    let (fake, sandbox) = guarded(&["a=one", "b=two", "link->a"]);
    wait(sandbox.read("link")).unwrap();
    fake.tree().insert("link".into(), Node::Link("b".into()));
    assert_eq!(write(&sandbox, "link", "x"), STALE);
    assert_eq!(fake.content("b").as_deref(), Some("two"));
    assert_eq!(write(&sandbox, "a", "x"), Err(ErrorKind::Stale));
}

#[test]
fn nothing_is_made_through_a_link_to_nothing() {
    let (_, sandbox) = guarded(&["link->gone", "a=one"]);
    assert_eq!(write(&sandbox, "link", "x"), Err(ErrorKind::NotFound));
    // And a link is not replaced by a rename that did not mean it.
    assert_eq!(rename(&sandbox, "a", "link"), Err(ErrorKind::AlreadyExists));
}

#[test]
fn records_move_and_go_with_their_files() {
    let (fake, sandbox) = guarded(&["d/a=one", "e=two", "f/", "g/h=three"]);
    wait(sandbox.read("d/a")).unwrap();
    assert_eq!(rename(&sandbox, "d", "f"), Ok(()));
    assert_eq!(write(&sandbox, "f/a", "x"), Ok(()));
    assert_eq!(rename(&sandbox, "f/a", "b"), Ok(()));
    assert_eq!(write(&sandbox, "b", "y"), Ok(()));
    assert_eq!(rename(&sandbox, "e", "g"), Err(ErrorKind::IsADirectory));
    wait(sandbox.remove("b", false)).unwrap();
    fake.tree().insert("b".into(), Node::File(b"y".to_vec()));
    assert_eq!(write(&sandbox, "b", "z"), STALE);
}

#[test]
fn tools_of_a_session_share_what_they_read() {
    let fake = Fake::with(&["a=one"]);
    let seen = Arc::default();
    let (one, two) = (tool(&fake, &seen), tool(&fake, &seen));
    wait(one.read("a")).unwrap();
    assert_eq!(write(&two, "a", "x"), Ok(()));
    assert_eq!(write(&one, "a", "y"), Ok(()));
    assert_eq!(write(&tool(&fake, &Arc::default()), "a", "z"), STALE);
}

#[test]
fn of_two_writers_that_read_the_same_one_is_told() {
    for _ in 0..50 {
        let fake = Fake::with(&["a=one"]);
        let barrier = Arc::new(Barrier::new(2));
        let writers = ["x", "y"].map(|text| {
            // Two sessions: each knows only what it has read itself.
            let sandbox = tool(&fake, &Arc::default());
            let barrier = Arc::clone(&barrier);
            std::thread::spawn(move || {
                wait(sandbox.read("a")).unwrap();
                barrier.wait();
                write(&sandbox, "a", text)
            })
        });
        let done = writers.map(|writer| writer.join().unwrap());
        assert!(
            done == [Ok(()), STALE] || done == [STALE, Ok(())],
            "{done:?}"
        );
    }
}

#[test]
fn an_agent_is_told() {
    let (_, sandbox) = guarded(&[]);
    assert!(sandbox.describe().instructions.starts_with("Fake. A file"));
}
