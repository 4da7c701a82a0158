//! Sandboxes that a [`SandboxServer`] lends, by the component for it.

use belljar::{OpenOptions, Sandbox, backends::OpenError, config::Config};
use tempfile::TempDir;

use crate::{SandboxServer, TOKEN};

/// The component, and what was compiled of it.
#[derive(Debug)]
pub struct LentSandboxes(TempDir);

impl LentSandboxes {
    /// `shim` is the component `serve_sandbox.wasm`.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn by(shim: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        #[expect(
            clippy::disallowed_methods,
            reason = "a test makes what the configuration names"
        )]
        std::fs::write(folder.path().join("serve_sandbox.wasm"), shim).expect("it is written");
        Self(folder)
    }

    /// Opens a session on the server. It occupies its thread until the server has answered.
    ///
    /// What the configuration says is all that the component gets: its settings, and requests to the server's port at
    /// its private address; its certificate is believed.
    ///
    /// # Errors
    /// As [`Sandbox::open_ambient`].
    pub fn open(&self, server: &SandboxServer) -> Result<Sandbox, OpenError> {
        let options = OpenOptions {
            secrets: [("LENT_TOKEN".to_owned(), TOKEN.to_owned())].into(),
            compilation_cache: Some(self.0.path().join("compiled")),
            ..OpenOptions::default()
        };
        Sandbox::open_ambient(&self.config(server), options)
    }

    fn config(&self, server: &SandboxServer) -> Config {
        let (url, port) = (server.url(), server.port());
        let (ca, http) = match server.certificate() {
            Some(path) => (format!("ca = {:?}", path.display().to_string()), false),
            None => (String::new(), true),
        };
        let text = format!(
            r#"
            version = 1
            [sandbox]
            backend = "component"
            writable = true
            [sandbox.component]
            component = "serve_sandbox.wasm"
            settings = {{ url = "{url}" }}
            secrets = {{ token = {{ env = "LENT_TOKEN" }} }}
            http = [{{ hosts = ["127.0.0.1"], ports = [{port}], private = true, http = {http} }}]
            {ca}
            "#
        );
        match Config::from_toml(&text, self.0.path()) {
            Ok(config) => config,
            Err(error) => panic!("the configuration is wrong: {error}"),
        }
    }
}
