//! A server with a configuration that leads to it.

use std::{
    io,
    path::{Path, PathBuf},
};

use belljar::{OpenOptions, Sandbox, backends::OpenError, config::Config};
use tempfile::TempDir;

use super::{E2B_KEY, E2bServer};

/// A server, and a folder with a shim, a key, a workspace and a configuration.
#[derive(Debug)]
pub struct E2bPlace {
    /// The server.
    pub server: E2bServer,
    folder: TempDir,
    /// Where what was compiled is kept, so that it is compiled once.
    cache: PathBuf,
}

impl E2bPlace {
    /// Starts a server, for this shim.
    ///
    /// # Errors
    /// When it does not start.
    pub fn new(shim: &[u8], cache: impl Into<PathBuf>) -> io::Result<Self> {
        let place = Self {
            server: E2bServer::start()?,
            folder: tempfile::tempdir()?,
            cache: cache.into(),
        };
        for name in ["work", "scratch"] {
            std::fs::create_dir(place.path(name))?;
        }
        write(&place.path("key"), E2B_KEY.as_bytes())?;
        write(&place.path("e2b.wasm"), shim)?;
        Ok(place)
    }

    /// A file of the folder: `work` is the workspace, `key` has the key.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A configuration, with more settings of the shim: `template = "base"`.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn config(&self, settings: &str) -> Config {
        let text = format!(
            r#"version = 1

[sandbox]
backend = "component"
writable = true

[sandbox.component]
component = "e2b.wasm"
secrets = {{ api-key = {{ file = "key" }} }}

[[sandbox.component.http]]
hosts = ["127.0.0.1"]
ports = {ports:?}
methods = ["GET", "POST", "DELETE"]
private = true
http = true

[sandbox.component.settings]
api-url = {api_url:?}
sandbox-url = {sandbox_url:?}
root = {root:?}
scratch = {scratch:?}
metadata = '{{"who": "tests"}}'
{settings}
"#,
            ports = [self.server.api.port(), self.server.sandboxes.port()],
            api_url = self.server.api_url(),
            sandbox_url = self.server.sandbox_url(),
            root = self.path("work"),
            scratch = self.path("scratch"),
        );
        let path = self.path("belljar.toml");
        let read = write(&path, text.as_bytes()).map(|()| Config::load(&path));
        match read {
            Ok(Ok(config)) => config,
            other => panic!("the configuration is none: {other:?}"),
        }
    }

    /// Opens the sandbox of a configuration.
    ///
    /// # Errors
    /// As [`Sandbox::open_ambient`].
    pub fn open(&self, config: &Config) -> Result<Sandbox, OpenError> {
        let options = OpenOptions {
            compilation_cache: Some(self.cache.clone()),
            ..OpenOptions::default()
        };
        Sandbox::open_ambient(config, options)
    }
}

#[expect(clippy::disallowed_methods, reason = "a folder of the test's own")]
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    std::fs::write(path, content)
}
