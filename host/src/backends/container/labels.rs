//! What is written on a container when it is made, so that it is found again, compared, and removed when
//! nobody is left.

use std::collections::BTreeMap;

use crate::backends::owner::Owner;

pub(super) const SESSION: &str = "belljar.session";
pub(super) const OWNER: &str = "belljar.owner";
pub(super) const NAME: &str = "belljar.name";
pub(super) const HARDENING: &str = "belljar.hardening";
pub(super) const IMAGE: &str = "belljar.image";
pub(super) const LEASE: &str = "belljar.lease";
pub(super) const STREAM: &str = "belljar.stream";

/// The labels of one container. An engine keeps them as they were when it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Labels {
    /// 128 random bits, in hexadecimal.
    pub(super) session: String,
    /// None when what is written is no owner.
    pub(super) owner: Option<Owner>,
    /// The name under which it is found again.
    pub(super) name: Option<String>,
    /// What [`hardening`](super::arguments::hardening) was, as a JSON array.
    pub(super) hardening: String,
    /// The image, as it was configured.
    pub(super) image: String,
    /// Until when others leave it alone though they cannot see its owner: seconds since 1970.
    pub(super) lease: u64,
    /// The host's folder where its resident connects each time that it starts; none for standard input and output,
    /// and for a folder that is gone once it has.
    pub(super) stream: Option<String>,
}

impl Labels {
    /// The labels as an engine takes them: names and values.
    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        let owner = self.owner.as_ref().map(ToString::to_string);
        let mut pairs = vec![
            (SESSION, self.session.clone()),
            (OWNER, owner.unwrap_or_default()),
            (HARDENING, self.hardening.clone()),
            (IMAGE, self.image.clone()),
            (LEASE, self.lease.to_string()),
        ];
        pairs.extend(self.name.clone().map(|name| (NAME, name)));
        pairs.extend(self.stream.clone().map(|stream| (STREAM, stream)));
        pairs
    }

    /// Reads the labels of a container; none when it is not ours.
    pub(super) fn read(labels: &BTreeMap<String, String>) -> Option<Self> {
        let text = |name: &str| labels.get(name).cloned();
        Some(Self {
            session: text(SESSION)?,
            owner: text(OWNER).and_then(|owner| Owner::parse(&owner)),
            name: text(NAME),
            hardening: text(HARDENING).unwrap_or_default(),
            image: text(IMAGE).unwrap_or_default(),
            // A lease that says nothing has ended.
            lease: text(LEASE)
                .and_then(|lease| lease.parse().ok())
                .unwrap_or(0),
            stream: text(STREAM),
        })
    }

    /// What is different in another container of the same name: a line each, empty when nothing is.
    pub(super) fn differences(&self, other: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.image != other.image {
            lines.push(format!("image: {} here, {} there", self.image, other.image));
        }
        let here = options(&self.hardening);
        let there = options(&other.hardening);
        let lacks = |of: &[String], option: &&String| !of.contains(option);
        for option in here.iter().filter(|option| lacks(&there, option)) {
            lines.push(format!("only here: {option}"));
        }
        for option in there.iter().filter(|option| lacks(&here, option)) {
            lines.push(format!("only there: {option}"));
        }
        // Something that is not read as options is different, whatever it is.
        if lines.is_empty() && self.hardening != other.hardening {
            lines.push("the hardening there is written in another way".to_owned());
        }
        lines
    }
}

/// The options of a hardening label; none when it is no such label.
fn options(hardening: &str) -> Vec<String> {
    serde_json::from_str(hardening).unwrap_or_default()
}

/// Writes options for the hardening label: they are compared as they are, and shown where they differ.
pub(super) fn hardening(options: &[String]) -> String {
    serde_json::Value::from(options.to_vec()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::lease::session_id;

    fn labels() -> Labels {
        Labels {
            session: session_id().expect("random bits"),
            owner: Some(Owner::this_ambient()),
            name: Some("build".into()),
            hardening: hardening(&["--network=none".into(), "--pids-limit=512".into()]),
            image: "debian:12".into(),
            lease: 1_800_000_000,
            stream: Some("/run/user/1000/belljar/5e55".into()),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let labels = labels();
        let written = labels.pairs().into_iter();
        let written = written
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        assert_eq!(Labels::read(&written), Some(labels));
        assert_eq!(Labels::read(&BTreeMap::new()), None);
    }

    #[test]
    fn labels_that_say_nonsense_have_no_owner_and_no_lease() {
        let pairs = [(SESSION, "x"), (OWNER, "me"), (LEASE, "soon")];
        let written = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let read = Labels::read(&BTreeMap::from(written)).expect("ours");
        assert_eq!((read.owner, read.lease), (None, 0));
    }

    #[test]
    fn a_difference_is_shown() {
        let here = labels();
        assert!(here.differences(&here).is_empty());
        let there = Labels {
            image: "debian:11".into(),
            hardening: hardening(&["--network=none".into(), "--pids-limit=9".into()]),
            ..labels()
        };
        let right = [
            "image: debian:12 here, debian:11 there",
            "only here: --pids-limit=512",
            "only there: --pids-limit=9",
        ];
        assert_eq!(here.differences(&there), right);
        let broken = Labels {
            hardening: "{".into(),
            ..labels()
        };
        assert!(!here.differences(&broken).is_empty());
    }
}
