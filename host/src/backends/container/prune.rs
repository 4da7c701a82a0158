//! Removes the containers that nobody is left for.
//!
//! A container usually ends with its owner. What stays is one that was made and never started, one whose
//! engine was killed, one that is paused, and one that was to be found again by its name.

use std::{fmt, path::Path};

use belljar_contract::Context;

use super::{
    CliError, CliFailure, ContainerEngine, ContainerState, EngineEnvironment, arguments,
    cli::{CALL_TIMEOUT, Call, Cli},
    listing::{Listed, list},
};
use crate::backends::{
    lease::seconds_since_1970,
    owner::{Owner, Sight},
};

/// What [`prune_ambient`] does.
#[derive(Clone, Debug, Default)]
pub struct PruneOptions {
    /// The engine.
    pub engine: ContainerEngine,
    /// The engine's program; none for its usual name.
    pub program: Option<std::path::PathBuf>,
    /// The variables of the engine's program.
    pub engine_environment: EngineEnvironment,
    /// Whether to say only what would be removed.
    pub dry_run: bool,
    /// Whether a container that runs is removed too when its owner cannot be seen from here (another machine,
    /// another namespace of processes, before a reboot) and its lease has ended. Its owner may live.
    pub unseen: bool,
}

/// The containers that were found, each with what became of it.
#[derive(Clone, Debug, Default)]
pub struct PruneReport {
    /// All of them, in the order in which the engine lists them.
    pub containers: Vec<Left>,
}

/// A container that was found.
#[derive(Clone, Debug)]
pub struct Left {
    /// The engine's id of it.
    pub id: String,
    /// The engine's name of it.
    pub container_name: String,
    /// The name under which it is found again.
    pub name: Option<String>,
    /// The image, as it was configured.
    pub image: String,
    /// What it does.
    pub state: ContainerState,
    /// What was decided.
    pub verdict: Verdict,
    /// Why it could not be removed.
    pub failure: Option<CliError>,
}

/// Whether a container is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It stays.
    Keep(Kept),
    /// It is removed: it has ended by itself.
    Ended,
    /// It is removed: its owner has ended.
    OwnerGone,
    /// It is removed: its owner cannot be seen, or it was kept for its name; and its lease has ended.
    LeaseEnded,
}

/// Why a container stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Its owner lives.
    OwnerLives,
    /// It is to be found again by its name, and its lease has not ended.
    Named,
    /// Its owner cannot be seen from here, and its lease has not ended.
    Leased,
    /// Its owner cannot be seen from here, and it runs.
    UnseenAndRunning,
}

impl Verdict {
    /// Whether it is removed.
    #[must_use]
    pub const fn removes(self) -> bool {
        match self {
            Self::Keep(_) => false,
            Self::Ended | Self::OwnerGone | Self::LeaseEnded => true,
        }
    }

    /// The verdict's stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keep(Kept::OwnerLives) => "owner-lives",
            Self::Keep(Kept::Named) => "named",
            Self::Keep(Kept::Leased) => "leased",
            Self::Keep(Kept::UnseenAndRunning) => "unseen-and-running",
            Self::Ended => "ended",
            Self::OwnerGone => "owner-gone",
            Self::LeaseEnded => "lease-ended",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keep(Kept::OwnerLives) => "its owner lives",
            Self::Keep(Kept::Named) => "it is kept for its name until its lease ends",
            Self::Keep(Kept::Leased) => {
                "its owner cannot be seen from here, and its lease has not ended"
            }
            Self::Keep(Kept::UnseenAndRunning) => "it runs, and its owner cannot be seen from here",
            Self::Ended => "it has ended",
            Self::OwnerGone => "its owner has ended",
            Self::LeaseEnded => "its lease has ended",
        })
    }
}

/// Decides about one container; `now` is in seconds since 1970.
pub(super) fn decide(one: &Listed, sight: Sight, now: u64, unseen: bool) -> Verdict {
    let leased = one.labels.lease > now;
    match sight {
        Sight::Living => Verdict::Keep(Kept::OwnerLives),
        // A name is a promise that somebody comes back.
        Sight::Gone if one.labels.name.is_none() => Verdict::OwnerGone,
        Sight::Gone if leased => Verdict::Keep(Kept::Named),
        // Who reconnected is not written on it; but it stops when they go.
        Sight::Gone if one.state.may_work() && !unseen => Verdict::Keep(Kept::UnseenAndRunning),
        Sight::Gone => Verdict::LeaseEnded,
        Sight::Unseen if leased => Verdict::Keep(Kept::Leased),
        Sight::Unseen if one.state.may_work() && !unseen => Verdict::Keep(Kept::UnseenAndRunning),
        Sight::Unseen => Verdict::LeaseEnded,
    }
}

/// Lists the containers that are ours, and removes those that nobody is left for. It works on this
/// thread, which may block.
///
/// # Ambient authority
/// It runs the engine's program, and looks which processes live.
///
/// # Errors
/// [`CliError`] when the engine cannot be asked. That one container cannot be removed is in the report.
pub fn prune_ambient(context: &Context, options: &PruneOptions) -> Result<PruneReport, CliError> {
    let program = options.program.as_deref().map(Path::new);
    let cli = Cli::new(options.engine, program, options.engine_environment.clone());
    let here = Owner::this_ambient();
    let now = seconds_since_1970();
    let mut report = PruneReport::default();
    for one in list(&cli, context, None)? {
        let owner = one.labels.owner.as_ref();
        let sight = owner.map_or(Sight::Unseen, |owner| owner.look_ambient(&here));
        let verdict = decide(&one, sight, now, options.unseen);
        let failure = match verdict.removes() && !options.dry_run {
            true => remove(&cli, context, &one.id).err(),
            false => None,
        };
        report.containers.push(Left {
            id: one.id,
            container_name: one.container_name,
            name: one.labels.name,
            image: one.labels.image,
            state: one.state,
            verdict,
            failure,
        });
    }
    Ok(report)
}

/// Removes a container; one that is gone already is removed.
pub(super) fn remove(cli: &Cli, context: &Context, id: &str) -> Result<(), CliError> {
    let arguments = arguments::remove(cli.engine(), id);
    let call = Call {
        arguments: &arguments,
        input: None,
        timeout: CALL_TIMEOUT,
    };
    match cli.call(context, call) {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.failure, CliFailure::ContainerGone) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::labels::Labels, *};

    fn listed(state: ContainerState, name: Option<&str>, lease: u64) -> Listed {
        Listed {
            id: "a1".into(),
            container_name: "belljar-x".into(),
            state,
            labels: Labels {
                session: "s".into(),
                owner: None,
                name: name.map(str::to_owned),
                hardening: String::new(),
                image: String::new(),
                lease,
                stream: None,
            },
        }
    }

    const NOW: u64 = 1000;
    const STATES: [ContainerState; 6] = [
        ContainerState::Created,
        ContainerState::Running,
        ContainerState::Paused,
        ContainerState::Exited,
        ContainerState::Removing,
        ContainerState::Unknown,
    ];

    #[test]
    fn what_has_a_living_owner_is_kept_whatever_else() {
        for state in STATES {
            for name in [None, Some("build")] {
                for lease in [0, NOW + 1] {
                    for unseen in [false, true] {
                        let one = listed(state, name, lease);
                        let verdict = decide(&one, Sight::Living, NOW, unseen);
                        assert_eq!(verdict, Verdict::Keep(Kept::OwnerLives));
                    }
                }
            }
        }
    }

    #[test]
    fn what_has_no_owner_any_more_goes_in_every_state() {
        for state in STATES {
            let one = listed(state, None, NOW + 1);
            assert_eq!(decide(&one, Sight::Gone, NOW, false), Verdict::OwnerGone);
            let named = listed(state, Some("build"), NOW + 1);
            let verdict = decide(&named, Sight::Gone, NOW, false);
            assert_eq!(verdict, Verdict::Keep(Kept::Named));
            let named = listed(state, Some("build"), NOW);
            let verdict = decide(&named, Sight::Gone, NOW, false);
            let right = match state.may_work() {
                true => Verdict::Keep(Kept::UnseenAndRunning),
                false => Verdict::LeaseEnded,
            };
            assert_eq!(verdict, right);
            assert_eq!(decide(&named, Sight::Gone, NOW, true), Verdict::LeaseEnded);
        }
    }

    #[test]
    fn who_cannot_be_seen_has_their_lease_and_then_what_runs() {
        for state in STATES {
            let one = listed(state, None, NOW + 1);
            for unseen in [false, true] {
                let verdict = decide(&one, Sight::Unseen, NOW, unseen);
                assert_eq!(verdict, Verdict::Keep(Kept::Leased));
            }
            let ended = listed(state, None, NOW);
            let verdict = decide(&ended, Sight::Unseen, NOW, false);
            assert_eq!(verdict.removes(), !state.may_work());
            assert!(decide(&ended, Sight::Unseen, NOW, true).removes());
        }
    }
}
