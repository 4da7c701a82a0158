//! What is wrong with the options of a container, and what they are once made normal.

use std::path::{Path, PathBuf};

use super::{
    ContainerEngine, ContainerOptions, ContainerUser,
    container_path::{self, PathProblem},
};
use crate::backends::doctor::mounts::is_below;

/// Options that no container can be made of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerOptionsError {
    /// The image is none.
    #[error("the image {image:?} is none: {reason}")]
    Image {
        /// The image.
        image: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The engine's program is named by a relative path.
    #[error("the program {} is neither a name nor a whole path", path.display())]
    Program {
        /// The program.
        path: PathBuf,
    },
    /// The user is none.
    #[error("the user {user:?} is none: {reason}")]
    User {
        /// The user.
        user: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The network is none.
    #[error(
        "the network {network:?} is none: a name has a-z, A-Z, 0-9, _, . and -, and begins with a letter or digit"
    )]
    Network {
        /// The network.
        network: String,
    },
    /// The capability is none.
    #[error(
        "the capability {capability:?} is none: name one as NET_BIND_SERVICE or CAP_NET_BIND_SERVICE"
    )]
    Capability {
        /// The capability.
        capability: String,
    },
    /// The name is none.
    #[error(
        "the name {name:?} is none: 2 to 63 of a-z, A-Z, 0-9, _, . and -, the first a letter or digit"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// To be found again a container needs a name.
    #[error("reconnect needs a name to find the container by")]
    ReconnectWithoutName,
    /// Nothing is found again where every operation is an exec of its own.
    #[error(
        "a container that is found again needs a resident, and there is none; set resident = \"auto\" and build the one for the image, or leave reconnect out"
    )]
    ReconnectWithoutResident,
    /// The engine finds no container again.
    #[error("{engine} does not reconnect; leave reconnect out")]
    ReconnectOnThisEngine {
        /// The engine.
        engine: ContainerEngine,
    },
    /// What is found again needs a place.
    #[error("reconnect needs a folder of the host's for what is found again; set state")]
    ReconnectWithoutState,
    /// What is found again belongs to one session after the other, and a pool's to one alone.
    #[error("a pool has containers that nobody used before; leave out reconnect, or the pool")]
    PoolWithReconnect,
    /// Without a resident nothing in a container can be kept ready.
    #[error(
        "a pool needs a resident in its containers; set resident = \"auto\", or leave out the pool"
    )]
    PoolWithoutResident,
    /// The engine is on another machine, where a path of this one is something else, or nothing.
    #[error(
        "{} cannot be bound: the engine is on another machine ({address}), where this path is another; leave it out, or use an engine of this machine",
        path.display()
    )]
    BoundElsewhere {
        /// The path.
        path: PathBuf,
        /// Where the engine is.
        address: String,
    },
    /// A path in the container is none that something can be mounted at.
    #[error("{what} {path:?} cannot be used: {reason}")]
    ContainerPath {
        /// What the path is for.
        what: &'static str,
        /// The path.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Two things are to be at one place of the container.
    #[error("{path} is mounted twice; give each bind a place of its own")]
    MountedTwice {
        /// The place.
        path: String,
    },
    /// A path of the host cannot be told to the engine.
    #[error("{} cannot be bound: {reason}", path.display())]
    HostPath {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A number is outside its range.
    #[error("{key} = {value} is out of range: {range}")]
    OutOfRange {
        /// Which.
        key: &'static str,
        /// What it is.
        value: u64,
        /// What it may be.
        range: &'static str,
    },
    /// A variable for processes is none.
    #[error("{name:?} is no variable: a name is not empty and has no =, and nothing has a NUL")]
    Variable {
        /// Its name.
        name: String,
    },
}

use ContainerOptionsError as Problem;

impl ContainerOptions {
    /// The same options, checked, with paths of the container in their normal form.
    ///
    /// # Errors
    /// [`ContainerOptionsError`] for the first that cannot be used.
    pub fn validated(mut self) -> Result<Self, ContainerOptionsError> {
        if let Some(reason) = word_problem(&self.image) {
            let image = self.image;
            return Err(Problem::Image { image, reason });
        }
        if let Some(program) = &self.program
            && program.components().count() > 1
            && !program.is_absolute()
        {
            let path = program.clone();
            return Err(Problem::Program { path });
        }
        self.cwd = mountable("cwd", &self.cwd)?;
        for bind in &mut self.binds {
            bind.container = mountable("the bind at", &bind.container)?;
            host_path(&bind.host, self.engine)?;
        }
        if let Some(workspace) = &self.workspace {
            host_path(workspace, self.engine)?;
        }
        self.places()?;
        self.words()?;
        self.numbers()?;
        let bad = |(name, value): &(&String, &String)| {
            name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
        };
        match self.environment.iter().find(bad) {
            Some((name, _)) => Err(Problem::Variable { name: name.clone() }),
            None => Ok(self),
        }
    }

    /// Each mount has a place of its own, and none covers another that is made later.
    fn places(&self) -> Result<(), Problem> {
        let mut places = vec!["/tmp", self.cwd.as_str()];
        for bind in &self.binds {
            let at = bind.container.as_str();
            // A bind above the workspace would be mounted over it, or not, as the engine likes.
            if places.contains(&at) || is_below(&self.cwd, at) {
                return Err(Problem::MountedTwice {
                    path: at.to_owned(),
                });
            }
            places.push(at);
        }
        match is_below("/tmp", &self.cwd) {
            true => Err(Problem::MountedTwice {
                path: "/tmp".to_owned(),
            }),
            false => Ok(()),
        }
    }

    fn words(&self) -> Result<(), Problem> {
        if let Some(ContainerUser::Named(user)) = &self.user
            && let Some(reason) = word_problem(user)
        {
            let user = user.clone();
            return Err(Problem::User { user, reason });
        }
        // So that neither `container:NAME` nor `ns:PATH` joins a network of something else.
        if !is_name(&self.network) {
            let network = self.network.clone();
            return Err(Problem::Network { network });
        }
        let capability = |text: &&String| {
            let allowed = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
            text.is_empty() || !text.bytes().all(allowed)
        };
        if let Some(capability) = self.cap_add.iter().find(capability) {
            let capability = capability.clone();
            return Err(Problem::Capability { capability });
        }
        match &self.name {
            Some(name) if !is_name(name) || !(2..=63).contains(&name.len()) => {
                Err(Problem::Name { name: name.clone() })
            }
            None if self.reconnect => Err(Problem::ReconnectWithoutName),
            _ if self.reconnect && self.engine == ContainerEngine::Apple => {
                let engine = self.engine;
                Err(Problem::ReconnectOnThisEngine { engine })
            }
            _ => Ok(()),
        }
    }

    fn numbers(&self) -> Result<(), Problem> {
        // Docker's own least is 6 MiB; below it even a shell does not start.
        const LEAST_MEMORY: u64 = 6 << 20;
        const LEAST_SIZE: u64 = 64 << 10;
        let checks = [
            (
                "memory",
                self.memory.unwrap_or(LEAST_MEMORY),
                LEAST_MEMORY,
                "at least 6MiB",
            ),
            (
                "cpus",
                self.cpu_millis.unwrap_or(1000).into(),
                10,
                "at least 0.01",
            ),
            // The program that serves the contract has threads too.
            (
                "pids-limit",
                self.pids_limit.unwrap_or(512).into(),
                16,
                "at least 16",
            ),
            ("scratch", self.scratch_bytes, LEAST_SIZE, "at least 64KiB"),
            ("tmp", self.tmp_bytes, LEAST_SIZE, "at least 64KiB"),
        ];
        match checks.iter().find(|(_, value, least, _)| value < least) {
            Some(&(key, value, _, range)) => Err(Problem::OutOfRange { key, value, range }),
            None => Ok(()),
        }
    }
}

fn mountable(what: &'static str, path: &str) -> Result<String, Problem> {
    container_path::normal(path).map_err(|problem: PathProblem| Problem::ContainerPath {
        what,
        path: path.to_owned(),
        reason: problem.to_string(),
    })
}

/// Whether a path of the host can be told to an engine: `--mount` quotes what it must, and Apple's cannot.
pub(super) fn host_path(path: &Path, engine: ContainerEngine) -> Result<&str, Problem> {
    let bad = |reason| Problem::HostPath {
        path: path.to_owned(),
        reason,
    };
    if !path.is_absolute() {
        return Err(bad("it is not absolute"));
    }
    let text = path.to_str().ok_or_else(|| bad("it is not UTF-8"))?;
    if text.contains(char::is_control) {
        return Err(bad("it has a control character"));
    }
    if engine == ContainerEngine::Apple && text.contains([',', '=']) {
        return Err(bad(
            "it has a comma or an equals sign, which Apple's container cannot be told",
        ));
    }
    Ok(text)
}

/// What is wrong with a word that stands in an argument vector.
fn word_problem(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        Some("it is empty")
    } else if text.starts_with('-') {
        Some("it begins with -, as an option does")
    } else if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        Some("it has a space or a control character")
    } else {
        None
    }
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphanumeric())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

#[cfg(test)]
#[path = "validate_tests.rs"]
mod tests;
