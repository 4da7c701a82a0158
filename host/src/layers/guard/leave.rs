//! Whether a file may be changed: what of it was read, in which version, by which name.

use belljar_contract::{Context, ErrorKind, Expected, GuestPath, Operation, Result, Version};

use super::{
    backend::{CHANGED, Guard, stale},
    state::{Known, Much},
};

/// How a change may go on.
pub(super) struct Leave {
    /// What the backend is told to expect.
    pub(super) expected: Expected,
    /// How much of the file is known before the change.
    pub(super) much: Much,
    /// Whether the guard chose what to expect, and so explains it when it is not met.
    pub(super) ours: bool,
}

impl Leave {
    pub(super) fn known(known: Known) -> Self {
        let ours = known.version.is_some();
        Self {
            // Where only lines of it were found no version is known; what is replaced is
            // checked by its own text, and what is appended takes nothing away.
            expected: known.version.map_or(Expected::Any, Expected::Version),
            much: known.much,
            ours,
        }
    }
}

impl Guard {
    /// Leave to change a file as it is now, if this has been read, or to make it if it is not there.
    pub(super) async fn leave_now(
        &self,
        context: &Context,
        operation: Operation,
        path: &GuestPath,
        need: Much,
    ) -> Result<Leave> {
        let version = match self.version(context, operation, path).await {
            Ok(version) => version,
            Err(error) if error.kind == ErrorKind::NotFound && operation != Operation::Replace => {
                return Ok(Leave {
                    expected: Expected::Absent,
                    much: Much::Whole,
                    ours: true,
                });
            }
            Err(error) => return Err(error),
        };
        self.leave_for(context, operation, path, version, need)
            .await
    }

    /// Leave to change a file in this version, if it has been read.
    pub(super) async fn leave_for(
        &self,
        context: &Context,
        operation: Operation,
        path: &GuestPath,
        version: Version,
        need: Much,
    ) -> Result<Leave> {
        let leave = |much, version| Leave {
            expected: Expected::Version(version),
            much,
            ours: true,
        };
        let known = self.seen.known(path.as_str());
        let here = known
            .as_ref()
            .filter(|known| known.version.as_ref() == Some(&version));
        if let Some(known) = here.filter(|known| known.much >= need) {
            return Ok(leave(known.much, version));
        }
        let same = self.seen.same(&version, path.as_str());
        if same.iter().any(|(_, much)| *much >= need) {
            let real = self.resolve(context, operation, path).await?;
            for (other, much) in same.into_iter().filter(|(_, much)| *much >= need) {
                if other == real.as_str() || self.leads(context, operation, &other, &real).await? {
                    return Ok(leave(much, version));
                }
            }
        }
        let why = match (here, known.is_some()) {
            (Some(_), _) => "only a part of it has been read; read the whole file first",
            (None, true) => CHANGED,
            (None, false) => "it exists, and has not been read in this version; read it first",
        };
        Err(stale(operation, path, why))
    }

    /// Whether a path that was read leads to this one.
    async fn leads(
        &self,
        context: &Context,
        operation: Operation,
        other: &str,
        real: &GuestPath,
    ) -> Result<bool> {
        let Ok(other) = GuestPath::try_from(other.to_owned()) else {
            return Ok(false);
        };
        match self.resolve(context, operation, &other).await {
            Ok(other) => Ok(other.as_str() == real.as_str()),
            // Whatever became of it, it is not this file now.
            Err(_) => {
                context.check().map_err(|stop| stop.during(operation))?;
                Ok(false)
            }
        }
    }
}
