//! What a caller asks for beyond the contract's functions: to see a part only, and to follow no link.
//!
//! It is what layers ask of the backend below them, and a layer may be on the other machine: there a policy has judged
//! the paths that come here.

use std::sync::Arc;

use belljar::{
    Backend, Context, Description, Error, GuestPath, Operation, Pattern, Request, Response,
    Sandbox, async_trait,
};

/// How a call sees less than the session has.
#[derive(Clone, Debug, Default)]
pub(super) struct Narrowed {
    /// No link is followed on the way to any path.
    pub(super) no_links: bool,
    /// Walks see only what matches a glob of each list.
    pub(super) within: Vec<Vec<String>>,
}

impl Narrowed {
    /// The same session, so narrowed.
    pub(super) fn apply(&self, sandbox: &Sandbox, operation: Operation) -> Result<Sandbox, Error> {
        if !self.no_links && self.within.is_empty() {
            return Ok(sandbox.clone());
        }
        let pattern = |text: &String| {
            Pattern::parse(text).map_err(|error| {
                Error::new(error.kind(), operation, error.to_string())
                    .at(text.chars().take(200).collect::<String>())
                    .because(error)
            })
        };
        let list = |list: &Vec<String>| list.iter().map(pattern).collect();
        let within: Vec<Vec<Pattern>> = self.within.iter().map(list).collect::<Result<_, _>>()?;
        let no_links = self.no_links;
        Ok(sandbox.layered(|below| {
            Arc::new(Layer {
                below,
                no_links,
                within,
            })
        }))
    }
}

struct Layer {
    below: Arc<dyn Backend>,
    no_links: bool,
    within: Vec<Vec<Pattern>>,
}

#[async_trait]
impl Backend for Layer {
    fn describe(&self) -> Arc<Description> {
        self.below.describe()
    }

    async fn call(&self, context: &Context, mut request: Request) -> Result<Response, Error> {
        if let Request::Glob { scope, .. } | Request::Search { scope, .. } = &mut request {
            scope.within.extend(self.within.iter().cloned());
        }
        if self.no_links {
            for path in paths(&mut request) {
                *path = std::mem::replace(path, GuestPath::root()).without_links();
            }
        }
        self.below.call(context, request).await
    }

    async fn close(&self) -> Result<(), Error> {
        self.below.close().await
    }
}

/// Every path of a request.
fn paths(request: &mut Request) -> Vec<&mut GuestPath> {
    match request {
        Request::Read { path }
        | Request::ReadRange { path, .. }
        | Request::Write { path, .. }
        | Request::Append { path, .. }
        | Request::Replace { path, .. }
        | Request::List { path, .. }
        | Request::Stat { path }
        | Request::Resolve { path }
        | Request::MakeDirectory { path }
        | Request::Remove { path, .. } => vec![path],
        Request::Rename { source, target, .. } | Request::Copy { source, target, .. } => {
            vec![source, target]
        }
        Request::Glob { scope, .. } | Request::Search { scope, .. } => vec![&mut scope.base],
        Request::Run(launch) | Request::Start(launch) => vec![&mut launch.directory],
        Request::ReadOutput { .. }
        | Request::WriteInput { .. }
        | Request::Signal { .. }
        | Request::Wait { .. }
        | Request::FindCommands { .. } => Vec::new(),
    }
}
