//! The official clients of the Model Context Protocol, for the tests of `belljar serve`: from their registries, by
//! exact versions, into the user's cache.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::{process, workspace::Workspace};

/// What says which versions; together they name what is installed.
const FILES: [&str; 3] = ["package.json", "requirements.txt", "client.mjs"];

/// Installs them where they are not there. Where they cannot be had the tests skip them, unless `BELLJAR_CI` is set.
pub(crate) fn ready(workspace: &Workspace) -> Result<()> {
    let source = workspace.root().join("tests/mcp-clients");
    let folder = folder()?;
    let wanted = FILES
        .map(|file| fs::read_to_string(source.join(file)))
        .into_iter()
        .collect::<std::io::Result<String>>()
        .context("the clients' versions cannot be read")?;
    let ready = folder.join("ready");
    if fs::read_to_string(&ready).is_ok_and(|installed| installed == wanted) {
        println!("the MCP clients are in {}", folder.display());
        return Ok(());
    }
    let installed = install(&source, &folder).and_then(|()| Ok(fs::write(&ready, wanted)?));
    match installed {
        Err(error) if env::var_os("BELLJAR_CI").is_none() => {
            println!("the MCP clients cannot be had, and their tests are skipped: {error:#}");
            Ok(())
        }
        installed => installed,
    }
}

fn folder() -> Result<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
        .context("neither XDG_CACHE_HOME nor HOME is set")?;
    Ok(cache.join("belljar/mcp-clients"))
}

fn install(source: &Path, folder: &Path) -> Result<()> {
    for program in ["npm", "python3"] {
        if !process::works(Command::new(program).arg("--version")) {
            bail!("{program} is not here; install Node.js and Python 3.10 or newer");
        }
    }
    println!("installing the MCP clients into {}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for file in FILES {
        fs::copy(source.join(file), folder.join(file))?;
    }
    process::run(
        Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
            .current_dir(folder),
    )?;
    let python = folder.join("python");
    process::run(Command::new("python3").args(["-m", "venv"]).arg(&python))?;
    process::run(
        Command::new(python.join("bin/pip"))
            .args(["install", "--quiet", "--requirement"])
            .arg(folder.join("requirements.txt")),
    )
}
