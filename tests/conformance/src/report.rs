//! What a run of the suite found.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The sandbox does it.
    Passed,
    /// The sandbox does something else: what.
    Failed(String),
    /// It could not be tried: why.
    Skipped(String),
}

/// A case and what became of it. In JSON: `name`, `outcome` (`passed`, `failed` or `skipped`), `message` (where
/// it did not pass), `milliseconds`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Flat", from = "Flat")]
pub struct CaseReport {
    /// The case's name.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Wall-clock time in milliseconds, opening the sandbox included.
    pub milliseconds: u64,
}

/// A case's report as JSON has it.
#[derive(Serialize, Deserialize)]
struct Flat {
    name: String,
    outcome: Word,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    milliseconds: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Passed,
    Failed,
    Skipped,
}

impl From<CaseReport> for Flat {
    fn from(case: CaseReport) -> Self {
        let (outcome, message) = match case.outcome {
            Outcome::Passed => (Word::Passed, None),
            Outcome::Failed(message) => (Word::Failed, Some(message)),
            Outcome::Skipped(message) => (Word::Skipped, Some(message)),
        };
        Self {
            name: case.name,
            outcome,
            message,
            milliseconds: case.milliseconds,
        }
    }
}

impl From<Flat> for CaseReport {
    fn from(flat: Flat) -> Self {
        let message = flat.message.unwrap_or_default();
        Self {
            name: flat.name,
            outcome: match flat.outcome {
                Word::Passed => Outcome::Passed,
                Word::Failed => Outcome::Failed(message),
                Word::Skipped => Outcome::Skipped(message),
            },
            milliseconds: flat.milliseconds,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_flat_in_json() {
        let passed = CaseReport::new("a", Outcome::Passed, Duration::from_millis(1));
        let skipped = CaseReport::new("b", Outcome::Skipped("no sh".to_owned()), Duration::ZERO);
        let report = Report::from(vec![passed, skipped]);
        let json = serde_json::to_value(&report).unwrap();
        let right = serde_json::json!({
            "passed": 1, "failed": 0, "skipped": 1,
            "cases": [
                { "name": "a", "outcome": "passed", "milliseconds": 1 },
                { "name": "b", "outcome": "skipped", "message": "no sh", "milliseconds": 0 },
            ],
        });
        assert_eq!(json, right);
        assert_eq!(serde_json::from_value::<Report>(json).unwrap(), report);
    }
}
