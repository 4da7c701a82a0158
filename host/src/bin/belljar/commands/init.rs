//! `belljar init`: a configuration to begin with.

use std::{io::Write as _, path::PathBuf};

use belljar::config::FILE_NAME;
use clap::Args;

use crate::{ambient, exit_code::Exit, failure::Failure, output::Output};

/// What is written: it is read back in a test, and says what each line does.
pub(crate) const TEMPLATE: &str = include_str!("init.toml");

/// Write a commented belljar.toml to begin with
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder for it; the current one when absent
    folder: Option<PathBuf>,
}

impl Arguments {
    pub(crate) fn run(self, output: Output) -> Result<Exit, Failure> {
        let folder = ambient::current_folder()?.join(self.folder.unwrap_or_default());
        let path = folder.join(FILE_NAME);
        let failed = |error: std::io::Error| {
            let exists = error.kind() == std::io::ErrorKind::AlreadyExists;
            let failure = Failure::new(Exit::Failed, error)
                .during(format!("cannot write {}", path.display()));
            match exists {
                true => failure.hint("there is one already, which is not replaced; remove it first, or name another folder"),
                false => failure,
            }
        };
        let mut options = std::fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(failed)?;
        file.write_all(TEMPLATE.as_bytes()).map_err(failed)?;
        output.note(&format!("wrote {}", path.display()));
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use belljar::config::Config;

    use super::*;

    #[test]
    fn the_template_is_a_configuration_without_notices() {
        let config = Config::from_toml(TEMPLATE, Path::new("/srv/project")).unwrap();
        assert_eq!(
            config.sandbox.workspace.as_deref(),
            Some(Path::new("/srv/project"))
        );
        assert_eq!((config.notices.len(), config.tools.len()), (0, 0));
    }

    #[test]
    fn what_the_template_comments_out_is_right_too() {
        let uncommented: String = TEMPLATE
            .lines()
            .map(|line| format!("{}\n", line.strip_prefix("#: ").unwrap_or(line)))
            .collect();
        let config = Config::from_toml(&uncommented, Path::new("/srv/project")).unwrap();
        assert!(config.tools.contains_key("coding"));
        assert_eq!(config.notices, []);
    }
}
