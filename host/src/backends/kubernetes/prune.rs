//! Removes the Pods that nobody is left for.
//!
//! A Pod ends with its stream, and stays in the cluster's list until somebody removes it: usually the host that started
//! it. What stays is one whose host was killed. No lease is ever renewed: a Pod is not kept alive by what is written on
//! it, but by its stream, and the cluster itself ends it at the end of its lifetime, which is the lease.

use std::sync::Arc;

use belljar_contract::Context;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;

use super::{
    KubernetesError, KubernetesOptions,
    classify::Asked,
    cluster::{Cluster, ask},
    fate::{self, PodFate},
    marks::{Marks, SELECTOR},
    running,
};
use crate::backends::{
    Kept, OpenError, Verdict,
    lease::seconds_since_1970,
    owner::{Owner, Sight},
};

/// How many Pods the cluster lists in one answer.
const PAGE: u32 = 500;

/// A Pod that was found.
#[derive(Clone, Debug)]
pub struct LeftPod {
    /// Its name.
    pub name: String,
    /// Its image.
    pub image: String,
    /// What the cluster says of it.
    pub fate: PodFate,
    /// What was decided.
    pub verdict: Verdict,
    /// Why it could not be removed.
    pub failure: Option<KubernetesError>,
}

/// Why no Pods are removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrunePodsError {
    /// There is no way to the cluster.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The cluster does not list them.
    #[error(transparent)]
    Cluster(#[from] KubernetesError),
}

impl KubernetesOptions {
    /// Lists the Pods of these options' namespace that are ours, and removes those that nobody is left for: that have
    /// ended, whose owner is seen to be gone, or cannot be seen while their lifetime is over. With `dry_run` it only
    /// says which. It works on this thread, which may block.
    ///
    /// # Ambient authority
    /// As [`open_ambient`](Self::open_ambient); and looks which processes live.
    ///
    /// # Errors
    /// [`PrunePodsError`] when the cluster cannot be asked. That one Pod cannot be removed is in the list.
    pub fn prune_ambient(
        self,
        context: &Context,
        dry_run: bool,
    ) -> Result<Vec<LeftPod>, PrunePodsError> {
        self.located().map_err(OpenError::from)?;
        let cluster = Arc::new(Cluster::open_ambient(&self).map_err(OpenError::from)?);
        let (here, now) = (Owner::this_ambient(), seconds_since_1970());
        let mut report = Vec::new();
        for (pod, marks) in list(&cluster, context)? {
            let owner = marks.owner.as_ref();
            let sight = owner.map_or(Sight::Unseen, |owner| owner.look_ambient(&here));
            let fate = fate::fate(Some(&pod));
            let verdict = decide(&marks, &fate, sight, now);
            let name = pod.metadata.name.unwrap_or_default();
            let removed = match verdict.removes() && !dry_run {
                true => running::remove(&cluster, context, &name),
                false => Ok(()),
            };
            let spec = pod.spec.unwrap_or_default();
            let image = spec.containers.into_iter().find_map(|one| one.image);
            report.push(LeftPod {
                failure: removed.err().map(|why| cluster.failed(&name, why)),
                name,
                image: image.unwrap_or_default(),
                fate,
                verdict,
            });
        }
        Ok(report)
    }
}

/// The Pods that are ours.
fn list(cluster: &Arc<Cluster>, context: &Context) -> Result<Vec<(Pod, Marks)>, KubernetesError> {
    let pods = cluster.pods();
    let listed = cluster.run(context, async move {
        let mut all = Vec::new();
        let mut parameters = ListParams::default().labels(SELECTOR).limit(PAGE);
        loop {
            let page = ask(Asked::pods("list"), pods.list(&parameters)).await?;
            all.extend(page.items);
            match page.metadata.continue_.filter(|more| !more.is_empty()) {
                Some(more) => parameters = parameters.continue_token(&more),
                None => return Ok(all),
            }
        }
    });
    let marked = |pod: Pod| Marks::read(&pod.metadata).map(|marks| (pod, marks));
    match listed {
        Ok(pods) => Ok(pods.into_iter().filter_map(marked).collect()),
        Err((failure, words)) => Err(KubernetesError {
            pod: None,
            failure,
            words,
        }),
    }
}

/// Decides about one Pod; `now` is in seconds since 1970.
fn decide(marks: &Marks, fate: &PodFate, sight: Sight, now: u64) -> Verdict {
    match (fate, sight) {
        // It runs as far as the cluster knows, or may.
        (
            PodFate::Runs
            | PodFate::Pending
            | PodFate::NodeLost { .. }
            | PodFate::Deleted
            | PodFate::Unknown(_),
            sight,
        ) => match sight {
            Sight::Living => Verdict::Keep(Kept::OwnerLives),
            Sight::Gone => Verdict::OwnerGone,
            Sight::Unseen if marks.lease > now => Verdict::Keep(Kept::Leased),
            // The cluster was to end it; where it has not, its node is lost.
            Sight::Unseen => Verdict::LeaseEnded,
        },
        // Nothing of it runs, nor ever will.
        (
            PodFate::Completed
            | PodFate::OutOfMemory
            | PodFate::Evicted { .. }
            | PodFate::DeadlineExceeded
            | PodFate::Failed { .. },
            _,
        ) => Verdict::Ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1000;
    const SIGHTS: [Sight; 3] = [Sight::Living, Sight::Gone, Sight::Unseen];

    fn marks(lease: u64) -> Marks {
        Marks {
            session: "s".into(),
            owner: None,
            ready: false,
            lease,
        }
    }

    #[test]
    fn what_has_ended_goes_whoever_owned_it() {
        for fate in [
            PodFate::Completed,
            PodFate::OutOfMemory,
            PodFate::DeadlineExceeded,
        ] {
            for sight in SIGHTS {
                let verdict = decide(&marks(NOW + 1), &fate, sight, NOW);
                assert_eq!(verdict, Verdict::Ended);
            }
        }
    }

    #[test]
    fn what_may_run_goes_with_its_owner_or_with_its_lease() {
        let lost = PodFate::NodeLost { node: "n".into() };
        for fate in [PodFate::Runs, PodFate::Pending, lost] {
            let decide = |lease, sight| decide(&marks(lease), &fate, sight, NOW);
            for lease in [NOW - 1, NOW + 1] {
                let living = decide(lease, Sight::Living);
                assert_eq!(living, Verdict::Keep(Kept::OwnerLives));
                assert_eq!(decide(lease, Sight::Gone), Verdict::OwnerGone);
            }
            let leased = decide(NOW + 1, Sight::Unseen);
            assert_eq!(leased, Verdict::Keep(Kept::Leased));
            assert_eq!(decide(NOW, Sight::Unseen), Verdict::LeaseEnded);
        }
    }
}
