//! The environment of an engine's program, or of one that reaches another machine: what it needs for that, and
//! nothing else.

use std::{collections::BTreeMap, ffi::OsString, fmt};

/// The variables of a program through which a sandbox is reached: a container engine's, `ssh`, `kubectl`.
///
/// The library never reads the environment, so the application passes it; whatever is none of
/// [`NAMES`](Self::NAMES) is left out. Nothing of it reaches a sandbox.
///
/// ```
/// use belljar::backends::EngineEnvironment;
///
/// let environment = EngineEnvironment::from_variables([
///     ("DOCKER_HOST".into(), "unix:///run/user/1000/docker.sock".into()),
///     ("AWS_SECRET_ACCESS_KEY".into(), "a secret".into()),
/// ]);
/// assert_eq!(environment.names().collect::<Vec<_>>(), ["DOCKER_HOST"]);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct EngineEnvironment(BTreeMap<&'static str, OsString>);

impl EngineEnvironment {
    /// The variables that are passed on: where programs, settings and engines are, and how a registry, a
    /// remote engine or a cluster is reached.
    pub const NAMES: [&'static str; 39] = [
        "PATH",
        "HOME",
        "USER",
        "TMPDIR",
        "SystemRoot",
        "ProgramData",
        "USERPROFILE",
        "APPDATA",
        "LOCALAPPDATA",
        "XDG_RUNTIME_DIR",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_CACHE_HOME",
        "SSH_AUTH_SOCK",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "DBUS_SESSION_BUS_ADDRESS",
        "DOCKER_HOST",
        "DOCKER_CONTEXT",
        "DOCKER_CONFIG",
        "DOCKER_CERT_PATH",
        "DOCKER_TLS",
        "DOCKER_TLS_VERIFY",
        "DOCKER_API_VERSION",
        "CONTAINER_HOST",
        "CONTAINER_CONNECTION",
        "CONTAINER_SSHKEY",
        "CONTAINERS_CONF",
        "CONTAINERS_STORAGE_CONF",
        "CONTAINERS_REGISTRIES_CONF",
        "STORAGE_DRIVER",
        "REGISTRY_AUTH_FILE",
        "KUBECONFIG",
    ];

    /// Keeps of some variables those that a program of an engine needs.
    pub fn from_variables(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let known = |name: OsString| Self::NAMES.into_iter().find(|known| name == *known);
        let kept = variables
            .into_iter()
            .filter_map(|(name, value)| Some((known(name)?, value)));
        Self(kept.collect())
    }

    /// The names of those that are set.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    pub(in crate::backends) fn variables(&self) -> impl Iterator<Item = (&'static str, &OsString)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }
}

impl fmt::Debug for EngineEnvironment {
    /// Leaves out the values: a proxy's address may have a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
