//! A copy of the checkout's source files.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::process;

/// What is no source, where git is not there to say so.
const NO_SOURCE: [&str; 2] = ["target", ".git"];

/// Copies the source files to a new folder, and gives their number.
pub(crate) fn copy(root: &Path, to: &Path) -> Result<usize> {
    let files = match tracked(root) {
        Some(files) => files,
        None => all(root)?,
    };
    for file in &files {
        let target = to.join(file);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)
                .with_context(|| format!("cannot make {}", parent.display()))?;
        }
        fs::copy(root.join(file), &target)
            .with_context(|| format!("cannot copy {}", file.display()))?;
    }
    Ok(files.len())
}

/// The files that git knows and that are there; none where there is no git or no repository.
fn tracked(root: &Path) -> Option<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z"]);
    let works = process::works(Command::new("git").current_dir(root).arg("rev-parse"));
    let names = works.then(|| process::read(&mut git).ok()).flatten()?;
    let files = names.split('\0').filter(|name| !name.is_empty());
    Some(
        files
            .map(PathBuf::from)
            .filter(|file| root.join(file).is_file())
            .collect(),
    )
}

fn all(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root.join(&folder))
            .with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
            let path = folder.join(entry.file_name());
            let kind = entry
                .file_type()
                .with_context(|| format!("cannot look at {}", path.display()))?;
            if kind.is_dir() && !NO_SOURCE.iter().any(|name| entry.file_name() == *name) {
                folders.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn both_ways_find_the_sources() -> Result<()> {
        let workspace = Workspace::of_this_checkout();
        let file = Path::new("wit/worlds.wit");
        let all = all(workspace.root())?;
        assert!(all.iter().any(|found| found == file));
        assert!(!all.iter().any(|found| found.starts_with("target")));
        if let Some(tracked) = tracked(workspace.root()) {
            assert!(tracked.iter().any(|found| found == file));
        }
        Ok(())
    }
}
