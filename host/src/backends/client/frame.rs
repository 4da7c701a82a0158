//! What the script prints: how a program ended, and its outputs.

use belljar_contract::processes::Output;

/// One answer of the script.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) code: i32,
    /// How many bytes each output had.
    pub(super) totals: [u64; 2],
    /// What was kept of each; none where it lies in files.
    pub(super) outputs: Option<[Vec<u8>; 2]>,
}

impl Frame {
    /// Reads it; none when it is no such answer.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(str::trim_end);
        let mut words = lines.next()?.strip_prefix("belljar ")?.split(' ');
        let code = words.next()?.parse().ok()?;
        let totals = [words.next()?.parse().ok()?, words.next()?.parse().ok()?];
        if words.next().is_some() {
            return None;
        }
        let lines: Vec<&str> = lines.collect();
        let outputs = match lines.as_slice() {
            ["files"] => None,
            [dumps @ .., "end"] => {
                let middle = dumps.iter().position(|line| *line == "and")?;
                let (stdout, stderr) = dumps.split_at(middle);
                Some([bytes(stdout)?, bytes(stderr.get(1..)?)?])
            }
            _ => return None,
        };
        Some(Self {
            code,
            totals,
            outputs,
        })
    }
}

impl Frame {
    /// Reads one whose outputs follow its first line as they are.
    pub(super) fn parse_raw(bytes: &[u8]) -> Option<Self> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let line = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut words = line.strip_prefix("belljar ")?.split(' ');
        let code = words.next()?.parse().ok()?;
        let totals = [words.next()?.parse().ok()?, words.next()?.parse().ok()?];
        let kept: [usize; 2] = [words.next()?.parse().ok()?, words.next()?.parse().ok()?];
        let (stdout, stderr) = bytes[end + 1..].split_at_checked(kept[0])?;
        if words.next().is_some() || stderr.len() != kept[1] {
            return None;
        }
        Some(Self {
            code,
            totals,
            outputs: Some([stdout.to_vec(), stderr.to_vec()]),
        })
    }
}

/// The bytes of a dump in hexadecimal.
fn bytes(dump: &[&str]) -> Option<Vec<u8>> {
    let words = dump.iter().flat_map(|line| line.split_ascii_whitespace());
    let byte = |word: &str| match word.as_bytes() {
        // A sign would be read as well.
        [high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            u8::from_str_radix(word, 16).ok()
        }
        _ => None,
    };
    words.map(byte).collect()
}

/// An output of which so much was kept; none when that fits neither the limit nor what there was.
pub(super) fn output(kept: Vec<u8>, total: u64, limit: u64) -> Option<Output> {
    if kept.len() as u64 != total.min(limit) {
        return None;
    }
    let mut head = kept;
    let tail = match total > limit {
        true => head.split_off(head.len() / 2),
        false => Vec::new(),
    };
    let dropped = total - (head.len() + tail.len()) as u64;
    Some(Output {
        head,
        tail,
        dropped,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_script_prints_is_read() {
        let read = Frame::parse("belljar 3 2 17\n 68 0a\nand\n 00 ff\n 7f\nend\n");
        let right = Frame {
            code: 3,
            totals: [2, 17],
            outputs: Some([b"h\n".to_vec(), vec![0, 0xff, 0x7f]]),
        };
        assert_eq!(read, Some(right));
        let files = Frame::parse("belljar 0 1 0\nfiles\n").expect("a frame");
        assert_eq!(files.outputs, None);
    }

    #[test]
    fn anything_else_is_no_answer() {
        for text in [
            "",
            "belljar",
            "belljar 0 1",
            "belljar 0 1 2 3\nfiles",
            "belljar 0 1 -2\nfiles",
            "belljar 0 1 2\n",
            "belljar 0 1 2\n 00\nend",
            "belljar 0 1 2\n 00\nand\n 00",
            "belljar 0 1 2\n 0\nand\nend",
            "belljar 0 1 2\n +1\nand\nend",
            "belljar 0 1 2\n 000\nand\nend",
            "welcome\nbelljar 0 0 0\nand\nend",
        ] {
            assert_eq!(Frame::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn outputs_as_they_are_are_read() {
        let read = Frame::parse_raw(b"belljar 3 2 17 2 1\nh\n\xff");
        let right = Frame {
            code: 3,
            totals: [2, 17],
            outputs: Some([b"h\n".to_vec(), vec![0xff]]),
        };
        assert_eq!(read, Some(right));
        for bytes in [
            &b"belljar 3 2 17 2 1\nh"[..],
            b"belljar 3 2 17 2 1\nh\n\xffmore",
            b"belljar 3 2 17 2\nh\n",
            b"belljar 3 2 17 2 1 9\nh\nx",
            b"belljar 3 2 17 9999999999 1\nh\nx",
            b"belljar 3 2 17 2 1",
            b"\xff 3 2 17 0 0\n",
        ] {
            assert_eq!(Frame::parse_raw(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn an_output_is_what_was_kept_of_it() {
        let whole = output(b"abc".to_vec(), 3, 3).expect("it fits");
        assert_eq!((whole.head.as_slice(), whole.dropped), (&b"abc"[..], 0));
        let cut = output(b"abyz!".to_vec(), 26, 5).expect("it fits");
        let parts = (cut.head.as_slice(), cut.tail.as_slice(), cut.dropped);
        assert_eq!(parts, (&b"ab"[..], &b"yz!"[..], 21));
        assert_eq!(output(b"abc".to_vec(), 2, 5), None);
        assert_eq!(output(b"abc".to_vec(), 9, 5), None);
    }
}
