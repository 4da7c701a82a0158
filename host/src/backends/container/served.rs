//! What serves the contract in a container: a resident for the image's architecture, or a shell where there is none.

use std::path::{Path, PathBuf};

use super::{
    super::OpenError, ContainerOptions, Gap, ResidentChoice, fall_back, info::EngineInfo,
    info::ImageInfo,
};

/// What serves the contract in a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Served {
    /// A resident, a path of the host.
    ByResident(PathBuf),
    /// An exec of a shell for each operation.
    ByShell(NoResident),
}

/// Why there is no resident.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoResident {
    /// The configuration says so.
    #[error("the configuration asks for none")]
    Off,
    /// This installation has none for the architecture.
    #[error("this installation has none for {architecture}{}", Looked(looked))]
    ForArchitecture {
        architecture: String,
        looked: Vec<PathBuf>,
    },
}

struct Looked<'a>(&'a [PathBuf]);

impl std::fmt::Display for Looked<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, path) in self.0.iter().enumerate() {
            let before = if index == 0 { " (looked for " } else { ", " };
            write!(f, "{before}{}", path.display())?;
        }
        f.write_str(if self.0.is_empty() { "" } else { ")" })
    }
}

impl Served {
    /// Chooses; `is_file` looks on the host.
    ///
    /// # Errors
    /// [`OpenError::ResidentNotFound`] when one was named that is not there: what was named is not silently
    /// replaced by something weaker.
    pub(super) fn choose(
        options: &ContainerOptions,
        info: &EngineInfo,
        image: Option<&ImageInfo>,
        is_file: impl Fn(&Path) -> bool,
    ) -> Result<Self, OpenError> {
        match &options.resident {
            ResidentChoice::Off => Ok(Self::ByShell(NoResident::Off)),
            ResidentChoice::Path(path) if is_file(path) => Ok(Self::ByResident(path.clone())),
            ResidentChoice::Path(path) => Err(OpenError::ResidentNotFound { path: path.clone() }),
            ResidentChoice::Auto => {
                let architecture = architecture(info, image);
                let name = format!("belljar-resident-{architecture}-linux");
                let looked = options.residents.iter().map(|folder| folder.join(&name));
                let looked: Vec<PathBuf> = looked.collect();
                Ok(match looked.iter().find(|path| is_file(path)) {
                    Some(path) => Self::ByResident(path.clone()),
                    None => Self::ByShell(NoResident::ForArchitecture {
                        architecture,
                        looked,
                    }),
                })
            }
        }
    }

    /// What is weaker for it.
    pub(super) fn gaps(&self) -> Vec<Gap> {
        match self {
            Self::ByResident(_) => Vec::new(),
            Self::ByShell(why) => fall_back::gaps(why),
        }
    }

    /// The resident, where there is one.
    pub(super) fn into_resident(self) -> Option<PathBuf> {
        match self {
            Self::ByResident(path) => Some(path),
            Self::ByShell(_) => None,
        }
    }
}

/// The image's architecture where the engine has the image, else the engine's, else this machine's.
fn architecture(info: &EngineInfo, image: Option<&ImageInfo>) -> String {
    let of_image = image.and_then(|image| image.architecture.clone());
    let known = of_image.or_else(|| info.architecture.clone());
    // It becomes a part of a file's name.
    known
        .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(resident: ResidentChoice) -> ContainerOptions {
        ContainerOptions {
            resident,
            residents: vec!["/one".into(), "/two".into()],
            ..ContainerOptions::new("debian:12")
        }
    }

    fn of(architecture: &str) -> ImageInfo {
        ImageInfo {
            architecture: Some(architecture.to_owned()),
            ..ImageInfo::default()
        }
    }

    /// What `auto` chooses on an x86_64 engine whose installation has these.
    fn auto(image: Option<&ImageInfo>, there: &[&str]) -> Served {
        let engine = EngineInfo {
            architecture: Some("x86_64".to_owned()),
            ..EngineInfo::default()
        };
        let is_file = |path: &Path| there.iter().any(|there| path == Path::new(there));
        Served::choose(&with(ResidentChoice::Auto), &engine, image, is_file).unwrap()
    }

    #[test]
    fn the_image_s_architecture_counts() {
        let there = [
            "/two/belljar-resident-x86_64-linux",
            "/two/belljar-resident-aarch64-linux",
        ];
        let by = |path: &str| Served::ByResident(path.into());
        assert_eq!(auto(Some(&of("aarch64")), &there), by(there[1]));
        assert_eq!(auto(Some(&of("x86_64")), &there), by(there[0]));
        // Of an image that is not here yet the engine's own is expected.
        assert_eq!(auto(None, &there), by(there[0]));
        assert_eq!(auto(Some(&ImageInfo::default()), &there), by(there[0]));
    }

    #[test]
    fn the_first_folder_that_has_one_counts() {
        let there = [
            "/two/belljar-resident-x86_64-linux",
            "/one/belljar-resident-x86_64-linux",
        ];
        assert_eq!(auto(None, &there), Served::ByResident(there[1].into()));
    }

    #[test]
    fn without_one_for_the_architecture_a_shell_serves() {
        let there = ["/one/belljar-resident-x86_64-linux"];
        let served = auto(Some(&of("riscv64")), &there);
        let right = NoResident::ForArchitecture {
            architecture: "riscv64".to_owned(),
            looked: vec![
                "/one/belljar-resident-riscv64-linux".into(),
                "/two/belljar-resident-riscv64-linux".into(),
            ],
        };
        assert_eq!(served, Served::ByShell(right));
        assert!(!served.gaps().is_empty());
        assert_eq!(served.into_resident(), None);
    }

    #[test]
    fn an_architecture_is_never_a_path() {
        let here = format!("/one/belljar-resident-{}-linux", std::env::consts::ARCH);
        let served = auto(Some(&of("../../x")), &[&here]);
        assert_eq!(served, Served::ByResident(here.into()));
    }

    #[test]
    fn what_is_named_is_there_or_an_error() {
        let choose = |choice, is_there: bool| {
            Served::choose(&with(choice), &EngineInfo::default(), None, |_| is_there)
        };
        let named = || ResidentChoice::Path("/r".into());
        let found = choose(named(), true).unwrap();
        assert_eq!(found, Served::ByResident("/r".into()));
        assert!(found.gaps().is_empty());
        let missing = choose(named(), false);
        assert!(matches!(missing, Err(OpenError::ResidentNotFound { .. })));
        let off = choose(ResidentChoice::Off, true).unwrap();
        assert_eq!(off, Served::ByShell(NoResident::Off));
    }
}
