//! Asking a script: constant text, arguments that are data, and an answer with a frame.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::Arc,
};

use belljar_contract::{
    Context, GuestPath, Stop,
    processes::{Execution, Outcome, Output},
};

use super::{
    exec::{Exec, ExecCall},
    fault::{Fault, Word},
};

macro_rules! scripts {
    ($($name:ident = [$($file:literal),*];)*) => {
        $(pub(super) const $name: &str = concat!($(include_str!(concat!("sh/", $file, ".sh")), "\n"),*);)*

        /// Every script, for what must be true of all.
        #[cfg(test)]
        pub(super) const ALL: &[&str] = &[$($name),*];
    };
}

scripts! {
    APPEND = ["common", "change", "append"];
    COPY = ["common", "change", "copy"];
    FIND = ["common", "find"];
    GATHER = ["common", "gather"];
    HOLDS = ["common", "holds"];
    LEADER = ["leader"];
    LIST = ["common", "list"];
    MAKE_DIRECTORY = ["common", "make_directory"];
    PROBE = ["probe"];
    READ = ["common", "change", "read"];
    REMOVE = ["common", "remove"];
    RENAME = ["common", "change", "rename"];
    RESOLVE = ["common", "resolve"];
    RUN = ["common", "kin", "run"];
    STAT = ["common", "stat"];
    STOP = ["common", "kin", "stop"];
    WRITE = ["common", "change", "write"];
}

/// What is kept of standard error, and the first line of an answer, beside its content.
const FRAME: u64 = 64 << 10;

/// A place's shell, and where the workspace is for it.
pub(super) struct Shell {
    pub(super) exec: Arc<dyn Exec>,
    /// The root's physical path, without a slash at its end.
    pub(super) base: String,
}

/// What a script is asked.
pub(super) struct Question<'a> {
    pub(super) script: &'a str,
    /// Below the root.
    pub(super) path: &'a str,
    /// How it is meant.
    pub(super) flags: &'a str,
    /// The script's own.
    pub(super) arguments: &'a [&'a str],
    pub(super) stdin: Vec<u8>,
    /// The most bytes of the answer's body.
    pub(super) limit: u64,
}

/// What a script answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The first word of the first line.
    pub(super) word: String,
    /// The rest of the first line.
    pub(super) rest: String,
    /// What comes after it.
    pub(super) body: Vec<u8>,
}

impl Shell {
    /// Asks a script about a path.
    pub(super) async fn ask(
        &self,
        context: &Context,
        question: Question<'_>,
    ) -> Result<Answer, Fault> {
        let Question {
            script,
            path,
            flags,
            arguments,
            stdin,
            limit,
        } = question;
        let mut argv = words(&["sh", "-c", script, "sh", &self.base, path, flags]);
        argv.extend(arguments.iter().map(ToString::to_string));
        let execution = self.run(context, argv, stdin, limit).await?;
        answer(&execution, limit)
    }

    /// Runs a script, which must come to its end.
    pub(super) async fn run(
        &self,
        context: &Context,
        argv: Vec<String>,
        stdin: Vec<u8>,
        limit: u64,
    ) -> Result<Execution, Fault> {
        context.check()?;
        let call = ExecCall {
            argv,
            stdin,
            user: None,
            output_limit: limit.saturating_add(FRAME).saturating_mul(2),
        };
        let execution = self.exec.exec(context, call).await?;
        match execution.outcome {
            Outcome::Exited(_) | Outcome::Signalled(_) | Outcome::OutOfMemory => Ok(execution),
            Outcome::TimedOut => Err(Stop::TimedOut.into()),
            Outcome::Cancelled => Err(Stop::Cancelled.into()),
        }
    }
}

pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// The words that say how a path is meant.
pub(super) fn flags(path: &GuestPath, more: &[(&str, bool)]) -> String {
    let of_path = [
        ("no_links", path.no_links()),
        // The root is one.
        (
            "must_be_directory",
            path.must_be_directory() && !path.is_root(),
        ),
    ];
    let set = of_path.iter().chain(more).filter(|(_, set)| *set);
    set.map(|(word, _)| *word).collect::<Vec<_>>().join(" ")
}

/// A word that nobody can guess. A `RandomState`'s keys come from the system's random numbers, and what it hashes
/// does not tell them.
pub(in crate::backends) fn nonce() -> String {
    let half = |salt: u8| RandomState::new().hash_one(salt);
    format!("{:016x}{:016x}", half(0), half(1))
}

pub(super) fn whole(output: &Output) -> Vec<u8> {
    [output.head.as_slice(), &output.tail].concat()
}

/// A number in an answer.
pub(super) fn number(text: &str) -> Result<u64, Fault> {
    text.parse().map_err(|_| Fault::Nonsense(text.to_owned()))
}

/// Reads an answer's frame.
pub(super) fn answer(execution: &Execution, limit: u64) -> Result<Answer, Fault> {
    let said = || {
        let text = execution.stderr.to_text();
        text.trim().chars().take(1000).collect::<String>()
    };
    if execution.stdout.dropped > 0 {
        return Err(Fault::TooLarge {
            what: "what the place answers",
            limit,
            hint: "",
        });
    }
    let mut body = whole(&execution.stdout);
    let Some(end) = body.iter().position(|byte| *byte == b'\n') else {
        let outcome = execution.outcome;
        return Err(Fault::Nonsense(format!("{outcome:?}, {}", said())));
    };
    let rest = body.split_off(end + 1);
    body.truncate(end);
    let line = String::from_utf8_lossy(&body).into_owned();
    let (word, more) = line.split_once(' ').unwrap_or((&line, ""));
    if word == "fault" {
        let (word, which) = more.split_once(' ').unwrap_or((more, ""));
        let known = Word::parse(word).ok_or_else(|| Fault::Nonsense(line.clone()))?;
        return Err(Fault::Told {
            word: known,
            said: said(),
            second: which == "2",
        });
    }
    if execution.outcome != Outcome::Exited(0) {
        let outcome = execution.outcome;
        return Err(Fault::Nonsense(format!("{outcome:?}, {}", said())));
    }
    Ok(Answer {
        word: word.to_owned(),
        rest: more.to_owned(),
        body: rest,
    })
}
