//! What the scripts that run a program say of it, taken out of what the program says itself.

use belljar_contract::processes::{Execution, Outcome, Output};

use super::fault::{Fault, Word};

/// What the scripts say on standard error, between line ends and after a word that no program can guess.
pub(super) struct Told {
    pub(super) outcome: Option<Outcome>,
    /// What the program itself said.
    pub(super) stderr: Output,
}

impl Told {
    pub(super) fn parse(execution: &Execution, word: &str) -> Result<Self, Fault> {
        let mut told = Self {
            outcome: None,
            stderr: execution.stderr.clone(),
        };
        let mut fault = None;
        let border = format!("\n{word} ");
        let output = &mut told.stderr;
        if output.dropped == 0 {
            output.head.append(&mut output.tail);
        }
        for part in [&mut output.head, &mut output.tail] {
            while let Some(from) = find_last(part, border.as_bytes()) {
                let begins = from + border.len();
                let Some(length) = part[begins..].iter().position(|byte| *byte == b'\n') else {
                    break;
                };
                let said = String::from_utf8_lossy(&part[begins..begins + length]).into_owned();
                part.drain(from..=begins + length);
                match said.split_once(' ') {
                    Some(("fault", word)) => fault = Word::parse(word),
                    Some((how, code)) => {
                        let code = code.parse().map_err(|_| Fault::Nonsense(said.clone()))?;
                        told.outcome = match how {
                            "exited" => Some(Outcome::Exited(code)),
                            "signalled" => Some(Outcome::Signalled(code.unsigned_abs())),
                            "timed-out" => Some(Outcome::TimedOut),
                            _ => return Err(Fault::Nonsense(said)),
                        };
                    }
                    None => return Err(Fault::Nonsense(said)),
                }
            }
        }
        match fault {
            Some(word) => Err(Fault::Told {
                word,
                said: told.stderr.to_text().trim().to_owned(),
                second: false,
            }),
            None => Ok(told),
        }
    }
}

fn find_last(bytes: &[u8], word: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(word.len())?;
    (0..=last).rev().find(|at| bytes[*at..].starts_with(word))
}

/// Cuts an output of which more was kept than was asked for.
pub(super) fn trim(mut output: Output, limit: usize) -> Output {
    if output.dropped == 0 {
        output.head.append(&mut output.tail);
        if output.head.len() <= limit {
            return output;
        }
        output.tail = output.head.clone();
    }
    let (head, tail) = (limit / 2, limit - limit / 2);
    let all = if output.dropped == 0 {
        output.head.len() as u64
    } else {
        (output.head.len() + output.tail.len()) as u64 + output.dropped
    };
    output.head.truncate(head);
    let cut = output.tail.len().saturating_sub(tail);
    output.tail.drain(..cut);
    output.dropped = all - (output.head.len() + output.tail.len()) as u64;
    output
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn output(head: &[u8], tail: &[u8], dropped: u64) -> Output {
        Output {
            head: head.to_vec(),
            tail: tail.to_vec(),
            dropped,
        }
    }

    #[test]
    fn what_was_kept_too_much_is_cut_and_counted() {
        assert_eq!(
            trim(output(b"abcdef", b"", 0), 6),
            output(b"abcdef", b"", 0)
        );
        assert_eq!(trim(output(b"abcdef", b"", 0), 4), output(b"ab", b"ef", 2));
        assert_eq!(trim(output(b"abc", b"xyz", 10), 2), output(b"a", b"z", 14));
        assert_eq!(trim(output(b"ab", b"", 0), 0), output(b"", b"", 2));
    }

    fn execution(stderr: Output) -> Execution {
        Execution {
            outcome: Outcome::Exited(0),
            stdout: Output::default(),
            stderr,
            duration: Duration::ZERO,
        }
    }

    #[test]
    fn what_a_script_says_is_taken_out() {
        let said = execution(output(b"a\n\nW exited 3\n", b"", 0));
        let told = Told::parse(&said, "W").unwrap();
        assert_eq!(told.outcome, Some(Outcome::Exited(3)));
        assert_eq!(told.stderr.head, b"a\n");
        // A child that still prints does not hide it.
        let said = execution(output(b"a", b"z\nW signalled 9\nlate", 5));
        let told = Told::parse(&said, "W").unwrap();
        assert_eq!(told.outcome, Some(Outcome::Signalled(9)));
        assert_eq!(told.stderr.tail, b"zlate");
        let said = execution(output(b"\nW fault missing\n", b"", 0));
        let fault = Told::parse(&said, "W").err().unwrap();
        assert!(fault.is(Word::Missing));
    }
}
