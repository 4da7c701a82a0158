//! A walk that sees a part of the workspace only.

use std::sync::Arc;

use belljar::{
    Backend, Context, Description, Error, Operation, Pattern, Request, Response, Sandbox,
    async_trait,
};

/// The same session, whose walks see only what matches a glob of each list.
pub(super) fn narrowed(
    sandbox: &Sandbox,
    operation: Operation,
    within: &[Vec<String>],
) -> Result<Sandbox, Error> {
    if within.is_empty() {
        return Ok(sandbox.clone());
    }
    let pattern = |text: &String| {
        Pattern::parse(text).map_err(|error| {
            Error::new(error.kind(), operation, error.to_string())
                .at(text.chars().take(200).collect::<String>())
                .because(error)
        })
    };
    let lists = within
        .iter()
        .map(|list| list.iter().map(pattern).collect());
    let lists: Vec<Vec<Pattern>> = lists.collect::<Result<_, _>>()?;
    Ok(sandbox.layered(|below| Arc::new(Within { below, lists })))
}

struct Within {
    below: Arc<dyn Backend>,
    lists: Vec<Vec<Pattern>>,
}

#[async_trait]
impl Backend for Within {
    fn describe(&self) -> Arc<Description> {
        self.below.describe()
    }

    async fn call(&self, context: &Context, mut request: Request) -> Result<Response, Error> {
        if let Request::Glob { scope, .. } | Request::Search { scope, .. } = &mut request {
            scope.within.extend(self.lists.iter().cloned());
        }
        self.below.call(context, request).await
    }

    async fn close(&self) -> Result<(), Error> {
        self.below.close().await
    }
}
