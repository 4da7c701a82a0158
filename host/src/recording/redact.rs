//! What is left out of a recording.
//!
//! Every text and every sequence of bytes of a request and an answer is looked at, by matches that name each
//! field: what is new in the contract does not compile here until somebody has thought of it.

use std::fmt;

use belljar_contract::{
    Error, GuestPath, Launch, Pattern, Query, Request, Response, Scope,
    files::{Chunk, Content, Entry, Found, GlobResult, Line, Listing, Match, Name, SearchResult},
    processes::{Command, Execution, Output, OutputChunk},
    session::{CommandInfo, Description},
};

use super::format::{Answered, Begun, Ending};
use crate::runtime::ContentPart;

/// The shortest value that is taken for a secret, in bytes: shorter ones stand in texts by chance.
pub const MIN_SECRET_BYTES: usize = 8;

/// What must not stand in a recording, each with the name that stands in its place.
///
/// Values under [`MIN_SECRET_BYTES`] are ignored. The values are not in the `Debug` output.
#[derive(Clone, Default)]
pub struct Secrets(Vec<Secret>);

#[derive(Clone)]
struct Secret {
    value: String,
    instead: String,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|secret| &secret.instead);
        f.debug_list().entries(names).finish()
    }
}

impl<N: AsRef<str>, V: Into<String>> FromIterator<(N, V)> for Secrets {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(secrets: I) -> Self {
        let secret = |(name, value): (N, V)| Secret {
            value: value.into(),
            instead: format!("[secret {}]", name.as_ref()),
        };
        let mut all: Vec<Secret> = secrets.into_iter().map(secret).collect();
        all.retain(|secret| secret.value.len() >= MIN_SECRET_BYTES);
        // Of two that begin alike the longer one, so that nothing is left of it.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.value.len()));
        Self(all)
    }
}

impl Secrets {
    fn text(&self, text: &mut String) {
        for secret in &self.0 {
            if text.contains(&secret.value) {
                *text = text.replace(&secret.value, &secret.instead);
            }
        }
    }

    fn optional(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn texts(&self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| self.text(text));
    }

    fn bytes(&self, bytes: &mut Vec<u8>) {
        for secret in &self.0 {
            let value = secret.value.as_bytes();
            let mut rest = bytes.as_slice();
            let mut clean = Vec::new();
            while let Some(at) = memchr::memmem::find(rest, value) {
                clean.extend_from_slice(&rest[..at]);
                clean.extend_from_slice(secret.instead.as_bytes());
                rest = &rest[at + value.len()..];
            }
            if !clean.is_empty() {
                clean.extend_from_slice(rest);
                *bytes = clean;
            }
        }
    }

    fn path(&self, path: &mut GuestPath) {
        let before = String::from(path.clone());
        let mut after = before.clone();
        self.text(&mut after);
        if after != before {
            // A name can become too long by it.
            *path = GuestPath::try_from(after).unwrap_or_else(|_| GuestPath::root());
        }
    }

    fn pattern(&self, pattern: &mut Pattern) {
        let mut text = pattern.as_str().to_owned();
        self.text(&mut text);
        if text != pattern.as_str()
            && let Ok(clean) = Pattern::parse(&text).or_else(|_| Pattern::parse("[secret]"))
        {
            *pattern = clean;
        }
    }

    fn patterns(&self, patterns: &mut [Pattern]) {
        patterns
            .iter_mut()
            .for_each(|pattern| self.pattern(pattern));
    }

    pub(super) fn begun(&self, begun: &mut Begun) {
        let Begun {
            tool,
            arguments,
            sandbox,
        } = begun;
        self.text(tool);
        self.text(arguments);
        let Description {
            backend: _,
            root,
            process_root,
            writable: _,
            durable: _,
            capabilities: _,
            limits: _,
            policy,
            instructions,
            hardening_gaps,
        } = sandbox;
        self.text(root);
        self.optional(process_root);
        for globs in [&mut policy.read, &mut policy.write, &mut policy.programs] {
            self.texts(globs.as_deref_mut().unwrap_or_default());
        }
        self.text(instructions);
        self.texts(hardening_gaps);
    }

    pub(super) fn ending(&self, ending: &mut Ending) {
        match ending {
            Ending::Answer(answer) => {
                for part in &mut answer.content {
                    match part {
                        ContentPart::Text(text) => self.text(text),
                        ContentPart::Data {
                            media_type: _,
                            bytes,
                        } => self.bytes(bytes),
                    }
                }
                answer
                    .structured
                    .iter_mut()
                    .for_each(|value| self.value(value));
            }
            Ending::Failed { kind: _, message } => self.text(message),
        }
    }

    fn value(&self, value: &mut serde_json::Value) {
        match value {
            serde_json::Value::String(text) => self.text(text),
            serde_json::Value::Array(values) => {
                values.iter_mut().for_each(|value| self.value(value));
            }
            serde_json::Value::Object(fields) => {
                let old = std::mem::take(fields);
                fields.extend(old.into_iter().map(|(mut name, mut value)| {
                    self.text(&mut name);
                    self.value(&mut value);
                    (name, value)
                }));
            }
            serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {
            }
        }
    }

    pub(super) fn request(&self, request: &mut Request) {
        match request {
            Request::Read { path }
            | Request::ReadRange {
                path,
                offset: _,
                length: _,
            }
            | Request::List { path, limit: _ }
            | Request::Stat { path }
            | Request::Resolve { path }
            | Request::MakeDirectory { path }
            | Request::Remove { path, recursive: _ } => self.path(path),
            Request::Write {
                path,
                bytes,
                options: _,
            }
            | Request::Append {
                path,
                bytes,
                options: _,
            } => {
                self.path(path);
                self.bytes(bytes);
            }
            Request::Replace {
                path,
                old,
                new,
                options: _,
            } => {
                self.path(path);
                self.bytes(old);
                self.bytes(new);
            }
            Request::Glob { pattern, scope } => {
                self.pattern(pattern);
                self.scope(scope);
            }
            Request::Search { query, scope } => {
                let Query {
                    pattern,
                    syntax: _,
                    ignore_case: _,
                    include,
                    exclude,
                    context: _,
                } = query;
                self.text(pattern);
                self.patterns(include);
                self.patterns(exclude);
                self.scope(scope);
            }
            Request::Rename {
                source,
                target,
                destination: _,
            }
            | Request::Copy {
                source,
                target,
                destination: _,
            } => {
                self.path(source);
                self.path(target);
            }
            Request::Run(launch) | Request::Start(launch) => self.launch(launch),
            Request::WriteInput {
                process: _,
                bytes,
                close: _,
            } => self.bytes(bytes),
            Request::ReadOutput {
                process: _,
                output: _,
                cursor: _,
                limit: _,
                wait: _,
            }
            | Request::Signal {
                process: _,
                signal: _,
            }
            | Request::Wait {
                process: _,
                wait: _,
            } => {}
            Request::FindCommands { names } => self.texts(names),
        }
    }

    fn scope(&self, scope: &mut Scope) {
        let Scope {
            base,
            hidden: _,
            ignored: _,
            limit: _,
            within,
        } = scope;
        self.path(base);
        within.iter_mut().for_each(|globs| self.patterns(globs));
    }

    fn launch(&self, launch: &mut Launch) {
        let Launch {
            command,
            directory,
            environment,
            stdin,
            user,
            timeout: _,
            output_limit: _,
        } = launch;
        match command {
            Command::Argv(words) => self.texts(words),
            Command::Shell(text) => self.text(text),
        }
        self.path(directory);
        for (name, value) in environment {
            self.text(name);
            value.clear();
        }
        self.bytes(stdin);
        self.optional(user);
    }

    pub(super) fn answered(&self, answered: &mut Answered) {
        match answered {
            Answered::Ok(response) => self.response(response),
            Answered::Error(error) => self.error(error),
        }
    }

    fn error(&self, error: &mut Error) {
        self.optional(&mut error.path);
        self.text(&mut error.message);
    }

    fn response(&self, response: &mut Response) {
        match response {
            Response::Content(Content { bytes, version: _ })
            | Response::Chunk(Chunk {
                bytes,
                size: _,
                version: _,
            })
            | Response::Output(OutputChunk {
                bytes,
                cursor: _,
                dropped: _,
                ended: _,
            }) => self.bytes(bytes),
            Response::Listing(Listing { entries, total: _ }) => {
                for Entry {
                    name,
                    kind: _,
                    size: _,
                } in entries
                {
                    self.name(name);
                }
            }
            Response::Glob(GlobResult {
                paths,
                total: _,
                skipped: _,
            }) => {
                for Found { path, kind: _ } in paths {
                    self.name(path);
                }
            }
            Response::Search(SearchResult {
                matches,
                more: _,
                skipped: _,
            }) => matches.iter_mut().for_each(|found| self.found(found)),
            Response::Path(path) => self.path(path),
            Response::Execution(Execution {
                outcome: _,
                stdout,
                stderr,
                duration: _,
            }) => {
                for Output {
                    head,
                    tail,
                    dropped: _,
                } in [stdout, stderr]
                {
                    self.bytes(head);
                    self.bytes(tail);
                }
            }
            Response::Commands(commands) => {
                for CommandInfo {
                    name,
                    path,
                    version,
                } in commands
                {
                    self.text(name);
                    self.optional(path);
                    self.optional(version);
                }
            }
            Response::Version(_)
            | Response::Replaced(_)
            | Response::Info(_)
            | Response::Process(_)
            | Response::Ended(_)
            | Response::Done => {}
        }
    }

    fn name(&self, name: &mut Name) {
        let Name { text, raw } = name;
        self.text(text);
        if let Some(raw) = raw {
            self.bytes(raw);
        }
    }

    fn found(&self, found: &mut Match) {
        let Match {
            path,
            line_number: _,
            offset: _,
            line,
            before,
            after,
        } = found;
        self.name(path);
        for Line {
            text,
            lossy: _,
            dropped: _,
        } in [line].into_iter().chain(before).chain(after)
        {
            self.text(text);
        }
    }
}
