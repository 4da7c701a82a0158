//! Loops that race: bounded by time, so that a slow sandbox takes part in them as well.

use std::time::Duration;

use belljar_contract::Context;

use crate::fixture::Fixture;

/// How long rounds go on beyond the least. A quick sandbox does all of them in a part of it, and a slow one with them
/// comes to its case's end in time.
const RACE: Duration = Duration::from_secs(10);

/// The rounds of a loop, counted from 0.
#[derive(Debug)]
pub struct Rounds {
    context: Context,
    until: Duration,
    done: usize,
    least: usize,
    most: usize,
}

impl Fixture {
    /// As many rounds as begin in time: at least `least`, at most `most`.
    #[must_use]
    pub fn rounds(&self, least: usize, most: usize) -> Rounds {
        let context = self.context().clone();
        Rounds {
            until: context.now().saturating_add(RACE),
            context,
            done: 0,
            least,
            most,
        }
    }
}

impl Iterator for Rounds {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let is_late = self.done >= self.least && self.context.now() > self.until;
        if self.done >= self.most || is_late {
            return None;
        }
        self.done += 1;
        Some(self.done - 1)
    }
}
