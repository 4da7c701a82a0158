//! Opens a session only to see what it gives of what was asked.

use std::sync::Arc;

use belljar_contract::{Backend as _, Context};

use super::{
    super::{ExamineError, Report, Row, Standing},
    ContainerOptions,
    backend::ContainerBackend,
    by_shell::ShellSession,
    doctor, fall_back,
    options::TransportChoice,
    start::Starter,
};
use crate::backends::posix::PosixGap;

impl ContainerOptions {
    /// Starts a container, asks its resident what it sees, or its shell where it has none, removes it, and judges.
    ///
    /// The container is always a new one, whatever name the options have, so that nothing ran in it before; and
    /// it starts whatever is required, so that the report can say what is missing.
    ///
    /// # Ambient authority
    /// As [`open_ambient`](Self::open_ambient).
    ///
    /// # Errors
    /// [`ExamineError`] when the session does not open, the container does not start or cannot be removed.
    pub async fn examine_ambient(self, context: &Context) -> Result<Report, ExamineError> {
        let mut options = self;
        let require = std::mem::take(&mut options.require);
        options.name = None;
        options.reconnect = false;
        let (starter, description) = options.prepare_ambient()?;
        let (probed, closed, lacks, fall_back) = match starter.resident {
            Some(_) => {
                let session =
                    ContainerBackend::new(Arc::clone(&starter), Arc::clone(&description), None);
                let probed = session.probe(context).await;
                let closed = session.close().await;
                (probed, closed, Vec::new(), fall_back::weaknesses())
            }
            None => {
                let bounded = context.with_timeout(starter.options.start_timeout);
                let session =
                    ShellSession::open(&bounded, Arc::clone(&starter), &description).await?;
                let probed = session.facts(context).await;
                let closed = session.close().await;
                (probed, closed, session.gaps().to_vec(), Vec::new())
            }
        };
        let facts = probed?;
        closed?;
        let options = ContainerOptions {
            require,
            ..starter.options.clone()
        };
        let mut rows = doctor::rows(&options, &starter.expected, &facts);
        rows.extend(starter.resident.as_ref().map(|_| transport(&starter)));
        rows.extend(lacks.into_iter().map(row));
        Ok(Report {
            backend: description.backend.clone(),
            rows,
            fall_back,
        })
    }
}

/// How the resident was reached, and why so.
fn transport(starter: &Starter) -> Row {
    let reach = starter.reach();
    let why = match reach == starter.way.reach {
        true => starter.way.reason,
        false => "nobody came to the socket",
    };
    let (asked, standing) = match starter.options.transport {
        TransportChoice::Auto => ("the fastest", Standing::NotAsked),
        TransportChoice::Socket | TransportChoice::Stdio => (reach.as_str(), Standing::Held),
    };
    Row {
        guarantee: "transport".to_owned(),
        asked: asked.to_owned(),
        got: format!("{}: {why}", reach.as_str()),
        standing,
        gap: None,
        required: false,
    }
}

/// What a session by shell is weaker in, beside the guarantees.
fn row(gap: PosixGap) -> Row {
    Row {
        guarantee: gap.as_str().to_owned(),
        asked: "as by a resident".to_owned(),
        got: "weaker".to_owned(),
        standing: Standing::Missing,
        gap: Some(gap.message().to_owned()),
        required: false,
    }
}
