//! The layer that holds tools to what was read.

use std::sync::Arc;

use belljar_contract::{
    Backend, Context, Error, ErrorKind, Expected, GuestPath, Operation, Request, Response, Result,
    Version, async_trait, session::Description,
};

use crate::layers::derived::Derived;

use super::{
    leave::Leave,
    state::{GuardState, Much},
};

/// What an agent is told.
const INSTRUCTIONS: &str = "A file that exists must have been read before it is changed.";

/// A backend that changes a file only in the version that was read through it, or through another
/// guard with the same [`GuardState`].
///
/// ```
/// use std::sync::Arc;
/// use belljar::{Backend, layers::{Guard, GuardState}};
///
/// fn guarded(backend: Arc<dyn Backend>) -> Arc<dyn Backend> {
///     Arc::new(Guard::new(backend, Arc::new(GuardState::default())))
/// }
/// # fn main() {}
/// ```
pub struct Guard {
    pub(super) below: Arc<dyn Backend>,
    pub(super) seen: Arc<GuardState>,
    described: Derived,
}

#[async_trait]
impl Backend for Guard {
    fn describe(&self) -> Arc<Description> {
        let below = self.below.describe();
        if !below.writable {
            return below;
        }
        self.described.of(below, |below| {
            let mut described = below.clone();
            let between = if below.instructions.is_empty() {
                ""
            } else {
                " "
            };
            described.instructions = format!("{}{between}{INSTRUCTIONS}", below.instructions);
            described
        })
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        match request {
            Request::Read { ref path } => {
                let path = path.clone();
                let answer = self.below.call(context, request).await?;
                if let Response::Content(content) = &answer {
                    self.seen.whole(path.as_str(), content.version.clone());
                }
                Ok(answer)
            }
            Request::ReadRange {
                ref path, offset, ..
            } => {
                let path = path.clone();
                let answer = self.below.call(context, request).await?;
                if let Response::Chunk(chunk) = &answer {
                    let end = offset.saturating_add(chunk.bytes.len() as u64);
                    let version = chunk.version.clone();
                    self.seen
                        .range(path.as_str(), version, (offset, end), chunk.size);
                }
                Ok(answer)
            }
            Request::Search { .. } => {
                let answer = self.below.call(context, request).await?;
                if let Response::Search(result) = &answer {
                    let named = |path: &&belljar_contract::files::Name| path.raw.is_none();
                    let mut paths: Vec<&str> = Vec::new();
                    for path in result.matches.iter().map(|found| &found.path).filter(named) {
                        // Matches of one file stand together.
                        if paths.last() != Some(&path.text.as_str()) {
                            paths.push(&path.text);
                        }
                    }
                    for path in paths {
                        self.seen.glimpse(path);
                    }
                }
                Ok(answer)
            }
            Request::Write { .. }
            | Request::Append { .. }
            | Request::Replace { .. }
            | Request::Copy { .. } => self.change(context, request).await,
            Request::Rename {
                source,
                target,
                destination,
            } => self.rename(context, source, target, destination).await,
            Request::Remove { ref path, .. } => {
                let path = path.clone();
                let answer = self.below.call(context, request).await?;
                self.seen.removed(path.as_str());
                Ok(answer)
            }
            Request::List { .. }
            | Request::Glob { .. }
            | Request::Stat { .. }
            | Request::Resolve { .. }
            | Request::MakeDirectory { .. }
            | Request::Run(_)
            | Request::Start(_)
            | Request::ReadOutput { .. }
            | Request::WriteInput { .. }
            | Request::Signal { .. }
            | Request::Wait { .. }
            | Request::FindCommands { .. } => self.below.call(context, request).await,
        }
    }

    async fn close(&self) -> Result<()> {
        self.below.close().await
    }
}

impl Guard {
    /// Guards a backend by what a session has read.
    #[must_use]
    pub fn new(below: Arc<dyn Backend>, seen: Arc<GuardState>) -> Self {
        Self {
            below,
            seen,
            described: Derived::default(),
        }
    }

    /// Changes a file that was read, or makes one.
    async fn change(&self, context: &Context, mut request: Request) -> Result<Response> {
        let operation = request.operation();
        let need = match operation {
            Operation::Append | Operation::Replace => Much::Part,
            _ => Much::Whole,
        };
        let (path, asked) = match expectation(&mut request) {
            Some((path, expected)) => (path.clone(), expected.clone()),
            None => return self.below.call(context, request).await,
        };
        let mut leave = None;
        if asked == Expected::Any
            && let Some(known) = self.seen.known(path.as_str())
            && known.much >= need
        {
            // Most likely the file is as it was when it was read under this name. If it is
            // not, another name of it may have been read, or written, since.
            let quick = Leave::known(known);
            match self.send(context, request.clone(), &path, &quick).await {
                Err(error) if error.kind == ErrorKind::Stale && quick.ours => {}
                answer => return answer,
            }
            leave = Some(quick);
        }
        let again = match asked {
            Expected::Absent => Leave {
                expected: Expected::Absent,
                much: Much::Whole,
                ours: false,
            },
            Expected::Version(version) => {
                self.leave_for(context, operation, &path, version, need)
                    .await?
            }
            Expected::Any => {
                let now = self.leave_now(context, operation, &path, need).await?;
                // Nothing was learnt that was not tried.
                if leave.is_some_and(|before| before.expected == now.expected) {
                    return Err(stale(operation, &path, CHANGED));
                }
                now
            }
        };
        let answer = self.send(context, request, &path, &again).await;
        match answer {
            Err(error) if again.ours => Err(self.explain(context, error, &path).await),
            answer => answer,
        }
    }

    /// Asks below, and remembers what came of it.
    async fn send(
        &self,
        context: &Context,
        mut request: Request,
        path: &GuestPath,
        leave: &Leave,
    ) -> Result<Response> {
        let operation = request.operation();
        if let Some((_, expected)) = expectation(&mut request) {
            *expected = leave.expected.clone();
        }
        let answer = self.below.call(context, request).await?;
        let version = match &answer {
            Response::Version(version) => version,
            Response::Replaced(replaced) => &replaced.version,
            _ => return Ok(answer),
        };
        let overwritten = matches!(operation, Operation::Write | Operation::Copy);
        match overwritten || leave.much == Much::Whole {
            true => self.seen.whole(path.as_str(), version.clone()),
            false => self.seen.part(path.as_str(), version.clone()),
        }
        Ok(answer)
    }

    /// Says what it means that the guard's expectation was not met.
    async fn explain(&self, context: &Context, error: Error, path: &GuestPath) -> Error {
        let operation = error.operation;
        match error.kind {
            ErrorKind::Stale => stale(operation, path, CHANGED),
            ErrorKind::AlreadyExists => {
                // Something is there that was not, or a link to nothing.
                match self.version(context, operation, path).await {
                    Err(now) if now.kind == ErrorKind::NotFound => now,
                    _ => stale(operation, path, "it exists by now, and has not been read"),
                }
            }
            _ => error,
        }
    }

    pub(super) async fn version(
        &self,
        context: &Context,
        operation: Operation,
        path: &GuestPath,
    ) -> Result<Version> {
        let request = Request::ReadRange {
            path: path.clone(),
            offset: 0,
            length: 0,
        };
        match self.below.call(context, request).await {
            Ok(Response::Chunk(chunk)) => Ok(chunk.version),
            Ok(_) => Err(mismatch(operation)),
            Err(error) => Err(error.during(operation)),
        }
    }

    pub(super) async fn resolve(
        &self,
        context: &Context,
        operation: Operation,
        path: &GuestPath,
    ) -> Result<GuestPath> {
        let path = path.clone();
        match self.below.call(context, Request::Resolve { path }).await {
            Ok(Response::Path(path)) => Ok(path),
            Ok(_) => Err(mismatch(operation)),
            Err(error) => Err(error.during(operation)),
        }
    }
}

pub(super) const CHANGED: &str = "it has changed since it was read; read it again";

pub(super) fn stale(operation: Operation, path: &GuestPath, why: &str) -> Error {
    Error::new(ErrorKind::Stale, operation, why).at(path.to_string())
}

fn mismatch(operation: Operation) -> Error {
    let message = "the backend gave a response of another operation";
    Error::new(ErrorKind::BackendFailed, operation, message)
}

/// The file that a request changes, and what it expects of it.
fn expectation(request: &mut Request) -> Option<(&GuestPath, &mut Expected)> {
    match request {
        Request::Write { path, options, .. } | Request::Append { path, options, .. } => {
            Some((path, &mut options.expected))
        }
        Request::Replace { path, options, .. } => Some((path, &mut options.expected)),
        Request::Copy {
            target,
            destination,
            ..
        } => Some((target, destination)),
        _ => None,
    }
}
