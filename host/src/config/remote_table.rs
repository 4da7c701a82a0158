//! Interprets the `[sandbox.remote]` table.

use std::{ffi::OsString, time::Duration};

use toml::Spanned;

use super::{
    document::Remote,
    error::Problem,
    interpret::Reading,
    quantity::{self, DurationValue},
};
use crate::backends::RemoteOptions;

const COMMAND: &str = "sandbox.remote.command";
const COMMAND_MISSING: &str = "the remote backend has no default command; name one, as in command = [\"ssh\", \"-o\", \"BatchMode=yes\", \"build\", \"belljar-resident\", \"stdio\"]";
const ROOT: &str = "sandbox.remote.root";
const ROOT_MISSING: &str =
    "the remote backend has no default directory; name one, as in root = \"/home/ada/work\"";

/// What is wrong, whoever made it. What the backend itself refuses is said when it is opened.
pub(super) fn problems(options: &RemoteOptions) -> Vec<Problem> {
    let mut problems = Vec::new();
    if options.command.is_empty() {
        problems.push(Problem::missing(COMMAND, COMMAND_MISSING));
    }
    if options.root.is_empty() {
        problems.push(Problem::missing(ROOT, ROOT_MISSING));
    }
    problems
}

/// Reads the table; `offset` is where the backend was chosen, for what is missing.
pub(super) fn read(
    reading: &mut Reading<'_>,
    table: Option<&Spanned<Remote>>,
    offset: usize,
) -> RemoteOptions {
    let Some(table) = table else {
        reading.missing(COMMAND, offset, COMMAND_MISSING);
        reading.missing(ROOT, offset, ROOT_MISSING);
        return RemoteOptions::new([""; 0], "");
    };
    let offset = table.span().start;
    let table = table.get_ref();
    let mut of = Table { reading };
    let default = RemoteOptions::new(of.command(table, offset), of.root(table, offset));
    RemoteOptions {
        install: table.install.unwrap_or(default.install),
        connect_timeout: of
            .duration("connect-timeout", table.connect_timeout.as_ref())
            .unwrap_or(default.connect_timeout),
        patience: of
            .duration("patience", table.patience.as_ref())
            .unwrap_or(default.patience),
        keep_alive: of
            .duration("keep-alive", table.keep_alive.as_ref())
            .unwrap_or(default.keep_alive),
        environment: of.reading.environment("remote", &table.environment),
        ..default
    }
}

struct Table<'a, 'b> {
    reading: &'a mut Reading<'b>,
}

impl Table<'_, '_> {
    fn bad<V>(&mut self, key: &str, value: &Spanned<V>, message: String) {
        let key = format!("sandbox.remote.{key}");
        self.reading.bad(key, value.span().start, message);
    }

    fn command(&mut self, table: &Remote, offset: usize) -> Vec<OsString> {
        let Some(words) = &table.command else {
            self.reading.missing(COMMAND, offset, COMMAND_MISSING);
            return Vec::new();
        };
        if words.get_ref().is_empty() {
            let message = "a command begins with a program".to_owned();
            self.bad("command", words, message);
        }
        let mut command = Vec::new();
        for (at, word) in words.get_ref().iter().enumerate() {
            let text = word.get_ref();
            if text.contains('\0') {
                self.bad("command", word, "an argument has no NUL".to_owned());
            } else if at == 0 && text.is_empty() {
                let message = "a command begins with a program".to_owned();
                self.bad("command", word, message);
            } else if at == 0 && text.contains('/') {
                // A path of this machine, as every other in the file.
                let path = self.reading.path(COMMAND.to_owned(), word);
                command.extend(path.map(OsString::from));
            } else {
                command.push(text.into());
            }
        }
        command
    }

    fn root(&mut self, table: &Remote, offset: usize) -> String {
        let Some(root) = &table.root else {
            self.reading.missing(ROOT, offset, ROOT_MISSING);
            return String::new();
        };
        let text = root.get_ref();
        if !text.starts_with('/') || text.contains('\0') {
            let message = "a directory there is absolute: begin it with /".to_owned();
            self.bad("root", root, message);
        }
        text.clone()
    }

    fn duration(&mut self, key: &str, value: Option<&Spanned<DurationValue>>) -> Option<Duration> {
        let value = value?;
        match quantity::duration(&value.get_ref().0) {
            Ok(duration) if duration.is_zero() => {
                let message = "nothing happens in no time".to_owned();
                self.bad(key, value, message);
                None
            }
            Ok(duration) => Some(duration),
            Err(message) => {
                self.bad(key, value, message);
                None
            }
        }
    }
}
