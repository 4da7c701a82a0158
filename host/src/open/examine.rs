//! What a configured sandbox gives of what its configuration asks for.

use belljar_contract::Context;

#[cfg(feature = "kubernetes")]
use super::options::kubernetes_options;
use super::options::{container_options, remote_options};
use crate::{
    OpenOptions,
    backends::{ExamineError, Report},
    config::{Backend, Config},
    sandbox::Sandbox,
};

/// Opens the sandbox that a configuration describes, looks from inside what it gives of what was asked, and
/// closes it.
///
/// A container is started for it, a new one; a remote place is connected to. The other backends have nothing to
/// look into; their report is what they say of themselves.
///
/// # Ambient authority
/// As [`Sandbox::open_ambient`].
///
/// # Errors
/// [`ExamineError`] when the sandbox does not open, or ends before it could be asked. That something is
/// missing is no error: see [`Report::failures`].
pub async fn examine_ambient(
    context: &Context,
    config: &Config,
    options: OpenOptions,
) -> Result<Report, ExamineError> {
    match &config.sandbox.backend {
        Backend::Container {
            options: container, ..
        } => {
            let options = container_options(config, container, options);
            options.examine_ambient(context).await
        }
        Backend::Remote(remote) => {
            let options = remote_options(config, remote, options)?;
            options.examine_ambient(context).await
        }
        #[cfg(feature = "kubernetes")]
        Backend::Kubernetes {
            options: kubernetes,
            ..
        } => {
            let options = kubernetes_options(config, kubernetes, options)?;
            options.examine_ambient(context).await
        }
        Backend::Virtual { .. } | Backend::Local(_) | Backend::Component(_) => {
            let sandbox = Sandbox::open_ambient(config, options)?;
            let report = Report::of(&sandbox.describe());
            sandbox.close().await?;
            Ok(report)
        }
    }
}
