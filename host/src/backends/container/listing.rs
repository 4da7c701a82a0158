//! The containers that are ours, in any state.

use std::{collections::BTreeMap, fmt};

use belljar_contract::Context;
use serde_json::Value;

use super::{
    CliError, CliFailure, ContainerEngine, arguments,
    cli::{CALL_TIMEOUT, Call, Cli},
    labels::Labels,
};

/// A container of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) id: String,
    pub(super) container_name: String,
    pub(super) state: ContainerState,
    pub(super) labels: Labels,
}

/// What a container does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContainerState {
    /// It was made and not started.
    Created,
    /// It runs.
    Running,
    /// It is paused.
    Paused,
    /// It has ended.
    Exited,
    /// It is being removed, and that may have failed.
    Removing,
    /// Something else that its engine says.
    Unknown,
}

impl ContainerState {
    /// The state's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Exited => "exited",
            Self::Removing => "removing",
            Self::Unknown => "unknown",
        }
    }

    fn read(text: &str) -> Self {
        match text {
            "created" | "configured" | "initialized" => Self::Created,
            "running" | "restarting" | "stopping" => Self::Running,
            "paused" => Self::Paused,
            "exited" | "stopped" | "dead" => Self::Exited,
            "removing" => Self::Removing,
            _ => Self::Unknown,
        }
    }

    /// The state of the one container that `inspect` told of.
    pub(super) fn of_one(engine: ContainerEngine, answer: &[u8]) -> Option<Self> {
        let answer: Value = serde_json::from_slice(answer).ok()?;
        let one = answer.get(0)?;
        let state = match engine {
            ContainerEngine::Docker | ContainerEngine::Podman => &one["State"]["Status"],
            ContainerEngine::Apple => &one["status"],
        };
        state.as_str().map(Self::read)
    }

    /// Whether something in it may be at work, or go on to be.
    pub(super) const fn may_work(self) -> bool {
        match self {
            Self::Running | Self::Paused | Self::Unknown => true,
            Self::Created | Self::Exited | Self::Removing => false,
        }
    }
}

impl fmt::Display for ContainerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The most containers in one argument vector: some kilobytes of ids.
const AT_ONCE: usize = 100;

/// Lists the containers that are ours; with a name, those that are to be found by it.
///
/// # Errors
/// [`CliError`] when the engine does not answer, or not so that it is understood.
pub(super) fn list(
    cli: &Cli,
    context: &Context,
    name: Option<&str>,
) -> Result<Vec<Listed>, CliError> {
    let arguments = arguments::containers(cli.engine(), name);
    let answer = ask(cli, context, &arguments)?;
    if cli.engine() == ContainerEngine::Apple {
        let all = read_apple(&answer).ok_or_else(|| cli.not_understood(&arguments))?;
        let wanted = |one: &Listed| name.is_none() || one.labels.name.as_deref() == name;
        return Ok(all.into_iter().filter(wanted).collect());
    }
    let text = String::from_utf8_lossy(&answer);
    let ids: Vec<&str> = text.split_whitespace().collect();
    let mut listed = Vec::new();
    for ids in ids.chunks(AT_ONCE) {
        listed.extend(inspected(cli, context, ids)?);
    }
    Ok(listed)
}

/// Inspects containers, of which some may go meanwhile: an engine answers nothing whole then, so each is
/// asked for by itself.
fn inspected(cli: &Cli, context: &Context, ids: &[&str]) -> Result<Vec<Listed>, CliError> {
    let arguments = arguments::inspect(cli.engine(), ids.iter().copied());
    match ask(cli, context, &arguments) {
        Ok(answer) => read(&answer).ok_or_else(|| cli.not_understood(&arguments)),
        Err(error) if matches!(error.failure, CliFailure::ContainerGone) => {
            let mut listed = Vec::new();
            if let [_] = ids {
                return Ok(listed);
            }
            for id in ids {
                listed.extend(inspected(cli, context, &[id])?);
            }
            Ok(listed)
        }
        Err(error) => Err(error),
    }
}

fn ask(cli: &Cli, context: &Context, arguments: &[String]) -> Result<Vec<u8>, CliError> {
    let call = Call {
        arguments,
        input: None,
        timeout: CALL_TIMEOUT,
    };
    cli.call(context, call).map(|answer| answer.stdout)
}

/// Reads what docker and podman say of containers; what is not ours is left out.
fn read(answer: &[u8]) -> Option<Vec<Listed>> {
    let answer: Vec<Value> = serde_json::from_slice(answer).ok()?;
    let listed = answer.iter().filter_map(|one| {
        Some(Listed {
            id: one["Id"].as_str()?.to_owned(),
            container_name: one["Name"].as_str()?.trim_start_matches('/').to_owned(),
            state: ContainerState::read(one["State"]["Status"].as_str()?),
            labels: Labels::read(&texts(&one["Config"]["Labels"]))?,
        })
    });
    Some(listed.collect())
}

/// Reads what Apple's program says of containers, whose name is their id.
fn read_apple(answer: &[u8]) -> Option<Vec<Listed>> {
    let answer: Vec<Value> = serde_json::from_slice(answer).ok()?;
    let listed = answer.iter().filter_map(|one| {
        let configuration = &one["configuration"];
        let id = configuration["id"].as_str()?.to_owned();
        // Newer versions have an object there.
        let state = one["status"].as_str().or(one["status"]["state"].as_str());
        Some(Listed {
            container_name: id.clone(),
            id,
            state: ContainerState::read(state.unwrap_or_default()),
            labels: Labels::read(&texts(&configuration["labels"]))?,
        })
    });
    Some(listed.collect())
}

fn texts(labels: &Value) -> BTreeMap<String, String> {
    let labels = labels.as_object().into_iter().flatten();
    let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    labels.filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ours_are_read() {
        let answer = br#"[
            {"Id":"a1","Name":"/belljar-x","State":{"Status":"paused"},
             "Config":{"Labels":{"belljar.session":"s1","belljar.lease":"7"}}},
            {"Id":"b2","Name":"other","State":{"Status":"running"},"Config":{"Labels":null}}
        ]"#;
        let listed = read(answer).expect("understood");
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].id, "a1");
        assert_eq!(listed[0].container_name, "belljar-x");
        assert_eq!(listed[0].state, ContainerState::Paused);
        assert_eq!(listed[0].labels.lease, 7);
        assert_eq!(read(b"{}"), None);
    }

    #[test]
    fn apples_words_are_read() {
        let answer = br#"[{"status":"stopped","configuration":{"id":"belljar-x",
            "labels":{"belljar.session":"s1"}}}]"#;
        let listed = read_apple(answer).expect("understood");
        assert_eq!(listed[0].id, "belljar-x");
        assert_eq!(listed[0].state, ContainerState::Exited);
    }

    #[test]
    fn a_state_that_is_not_known_may_work() {
        for (text, state, works) in [
            ("created", ContainerState::Created, false),
            ("configured", ContainerState::Created, false),
            ("running", ContainerState::Running, true),
            ("paused", ContainerState::Paused, true),
            ("exited", ContainerState::Exited, false),
            ("dead", ContainerState::Exited, false),
            ("stopped", ContainerState::Exited, false),
            ("removing", ContainerState::Removing, false),
            ("haunted", ContainerState::Unknown, true),
        ] {
            assert_eq!(ContainerState::read(text), state);
            assert_eq!(state.may_work(), works, "{text}");
        }
    }
}
