//! The container engines of the machine that runs the tests.

use std::{
    io,
    path::PathBuf,
    process::{Command, Stdio},
};

use belljar::backends::{ContainerEngine, ContainerOptions, EngineEnvironment, PullPolicy};

use crate::static_resident;

/// An image of nothing but busybox; `cargo xtask engines` makes it.
pub const BUSYBOX: &str = "belljar-test:busybox";
/// A minimal Debian; `cargo xtask engines` makes it.
pub const DEBIAN: &str = "belljar-test:debian";

/// Options for a container of a test: scratch, until the test says otherwise.
#[must_use]
pub fn container_options(engine: ContainerEngine, image: &str) -> ContainerOptions {
    let resident: PathBuf = static_resident();
    ContainerOptions {
        engine,
        engine_environment: EngineEnvironment::from_variables(std::env::vars_os()),
        pull: PullPolicy::Never,
        residents: resident.parent().map(Into::into).into_iter().collect(),
        ..ContainerOptions::new(image)
    }
}

/// Whether an engine and an image are here.
///
/// # Panics
/// In CI, where they must be, when they are not.
#[must_use]
pub fn has_engine(engine: ContainerEngine, image: &str) -> bool {
    let mut inspect = Command::new(engine.program());
    let output = inspect.args(["image", "inspect", image]).output();
    let reason = match output {
        Ok(output) if output.status.success() => return true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    skip(&format!(
        "{engine} with {image}: {reason}; see `cargo xtask engines`"
    ));
    false
}

/// Gives an engine of a test's own the image [`BUSYBOX`] of the machine's, which comes from no registry.
pub(crate) fn copy_image(from: ContainerEngine, load: &mut Command) -> io::Result<()> {
    let mut save = Command::new(from.program())
        .args(["save", BUSYBOX])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    load.arg("load");
    if let Some(image) = save.stdout.take() {
        load.stdin(image);
    }
    let loaded = load.output()?;
    match save.wait()?.success() && loaded.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&loaded.stderr))),
    }
}

/// Whether this process may become somebody else, and start an engine of its own.
///
/// # Panics
/// In CI, where it must be, when it may not.
#[must_use]
pub fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        skip("only root can start an engine, or become another user");
    }
    root
}

#[expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a skipped test says so, and CI that none may be"
)]
fn skip(reason: &str) {
    assert!(std::env::var_os("BELLJAR_CI").is_none(), "{reason}");
    println!("skipped: {reason}");
}
