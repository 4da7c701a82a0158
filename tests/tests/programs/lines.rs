//! An agent's usual command lines, through the programs that the build task makes.

use belljar::{
    ErrorKind, RunOptions,
    processes::{Command, Outcome},
};

use crate::{Place, built, shown};

const LOG: &str =
    "2026-01-01 INFO start\n2026-01-02 ERROR disk\n2026-01-03 INFO go\n2026-01-04 ERROR net\n";

fn place() -> Place {
    let place = Place::of(built());
    place.write("src/main.rs", "fn main() {\n    // TODO: all\n}\n");
    place.write("src/lib.rs", "pub fn one() {}\npub fn two() {}\n");
    place.write("src/.hidden.rs", "fn hidden() {}\n");
    place.write("log.txt", LOG);
    place.write(
        "package.json",
        r#"{"name":"bell","dependencies":{"b":"2","a":"1"},"list":[3,1,2]}"#,
    );
    place.write("with space.txt", "spaced\n");
    place
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_lines_do_what_they_do_elsewhere() {
    let place = place();
    for (line, right) in [
        ("ls", "log.txt\npackage.json\nsrc\nwith space.txt\n"),
        ("cat src/main.rs | head -n 1", "fn main() {\n"),
        ("rg -n TODO src", "src/main.rs:2:    // TODO: all\n"),
        (
            "rg -c 'fn ' src/*.rs | sort",
            "src/lib.rs:2\nsrc/main.rs:1\n",
        ),
        ("cd src && wc -l *.rs | tail -n 1 | tr -d ' '", "5total\n"),
        (
            "cut -d ' ' -f 2 log.txt | sort | uniq -c | sort -rn | tr -s ' '",
            " 2 INFO\n 2 ERROR\n",
        ),
        ("jq -r .name package.json", "bell\n"),
        (
            "jq -c '.dependencies | keys' package.json",
            "[\"a\",\"b\"]\n",
        ),
        ("jq '.list[]' package.json | sort -n | tail -n 1", "3\n"),
        ("jq .list < package.json | jq -c 'map(. * 2)'", "[6,2,4]\n"),
        (
            "cat 'with space.txt' \"with space.txt\" with\\ space.txt | wc -l",
            "3\n",
        ),
        ("seq 1 100000 | rg 99$ - | wc -l", "1000\n"),
        ("yes | head -n 3", "y\ny\ny\n"),
        ("echo a b   'c  d'; echo \"it's\"", "a b c  d\nit's\n"),
        ("echo no* [ab] '*.rs' src/m*", "no* [ab] *.rs src/main.rs\n"),
        (
            "printf 'b\\na\\n' > new.txt; sort new.txt >> new2.txt && cat new2.txt # and so",
            "a\nb\n",
        ),
        (
            "mkdir -p out/deep && cp src/lib.rs out/deep/ && mv out/deep/lib.rs out/x && cat out/x | wc -l",
            "2\n",
        ),
        ("rg nothing log.txt || echo none", "none\n"),
        ("rg nothing log.txt && echo found; echo after", "after\n"),
        ("cat nothing 2>/dev/null || echo missing", "missing\n"),
        ("cat nothing 2>&1 | rg -c nothing -", "1\n"),
        (
            "echo one |\n  cat &&\n  echo two\n\necho three",
            "one\ntwo\nthree\n",
        ),
        (
            "echo first > f; echo second > f; cat < f; rm f; ls f 2>/dev/null || echo gone",
            "second\ngone\n",
        ),
        (
            "cd src; pwd > /dev/null; cat /workspace/log.txt | head -c 4",
            "2026",
        ),
        ("# nothing", ""),
    ] {
        assert_eq!(place.printed(line).await, right, "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_says_so_as_a_shell_would() {
    let place = place();
    for (line, outcome, words) in [
        ("nothing here", 127, "nothing: not found"),
        ("echo x | nothing", 127, "nothing: not found"),
        ("cat < nothing", 1, "nothing: "),
        ("cd log.txt", 1, "cd: log.txt: "),
        ("echo x > src", 1, "src: "),
        ("rg '(' log.txt", 2, "regex"),
        ("cat nothing", 1, "nothing"),
    ] {
        let ended = place.line(line).await;
        assert_eq!(ended.outcome, Outcome::Exited(outcome), "{line}");
        let said = shown(&ended.stderr);
        assert!(said.contains(words), "{line}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_understood_is_refused_before_anything_runs() {
    let place = place();
    for line in [
        "echo $HOME",
        "echo \"$HOME\"",
        "echo $(ls)",
        "echo `ls`",
        "for x in a; do echo x; done",
        "if true; then ls; fi",
        "sleep 1 &",
        "(ls)",
        "{ ls; }",
        "X=1 ls",
        "cat << END\nx\nEND",
        "ls |& cat",
        "echo ~",
        "export X=1",
        "exit 3",
        "! ls",
        "echo x 3> f",
        "sh -c ls",
        "cd src | ls",
        "echo {a,b}",
        "diff <(ls) f",
        "[[ a ]]",
        "ls ;; ls",
    ] {
        let line = format!("echo begun > begun; {line}");
        let command = Command::Shell(line.clone());
        let refused = place.sandbox.run(command, RunOptions::default()).await;
        let kind = refused.map_err(|error| error.kind).err();
        assert_eq!(kind, Some(ErrorKind::Unsupported), "{line}");
    }
    for line in [
        "echo 'x",
        "echo \"x",
        "ls |",
        "| ls",
        "ls && && ls",
        "ls >",
        "&& ls",
        "echo \\",
    ] {
        let command = Command::Shell(line.to_owned());
        let refused = place.sandbox.run(command, RunOptions::default()).await;
        let kind = refused.map_err(|error| error.kind).err();
        assert_eq!(kind, Some(ErrorKind::InvalidArgument), "{line}");
    }
    assert!(!place.folder.path().join("begun").exists());
    let argv = ["sh", "-c", "echo by argv | cat"].map(str::to_owned);
    let ended = place
        .sandbox
        .run(Command::Argv(argv.into()), RunOptions::default())
        .await;
    assert_eq!(shown(&ended.expect("it is understood").stdout), "by argv\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_ends_as_one_process() {
    let place = place();
    let options = RunOptions {
        timeout: Some(500),
        ..RunOptions::default()
    };
    for line in [
        "sleep 60 | sleep 60; echo late",
        "yes > /dev/null",
        "echo early; yes | cat > /dev/null && echo late",
    ] {
        let command = Command::Shell(line.to_owned());
        let ended = place.sandbox.run(command, options.clone()).await;
        let ended = ended.expect("it is understood");
        assert_eq!(ended.outcome, Outcome::TimedOut, "{line}");
        assert!(
            ended.duration.as_millis() < 1200,
            "{line}: {:?}",
            ended.duration
        );
        assert!(!shown(&ended.stdout).contains("late"), "{line}");
    }
}
