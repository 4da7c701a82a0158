//! What is wrong with the options of a Pod.

use std::{path::PathBuf, time::Duration};

use super::{ClusterAccess, KubernetesOptions, PodResident};

/// Options that no Pod can be made of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KubernetesOptionsError {
    /// The image is none.
    #[error("the image {image:?} is none: it is empty, or has a space or a control character")]
    Image {
        /// The image.
        image: String,
    },
    /// A name of something in the cluster is none.
    #[error(
        "{key} = {name:?} is no name: a name has a-z, 0-9, - and ., and begins and ends with a letter or digit"
    )]
    Name {
        /// Which.
        key: &'static str,
        /// What it is.
        name: String,
    },
    /// A path in the Pod is none that something can be mounted at, or found at.
    #[error("{key} = {path:?} cannot be used: {reason}")]
    Path {
        /// Which.
        key: &'static str,
        /// What it is.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A number is outside its range.
    #[error("{key} = {value} is out of range: {range}")]
    OutOfRange {
        /// Which.
        key: &'static str,
        /// What it is.
        value: u64,
        /// What it may be.
        range: &'static str,
    },
    /// A time in which nothing can happen.
    #[error("{name} is zero")]
    Zero {
        /// The option's name.
        name: &'static str,
    },
    /// A workspace of this machine was named.
    #[error(
        "the workspace {} is a directory of this machine, and a node has its own; leave it out", workspace.display()
    )]
    WorkspaceIsHere {
        /// The workspace.
        workspace: PathBuf,
    },
    /// Nothing says where the cluster is.
    #[error(
        "nothing says where the cluster is; name a kubeconfig in [sandbox.kubernetes], or set in-cluster = true"
    )]
    NoCluster,
}

use KubernetesOptionsError as Problem;

/// Where the system has its own, and nothing is mounted.
const TAKEN: [&str; 10] = [
    "/", "/proc", "/sys", "/dev", "/etc", "/bin", "/sbin", "/lib", "/usr", "/tmp",
];

impl KubernetesOptions {
    /// The same options, checked as far as that can be done here.
    ///
    /// # Errors
    /// [`KubernetesOptionsError`] for the first that cannot be used.
    pub fn validated(self) -> Result<Self, KubernetesOptionsError> {
        image(&self.image)?;
        let named = [
            ("namespace", self.namespace.as_ref()),
            ("runtime-class", self.runtime_class.as_ref()),
        ];
        let secrets = self.pull_secrets.iter();
        let named = named
            .into_iter()
            .filter_map(|(key, name)| Some((key, name?)))
            .chain(secrets.map(|name| ("pull-secrets", name)));
        for (key, name) in named {
            if !is_name(name) {
                let name = name.clone();
                return Err(Problem::Name { key, name });
            }
        }
        path("cwd", &self.cwd)?;
        let below = |taken: &str| {
            let rest = self.cwd.strip_prefix(taken);
            rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with('/') && taken != "/"))
        };
        if TAKEN.into_iter().any(below) || below(super::manifest::OURS) {
            let reason = "the container has its own there";
            let path = self.cwd;
            return Err(Problem::Path {
                key: "cwd",
                path,
                reason,
            });
        }
        match &self.resident {
            PodResident::Copy => {}
            PodResident::Image { path: program } => path("resident-path", program)?,
            PodResident::Init {
                image: from,
                path: program,
            } => {
                image(from)?;
                path("resident-path", program)?;
            }
        }
        self.numbers()?;
        Ok(self)
    }

    fn numbers(&self) -> Result<(), KubernetesOptionsError> {
        // What fits into what the cluster's numbers are.
        const MOST: u64 = 1 << 53;
        let sizes = [
            ("workspace-size", Some(self.workspace_bytes), 1 << 20),
            ("tmp", Some(self.tmp_bytes), 1 << 20),
            // The resident and a shell are to fit.
            ("memory", self.memory, 16 << 20),
            ("cpus", self.cpu_millis.map(u64::from), 1),
        ];
        for (key, value, least) in sizes {
            if let Some(value) = value
                && !(least..=MOST).contains(&value)
            {
                let range = "too small to be of use, or too large to be";
                return Err(Problem::OutOfRange { key, value, range });
            }
        }
        for (name, duration) in [
            ("start-timeout", self.start_timeout),
            ("patience", self.patience),
            ("keep-alive", self.keep_alive),
        ] {
            if duration.is_zero() {
                return Err(Problem::Zero { name });
            }
        }
        let seconds = self.lifetime.as_secs();
        match (60..=u64::from(u32::MAX)).contains(&seconds) {
            true => Ok(()),
            false => Err(Problem::OutOfRange {
                key: "lifetime",
                value: seconds,
                range: "a minute at least, and 136 years at most",
            }),
        }
    }

    /// Whether anything says where the cluster is.
    pub(super) fn located(&self) -> Result<(), KubernetesOptionsError> {
        match &self.access {
            ClusterAccess::Kubeconfig(files) if files.is_empty() => Err(Problem::NoCluster),
            ClusterAccess::Kubeconfig(_) | ClusterAccess::InCluster => Ok(()),
        }
    }
}

fn image(image: &str) -> Result<(), KubernetesOptionsError> {
    let bad = |c: char| c.is_whitespace() || c.is_control();
    match image.is_empty() || image.contains(bad) {
        false => Ok(()),
        true => Err(Problem::Image {
            image: image.to_owned(),
        }),
    }
}

/// A DNS subdomain (RFC 1123), as the cluster's names are.
fn is_name(name: &str) -> bool {
    let label = |label: &str| {
        let bytes = label.as_bytes();
        let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
        edge(bytes.first()) && edge(bytes.last()) && bytes.iter().all(inner)
    };
    name.len() <= 253 && name.split('.').all(label)
}

fn path(key: &'static str, path: &str) -> Result<(), KubernetesOptionsError> {
    let reason = if !path.starts_with('/') {
        "it is not absolute"
    } else if path.contains(|c: char| c.is_control() || c == ':') {
        "it has a control character or a colon"
    } else if path.len() > 1
        && path[1..]
            .split('/')
            .any(|part| matches!(part, "" | "." | ".."))
    {
        "it has an empty part, . or .."
    } else {
        return Ok(());
    };
    Err(Problem::Path {
        key,
        path: path.to_owned(),
        reason,
    })
}

/// In whole seconds, of which the cluster has so many.
pub(super) fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut KubernetesOptions)) -> KubernetesOptionsError {
        let mut options = KubernetesOptions::new("debian:12");
        change(&mut options);
        match options.validated() {
            Err(error) => error,
            Ok(options) => panic!("{options:?}"),
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for image in ["", "a b", "a\n"] {
            let error = refused(|o| o.image = image.into());
            assert!(matches!(error, Problem::Image { .. }), "{error:?}");
        }
        for name in ["", "Kube", "a_b", "-a", "a-", "a..b", "../x"] {
            let error = refused(|o| o.namespace = Some(name.into()));
            assert!(
                matches!(
                    error,
                    Problem::Name {
                        key: "namespace",
                        ..
                    }
                ),
                "{error:?}"
            );
        }
        for path in [
            "", "work", "/a/../b", "/a//b", "/", "/tmp", "/proc/1", "/usr", "/belljar",
        ] {
            let error = refused(|o| o.cwd = path.into());
            assert!(matches!(error, Problem::Path { .. }), "{path}: {error:?}");
        }
        let error = refused(|o| o.memory = Some(1));
        assert!(matches!(error, Problem::OutOfRange { key: "memory", .. }));
        let error = refused(|o| o.lifetime = Duration::from_secs(1));
        assert!(matches!(
            error,
            Problem::OutOfRange {
                key: "lifetime",
                ..
            }
        ));
        let zero = refused(|o| o.keep_alive = Duration::ZERO);
        assert_eq!(zero, Problem::Zero { name: "keep-alive" });
    }

    #[test]
    fn ordinary_places_can_be_used() {
        for path in [
            "/workspace",
            "/home/ada/work",
            "/srv",
            "/users",
            "/tmpfiles",
        ] {
            let options = KubernetesOptions {
                cwd: path.into(),
                ..KubernetesOptions::new("debian:12")
            };
            assert!(options.validated().is_ok(), "{path}");
        }
    }

    #[test]
    fn somebody_must_say_where_the_cluster_is() {
        let options = KubernetesOptions::new("i");
        assert_eq!(options.located(), Err(Problem::NoCluster));
    }
}
