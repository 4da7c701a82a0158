//! What a run of the suite found.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", content = "message", rename_all = "kebab-case")]
pub enum Outcome {
    /// The sandbox does it.
    Passed,
    /// The sandbox does something else: what.
    Failed(String),
    /// It could not be tried: why.
    Skipped(String),
}

/// A case and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseReport {
    /// The case's name.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Wall-clock time in milliseconds, opening the sandbox included.
    pub milliseconds: u64,
}

/// What a run of the suite found: one JSON object.
///
/// ```
/// use std::time::Duration;
/// use belljar_conformance::{CaseReport, Outcome, Report};
///
/// let case = CaseReport::new("files.read/whole", Outcome::Passed, Duration::ZERO);
/// let report = Report::from(vec![case]);
/// assert_eq!((report.passed, report.failed, report.skipped), (1, 0, 0));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How many passed.
    pub passed: usize,
    /// How many failed.
    pub failed: usize,
    /// How many were skipped.
    pub skipped: usize,
    /// Each of them, in the suite's order.
    pub cases: Vec<CaseReport>,
}

impl CaseReport {
    /// Makes the report of one case.
    #[must_use]
    pub fn new(name: &str, outcome: Outcome, duration: Duration) -> Self {
        Self {
            name: name.to_owned(),
            outcome,
            milliseconds: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl From<Vec<CaseReport>> for Report {
    fn from(cases: Vec<CaseReport>) -> Self {
        let count = |wanted: fn(&Outcome) -> bool| {
            cases.iter().filter(|case| wanted(&case.outcome)).count()
        };
        Self {
            passed: count(|outcome| matches!(outcome, Outcome::Passed)),
            failed: count(|outcome| matches!(outcome, Outcome::Failed(_))),
            skipped: count(|outcome| matches!(outcome, Outcome::Skipped(_))),
            cases,
        }
    }
}
