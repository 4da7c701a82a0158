//! From a configuration's text to its values.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Deserialize;
use toml::{Spanned, de::DeTable};

use crate::layers::{Policy, Rules};

#[cfg(feature = "kubernetes")]
use super::kubernetes_table;
#[cfg(feature = "registry")]
use super::registry_table;
use super::{
    Config, component_table, container_table,
    document::{Allow, BackendName, Document, Sandbox, Tool, VERSION, schema},
    error::{Notice, Problem, ProblemKind},
    limits,
    local_table::{self, NOT_A_VARIABLE, is_variable},
    place::Place,
    position::Position,
    programs_table, remote_table,
    sandbox::{Backend, SandboxConfig},
    structure,
    tool::{ToolConfig, name_problem},
};

/// The backends of this build.
#[cfg(not(feature = "kubernetes"))]
const BUILT: [&str; 5] = ["virtual", "local", "component", "container", "remote"];

/// Reads a configuration, or says everything that is wrong with it.
pub(super) fn read(text: &str, place: Place<'_>) -> Result<Config, Vec<Problem>> {
    let mut reading = Reading {
        text,
        place,
        problems: Vec::new(),
        notices: Vec::new(),
        whole: true,
    };
    let (mut table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let offset = error.span().map_or(0, |span| span.start);
        let kind = ProblemKind::Syntax(error.message().to_owned());
        reading.problem(String::new(), offset, kind);
    }
    // What a parser guesses behind an error would be a problem that nobody has.
    if !errors.is_empty() {
        return Err(reading.problems);
    }
    reading.problems = structure::check(text, table.get_mut(), &schema());
    reading.whole = reading.problems.is_empty();
    let document = match Document::deserialize(toml::de::Deserializer::from(table)) {
        Ok(document) => document,
        Err(error) => {
            let offset = error.span().map_or(0, |span| span.start);
            reading.bad(String::new(), offset, error.message().to_owned());
            return Err(reading.problems);
        }
    };
    let config = reading.document(&document);
    match reading.problems.is_empty() {
        true => Ok(Config {
            notices: reading.notices,
            ..config
        }),
        false => Err(reading.problems),
    }
}

/// A configuration that is being read: what was found on the way.
pub(super) struct Reading<'a> {
    text: &'a str,
    place: Place<'a>,
    problems: Vec<Problem>,
    notices: Vec<Notice>,
    /// Whether the structure is as it should be; otherwise what is missing may only be misspelt.
    whole: bool,
}

impl Reading<'_> {
    fn problem(&mut self, key: String, offset: usize, kind: ProblemKind) {
        let position = Some(Position::of(self.text, offset));
        self.problems.push(Problem {
            key,
            position,
            kind,
        });
    }

    pub(super) fn bad(&mut self, key: String, offset: usize, message: String) {
        self.problem(key, offset, ProblemKind::BadValue(message));
    }

    pub(super) fn notice(&mut self, key: String, offset: usize, message: String) {
        let position = Some(Position::of(self.text, offset));
        self.notices.push(Notice {
            key,
            position,
            message,
        });
    }

    pub(super) fn missing(&mut self, key: &str, offset: usize, what: &'static str) {
        if self.whole {
            self.problem(key.to_owned(), offset, ProblemKind::Missing(what));
        }
    }

    pub(super) fn path(&mut self, key: String, text: &Spanned<String>) -> Option<PathBuf> {
        match self.place.resolve(text.get_ref()) {
            Ok(path) => Some(path),
            Err(message) => {
                self.bad(key, text.span().start, message);
                None
            }
        }
    }

    fn document(&mut self, document: &Document) -> Config {
        match &document.version {
            None => self.missing("version", 0, "begin the file with version = 1"),
            Some(version) if *version.get_ref() != VERSION => {
                let kind = ProblemKind::Version {
                    known: VERSION,
                    found: *version.get_ref(),
                };
                self.problem("version".into(), version.span().start, kind);
            }
            Some(_) => {}
        }
        let sandbox = self.sandbox(&document.sandbox);
        let (limits, call_limits) = limits::read(self, &document.limits);
        let mut tools = BTreeMap::new();
        let mut tool_positions = BTreeMap::new();
        for (name, tool) in &document.tools {
            let offset = name.span().start;
            let name = name.get_ref();
            if let Some(message) = name_problem(name) {
                self.bad(format!("tools.{name}"), offset, message.to_owned());
            }
            tools.insert(name.clone(), self.tool(name, tool));
            tool_positions.insert(name.clone(), Position::of(self.text, offset));
        }
        Config {
            sandbox,
            limits,
            call_limits,
            #[cfg(feature = "registry")]
            registry: registry_table::read(self, &document.registry),
            tools,
            tool_positions,
            file: None,
            notices: Vec::new(),
        }
    }

    fn sandbox(&mut self, sandbox: &Sandbox) -> SandboxConfig {
        let name = sandbox.backend.as_ref();
        let offset = name.map_or(0, |name| name.span().start);
        let chosen = name.map_or(BackendName::Virtual, |name| *name.get_ref());
        let programs = match chosen {
            BackendName::Virtual => programs_table::read(self, sandbox.r#virtual.as_ref()),
            _ => BTreeMap::new(),
        };
        let mut backend = Backend::Virtual { programs };
        match chosen {
            BackendName::Virtual => {}
            BackendName::Local => {
                backend = Backend::Local(local_table::read(self, &sandbox.local, offset))
            }
            BackendName::Component => {
                let table = sandbox.component.as_ref();
                backend = Backend::Component(component_table::read(self, table, offset));
            }
            BackendName::Container => {
                let table = sandbox.container.as_ref();
                let (options, pool) = container_table::read(self, table, offset);
                backend = Backend::Container { options, pool };
            }
            #[cfg(feature = "kubernetes")]
            BackendName::Kubernetes => {
                let table = sandbox.kubernetes.as_ref();
                let (options, pool) = kubernetes_table::read(self, table, offset);
                let options = Box::new(options);
                backend = Backend::Kubernetes { options, pool };
            }
            #[cfg(not(feature = "kubernetes"))]
            BackendName::Kubernetes => {
                let not_built = ProblemKind::BackendNotBuilt {
                    backend: "kubernetes",
                    has: BUILT.to_vec(),
                };
                self.problem("sandbox.backend".to_owned(), offset, not_built);
            }
            BackendName::Remote => {
                let table = sandbox.remote.as_ref();
                backend = Backend::Remote(remote_table::read(self, table, offset));
            }
        }
        let programs = sandbox.r#virtual.as_ref();
        let programs = programs.filter(|_| !matches!(backend, Backend::Virtual { .. }));
        let container = sandbox.container.as_ref();
        let container = container.filter(|_| !matches!(backend, Backend::Container { .. }));
        let kubernetes = sandbox.kubernetes.as_ref();
        #[cfg(feature = "kubernetes")]
        let kubernetes = kubernetes.filter(|_| !matches!(backend, Backend::Kubernetes { .. }));
        let remote = sandbox.remote.as_ref();
        let remote = remote.filter(|_| !matches!(backend, Backend::Remote(_)));
        let component = sandbox.component.as_ref();
        let component = component.filter(|_| !matches!(backend, Backend::Component(_)));
        for (name, at) in [
            ("component", component.map(Spanned::span)),
            ("container", container.map(Spanned::span)),
            ("kubernetes", kubernetes.map(Spanned::span)),
            ("remote", remote.map(Spanned::span)),
            ("virtual", programs.map(Spanned::span)),
        ] {
            if let Some(at) = at {
                let message = "not looked at: another backend is chosen".to_owned();
                self.notice(format!("sandbox.{name}"), at.start, message);
            }
        }
        let workspace = sandbox.workspace.as_ref().and_then(|text| {
            if let Backend::Remote(_) = backend {
                let message = "the remote backend's workspace is a directory there; name it as root in [sandbox.remote]".to_owned();
                self.bad("sandbox.workspace".into(), text.span().start, message);
            }
            if let Backend::Component(_) = backend {
                let message = "the component backend's workspace is a directory elsewhere; where it is, the component's settings say".to_owned();
                self.bad("sandbox.workspace".into(), text.span().start, message);
            }
            #[cfg(feature = "kubernetes")]
            if let Backend::Kubernetes { .. } = backend {
                let message = "the kubernetes backend's workspace is a volume of its Pod; leave this out".to_owned();
                self.bad("sandbox.workspace".into(), text.span().start, message);
            }
            let path = self.path("sandbox.workspace".into(), text)?;
            if path.parent().is_none() {
                let message = "the workspace is the whole machine".to_owned();
                self.notice("sandbox.workspace".into(), text.span().start, message);
            }
            Some(path)
        });
        SandboxConfig {
            backend,
            workspace,
            // Who names a workspace means it to be worked in; a temporary one is of no use otherwise.
            writable: sandbox.writable.unwrap_or(true),
        }
    }

    /// The variables that a backend's table adds to those of processes.
    pub(super) fn environment(
        &mut self,
        backend: &str,
        variables: &BTreeMap<Spanned<String>, String>,
    ) -> BTreeMap<String, String> {
        let mut environment = BTreeMap::new();
        for (name, value) in variables {
            let offset = name.span().start;
            let name = name.get_ref();
            if !is_variable(name, value) {
                let key = format!("sandbox.{backend}.environment.{name}");
                self.bad(key, offset, NOT_A_VARIABLE.to_owned());
            }
            environment.insert(name.clone(), value.clone());
        }
        environment
    }

    fn tool(&mut self, name: &str, tool: &Tool) -> ToolConfig {
        let key = |of: &str| format!("tools.{name}.{of}");
        let defaults = ToolConfig::default();
        let component = tool
            .component
            .as_ref()
            .and_then(|text| self.path(key("component"), text));
        #[cfg(feature = "registry")]
        let reference = self.reference(key("reference"), tool);
        #[cfg(not(feature = "registry"))]
        self.reference(key("reference"), tool);
        let mut policy = match &tool.allow {
            None => defaults.policy,
            Some(allow) => {
                let allow = allow.get_ref();
                Policy {
                    read: allow.contains(&Allow::Read),
                    write: allow.contains(&Allow::Write),
                    run: allow.contains(&Allow::Run),
                    ..Policy::nothing()
                }
            }
        };
        policy.read_paths = self.globs(key("read"), "read", policy.read, tool.read.as_ref());
        policy.write_paths = self.globs(key("write"), "write", policy.write, tool.write.as_ref());
        if let Some(programs) = &tool.programs {
            self.allowed(key("programs"), "run", policy.run, programs.span().start);
            let mut names = Vec::new();
            for program in programs.get_ref() {
                if program.get_ref().is_empty() || program.get_ref().contains('\0') {
                    let message = "a program's name is not empty and has no NUL".to_owned();
                    self.bad(key("programs"), program.span().start, message);
                }
                names.push(program.get_ref().clone());
            }
            policy.programs = Some(names.into_iter().collect());
        }
        let bound = tool.read.as_ref().or(tool.write.as_ref());
        if let Some(bound) = bound.filter(|_| policy.run) {
            let message = "a program that the tool runs is not bound by paths".to_owned();
            self.notice(format!("tools.{name}"), bound.span().start, message);
        }
        ToolConfig {
            component,
            #[cfg(feature = "registry")]
            reference,
            policy,
            wasi: tool.wasi.unwrap_or(defaults.wasi),
            guard: tool.guard.unwrap_or(defaults.guard),
        }
    }

    #[cfg(feature = "registry")]
    fn reference(&mut self, key: String, tool: &Tool) -> Option<crate::registry::Reference> {
        let text = tool.reference.as_ref()?;
        if tool.component.is_some() {
            let message = "a tool has a component or a reference, and this has both".to_owned();
            self.bad(key, text.span().start, message);
            return None;
        }
        registry_table::reference(self, key, text)
    }

    /// Without registries a reference leads nowhere.
    #[cfg(not(feature = "registry"))]
    fn reference(&mut self, key: String, tool: &Tool) {
        if let Some(text) = &tool.reference {
            let message =
                "this build fetches nothing from registries; name a file as component".to_owned();
            self.bad(key, text.span().start, message);
        }
    }

    fn globs(
        &mut self,
        key: String,
        what: &str,
        allowed: bool,
        globs: Option<&Spanned<Vec<Spanned<String>>>>,
    ) -> Option<Rules> {
        let globs = globs?;
        self.allowed(key.clone(), what, allowed, globs.span().start);
        let mut texts = Vec::new();
        for glob in globs.get_ref() {
            // One at a time, so that each has its place.
            match Rules::new([glob.get_ref()]) {
                Ok(_) => texts.push(glob.get_ref()),
                Err(error) => self.bad(key.clone(), glob.span().start, with_source(&error)),
            }
        }
        match Rules::new(texts) {
            Ok(rules) => Some(rules),
            Err(error) => {
                self.bad(key, globs.span().start, error.to_string());
                None
            }
        }
    }

    /// A list that narrows what is not allowed at all is a grant that fits nothing.
    fn allowed(&mut self, key: String, what: &str, allowed: bool, offset: usize) {
        if !allowed {
            let message = format!("this does nothing without {what:?} in allow");
            self.bad(key, offset, message);
        }
    }
}

/// An error's message with what is behind it, since a problem is one line.
fn with_source(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
