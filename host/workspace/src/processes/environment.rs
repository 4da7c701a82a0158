//! The environment of a process: nothing inherited, a few defaults, what the call names, and the marker.

use std::{collections::BTreeMap, fmt};

use super::marker;

/// Where programs are looked for when a call does not say.
pub const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What an operator adds to every process's environment.
#[derive(Clone, Default)]
pub(super) struct Variables(pub(super) BTreeMap<String, String>);

impl Variables {
    /// Where programs are looked for when a call does not say.
    pub(super) fn path(&self) -> &str {
        self.0.get("PATH").map_or(DEFAULT_PATH, String::as_str)
    }
}

impl fmt::Debug for Variables {
    /// Leaves out the values: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The variables of a process that works in `directory`, a path below `root`.
///
/// A call may replace every default but the marker, without which a process of an operating system could not be
/// ended; one that needs none has none.
///
/// ```
/// use belljar_workspace::processes::environment;
///
/// let variables = environment("/workspace", "src", vec![("TERM".into(), "xterm".into())], Some("a-marker"));
/// assert_eq!(variables["PWD"], "/workspace/src");
/// assert_eq!(variables["TERM"], "xterm");
/// ```
#[must_use]
pub fn environment(
    root: &str,
    directory: &str,
    added: Vec<(String, String)>,
    marker: Option<&str>,
) -> BTreeMap<String, String> {
    let defaults = [
        ("PATH", DEFAULT_PATH.into()),
        ("HOME", root.into()),
        ("PWD", working_directory(root, directory)),
        ("LANG", "C.UTF-8".into()),
        ("TERM", "dumb".into()),
    ];
    let mut variables: BTreeMap<String, String> = defaults
        .map(|(name, value): (&str, String)| (name.into(), value))
        .into();
    variables.extend(added);
    if let Some(marker) = marker {
        variables.insert(marker::VARIABLE.into(), marker.into());
    }
    variables
}

fn working_directory(root: &str, directory: &str) -> String {
    match (root.trim_end_matches('/'), directory) {
        ("", "") => "/".into(),
        (root, "") => root.into(),
        (root, directory) => format!("{root}/{directory}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_replaces_defaults_and_not_the_marker() {
        let added = ["TERM", "X", marker::VARIABLE].map(|name| (name.into(), "1".into()));
        let variables = environment("/w", "a/b", added.into(), Some("m"));
        let get = |name: &str| variables.get(name).map(String::as_str);
        assert_eq!(get("TERM"), Some("1"));
        assert_eq!(get("X"), Some("1"));
        assert_eq!(get(marker::VARIABLE), Some("m"));
        assert_eq!(get("PWD"), Some("/w/a/b"));
        assert_eq!(get("HOME"), Some("/w"));
        assert_eq!(variables.len(), 7);
    }

    #[test]
    fn a_working_directory_is_a_path() {
        for (root, directory, expected) in [
            ("/", "", "/"),
            ("/", "a", "/a"),
            ("/w/", "", "/w"),
            ("/w", "a/b", "/w/a/b"),
        ] {
            assert_eq!(working_directory(root, directory), expected);
        }
    }
}
