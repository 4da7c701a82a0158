//! How many tests passed, failed and were skipped, from what the test runners print.
//!
//! Both runners print a summary that people read and that has not changed for years; their
//! machine-readable forms are experimental. A run whose summary cannot be found is an error, so
//! that a change there is noticed.

use std::{fmt, ops::AddAssign};

/// Counts of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Tally {
    /// Reads a line that sums up: `Summary [ 0.1s] 3 tests run: 2 passed, 1 failed, 0 skipped` of
    /// nextest, or `test result: ok. 2 passed; 1 failed; 0 ignored; …` of libtest.
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        let line = line.trim_start();
        let counts = if line.starts_with("Summary [") {
            line.split_once(" run: ")?.1
        } else {
            line.strip_prefix("test result: ")?.split_once(". ")?.1
        };
        let mut tally = Self::default();
        // nextest explains some counts in parentheses: `2 passed (1 slow, 1 flaky), 0 skipped`.
        for part in outside_parentheses(counts).split([',', ';']) {
            let mut words = part.split_whitespace();
            let Some(count) = words.next().and_then(|word| word.parse::<u64>().ok()) else {
                continue;
            };
            match words.collect::<Vec<_>>().join(" ").as_str() {
                "passed" => tally.passed += count,
                "failed" | "timed out" | "exec failed" => tally.failed += count,
                "skipped" | "ignored" => tally.skipped += count,
                _ => {}
            }
        }
        Some(tally)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

fn outside_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    text.chars()
        .filter(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_runner_is_understood() {
        for (line, right) in [
            (
                "     Summary [   0.012s] 3 tests run: 2 passed, 1 failed, 4 skipped",
                Some((2, 1, 4)),
            ),
            (
                "     Summary [  70.012s] 9 tests run: 6 passed (1 slow, 2 flaky), 1 failed, 1 timed out, 1 exec failed, 0 skipped",
                Some((6, 3, 0)),
            ),
            (
                "     Summary [   0.012s] 1 test run: 1 passed, 0 skipped",
                Some((1, 0, 0)),
            ),
            (
                "     Summary [   0.5s] 2/9 tests run: 1 passed, 1 failed, 0 skipped",
                Some((1, 1, 0)),
            ),
            (
                "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.00s",
                Some((5, 0, 1)),
            ),
            (
                "test result: FAILED. 5 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
                Some((5, 2, 0)),
            ),
            ("test name ... ok", None),
            ("", None),
        ] {
            let right = right.map(|(passed, failed, skipped)| Tally {
                passed,
                failed,
                skipped,
            });
            assert_eq!(Tally::from_line(line), right, "{line}");
        }
    }

    #[test]
    fn the_last_line_is_plain() {
        let mut tally = Tally::default();
        tally += Tally {
            passed: 3,
            failed: 2,
            skipped: 1,
        };
        assert_eq!(tally.to_string(), "3 passed, 2 failed, 1 skipped");
    }
}
