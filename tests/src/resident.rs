//! A resident in a process of its own on this machine, as a backend.

use std::{
    io,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use belljar_contract::{
    Backend, Context, Error, ErrorKind, Operation, Request, Response, Result, async_trait,
    blocking::{self, SpawnThread},
    session::{Capability, Description, Limits, PolicySummary},
};
use belljar_protocol::{Client, Stream, message::Open};

/// A session over the standard input and output of a resident that was started for it.
pub struct ResidentProcess {
    client: Arc<Client>,
    child: Mutex<Child>,
    description: Arc<Description>,
}

impl ResidentProcess {
    /// Starts a resident, the program without its arguments and in the environment that it is to have, and opens a
    /// session on a directory.
    ///
    /// # Errors
    /// When it does not start, or does not open the session.
    pub fn open(mut program: Command, directory: &Path) -> io::Result<Arc<Self>> {
        let root = std::fs::canonicalize(directory)?;
        let root = root
            .to_str()
            .ok_or_else(|| io::Error::other("not UTF-8"))?
            .to_owned();
        let mut child = program
            .arg("stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the pipes are not there"));
        };
        let limits = Limits::default();
        let open = Open {
            root: root.clone(),
            variables: Vec::new(),
            limits,
            silence: None,
        };
        let context = Context::new().with_timeout(Duration::from_secs(20));
        let stream = Stream::new(output.into(), input.into());
        let (client, opened) = Client::open(&context, stream, &open).map_err(io::Error::other)?;
        let description = Description {
            backend: "resident".to_owned(),
            root,
            process_root: None,
            writable: opened.writable,
            durable: true,
            capabilities: vec![
                Capability::Read,
                Capability::Write,
                Capability::Run,
                Capability::Start,
                Capability::Modes,
                Capability::Links,
                Capability::RawNames,
            ],
            limits,
            policy: PolicySummary::default(),
            instructions: "Your workspace is a directory.".to_owned(),
            hardening_gaps: opened.gaps,
        };
        Ok(Arc::new(Self {
            client: Arc::new(client),
            child: Mutex::new(child),
            description: Arc::new(description),
        }))
    }
}

#[async_trait]
impl Backend for ResidentProcess {
    fn describe(&self) -> Arc<Description> {
        Arc::clone(&self.description)
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        let (client, context) = (Arc::clone(&self.client), context.clone());
        blocking::run(&SpawnThread, move || client.call(&context, request))
            .await
            .unwrap_or_else(|| Err(Error::new(ErrorKind::Busy, operation, "no thread")))
    }

    async fn close(&self) -> Result<()> {
        self.client.close(Duration::from_secs(5));
        let ended = self
            .child
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .wait();
        match ended {
            Ok(status) if status.success() => Ok(()),
            other => Err(Error::new(
                ErrorKind::BackendFailed,
                Operation::Close,
                format!("the resident ended with {other:?}"),
            )),
        }
    }
}

impl Drop for ResidentProcess {
    fn drop(&mut self) {
        self.client.close(Duration::from_secs(5));
        // Where it does not end by itself the test that dropped it hangs, and says so by its time limit.
        let _ = self
            .child
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .wait();
    }
}
