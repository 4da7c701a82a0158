//! A process's variables, on their way to the script that sets them.

use belljar_contract::Launch;
use belljar_workspace::processes::{MARKER_VARIABLE, environment};

use super::{PosixBackend, fault::Fault};

/// Variables that shells keep for themselves.
const SHELLS_OWN: [&str; 13] = [
    "BASHOPTS",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "ENV",
    "EUID",
    "IFS",
    "LINENO",
    "OPTIND",
    "PPID",
    "SECONDS",
    "SHELLOPTS",
    "UID",
    "_",
];

impl PosixBackend {
    /// The variables as the script reads them, and then the program's input.
    pub(super) fn header(&self, launch: &Launch, marker: &str) -> Result<Vec<u8>, Fault> {
        use std::io::Write as _;

        for (name, _) in &launch.environment {
            if !is_shell_name(name) {
                return Err(Fault::VariableName(name.clone()));
            }
        }
        let added = self.environment.clone().into_iter();
        let added = added.chain(launch.environment.iter().cloned()).collect();
        let root = self.process_root();
        let mut variables = environment(root, launch.directory.as_str(), added, Some(marker));
        variables.insert(MARKER_VARIABLE.into(), marker.into());
        let mut header = Vec::with_capacity(launch.stdin.len() + 1024);
        // Writing to memory does not fail.
        let _ = writeln!(header, "{}", variables.len());
        for (name, value) in variables {
            let lines = value.matches('\n').count();
            let _ = writeln!(header, "{name}\n{lines}\n{value}");
        }
        header.extend_from_slice(&launch.stdin);
        Ok(header)
    }
}

/// Whether a shell can hand a variable of this name on.
fn is_shell_name(name: &str) -> bool {
    let mut characters = name.chars();
    let begins = characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    begins
        && characters.all(|other| other.is_ascii_alphanumeric() || other == '_')
        && !SHELLS_OWN.contains(&name)
        && !name.starts_with("_b_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_shell_keeps_are_none_of_a_call() {
        for name in ["A", "_x", "a1_B"] {
            assert!(is_shell_name(name), "{name}");
        }
        for name in ["", "1a", "a-b", "a.b", "IFS", "UID", "_b_x", "ä"] {
            assert!(!is_shell_name(name), "{name}");
        }
    }
}
