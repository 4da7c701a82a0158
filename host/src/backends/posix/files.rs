//! `read`, `list` and what else looks at a path without changing it.

use belljar_contract::{
    Context, GuestPath, Version,
    files::{Chunk, Content, Entry, EntryKind, Info, Listing},
};
use belljar_workspace::files::version_of;

use super::{
    PosixBackend,
    fault::{Fault, Word},
    shell::{self, Answer, Question, flags},
    tree,
};

/// What a script tells of a file.
pub(super) struct Told {
    pub(super) size: u64,
    /// What the file is recognized by: its place on the disk, its size and its times.
    pub(super) identity: String,
    pub(super) bytes: Vec<u8>,
}

impl Told {
    pub(super) fn parse(answer: Answer) -> Result<Self, Fault> {
        let (size, identity) = answer
            .rest
            .split_once(' ')
            .ok_or_else(|| Fault::Nonsense(answer.rest.clone()))?;
        Ok(Self {
            size: number(size)?,
            identity: identity.to_owned(),
            bytes: answer.body,
        })
    }

    /// The version: of the content, where the file is small enough to have been read for it.
    pub(super) fn version(&self, file_bytes: u64) -> Result<Version, Fault> {
        if self.size <= file_bytes {
            return Ok(version_of(&self.bytes));
        }
        let digest = version_of(self.identity.as_bytes());
        // The prefix keeps it apart from every content's version.
        Version::parse(&format!("large-{}", digest.as_str()))
            .map_err(|error| Fault::Nonsense(error.to_string()))
    }
}

impl PosixBackend {
    pub(super) async fn read(&self, context: &Context, path: &GuestPath) -> Result<Content, Fault> {
        let limit = self.file_bytes();
        let told = self.told(context, path, &flags(path, &[]), None).await?;
        if told.size > limit || told.bytes.len() as u64 > limit {
            return Err(Fault::TooLarge {
                what: "the file",
                limit,
                hint: "; read it in ranges",
            });
        }
        Ok(Content {
            version: told.version(limit)?,
            bytes: told.bytes,
        })
    }

    pub(super) async fn read_range(
        &self,
        context: &Context,
        path: &GuestPath,
        offset: u64,
        length: u64,
    ) -> Result<Chunk, Fault> {
        let limit = self.file_bytes();
        if length > limit {
            return Err(Fault::TooLarge {
                what: "the length",
                limit,
                hint: "",
            });
        }
        let part = Some((offset, length));
        let mut told = self.told(context, path, &flags(path, &[]), part).await?;
        let version = told.version(limit)?;
        let mut size = told.size;
        if told.size <= limit {
            size = told.bytes.len() as u64;
            let within = |at: u64| {
                usize::try_from(at).map_or(told.bytes.len(), |at| at.min(told.bytes.len()))
            };
            let (from, to) = (within(offset), within(offset.saturating_add(length)));
            told.bytes.truncate(to);
            told.bytes.drain(..from.min(to));
        }
        Ok(Chunk {
            bytes: told.bytes,
            size,
            version,
        })
    }

    /// What is told of a file: its content, or the `part` of a larger one.
    pub(super) async fn told(
        &self,
        context: &Context,
        path: &GuestPath,
        flags: &str,
        part: Option<(u64, u64)>,
    ) -> Result<Told, Fault> {
        let limit = self.file_bytes();
        let (offset, length) = match part {
            // The shell's numbers are signed.
            Some((offset, length)) => (
                offset.min(i64::MAX as u64 - 1).to_string(),
                length.to_string(),
            ),
            None => Default::default(),
        };
        let arguments = [&limit.to_string(), offset.as_str(), &length];
        let answer = self
            .shell
            .ask(
                context,
                Question {
                    script: shell::READ,
                    path: path.as_str(),
                    flags,
                    arguments: &arguments,
                    stdin: Vec::new(),
                    limit,
                },
            )
            .await?;
        Told::parse(answer)
    }

    /// The content of a file that is to be searched; none when it is too large for that.
    pub(super) async fn whole(
        &self,
        context: &Context,
        path: &GuestPath,
    ) -> Result<Option<Vec<u8>>, Fault> {
        let limit = tree::LARGEST_SEARCHED;
        let most = limit.to_string();
        let answer = self
            .shell
            .ask(
                context,
                Question {
                    script: shell::READ,
                    path: path.as_str(),
                    flags: &flags(path, &[]),
                    arguments: &[&most, "", ""],
                    stdin: Vec::new(),
                    limit,
                },
            )
            .await?;
        let told = Told::parse(answer)?;
        Ok((told.size <= limit).then_some(told.bytes))
    }

    pub(super) async fn list(
        &self,
        context: &Context,
        path: &GuestPath,
        limit: u32,
    ) -> Result<Listing, Fault> {
        let tree = self.tree(context, path, false).await?;
        let total = tree.entries.len() as u64;
        let above = if tree.base.is_empty() {
            0
        } else {
            tree.base.len() + 1
        };
        let entries = tree.entries.into_iter().take(limit as usize);
        let entry = |entry: tree::Entry| Entry {
            size: (entry.kind == EntryKind::File).then_some(entry.size),
            kind: entry.kind,
            name: belljar_contract::files::Name::from_bytes(entry.path[above..].to_vec()),
        };
        Ok(Listing {
            entries: entries.map(entry).collect(),
            total,
        })
    }

    pub(super) async fn stat(&self, context: &Context, path: &GuestPath) -> Result<Info, Fault> {
        let answer = self
            .look(context, shell::STAT, path, &flags(path, &[]))
            .await?;
        let nonsense = || Fault::Nonsense(answer.rest.clone());
        let mut parts = answer.rest.splitn(4, ' ');
        let mut next = || parts.next().ok_or_else(nonsense);
        let (mode, size, seconds, time) = (next()?, next()?, next()?, next()?);
        let mode = u32::from_str_radix(mode, 16).map_err(|_| nonsense())?;
        let kind = tree::kind_of(mode);
        let seconds: i64 = seconds.parse().map_err(|_| nonsense())?;
        Ok(Info {
            kind,
            size: if kind == EntryKind::File {
                number(size)?
            } else {
                0
            },
            modified: seconds
                .saturating_mul(1_000_000_000)
                .saturating_add(nanoseconds(time)),
            mode: mode & 0o7777,
        })
    }

    pub(super) async fn resolve(
        &self,
        context: &Context,
        path: &GuestPath,
    ) -> Result<(GuestPath, EntryKindOrNone), Fault> {
        let answer = self
            .look(context, shell::RESOLVE, path, &flags(path, &[]))
            .await?;
        let kind = match answer.rest.as_str() {
            "directory" => Some(EntryKind::Directory),
            "entry" => Some(EntryKind::File),
            _ => None,
        };
        if answer.body.is_empty() {
            return Ok((GuestPath::root(), kind));
        }
        let text = String::from_utf8(answer.body).map_err(|_| Fault::NotUtf8)?;
        let path = GuestPath::parse(&text, "/").map_err(|_| Fault::TooLarge {
            what: "the resolved path",
            limit: belljar_contract::MAX_PATH_BYTES as u64,
            hint: "",
        })?;
        Ok((path, kind))
    }

    /// What a path is, a link not followed.
    pub(super) async fn holds(
        &self,
        context: &Context,
        path: &GuestPath,
    ) -> Result<EntryKind, Fault> {
        let answer = self
            .look(context, shell::HOLDS, path, &flags(path, &[]))
            .await?;
        match answer.rest.as_str() {
            "file" => Ok(EntryKind::File),
            "directory" => Ok(EntryKind::Directory),
            "link" => Ok(EntryKind::Link),
            "other" => Ok(EntryKind::Other),
            rest => Err(Fault::Nonsense(rest.to_owned())),
        }
    }

    pub(super) async fn make_directory(
        &self,
        context: &Context,
        path: &GuestPath,
    ) -> Result<(), Fault> {
        let flags = flags(path, &[("make", true), ("make_last", true)]);
        match self
            .look(context, shell::MAKE_DIRECTORY, path, &flags)
            .await
        {
            Ok(_) => Ok(()),
            // The link itself is something that has the path.
            Err(fault) if fault.is(Word::DanglingLast) => Err(Fault::told(Word::Exists)),
            Err(fault) => Err(fault),
        }
    }

    pub(super) async fn remove(
        &self,
        context: &Context,
        path: &GuestPath,
        recursive: bool,
    ) -> Result<(), Fault> {
        if path.is_root() {
            return Err(Fault::IsRoot);
        }
        let flags = flags(path, &[("recursive", recursive)]);
        self.look(context, shell::REMOVE, path, &flags).await?;
        Ok(())
    }

    async fn look(
        &self,
        context: &Context,
        script: &str,
        path: &GuestPath,
        flags: &str,
    ) -> Result<Answer, Fault> {
        self.shell
            .ask(
                context,
                Question {
                    script,
                    path: path.as_str(),
                    flags,
                    arguments: &[],
                    stdin: Vec::new(),
                    limit: 8192,
                },
            )
            .await
    }
}

/// What a path leads to, where anything is there; what is no directory is told as a file.
pub(super) type EntryKindOrNone = Option<EntryKind>;

pub(super) fn number(text: &str) -> Result<u64, Fault> {
    text.parse().map_err(|_| Fault::Nonsense(text.to_owned()))
}

/// The fraction of a second in what `stat` says of a time: `2026-01-02 03:04:05.123456789 +0000`.
fn nanoseconds(time: &str) -> i64 {
    let fraction = time
        .split_once('.')
        .map_or("", |(_, rest)| rest.split(' ').next().unwrap_or(""));
    let digits: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_is_nanoseconds() {
        assert_eq!(
            nanoseconds("2026-01-02 03:04:05.012345678 +0000"),
            12_345_678
        );
        assert_eq!(nanoseconds("2026-01-02 03:04:05.5 +0000"), 500_000_000);
        assert_eq!(nanoseconds("2026-01-02 03:04:05"), 0);
    }
}
