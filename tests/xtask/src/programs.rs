//! Builds programs that need no operating system from packages of Cargo's registry, each to a WASI command
//! `target/programs/NAME.wasm`.
//!
//! They are small on purpose: what an agent's usual command lines need. Their versions and, by each package's own lock
//! file, all that they are made of are fixed, so what was built once is kept in the user's cache for every checkout.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{
    debian::{self, Recipe},
    process,
    toolchain::{Need, Target, Toolchain},
    wasi_libc,
    workspace::Workspace,
};

/// A part of the names in the cache: raise it when a program is to be built otherwise than before.
const EDITION: u32 = 1;

struct Program {
    package: &'static str,
    version: &'static str,
    /// What it builds, without the extension.
    binary: &'static str,
    features: &'static str,
}

const PROGRAMS: [Program; 3] = [
    // One program with many names: it does what it is called.
    Program {
        package: "coreutils",
        version: "0.12.0",
        binary: "coreutils",
        features: "base64,basename,cat,comm,cp,cut,date,dirname,echo,false,head,ls,mkdir,mv,nl,printenv,printf,pwd,\
                   rm,rmdir,seq,sleep,sort,tac,tail,tee,test,touch,tr,true,uniq,wc,yes",
    },
    // The last version that does not need a terminal for its interactive mode, which WASI has not.
    Program {
        package: "jaq",
        version: "2.1.1",
        binary: "jaq",
        features: "",
    },
    Program {
        package: "ripgrep",
        version: "15.2.0",
        binary: "rg",
        features: "",
    },
];

impl Program {
    fn cached(&self) -> Result<PathBuf> {
        let folder = debian::cache()?.join("programs");
        Ok(folder.join(format!("{}-{}-{EDITION}.wasm", self.binary, self.version)))
    }
}

fn need() -> Need {
    let target = |linker| Target {
        triple: "wasm32-wasip1".to_owned(),
        linker,
        flags: Vec::new(),
    };
    Need {
        by_rustup: target(None),
        by_debian: target(Some("rust-lld")),
        recipe: Recipe {
            packages: Vec::new(),
            features: "compiler-builtins-mem",
            optimization: "s",
            c_library: Some(wasi_libc::build),
        },
    }
}

/// Builds all programs; one that was built before is not built again.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let programs = workspace.programs();
    fs::create_dir_all(&programs)
        .with_context(|| format!("cannot make the folder {}", programs.display()))?;
    for program in &PROGRAMS {
        let cached = program.cached()?;
        if !cached.exists() {
            install(workspace, program, &cached)?;
        }
        let to = programs.join(format!("{}.wasm", program.binary));
        copy(&cached, &to)?;
    }
    println!("{} programs in {}", PROGRAMS.len(), programs.display());
    Ok(())
}

fn install(workspace: &Workspace, program: &Program, cached: &Path) -> Result<()> {
    let toolchain = Toolchain::ensure(&need())?;
    let target = workspace.target().join("program");
    let root = target.join("installed");
    let mut cargo = workspace.cargo();
    // Its position is cargo's: `install` takes the target as `build` does.
    toolchain.configure(cargo.arg("install"));
    cargo
        .args([program.package, "--version", program.version])
        .args(["--locked", "--no-default-features", "--force", "--quiet"])
        .args(["--features", program.features])
        .arg("--root")
        .arg(&root)
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_PROFILE_RELEASE_STRIP", "true");
    println!(
        "building {} {} for {}",
        program.package, program.version, toolchain.target.triple
    );
    process::run(&mut cargo)?;
    let built = root.join("bin").join(format!("{}.wasm", program.binary));
    let folder = cached.parent().context("a cache folder has a parent")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // Whole, or not there.
    let beside = cached.with_extension(format!("{}.new", std::process::id()));
    fs::copy(&built, &beside).with_context(|| format!("cannot copy {}", built.display()))?;
    fs::rename(&beside, cached).with_context(|| format!("cannot make {}", cached.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let bytes = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    // An unchanged file keeps its time.
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::write(to, bytes).with_context(|| format!("cannot write {}", to.display()))
}
