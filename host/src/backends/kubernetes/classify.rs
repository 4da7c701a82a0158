//! What an API server's refusals mean.

use kube::Error;

use super::failure::{KubernetesFailure, Why};

/// The most of a cluster's words that are kept.
const MAX_WORDS: usize = 2000;

/// What was asked, as a Role names it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) verb: &'static str,
    pub(super) resource: &'static str,
}

impl Asked {
    pub(super) const fn pods(verb: &'static str) -> Self {
        Self {
            verb,
            resource: "pods",
        }
    }

    /// The API server of before 1.35 checks `get` for an exec stream over a WebSocket, later ones `create`.
    pub(super) const fn exec() -> Self {
        Self {
            verb: "create and get",
            resource: "pods/exec",
        }
    }
}

/// What a refusal means, with the cluster's words.
pub(super) fn refused(asked: Asked, error: &Error) -> Why {
    match error {
        Error::Api(status) => {
            let failure = by_code(asked, status.code, &status.message);
            (failure, words(&status.message))
        }
        Error::UpgradeConnection(kube::client::UpgradeConnectionError::ProtocolSwitch(code)) => {
            (by_code(asked, code.as_u16(), ""), String::new())
        }
        other => (KubernetesFailure::Unreachable, words(&chain(other))),
    }
}

fn by_code(asked: Asked, code: u16, message: &str) -> KubernetesFailure {
    let Asked { verb, resource } = asked;
    match code {
        401 => KubernetesFailure::Unauthorized,
        // Three that refuse have one code, and differ only in what they say.
        403 if message.contains("exceeded quota") => KubernetesFailure::Quota,
        403 if message.is_empty() || message.contains(" cannot ") => {
            KubernetesFailure::Forbidden { verb, resource }
        }
        403 => KubernetesFailure::NotAdmitted,
        404 => KubernetesFailure::NotFound,
        400 | 422 => KubernetesFailure::Invalid,
        code => KubernetesFailure::Cluster { code },
    }
}

/// An error with all that is behind it, each once.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = error.source();
    }
    text
}

/// The beginning of what was said, on one line.
pub(super) fn words(text: &str) -> String {
    let printable = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    printable
        .take(MAX_WORDS)
        .collect::<String>()
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    fn api(code: u16, message: &str) -> KubernetesFailure {
        let status = Status::failure(message, "").with_code(code);
        refused(Asked::pods("create"), &Error::Api(status.boxed())).0
    }

    #[test]
    fn refusals_of_one_code_are_told_apart() {
        // As Kubernetes 1.20 and 1.33 say it.
        let quota = r#"pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"#;
        assert!(matches!(api(403, quota), KubernetesFailure::Quota));
        let role = r#"pods is forbidden: User "u" cannot create resource "pods" in API group "" in the namespace "n""#;
        assert!(matches!(
            api(403, role),
            KubernetesFailure::Forbidden {
                verb: "create",
                resource: "pods"
            }
        ));
        let policy =
            r#"pods "a" is forbidden: violates PodSecurity "restricted:latest": privileged"#;
        assert!(matches!(api(403, policy), KubernetesFailure::NotAdmitted));
    }

    #[test]
    fn each_code_has_its_meaning() {
        assert!(matches!(
            api(401, "Unauthorized"),
            KubernetesFailure::Unauthorized
        ));
        assert!(matches!(api(404, "no"), KubernetesFailure::NotFound));
        assert!(matches!(api(422, "no"), KubernetesFailure::Invalid));
        assert!(matches!(
            api(500, "no"),
            KubernetesFailure::Cluster { code: 500 }
        ));
        let down =
            Error::Service(std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into());
        let (failure, words) = refused(Asked::pods("get"), &down);
        assert!(matches!(failure, KubernetesFailure::Unreachable));
        assert!(!words.is_empty());
    }

    #[test]
    fn words_are_one_line_and_bounded() {
        assert_eq!(words("a\nb\u{1b}[0m "), "a b [0m");
        assert_eq!(words(&"x".repeat(5000)).len(), MAX_WORDS);
    }
}
