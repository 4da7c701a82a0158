//! A server with a configuration that leads to it.

use std::{
    io,
    path::{Path, PathBuf},
};

use belljar::{OpenOptions, Sandbox, backends::OpenError, config::Config};
use tempfile::TempDir;

use super::{E2B_KEY, E2bProcess, E2bServer};

/// A server, and a folder with a shim, a key, a workspace and a configuration.
#[derive(Debug)]
pub struct E2bPlace<Server = E2bServer> {
    /// The server.
    pub server: Server,
    api_url: String,
    sandbox_url: String,
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
        let server = E2bServer::start()?;
        let urls = [server.api_url(), server.sandbox_url()];
        Self::of(server, urls, shim, cache.into())
    }
}

impl E2bPlace<E2bProcess> {
    /// Starts a server in a process of its own, by the program `e2b-stand-in`, for this shim.
    ///
    /// # Errors
    /// When it does not start.
    pub fn apart(program: &Path, shim: &[u8], cache: impl Into<PathBuf>) -> io::Result<Self> {
        let server = E2bProcess::start(program)?;
        let urls = [server.api_url.clone(), server.sandbox_url.clone()];
        Self::of(server, urls, shim, cache.into())
    }
}

impl<Server> E2bPlace<Server> {
    fn of(server: Server, urls: [String; 2], shim: &[u8], cache: PathBuf) -> io::Result<Self> {
        let [api_url, sandbox_url] = urls;
        let place = Self {
            server,
            api_url,
            sandbox_url,
            folder: tempfile::tempdir()?,
            cache,
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
ports = [{ports}]
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
            ports = [port(&self.api_url), port(&self.sandbox_url)].join(", "),
            api_url = self.api_url,
            sandbox_url = self.sandbox_url,
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

fn port(url: &str) -> &str {
    url.rsplit_once(':').map_or("", |(_, port)| port)
}

#[expect(clippy::disallowed_methods, reason = "a folder of the test's own")]
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    std::fs::write(path, content)
}
