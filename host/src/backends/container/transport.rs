//! Whether a resident is reached over a socket, or over the program that starts it: one rule.
//!
//! A socket costs a hundredth of what the program's pipes do, and reaches no further than its kernel.

use std::ffi::OsStr;

use super::{ContainerEngine, EngineEnvironment, TransportChoice, info::EngineInfo};

/// Where an engine is, seen from here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On this kernel.
    Here,
    /// On this machine, under a kernel of its own, which sees this one's files.
    Beside,
    /// On another machine, where this one's files are not.
    Elsewhere {
        /// Where it was said to be.
        address: String,
    },
}

/// This machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here<'a> {
    pub(super) linux: bool,
    /// The release of its kernel.
    pub(super) kernel: Option<&'a str>,
}

/// How a resident is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Socket,
    Stdio,
}

impl Reach {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Stdio => "stdio",
        }
    }
}

/// A way to a resident, and why it is this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) reach: Reach,
    pub(super) reason: &'static str,
    /// Whether the other way may be tried when nobody comes.
    pub(super) may_change: bool,
}

/// Where an engine is: `address` is that of its daemon, where it is known.
pub(super) fn place(
    engine: ContainerEngine,
    address: Option<&str>,
    info: &EngineInfo,
    here: Here<'_>,
) -> Place {
    let elsewhere = |address: &str| Place::Elsewhere {
        address: address.to_owned(),
    };
    match (engine, address) {
        // Each container has a virtual machine, of which this one's files can be bound.
        (ContainerEngine::Apple, _) => Place::Beside,
        (ContainerEngine::Docker | ContainerEngine::Podman, Some(address))
            if !is_of_this_machine(address) =>
        {
            elsewhere(address)
        }
        (ContainerEngine::Podman, None) if info.remote && here.linux => {
            elsewhere("its default connection")
        }
        (ContainerEngine::Docker | ContainerEngine::Podman, _) => match (here.kernel, &info.kernel)
        {
            _ if !here.linux => Place::Beside,
            (Some(here), Some(there)) if here != there => Place::Beside,
            _ => Place::Here,
        },
    }
}

/// A path, or a scheme that needs no network; whatever else there may be is none.
fn is_of_this_machine(address: &str) -> bool {
    match address.split_once("://") {
        Some((scheme, _)) => matches!(scheme, "unix" | "npipe" | "fd"),
        None => address.starts_with('/'),
    }
}

/// The address in the environment of an engine's program.
pub(super) fn address(engine: ContainerEngine, environment: &EngineEnvironment) -> Option<String> {
    let name = match engine {
        ContainerEngine::Docker => "DOCKER_HOST",
        ContainerEngine::Podman => "CONTAINER_HOST",
        ContainerEngine::Apple => return None,
    };
    let mut variables = environment.variables();
    let (_, value) = variables.find(|(known, value)| *known == name && !value.is_empty())?;
    Some(OsStr::to_string_lossy(value).into_owned())
}

/// The way to the residents of an engine.
pub(super) const fn way(choice: TransportChoice, place: &Place) -> Way {
    let (reach, reason) = match (choice, place) {
        (TransportChoice::Socket, _) => (Reach::Socket, "it was asked for"),
        (TransportChoice::Stdio, _) => (Reach::Stdio, "it was asked for"),
        (TransportChoice::Auto, Place::Here) => (Reach::Socket, "the engine is on this kernel"),
        (TransportChoice::Auto, Place::Beside) => (
            Reach::Stdio,
            "the engine has a kernel of its own, and a socket does not reach into another",
        ),
        (TransportChoice::Auto, Place::Elsewhere { .. }) => {
            (Reach::Stdio, "the engine is on another machine")
        }
    };
    Way {
        reach,
        reason,
        may_change: matches!((choice, reach), (TransportChoice::Auto, Reach::Socket)),
    }
}

#[cfg(test)]
mod tests {
    use ContainerEngine::{Apple, Docker, Podman};

    use super::*;

    const LINUX: Here<'_> = Here {
        linux: true,
        kernel: Some("6.1.0"),
    };
    const MAC: Here<'_> = Here {
        linux: false,
        kernel: None,
    };

    fn kernel(kernel: &str) -> EngineInfo {
        EngineInfo {
            kernel: Some(kernel.into()),
            ..EngineInfo::default()
        }
    }

    fn reach(
        engine: ContainerEngine,
        address: Option<&str>,
        info: &EngineInfo,
        here: Here<'_>,
    ) -> Reach {
        way(TransportChoice::Auto, &place(engine, address, info, here)).reach
    }

    #[test]
    fn a_socket_is_for_an_engine_on_this_kernel() {
        for engine in [Docker, Podman] {
            for address in [
                None,
                Some("unix:///run/docker.sock"),
                Some("/run/docker.sock"),
            ] {
                assert_eq!(
                    reach(engine, address, &kernel("6.1.0"), LINUX),
                    Reach::Socket
                );
                // A desktop's virtual machine.
                assert_eq!(
                    reach(engine, address, &kernel("6.6-vm"), LINUX),
                    Reach::Stdio
                );
                assert_eq!(reach(engine, address, &kernel("6.1.0"), MAC), Reach::Stdio);
            }
            assert_eq!(
                reach(engine, None, &EngineInfo::default(), LINUX),
                Reach::Socket
            );
        }
        for here in [LINUX, MAC] {
            assert_eq!(
                reach(Apple, None, &EngineInfo::default(), here),
                Reach::Stdio
            );
        }
    }

    #[test]
    fn what_needs_a_network_is_elsewhere() {
        for engine in [Docker, Podman] {
            for address in [
                "tcp://10.0.0.7:2375",
                "ssh://ada@build",
                "tcp://localhost:2375",
                "x",
            ] {
                let place = place(engine, Some(address), &kernel("6.1.0"), LINUX);
                let address = address.to_owned();
                assert_eq!(place, Place::Elsewhere { address });
                assert_eq!(way(TransportChoice::Auto, &place).reach, Reach::Stdio);
            }
        }
        let remote = EngineInfo {
            remote: true,
            ..kernel("6.1.0")
        };
        assert!(matches!(
            place(Podman, None, &remote, LINUX),
            Place::Elsewhere { .. }
        ));
        // There it is the virtual machine that comes with it.
        assert_eq!(place(Podman, None, &remote, MAC), Place::Beside);
        // Its socket is here, and so is it.
        let address = Some("unix:///run/podman/podman.sock");
        assert_eq!(place(Podman, address, &remote, LINUX), Place::Here);
    }

    #[test]
    fn what_is_asked_for_counts() {
        for place in [Place::Here, Place::Beside] {
            let socket = way(TransportChoice::Socket, &place);
            assert_eq!((socket.reach, socket.may_change), (Reach::Socket, false));
            let stdio = way(TransportChoice::Stdio, &place);
            assert_eq!((stdio.reach, stdio.may_change), (Reach::Stdio, false));
        }
        assert!(way(TransportChoice::Auto, &Place::Here).may_change);
        assert!(!way(TransportChoice::Auto, &Place::Beside).may_change);
    }
}
