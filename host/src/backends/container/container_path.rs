//! Paths in a container: absolute, normalised once, and never one that the container itself needs.

use crate::backends::doctor::mounts::is_below;

/// What is ours in a container: the resident and its stream.
pub(super) const OURS: &str = "/.belljar";

/// Where nothing may be mounted: the root, what the kernel shows, and what is ours.
const RESERVED: [&str; 4] = ["/proc", "/sys", "/dev", OURS];

/// The longest path: the kernel's PATH_MAX, without its NUL.
const MAX_BYTES: usize = 4095;

/// Why a path is none that something can be mounted at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PathProblem {
    #[error("it is not absolute; begin it with /")]
    NotAbsolute,
    #[error("it is over {MAX_BYTES} bytes")]
    TooLong,
    #[error("it has a control character")]
    ControlCharacter,
    #[error("it has a {0:?}, which the engine takes for the end of the path")]
    Separator(char),
    #[error("it leads above the root")]
    AboveRoot,
    #[error("it is the container's whole root")]
    Root,
    #[error("{0} is the container's own")]
    Reserved(&'static str),
}

/// Makes a path normal: no `.`, `..`, `//`, and no slash at its end.
pub(super) fn normal(text: &str) -> Result<String, PathProblem> {
    if !text.starts_with('/') {
        return Err(PathProblem::NotAbsolute);
    }
    if text.len() > MAX_BYTES {
        return Err(PathProblem::TooLong);
    }
    if text.contains(char::is_control) {
        return Err(PathProblem::ControlCharacter);
    }
    // `--tmpfs PATH:OPTIONS` has no way to quote a colon, and Apple's parser none for a comma or an equals sign.
    if let Some(separator) = text.chars().find(|c| matches!(c, ':' | ',' | '=')) {
        return Err(PathProblem::Separator(separator));
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or(PathProblem::AboveRoot)?;
            }
            part => parts.push(part),
        }
    }
    if parts.is_empty() {
        return Err(PathProblem::Root);
    }
    let path = format!("/{}", parts.join("/"));
    match RESERVED.iter().find(|reserved| is_below(&path, reserved)) {
        Some(reserved) => Err(PathProblem::Reserved(reserved)),
        None => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_spelling_has_one_answer() {
        for (text, right) in [
            ("/workspace", "/workspace"),
            ("/workspace/", "/workspace"),
            ("//a/./b//c/..", "/a/b"),
            ("/my work", "/my work"),
            ("/process", "/process"),
            ("/system/dev", "/system/dev"),
        ] {
            assert_eq!(normal(text).as_deref(), Ok(right), "{text}");
        }
        for (text, problem) in [
            ("", PathProblem::NotAbsolute),
            ("workspace", PathProblem::NotAbsolute),
            ("~/x", PathProblem::NotAbsolute),
            ("/", PathProblem::Root),
            ("//", PathProblem::Root),
            ("/a/..", PathProblem::Root),
            ("/..", PathProblem::AboveRoot),
            ("/a\nb", PathProblem::ControlCharacter),
            ("/a\0", PathProblem::ControlCharacter),
            ("/a:b", PathProblem::Separator(':')),
            ("/a,b", PathProblem::Separator(',')),
            ("/proc", PathProblem::Reserved("/proc")),
            ("/a/../sys/x", PathProblem::Reserved("/sys")),
            ("/dev/shm", PathProblem::Reserved("/dev")),
            ("/.belljar/stream", PathProblem::Reserved(OURS)),
        ] {
            assert_eq!(normal(text), Err(problem), "{text:?}");
        }
        assert_eq!(
            normal(&format!("/{}", "a".repeat(MAX_BYTES))),
            Err(PathProblem::TooLong)
        );
    }
}
