//! What an engine says of itself: whether it can hold what it is asked for.
//!
//! An engine's word is where a container begins; whether it is true, only a probe from inside tells.

use serde_json::Value;

use super::ContainerEngine;

/// What an engine says of itself. What it does not say is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct EngineInfo {
    pub(super) version: Option<String>,
    /// `x86_64`, `aarch64`, … of the machine that runs the containers.
    pub(super) architecture: Option<String>,
    /// Whether the engine runs without root's rights: root in a container is then the caller.
    pub(super) rootless: bool,
    /// Whether the engine maps every user of a container to one that owns nothing on the host.
    pub(super) remaps_users: bool,
    pub(super) limits_pids: Option<bool>,
    pub(super) limits_memory: Option<bool>,
    pub(super) limits_cpus: Option<bool>,
    pub(super) seccomp: Option<bool>,
    /// The release of the kernel that runs the containers.
    pub(super) kernel: Option<String>,
    /// Whether its program says that it speaks to another machine's.
    pub(super) remote: bool,
    /// Docker's context, which names where its daemon is.
    pub(super) context: Option<String>,
}

impl EngineInfo {
    /// Reads the answer to [`info`](super::arguments::info). None when it is no such answer.
    pub(super) fn parse(engine: ContainerEngine, answer: &[u8]) -> Option<Self> {
        let answer: Value = serde_json::from_slice(answer).ok()?;
        match engine {
            ContainerEngine::Docker => Self::of_docker(&answer),
            ContainerEngine::Podman => Self::of_podman(&answer),
            // It has a virtual machine a container, and nothing of this to say.
            ContainerEngine::Apple => Some(Self::default()),
        }
    }

    fn of_docker(answer: &Value) -> Option<Self> {
        let options = answer["SecurityOptions"].as_array();
        let option = |name: &str| {
            let has = |option: &Value| {
                let text = option.as_str().unwrap_or_default();
                text.split(',')
                    .any(|part| part.strip_prefix("name=") == Some(name))
            };
            options.map(|options| options.iter().any(has))
        };
        Some(Self {
            version: text(&answer["ServerVersion"]),
            architecture: Some(architecture(answer["Architecture"].as_str()?)),
            rootless: option("rootless").unwrap_or(false),
            remaps_users: option("userns").unwrap_or(false),
            limits_pids: answer["PidsLimit"].as_bool(),
            limits_memory: answer["MemoryLimit"].as_bool(),
            limits_cpus: answer["CpuCfsQuota"].as_bool(),
            seccomp: option("seccomp"),
            kernel: text(&answer["KernelVersion"]),
            remote: false,
            context: text(&answer["ClientInfo"]["Context"]),
        })
    }

    fn of_podman(answer: &Value) -> Option<Self> {
        let host = &answer["host"];
        let controllers = host["cgroupControllers"].as_array();
        let controls = |name: &str| {
            controllers.map(|controllers| controllers.iter().any(|controller| controller == name))
        };
        Some(Self {
            version: text(&answer["version"]["Version"]),
            architecture: Some(architecture(host["arch"].as_str()?)),
            rootless: host["security"]["rootless"].as_bool()?,
            remaps_users: false,
            limits_pids: controls("pids"),
            limits_memory: controls("memory"),
            limits_cpus: controls("cpu"),
            seccomp: host["security"]["seccompEnabled"].as_bool(),
            kernel: text(&host["kernel"]),
            remote: host["serviceIsRemote"].as_bool().unwrap_or(false),
            context: None,
        })
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The kernel's name of an architecture, whose Go name some engines say.
fn architecture(name: &str) -> String {
    match name {
        "amd64" => "x86_64",
        "arm64" => "aarch64",
        name => name,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docker_tells() {
        let answer =
            br#"{"ServerVersion":"20.10.24+dfsg1","Architecture":"x86_64","MemoryLimit":true,
            "CpuCfsQuota":true,"PidsLimit":false,"KernelVersion":"6.1.0",
            "ClientInfo":{"Context":"far"},
            "SecurityOptions":["name=seccomp,profile=default","name=rootless"]}"#;
        let info = EngineInfo::parse(ContainerEngine::Docker, answer);
        let right = EngineInfo {
            version: Some("20.10.24+dfsg1".into()),
            architecture: Some("x86_64".into()),
            rootless: true,
            remaps_users: false,
            limits_pids: Some(false),
            limits_memory: Some(true),
            limits_cpus: Some(true),
            seccomp: Some(true),
            kernel: Some("6.1.0".into()),
            remote: false,
            context: Some("far".into()),
        };
        assert_eq!(info, Some(right));
    }

    #[test]
    fn podman_tells() {
        let answer =
            br#"{"host":{"arch":"arm64","cgroupControllers":["memory"],"serviceIsRemote":true,
            "security":{"rootless":true,"seccompEnabled":true}},"version":{"Version":"4.3.1"}}"#;
        let info = EngineInfo::parse(ContainerEngine::Podman, answer);
        let right = EngineInfo {
            version: Some("4.3.1".into()),
            architecture: Some("aarch64".into()),
            rootless: true,
            remaps_users: false,
            limits_pids: Some(false),
            limits_memory: Some(true),
            limits_cpus: Some(false),
            seccomp: Some(true),
            kernel: None,
            remote: true,
            context: None,
        };
        assert_eq!(info, Some(right));
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for engine in ContainerEngine::ALL {
            for answer in [&b""[..], b"{", b"\xff"] {
                assert_eq!(EngineInfo::parse(engine, answer), None);
            }
        }
        // A docker whose daemon is down answers with its client's half.
        assert_eq!(
            EngineInfo::parse(ContainerEngine::Docker, br#"{"ID":""}"#),
            None
        );
    }
}
