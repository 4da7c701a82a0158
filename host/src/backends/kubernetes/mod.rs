//! `kubernetes`: the tools' files and processes in a Pod of a cluster.
//!
//! | file | what |
//! |---|---|
//! | `options` | what an operator may say; `validate` says what of it is wrong |
//! | `manifest` | options as a Pod, by pure functions; `marks` is what is written on it, so that it is found again |
//! | `gap` | what of a container's guarantees a Pod cannot give |
//! | `cluster` | the client, and the thread on which it works; `classify` says what its refusals mean |
//! | `open` | what is said before a Pod starts; `start` starts it |
//! | `wait`, `progress` | waits until a Pod runs, or until it is known that it will not |
//! | `stream` | an exec stream as a socket |
//! | `running` | a Pod with its resident, and its end |
//! | `fate`, `failure` | what became of a Pod; why there is no session, or none any more |
//! | `pool` | Pods that run before a session needs one |
//! | `prune` | which Pods are left over |
//! | `examine` | what a Pod gives of what was asked, as its resident sees it |
//! | `backend` | the session: started once, explained when it dies, removed when it is closed |
//!
//! Process 1 of the Pod's container is the resident, or a few lines of shell that become it. It waits for its session,
//! which an exec stream brings, and ends with it; with process 1 ends the Pod.

mod backend;
mod classify;
mod cluster;
mod examine;
mod failure;
mod fate;
mod gap;
mod manifest;
mod marks;
mod open;
mod options;
mod pool;
mod progress;
mod prune;
mod running;
mod start;
mod stream;
mod validate;
mod wait;

pub use self::{
    cluster::ClusterAccessError,
    failure::{KubernetesError, KubernetesFailure},
    fate::PodFate,
    options::{ClusterAccess, KubernetesOptions, PodResident, PodToleration},
    pool::KubernetesPool,
    prune::{LeftPod, PrunePodsError},
    validate::KubernetesOptionsError,
};
