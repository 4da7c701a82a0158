//! `stat`, `resolve`, `make-directory` and `remove`: what needs no content.

use belljar_contract::{
    Context, GuestPath,
    files::{EntryKind, Info},
};

use super::{
    PosixBackend,
    fault::{Fault, Word},
    listing::kind_of,
    shell::{self, Answer, Question, flags, number},
};

impl PosixBackend {
    pub(super) async fn stat(&self, context: &Context, path: &GuestPath) -> Result<Info, Fault> {
        let answer = self
            .look(context, shell::STAT, path, &flags(path, &[]))
            .await?;
        let nonsense = || Fault::Nonsense(answer.rest.clone());
        let mut parts = answer.rest.splitn(4, ' ');
        let mut next = || parts.next().ok_or_else(nonsense);
        let (mode, size, seconds, time) = (next()?, next()?, next()?, next()?);
        let mode = u32::from_str_radix(mode, 16).map_err(|_| nonsense())?;
        let kind = kind_of(mode);
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
