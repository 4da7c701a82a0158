//! Starts a Pod, and opens a session in it.

use std::{os::fd::AsFd as _, os::unix::net::UnixStream, sync::Arc, time::Duration};

use belljar_contract::Context;
use belljar_protocol::{Client, Patience, Stream, message::Open};
use kube::api::PostParams;

use super::{
    KubernetesError, KubernetesFailure, KubernetesOptions, PodResident,
    classify::Asked,
    cluster::{Cluster, ask},
    examine,
    failure::Why,
    fate::PodFate,
    manifest::{self, OURS},
    marks::Marks,
    running::Running,
    stream::{self, Carrier},
    wait,
};
use crate::backends::{
    install::{self, Becoming},
    keeper::Keeper,
    lease,
    owner::Owner,
    resident::Resident,
};

/// How long a Pod that did not come to be may take to be removed.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long what carried a stream may take to say why that ended.
const SAY_WHY: Duration = Duration::from_secs(2);

/// Everything that is known before a Pod starts.
pub(super) struct Starter {
    pub(super) cluster: Arc<Cluster>,
    pub(super) options: KubernetesOptions,
    /// What can be copied into a Pod; none where nothing is to be.
    pub(super) residents: Vec<install::Resident>,
}

impl std::fmt::Debug for Starter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Starter")
            .field("cluster", &self.cluster)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Starter {
    /// Starts a Pod and opens a session in it, on this thread. With `ready` it is for a session that comes later.
    pub(super) fn start(&self, context: &Context, ready: bool) -> Result<Running, KubernetesError> {
        let limit = self.options.start_timeout;
        let bounded = context.with_timeout(limit);
        let session = lease::session_id()
            .map_err(|error| self.cluster.failed("-", (error.into(), String::new())))?;
        let pod = format!("belljar-{session}");
        let marks = Marks {
            session,
            owner: Some(Owner::this_ambient()),
            ready,
            lease: lease::lease_end(lease::seconds_since_1970(), self.options.lifetime),
        };
        self.make(&bounded, &pod, &marks).map_err(|why| {
            // What cannot be removed now ends by itself, and `prune` finds it.
            let _ = self.remove(&Context::new().with_timeout(REMOVE_TIMEOUT), &pod);
            let why = match why {
                // It was no limit of the caller's that ended it.
                (KubernetesFailure::Stopped(_), words) if context.check().is_ok() => {
                    (KubernetesFailure::TooLong { after: limit }, words)
                }
                why => why,
            };
            self.cluster.failed(&pod, why)
        })
    }

    fn make(&self, context: &Context, pod: &str, marks: &Marks) -> Result<Running, Why> {
        let pods = self.cluster.pods();
        let manifest = manifest::pod(&self.options, pod, marks);
        let (name, patience) = (pod.to_owned(), self.options.schedule_patience);
        let command = manifest::exec(&self.options);
        let (version, (socket, carrier)) = self.cluster.run(context, async move {
            let create = PostParams::default();
            let created = ask(Asked::pods("create"), pods.create(&create, &manifest)).await?;
            let version = wait::until_it_runs(&pods, &name, created, patience).await?;
            Ok((version, stream::open(pods, name, command).await?))
        })?;
        match self.meet(context, socket) {
            Ok(client) => {
                let resident = Resident::new(client);
                self.prove(context, &resident)?;
                let keeper = Keeper::start(&resident, self.options.keep_alive);
                Ok(Running::new(
                    Arc::clone(&self.cluster),
                    pod.to_owned(),
                    version,
                    resident,
                    carrier,
                    keeper,
                ))
            }
            Err(failure) => Err(self.why(failure, &carrier, pod)),
        }
    }

    /// Has the resident started where that is to be done, and opens a session with whoever answers.
    fn meet(&self, context: &Context, socket: UnixStream) -> Result<Client, KubernetesFailure> {
        let options = &self.options;
        if options.resident == PodResident::Copy {
            let becoming = Becoming {
                cache: Some(OURS),
                arguments: &manifest::attach(options),
            };
            let end = socket.as_fd();
            install::start(context, end, end, &self.residents, becoming)?;
        }
        let open = Open {
            root: options.cwd.clone(),
            variables: options.environment.clone().into_iter().collect(),
            limits: options.limits,
            silence: Some(options.silence()),
        };
        // A third of it until it is asked whether it lives: a question costs next to nothing.
        let quiet = options.patience / 3;
        let patience = Patience {
            quiet,
            silent: options.patience - quiet,
        };
        let stream = Stream::try_from(socket)?;
        let (client, opened) = Client::open_with(context, stream, &open, patience)?;
        match options.writable && !opened.writable {
            true => Err(KubernetesFailure::NotWritable),
            false => Ok(client),
        }
    }

    /// Lets a Pod pass that gives what is required, as its resident sees it, before any call is let through.
    fn prove(&self, context: &Context, resident: &Resident) -> Result<(), Why> {
        if self.options.require.is_empty() {
            return Ok(());
        }
        let lost = |error: belljar_contract::Error| {
            let how = error.to_string();
            KubernetesFailure::Lost { how }.silent()
        };
        let facts = resident.probe_here(context).map_err(lost)?;
        match examine::unmet(&self.options, &facts) {
            gaps if gaps.is_empty() => Ok(()),
            gaps => Err(KubernetesFailure::Unmet { gaps }.silent()),
        }
    }

    /// Why there is no session: where only the stream's end is known, the cluster says more.
    fn why(&self, failure: KubernetesFailure, carrier: &Carrier, pod: &str) -> Why {
        if matches!(failure, KubernetesFailure::Stopped(_)) {
            return (failure, carrier.words());
        }
        let bounded = Context::new().with_timeout(SAY_WHY);
        let ended = carrier.clone().ended();
        let _ = self.cluster.run(&bounded, async move {
            ended.await;
            Ok(())
        });
        let words = carrier.words();
        // A runtime's words for it, which the cluster passes on; there is no code for it.
        const MISSING: [&str; 2] = ["executable file not found", "no such file or directory"];
        let failure = match failure {
            KubernetesFailure::Lost { .. } if MISSING.iter().any(|text| words.contains(text)) => {
                KubernetesFailure::ProgramMissing
            }
            failure @ KubernetesFailure::Lost { .. } => match self.fate(pod) {
                PodFate::Runs | PodFate::Pending | PodFate::Unknown(_) => failure,
                fate => KubernetesFailure::Ended(Box::new(fate)),
            },
            failure => failure,
        };
        (failure, words)
    }
}
