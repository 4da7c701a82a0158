//! What a session is weaker in that has no resident: one list, for what such a session says of itself and for what
//! `doctor` says of one that has a resident.

use super::{Gap, Guarantee, served::NoResident};
use crate::backends::{Weakness, posix::PosixGap};

/// What of a container's guarantees is not had by shell.
const LOST: [(Guarantee, &str); 2] = [
    (
        Guarantee::Resident,
        "every operation is an exec of its own, by the image's own shell and utilities, which a process in the container may replace, and which say what is seen from inside",
    ),
    (
        Guarantee::EndsWithOwner,
        "process 1 is the image's own shell, and a process in the container can keep it from noticing that its owner has ended; then `belljar prune` removes the container",
    ),
];

/// The gaps of a session by shell, as they are known before it starts.
pub(super) fn gaps(why: &NoResident) -> Vec<Gap> {
    let gap = |(guarantee, lost): (Guarantee, &str)| Gap {
        guarantee,
        message: match guarantee {
            Guarantee::Resident => format!("{why}; {lost}"),
            _ => lost.to_owned(),
        },
    };
    LOST.map(gap).into()
}

/// What the fall-back would weaken in a session that has a resident.
pub(super) fn weaknesses() -> Vec<Weakness> {
    let lost = LOST.map(|(guarantee, lost)| (guarantee.as_str(), lost));
    let of_shell = PosixGap::ALWAYS.map(|gap| (gap.as_str(), gap.message()));
    let weakness = |(name, message): (&str, &str)| Weakness {
        name: name.to_owned(),
        message: message.to_owned(),
    };
    lost.into_iter().chain(of_shell).map(weakness).collect()
}
