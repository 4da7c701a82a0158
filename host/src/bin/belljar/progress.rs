//! A tool's progress, for a person who watches.

use std::sync::Arc;

use belljar::{LogLevel, Progress, ProgressSink};

use crate::output::Output;

/// Prints progress and log lines on standard error; none when nobody watches.
pub(crate) fn sink(output: Output) -> Option<ProgressSink> {
    if !output.is_watched() {
        return None;
    }
    Some(Arc::new(move |progress| output.note(&line(&progress))))
}

fn line(progress: &Progress) -> String {
    match progress {
        Progress::Report {
            done,
            total: Some(total),
            message,
        } => format!("[{done}/{total}] {message}"),
        Progress::Report { done, message, .. } => format!("[{done}] {message}"),
        Progress::Log { level, message } => match level {
            LogLevel::Debug => format!("debug: {message}"),
            LogLevel::Info => format!("info: {message}"),
            LogLevel::Warn => format!("warning: {message}"),
            LogLevel::Error => format!("tool error: {message}"),
        },
    }
}
