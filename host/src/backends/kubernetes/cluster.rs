//! The way to a cluster: a client, and the thread on which it works.
//!
//! The client's library is asynchronous, and whoever uses ours may have no runtime, or one that stops while a session
//! still ends. So each cluster has a runtime of its own, with one thread.

use std::{future::Future, path::PathBuf, time::Duration};

use belljar_contract::{Context, Stop, blocking};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use tokio::runtime::{Builder, Runtime};

use super::{
    ClusterAccess, KubernetesError, KubernetesOptions,
    classify::{Asked, refused},
    failure::{KubernetesFailure, Why},
};

/// How long an API server may take to answer one question.
const ANSWER: Duration = Duration::from_secs(10);

/// How long it may take to be connected to.
const CONNECT: Duration = Duration::from_secs(10);

/// Why there is no way to a cluster.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterAccessError {
    /// A kubeconfig cannot be read, or lacks what was named.
    #[error("the kubeconfig {} cannot be used", Paths(paths))]
    Kubeconfig {
        /// Where it is.
        paths: Vec<PathBuf>,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A kubeconfig has a program log in.
    #[error(
        "the kubeconfig's user logs in by a program, which would run with the rights of this process; to allow it, set login-programs = true in [sandbox.kubernetes]"
    )]
    LoginProgram,
    /// This process runs in no Pod, or in one without a service account.
    #[error("this process is in no Pod with a service account")]
    NotInCluster(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What is known of the cluster makes no client.
    #[error("the way to the cluster cannot be prepared")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// There is no thread to work on.
    #[error("the cluster's client has no thread to work on")]
    Thread(#[source] std::io::Error),
}

struct Paths<'a>(&'a [PathBuf]);

impl std::fmt::Display for Paths<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, path) in self.0.iter().enumerate() {
            let before = if index == 0 { "" } else { ", " };
            write!(f, "{before}{}", path.display())?;
        }
        Ok(())
    }
}

/// The way to a cluster's Pods.
pub(super) struct Cluster {
    /// None only while it is dropped.
    runtime: Option<Runtime>,
    client: Client,
    namespace: String,
}

impl Cluster {
    /// Prepares the way, and asks nothing of the cluster.
    ///
    /// # Ambient authority
    /// Reads the kubeconfig and what it names: certificates, keys, tokens. Where that is allowed, runs the program
    /// with which it logs in. Where the process has no provider of cryptography for TLS yet, makes `ring` that one,
    /// since the client's library takes the process's.
    pub(super) fn open_ambient(options: &KubernetesOptions) -> Result<Self, ClusterAccessError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("belljar-cluster")
            .enable_all()
            .build()
            .map_err(ClusterAccessError::Thread)?;
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Another thread may have been first, with one that is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let (access, context) = (options.access.clone(), options.context.clone());
        let (programs, namespace) = (options.login_programs, options.namespace.clone());
        let prepared = async move {
            let mut config = config_ambient(&access, context).await?;
            let user = &config.auth_info;
            if !programs && (user.exec.is_some() || user.auth_provider.is_some()) {
                return Err(ClusterAccessError::LoginProgram);
            }
            config.connect_timeout = Some(CONNECT);
            let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
            let client = Client::try_from(config)
                .map_err(|error| ClusterAccessError::Client(Box::new(error)))?;
            Ok((client, namespace))
        };
        let (client, namespace) = match run(&runtime, &Context::new(), prepared) {
            Ok(prepared) => prepared?,
            Err(_) => {
                let message = "it was stopped";
                let error = std::io::Error::other(message);
                return Err(ClusterAccessError::Thread(error));
            }
        };
        Ok(Self {
            runtime: Some(runtime),
            client,
            namespace,
        })
    }

    pub(super) fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// The Pod's name, for people.
    pub(super) fn full_name(&self, pod: &str) -> String {
        format!("{}/{pod}", self.namespace)
    }

    /// An error of a Pod.
    pub(super) fn failed(&self, pod: &str, (failure, words): Why) -> KubernetesError {
        KubernetesError {
            pod: Some(self.full_name(pod)),
            failure,
            words,
        }
    }

    /// Works on the cluster's thread, and waits here, on a thread that may block.
    pub(super) fn run<T: Send + 'static>(
        &self,
        context: &Context,
        work: impl Future<Output = Result<T, Why>> + Send + 'static,
    ) -> Result<T, Why> {
        let stopped = |stop| KubernetesFailure::Stopped(stop).silent();
        match &self.runtime {
            Some(runtime) => run(runtime, context, work).unwrap_or_else(|stop| Err(stopped(stop))),
            None => Err(stopped(Stop::Cancelled)),
        }
    }

    /// Works on the cluster's thread, and waits for nothing.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            runtime.spawn(work);
        }
    }
}

impl Drop for Cluster {
    /// Waits for nothing, so that it may be dropped anywhere.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

fn run<T: Send + 'static>(
    runtime: &Runtime,
    context: &Context,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, Stop> {
    let mut task = runtime.spawn(work);
    match blocking::block_on(context, &mut task) {
        Ok(Ok(done)) => Ok(done),
        // It panicked, or the runtime ends.
        Ok(Err(_)) => Err(Stop::Cancelled),
        Err(stop) => {
            task.abort();
            Err(stop)
        }
    }
}

/// One question, which is answered in time or not at all.
pub(super) async fn ask<T>(
    asked: Asked,
    answer: impl Future<Output = Result<T, kube::Error>>,
) -> Result<T, Why> {
    match tokio::time::timeout(ANSWER, answer).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(refused(asked, &error)),
        Err(_) => Err(KubernetesFailure::Silent.silent()),
    }
}

async fn config_ambient(
    access: &ClusterAccess,
    context: Option<String>,
) -> Result<Config, ClusterAccessError> {
    let files = match access {
        ClusterAccess::InCluster => {
            // By its name, and not by the environment, which a library does not read.
            return Config::incluster_dns()
                .map_err(|error| ClusterAccessError::NotInCluster(Box::new(error)));
        }
        ClusterAccess::Kubeconfig(files) => files,
    };
    let unusable = |error: kube::config::KubeconfigError| ClusterAccessError::Kubeconfig {
        paths: files.clone(),
        source: Box::new(error),
    };
    let mut whole = Kubeconfig::default();
    for file in files {
        let one = Kubeconfig::read_from(file).map_err(unusable)?;
        whole = whole.merge(one).map_err(unusable)?;
    }
    let chosen = KubeConfigOptions {
        context,
        ..KubeConfigOptions::default()
    };
    Config::from_custom_kubeconfig(whole, &chosen)
        .await
        .map_err(unusable)
}
