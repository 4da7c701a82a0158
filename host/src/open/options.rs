//! The options of a backend, with what its own table cannot say.

#[cfg(feature = "kubernetes")]
use crate::backends::{ClusterAccess, KubernetesOptions, KubernetesOptionsError};
use crate::{
    OpenOptions,
    backends::{ContainerOptions, OpenError, RemoteOptions, RemoteOptionsError},
    config::Config,
};

pub(super) fn container_options(
    config: &Config,
    container: &ContainerOptions,
    options: OpenOptions,
) -> ContainerOptions {
    ContainerOptions {
        engine_environment: options.engine_environment,
        residents: options.residents,
        state: options.container_state,
        workspace: config.sandbox.workspace.clone(),
        writable: config.sandbox.writable,
        limits: config.limits,
        ..container.clone()
    }
}

pub(super) fn remote_options(
    config: &Config,
    remote: &RemoteOptions,
    options: OpenOptions,
) -> Result<RemoteOptions, OpenError> {
    // A directory of this machine is nothing there; where it was named, it would silently be another one.
    if let Some(workspace) = config.sandbox.workspace.clone() {
        return Err(RemoteOptionsError::WorkspaceIsHere { workspace }.into());
    }
    Ok(RemoteOptions {
        program_environment: options.engine_environment,
        residents: options.residents,
        writable: config.sandbox.writable,
        limits: config.limits,
        ..remote.clone()
    })
}

#[cfg(feature = "kubernetes")]
pub(super) fn kubernetes_options(
    config: &Config,
    kubernetes: &KubernetesOptions,
    options: OpenOptions,
) -> Result<KubernetesOptions, OpenError> {
    // A directory of this machine is nothing on a node.
    if let Some(workspace) = config.sandbox.workspace.clone() {
        return Err(KubernetesOptionsError::WorkspaceIsHere { workspace }.into());
    }
    let mut kubernetes = kubernetes.clone();
    if let ClusterAccess::Kubeconfig(files) = &mut kubernetes.access
        && files.is_empty()
    {
        *files = options.kubeconfig;
    }
    Ok(KubernetesOptions {
        residents: options.residents,
        writable: config.sandbox.writable,
        limits: config.limits,
        ..kubernetes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_whole_configuration_says_counts() {
        let container = ContainerOptions {
            workspace: Some("/other".into()),
            pids_limit: None,
            ..ContainerOptions::new("i")
        };
        let config = Config::container_at("/w", container.clone());
        let options = container_options(&config, &container, OpenOptions::default());
        let right = ContainerOptions {
            workspace: Some("/w".into()),
            writable: false,
            ..container
        };
        assert_eq!(options, right);
    }

    #[test]
    fn a_workspace_of_this_machine_is_refused() {
        let remote = RemoteOptions::new(["ssh"], "/work");
        let mut config = Config::remote(remote.clone());
        config.sandbox.workspace = Some("/here".into());
        let options = remote_options(&config, &remote, OpenOptions::default());
        assert!(matches!(
            options,
            Err(OpenError::RemoteOptions(
                RemoteOptionsError::WorkspaceIsHere { .. }
            ))
        ));
    }
}
