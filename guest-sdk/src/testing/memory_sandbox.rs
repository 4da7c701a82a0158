//! A sandbox in memory, to put together in a test and to look at afterwards.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use belljar_contract::{
    GuestPath, Launch, Result, Sandbox,
    processes::Execution,
    session::{Capability, CommandInfo, Description, Limits, PolicySummary},
};

use super::{
    backend::MemoryBackend,
    script::Script,
    tree::{Node, Tree},
};

/// A sandbox in memory: all of the contract's `files`, without links and names that are not UTF-8, and the
/// processes that [`on_run`](Self::on_run) plays. Nothing of it touches the host.
///
/// What is put in before is there for every [`with_sandbox`](super::with_sandbox), and what a tool has done can be
/// looked at afterwards.
///
/// ```
/// use belljar_guest::{files, testing::{MemorySandbox, with_sandbox}};
///
/// let memory = MemorySandbox::new().file("a.txt", "one").directory("empty");
/// with_sandbox(&memory, || files::rename("a.txt", "empty/b.txt", files::Expected::Absent)).unwrap();
/// assert_eq!(memory.text("empty/b.txt").as_deref(), Some("one"));
/// assert_eq!(memory.text("a.txt"), None);
/// ```
#[derive(Debug)]
pub struct MemorySandbox {
    tree: Arc<Mutex<Tree>>,
    description: Description,
    script: Script,
    commands: BTreeMap<String, CommandInfo>,
}

impl Default for MemorySandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl MemorySandbox {
    /// Makes an empty sandbox with the contract's default limits, at `/workspace`.
    #[must_use]
    pub fn new() -> Self {
        let limits = Limits::default();
        Self {
            tree: Arc::default(),
            description: Description {
                backend: "memory".into(),
                root: "/workspace".into(),
                process_root: None,
                writable: true,
                durable: false,
                capabilities: vec![Capability::Read, Capability::Write, Capability::Modes],
                limits,
                policy: PolicySummary::default(),
                instructions: "A workspace in memory, for tests.".into(),
                hardening_gaps: Vec::new(),
            },
            script: Script::default(),
            commands: BTreeMap::new(),
        }
    }

    /// Adds a file, and the directories above it.
    ///
    /// # Panics
    /// The path is none of a file in this workspace.
    #[must_use]
    pub fn file(self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.file_with_mode(path, content, 0o644)
    }

    /// Adds a file with these permission bits.
    ///
    /// # Panics
    /// The path is none of a file in this workspace.
    #[must_use]
    #[expect(
        clippy::expect_used,
        clippy::panic,
        reason = "a test is wrong, and must say so"
    )]
    pub fn file_with_mode(self, path: &str, content: impl Into<Vec<u8>>, mode: u32) -> Self {
        let parsed = self.parse(path).expect("a path in the workspace");
        {
            let mut tree = self.tree();
            let made = parsed.parent().map(|parent| tree.make_directories(&parent));
            let free = matches!(tree.get(&parsed), Ok(None)) && !parsed.must_be_directory();
            match made {
                Some(Ok(())) if free => {
                    tree.put(&parsed, Node::file(content.into(), mode & 0o7777))
                }
                _ => panic!("{path} cannot be a file here"),
            }
        }
        self
    }

    /// Adds a directory, and those above it.
    ///
    /// # Panics
    /// The path is none of a directory in this workspace.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test is wrong, and must say so")]
    pub fn directory(self, path: &str) -> Self {
        let parsed = self.parse(path).expect("a path in the workspace");
        let made = self.tree().make_directories(&parsed);
        made.expect("a path of a directory");
        self
    }

    /// Changes the limits.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.description.limits);
        self
    }

    /// Lets nothing be changed from now on.
    #[must_use]
    pub const fn read_only(mut self) -> Self {
        self.description.writable = false;
        self
    }

    /// Plays every program by a function: it gets what is to be run, every default filled in, and says
    /// what came of it. Without a script the sandbox has no processes.
    #[must_use]
    pub fn on_run<E: Into<Execution>>(
        mut self,
        script: impl Fn(&Launch) -> Result<E> + Send + Sync + 'static,
    ) -> Self {
        self.script = Script::new(Arc::new(move |launch| script(launch).map(Into::into)));
        // In the contract's order.
        self.description.capabilities = vec![
            Capability::Read,
            Capability::Write,
            Capability::Run,
            Capability::Start,
            Capability::Modes,
        ];
        self
    }

    /// Lets `find-commands` find this command.
    #[must_use]
    pub fn command(mut self, name: &str, path: &str, version: Option<&str>) -> Self {
        let info = CommandInfo {
            name: name.to_owned(),
            path: Some(path.to_owned()),
            version: version.map(str::to_owned),
        };
        self.commands.insert(name.to_owned(), info);
        self
    }

    /// A session on this sandbox; sessions see one workspace.
    #[must_use]
    pub fn sandbox(&self) -> Sandbox {
        Sandbox::new(Arc::new(MemoryBackend::new(
            Arc::clone(&self.tree),
            Arc::new(self.description.clone()),
            self.script.clone(),
            self.commands.clone(),
        )))
    }

    /// The content of a file; none when there is no file.
    #[must_use]
    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let parsed = self.parse(path)?;
        let tree = self.tree();
        tree.existing(&parsed).ok()?.content.clone()
    }

    /// The content of a file as text; none when there is no file, or it is not UTF-8.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<String> {
        String::from_utf8(self.bytes(path)?).ok()
    }

    fn parse(&self, path: &str) -> Option<GuestPath> {
        GuestPath::parse(path, &self.description.root).ok()
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<&MemorySandbox> for Sandbox {
    fn from(memory: &MemorySandbox) -> Self {
        memory.sandbox()
    }
}
