//! The steps of a long task: a heading and the time for each, and what became of all at the end.

use std::time::{Duration, Instant};

use anyhow::Result;

/// Runs steps one after the other, until one fails.
pub(crate) struct Steps {
    total: usize,
    done: Vec<(&'static str, Duration, bool)>,
}

impl Steps {
    /// Makes a task of `total` steps.
    pub(crate) const fn new(total: usize) -> Self {
        Self {
            total,
            done: Vec::new(),
        }
    }

    /// Runs a step, unless one before it failed.
    pub(crate) fn step(&mut self, name: &'static str, step: impl FnOnce() -> Result<()>) {
        if self.failed().is_some() {
            return;
        }
        println!("\n== {}/{} {name}", self.done.len() + 1, self.total);
        let start = Instant::now();
        let result = step();
        let time = start.elapsed();
        if let Err(error) = &result {
            println!("error: {error:#}");
        }
        println!("-- {name}: {} ({})", word(result.is_ok()), seconds(time));
        self.done.push((name, time, result.is_ok()));
    }

    /// Prints what became of each step.
    pub(crate) fn summary(&self) {
        println!("\n== summary");
        for (name, time, succeeded) in &self.done {
            println!("{:>8}  {:<6}  {name}", seconds(*time), word(*succeeded));
        }
        let total = self.done.iter().map(|(_, time, _)| *time).sum();
        println!("{:>8}  in all", seconds(total));
    }

    /// The step that failed.
    pub(crate) fn failed(&self) -> Option<&'static str> {
        self.done
            .iter()
            .find_map(|(name, _, succeeded)| (!succeeded).then_some(*name))
    }
}

const fn word(succeeded: bool) -> &'static str {
    if succeeded { "ok" } else { "FAILED" }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_runs_after_a_failure() {
        let mut ran = Vec::new();
        let mut steps = Steps::new(3);
        steps.step("one", || {
            ran.push(1);
            Ok(())
        });
        steps.step("two", || anyhow::bail!("no"));
        steps.step("three", || {
            ran.push(3);
            Ok(())
        });
        assert_eq!(steps.failed(), Some("two"));
        assert_eq!(ran, [1]);
    }
}
