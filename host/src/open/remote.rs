//! The options of a place that a command reaches, from its configuration.

use crate::{
    OpenOptions,
    backends::{OpenError, RemoteOptions, RemoteOptionsError},
    config::{Config, RemoteConfig},
};

/// What is not configured has the backend's default.
pub(super) fn remote_options(
    config: &Config,
    remote: &RemoteConfig,
    options: OpenOptions,
) -> Result<RemoteOptions, OpenError> {
    let RemoteConfig {
        command,
        root,
        install,
        connect_timeout,
        patience,
        keep_alive,
        environment,
    } = remote.clone();
    // A directory of this machine is nothing there; where it was named, it would silently be another one.
    if let Some(workspace) = config.sandbox.workspace.clone() {
        return Err(RemoteOptionsError::WorkspaceIsHere { workspace }.into());
    }
    let default = RemoteOptions::new(command, root);
    Ok(RemoteOptions {
        program_environment: options.engine_environment,
        writable: config.sandbox.writable,
        install,
        residents: options.residents,
        connect_timeout: connect_timeout.unwrap_or(default.connect_timeout),
        patience: patience.unwrap_or(default.patience),
        keep_alive: keep_alive.unwrap_or(default.keep_alive),
        environment,
        limits: config.limits,
        ..default
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_command_and_a_directory_give_the_defaults() {
        let text = "version = 1\nsandbox.backend = 'remote'\nsandbox.remote.command = ['ssh', 'build', 'sh']\n\
            sandbox.remote.root = '/work'";
        let config = Config::from_toml(text, Path::new("/p")).expect("right");
        let crate::config::Backend::Remote(remote) = &config.sandbox.backend else {
            panic!("{config:?}");
        };
        let options = remote_options(&config, remote, OpenOptions::default());
        let right = RemoteOptions::new(["ssh", "build", "sh"], "/work");
        assert_eq!(
            format!("{:?}", options.expect("right")),
            format!("{right:?}")
        );
    }

    #[test]
    fn a_workspace_of_this_machine_is_refused() {
        let remote = RemoteConfig::new(["ssh"], "/work");
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
