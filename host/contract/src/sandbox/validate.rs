//! Where arguments become the parts of a valid request, or an error that names them.

use std::{collections::BTreeMap, time::Duration};

use super::{
    Sandbox,
    options::{RunOptions, ScopeOptions},
};
use crate::{
    error::{Error, ErrorKind, Result},
    path::{GuestPath, PathError, Pattern},
    processes::Command,
    request::{Launch, Operation, Scope},
    session::Capability,
};

impl Sandbox {
    pub(super) fn path(&self, operation: Operation, text: &str) -> Result<GuestPath> {
        GuestPath::parse(text, &self.describe().root)
            .map_err(|error| bad_path(operation, text, error))
    }

    pub(super) fn pattern(&self, operation: Operation, text: &str) -> Result<Pattern> {
        Pattern::parse(text).map_err(|error| bad_path(operation, text, error))
    }

    pub(super) fn change(
        &self,
        operation: Operation,
        path: &str,
        bytes: Vec<u8>,
    ) -> Result<(GuestPath, Vec<u8>)> {
        let parsed = self.path(operation, path)?;
        let description = self.describe();
        if !description.writable {
            return Err(
                Error::new(ErrorKind::ReadOnly, operation, "this sandbox is read-only").at(path),
            );
        }
        self.fits(operation, "the content", bytes.len() as u64)
            .map_err(|error| error.at(path))?;
        Ok((parsed, bytes))
    }

    pub(super) fn fits(&self, operation: Operation, what: &str, bytes: u64) -> Result<()> {
        let most = self.describe().limits.file_bytes;
        if bytes > most {
            let message = format!(
                "{what} is {bytes} bytes, over the session's {most}; use ranges and appends"
            );
            return Err(Error::new(ErrorKind::TooLarge, operation, message));
        }
        Ok(())
    }

    pub(super) fn fits_stdin(&self, operation: Operation, bytes: &[u8]) -> Result<()> {
        let most = self.describe().limits.stdin_bytes;
        if bytes.len() as u64 > most {
            let message = format!(
                "standard input is {} bytes, over the session's {most}",
                bytes.len()
            );
            return Err(Error::new(ErrorKind::TooLarge, operation, message));
        }
        Ok(())
    }

    pub(super) fn limit(&self, asked: Option<u32>) -> u32 {
        let most = self.describe().limits.results;
        asked.map_or(most, |asked| asked.min(most))
    }

    pub(super) fn scope(&self, operation: Operation, options: ScopeOptions) -> Result<Scope> {
        let base = match &options.base {
            Some(base) => self.path(operation, base)?,
            None => GuestPath::root(),
        };
        let ScopeOptions {
            hidden,
            ignored,
            limit,
            ..
        } = options;
        Ok(Scope {
            base,
            hidden,
            ignored,
            limit: self.limit(limit),
            within: Vec::new(),
        })
    }

    pub(super) fn launch(
        &self,
        operation: Operation,
        command: Command,
        options: RunOptions,
    ) -> Result<Launch> {
        let description = self.describe();
        let limits = &description.limits;
        let too_large = |message: String| Error::new(ErrorKind::TooLarge, operation, message);
        let arguments: &[String] = match &command {
            Command::Argv(argv) => argv,
            Command::Shell(text) => std::slice::from_ref(text),
        };
        if arguments.first().is_none_or(String::is_empty) {
            return Err(invalid(operation, "there is no program to run"));
        }
        if arguments.iter().any(|argument| argument.contains('\0')) {
            return Err(invalid(operation, "an argument has a NUL character"));
        }
        let environment: BTreeMap<String, String> = options.environment.into_iter().collect();
        for (name, value) in &environment {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                let message = format!(
                    "{name:?} is not a variable: a name is not empty and has no =, and nothing has a NUL"
                );
                return Err(invalid(operation, &message));
            }
        }
        let size = arguments
            .iter()
            .map(|argument| argument.len() + 1)
            .sum::<usize>()
            + environment
                .iter()
                .map(|(name, value)| name.len() + value.len() + 2)
                .sum::<usize>();
        if size as u64 > limits.argument_bytes {
            return Err(too_large(format!(
                "arguments and environment are {size} bytes, over the session's {}; use standard input",
                limits.argument_bytes
            )));
        }
        self.fits_stdin(operation, &options.stdin)?;
        let output_limit = options.output_limit.unwrap_or(limits.output_default);
        if output_limit > limits.output_maximum {
            return Err(too_large(format!(
                "the output limit is over the session's {} bytes",
                limits.output_maximum
            )));
        }
        if options.user.is_some() && !description.can(Capability::User) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                operation,
                "this backend runs processes as one user",
            ));
        }
        let timeout = match (options.timeout.map(Duration::from_millis), operation) {
            (Some(asked), _) if asked.is_zero() => {
                return Err(invalid(operation, "the time limit is zero"));
            }
            (Some(asked), Operation::Run) if asked > limits.timeout_maximum => {
                let most = limits.timeout_maximum.as_millis();
                return Err(invalid(
                    operation,
                    &format!("the time limit is over the session's {most} ms"),
                ));
            }
            (None, Operation::Run) => Some(limits.timeout_default),
            (asked, _) => asked,
        };
        let directory = match &options.directory {
            Some(directory) => self.path(operation, directory)?,
            None => GuestPath::root(),
        };
        Ok(Launch {
            command,
            directory,
            environment: environment.into_iter().collect(),
            stdin: options.stdin,
            user: options.user,
            timeout,
            output_limit,
        })
    }
}

pub(super) fn invalid(operation: Operation, message: &str) -> Error {
    Error::new(ErrorKind::InvalidArgument, operation, message)
}

fn bad_path(operation: Operation, text: &str, error: PathError) -> Error {
    // What is told back is bounded, whatever was sent.
    let shown: String = text.chars().take(200).collect();
    Error::new(error.kind(), operation, error.to_string())
        .at(shown)
        .because(error)
}

pub(super) fn not_root(operation: Operation, path: &GuestPath) -> Result<()> {
    if path.is_root() {
        return Err(invalid(operation, "the workspace's root cannot be moved or removed").at("."));
    }
    Ok(())
}
