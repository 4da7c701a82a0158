//! Changes at once: what nobody loses, and nobody sees half.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use belljar_contract::{ErrorKind, Expected, Version, files::ReplaceOptions};

use crate::{
    case::{Case, FILES, Verdict, case},
    check::{Failure, eq, that},
    fixture::Fixture,
};

pub(super) const CASES: &[Case] = &[
    case!(
        writers,
        "expected/one-of-many-writers",
        "Of eight writers with one expected version one succeeds, and the rest are stale.",
        FILES
    ),
    case!(
        creators,
        "expected/one-of-many-creators",
        "Of eight writers that expect nothing there, one succeeds.",
        FILES
    ),
    case!(
        counters,
        "expected/no-lost-edit",
        "Four editors that read, count up and write with the version they read lose no count.",
        FILES
    ),
    case!(
        editors,
        "expected/one-of-many-edits",
        "Of eight replacements with one expected version one happens.",
        FILES
    ),
    case!(
        never_half,
        "files.write/is-never-seen-half",
        "A reader beside a writer of 1 MiB contents sees one or the other, never a part.",
        FILES
    ),
    case!(
        never_missing,
        "files.rename/is-never-seen-missing",
        "While files are renamed over a path, a reader always finds one of them.",
        FILES
    ),
];

/// One for a change that happened, none for one that had to give way.
fn one_unless(
    result: belljar_contract::Result<Version>,
    kind: ErrorKind,
) -> Result<usize, Failure> {
    match result {
        Ok(_) => Ok(1),
        Err(error) if error.kind == kind => Ok(0),
        Err(error) => Err(error.into()),
    }
}

async fn writers(f: &Fixture) -> Verdict {
    for round in 0..5 {
        let version = f.put("a", format!("start {round}")).await?;
        let done = f
            .at_once(8, move |index, f| {
                let expected = Expected::Version(version.clone());
                async move {
                    let text = format!("writer {index}");
                    one_unless(f.write("a", text, expected).await, ErrorKind::Stale)
                }
            })
            .await?;
        eq("writes that happened", done.iter().sum::<usize>(), 1)?;
        let right = done.iter().position(|done| *done == 1).unwrap_or_default();
        f.holds("a", format!("writer {right}")).await?;
    }
    Ok(())
}

async fn creators(f: &Fixture) -> Verdict {
    for round in 0..5 {
        let name = format!("a{round}");
        let done = f
            .at_once(8, move |index, f| {
                let name = name.clone();
                async move {
                    let written = f.write(&name, index.to_string(), Expected::Absent).await;
                    one_unless(written, ErrorKind::AlreadyExists)
                }
            })
            .await?;
        eq("files made", done.iter().sum::<usize>(), 1)?;
    }
    Ok(())
}

async fn counters(f: &Fixture) -> Verdict {
    f.put("a", "0").await?;
    let counted = f
        .at_once(4, |_, f| async move {
            let mut counted = 0;
            for round in f.rounds(2, 10) {
                while counted <= round {
                    let content = f.read("a").await?;
                    let count: u64 = String::from_utf8_lossy(&content.bytes)
                        .parse()
                        .map_err(|error| Failure::wrong(format!("half a number: {error}")))?;
                    let next = (count + 1).to_string();
                    let expected = Expected::Version(content.version);
                    counted += one_unless(f.write("a", next, expected).await, ErrorKind::Stale)?;
                }
            }
            Ok(counted)
        })
        .await?;
    f.holds("a", counted.iter().sum::<usize>().to_string())
        .await
}

async fn editors(f: &Fixture) -> Verdict {
    let version = f.put("a", "x").await?;
    let done = f
        .at_once(8, move |index, f| {
            let options = ReplaceOptions {
                expected: Expected::Version(version.clone()),
                all: false,
            };
            async move {
                let edited = f.replace_with("a", "x", format!("x{index}"), options).await;
                one_unless(edited.map(|done| done.version), ErrorKind::Stale)
            }
        })
        .await?;
    eq("edits that happened", done.iter().sum::<usize>(), 1)?;
    eq("the size", f.stat("a").await?.size, 2)
}

async fn never_half(f: &Fixture) -> Verdict {
    const SIZE: usize = 1 << 20;
    f.put("a", vec![b'a'; SIZE]).await?;
    let done = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&done);
    let writing = f.meanwhile(move |f| async move {
        let mut result = Ok(());
        for round in f.rounds(6, 40) {
            let byte = if round % 2 == 0 { b'b' } else { b'a' };
            if let Err(error) = f.write("a", vec![byte; SIZE], Expected::Any).await {
                result = Err(Failure::from(error));
                break;
            }
        }
        told.store(true, Ordering::Release);
        result
    });
    while !done.load(Ordering::Acquire) {
        let bytes = f.read("a").await?.bytes;
        eq("the size", bytes.len(), SIZE)?;
        that(
            bytes.iter().all(|byte| *byte == bytes[0]),
            "a reader saw parts of two contents",
        )?;
    }
    writing.await
}

async fn never_missing(f: &Fixture) -> Verdict {
    f.put("a", "0").await?;
    let done = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&done);
    let renaming = f.meanwhile(move |f| async move {
        let mut result = Ok(());
        let mut last = 0;
        for round in f.rounds(6, 100) {
            last = round;
            let step = async {
                f.put("next", round.to_string()).await?;
                f.rename("next", "a", Expected::Any).await
            };
            if let Err(error) = step.await {
                result = Err(Failure::from(error));
                break;
            }
        }
        told.store(true, Ordering::Release);
        result.map(|()| last)
    });
    while !done.load(Ordering::Acquire) {
        that(!f.read("a").await?.bytes.is_empty(), "the file was empty")?;
    }
    let last = renaming.await?;
    f.holds("a", last.to_string()).await
}
