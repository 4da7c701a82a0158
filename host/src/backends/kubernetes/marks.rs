//! What is written on a Pod, so that it is found again, and removed when nobody is left.
//!
//! A cluster selects by labels, whose values are short words; what is longer is an annotation.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::backends::owner::Owner;

/// By which every Pod of ours is found.
pub(super) const SELECTOR: &str = "app.kubernetes.io/managed-by=belljar";

const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "belljar");
const VERSION: &str = "app.kubernetes.io/version";
const SESSION: &str = "belljar.session";
/// What a Pod is for: [`READY`] until a session has it, then [`TAKEN`].
pub(super) const STATE: &str = "belljar.state";
pub(super) const READY: &str = "ready";
pub(super) const TAKEN: &str = "taken";
const OWNER: &str = "belljar.owner";
const LEASE: &str = "belljar.lease";

/// The marks of one Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    /// 128 random bits, in hexadecimal.
    pub(super) session: String,
    /// None when what is written is no owner.
    pub(super) owner: Option<Owner>,
    /// Whether it stands ready, and no session has it.
    pub(super) ready: bool,
    /// Until when others leave it alone though they cannot see its owner: seconds since 1970.
    pub(super) lease: u64,
}

impl Marks {
    pub(super) fn labels(&self) -> BTreeMap<String, String> {
        let state = if self.ready { READY } else { TAKEN };
        [
            MANAGED_BY,
            (VERSION, env!("CARGO_PKG_VERSION")),
            (SESSION, &self.session),
            (STATE, state),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    pub(super) fn annotations(&self) -> BTreeMap<String, String> {
        let owner = self.owner.as_ref().map(ToString::to_string);
        [
            (OWNER, owner.unwrap_or_default()),
            (LEASE, self.lease.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// Reads the marks of a Pod; none when it is not ours.
    pub(super) fn read(metadata: &ObjectMeta) -> Option<Self> {
        let label = |name: &str| metadata.labels.as_ref()?.get(name).cloned();
        let annotation = |name: &str| metadata.annotations.as_ref()?.get(name).cloned();
        if label(MANAGED_BY.0).as_deref() != Some(MANAGED_BY.1) {
            return None;
        }
        Some(Self {
            session: label(SESSION)?,
            owner: annotation(OWNER).and_then(|owner| Owner::parse(&owner)),
            ready: label(STATE).as_deref() == Some(READY),
            // A lease that says nothing has ended.
            lease: annotation(LEASE)
                .and_then(|lease| lease.parse().ok())
                .unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for ready in [true, false] {
            let marks = Marks {
                session: "5e55".into(),
                owner: Some(Owner::this_ambient()),
                ready,
                lease: 1_800_000_000,
            };
            let metadata = ObjectMeta {
                labels: Some(marks.labels()),
                annotations: Some(marks.annotations()),
                ..ObjectMeta::default()
            };
            assert_eq!(Marks::read(&metadata), Some(marks));
        }
        assert_eq!(Marks::read(&ObjectMeta::default()), None);
    }

    #[test]
    fn the_selector_is_the_label() {
        assert_eq!(SELECTOR, format!("{}={}", MANAGED_BY.0, MANAGED_BY.1));
    }

    #[test]
    fn marks_that_say_nonsense_have_no_owner_and_no_lease() {
        let text = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            let pairs = pairs.iter();
            pairs
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let metadata = ObjectMeta {
            labels: Some(text(&[MANAGED_BY, (SESSION, "x")])),
            annotations: Some(text(&[(OWNER, "me"), (LEASE, "soon")])),
            ..ObjectMeta::default()
        };
        let read = Marks::read(&metadata).expect("ours");
        assert_eq!((read.owner, read.lease, read.ready), (None, 0, false));
    }
}
