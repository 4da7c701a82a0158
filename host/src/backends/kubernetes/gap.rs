//! What of a container's guarantees is asked of a Pod, and what of that no Pod can give.

use super::KubernetesOptions;
use crate::backends::{Gap, Guarantee};

/// Whether a guarantee is asked of a Pod at all.
pub(super) fn asked(options: &KubernetesOptions, guarantee: Guarantee) -> bool {
    match guarantee {
        Guarantee::MemoryLimit => options.memory.is_some(),
        Guarantee::CpuLimit => options.cpu_millis.is_some(),
        Guarantee::ReadonlyRootfs => options.readonly_rootfs,
        // They are the cluster's to give, and asked for where somebody requires them.
        Guarantee::NoNetwork | Guarantee::PidsLimit => options.require.contains(&guarantee),
        Guarantee::NoNewPrivileges
        | Guarantee::Capabilities
        | Guarantee::Seccomp
        | Guarantee::ScratchSize
        | Guarantee::HostUser
        | Guarantee::PullPolicy
        | Guarantee::NoLog
        | Guarantee::NoImageVolumes
        | Guarantee::Resident
        | Guarantee::EndsWithOwner => true,
    }
}

/// Why a guarantee cannot be had, where that is known before a Pod starts.
pub(super) fn known(options: &KubernetesOptions, guarantee: Guarantee) -> Option<Gap> {
    let message = match guarantee {
        Guarantee::NoNetwork => {
            "what a Pod reaches over the network is not its own to say, and not seen from inside; a NetworkPolicy for app.kubernetes.io/managed-by=belljar confines it, where the cluster's network enforces one"
        }
        Guarantee::ScratchSize => {
            "the node measures volumes now and then, and evicts the Pod that is over its size; /dev/termination-log, which every container has, has none"
        }
        Guarantee::NoLog => {
            "the node keeps what a process writes to the output of process 1, up to its own limit (containerLogMaxSize)"
        }
        Guarantee::MemoryLimit if options.memory.is_none() => "the configuration asks for none",
        Guarantee::CpuLimit if options.cpu_millis.is_none() => "the configuration asks for none",
        Guarantee::ReadonlyRootfs if !options.readonly_rootfs => {
            "the configuration asks for a writable root"
        }
        _ => return None,
    };
    Some(Gap {
        guarantee,
        message: message.to_owned(),
    })
}

/// All that is weaker than it could be, before anything is started.
pub(super) fn gaps(options: &KubernetesOptions) -> Vec<Gap> {
    let known = Guarantee::ALL
        .into_iter()
        .filter_map(|guarantee| known(options, guarantee));
    let processes = Gap {
        guarantee: Guarantee::PidsLimit,
        message: "how many processes a Pod may have is the node's to say (podPidsLimit), and may be unlimited".to_owned(),
    };
    known.chain([processes]).collect()
}

/// The guarantees that are required, and known to be missing.
pub(super) fn unmet(options: &KubernetesOptions) -> Vec<Gap> {
    let required = options.require.iter();
    required
        .filter_map(|guarantee| known(options, *guarantee))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_pod_gives_is_refused_where_it_is_required() {
        let mut options = KubernetesOptions::new("i");
        assert_eq!(unmet(&options), []);
        options.require = [Guarantee::NoNetwork, Guarantee::Seccomp].into();
        let unmet = unmet(&options);
        let unmet: Vec<Guarantee> = unmet.iter().map(|gap| gap.guarantee).collect();
        assert_eq!(unmet, [Guarantee::NoNetwork]);
    }

    #[test]
    fn what_is_not_asked_for_is_told() {
        let told = |options: &KubernetesOptions| -> Vec<Guarantee> {
            gaps(options).iter().map(|gap| gap.guarantee).collect()
        };
        let plain = KubernetesOptions::new("i");
        let always = [
            Guarantee::ScratchSize,
            Guarantee::NoNetwork,
            Guarantee::NoLog,
            Guarantee::PidsLimit,
        ];
        assert_eq!(told(&plain), always);
        let weak = KubernetesOptions {
            memory: None,
            readonly_rootfs: false,
            ..plain
        };
        assert!(told(&weak).contains(&Guarantee::MemoryLimit));
        assert!(told(&weak).contains(&Guarantee::ReadonlyRootfs));
    }
}
