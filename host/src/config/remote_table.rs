//! Interprets the `[sandbox.remote]` table.

use std::{collections::BTreeMap, time::Duration};

use toml::Spanned;

use super::{
    document::Remote,
    interpret::Reading,
    quantity::{self, DurationValue},
    remote::{COMMAND, COMMAND_MISSING, ROOT, ROOT_MISSING, RemoteConfig},
};

/// Reads the table; `offset` is where the backend was chosen, for what is missing.
pub(super) fn read(
    reading: &mut Reading<'_>,
    table: Option<&Spanned<Remote>>,
    offset: usize,
) -> RemoteConfig {
    let Some(table) = table else {
        reading.missing(COMMAND, offset, COMMAND_MISSING);
        reading.missing(ROOT, offset, ROOT_MISSING);
        return RemoteConfig::default();
    };
    let offset = table.span().start;
    let table = table.get_ref();
    let mut of = Table { reading };
    RemoteConfig {
        command: of.command(table, offset),
        root: of.root(table, offset),
        install: table.install.unwrap_or(false),
        connect_timeout: of.duration("connect-timeout", table.connect_timeout.as_ref()),
        patience: of.duration("patience", table.patience.as_ref()),
        keep_alive: of.duration("keep-alive", table.keep_alive.as_ref()),
        environment: of.environment(table),
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

    fn command(&mut self, table: &Remote, offset: usize) -> Vec<String> {
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
                match path.map(|path| path.into_os_string().into_string()) {
                    Some(Ok(path)) => command.push(path),
                    Some(Err(_)) => {
                        let message = "the folder of this file is not UTF-8".to_owned();
                        self.bad("command", word, message);
                    }
                    None => {}
                }
            } else {
                command.push(text.clone());
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

    fn environment(&mut self, table: &Remote) -> BTreeMap<String, String> {
        for (name, value) in &table.environment {
            let text = name.get_ref();
            if text.is_empty() || text.contains(['=', '\0']) || value.contains('\0') {
                let message =
                    "not a variable: a name is not empty and has no =, and nothing has a NUL";
                self.bad(&format!("environment.{text}"), name, message.to_owned());
            }
        }
        let variables = table.environment.iter();
        variables
            .map(|(name, value)| (name.get_ref().clone(), value.clone()))
            .collect()
    }
}
