//! `cargo xtask test`: every check and test there is, in one order, with one answer.
//!
//! What is quick to fail comes first. Nearly every cargo call names the whole workspace, so that no
//! dependency is built twice: features are unified over what a call names.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{
    demo, generator::Generator, guests, process, steps::Steps, tally::Tally, workspace::Workspace,
};

/// What is built and run; with the tests, because what only they need changes the features of
/// what the programs need too.
const TARGETS: [&str; 3] = ["--lib", "--bins", "--tests"];

/// Runs everything.
pub(crate) fn everything(workspace: &Workspace) -> Result<()> {
    let mut tally = Tally::default();
    let mut steps = Steps::new(9);
    steps.step("format", || {
        process::run(workspace.cargo().args(["fmt", "--all", "--check"]))
    });
    steps.step("guests", || guests::build(workspace));
    steps.step("lints", || {
        let mut cargo = workspace.cargo();
        cargo.arg("clippy").arg("--workspace").arg("--all-targets");
        process::run(cargo.args(["--", "--deny", "warnings"]))
    });
    steps.step("documentation", || {
        let mut cargo = workspace.cargo();
        cargo.arg("doc").arg("--workspace").arg("--no-deps");
        process::run(cargo.env("RUSTDOCFLAGS", "--deny warnings"))
    });
    steps.step("build", || {
        process::run(
            workspace
                .cargo()
                .arg("build")
                .arg("--workspace")
                .args(TARGETS),
        )
    });
    steps.step("bindings", || bindings(workspace));
    steps.step("demo", || demo::show(workspace));
    steps.step("tests", || tests(workspace, &TARGETS, &[], &mut tally));
    steps.step("examples in the documentation", || {
        let mut cargo = workspace.cargo();
        cargo
            .arg("test")
            .arg("--workspace")
            .args(["--doc", "--no-fail-fast"]);
        counted(&mut cargo, &mut tally)
    });
    finish(&steps, tally)
}

/// Runs what tells within two minutes whether a change is good: the unit tests, and the
/// conformance suite on `virtual`.
pub(crate) fn quick(workspace: &Workspace) -> Result<()> {
    let mut tally = Tally::default();
    let mut steps = Steps::new(2);
    steps.step("unit tests", || {
        tests(workspace, &["--lib", "--bins"], &[], &mut tally)
    });
    steps.step("conformance on virtual", || {
        tests(
            workspace,
            &["--test", "conformance"],
            &["virtual"],
            &mut tally,
        )
    });
    finish(&steps, tally)
}

/// Checks the guest bindings. Their generator is not among what `--workspace` builds: it would change the
/// features of what the host is built from, and `demo` could not use what `test` has built.
fn bindings(workspace: &Workspace) -> Result<()> {
    let mut clippy = workspace.cargo();
    clippy
        .args(["clippy", "--package", "xtask", "--features", "bindings"])
        .args(["--bin", "guest-bindings", "--", "--deny", "warnings"]);
    process::run(&mut clippy)?;
    Generator::new(workspace).check()
}

fn finish(steps: &Steps, tally: Tally) -> Result<()> {
    steps.summary();
    let outcome = steps.outcome();
    if let Err(error) = &outcome {
        println!("{error:#}");
    }
    println!("{tally}");
    outcome
}

/// Runs tests with nextest where it is installed, else with cargo's own runner.
fn tests(
    workspace: &Workspace,
    targets: &[&str],
    filters: &[&str],
    tally: &mut Tally,
) -> Result<()> {
    let mut cargo = workspace.cargo();
    if process::works(workspace.cargo().args(["nextest", "--version"])) {
        cargo
            .args(["nextest", "run", "--no-fail-fast", "--color", "never"])
            // The failures and the summary; thousands of lines of passes hide them.
            .args(["--status-level", "slow", "--cargo-quiet"]);
    } else {
        cargo.args(["test", "--quiet", "--no-fail-fast", "--color", "never"]);
    }
    cargo
        .arg("--workspace")
        .args(targets)
        .args(filters)
        .env("BELLJAR_GUESTS", workspace.guests())
        .env("BELLJAR_BIN", workspace.built("belljar"));
    counted(&mut cargo, tally)
}

/// Runs tests and adds their numbers.
fn counted(cargo: &mut Command, tally: &mut Tally) -> Result<()> {
    let mut counted = false;
    let status = process::watch(cargo, |line| {
        if let Some(found) = Tally::from_line(line) {
            *tally += found;
            counted = true;
        }
    })?;
    if !status.success() {
        bail!("`{}` failed ({status})", process::shown(cargo));
    }
    counted
        .then_some(())
        .context("the tests ran, and no summary of theirs was found")
}
