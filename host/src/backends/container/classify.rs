//! What an engine's words mean.
//!
//! Engines tell most failures apart only in their texts. A text that is not known is [`Other`], never a guess;
//! the words stay with the error. What a program in a container prints must not come here: it could say
//! anything.
//!
//! [`Other`]: CliFailure::Other

use super::CliFailure;

/// What each text means; the first that is found counts, so the narrower stand first.
///
/// The texts are those of docker 20.10 to 28 and podman 4.3, in lower case.
const TEXTS: &[(&str, Meaning)] = &[
    (
        "permission denied while trying to connect",
        Meaning::EngineRefuses,
    ),
    ("connect: permission denied", Meaning::EngineRefuses),
    ("cannot connect to the docker daemon", Meaning::EngineDown),
    ("error during connect", Meaning::EngineDown),
    ("cannot connect to podman", Meaning::EngineDown),
    ("unable to connect to podman", Meaning::EngineDown),
    ("xpc connection error", Meaning::EngineDown),
    ("no space left on device", Meaning::OutOfDisk),
    ("disk quota exceeded", Meaning::OutOfDisk),
    ("is already in use by", Meaning::NameInUse),
    ("name is already in use", Meaning::NameInUse),
    (
        "bind source path does not exist",
        Meaning::BindSourceMissing,
    ),
    ("error: statfs ", Meaning::BindSourceMissing),
    ("exec format error", Meaning::WrongArchitecture),
    ("is paused", Meaning::Paused),
    ("is not running", Meaning::NotRunning),
    (
        "can only create exec sessions on running containers",
        Meaning::NotRunning,
    ),
    ("no such container", Meaning::Gone),
    // Somebody removes it already: the daemon itself, when its process 1 ended.
    ("is already in progress", Meaning::Gone),
    ("no such object", Meaning::Gone),
    ("invalid reference format", Meaning::ImageNameInvalid),
    ("invalid image name", Meaning::ImageNameInvalid),
    ("unable to find user", Meaning::UserUnknown),
    ("unable to find group", Meaning::UserUnknown),
    ("unable to find network", Meaning::NetworkUnknown),
    ("unknown flag", Meaning::OptionUnknown),
    ("unknown option", Meaning::OptionUnknown),
    ("unknown shorthand flag", Meaning::OptionUnknown),
    ("no such image", Meaning::ImageUnknown),
    ("image not known", Meaning::ImageUnknown),
    ("unable to find image", Meaning::PullFailed),
    ("did not resolve to an alias", Meaning::PullFailed),
    ("initializing source", Meaning::PullFailed),
    ("pull access denied", Meaning::PullFailed),
    ("manifest unknown", Meaning::PullFailed),
    ("manifest for ", Meaning::PullFailed),
    ("/v2/", Meaning::PullFailed),
    ("unable to start container process: exec:", Meaning::Start),
];

#[derive(Clone, Copy)]
enum Meaning {
    EngineRefuses,
    EngineDown,
    OutOfDisk,
    NameInUse,
    BindSourceMissing,
    WrongArchitecture,
    Paused,
    NotRunning,
    Gone,
    ImageNameInvalid,
    UserUnknown,
    NetworkUnknown,
    OptionUnknown,
    ImageUnknown,
    PullFailed,
    /// Process 1 does not start; the rest of the text says why.
    Start,
}

/// What a failed call means, from the program's exit code and what it printed on standard error.
pub(super) fn classify(code: Option<i32>, words: &str) -> CliFailure {
    let lower = words.to_lowercase();
    let Some((_, meaning)) = TEXTS.iter().find(|(text, _)| lower.contains(text)) else {
        return match lower.contains("network ") && lower.contains(" not found") {
            true => CliFailure::NetworkUnknown,
            false => CliFailure::Other { code },
        };
    };
    match meaning {
        Meaning::EngineRefuses => CliFailure::EngineRefuses,
        Meaning::EngineDown => CliFailure::EngineDown,
        Meaning::OutOfDisk => CliFailure::OutOfDisk,
        Meaning::NameInUse => CliFailure::NameInUse,
        Meaning::BindSourceMissing => CliFailure::BindSourceMissing,
        Meaning::WrongArchitecture => CliFailure::WrongArchitecture,
        Meaning::Paused => CliFailure::ContainerPaused,
        Meaning::NotRunning => CliFailure::ContainerNotRunning,
        Meaning::Gone => CliFailure::ContainerGone,
        Meaning::ImageNameInvalid => CliFailure::ImageNameInvalid,
        Meaning::UserUnknown => CliFailure::UserUnknown,
        Meaning::NetworkUnknown => CliFailure::NetworkUnknown,
        Meaning::OptionUnknown => CliFailure::OptionUnknown,
        Meaning::ImageUnknown => CliFailure::ImageUnknown,
        Meaning::PullFailed => CliFailure::PullFailed,
        Meaning::Start if lower.contains("permission denied") => CliFailure::NotExecutable,
        Meaning::Start if lower.contains("no such file") || lower.contains("not found") => {
            CliFailure::ProgramNotInImage
        }
        Meaning::Start => CliFailure::Other { code },
    }
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
