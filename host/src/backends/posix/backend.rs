//! The contract: which function a request is, and whose path its fault has.

use std::{collections::BTreeMap, fmt, sync::Arc};

use belljar_contract::{
    Backend, Cancellation, Context, GuestPath, Operation, Request, Response, Result, async_trait,
    session::Description,
};

use super::{
    PosixGap,
    fault::Fault,
    place::Witness,
    shell::{Shell, answer, words},
};

/// The contract over an [`Exec`](super::Exec).
pub struct PosixBackend {
    pub(super) shell: Shell,
    pub(super) description: Arc<Description>,
    pub(super) gaps: Vec<PosixGap>,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) witness: Witness,
    /// Whether `sleep` takes a part of a second.
    pub(super) has_fractions: bool,
    /// Held while a file is changed: a change that expects a version is more than one step.
    pub(super) changes: tokio::sync::Mutex<()>,
    pub(super) running: tokio::sync::Semaphore,
    pub(super) ending: Cancellation,
}

impl fmt::Debug for PosixBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PosixBackend")
            .field("description", &self.description)
            .finish_non_exhaustive()
    }
}

impl PosixBackend {
    /// What this place is weaker in.
    #[must_use]
    pub fn gaps(&self) -> &[PosixGap] {
        &self.gaps
    }

    /// What another script of the place's session says after its first line, which is `ok`.
    pub(in crate::backends) async fn tell(
        &self,
        context: &Context,
        script: &str,
        arguments: &[&str],
        limit: u64,
    ) -> Result<Vec<u8>> {
        let mut argv = words(&["sh", "-c", script, "sh"]);
        argv.extend(words(arguments));
        let execution = self.shell.run(context, argv, Vec::new(), limit).await;
        let answer = execution.and_then(|execution| answer(&execution, limit));
        match answer {
            Ok(answer) => Ok(answer.body),
            Err(fault) => Err(fault.during(Operation::Open)),
        }
    }

    pub(super) fn file_bytes(&self) -> u64 {
        self.description.limits.file_bytes
    }

    async fn answer(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        let at = |path: &GuestPath| {
            let path = path.clone();
            move |fault: Fault| fault.at(operation, path)
        };
        // Of two paths, the one that the fault is of.
        let of = |one: &GuestPath, two: &GuestPath| {
            let paths = [one.clone(), two.clone()];
            move |fault: Fault| {
                let second = usize::from(fault.is_of_second());
                fault.at(operation, &paths[second])
            }
        };
        context.check().map_err(|stop| stop.during(operation))?;
        match request {
            Request::Read { path } => {
                let content = self.read(context, &path).await;
                content.map(Response::Content).map_err(at(&path))
            }
            Request::ReadRange {
                path,
                offset,
                length,
            } => {
                let chunk = self.read_range(context, &path, offset, length).await;
                chunk.map(Response::Chunk).map_err(at(&path))
            }
            Request::Write {
                path,
                bytes,
                options,
            } => {
                let version = self.write(context, &path, &bytes, &options).await;
                version.map(Response::Version).map_err(at(&path))
            }
            Request::Append {
                path,
                bytes,
                options,
            } => {
                let version = self.append(context, &path, &bytes, &options).await;
                version.map(Response::Version).map_err(at(&path))
            }
            Request::Replace {
                path,
                old,
                new,
                options,
            } => {
                let replaced = self.replace(context, &path, &old, &new, &options).await;
                replaced.map(Response::Replaced).map_err(at(&path))
            }
            Request::List { path, limit } => {
                let listing = self.list(context, &path, limit).await;
                listing.map(Response::Listing).map_err(at(&path))
            }
            Request::Glob { pattern, scope } => {
                let found = self.glob(context, &pattern, &scope).await;
                found.map(Response::Glob).map_err(at(&scope.base))
            }
            Request::Search { query, scope } => {
                let found = self.search(context, &query, &scope).await;
                found.map(Response::Search).map_err(at(&scope.base))
            }
            Request::Stat { path } => {
                let info = self.stat(context, &path).await;
                info.map(Response::Info).map_err(at(&path))
            }
            Request::Resolve { path } => {
                let resolved = self.resolve(context, &path).await;
                let resolved = resolved.map(|(path, _)| Response::Path(path));
                resolved.map_err(at(&path))
            }
            Request::MakeDirectory { path } => {
                let made = self.make_directory(context, &path).await;
                made.map(|()| Response::Done).map_err(at(&path))
            }
            Request::Remove { path, recursive } => {
                let removed = self.remove(context, &path, recursive).await;
                removed.map(|()| Response::Done).map_err(at(&path))
            }
            Request::Rename {
                source,
                target,
                destination,
            } => {
                let renamed = self.rename(context, &source, &target, &destination).await;
                renamed
                    .map(|()| Response::Done)
                    .map_err(of(&source, &target))
            }
            Request::Copy {
                source,
                target,
                destination,
            } => {
                let version = self.copy(context, &source, &target, &destination).await;
                version.map(Response::Version).map_err(of(&source, &target))
            }
            Request::Run(launch) => {
                let directory = launch.directory.clone();
                let execution = self.run(context, launch).await;
                execution
                    .map(Response::Execution)
                    .map_err(|fault| match fault.names_path() {
                        true => fault.at(operation, directory),
                        false => fault.during(operation),
                    })
            }
            Request::FindCommands { names } => {
                let found = self.find_commands(context, names).await;
                found
                    .map(Response::Commands)
                    .map_err(|fault| fault.during(operation))
            }
            Request::Start(_)
            | Request::ReadOutput { .. }
            | Request::WriteInput { .. }
            | Request::Signal { .. }
            | Request::Wait { .. } => Err(Fault::NoStart.during(operation)),
        }
    }
}

#[async_trait]
impl Backend for PosixBackend {
    fn describe(&self) -> Arc<Description> {
        Arc::clone(&self.description)
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        self.answer(context, request).await
    }

    async fn close(&self) -> Result<()> {
        self.ending.cancel();
        // Each run gives its permit back when all of it has ended, or was given up.
        let all = self.description.limits.processes;
        let ended = self.running.acquire_many(all).await;
        drop(ended);
        self.running.close();
        Ok(())
    }
}
