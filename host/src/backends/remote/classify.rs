//! What the end of a program means that reached no session.
//!
//! `ssh` keeps an exit code for itself, and tells its failures apart only in its texts. A text that is not known
//! is [`Ended`], never a guess; the words stay with the error. Other programs have no code of their own.
//!
//! [`Ended`]: RemoteFailure::Ended

use super::RemoteFailure;

/// The code of a shell, and of most engines, when there is no such program.
const NOT_FOUND: i32 = 127;
/// And when it cannot be executed.
const NOT_EXECUTABLE: i32 = 126;
/// The code that `ssh` has when it failed itself.
const OF_SSH: i32 = 255;

/// What each text means; the first that is found counts. Those of OpenSSH 6 to 10, in lower case, and those that it
/// takes from the C library.
const TEXTS: &[(&str, RemoteFailure)] = &[
    (
        "remote host identification has changed",
        RemoteFailure::HostKeyChanged,
    ),
    (
        "host key verification failed",
        RemoteFailure::HostKeyUnknown,
    ),
    ("permission denied (", RemoteFailure::NotAuthenticated),
    (
        "too many authentication failures",
        RemoteFailure::NotAuthenticated,
    ),
    ("could not resolve hostname", RemoteFailure::NameUnknown),
    ("connection refused", RemoteFailure::ConnectionRefused),
    ("no route to host", RemoteFailure::Unreachable),
    ("network is unreachable", RemoteFailure::Unreachable),
    ("connection timed out", RemoteFailure::Unreachable),
    ("operation timed out", RemoteFailure::Unreachable),
];

/// What it means that a program ended so before there was a session.
pub(super) fn ended(code: Option<i32>, words: &str) -> RemoteFailure {
    match code {
        Some(NOT_FOUND) => return RemoteFailure::ResidentMissing,
        Some(NOT_EXECUTABLE) => return RemoteFailure::NotExecutable,
        Some(OF_SSH) => {}
        code => return RemoteFailure::Ended { code },
    }
    let lower = words.to_lowercase();
    let known = TEXTS.iter().find(|(text, _)| lower.contains(text));
    known.map_or(RemoteFailure::Ended { code }, |(_, meaning)| {
        meaning.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Captured from OpenSSH 9.2.
    #[test]
    fn the_texts_of_ssh_are_known() {
        let name = |words: &str| format!("{:?}", ended(Some(255), words));
        for (words, right) in [
            (
                "ssh: connect to host 10.0.0.2 port 22: Connection refused",
                "ConnectionRefused",
            ),
            (
                "ssh: connect to host 10.0.0.2 port 22: No route to host",
                "Unreachable",
            ),
            (
                "ssh: connect to host 10.0.0.2 port 22: Connection timed out",
                "Unreachable",
            ),
            (
                "ssh: Could not resolve hostname build: Name or service not known",
                "NameUnknown",
            ),
            (
                "No ED25519 host key is known for 10.0.0.2 and you have requested strict checking.\r\nHost key verification failed.",
                "HostKeyUnknown",
            ),
            (
                "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\n…\r\nHost key verification failed.",
                "HostKeyChanged",
            ),
            (
                "ada@10.0.0.2: Permission denied (publickey).",
                "NotAuthenticated",
            ),
        ] {
            assert_eq!(name(words), right, "{words}");
        }
        let unknown = ended(Some(255), "something else");
        assert!(matches!(unknown, RemoteFailure::Ended { code: Some(255) }));
    }

    #[test]
    fn only_ssh_is_believed_what_it_says() {
        let refused = ended(Some(1), "connection refused");
        assert!(matches!(refused, RemoteFailure::Ended { code: Some(1) }));
        let killed = ended(None, "connection refused");
        assert!(matches!(killed, RemoteFailure::Ended { code: None }));
        assert!(matches!(
            ended(Some(127), "sh: 1: belljar-resident: not found"),
            RemoteFailure::ResidentMissing
        ));
    }
}
