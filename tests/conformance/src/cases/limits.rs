//! Limits: each enforced before anything is done, at it and one over.

use belljar_contract::{ErrorKind, RunOptions, processes::Outcome};

use crate::{
    case::{Case, FILES, RUN, RUN_FILES, Verdict, case},
    check::{Failure, eq, expect_kind, that},
    fixture::Fixture,
    fixture_files::at_most,
    fixture_processes::{argv, kept, shell},
    outside::Filling,
};

pub(super) const CASES: &[Case] = &[
    case!(
        results,
        "limits/results-are-lowered-and-told",
        "A limit of results over the session's is lowered to it, and the total tells the rest.",
        FILES
    ),
    case!(
        replace_sizes,
        "limits/replace",
        "Old and new text over the file limit are too-large, and nothing is done.",
        FILES
    ),
    case!(
        arguments,
        "limits/arguments-and-environment",
        "Arguments and environment at the limit run; one byte more is too-large, and nothing runs.",
        RUN_FILES
    ),
    case!(
        shell_text,
        "limits/shell-text",
        "Shell text over the argument limit is too-large.",
        RUN
    ),
    case!(
        output,
        "limits/output",
        "An output limit at the session's maximum is taken, one more is too-large.",
        RUN_FILES
    ),
    case!(
        output_default,
        "limits/the-default-output-limit",
        "A call that does not say keeps the session's default of each output.",
        RUN
    ),
];

async fn results(f: &Fixture) -> Verdict {
    let most = f.sandbox.describe().limits.results;
    if most > 20_000 {
        return Err(Failure::unmet(
            "the session gives over 20,000 results, too many to try",
        ));
    }
    let fillings = (0..=most).map(|index| Filling {
        name: format!("{index:05}"),
        size: Some(0),
    });
    f.fill("d", &fillings.collect::<Vec<_>>()).await?;
    let total = u64::from(most) + 1;
    let listing = f.sandbox.list(&f.path("d"), Some(u32::MAX)).await?;
    let got = (listing.entries.len() as u64, listing.total);
    eq("list", got, (total - 1, total))?;
    let found = f.glob("d/*", at_most(u32::MAX)).await?;
    eq(
        "glob",
        (found.paths.len() as u64, found.total),
        (total - 1, total),
    )
}

async fn replace_sizes(f: &Fixture) -> Verdict {
    let most = usize::try_from(f.sandbox.describe().limits.file_bytes).unwrap_or(usize::MAX);
    if most > 256 << 20 {
        return Err(Failure::unmet(
            "the session's limit is over 256 MiB, too much to try",
        ));
    }
    f.put("a", "x").await?;
    let old = f.replace("a", vec![b'x'; most + 1], "y").await;
    expect_kind("old", old, ErrorKind::TooLarge)?;
    let new = f.replace("a", "x", vec![b'y'; most + 1]).await;
    expect_kind("new", new, ErrorKind::TooLarge)?;
    f.holds("a", "x").await
}

async fn arguments(f: &Fixture) -> Verdict {
    let most = usize::try_from(f.sandbox.describe().limits.argument_bytes).unwrap_or(usize::MAX);
    // Linux takes at most 128 KiB in one argument, so the limit is reached by many.
    let fill = |total: usize| {
        let mut parts = vec!["sh".to_owned(), "-c".into(), "echo $#".into(), "sh".into()];
        let mut size: usize = parts.iter().map(|part| part.len() + 1).sum();
        while size < total {
            let next = (total - size).min(100_000);
            parts.push("x".repeat(next - 1));
            size += next;
        }
        parts
    };
    if most > 1 << 20 {
        return Err(Failure::unmet(
            "the session's limit is over 1 MiB, more than systems take",
        ));
    }
    let parts = fill(most);
    let count = parts.len() - 4;
    let command = belljar_contract::processes::Command::Argv(parts);
    let execution = f.run(command, RunOptions::default()).await?;
    let said = String::from_utf8_lossy(&kept(&execution.stdout))
        .trim()
        .to_owned();
    eq("arguments at the limit", said, count.to_string())?;
    let over = belljar_contract::processes::Command::Argv(fill(most + 1));
    let ran = f.run(over, RunOptions::default()).await;
    expect_kind("one more", ran, ErrorKind::TooLarge)?;
    let options = RunOptions {
        environment: vec![("A".into(), "x".repeat(most))],
        ..RunOptions::default()
    };
    let ran = f.run(argv(&["touch", "started"]), options).await;
    expect_kind("in the environment", ran, ErrorKind::TooLarge)?;
    f.absent("started").await
}

async fn shell_text(f: &Fixture) -> Verdict {
    let most = usize::try_from(f.sandbox.describe().limits.argument_bytes).unwrap_or(usize::MAX);
    if most > 64 << 20 {
        return Err(Failure::unmet(
            "the session's limit is over 64 MiB, too much to try",
        ));
    }
    let text = format!("true {}", "x".repeat(most));
    expect_kind("over", f.sh(&text).await, ErrorKind::TooLarge)?;
    // One argument of 100 kB is within what every system takes.
    let text = format!(": {}", "x".repeat(100_000));
    eq("100 kB", f.sh(&text).await?.outcome, Outcome::Exited(0))
}

async fn output(f: &Fixture) -> Verdict {
    let most = f.sandbox.describe().limits.output_maximum;
    let limit = |bytes| RunOptions {
        output_limit: Some(bytes),
        ..RunOptions::default()
    };
    let execution = f.run(shell("echo x"), limit(most)).await?;
    eq("the maximum", kept(&execution.stdout), b"x\n")?;
    for over in [most + 1, u64::MAX] {
        let ran = f.run(shell("touch started"), limit(over)).await;
        expect_kind("over", ran, ErrorKind::TooLarge)?;
    }
    f.absent("started").await
}

async fn output_default(f: &Fixture) -> Verdict {
    let most = f.sandbox.describe().limits.output_default;
    let text = format!("head -c {} /dev/zero", most + 10);
    let execution = f.sh(&text).await?;
    let kept = kept(&execution.stdout).len() as u64;
    eq("dropped", execution.stdout.dropped, most + 10 - kept)?;
    that(kept <= most && kept + 1 >= most, "not the default was kept")
}
