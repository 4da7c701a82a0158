//! The resident as a static program, which runs in an image that has no library, for each architecture that
//! containers have.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::{
    debian::Recipe,
    packages::{self, Package},
    process,
    toolchain::{Need, Target, Toolchain},
    workspace::Workspace,
};

/// The most bytes that it may have: it is copied to wherever a workspace is.
const MAX_BYTES: u64 = 4_000_000;

/// Compiled for an image that has no library.
const STATIC: &str = "-Ctarget-feature=+crt-static";

/// An architecture of containers, as another than it builds for it.
struct Architecture {
    /// As Rust and the kernel call it.
    name: &'static str,
    /// The C compiler that links for it with Debian's C library.
    linker: &'static str,
    packages: [Package; 2],
    /// What runs programs of it, in tests.
    emulator: Package,
}

const ARCHITECTURES: [Architecture; 2] = [
    Architecture {
        name: "x86_64",
        linker: "x86_64-linux-gnu-gcc",
        packages: [
            Package::new("gcc-x86-64-linux-gnu", "/usr/bin/x86_64-linux-gnu-gcc"),
            Package::new("libc6-dev-amd64-cross", "/usr/x86_64-linux-gnu/lib/libc.a"),
        ],
        emulator: Package::new("qemu-user-static", "/usr/bin/qemu-x86_64-static"),
    },
    Architecture {
        name: "aarch64",
        linker: "aarch64-linux-gnu-gcc",
        packages: [
            Package::new("gcc-aarch64-linux-gnu", "/usr/bin/aarch64-linux-gnu-gcc"),
            Package::new("libc6-dev-arm64-cross", "/usr/aarch64-linux-gnu/lib/libc.a"),
        ],
        emulator: Package::new("qemu-user-static", "/usr/bin/qemu-aarch64-static"),
    },
];

impl Architecture {
    /// With rustup's library it takes no C compiler: that of musl comes with it, and so does a linker. Debian
    /// has no such library, and has glibc for other architectures.
    fn need(self) -> Need {
        Need {
            by_rustup: Target {
                triple: format!("{}-unknown-linux-musl", self.name),
                linker: Some("rust-lld"),
                flags: vec![STATIC.to_owned()],
            },
            by_debian: Target {
                triple: format!("{}-unknown-linux-gnu", self.name),
                linker: Some(self.linker),
                flags: vec![STATIC.to_owned()],
            },
            recipe: Recipe {
                packages: self.packages.into(),
                features: "",
                optimization: "3",
                c_library: None,
            },
        }
    }
}

/// Builds the resident for this machine's architecture, and for the others as far as this machine can.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    if env::consts::OS != "linux" {
        println!("residents run on Linux; there is none to build here");
        return Ok(());
    }
    native(workspace)?;
    for architecture in ARCHITECTURES {
        if architecture.name != env::consts::ARCH {
            foreign(workspace, architecture)?;
        }
    }
    Ok(())
}

fn native(workspace: &Workspace) -> Result<()> {
    let host = process::read(Command::new("rustc").args(["--print", "host-tuple"]))?;
    let toolchain = Toolchain::of_active_compiler(Target {
        triple: host.trim().to_owned(),
        linker: None,
        flags: vec![STATIC.to_owned()],
    });
    let built = compile(workspace, env::consts::ARCH, &toolchain)
        .context("a static program needs the C library's archive: on Debian, libc6-dev")?;
    // It starts with nothing around it.
    process::run(Command::new(&built).arg("--version").env_clear())?;
    install(workspace, env::consts::ARCH, &built)
}

fn foreign(workspace: &Workspace, architecture: Architecture) -> Result<()> {
    let name = architecture.name;
    if env::var_os("BELLJAR_CI").is_some() {
        packages::ensure([&architecture.emulator])?;
    }
    let toolchain = match Toolchain::ensure(&architecture.need()) {
        Ok(toolchain) => toolchain,
        Err(error) if env::var_os("BELLJAR_CI").is_none() => {
            println!("skipped: the resident for {name}: {error:#}");
            // What an earlier build left would be another version's.
            let old = installed(workspace, name);
            return match fs::remove_file(&old) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(error).with_context(|| format!("cannot remove {}", old.display()))
                }
                _ => Ok(()),
            };
        }
        Err(error) => return Err(error),
    };
    let built = compile(workspace, name, &toolchain)?;
    install(workspace, name, &built)
}

/// Builds it in a folder of its own: each architecture may have another compiler.
fn compile(workspace: &Workspace, architecture: &str, toolchain: &Toolchain) -> Result<PathBuf> {
    let target = workspace.target().join(format!("resident-{architecture}"));
    let mut cargo = workspace.cargo();
    cargo
        .args(["build", "--package", "belljar-resident"])
        .args(["--profile", "resident"])
        .env("CARGO_TARGET_DIR", &target);
    toolchain.configure(&mut cargo);
    process::run(&mut cargo)?;
    Ok(target
        .join(&toolchain.target.triple)
        .join("resident/belljar-resident"))
}

fn installed(workspace: &Workspace, architecture: &str) -> PathBuf {
    workspace
        .residents()
        .join(format!("belljar-resident-{architecture}-linux"))
}

fn install(workspace: &Workspace, architecture: &str, built: &Path) -> Result<()> {
    let bytes = fs::metadata(built)
        .with_context(|| format!("cannot look at {}", built.display()))?
        .len();
    ensure!(
        bytes <= MAX_BYTES,
        "the resident for {architecture} has {bytes} bytes, over {MAX_BYTES}"
    );
    let residents = workspace.residents();
    fs::create_dir_all(&residents)
        .with_context(|| format!("cannot make the folder {}", residents.display()))?;
    let installed = installed(workspace, architecture);
    fs::copy(built, &installed).with_context(|| format!("cannot write {}", installed.display()))?;
    println!("{bytes} bytes: {}", installed.display());
    Ok(())
}
