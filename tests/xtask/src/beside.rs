//! Work that a long task needs the end of only later: another run of this program, beside what else is done. What
//! it prints is kept until then, so that it does not mix with the rest.

use std::{
    env, fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

/// A `cargo xtask COMMAND` that runs.
pub(crate) struct Beside {
    command: &'static str,
    child: Child,
    log: PathBuf,
}

impl Beside {
    /// Starts it.
    pub(crate) fn start(workspace: &Workspace, command: &'static str) -> Result<Self> {
        let log = workspace.target().join(format!("{command}.log"));
        let file =
            fs::File::create(&log).with_context(|| format!("cannot write to {}", log.display()))?;
        let program = env::current_exe().context("cannot find this program")?;
        let child = Command::new(program)
            .arg(command)
            .stdin(Stdio::null())
            .stdout(file.try_clone().context("cannot share the log")?)
            .stderr(file)
            .spawn()
            .with_context(|| format!("cannot run `cargo xtask {command}` beside this"))?;
        Ok(Self {
            command,
            child,
            log,
        })
    }

    /// Waits for its end, and shows what it printed.
    pub(crate) fn finish(mut self) -> Result<()> {
        let command = self.command;
        let status = self
            .child
            .wait()
            .with_context(|| format!("cannot wait for `cargo xtask {command}`"))?;
        let printed =
            fs::read(&self.log).with_context(|| format!("cannot read {}", self.log.display()))?;
        print!("{}", String::from_utf8_lossy(&printed));
        ensure!(
            status.success(),
            "`cargo xtask {command}` failed ({status})"
        );
        Ok(())
    }
}

impl Drop for Beside {
    /// Who does not want its end any more waits for it all the same: it may be installing something.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            println!("waiting for `cargo xtask {}`", self.command);
            let _ = self.child.wait();
        }
    }
}
