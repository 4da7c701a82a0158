//! Opens a session with a place: everything that can be said before there is a connection is said here.

use std::{ffi::OsString, path::PathBuf, sync::Arc};

use belljar_contract::{
    Backend,
    session::{Capability, Description, PolicySummary},
};

use super::{
    super::{OpenError, install, program::Program},
    RemoteOptions, RemoteOptionsError,
    backend::RemoteBackend,
    connect::Connector,
};

impl RemoteOptions {
    /// Opens a session. The connection is made at the first call, once for all that come at once.
    ///
    /// # Ambient authority
    /// The command is run with the rights of this process, and reaches whatever it reaches. The residents' folders
    /// are the host's.
    ///
    /// # Errors
    /// [`OpenError`] when the options cannot be used, or there is no resident to install.
    pub fn open_ambient(self) -> Result<Arc<dyn Backend>, OpenError> {
        Ok(Arc::new(self.prepare_ambient()?))
    }

    pub(super) fn prepare_ambient(self) -> Result<RemoteBackend, OpenError> {
        let options = self.validated()?;
        let residents = match options.install {
            true => install::residents_ambient(&options.residents)
                .map_err(OpenError::ResidentUnreadable)?,
            false => Vec::new(),
        };
        if options.install && residents.is_empty() {
            return Err(OpenError::NothingToInstall {
                looked: options.residents,
            });
        }
        let mut command = options.command.iter().cloned();
        let program = command.next().ok_or(RemoteOptionsError::NoCommand)?;
        let arguments: Vec<OsString> = command.collect();
        let description = describe(&options);
        let connector = Connector {
            program: Program::new(PathBuf::from(program), options.program_environment.clone()),
            arguments,
            options,
            residents,
        };
        Ok(RemoteBackend::new(connector, description))
    }
}

fn describe(options: &RemoteOptions) -> Description {
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
    capabilities.sort_unstable();
    let instructions = [
        format!(
            "You work on another machine; your workspace there is {}.",
            options.root
        ),
        match options.writable {
            true => "Files in the workspace can be read and changed.",
            false => "Files in the workspace can be read, and not changed.",
        }
        .to_owned(),
        "Processes run on that machine, with its network and the rights of its account.".to_owned(),
        "The workspace is kept; processes end with this session, or when its connection is lost."
            .to_owned(),
    ];
    Description {
        backend: "remote".to_owned(),
        root: options.root.clone(),
        process_root: None,
        writable: options.writable,
        durable: true,
        capabilities,
        limits: options.limits,
        policy: PolicySummary::default(),
        instructions: instructions.join(" "),
        hardening_gaps: gaps(options),
    }
}

/// What is weaker than it could be, as far as it is known without looking.
fn gaps(options: &RemoteOptions) -> Vec<String> {
    let mut gaps = vec![
        "unconfined: what confines processes there is not known here; they may have all the files, the network and the rights of the account that the command reaches".to_owned(),
        "unlimited: nothing here limits their number, their memory or what they write".to_owned(),
        format!(
            "host-lost: on a connection that is cut without an end, processes run on there for {:?}, until the resident misses its host",
            options.silence()
        ),
    ];
    if !options.writable {
        gaps.push(
            "writable-by-processes: the file functions change nothing there, and processes can"
                .to_owned(),
        );
    }
    gaps
}
