//! Which thread reads, which answer, and when there is one more.
//!
//! A thread that has read a request answers it, if another can read on: one that waits to read, or one more.
//! In a container every thread counts against its limit of processes, and at the limit there is not one more.
//! So some are made at the start and kept. What waits for something outside (a program to end, its
//! output) leaves two of them alone: one reads, and one does what has an end of its own, one after the
//! other when there are several. So files can be read and changed, and processes ended, whatever
//! programs take.

use std::{collections::VecDeque, sync::Mutex};

use crate::output::lock;

/// Threads that are kept while there is nothing to do.
const KEPT: usize = 4;
/// Threads that are never in a call that waits for something outside.
const RESERVED: usize = 2;

/// The threads of a session.
pub(super) struct Crew<T>(Mutex<State<T>>);

struct State<T> {
    threads: usize,
    /// Those that wait to read.
    waiting: usize,
    /// Those in calls that wait for something outside, and such calls in the queue.
    held: usize,
    /// What was read while every other thread answered something. Empty while one waits to read.
    queue: VecDeque<T>,
}

/// A call for a thread.
pub(super) trait Work {
    /// Whether it waits for something outside.
    fn waits(&self) -> bool;
}

/// Who answers a request that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Assigned<T> {
    /// The thread that read it: another reads on.
    Reader(T),
    /// The first that has answered what it has; the reader reads on.
    Later,
    /// Nobody.
    Nobody(T),
}

/// What a thread does that has answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<T> {
    /// Answers this.
    Answer(T),
    /// Waits to read.
    Read,
    /// Ends.
    End,
}

impl<T: Work> Crew<T> {
    /// Of the one thread that is there.
    pub(super) const fn new() -> Self {
        Self(Mutex::new(State {
            threads: 1,
            waiting: 1,
            held: 0,
            queue: VecDeque::new(),
        }))
    }

    /// Makes the threads that are kept; false when there would be none beside the one that reads. Every
    /// new thread waits to read first.
    pub(super) fn start(&self, mut one_more: impl FnMut() -> bool) -> bool {
        let mut state = lock(&self.0);
        while state.threads < KEPT && state.grow(&mut one_more) {}
        state.threads >= RESERVED
    }

    /// A thread has waited to read and now does.
    pub(super) fn reads(&self) {
        lock(&self.0).waiting -= 1;
    }

    /// Says who answers a request that this thread, which reads, has read.
    pub(super) fn assign(&self, task: T, mut one_more: impl FnMut() -> bool) -> Assigned<T> {
        let state = &mut *lock(&self.0);
        let waits = task.waits();
        if waits && state.threads - state.held <= RESERVED && !state.grow(&mut one_more) {
            return Assigned::Nobody(task);
        }
        state.held += usize::from(waits);
        if state.waiting > 0 || state.grow(&mut one_more) {
            return Assigned::Reader(task);
        }
        state.queue.push_back(task);
        Assigned::Later
    }

    /// Says what a thread does that has answered such a request.
    pub(super) fn answered(&self, waited: bool) -> Next<T> {
        let mut state = lock(&self.0);
        state.held -= usize::from(waited);
        if let Some(task) = state.queue.pop_front() {
            return Next::Answer(task);
        }
        if state.waiting >= KEPT {
            state.threads -= 1;
            return Next::End;
        }
        state.waiting += 1;
        Next::Read
    }

    /// Nobody waits for an answer any more.
    pub(super) fn drop_queue(&self) {
        lock(&self.0).queue.clear();
    }
}

impl<T> State<T> {
    fn grow(&mut self, one_more: &mut impl FnMut() -> bool) -> bool {
        let grown = one_more();
        self.threads += usize::from(grown);
        self.waiting += usize::from(grown);
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Call {
        /// Has an end of its own.
        Short(u32),
        /// Waits for something outside.
        Waits(u32),
    }
    use Call::{Short, Waits};

    impl Work for Call {
        fn waits(&self) -> bool {
            matches!(self, Waits(_))
        }
    }

    fn never() -> bool {
        false
    }

    /// With the threads that are kept, of which one reads, and never one more.
    fn at_the_limit() -> Crew<Call> {
        let crew = Crew::new();
        assert!(crew.start(|| true));
        crew.reads();
        crew
    }

    #[test]
    fn at_the_limit_short_calls_are_answered_one_after_the_other() {
        let crew = at_the_limit();
        for call in 0..3 {
            assert_eq!(
                crew.assign(Short(call), never),
                Assigned::Reader(Short(call))
            );
            crew.reads();
        }
        assert_eq!(crew.assign(Short(3), never), Assigned::Later);
        assert_eq!(crew.assign(Short(4), never), Assigned::Later);
        assert_eq!(crew.answered(false), Next::Answer(Short(3)));
        assert_eq!(crew.answered(false), Next::Answer(Short(4)));
        assert_eq!(crew.answered(false), Next::Read);
        assert_eq!(crew.assign(Short(5), never), Assigned::Reader(Short(5)));
    }

    #[test]
    fn calls_that_wait_leave_one_thread_that_reads_and_one_that_answers() {
        let crew = at_the_limit();
        for call in 0..2 {
            assert_eq!(
                crew.assign(Waits(call), never),
                Assigned::Reader(Waits(call))
            );
            crew.reads();
        }
        assert_eq!(crew.assign(Waits(2), never), Assigned::Nobody(Waits(2)));
        assert_eq!(crew.assign(Short(3), never), Assigned::Reader(Short(3)));
        crew.reads();
        assert_eq!(crew.assign(Short(4), never), Assigned::Later);
        assert_eq!(crew.answered(false), Next::Answer(Short(4)));
        // When one of them has ended there is room for another, and a short one goes before it.
        assert_eq!(crew.assign(Short(5), never), Assigned::Later);
        assert_eq!(crew.answered(true), Next::Answer(Short(5)));
        assert_eq!(crew.assign(Waits(6), never), Assigned::Later);
        assert_eq!(crew.assign(Waits(7), never), Assigned::Nobody(Waits(7)));
    }

    #[test]
    fn below_the_limit_every_call_has_a_thread_and_those_too_many_end() {
        let crew = at_the_limit();
        for call in 0..20 {
            assert_eq!(
                crew.assign(Waits(call), || true),
                Assigned::Reader(Waits(call))
            );
            crew.reads();
        }
        let ended = (0..20).filter(|_| crew.answered(true) == Next::End).count();
        // The one that reads is none of those that wait.
        assert_eq!(lock(&crew.0).threads, KEPT + 1);
        assert_eq!(ended, 22 - (KEPT + 1));
    }

    #[test]
    fn alone_no_thread_can_serve() {
        assert!(!Crew::<Call>::new().start(never));
    }
}
