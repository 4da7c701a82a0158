//! Opens a session in a container: everything that can be said before it starts is said here.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use belljar_contract::{
    Backend, Context, Operation, blocking,
    session::{Capability, Description, PolicySummary},
};

use super::{
    super::OpenError,
    CliError, ContainerEngine, ContainerOptions, ContainerOptionsError, Gap, HostUser,
    arguments::{self, Surroundings},
    backend::ContainerBackend,
    by_shell::ShellSession,
    cli::{Call, Cli},
    doctor::Expected,
    gap,
    info::{EngineInfo, ImageInfo},
    options::NO_NETWORK,
    served::{NoResident, Served},
    start::Starter,
    transport::{self, Here, Place},
};

/// How long the engine may take to say what it is.
const INFO_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(20);

impl ContainerOptions {
    /// Opens a session: asks the engine what it can hold, and starts the container at the first call.
    ///
    /// # Ambient authority
    /// It runs the engine's program; the workspace's path and the binds are the host's.
    ///
    /// # Errors
    /// [`OpenError`] when the options are wrong, the workspace is not there, the engine does not answer, or
    /// what is required cannot be had.
    pub fn open_ambient(self) -> Result<Arc<dyn Backend>, OpenError> {
        let (starter, description) = self.prepare_ambient()?;
        if starter.resident.is_some() {
            return Ok(Arc::new(ContainerBackend::new(starter, description, None)));
        }
        // What a shell can do is known when it runs, so that it starts here.
        let context = Context::new().with_timeout(starter.options.start_timeout);
        let opened = ShellSession::open(&context, starter, &description);
        match blocking::block_on(&context, opened) {
            Ok(session) => Ok(Arc::new(session?)),
            Err(stop) => Err(OpenError::NotStarted(stop.during(Operation::Open))),
        }
    }

    /// What starts containers with these options, and what is said of a session in one.
    pub(super) fn prepare_ambient(self) -> Result<(Arc<Starter>, Arc<Description>), OpenError> {
        let Confined { starter, gaps } = self.confine_ambient()?;
        let description = describe(&starter.options, &gaps);
        Ok((Arc::new(starter), Arc::new(description)))
    }

    /// Everything that can be said before a container starts.
    fn confine_ambient(self) -> Result<Confined, OpenError> {
        let mut options = self.validated()?;
        if options.reconnect && options.state.is_none() {
            return Err(ContainerOptionsError::ReconnectWithoutState.into());
        }
        options.workspace = options.workspace.map(workspace_ambient).transpose()?;
        let program = options.program.as_deref();
        let cli = Cli::new(options.engine, program, options.engine_environment.clone());
        let surroundings = Surroundings {
            host_user: host_user_ambient(),
            info: ask(&cli, &options)?,
        };
        let place = place_ambient(&cli, &options, &surroundings.info)?;
        reaches(&options, &place)?;
        let way = transport::way(options.transport, &place);
        tracing::debug!(
            transport = way.reach.as_str(),
            reason = way.reason,
            "the container's session"
        );
        let image = ask_image(&cli, &options.image);
        let served = served_ambient(&options, &surroundings.info, image.as_ref())?;
        let mut gaps = gap::gaps(&options, &surroundings.info, image.as_ref());
        gaps.extend(served.gaps());
        let unmet = gap::unmet(&options, &gaps);
        if !unmet.is_empty() {
            return Err(OpenError::RequirementsUnmet { gaps: unmet });
        }
        let hardening = arguments::hardening(&options, &surroundings)?;
        let starter = Starter {
            cli,
            expected: Expected::new(&options, &surroundings, gaps.clone()),
            options,
            hardening,
            resident: served.into_resident(),
            carries: matches!(place, Place::Elsewhere { .. }),
            way,
            no_socket: AtomicBool::new(false),
        };
        Ok(Confined { starter, gaps })
    }
}

/// What is known before a container starts.
struct Confined {
    starter: Starter,
    gaps: Vec<Gap>,
}

/// What the engine says of itself.
fn ask(cli: &Cli, options: &ContainerOptions) -> Result<EngineInfo, CliError> {
    let arguments = arguments::info(cli.engine());
    let call = Call {
        arguments: &arguments,
        input: None,
        timeout: INFO_TIMEOUT.min(options.start_timeout),
    };
    let answer = cli.call(&Context::new(), call)?;
    EngineInfo::parse(cli.engine(), &answer.stdout).ok_or_else(|| cli.not_understood(&arguments))
}

/// What the engine says of the image; none when it does not have it yet.
fn ask_image(cli: &Cli, image: &str) -> Option<ImageInfo> {
    let arguments = arguments::image_inspect(image);
    let call = Call {
        arguments: &arguments,
        input: None,
        timeout: INFO_TIMEOUT,
    };
    let answer = cli.call(&Context::new(), call).ok()?;
    ImageInfo::parse(&answer.stdout)
}

/// Where the engine is.
fn place_ambient(
    cli: &Cli,
    options: &ContainerOptions,
    info: &EngineInfo,
) -> Result<Place, CliError> {
    let said = transport::address(cli.engine(), &options.engine_environment);
    let address = match (said, &info.context) {
        // Docker's default context is its usual socket, or what its environment says.
        (None, Some(context)) if context != "default" => {
            let arguments = arguments::context(context);
            let call = Call {
                arguments: &arguments,
                input: None,
                timeout: INFO_TIMEOUT.min(options.start_timeout),
            };
            let answer = cli.call(&Context::new(), call)?;
            Some(String::from_utf8_lossy(&answer.stdout).trim().to_owned())
        }
        (said, _) => said,
    };
    let kernel = kernel_ambient();
    let here = Here {
        linux: cfg!(target_os = "linux"),
        kernel: kernel.as_deref(),
    };
    Ok(transport::place(
        cli.engine(),
        address.as_deref(),
        info,
        here,
    ))
}

/// The release of this machine's kernel.
fn kernel_ambient() -> Option<String> {
    let name = rustix::system::uname();
    name.release().to_str().ok().map(str::to_owned)
}

/// Whether the engine has what it is to bind: elsewhere it would be an empty directory, or somebody else's.
fn reaches(options: &ContainerOptions, place: &Place) -> Result<(), ContainerOptionsError> {
    let Place::Elsewhere { address } = place else {
        return Ok(());
    };
    let binds = options.binds.iter().map(|bind| &bind.host);
    match options.workspace.iter().chain(binds).next() {
        Some(path) => Err(ContainerOptionsError::BoundElsewhere {
            path: path.clone(),
            address: address.clone(),
        }),
        None => Ok(()),
    }
}

/// The workspace as the engine is told it: absolute, and there.
fn workspace_ambient(path: PathBuf) -> Result<PathBuf, OpenError> {
    match std::fs::canonicalize(&path) {
        Ok(canonical) if canonical.is_dir() => Ok(canonical),
        Ok(_) => Err(OpenError::WorkspaceNotADirectory { path }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(OpenError::WorkspaceNotFound { path })
        }
        Err(source) => Err(OpenError::Workspace { path, source }),
    }
}

/// What serves the contract, by the residents that this host has.
fn served_ambient(
    options: &ContainerOptions,
    info: &EngineInfo,
    image: Option<&ImageInfo>,
) -> Result<Served, OpenError> {
    let served = Served::choose(options, info, image, Path::is_file)?;
    if let Served::ByShell(why) = &served {
        if options.reconnect {
            return Err(ContainerOptionsError::ReconnectWithoutResident.into());
        }
        if matches!(why, NoResident::ForArchitecture { .. }) {
            tracing::warn!(
                image = options.image,
                "the container has no resident, so that each operation is a slow exec of its own: {why}"
            );
        }
    }
    Ok(served)
}

#[cfg(unix)]
fn host_user_ambient() -> Option<HostUser> {
    Some(HostUser {
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
    })
}

fn describe(options: &ContainerOptions, gaps: &[Gap]) -> Description {
    let mut capabilities = vec![
        Capability::Read,
        Capability::Run,
        Capability::Start,
        Capability::Modes,
        Capability::Links,
        Capability::RawNames,
    ];
    if options.writable {
        capabilities.push(Capability::Write);
    }
    if options.memory.is_some() && options.engine != ContainerEngine::Apple {
        capabilities.push(Capability::OutOfMemory);
    }
    capabilities.sort_unstable();
    let durable = options.workspace.is_some();
    let sentences = [
        format!(
            "You work in a {} container of the image {}; your workspace is {}.",
            options.engine, options.image, options.cwd
        ),
        match options.writable {
            true => "Files in the workspace can be read and changed.",
            false => "Files in the workspace can be read, and not changed.",
        }
        .to_owned(),
        match (options.readonly_rootfs, options.reconnect) {
            (true, _) => "Outside it only /tmp can be written.",
            (false, false) => "What is written outside it is gone with the container.",
            (false, true) => {
                "What is written outside it, and not in /tmp, is kept for the next session."
            }
        }
        .to_owned(),
        match options.network.as_str() {
            NO_NETWORK => "There is no network.".to_owned(),
            network => format!("The network is {network}."),
        },
        match durable {
            true => "The workspace is kept.",
            false => "The workspace is temporary and goes with this session.",
        }
        .to_owned(),
    ];
    Description {
        backend: "container".to_owned(),
        root: options.cwd.clone(),
        process_root: None,
        writable: options.writable,
        durable,
        capabilities,
        limits: options.limits,
        policy: PolicySummary::default(),
        instructions: sentences.join(" "),
        hardening_gaps: gaps.iter().map(ToString::to_string).collect(),
    }
}
