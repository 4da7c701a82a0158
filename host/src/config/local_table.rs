//! Interprets the `[sandbox.local]` table.

use super::{
    document::Local,
    error::{Problem, ProblemKind},
    interpret::Reading,
};
use crate::backends::LocalOptions;

const ALLOWED: &str = "sandbox.local.allow-host-processes";
const ALLOWED_MISSING: &str =
    "the local backend runs processes with the rights of this one; say true to allow it";
pub(super) const NOT_A_VARIABLE: &str =
    "not a variable: a name is not empty and has no =, and nothing has a NUL";

/// What is wrong, whoever made it.
pub(super) fn problems(options: &LocalOptions) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !options.allow_host_processes {
        problems.push(Problem::missing(ALLOWED, ALLOWED_MISSING));
    }
    for (name, value) in &options.environment {
        if !is_variable(name, value) {
            problems.push(Problem {
                key: format!("sandbox.local.environment.{name}"),
                position: None,
                kind: ProblemKind::BadValue(NOT_A_VARIABLE.into()),
            });
        }
    }
    problems
}

/// Whether a process can have this variable.
pub(super) fn is_variable(name: &str, value: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
}

/// Reads the table; `offset` is where the backend was chosen, for what is missing.
pub(super) fn read(reading: &mut Reading<'_>, table: &Local, offset: usize) -> LocalOptions {
    let allowed = table.allow_host_processes.as_ref();
    let allow_host_processes = allowed.is_some_and(|allowed| *allowed.get_ref());
    if !allow_host_processes {
        let offset = allowed.map_or(offset, |allowed| allowed.span().start);
        reading.missing(ALLOWED, offset, ALLOWED_MISSING);
    }
    let mut environment = reading.environment("local", &table.environment);
    if let Some(path) = &table.path {
        if path.get_ref().contains('\0') {
            let message = "the PATH has a NUL character".to_owned();
            reading.bad("sandbox.local.path".into(), path.span().start, message);
        }
        environment.insert("PATH".into(), path.get_ref().clone());
    }
    LocalOptions {
        allow_host_processes,
        environment,
        ..LocalOptions::default()
    }
}
