//! The options of a container, from its configuration.

use crate::{
    OpenOptions,
    backends::{
        Bind, ContainerEngine, ContainerOptions, ContainerUser, Guarantee, PoolOptions, PullPolicy,
        ResidentChoice, TransportChoice,
    },
    config::{
        Config, ContainerConfig, Engine, Guarantee as GuaranteeConfig, Pull, Resident, Transport,
        User,
    },
};

/// What is not configured has the backend's default.
pub(super) fn container_options(
    config: &Config,
    container: &ContainerConfig,
    options: OpenOptions,
) -> ContainerOptions {
    let ContainerConfig {
        engine,
        program,
        image,
        pull,
        cwd,
        binds,
        network,
        cap_add,
        memory,
        cpu_millis,
        pids_limit,
        user,
        readonly_rootfs,
        scratch_bytes,
        scratch_exec,
        tmp_bytes,
        tmp_exec,
        start_timeout,
        name,
        reconnect,
        lease,
        environment,
        resident,
        transport,
        patience,
        // What stands ready is no part of one container.
        pool_size: _,
        pool_idle: _,
        require,
    } = container.clone();
    let default = ContainerOptions::new(image);
    let bind = |bind: crate::config::BindConfig| Bind {
        host: bind.host,
        container: bind.container,
        writable: bind.writable,
    };
    ContainerOptions {
        engine: engine.into(),
        program,
        engine_environment: options.engine_environment,
        residents: options.residents,
        state: options.container_state,
        transport: transport.into(),
        patience: patience.unwrap_or(default.patience),
        pull: pull.into(),
        cwd: cwd.unwrap_or(default.cwd),
        workspace: config.sandbox.workspace.clone(),
        writable: config.sandbox.writable,
        binds: binds.into_iter().map(bind).collect(),
        network: network.unwrap_or(default.network),
        cap_add,
        memory,
        cpu_millis,
        pids_limit: match pids_limit {
            None => default.pids_limit,
            Some(0) => None,
            limit => limit,
        },
        user: user.map(Into::into),
        readonly_rootfs: readonly_rootfs.unwrap_or(default.readonly_rootfs),
        scratch_bytes: scratch_bytes.unwrap_or(default.scratch_bytes),
        scratch_exec: scratch_exec.unwrap_or(default.scratch_exec),
        tmp_bytes: tmp_bytes.unwrap_or(default.tmp_bytes),
        tmp_exec: tmp_exec.unwrap_or(default.tmp_exec),
        start_timeout: start_timeout.unwrap_or(default.start_timeout),
        name,
        reconnect,
        lease: lease.unwrap_or(default.lease),
        environment,
        resident: resident.into(),
        require: require.into_iter().map(Into::into).collect(),
        limits: config.limits,
        image: default.image,
    }
}

/// How many containers stand ready.
pub(super) fn pool_options(container: &ContainerConfig) -> PoolOptions {
    let default = PoolOptions::default();
    PoolOptions {
        size: container.pool_size,
        idle: container.pool_idle.unwrap_or(default.idle),
    }
}

impl From<Engine> for ContainerEngine {
    fn from(engine: Engine) -> Self {
        match engine {
            Engine::Docker => Self::Docker,
            Engine::Podman => Self::Podman,
            Engine::Apple => Self::Apple,
        }
    }
}

impl From<Pull> for PullPolicy {
    fn from(pull: Pull) -> Self {
        match pull {
            Pull::Missing => Self::Missing,
            Pull::Never => Self::Never,
            Pull::Always => Self::Always,
        }
    }
}

impl From<User> for ContainerUser {
    fn from(user: User) -> Self {
        match user {
            User::Host => Self::Host,
            User::Image => Self::Image,
            User::Named(user) => Self::Named(user),
        }
    }
}

impl From<Resident> for ResidentChoice {
    fn from(resident: Resident) -> Self {
        match resident {
            Resident::Auto => Self::Auto,
            Resident::Off => Self::Off,
            Resident::Path(path) => Self::Path(path),
        }
    }
}

impl From<Transport> for TransportChoice {
    fn from(transport: Transport) -> Self {
        match transport {
            Transport::Auto => Self::Auto,
            Transport::Socket => Self::Socket,
            Transport::Stdio => Self::Stdio,
        }
    }
}

impl From<GuaranteeConfig> for Guarantee {
    fn from(guarantee: GuaranteeConfig) -> Self {
        match guarantee {
            GuaranteeConfig::NoNewPrivileges => Self::NoNewPrivileges,
            GuaranteeConfig::Capabilities => Self::Capabilities,
            GuaranteeConfig::Seccomp => Self::Seccomp,
            GuaranteeConfig::PidsLimit => Self::PidsLimit,
            GuaranteeConfig::MemoryLimit => Self::MemoryLimit,
            GuaranteeConfig::CpuLimit => Self::CpuLimit,
            GuaranteeConfig::ReadonlyRootfs => Self::ReadonlyRootfs,
            GuaranteeConfig::ScratchSize => Self::ScratchSize,
            GuaranteeConfig::NoNetwork => Self::NoNetwork,
            GuaranteeConfig::HostUser => Self::HostUser,
            GuaranteeConfig::PullPolicy => Self::PullPolicy,
            GuaranteeConfig::NoLog => Self::NoLog,
            GuaranteeConfig::NoImageVolumes => Self::NoImageVolumes,
            GuaranteeConfig::Resident => Self::Resident,
            GuaranteeConfig::EndsWithOwner => Self::EndsWithOwner,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde::Deserialize as _;

    use super::*;

    #[test]
    fn an_image_alone_gives_the_defaults() {
        let text = "version = 1\nsandbox.backend = 'container'\nsandbox.container.image = 'i'";
        let config = Config::from_toml(text, Path::new("/p")).expect("right");
        let crate::config::Backend::Container(container) = &config.sandbox.backend else {
            panic!("{config:?}");
        };
        let options = container_options(&config, container, OpenOptions::default());
        let (got, right) = (format!("{options:?}"), ContainerOptions::new("i"));
        assert_eq!(got, format!("{right:?}"));
    }

    #[test]
    fn each_guarantee_has_one_name_in_both() {
        for guarantee in Guarantee::ALL {
            let name = serde_json::Value::from(guarantee.as_str());
            let configured = GuaranteeConfig::deserialize(name).expect("the same name");
            assert_eq!(Guarantee::from(configured), guarantee);
        }
    }

    #[test]
    fn a_limit_of_none_is_zero() {
        let container = ContainerConfig {
            pids_limit: Some(0),
            ..ContainerConfig::new("i")
        };
        let config = Config::container_at("/w", container.clone());
        let options = container_options(&config, &container, OpenOptions::default());
        assert_eq!((options.pids_limit, options.writable), (None, false));
    }
}
