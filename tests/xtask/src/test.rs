//! `cargo xtask test`: every check and test there is, in one order, with one answer.
//!
//! What is quick to fail comes first. What the tests need beside the build is made beside it: much of that is
//! waiting, and much of compiling occupies one processor. Nearly every cargo call names the whole workspace, so that no
//! dependency is built twice: features are unified over what a call names.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::{
    beside::Beside, demo, engines, generator::Generator, guests, kubernetes, mcp_clients, process,
    programs, residents, steps::Steps, tally::Tally, workspace::Workspace,
};

/// What is built and run; with the tests, because what only they need changes the features of
/// what the programs need too.
const TARGETS: [&str; 3] = ["--lib", "--bins", "--tests"];

/// Runs everything.
pub(crate) fn everything(workspace: &Workspace) -> ExitCode {
    let mut tally = Tally::default();
    let mut steps = Steps::new(10);
    let mut beside = None;
    steps.step("format", || {
        process::run(workspace.cargo().args(["fmt", "--all", "--check"]))?;
        beside = Some(Beside::start(workspace, "setup")?);
        Ok(())
    });
    steps.step("lints", || {
        let mut cargo = workspace.cargo();
        cargo.arg("clippy").arg("--workspace").arg("--all-targets");
        process::run(cargo.args(["--", "--deny", "warnings"]))?;
        // As an application has the library that wants none of the features.
        let mut cargo = workspace.cargo();
        cargo.args(["check", "--package", "belljar", "--lib"]);
        process::run(cargo.arg("--no-default-features"))
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
    steps.step("setup", || {
        beside.take().context("it was not begun")?.finish()
    });
    steps.step("demo", || demo::show(workspace));
    steps.step("tests", || tests(workspace, &TARGETS, &mut tally));
    steps.step("conformance", || {
        if !has_nextest(workspace) {
            println!("it was among the tests");
            return Ok(());
        }
        conformance(workspace, "", &mut tally)
    });
    steps.step("examples in the documentation", || {
        let mut cargo = workspace.cargo();
        cargo
            .arg("test")
            .arg("--workspace")
            .args(["--doc", "--no-fail-fast"]);
        counted(workspace, &mut cargo, &mut tally)
    });
    finish(&steps, tally)
}

/// Makes ready what tests need beside the build.
pub(crate) fn setup(workspace: &Workspace) -> ExitCode {
    let mut steps = Steps::new(6);
    steps.step("engines", || engines::ready(workspace));
    steps.step("kubernetes", || kubernetes::ready(workspace));
    steps.step("guests", || guests::build(workspace));
    steps.step("programs", || programs::build(workspace));
    steps.step("residents", || residents::build(workspace));
    steps.step("MCP clients", || mcp_clients::ready(workspace));
    steps.summary();
    match steps.failed() {
        None => ExitCode::SUCCESS,
        Some(_) => ExitCode::FAILURE,
    }
}

/// Runs what tells within two minutes whether a change is good: the unit tests, and the
/// conformance suite on `virtual`.
pub(crate) fn quick(workspace: &Workspace) -> ExitCode {
    let mut tally = Tally::default();
    let mut steps = Steps::new(2);
    steps.step("unit tests", || {
        tests(workspace, &["--lib", "--bins"], &mut tally)
    });
    steps.step("conformance on virtual", || {
        conformance(workspace, "virtual::", &mut tally)
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

/// Says what became of all; the numbers are the last line, whatever happened.
fn finish(steps: &Steps, tally: Tally) -> ExitCode {
    steps.summary();
    let failed = steps.failed();
    if let Some(step) = failed {
        println!("error: the step `{step}` failed");
    }
    println!("{tally}");
    match failed {
        None => ExitCode::SUCCESS,
        Some(_) => ExitCode::FAILURE,
    }
}

/// The test binaries of the conformance suite: against backends, and against one over a shell.
const CONFORMANCE: [&str; 2] = ["conformance", "posix"];

/// Runs the tests of these targets: with nextest where it is installed, and then without the conformance
/// suite, else with cargo's own runner.
fn tests(workspace: &Workspace, targets: &[&str], tally: &mut Tally) -> Result<()> {
    let mut cargo = workspace.cargo();
    if has_nextest(workspace) {
        cargo
            .args(["nextest", "run", "--no-fail-fast", "--cargo-quiet"])
            .args(["--color", "never", "--status-level", "slow"])
            .arg(format!(
                "--filterset={}",
                CONFORMANCE
                    .map(|name| format!("not binary({name})"))
                    .join(" and ")
            ));
    } else {
        cargo.args(["test", "--quiet", "--no-fail-fast", "--color", "never"]);
    }
    cargo.arg("--workspace").args(targets);
    counted(workspace, &mut cargo, tally)
}

fn has_nextest(workspace: &Workspace) -> bool {
    process::works(workspace.cargo().args(["nextest", "--version"]))
}

/// Runs the cases of the conformance suite whose name has `filter` in it.
///
/// With cargo's own runner: a case finds out only while it runs that it must be skipped, which
/// nextest would count as passed.
fn conformance(workspace: &Workspace, filter: &str, tally: &mut Tally) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo
        .args(["test", "--quiet", "--no-fail-fast", "--color", "never"])
        .arg("--workspace");
    for name in CONFORMANCE {
        cargo.args(["--test", name]);
    }
    cargo.args(["--", filter]).args(["--color", "never"]);
    counted(workspace, &mut cargo, tally)
}

/// Runs tests and adds their numbers. What passed is not shown: it would hide what did not.
fn counted(workspace: &Workspace, cargo: &mut Command, tally: &mut Tally) -> Result<()> {
    cargo
        .env("BELLJAR_GUESTS", workspace.guests())
        .env("BELLJAR_PROGRAMS", workspace.programs())
        .env("BELLJAR_COMMAND", workspace.built("belljar"))
        .env("BELLJAR_RESIDENTS", workspace.residents())
        .envs(engines::variables(workspace));
    let mut counted = false;
    let status = process::watch(cargo, |line| {
        if let Some(found) = Tally::from_line(line) {
            *tally += found;
            counted = true;
        }
        !(line.starts_with("test ") && line.ends_with(" ok"))
    })?;
    if !status.success() {
        bail!("`{}` failed ({status})", process::shown(cargo));
    }
    counted
        .then_some(())
        .context("the tests ran, and no summary of theirs was found")
}
