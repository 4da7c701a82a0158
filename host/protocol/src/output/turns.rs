//! Whose turn it is to write a frame.
//!
//! Messages of one frame and frames of longer messages take turns, each in the order in which they asked. So
//! a short answer waits for a frame or two, however many long ones are under way, and long ones go on
//! however many short ones come. Of long ones [`AT_ONCE`] are under way, and the next begins when one of them has ended:
//! would all of them end at the same time, both ends would be busy with all of them while nothing is on the way.

use std::{
    collections::VecDeque,
    thread::{self, Thread},
    time::Duration,
};

/// How many long messages take turns with each other.
const AT_ONCE: usize = 16;

/// How often who waits for a turn looks whether it still wants one.
const LOOK: Duration = Duration::from_millis(20);

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// A message of one frame.
    Short,
    /// A frame of a longer one.
    Long,
}

/// A place in a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    who: Who,
    number: u64,
}

/// Who waits to write.
#[derive(Debug, Default)]
pub(super) struct Turns {
    asked: u64,
    short: VecDeque<(u64, Thread)>,
    long: VecDeque<(u64, Thread)>,
    /// A short one wrote last.
    short_was_last: bool,
}

impl Turns {
    /// Stands at the end of a queue.
    pub(super) fn ask(&mut self, who: Who) -> Place {
        let number = self.asked;
        self.asked += 1;
        self.queue(who).push_back((number, thread::current()));
        Place { who, number }
    }

    /// Stands where the next frame of a message that is under way belongs: behind what is under way too.
    pub(super) fn ask_again(&mut self, who: Who) -> Place {
        let number = self.asked;
        self.asked += 1;
        let queue = self.queue(who);
        queue.insert(queue.len().min(AT_ONCE - 1), (number, thread::current()));
        Place { who, number }
    }

    pub(super) fn is_next(&self, place: Place) -> bool {
        self.next()
            .is_some_and(|(number, _)| *number == place.number)
    }

    /// Takes who is next out of its queue.
    pub(super) fn begin(&mut self, place: Place) {
        self.leave(place);
        self.short_was_last = place.who == Who::Short;
    }

    pub(super) fn leave(&mut self, place: Place) {
        self.queue(place.who)
            .retain(|(number, _)| *number != place.number);
    }

    pub(super) fn wake_next(&self) {
        if let Some((_, thread)) = self.next() {
            thread.unpark();
        }
    }

    pub(super) fn wake_all(&self) {
        for (_, thread) in self.short.iter().chain(&self.long) {
            thread.unpark();
        }
    }

    /// How many short and long ones wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> (usize, usize) {
        (self.short.len(), self.long.len())
    }

    fn next(&self) -> Option<&(u64, Thread)> {
        let (first, second) = match self.short_was_last {
            true => (&self.long, &self.short),
            false => (&self.short, &self.long),
        };
        first.front().or_else(|| second.front())
    }

    const fn queue(&mut self, who: Who) -> &mut VecDeque<(u64, Thread)> {
        match who {
            Who::Short => &mut self.short,
            Who::Long => &mut self.long,
        }
    }
}

/// Waits to be woken, or a little.
pub(super) fn wait() {
    thread::park_timeout(LOOK);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who writes, when these have asked in this order.
    fn order(asked: &[Who]) -> Vec<usize> {
        let mut turns = Turns::default();
        let mut places: Vec<Place> = asked.iter().map(|who| turns.ask(*who)).collect();
        let mut order = Vec::new();
        while let Some(at) = places.iter().position(|place| turns.is_next(*place)) {
            let place = places.remove(at);
            turns.begin(place);
            order.push(usize::try_from(place.number).unwrap());
        }
        order
    }

    #[test]
    fn short_and_long_take_turns_each_in_their_order() {
        use Who::{Long, Short};
        assert_eq!(order(&[Long, Long, Short, Short]), [2, 0, 3, 1]);
        assert_eq!(order(&[Short, Short, Short, Long]), [0, 3, 1, 2]);
        assert_eq!(order(&[Long, Long, Long]), [0, 1, 2]);
        assert_eq!(order(&[]), [0; 0]);
    }

    #[test]
    fn of_many_long_ones_some_are_under_way() {
        let mut turns = Turns::default();
        let places: Vec<Place> = (0..AT_ONCE + 2).map(|_| turns.ask(Who::Long)).collect();
        let mut again = Vec::new();
        for place in &places[..AT_ONCE] {
            assert!(turns.is_next(*place));
            turns.begin(*place);
            again.push(turns.ask_again(Who::Long));
        }
        // One of them ends, and the first that waited is under way behind the others.
        turns.begin(again[0]);
        for place in &again[1..] {
            assert!(turns.is_next(*place));
            turns.begin(*place);
            turns.ask_again(Who::Long);
        }
        assert!(turns.is_next(places[AT_ONCE]));
    }

    #[test]
    fn who_leaves_has_no_turn() {
        let mut turns = Turns::default();
        let (first, second) = (turns.ask(Who::Long), turns.ask(Who::Long));
        turns.leave(first);
        assert!(turns.is_next(second) && !turns.is_next(first));
    }
}
