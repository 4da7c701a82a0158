//! Opens a session in a Pod: everything that can be said before it starts is said here.

use std::sync::Arc;

use belljar_contract::{
    Backend,
    session::{Capability, Description, PolicySummary},
};

use super::{
    KubernetesOptions, PodResident, backend::KubernetesBackend, cluster::Cluster, gap,
    start::Starter,
};
use crate::backends::{OpenError, install};

impl KubernetesOptions {
    /// Opens a session. The cluster is asked for a Pod at the first call.
    ///
    /// # Ambient authority
    /// Reads the kubeconfig, or the service account's files, and what they name. The residents' folders are the
    /// host's.
    ///
    /// # Errors
    /// [`OpenError`] when the options cannot be used, or there is no resident to copy.
    pub fn open_ambient(self) -> Result<Arc<dyn Backend>, OpenError> {
        let (starter, description) = self.prepare_ambient()?;
        Ok(Arc::new(KubernetesBackend::new(starter, description, None)))
    }

    /// What starts Pods with these options, and what is said of a session in one.
    pub(super) fn prepare_ambient(self) -> Result<(Arc<Starter>, Arc<Description>), OpenError> {
        let options = self.validated()?;
        options.located()?;
        let unmet = gap::unmet(&options);
        if !unmet.is_empty() {
            return Err(OpenError::RequirementsUnmet { gaps: unmet });
        }
        let copies = options.resident == PodResident::Copy;
        let residents = match copies {
            true => install::residents_ambient(&options.residents)
                .map_err(OpenError::ResidentUnreadable)?,
            false => Vec::new(),
        };
        if copies && residents.is_empty() {
            return Err(OpenError::NothingToInstall {
                looked: options.residents,
            });
        }
        let cluster = Arc::new(Cluster::open_ambient(&options)?);
        let description = describe(&options);
        let starter = Starter {
            cluster,
            options,
            residents,
        };
        Ok((Arc::new(starter), Arc::new(description)))
    }
}

fn describe(options: &KubernetesOptions) -> Description {
    let mut capabilities = vec![
        Capability::Read,
        Capability::Run,
        Capability::Start,
        Capability::Modes,
        Capability::Links,
        Capability::RawNames,
    ];
    if options.writable {
        capabilities.push(Capability::Write);
    }
    capabilities.sort_unstable();
    let sentences = [
        format!(
            "You work in a Pod of the image {}; your workspace is {}.",
            options.image, options.cwd
        ),
        match options.writable {
            true => "Files in the workspace can be read and changed.",
            false => "Files in the workspace can be read, and not changed.",
        }
        .to_owned(),
        match options.readonly_rootfs {
            true => "Outside it only /tmp can be written.",
            false => "What is written outside it is gone with the Pod.",
        }
        .to_owned(),
        "What the network reaches is the cluster's to say.".to_owned(),
        "The workspace is temporary and goes with this session.".to_owned(),
    ];
    Description {
        backend: "kubernetes".to_owned(),
        root: options.cwd.clone(),
        process_root: None,
        writable: options.writable,
        durable: false,
        capabilities,
        limits: options.limits,
        policy: PolicySummary::default(),
        instructions: sentences.join(" "),
        hardening_gaps: gap::gaps(options).iter().map(ToString::to_string).collect(),
    }
}
