//! Files and processes see one workspace, both ways, at once.

use belljar_contract::{
    ErrorKind, Expected, RunOptions,
    files::{EntryKind, WriteOptions},
    processes::Outcome,
};

use super::files_read::pattern;
use crate::{
    case::{Case, RUN_FILES, Verdict, case},
    check::{eq, expect_kind, same_bytes},
    fixture::Fixture,
    fixture_files::below,
    fixture_processes::{argv, fed, kept},
};

pub(super) const CASES: &[Case] = &[
    case!(
        files_to_processes,
        "workspace/processes-see-files",
        "What is written, appended, moved, removed and made is seen by the next process.",
        RUN_FILES
    ),
    case!(
        processes_to_files,
        "workspace/files-see-processes",
        "What a process writes, moves, removes and makes is seen by the next call.",
        RUN_FILES
    ),
    case!(
        versions,
        "workspace/a-process-makes-a-version-stale",
        "A change by a process is noticed by the next check of a version, at the same size too.",
        RUN_FILES
    ),
    case!(
        appends_by_process,
        "workspace/appends-of-both",
        "Appends by a process and by calls, in turn, are all there.",
        RUN_FILES
    ),
    case!(
        large,
        "workspace/three-megabytes-both-ways",
        "A content of 3,145,728 bytes is the same through cat, and through a copy by a process.",
        RUN_FILES
    ),
    case!(
        same_tree,
        "workspace/list-glob-and-search-see-the-same-tree",
        "A tree that a process makes is listed, globbed and searched.",
        RUN_FILES
    ),
    case!(
        owners,
        "workspace/each-can-change-what-the-other-made",
        "A process changes and removes what a call made, and the other way.",
        RUN_FILES
    ),
    case!(
        inside_gone,
        "workspace/a-working-directory-that-goes",
        "Removing a directory that a process works in does no harm to the session.",
        RUN_FILES
    ),
];

async fn files_to_processes(f: &Fixture) -> Verdict {
    f.put("d/a", "one\r\n").await?;
    same_bytes("written", &f.printed("cat d/a").await?, b"one\r\n")?;
    f.append("d/a", "two", Expected::Any).await?;
    same_bytes("appended", &f.printed("cat d/a").await?, b"one\r\ntwo")?;
    f.replace("d/a", "two", "2").await?;
    f.rename("d", "e", Expected::Any).await?;
    f.copy("e/a", "b", Expected::Any).await?;
    f.make_directory("m/n").await?;
    same_bytes(
        "the tree",
        &f.printed("cat e/a b; ls").await?,
        b"one\r\n2one\r\n2b\ne\nm\n",
    )?;
    f.remove("e", true).await?;
    same_bytes("removed", &f.printed("ls").await?, b"b\nm\n")?;
    let options = WriteOptions {
        executable: true,
        ..WriteOptions::default()
    };
    f.write_with("run", "#!/bin/sh\necho ran\n", options)
        .await?;
    same_bytes("executable", &f.printed("./run").await?, b"ran\n")
}

async fn processes_to_files(f: &Fixture) -> Verdict {
    f.printed("mkdir d; printf 'one\\0\\377' > d/a; : > empty")
        .await?;
    f.holds("d/a", b"one\0\xff").await?;
    eq("the names", f.names(".").await?, ["d", "empty"])?;
    f.printed("printf more >> d/a; mv d/a b; rmdir d").await?;
    f.holds("b", b"one\0\xffmore").await?;
    expect_kind("moved", f.read("d/a").await, ErrorKind::NotFound)?;
    f.printed("chmod 0751 b; rm empty").await?;
    let info = f.stat("b").await?;
    eq("b", (info.kind, info.size), (EntryKind::File, 9))?;
    eq("the names", f.names(".").await?, ["b"])
}

async fn versions(f: &Fixture) -> Verdict {
    let version = f.put("a", "one").await?;
    f.printed("printf two > a").await?;
    let stale = f
        .write("a", "three", Expected::Version(version.clone()))
        .await;
    expect_kind("write", stale, ErrorKind::Stale)?;
    f.holds("a", "two").await?;
    // The same content has the same version again, whoever wrote it.
    f.printed("printf one > a").await?;
    eq("the version", &f.read("a").await?.version, &version)?;
    f.printed("rm a").await?;
    let gone = f.write("a", "three", Expected::Version(version)).await;
    expect_kind("removed", gone, ErrorKind::Stale)?;
    f.printed("printf x > a").await?;
    let absent = f.write("a", "three", Expected::Absent).await;
    expect_kind("made", absent, ErrorKind::AlreadyExists)
}

async fn appends_by_process(f: &Fixture) -> Verdict {
    let mut right = String::new();
    for index in 0..10 {
        f.append("a", format!("call {index}\n"), Expected::Any)
            .await?;
        f.printed(&format!("echo process {index} >> a")).await?;
        right.push_str(&format!("call {index}\nprocess {index}\n"));
    }
    f.holds("a", right).await
}

async fn large(f: &Fixture) -> Verdict {
    let bytes = pattern(3_145_728);
    f.put("a", bytes.clone()).await?;
    f.printed("cat a > b").await?;
    f.holds("b", &bytes).await?;
    let execution = f
        .run(argv(&["dd", "of=c", "bs=65536"]), fed(bytes.clone()))
        .await?;
    eq("dd", execution.outcome, Outcome::Exited(0))?;
    f.holds("c", &bytes).await?;
    let options = RunOptions {
        output_limit: Some(f.sandbox.describe().limits.output_maximum.min(4 << 20)),
        ..RunOptions::default()
    };
    let execution = f.run(argv(&["cat", "a"]), options).await?;
    let output = &execution.stdout;
    let printed = kept(output).len() as u64 + output.dropped;
    eq("printed", printed, 3_145_728)
}

async fn same_tree(f: &Fixture) -> Verdict {
    f.printed("mkdir -p 'x y/z'; echo word > 'x y/z/a.txt'; echo word > 'x y/b.txt'")
        .await?;
    eq("list", f.names("x y").await?, ["b.txt", "z"])?;
    let right = ["x y/b.txt", "x y/z/a.txt"];
    eq("glob", f.found("**/*.txt").await?, right)?;
    let right = ["x y/b.txt:1", "x y/z/a.txt:1"];
    eq("search", f.lines("word", below(".")).await?, right)
}

async fn owners(f: &Fixture) -> Verdict {
    f.put("d/call", "1").await?;
    f.printed("echo 2 >> d/call; mkdir -p p/q; echo 1 > p/q/process; chmod 644 p/q/process")
        .await?;
    f.append("p/q/process", "2\n", Expected::Any).await?;
    f.write("p/q/new", "x", Expected::Any).await?;
    f.holds("p/q/process", "1\n2\n").await?;
    f.remove("p", true).await?;
    f.printed("rm -r d").await?;
    eq("the names", f.names(".").await?, Vec::<String>::new())
}

async fn inside_gone(f: &Fixture) -> Verdict {
    f.make_directory("d").await?;
    let options = || RunOptions {
        directory: Some("d".to_owned()),
        ..RunOptions::default()
    };
    let ran = f
        .run(
            crate::fixture_processes::shell("rm -r ../d; echo gone"),
            options(),
        )
        .await?;
    same_bytes("the output", &kept(&ran.stdout), b"gone\n")?;
    let again = f.run(argv(&["pwd"]), options()).await;
    expect_kind("again", again, ErrorKind::NotFound)?;
    f.put("d/a", "x").await?;
    let again = f.run(argv(&["ls"]), options()).await?;
    same_bytes("made anew", &kept(&again.stdout), b"a\n")
}
