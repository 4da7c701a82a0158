//! Host paths as a configuration gives them, made whole once.

use std::path::{Component, Path, PathBuf};

/// What paths are relative to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// The folder of the file.
    pub(super) directory: &'a Path,
    /// What `~` stands for, where that is known.
    pub(super) home: Option<&'a Path>,
}

impl Place<'_> {
    /// Makes a path whole: `~` at its beginning is the home folder, a relative path begins at the
    /// place, and `.`, `..`, `//` and a slash at the end are resolved by text, as in a path of the contract.
    pub(super) fn resolve(self, text: &str) -> Result<PathBuf, String> {
        if text.is_empty() {
            return Err("the path is empty; use . for the folder of this file".into());
        }
        if text.contains('\0') {
            return Err("the path has a NUL character".into());
        }
        let path = match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => match self.home {
                Some(home) => home.join(rest.trim_start_matches('/')),
                None => return Err("~ is not known here; give the whole path".into()),
            },
            Some(_) => {
                return Err("~NAME is not supported; give the whole path, or begin with ./".into());
            }
            None => self.directory.join(text),
        };
        Ok(normal(&path))
    }
}

fn normal(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match whole.components().next_back() {
                Some(Component::Normal(_)) => {
                    whole.pop();
                }
                // Above the root there is the root.
                Some(Component::RootDir | Component::Prefix(_)) => {}
                Some(Component::CurDir | Component::ParentDir) | None => whole.push(".."),
            },
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => whole.push(part),
        }
    }
    if whole.as_os_str().is_empty() {
        whole.push(".");
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_spelling_has_one_answer() {
        let place = Place {
            directory: Path::new("/p/q"),
            home: Some(Path::new("/home/ada")),
        };
        for (text, right) in [
            ("work", "/p/q/work"),
            ("./work//", "/p/q/work"),
            ("../work/.", "/p/work"),
            ("../../../work", "/work"),
            (".", "/p/q"),
            ("/", "/"),
            ("/a/../b/", "/b"),
            ("~", "/home/ada"),
            ("~/work/", "/home/ada/work"),
            ("~//work", "/home/ada/work"),
            ("./~", "/p/q/~"),
        ] {
            let whole = place.resolve(text);
            assert_eq!(whole.as_deref(), Ok(Path::new(right)), "{text}");
        }
        for text in ["", "~ada/x", "a\0b"] {
            assert!(place.resolve(text).is_err(), "{text:?}");
        }
        let homeless = Place {
            home: None,
            ..place
        };
        assert!(homeless.resolve("~/x").is_err());
    }

    #[test]
    fn a_relative_place_stays_relative() {
        let place = Place {
            directory: Path::new(""),
            home: None,
        };
        for (text, right) in [
            (".", "."),
            ("..", ".."),
            ("a/../..", ".."),
            ("../a", "../a"),
        ] {
            let whole = place.resolve(text);
            assert_eq!(whole.as_deref(), Ok(Path::new(right)), "{text}");
        }
    }
}
