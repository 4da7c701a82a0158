//! What stands ready, and what is to be done about it: no thread, no clock, no engine.

use std::{collections::VecDeque, time::Duration};

use super::PoolOptions;

#[derive(Debug)]
pub(super) struct State<T> {
    pub(super) ready: VecDeque<T>,
    /// Those that were found dead, to be removed.
    pub(super) dead: Vec<T>,
    /// How many are being started.
    starting: usize,
    /// When a session last asked for one, as [`Context::now`](belljar_contract::Context::now) counts.
    pub(super) asked: Duration,
    /// The last one did not start, and no session has asked since.
    pub(super) failed: bool,
    pub(super) closed: bool,
}

/// What the keeper is to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Work<T> {
    Start,
    Remove(Vec<T>),
    Leave,
}

impl<T> State<T> {
    pub(super) const fn new(now: Duration) -> Self {
        Self {
            ready: VecDeque::new(),
            dead: Vec::new(),
            starting: 0,
            asked: now,
            failed: false,
            closed: false,
        }
    }

    /// Takes the oldest, and notes that somebody asked.
    pub(super) fn take(&mut self, now: Duration) -> Option<T> {
        self.asked = now;
        self.failed = false;
        self.ready.pop_front()
    }

    /// Notes what came of a [`Work::Start`]; none when nothing did.
    pub(super) fn started(&mut self, item: Option<T>) {
        self.starting = self.starting.saturating_sub(1);
        self.failed |= item.is_none();
        self.ready.extend(item);
    }

    /// What is to be done; or how long there will be nothing, where that has an end.
    pub(super) fn next(
        &mut self,
        options: &PoolOptions,
        now: Duration,
    ) -> (Option<Work<T>>, Option<Duration>) {
        let mut remove = std::mem::take(&mut self.dead);
        let idle = now.saturating_sub(self.asked);
        if self.closed || idle >= options.idle {
            remove.extend(self.ready.drain(..));
        }
        if !remove.is_empty() {
            return (Some(Work::Remove(remove)), None);
        }
        if self.closed {
            return (Some(Work::Leave), None);
        }
        if idle >= options.idle {
            return (None, None);
        }
        let missing = self.ready.len() + self.starting < options.size as usize;
        if missing && !self.failed {
            self.starting += 1;
            return (Some(Work::Start), None);
        }
        (None, Some(options.idle - idle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: PoolOptions = PoolOptions {
        size: 2,
        idle: Duration::from_secs(60),
    };

    fn filled(now: Duration) -> State<u32> {
        let mut state = State::new(now);
        state.ready.extend([1, 2]);
        state
    }

    fn work(state: &mut State<u32>, now: Duration) -> Option<Work<u32>> {
        state.next(&OPTIONS, now).0
    }

    #[test]
    fn it_is_filled_and_then_waits_until_nobody_asked_for_long() {
        let now = Duration::ZERO;
        let mut state = State::new(now);
        for container in [1, 2] {
            assert_eq!(work(&mut state, now), Some(Work::Start));
            state.started(Some(container));
        }
        let later = now + Duration::from_secs(20);
        let left = Duration::from_secs(40);
        assert_eq!(state.next(&OPTIONS, later), (None, Some(left)));
        assert_eq!(state.take(later), Some(1), "the oldest");
        assert_eq!(work(&mut state, later), Some(Work::Start));
    }

    #[test]
    fn several_are_started_at_once_and_no_more_than_are_missing() {
        let now = Duration::ZERO;
        let mut state: State<u32> = State::new(now);
        assert_eq!(work(&mut state, now), Some(Work::Start));
        assert_eq!(work(&mut state, now), Some(Work::Start));
        assert_eq!(work(&mut state, now), None);
        state.started(Some(1));
        assert_eq!(work(&mut state, now), None);
        // Where one failed, no other is tried until somebody asks.
        state.started(None);
        assert_eq!(work(&mut state, now), None);
        assert_eq!(state.take(now), Some(1));
        assert_eq!(work(&mut state, now), Some(Work::Start));
    }

    #[test]
    fn what_nobody_asks_for_is_removed_until_somebody_does() {
        let now = Duration::ZERO;
        let mut state = filled(now);
        let late = now + OPTIONS.idle;
        assert_eq!(work(&mut state, late), Some(Work::Remove(vec![1, 2])));
        assert_eq!(state.next(&OPTIONS, late), (None, None), "for ever");
        assert_eq!(state.take(late), None);
        assert_eq!(work(&mut state, late), Some(Work::Start));
    }

    #[test]
    fn what_does_not_start_is_not_tried_until_somebody_asks() {
        let now = Duration::ZERO;
        let mut state: State<u32> = State::new(now);
        state.failed = true;
        assert_eq!(work(&mut state, now), None);
        assert_eq!(state.take(now), None);
        assert_eq!(work(&mut state, now), Some(Work::Start));
    }

    #[test]
    fn what_is_dead_is_removed_first() {
        let now = Duration::ZERO;
        let mut state = filled(now);
        state.dead.extend(state.ready.pop_front());
        assert_eq!(work(&mut state, now), Some(Work::Remove(vec![1])));
        assert_eq!(work(&mut state, now), Some(Work::Start));
    }

    #[test]
    fn one_that_is_closed_removes_all_and_ends() {
        let now = Duration::ZERO;
        let mut state = filled(now);
        state.closed = true;
        assert_eq!(work(&mut state, now), Some(Work::Remove(vec![1, 2])));
        assert_eq!(work(&mut state, now), Some(Work::Leave));
    }
}
