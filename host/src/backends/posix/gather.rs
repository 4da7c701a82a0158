//! Reading many files at once, none of them through a link at its end.

use std::fmt::Write as _;

use belljar_contract::Context;

use super::{
    PosixBackend,
    fault::Fault,
    shell::{self, Question, nonce},
};

/// What is asked for at once when many files are read: arguments that every system takes, and contents that need not
/// be held for long.
const BATCH_ARGUMENTS: usize = 64 << 10;
const BATCH_BYTES: u64 = 16 << 20;
/// The largest file that is searched.
pub(super) const LARGEST_SEARCHED: u64 = 64 << 20;

/// What was found where a file was to be read.
pub(super) enum Gathered {
    Content(Vec<u8>),
    Nothing,
    Link,
    Special,
    Unreadable,
}

impl PosixBackend {
    /// Reads many files by their paths from the root, none of them through a link at its end.
    pub(super) async fn gather(
        &self,
        context: &Context,
        files: &[(Vec<u8>, u64)],
        most: u64,
    ) -> Result<Vec<Gathered>, Fault> {
        let (word, most_text) = (nonce(), most.to_string());
        let paths: Vec<String> = files.iter().map(|(path, _)| argument(path)).collect();
        let mut arguments = vec![word.as_str(), &most_text];
        arguments.extend(paths.iter().map(String::as_str));
        let limit = files
            .iter()
            .map(|(_, size)| size.max(&(64 << 10)).saturating_mul(2).min(most) + 128)
            .sum::<u64>()
            + BATCH_BYTES;
        let answer = self
            .shell
            .ask(
                context,
                Question {
                    script: shell::GATHER,
                    path: "",
                    flags: "no_links",
                    arguments: &arguments,
                    stdin: Vec::new(),
                    limit,
                },
            )
            .await?;
        contents(&answer.body, word.as_bytes(), files.len())
    }
}

/// Cuts files, by their sizes, into what is read at once.
pub(super) fn batches(files: &[(Vec<u8>, u64)], most: u64) -> Vec<&[(Vec<u8>, u64)]> {
    let mut batches = Vec::new();
    let (mut from, mut bytes, mut arguments) = (0, 0, 0);
    for (index, (path, size)) in files.iter().enumerate() {
        // An escaped byte is five.
        let (size, length) = ((*size).min(most), path.len() * 5 + 16);
        if index > from && (bytes + size > BATCH_BYTES || arguments + length > BATCH_ARGUMENTS) {
            batches.push(&files[from..index]);
            (from, bytes, arguments) = (index, 0, 0);
        }
        bytes += size;
        arguments += length;
    }
    if from < files.len() {
        batches.push(&files[from..]);
    }
    batches
}

/// A path as an argument, which is text: as it is after a `=`, or escaped for `printf` after a `%`.
fn argument(path: &[u8]) -> String {
    match std::str::from_utf8(path) {
        Ok(text) => format!("={text}"),
        Err(_) => path.iter().fold("%".to_owned(), |mut text, byte| {
            // Writing to a string does not fail.
            let _ = write!(text, "\\0{byte:03o}");
            text
        }),
    }
}

/// Takes apart what was gathered.
fn contents(mut body: &[u8], word: &[u8], count: usize) -> Result<Vec<Gathered>, Fault> {
    let nonsense = || Fault::Nonsense("files that were read came back without their frame".into());
    let mut gathered = Vec::with_capacity(count);
    body = body.strip_prefix(word).ok_or_else(nonsense)?;
    while let Some((kind, rest)) = body.split_first() {
        if *kind == b'.' {
            break;
        }
        let end = find(rest, word).ok_or_else(nonsense)?;
        let content = &rest[..end];
        body = &rest[end + word.len()..];
        match kind {
            b'f' => gathered.push(Gathered::Content(content.to_vec())),
            b'n' => gathered.push(Gathered::Nothing),
            b'l' => gathered.push(Gathered::Link),
            b's' => gathered.push(Gathered::Special),
            b'u' => gathered.push(Gathered::Unreadable),
            // Reading the one before failed in the middle.
            b'x' => *gathered.last_mut().ok_or_else(nonsense)? = Gathered::Unreadable,
            _ => return Err(nonsense()),
        }
    }
    if gathered.len() == count {
        Ok(gathered)
    } else {
        Err(nonsense())
    }
}

/// Where a word begins.
pub(super) fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == word[0]) {
        if bytes[at + found..].starts_with(word) {
            return Some(at + found);
        }
        at += found + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_gathered_is_taken_apart() {
        let gathered = contents(b"WfaWfbWxWnW.", b"W", 3).unwrap();
        assert!(matches!(&gathered[0], Gathered::Content(bytes) if bytes == b"a"));
        assert!(matches!(gathered[1], Gathered::Unreadable));
        assert!(contents(b"Wfa", b"W", 1).is_err());
        assert!(contents(b"WfaW.", b"W", 2).is_err());
    }
}
