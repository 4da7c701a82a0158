//! `run`: one call makes the container and starts what is process 1 in it.

use std::path::Path;

use super::{
    super::{
        ContainerEngine, ContainerOptions, ContainerOptionsError, PullPolicy, container_path::OURS,
        labels::Labels,
    },
    carry, mount,
};

/// What a start is, beside its options.
#[derive(Clone, Debug)]
pub(crate) struct Start<'a> {
    /// What [`hardening`](super::hardening) gave.
    pub(crate) hardening: &'a [String],
    /// What is written on the container.
    pub(crate) labels: &'a Labels,
    /// The container's name for its engine.
    pub(crate) container_name: &'a str,
    /// What is process 1.
    pub(crate) keeper: Keeper<'a>,
}

/// What is process 1 of a container, and so ends it.
#[derive(Clone, Debug)]
pub(crate) enum Keeper<'a> {
    /// The program that serves the contract.
    Resident {
        /// Where it comes from: a static program for the container's architecture.
        program: Program<'a>,
        /// How it is reached.
        transport: Transport<'a>,
    },
    /// A shell that waits for the end of its input, which its owner holds open: it ends when they do.
    Shell,
}

/// Where the program that serves the contract comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Program<'a> {
    /// A file of this machine's.
    Here(&'a Path),
    /// What this container of the engine's carries.
    CarriedBy(&'a str),
}

/// How the program that serves the contract is reached.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Transport<'a> {
    /// A folder of the host's with a socket in it, on which the host listens.
    ///
    /// It is bound read-only: to connect needs no more, and a container that could write there could fill
    /// the host's disk.
    Socket {
        /// The folder.
        folder: &'a Path,
    },
    /// Standard input and output.
    Stdio,
}

/// Where the program that serves the contract is.
pub(super) const RESIDENT: &str = "/.belljar/resident";
/// Where the folder of its socket is.
const STREAM: &str = "/.belljar/stream";
/// Where its socket is.
const SOCKET: &str = "/.belljar/stream/socket";

/// The container's name for itself: not its id, which would be another in every session.
const HOSTNAME: &str = "belljar";

/// Ends at the end of its input, and reaps until then: `wait` in a shell that is process 1 takes whatever ended.
/// A command in the background has no input but what it is given, hence the third descriptor.
const WAIT_FOR_THE_END: &str = "exec 3<&0; cat <&3 >/dev/null & wait $!; exit 0";

/// The arguments of `run`. With [`Transport::Socket`] it returns once the container runs, and prints its
/// id; otherwise it lasts as long as the container.
///
/// # Errors
/// [`ContainerOptionsError`] for a path that the engine cannot be told.
pub(crate) fn run(
    options: &ContainerOptions,
    start: &Start<'_>,
) -> Result<Vec<String>, ContainerOptionsError> {
    let engine = options.engine;
    let oci = engine != ContainerEngine::Apple;
    let mut arguments = vec!["run".to_owned()];
    // A container that is to be found again stays when it stops.
    if !options.reconnect {
        arguments.push("--rm".into());
    }
    let detached = matches!(
        start.keeper,
        Keeper::Resident {
            transport: Transport::Socket { .. },
            ..
        }
    );
    arguments.push(match detached {
        true => "--detach".into(),
        false => "--interactive".into(),
    });
    arguments.push(format!("--name={}", start.container_name));
    for (name, value) in start.labels.pairs() {
        arguments.push(format!("--label={name}={value}"));
    }
    if oci {
        arguments.push(format!("--pull={}", options.pull.as_str()));
        // A log would grow on the host's disk without end.
        arguments.push("--log-driver=none".into());
        // A check of the image's would run programs that nobody asked for.
        arguments.push("--no-healthcheck".into());
        // Process 1 takes no other signal, so that a person's `stop` would wait for ten seconds.
        arguments.push("--stop-signal=KILL".into());
        arguments.push(format!("--hostname={HOSTNAME}"));
        // Where an engine makes a missing directory, it makes it root's alone, and a scratch would be so.
        arguments.push("--workdir=/".into());
    }
    arguments.extend_from_slice(start.hardening);
    let command: Vec<&str> = match &start.keeper {
        Keeper::Resident { program, transport } => {
            arguments.push(match program {
                Program::Here(path) => mount::bind(engine, path, RESIDENT, false)?,
                Program::CarriedBy(carrier) => carry::borrow(carrier),
            });
            arguments.push(format!("--entrypoint={RESIDENT}"));
            match transport {
                Transport::Socket { folder } => {
                    arguments.push(mount::bind(engine, folder, STREAM, false)?);
                    vec!["connect", SOCKET]
                }
                Transport::Stdio => vec!["stdio"],
            }
        }
        Keeper::Shell => {
            arguments.push("--entrypoint=/bin/sh".into());
            vec!["-c", WAIT_FOR_THE_END]
        }
    };
    debug_assert!(RESIDENT.starts_with(OURS) && STREAM.starts_with(OURS));
    arguments.push(options.image.clone());
    arguments.extend(command.into_iter().map(str::to_owned));
    Ok(arguments)
}

/// Whether the image must be looked for before `run`, because the engine cannot be told the policy.
pub(crate) fn pulls_by_itself(options: &ContainerOptions) -> bool {
    options.engine == ContainerEngine::Apple && options.pull != PullPolicy::Missing
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
