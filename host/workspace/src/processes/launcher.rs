//! What the processes of a session are made of.

use std::{os::fd::AsFd as _, sync::Arc};

use belljar_contract::{Context, GuestPath, Launch, Operation};

use super::{
    failure::Failure,
    input::Input,
    launch::{EmptyInput, Launched, launch},
    platform::{Frozen, Left, Platform},
    program,
    programs::Shelf,
};
use crate::files::Workspace;

/// How a process comes to be.
#[derive(Debug)]
pub(super) enum Launcher {
    /// As a program of this operating system.
    System(Arc<Platform>),
    /// As one that needs none.
    Programs(Shelf),
}

impl Launcher {
    pub(super) fn launch(
        &self,
        files: &Workspace,
        root: &str,
        context: &Context,
        operation: Operation,
        asked: &Launch,
        empty_input: EmptyInput,
    ) -> Result<(Launched, Input), Failure> {
        match self {
            Self::System(platform) => launch(
                platform,
                files,
                root,
                context,
                operation,
                asked,
                empty_input,
            ),
            Self::Programs(shelf) => {
                shelf.launch(files, root, context, operation, asked, empty_input)
            }
        }
    }

    /// Where each program is, by its name: none where there is none. `path` is where an operating system looks.
    pub(super) fn find(
        &self,
        files: &Workspace,
        path: &str,
        names: &[String],
    ) -> Result<Vec<Option<String>>, Failure> {
        match self {
            Self::System(_) => {
                let root = files
                    .open_directory(Operation::FindCommands, &GuestPath::root())
                    .map_err(|error| Failure::Files(Box::new(error)))?;
                let find = |name: &String| program::find(name, path, root.as_fd()).ok();
                Ok(names.iter().map(find).collect())
            }
            Self::Programs(shelf) => {
                let find = |name: &String| shelf.programs.find(name);
                Ok(names.iter().map(find).collect())
            }
        }
    }

    /// What is weaker than the contract says.
    pub(super) fn gaps(&self) -> Vec<&'static str> {
        match self {
            Self::System(platform) => platform.gaps(),
            Self::Programs(_) => Vec::new(),
        }
    }

    /// Kills what belongs to no launch, and says what is left.
    pub(super) fn kill_strays(&self, frozen: &mut Frozen) -> Left {
        match self {
            Self::System(platform) => platform.kill_strays(frozen),
            Self::Programs(_) => Left::Nothing,
        }
    }
}
