//! Has a shell start the resident of this installation, which it is given first where it lacks it.
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
    process::{ChildStdin, ChildStdout},
};

use belljar_contract::Context;

use super::{
    RemoteFailure,
    conversation::{Broken, Conversation},
    shelf::Resident,
};

const SCRIPT: &str = include_str!("install.sh");

/// Speaks with the shell until it becomes the resident.
///
/// # Errors
/// What went wrong; the program's end may say it better.
pub(super) fn start(
    context: &Context,
    input: &ChildStdin,
    output: &ChildStdout,
    residents: &[Resident],
) -> Result<(), RemoteFailure> {
    // Nothing that a login script prints has it.
    let mark = format!("belljar-{:016x}", RandomState::new().hash_one(0));
    let shell = Conversation::new(context, input, output, &mark)?;
    shell.say(script(&mark, residents).as_bytes())?;
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
fn script(mark: &str, residents: &[Resident]) -> String {
    let mut text = format!("{{\nmark={mark}\nresidents='");
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

fn failed(why: &str, residents: &[Resident]) -> RemoteFailure {
    match why.split_once(' ').unwrap_or((why, "")) {
        ("machine", machine) => RemoteFailure::NoResidentFor {
            machine: machine.to_owned(),
            has: residents.iter().map(|one| one.architecture).collect(),
        },
        ("no-hash", _) => RemoteFailure::NoHashThere,
        ("folder", _) => RemoteFailure::FolderNotPrivate,
        ("write", _) => RemoteFailure::NotWritten,
        ("hash", _) => RemoteFailure::HashDiffers,
        _ => not_understood(why),
    }
}

fn not_understood(answer: &str) -> RemoteFailure {
    RemoteFailure::NoShell {
        what: format!("it said {answer:?}"),
    }
}

impl From<Broken> for RemoteFailure {
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
