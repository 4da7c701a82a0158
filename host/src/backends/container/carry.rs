//! Brings the resident to an engine on another machine, which cannot bind a file of this one.
//!
//! It lies in the volume of a container that is never started. That one's name has the digest of the program and of the
//! image's name, and it gets it when the program is there as a whole: who finds the name finds the program. It stays, for
//! the next session, until its lease has ended and `belljar prune` comes by.
//!
//! Who borrows one volume of a container borrows all of them, those that its image declares too, at whatever path that
//! names. So an image's sessions borrow from a container of the same image alone: another's could put its own programs
//! in the place of theirs.

use std::{fmt::Write as _, path::Path};

use belljar_contract::Context;

use super::{
    CliFailure, arguments,
    not_started::Failed,
    start::{REMOVE_TIMEOUT, Starter},
};
use crate::backends::lease;

/// What a carrier's name begins with.
const NAME: &str = "belljar-resident-";

impl Starter {
    /// The container that carries the program; it is made where it is missing.
    pub(super) fn carry(&self, context: &Context, program: &Path) -> Result<String, Failed> {
        let digest = digest_ambient(program, &self.options.image)?;
        let name = format!("{NAME}{digest}");
        if self.cli.state(context, &name)?.is_some() {
            return Ok(name);
        }
        let part = format!("{name}.{}", lease::session_id()?);
        let made = self.load(context, program, &part, &name);
        if made.is_err() {
            // What cannot be removed now has a name that says what it is.
            let _ = self.cli.remove(&part, REMOVE_TIMEOUT);
        }
        match made {
            // Another session was first.
            Err(Failed::Cli(error)) if matches!(error.failure, CliFailure::NameInUse) => Ok(name),
            made => made.map(|()| name),
        }
    }

    fn load(
        &self,
        context: &Context,
        program: &Path,
        part: &str,
        name: &str,
    ) -> Result<(), Failed> {
        let limit = self.options.start_timeout;
        // What is copied of a link is the link, which leads nowhere there.
        let program = std::fs::canonicalize(program)?;
        let path = program
            .to_str()
            .filter(|path| !path.contains(':'))
            .ok_or_else(|| {
                let message = format!(
                    "{} cannot be told to an engine on another machine: its path has a colon, or is not UTF-8",
                    program.display()
                );
                std::io::Error::other(message)
            })?;
        let mut labels = self.labels(lease::session_id()?, None);
        labels.name = Some(name.to_owned());
        let create = arguments::carrier(&self.options, part, &labels);
        self.cli.ask(context, &create, limit)?;
        self.cli.ask(context, &arguments::load(path, part), limit)?;
        self.cli
            .ask(context, &arguments::rename(part, name), limit)?;
        Ok(())
    }
}

/// The first half of a BLAKE3 of a program and of the name of an image, which is enough to tell them apart.
#[expect(clippy::disallowed_methods, reason = "the program is the host's own")]
fn digest_ambient(program: &Path, image: &str) -> std::io::Result<String> {
    let mut both = blake3::Hasher::new();
    // Of one length, whatever the program is.
    both.update(blake3::hash(&std::fs::read(program)?).as_bytes());
    both.update(image.as_bytes());
    let mut text = String::new();
    for byte in &both.finalize().as_bytes()[..16] {
        // To a string it cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
