//! Builds the coding tools, the shims and the test guests, each to a component `target/guests/NAME.wasm`.
//!
//! They have a target directory of their own: another compiler may build them (see `toolchain`),
//! and it would throw away what the host's has built.

use std::{collections::BTreeSet, ffi::OsString, fs, path::Path};

use anyhow::{Context, Result, ensure};

use crate::{
    debian::Recipe,
    process,
    toolchain::{Need, Target, Toolchain},
    workspace::Workspace,
};

const PROFILE: &str = "guest";
/// The packages that become a component each.
const COMPONENTS: [&str; 3] = ["coding", "e2b", "serve_sandbox"];

/// What guests need. They have no WASI, so that all a guest can do is in the contract's imports.
fn need() -> Need {
    let target = Target {
        triple: "wasm32-unknown-unknown".to_owned(),
        // Makes a component of what `wasm-ld` links; rustup's toolchains ship it.
        linker: Some("wasm-component-ld"),
        flags: Vec::new(),
    };
    Need {
        by_rustup: target.clone(),
        by_debian: target,
        recipe: Recipe {
            packages: Vec::new(),
            features: "compiler-builtins-mem",
            optimization: "s",
            c_library: None,
        },
    }
}

/// Builds all guests; nothing that is up to date is built again.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let toolchain = Toolchain::ensure(&need())?;
    let target = workspace.target().join("guest");
    let mut cargo = workspace.cargo();
    toolchain.configure(cargo.args(["build", "--profile", PROFILE]));
    for name in COMPONENTS {
        cargo.args(["--package", name]);
    }
    cargo
        .args(["--package", "belljar-test-guests"])
        .args(["--lib", "--examples"])
        .env("CARGO_TARGET_DIR", &target);
    process::run(&mut cargo)?;

    let built = target.join(&toolchain.target.triple).join(PROFILE);
    let guests = workspace.guests();
    fs::create_dir_all(&guests)
        .with_context(|| format!("cannot make the folder {}", guests.display()))?;
    let mut names = BTreeSet::new();
    for name in COMPONENTS {
        let file = OsString::from(format!("{name}.wasm"));
        install(&built.join(&file), &guests.join(&file))?;
        names.insert(file);
    }
    for name in files_with(&workspace.root().join("tests/guests/examples"), "rs")? {
        let file = Path::new(&name).with_extension("wasm").into_os_string();
        install(&built.join("examples").join(&file), &guests.join(&file))?;
        names.insert(file);
    }
    // What an earlier build left would hide that a guest is gone.
    for name in files_with(&guests, "wasm")? {
        if !names.contains(&name) {
            let old = guests.join(&name);
            fs::remove_file(&old).with_context(|| format!("cannot remove {}", old.display()))?;
        }
    }
    println!("{} guests in {}", names.len(), guests.display());
    Ok(())
}

/// The first bytes of a component, as opposed to a core module.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

fn install(from: &Path, to: &Path) -> Result<()> {
    let bytes = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    ensure!(
        bytes.starts_with(COMPONENT),
        "{} is not a component; the linker must be wasm-component-ld",
        from.display()
    );
    // An unchanged file keeps its time, and what depends on it stays up to date.
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::write(to, bytes).with_context(|| format!("cannot write {}", to.display()))
}

fn files_with(folder: &Path, extension: &str) -> Result<Vec<OsString>> {
    let mut names = Vec::new();
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let name = entry
            .with_context(|| format!("cannot list {}", folder.display()))?
            .file_name();
        if Path::new(&name)
            .extension()
            .is_some_and(|found| found == extension)
        {
            names.push(name);
        }
    }
    Ok(names)
}
