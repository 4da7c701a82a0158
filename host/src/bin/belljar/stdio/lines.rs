//! Standard input as lines, none of them without bound.

use std::{
    io::{self, BufRead, Read as _},
    sync::Arc,
};

use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
};

/// The longest line in bytes: the largest input that the contract's defaults allow, 64 MiB, takes
/// 86 MiB in base64.
pub(crate) const MAX_LINE_BYTES: usize = 128 << 20;
/// Bytes of requests that are held at once; while more are, nothing is read.
const MAX_HELD_BYTES: usize = 512 << 20;
/// What each request counts at least: what a call costs besides its line.
const LEAST_BYTES: usize = 64 << 10;
/// What a batch counts at least: it may have a thousand requests, each a few bytes long.
const LEAST_BATCH_BYTES: usize = 2 << 20;
/// Permits count kibibytes, which keeps them within a semaphore's range.
const UNIT: usize = 1 << 10;

/// A line.
pub(crate) enum Line {
    /// Without its end, and with the memory that it takes until its call is done.
    Whole(Vec<u8>, OwnedSemaphorePermit),
    /// It was longer than [`MAX_LINE_BYTES`], and is gone.
    TooLong,
}

/// Reads lines on a thread of its own, which may wait for ever.
pub(crate) fn read_stdin() -> io::Result<mpsc::Receiver<Line>> {
    let (send, receive) = mpsc::channel(1);
    let runtime = Handle::current();
    std::thread::Builder::new()
        .name("belljar-stdin".into())
        .spawn(move || read(io::stdin().lock(), &send, &runtime))?;
    Ok(receive)
}

fn read(mut input: impl BufRead, send: &mpsc::Sender<Line>, runtime: &Handle) {
    let held = Arc::new(Semaphore::new(MAX_HELD_BYTES / UNIT));
    loop {
        let line = match next(&mut input) {
            Ok(Some(Some(line))) => {
                let is_batch = line.trim_ascii_start().starts_with(b"[");
                let least = if is_batch {
                    LEAST_BATCH_BYTES
                } else {
                    LEAST_BYTES
                };
                let units = u32::try_from(line.len().max(least).div_ceil(UNIT)).unwrap_or(u32::MAX);
                match runtime.block_on(Arc::clone(&held).acquire_many_owned(units)) {
                    Ok(permit) => Line::Whole(line, permit),
                    Err(_) => return,
                }
            }
            Ok(Some(None)) => Line::TooLong,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!("standard input cannot be read: {error}");
                return;
            }
        };
        if send.blocking_send(line).is_err() {
            return;
        }
    }
}

/// The next line without its end; none at the input's end, and `Some(None)` for one that is too long.
fn next(input: &mut impl BufRead) -> io::Result<Option<Option<Vec<u8>>>> {
    let mut line = Vec::new();
    // One byte more than fits, for the line's end.
    let most = MAX_LINE_BYTES as u64 + 1;
    if input.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > MAX_LINE_BYTES {
        input.skip_until(b'\n')?;
        return Ok(Some(None));
    }
    Ok(Some(Some(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_their_ends() {
        let mut input: &[u8] = b"a\n\nb";
        for line in [&b"a"[..], b"", b"b"] {
            assert_eq!(next(&mut input).unwrap(), Some(Some(line.to_vec())));
        }
        assert_eq!(next(&mut input).unwrap(), None);
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_next_one_is_read() {
        let long = io::repeat(b'x').take(MAX_LINE_BYTES as u64 + 10);
        let mut input = io::BufReader::new(long.chain(&b"\nb\n"[..]));
        assert_eq!(next(&mut input).unwrap(), Some(None));
        assert_eq!(next(&mut input).unwrap(), Some(Some(b"b".to_vec())));
    }
}
