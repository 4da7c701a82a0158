//! Which program speaks to which container engine.
//!
//! The engines' documentation is also what the schema of a configuration shows.

/// A container engine.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ContainerEngine {
    /// Docker, and what has its command line.
    #[default]
    Docker,
    /// Podman.
    Podman,
    /// Apple's container.
    Apple,
}

impl ContainerEngine {
    /// Every engine.
    pub const ALL: [Self; 3] = [Self::Docker, Self::Podman, Self::Apple];

    /// The engine's name in a configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Apple => "apple",
        }
    }

    /// The program's name on the PATH.
    ///
    /// ```
    /// assert_eq!(belljar::backends::ContainerEngine::Docker.program(), "docker");
    /// ```
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Apple => "container",
        }
    }

    /// What to install where the program is missing.
    pub(super) const fn install(self) -> &'static str {
        match self {
            Self::Docker => "install Docker (on Debian: apt-get install docker.io)",
            Self::Podman => "install Podman (on Debian: apt-get install podman)",
            Self::Apple => "install Apple's container, from its release page",
        }
    }
}

impl std::fmt::Display for ContainerEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
