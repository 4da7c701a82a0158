//! How the backend is opened, and what is said of it.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use belljar_contract::{
    Cancellation, Context, Operation, Result,
    session::{Capability, Description, Limits, PolicySummary},
};

use super::{
    Exec, PosixBackend, PosixGap,
    place::Found,
    shell::{self, Shell, answer, words},
};

/// How long the first look at a place may take.
const PROBE: Duration = Duration::from_secs(20);

/// How a [`PosixBackend`] is opened, and what its description says.
#[derive(Clone)]
pub struct PosixOptions {
    /// The mechanism's name: `container`, `remote`.
    pub backend: String,
    /// The workspace's root in the place: absolute and normal.
    pub root: String,
    /// Whether anything may be changed.
    pub writable: bool,
    /// Whether the workspace outlives the session.
    pub durable: bool,
    /// Whether programs can run as other users.
    pub users: bool,
    /// More variables for every process; they replace the documented defaults.
    pub environment: BTreeMap<String, String>,
    /// The numbers in force.
    pub limits: Limits,
    /// A few sentences for an agent.
    pub instructions: String,
    /// What is weaker than was asked for, besides what this way itself lacks.
    pub hardening_gaps: Vec<String>,
}

impl fmt::Debug for PosixOptions {
    /// Leaves out the variables' values: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PosixOptions")
            .field("backend", &self.backend)
            .field("root", &self.root)
            .field("writable", &self.writable)
            .field("durable", &self.durable)
            .field("users", &self.users)
            .field("environment", &self.environment.keys())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl PosixOptions {
    /// Looks at the place once, by one program, and makes the backend.
    ///
    /// # Errors
    /// `backend-unavailable` and `backend-failed` when the place does not answer, `not-found` when the root is not
    /// there, `unsupported` when a utility is missing; the message names it.
    pub async fn open(self, context: &Context, exec: Arc<dyn Exec>) -> Result<PosixBackend> {
        let operation = Operation::Open;
        let mut shell = Shell {
            exec,
            base: String::new(),
        };
        let context = context.with_timeout(PROBE);
        let argv = words(&["sh", "-c", shell::PROBE, "sh", &self.root]);
        let execution = shell.run(&context, argv, Vec::new(), 16 << 10).await;
        let answer = execution
            .and_then(|execution| answer(&execution, 16 << 10))
            .map_err(|fault| fault.during(operation))?;
        let found = Found::parse(&answer.body, &self.root)?;
        shell.base = found.root.trim_end_matches('/').to_owned();
        let gaps = PosixGap::of(&found);
        let processes = usize::try_from(self.limits.processes).unwrap_or(usize::MAX);
        Ok(PosixBackend {
            description: Arc::new(self.describe(&found, &gaps)),
            gaps,
            shell,
            environment: self.environment,
            witness: found.witness,
            has_fractions: found.has_fractions,
            changes: tokio::sync::Mutex::default(),
            running: tokio::sync::Semaphore::new(
                processes.min(tokio::sync::Semaphore::MAX_PERMITS),
            ),
            ending: Cancellation::default(),
        })
    }

    fn describe(&self, found: &Found, gaps: &[PosixGap]) -> Description {
        let mut capabilities = vec![
            Capability::Read,
            Capability::Modes,
            Capability::Links,
            Capability::RawNames,
        ];
        if found.has_proc {
            capabilities.push(Capability::Run);
        }
        if self.users && found.has_proc {
            capabilities.push(Capability::User);
        }
        if self.writable {
            capabilities.push(Capability::Write);
        }
        capabilities.sort_unstable();
        let weaker = self.hardening_gaps.iter().cloned();
        let lacking = gaps.iter().map(ToString::to_string);
        Description {
            backend: self.backend.clone(),
            root: self.root.clone(),
            process_root: (found.root != self.root).then(|| found.root.clone()),
            writable: self.writable,
            durable: self.durable,
            capabilities,
            limits: self.limits,
            policy: PolicySummary::default(),
            instructions: self.instructions.clone(),
            hardening_gaps: weaker.chain(lacking).collect(),
        }
    }
}
