//! A loaded component and how its tools are called.

use std::{fmt, sync::Arc};

use belljar_contract::{Cancellation, session::Capability};

use crate::{
    layers::Policy,
    limits::CallLimits,
    recording::Recorder,
    runtime::{Answer, CallError, Component, Import, ProgressSink, ToolDescription, missing},
    sandbox::Sandbox,
};

/// The tools of one component, with the policy and limits that their calls have. Cheap to clone.
///
/// ```no_run
/// use belljar::{Host, HostOptions, Sandbox, WasiMode, backends::VirtualOptions};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let host = Host::new(HostOptions::default())?;
/// let coding = host.load_ambient("coding.wasm".as_ref(), WasiMode::Deny)?;
/// let sandbox = Sandbox::new(VirtualOptions::default().open_ambient()?);
/// let answer = coding.call(&sandbox, "write", r#"{"path": "a.txt", "content": "hello"}"#).await?;
/// println!("{}", answer.text());
/// sandbox.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Tool {
    component: Arc<Component>,
    policy: Policy,
    limits: CallLimits,
    most: CallLimits,
    guarded: bool,
    progress: Option<ProgressSink>,
    recorder: Option<Recorder>,
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.component.tools().map(|tool| &tool.name);
        f.debug_struct("Tool")
            .field("tools", &names.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// A tool of a component, and whether a sandbox has what it needs.
#[derive(Clone, Debug)]
pub struct Offer<'a> {
    /// The tool.
    pub tool: &'a ToolDescription,
    /// What it needs and the sandbox lacks; empty: the tool is offered.
    pub missing: Vec<Capability>,
}

impl Tool {
    pub(crate) fn new(component: Component, most: CallLimits) -> Self {
        Self {
            component: Arc::new(component),
            policy: Policy::default(),
            limits: CallLimits::default().within(&most),
            most,
            guarded: true,
            progress: None,
            recorder: None,
        }
    }

    /// The same tools with a policy, which narrows what a sandbox lets them do.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The same tools with other limits, no larger than the host's.
    #[must_use]
    pub fn with_limits(mut self, limits: CallLimits) -> Self {
        self.limits = limits.within(&self.most);
        self
    }

    /// The same tools with or without the clobber guard, which refuses to overwrite what no tool of
    /// the session has read. It is on unless an application says otherwise.
    #[must_use]
    pub const fn with_guard(mut self, guarded: bool) -> Self {
        self.guarded = guarded;
        self
    }

    /// The same tools with a place where their progress goes.
    #[must_use]
    pub fn with_progress(mut self, progress: ProgressSink) -> Self {
        self.progress = Some(progress);
        self
    }

    /// The same tools with what writes down what they ask and are answered. See [`recording`](crate::recording).
    #[must_use]
    pub fn with_recorder(mut self, recorder: Recorder) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// The tools as the component describes them.
    pub fn descriptions(&self) -> impl Iterator<Item = &ToolDescription> {
        self.component.tools()
    }

    /// What the component imports.
    #[must_use]
    pub fn imports(&self) -> &[Import] {
        self.component.imports()
    }

    /// The limits that a call has.
    #[must_use]
    pub const fn limits(&self) -> CallLimits {
        self.limits
    }

    /// Which tools this sandbox can be offered.
    #[must_use]
    pub fn offers(&self, sandbox: &Sandbox) -> Vec<Offer<'_>> {
        let view = sandbox.view(&self.policy, self.guarded);
        let offer = |tool| Offer {
            tool,
            missing: missing(tool, &view),
        };
        self.component.tools().map(offer).collect()
    }

    /// Calls a tool with a JSON object as its arguments, on a thread of its own. Dropping the
    /// future cancels the call.
    ///
    /// # Errors
    /// [`CallError`], whose kinds say whose it is.
    pub async fn call(
        &self,
        sandbox: &Sandbox,
        name: &str,
        arguments: &str,
    ) -> Result<Answer, CallError> {
        let context = sandbox.context().child();
        let cancel = CancelOnDrop(context.cancellation().clone());
        let (tool, sandbox) = (self.clone(), sandbox.within(context));
        let (name, arguments) = (name.to_owned(), arguments.to_owned());
        let call =
            tokio::task::spawn_blocking(move || tool.call_blocking(&sandbox, &name, &arguments));
        let answer = call.await.unwrap_or_else(|error| {
            Err(CallError::Host {
                reason: error.to_string(),
            })
        });
        drop(cancel);
        answer
    }

    /// Calls a tool on this thread, which it occupies until the call ends.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn call_blocking(
        &self,
        sandbox: &Sandbox,
        name: &str,
        arguments: &str,
    ) -> Result<Answer, CallError> {
        let view = sandbox.view(&self.policy, self.guarded);
        let call = |view| {
            let progress = self.progress.clone();
            self.component
                .call(view, name, arguments, self.limits, progress)
        };
        let Some(recorder) = &self.recorder else {
            return call(view);
        };
        let result = call(recorder.begin(&view, name, arguments));
        recorder.end(&result);
        result
    }
}

/// Cancels a call whose caller no longer waits.
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
