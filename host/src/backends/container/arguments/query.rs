//! What is asked of an engine, and what ends a container: short calls that end by themselves.

use super::super::{ContainerEngine, labels};

/// What the engine says of itself; [`EngineInfo::parse`](super::super::info::EngineInfo::parse) reads it.
pub(crate) fn info(engine: ContainerEngine) -> Vec<String> {
    match engine {
        ContainerEngine::Docker => words(&["info", "--format={{json .}}"]),
        ContainerEngine::Podman => words(&["info", "--format=json"]),
        ContainerEngine::Apple => words(&["system", "status", "--format=json"]),
    }
}

/// The containers that are ours, in any state: their ids, a line each; Apple's are all, as JSON.
pub(crate) fn containers(engine: ContainerEngine, name: Option<&str>) -> Vec<String> {
    match engine {
        ContainerEngine::Docker | ContainerEngine::Podman => {
            let mut arguments = words(&["ps", "--all", "--quiet", "--no-trunc"]);
            arguments.push(format!("--filter=label={}", labels::SESSION));
            if let Some(name) = name {
                arguments.push(format!("--filter=label={}={name}", labels::NAME));
            }
            arguments
        }
        ContainerEngine::Apple => words(&["list", "--all", "--format=json"]),
    }
}

/// What the engine knows of some containers, as a JSON array.
pub(crate) fn inspect<'a>(
    engine: ContainerEngine,
    ids: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let mut arguments = match engine {
        ContainerEngine::Docker | ContainerEngine::Podman => words(&["container", "inspect"]),
        ContainerEngine::Apple => words(&["inspect"]),
    };
    arguments.extend(ids.into_iter().map(str::to_owned));
    arguments
}

/// What the engine knows of an image, as a JSON array.
pub(crate) fn image_inspect(image: &str) -> Vec<String> {
    words(&["image", "inspect", image])
}

/// Fetches an image.
pub(crate) fn pull(engine: ContainerEngine, image: &str) -> Vec<String> {
    match engine {
        ContainerEngine::Docker | ContainerEngine::Podman => words(&["pull", "--quiet", image]),
        ContainerEngine::Apple => words(&["image", "pull", "--progress=none", image]),
    }
}

/// Removes a container whatever it does, with the volumes that came with it.
pub(crate) fn remove(engine: ContainerEngine, id: &str) -> Vec<String> {
    match engine {
        ContainerEngine::Docker => words(&["rm", "--force", "--volumes", id]),
        // It would ask process 1 to end, and wait ten seconds for that.
        ContainerEngine::Podman => words(&["rm", "--force", "--time=0", "--volumes", id]),
        ContainerEngine::Apple => words(&["delete", "--force", id]),
    }
}

/// Lets a paused container go on; Apple's cannot be paused.
pub(crate) fn unpause(engine: ContainerEngine, id: &str) -> Option<Vec<String>> {
    match engine {
        ContainerEngine::Docker | ContainerEngine::Podman => Some(words(&["unpause", id])),
        ContainerEngine::Apple => None,
    }
}

/// Starts a container that has stopped; attached, it lasts as long as the container.
pub(crate) fn start(id: &str, attached: bool) -> Vec<String> {
    match attached {
        true => words(&["start", "--attach", "--interactive", id]),
        false => words(&["start", id]),
    }
}

/// Stops a container, and waits until it has.
pub(crate) fn stop(id: &str) -> Vec<String> {
    words(&["stop", "--time=1", id])
}

/// Where the daemon of a context of docker's is.
pub(crate) fn context(name: &str) -> Vec<String> {
    let endpoint = "--format={{.Endpoints.docker.Host}}";
    words(&["context", "inspect", endpoint, name])
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(arguments: Vec<String>) -> String {
        arguments.join(" ")
    }

    #[test]
    fn each_engine_is_asked_in_its_own_words() {
        use ContainerEngine::{Apple, Docker, Podman};
        for (got, right) in [
            (info(Docker), "info --format={{json .}}"),
            (info(Podman), "info --format=json"),
            (info(Apple), "system status --format=json"),
            (
                containers(Docker, None),
                "ps --all --quiet --no-trunc --filter=label=belljar.session",
            ),
            (
                containers(Podman, Some("build")),
                "ps --all --quiet --no-trunc --filter=label=belljar.session --filter=label=belljar.name=build",
            ),
            (containers(Apple, None), "list --all --format=json"),
            (inspect(Docker, ["a", "b"]), "container inspect a b"),
            (inspect(Podman, ["a"]), "container inspect a"),
            (inspect(Apple, ["a"]), "inspect a"),
            (image_inspect("debian:12"), "image inspect debian:12"),
            (pull(Docker, "debian:12"), "pull --quiet debian:12"),
            (pull(Podman, "debian:12"), "pull --quiet debian:12"),
            (
                pull(Apple, "debian:12"),
                "image pull --progress=none debian:12",
            ),
            (remove(Docker, "a"), "rm --force --volumes a"),
            (remove(Podman, "a"), "rm --force --time=0 --volumes a"),
            (remove(Apple, "a"), "delete --force a"),
            (start("a", false), "start a"),
            (start("a", true), "start --attach --interactive a"),
            (stop("a"), "stop --time=1 a"),
            (
                context("far"),
                "context inspect --format={{.Endpoints.docker.Host}} far",
            ),
        ] {
            assert_eq!(line(got), right);
        }
        assert_eq!(unpause(Docker, "a").map(line).as_deref(), Some("unpause a"));
        assert_eq!(unpause(Podman, "a").map(line).as_deref(), Some("unpause a"));
        assert_eq!(unpause(Apple, "a"), None);
    }
}
