//! What was asked for and a Pod cannot give, each under its stable name.

use super::KubernetesOptions;
use crate::backends::{Gap, Guarantee};

/// What of the options no Pod can give, before anything is started.
pub(super) fn gaps(options: &KubernetesOptions) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut gap = |guarantee, message: &str| {
        gaps.push(Gap {
            guarantee,
            message: message.to_owned(),
        });
    };
    gap(
        Guarantee::NoNetwork,
        "what a Pod reaches over the network is not its own to say; a NetworkPolicy for app.kubernetes.io/managed-by=belljar confines it, where the cluster's network enforces one",
    );
    gap(
        Guarantee::PidsLimit,
        "how many processes a Pod may have is the node's to say (podPidsLimit), and may be unlimited",
    );
    gap(
        Guarantee::ScratchSize,
        "the node measures volumes now and then, and evicts the Pod that is over its size",
    );
    if options.memory.is_none() {
        gap(Guarantee::MemoryLimit, "the configuration asks for none");
    }
    if options.cpu_millis.is_none() {
        gap(Guarantee::CpuLimit, "the configuration asks for none");
    }
    if !options.readonly_rootfs {
        gap(
            Guarantee::ReadonlyRootfs,
            "the configuration asks for a writable root",
        );
    }
    gaps
}
