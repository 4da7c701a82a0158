//! Programs that need no operating system, as a session has them: by name, and in command lines.
//!
//! A [`Program`] is a WASI command that a [`Host`](crate::Host) has loaded. A [`ProgramSet`] gives each a name, and is
//! what [`VirtualOptions::programs`](crate::backends::VirtualOptions::programs) takes. There is no shell among them;
//! of a shell's language the set itself understands a part (`script`), in which instances run side by side with
//! pipes between them.

mod arguments;
mod command;
mod expand;
mod files;
mod parse;
mod script;

use std::{collections::BTreeMap, fmt, sync::Arc};

use belljar_contract::processes::Command;
pub use belljar_workspace::processes::{NotPrepared, Prepared, Programs, Surroundings};

use self::{command::OneProgram, script::Script};
use crate::{CallLimits, runtime::LoadedProgram};

/// The name by which a command line is asked for: `sh -c TEXT`.
const SHELL: &str = "sh";

/// A program that was loaded. Cheap to clone.
#[derive(Clone)]
pub struct Program(Arc<LoadedProgram>);

impl Program {
    pub(crate) fn new(loaded: LoadedProgram) -> Self {
        Self(Arc::new(loaded))
    }

    /// What it imports of WASI: interfaces of a component, functions of a module.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        self.0.imports()
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Program").finish_non_exhaustive()
    }
}

/// Programs by name, with what each instance may use.
///
/// ```no_run
/// use std::sync::Arc;
/// use belljar::{
///     Host, HostOptions, RunOptions, Sandbox, backends::VirtualOptions, processes::Command,
///     programs::ProgramSet,
/// };
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let host = Host::new(HostOptions::default())?;
/// let jq = host.load_program_ambient("jq.wasm".as_ref())?;
/// let programs = ProgramSet::default().with("jq", jq);
/// let options = VirtualOptions { programs: Some(Arc::new(programs)), ..VirtualOptions::default() };
/// let sandbox = Sandbox::new(options.open_ambient()?);
/// let line = Command::Shell("jq .name package.json > name.txt".into());
/// println!("{:?}", sandbox.run(line, RunOptions::default()).await?.outcome);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct ProgramSet {
    programs: BTreeMap<String, Program>,
    limits: CallLimits,
}

impl ProgramSet {
    /// The same set with another program. One that has no name, or one with a `/`, cannot be called.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, program: Program) -> Self {
        self.programs.insert(name.into(), program);
        self
    }

    /// The same set, whose instances may each use so much memory and so many table elements. A host's own limits
    /// hold for them too.
    #[must_use]
    pub const fn with_limits(mut self, limits: CallLimits) -> Self {
        self.limits = limits;
        self
    }

    fn get(&self, name: &str) -> Option<&Program> {
        self.programs.get(name)
    }
}

impl Programs for ProgramSet {
    fn names(&self) -> Vec<String> {
        self.programs.keys().cloned().collect()
    }

    fn find(&self, name: &str) -> Option<String> {
        // Not `sh`: whoever looks for it wants a whole shell.
        self.programs.contains_key(name).then(|| name.to_owned())
    }

    fn prepare(&self, command: &Command) -> Result<Box<dyn Prepared>, NotPrepared> {
        let argv = match command {
            Command::Shell(text) => return self.script(text),
            Command::Argv(argv) => argv,
        };
        let name = argv.first().map_or("", String::as_str);
        match (self.get(name), argv.as_slice()) {
            (Some(program), _) => Ok(Box::new(OneProgram {
                program: program.clone(),
                arguments: argv.clone(),
                limits: self.limits,
            })),
            (None, [_, flag, text]) if name == SHELL && flag == "-c" => self.script(text),
            (None, _) if name == SHELL => Err(NotPrepared::Unsupported(
                "there is no shell here but sh -c TEXT, with no other argument".into(),
            )),
            (None, _) => Err(NotPrepared::NotFound {
                name: name.to_owned(),
                known: self.names(),
            }),
        }
    }
}

impl ProgramSet {
    fn script(&self, text: &str) -> Result<Box<dyn Prepared>, NotPrepared> {
        let lines = parse::parse(text)?;
        Ok(Box::new(Script::new(self.clone(), lines)))
    }
}
