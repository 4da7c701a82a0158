//! The server in a process of its own, which reaps what loses its parent: a test's process may not.

use std::{
    io::{self, BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

/// A server that runs until this is dropped; its sandboxes end with it.
#[derive(Debug)]
pub struct E2bProcess {
    child: Child,
    pub(super) api_url: String,
    pub(super) sandbox_url: String,
}

impl E2bProcess {
    /// Starts the program `e2b-stand-in`.
    ///
    /// # Errors
    /// When it does not start, or does not say where it is.
    pub fn start(program: &Path) -> io::Result<Self> {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().map(BufReader::new);
        let mut lines = output.into_iter().flat_map(BufReader::lines);
        let mut told = |name: &str| {
            let found = lines.find_map(|line| Some(line.ok()?.strip_prefix(name)?.to_owned()));
            found.ok_or_else(|| io::Error::other(format!("it does not say its {name}")))
        };
        let (api_url, sandbox_url) = (told("E2B_API_URL=")?, told("E2B_SANDBOX_URL=")?);
        Ok(Self {
            child,
            api_url,
            sandbox_url,
        })
    }
}

impl Drop for E2bProcess {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
