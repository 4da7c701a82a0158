use std::{io::Read as _, thread};

use rustix::event::{PollFd, PollFlags, poll};

use super::*;

/// Waits as long as it takes.
struct Always;

impl Waits for Always {
    type Ended = Errno;

    fn check(&self) -> Result<(), Errno> {
        Ok(())
    }

    fn until_taken(&self, pen: &mut Pen) -> Result<(), Errno> {
        poll(&mut [PollFd::new(&pen.descriptor, PollFlags::OUT)], None).map(drop)
    }

    fn closed() -> Errno {
        Errno::PIPE
    }

    fn goes_on(_: &Errno) -> bool {
        false
    }
}

/// An output, and what reads from it.
fn pipe() -> (Output, std::fs::File) {
    let (reads, writes) = rustix::pipe::pipe().unwrap();
    rustix::io::ioctl_fionbio(&writes, true).unwrap();
    (Output::new(writes), reads.into())
}

fn message(bytes: usize) -> Encoded {
    Encoded::new(&"x".repeat(bytes)).unwrap()
}

/// Waits until one writes and so many wait.
fn until_waiting(output: &Output, short: usize, long: usize) {
    loop {
        let state = lock(&output.0);
        if state.pen.is_none() && state.turns.waiting() == (short, long) {
            return;
        }
        drop(state);
        thread::yield_now();
    }
}

/// The calls of the next frames.
fn calls(reads: &mut std::fs::File, count: usize) -> Vec<u32> {
    let frame = |_| {
        let mut header = [0; HEADER_BYTES];
        reads.read_exact(&mut header).unwrap();
        let field = |at: usize| u32::from_le_bytes(*header[at..].first_chunk().unwrap());
        let mut payload = vec![0; field(8) as usize];
        reads.read_exact(&mut payload).unwrap();
        field(4)
    };
    (0..count).map(frame).collect()
}

#[test]
fn a_short_message_waits_for_one_frame_of_the_many_long_ones() {
    let (output, mut reads) = pipe();
    thread::scope(|scope| {
        for call in 1..=63 {
            let output = &output;
            scope.spawn(move || output.message(call, message(3 * MAX_PAYLOAD), &Always));
            // The first fills the pipe, and cannot go on.
            until_waiting(output, 0, call as usize - 1);
        }
        for call in [100, 101] {
            let output = &output;
            scope.spawn(move || output.message(call, message(1 << 10), &Always));
            until_waiting(output, call as usize - 99, 62);
        }
        let mut frames = calls(&mut reads, 63 * 4 + 2);
        // The frame that was begun, one short, one long, the other short; then the long ones in their order, of
        // which sixteen are under way.
        assert_eq!(frames[..4], [1, 100, 2, 101]);
        let turns: Vec<u32> = (3..=16).chain(1..=16).collect();
        assert_eq!(frames[4..34], turns);
        // Of every message there are four frames: its length stands before it.
        frames.sort_unstable();
        let all = (1..=63).flat_map(|call| [call; 4]).chain([100, 101]);
        assert_eq!(frames, all.collect::<Vec<u32>>());
    });
}

#[test]
fn a_long_message_goes_on_between_short_ones() {
    let (output, mut reads) = pipe();
    thread::scope(|scope| {
        scope.spawn(|| output.message(1, message(3 * MAX_PAYLOAD), &Always));
        until_waiting(&output, 0, 0);
        for call in 100..110 {
            let output = &output;
            scope.spawn(move || output.message(call, message(1 << 10), &Always));
            until_waiting(output, call as usize - 99, 0);
        }
        let order = calls(&mut reads, 14);
        // Its length stands before it, so that it has a fourth frame.
        let alternating = [1, 100, 1, 101, 1, 102, 1, 103, 104, 105, 106, 107, 108, 109];
        assert_eq!(order, alternating);
    });
}

#[test]
fn what_is_posted_goes_out_after_the_frame_and_only_so_much_of_it() {
    let (output, mut reads) = pipe();
    thread::scope(|scope| {
        scope.spawn(|| output.message(1, message(2 * MAX_PAYLOAD), &Always));
        until_waiting(&output, 0, 0);
        let posted = |call| {
            let kind = crate::frame::Kind::Pong;
            output.post(&crate::frame::Header::bare(kind, call).to_bytes())
        };
        let most = u32::try_from(MAX_POSTED / HEADER_BYTES).unwrap();
        for call in 0..most {
            assert_eq!(posted(1000 + call), Ok(()));
        }
        assert_eq!(posted(0), Err(Errno::NOBUFS));
        let order = calls(&mut reads, 3 + most as usize);
        assert_eq!(order[..2], [1, 1000]);
        assert_eq!(order[most as usize..], [999 + most, 1, 1]);
    });
}

#[test]
fn nobody_waits_for_a_closed_output() {
    let (output, _reads) = pipe();
    thread::scope(|scope| {
        let long = || output.message(1, message(MAX_PAYLOAD), &Always);
        let writes = scope.spawn(long);
        until_waiting(&output, 0, 0);
        let waits = scope.spawn(long);
        until_waiting(&output, 0, 1);
        output.close();
        assert_eq!(waits.join().unwrap(), Err(Errno::PIPE));
        assert_eq!(output.post(b"x"), Err(Errno::PIPE));
        drop(_reads);
        assert_eq!(writes.join().unwrap(), Err(Errno::PIPE));
    });
}
