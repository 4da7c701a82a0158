//! Has a shell start the resident of this installation, which it is given first where it lacks it.
//!
//! `install.sh` is what the shell is told, `conversation` speaks with it, `shelf` has the residents of this
//! installation, with their hashes.
//!
//! One connection carries it all: the script, the resident's bytes where they are needed, and then the session,
//! since the shell becomes the resident. A command that asked first, another that copied and a third that ran
//! would be three connections, each of which may cost a second, and would not be the same machine for certain.
//!
//! The resident's bytes travel as they are: a stream that is to carry the protocol carries any byte. Nothing of it,
//! and nothing of the script, is in an argument, which `ssh` would put together and have taken apart again.

use std::{
    fmt::Write as _,
    hash::{BuildHasher as _, RandomState},
    os::fd::BorrowedFd,
};

use belljar_contract::{Context, Stop};

use self::conversation::{Broken, Conversation};
pub(super) use self::shelf::{Resident, residents_ambient};

mod conversation;
mod shelf;

const SCRIPT: &str = include_str!("install.sh");

/// Why no resident was started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// What answers was not understood.
    #[error("what answers is no POSIX shell: {what}")]
    NoShell {
        /// What was said, or not.
        what: String,
    },
    /// This installation has no resident for the machine.
    #[error(
        "there is no resident for a machine of {machine:?}; this installation has {}",
        Shelf(has)
    )]
    NoResidentFor {
        /// The machine, as it names itself.
        machine: String,
        /// The architectures for which there is one.
        has: Vec<&'static str>,
    },
    /// Nothing there computes a hash, and nothing is started unchecked.
    #[error("nothing there computes a SHA-256, and nothing is started unchecked")]
    NoHashThere,
    /// The folder for the resident there is not its user's alone.
    #[error("the folder for the resident there cannot be made, or others may write to it")]
    FolderNotPrivate,
    /// The resident cannot be written there.
    #[error("the resident cannot be written there")]
    NotWritten,
    /// What arrived is not what was sent.
    #[error("what arrived of the resident has another hash than it should")]
    HashDiffers,
    /// The stream ended or broke.
    #[error("the stream is lost: {how}")]
    Lost {
        /// How.
        how: String,
    },
    /// The call that needed it was stopped.
    #[error("stopped")]
    Stopped(#[source] Stop),
}

struct Shelf<'a>(&'a [&'static str]);

impl std::fmt::Display for Shelf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            [] => f.write_str("none at all; build one with `cargo xtask residents`"),
            has => write!(f, "one for {}", has.join(" and one for ")),
        }
    }
}

/// How the resident is started once it is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Becoming<'a> {
    /// The folder below which it lies, instead of the user's cache. It goes into the script, and is ours.
    pub(super) cache: Option<&'static str>,
    /// Its arguments, apart by spaces.
    pub(super) arguments: &'a str,
}

/// Speaks with the shell until it becomes the resident.
///
/// # Errors
/// What went wrong; the program's end may say it better.
pub(super) fn start(
    context: &Context,
    input: BorrowedFd<'_>,
    output: BorrowedFd<'_>,
    residents: &[Resident],
    becoming: Becoming<'_>,
) -> Result<(), InstallError> {
    // Nothing that a login script prints has it.
    let mark = format!("belljar-{:016x}", RandomState::new().hash_one(0));
    let shell = Conversation::new(context, input, output, &mark)?;
    shell.say(script(&mark, residents, becoming).as_bytes())?;
    let mut sent = false;
    loop {
        let answer = shell.answer()?;
        match answer.split_once(' ').unwrap_or((&answer, "")) {
            ("run", "") => return Ok(()),
            ("need", hash) if !sent => {
                let known = residents.iter().find(|resident| resident.hash == hash);
                let Some(known) = known else {
                    return Err(not_understood(&answer));
                };
                tracing::info!(
                    bytes = known.bytes.len(),
                    architecture = known.architecture,
                    "copying the resident to where the session is"
                );
                shell.say(&known.bytes)?;
                sent = true;
            }
            ("failed", why) => return Err(failed(why, residents)),
            _ => return Err(not_understood(&answer)),
        }
    }
}

/// The script as one command.
fn script(mark: &str, residents: &[Resident], becoming: Becoming<'_>) -> String {
    let Becoming { cache, arguments } = becoming;
    let mut text = format!("{{\nmark={mark}\narguments='{arguments}'\n");
    if let Some(cache) = cache {
        let _ = writeln!(text, "XDG_CACHE_HOME='{cache}'");
    }
    text.push_str("residents='");
    for resident in residents {
        for machine in resident.machines {
            let (hash, size) = (&resident.hash, resident.bytes.len());
            // A string takes whatever is written to it.
            let _ = write!(text, "{machine} {hash} {size} ");
        }
    }
    text.push_str("'\n");
    text.push_str(SCRIPT);
    text.push_str("}\n");
    text
}

fn failed(why: &str, residents: &[Resident]) -> InstallError {
    match why.split_once(' ').unwrap_or((why, "")) {
        ("machine", machine) => InstallError::NoResidentFor {
            machine: machine.to_owned(),
            has: residents.iter().map(|one| one.architecture).collect(),
        },
        ("no-hash", _) => InstallError::NoHashThere,
        ("folder", _) => InstallError::FolderNotPrivate,
        ("write", _) => InstallError::NotWritten,
        ("hash", _) => InstallError::HashDiffers,
        _ => not_understood(why),
    }
}

fn not_understood(answer: &str) -> InstallError {
    InstallError::NoShell {
        what: format!("it said {answer:?}"),
    }
}

impl From<Broken> for InstallError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Stopped(stop) => Self::Stopped(stop),
            Broken::Ended(came) if came.is_empty() => Self::Lost {
                how: "it ended before it began".to_owned(),
            },
            Broken::Ended(came) => Self::NoShell {
                what: format!("it began with {came:?}, and ended"),
            },
            Broken::Endless(came) => Self::NoShell {
                what: format!("it began with {came:?}, and went on"),
            },
            Broken::Pipe(errno) => Self::Lost {
                how: std::io::Error::from(errno).to_string(),
            },
        }
    }
}

#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;
