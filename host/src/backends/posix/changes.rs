//! `write`, `append`, `replace`, `copy` and `rename`: whole or not at all, and of an expected version.
//!
//! A version is a digest that no utility of a place computes. So a script that expects one first gives what is there,
//! with what the file is recognized by; it is judged here, and the script is asked again to change that very file. Of
//! two changes of this session one is made after the other.

use belljar_contract::{
    Context, Expected, GuestPath, Version,
    files::{ReplaceOptions, Replaced, WriteOptions},
};
use belljar_workspace::files::{SubstituteError, substitute, version_of};

use super::{
    PosixBackend,
    fault::{Fault, Word},
    read::Told,
    shell::{self, Answer, Question, flags, nonce},
};

/// How often a file that processes change all the time is looked at again.
const TRIES: u32 = 8;

/// A script that changes a file.
struct Change<'a> {
    script: &'a str,
    path: &'a GuestPath,
    flags: String,
    /// What comes before what the file is recognized by, which is the last but one.
    arguments: &'a [&'a str],
    stdin: &'a [u8],
    expected: &'a Expected,
}

impl PosixBackend {
    pub(super) async fn write(
        &self,
        context: &Context,
        path: &GuestPath,
        bytes: &[u8],
        options: &WriteOptions,
    ) -> Result<Version, Fault> {
        self.put(context, shell::WRITE, path, bytes, options)
            .await?;
        Ok(version_of(bytes))
    }

    pub(super) async fn append(
        &self,
        context: &Context,
        path: &GuestPath,
        bytes: &[u8],
        options: &WriteOptions,
    ) -> Result<Version, Fault> {
        let answer = self
            .put(context, shell::APPEND, path, bytes, options)
            .await?;
        if answer.word == "made" {
            return Ok(version_of(bytes));
        }
        Told::parse(answer)?.version(self.file_bytes())
    }

    async fn put(
        &self,
        context: &Context,
        script: &str,
        path: &GuestPath,
        bytes: &[u8],
        options: &WriteOptions,
    ) -> Result<Answer, Fault> {
        self.fits(bytes.len())?;
        let length = bytes.len().to_string();
        let change = Change {
            script,
            path,
            flags: write_flags(path, options),
            arguments: &[&temporary(), &length],
            stdin: bytes,
            expected: &options.expected,
        };
        let _held = self.hold(context).await?;
        self.change(context, change).await
    }

    pub(super) async fn replace(
        &self,
        context: &Context,
        path: &GuestPath,
        old: &[u8],
        new: &[u8],
        options: &ReplaceOptions,
    ) -> Result<Replaced, Fault> {
        if old.is_empty() {
            return Err(SubstituteError::Empty.into());
        }
        let limit = self.file_bytes();
        let expected = &options.expected;
        let look = flags(
            path,
            &[
                ("change", true),
                ("absent", *expected == Expected::Absent),
                ("version", matches!(expected, Expected::Version(_))),
            ],
        );
        let _held = self.hold(context).await?;
        for _ in 0..TRIES {
            let told = self.told(context, path, &look, None).await?;
            if told.size > limit || told.bytes.len() as u64 > limit {
                return Err(Fault::TooLarge {
                    what: "the file",
                    limit,
                    hint: "",
                });
            }
            if let Expected::Version(version) = expected
                && version_of(&told.bytes) != *version
            {
                return Err(Fault::Stale);
            }
            let (content, count) = substitute(&told.bytes, old, new, options.all, limit)?;
            let (name, length) = (temporary(), content.len().to_string());
            let arguments = [&name, &length, &told.identity, &limit.to_string()];
            let flags = flags(path, &[("version", true)]);
            let version = version_of(&content);
            let arguments = arguments.map(String::as_str);
            let answer = self
                .shell
                .ask(
                    context,
                    Question {
                        script: shell::WRITE,
                        path: path.as_str(),
                        flags: &flags,
                        arguments: &arguments,
                        stdin: content,
                        limit,
                    },
                )
                .await;
            match answer {
                Ok(_) => return Ok(Replaced { count, version }),
                Err(fault) if fault.is(Word::Changed) || fault.is(Word::VersionGone) => {}
                Err(fault) => return Err(fault),
            }
        }
        Err(Fault::told(Word::Unsteady))
    }

    pub(super) async fn copy(
        &self,
        context: &Context,
        source: &GuestPath,
        target: &GuestPath,
        destination: &Expected,
    ) -> Result<Version, Fault> {
        let options = WriteOptions {
            expected: destination.clone(),
            ..WriteOptions::default()
        };
        let target_flags = write_flags(target, &options);
        let change = Change {
            script: shell::COPY,
            path: source,
            flags: flags(source, &[]),
            arguments: &[target.as_str(), &target_flags, &temporary(), ""],
            stdin: b"",
            expected: destination,
        };
        let _held = self.hold(context).await?;
        let answer = self.change(context, change).await?;
        Told::parse(answer)?.version(self.file_bytes())
    }

    pub(super) async fn rename(
        &self,
        context: &Context,
        source: &GuestPath,
        target: &GuestPath,
        destination: &Expected,
    ) -> Result<(), Fault> {
        if source.is_root() || target.is_root() {
            return Err(Fault::IsRoot);
        }
        let target_flags = flags(target, &expected_flags(destination));
        let change = Change {
            script: shell::RENAME,
            path: source,
            flags: flags(source, &[]),
            arguments: &[target.as_str(), &target_flags],
            stdin: b"",
            expected: destination,
        };
        let _held = self.hold(context).await?;
        self.change(context, change).await?;
        Ok(())
    }

    /// Asks a script for a change; of a version, once to look and once to change what was looked at.
    async fn change(&self, context: &Context, change: Change<'_>) -> Result<Answer, Fault> {
        let limit = self.file_bytes();
        let most = limit.to_string();
        let mut looked_at = String::new();
        for _ in 0..TRIES {
            let looks = matches!(change.expected, Expected::Version(_)) && looked_at.is_empty();
            let stdin = if looks { b"" } else { change.stdin }.to_vec();
            let mut arguments = change.arguments.to_vec();
            arguments.extend([looked_at.as_str(), most.as_str()]);
            let answer = self
                .shell
                .ask(
                    context,
                    Question {
                        script: change.script,
                        path: change.path.as_str(),
                        flags: &change.flags,
                        arguments: &arguments,
                        stdin,
                        limit,
                    },
                )
                .await;
            match (answer, change.expected) {
                (Ok(answer), Expected::Version(version)) if answer.word == "old" => {
                    let told = Told::parse(answer)?;
                    if told.version(limit)? != *version {
                        return Err(Fault::Stale);
                    }
                    looked_at = told.identity;
                }
                (Err(fault), _) if fault.is(Word::Changed) => looked_at.clear(),
                (answer, _) => return answer,
            }
        }
        Err(Fault::told(Word::Unsteady))
    }

    /// Waits for the session's other changes.
    async fn hold(&self, context: &Context) -> Result<tokio::sync::MutexGuard<'_, ()>, Fault> {
        tokio::select! {
            held = self.changes.lock() => {
                context.check()?;
                Ok(held)
            }
            () = context.cancellation().cancelled() => Err(belljar_contract::Stop::Cancelled.into()),
        }
    }

    fn fits(&self, bytes: usize) -> Result<(), Fault> {
        let limit = self.file_bytes();
        if bytes as u64 > limit {
            return Err(Fault::TooLarge {
                what: "the content",
                limit,
                hint: "",
            });
        }
        Ok(())
    }
}

fn expected_flags(expected: &Expected) -> [(&'static str, bool); 2] {
    [
        ("absent", *expected == Expected::Absent),
        ("version", matches!(expected, Expected::Version(_))),
    ]
}

fn write_flags(path: &GuestPath, options: &WriteOptions) -> String {
    let [absent, version] = expected_flags(&options.expected);
    flags(
        path,
        &[
            absent,
            version,
            ("executable", options.executable),
            // A name that must be a directory's is never a new file's.
            ("make", options.make_parents && !path.must_be_directory()),
        ],
    )
}

/// The name of a file in the making: hidden, and nobody can guess it.
fn temporary() -> String {
    format!(".belljar-{}.tmp", nonce())
}
