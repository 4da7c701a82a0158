//! `read` and `read-range`, and the version of what is read.

use belljar_contract::{
    Context, GuestPath, Version,
    files::{Chunk, Content},
};
use belljar_workspace::files::version_of;

use super::{
    PosixBackend,
    fault::Fault,
    gather::LARGEST_SEARCHED,
    shell::{self, Answer, Question, flags, number},
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
        let limit = LARGEST_SEARCHED;
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
}
