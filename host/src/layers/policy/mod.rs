//! What an operator allows a tool to do in a session.
//!
//! A [`Policy`] says it, a [`PolicyBackend`] holds to it. Rules for paths are about the file that is reached, not about
//! how it is spelt: a path is resolved first, judged, and then asked for as resolved and without
//! following links, so that neither a link nor one that is put there later leads around a rule.
//!
//! What a policy cannot do: bind the programs that a tool runs. They see the whole workspace, and
//! run what they like; the description says so as a gap.

mod backend;
mod beginning;
mod describe;
mod files;
mod locate;
mod programs;
mod rules;
#[cfg(test)]
mod tests;
mod walks;

use std::collections::BTreeSet;

pub use self::{
    backend::PolicyBackend,
    programs::StartedPrograms,
    rules::{PolicyError, Rules},
};

/// What a tool may do. A policy only narrows: what the backend below does not give, none gives.
///
/// ```
/// use belljar::layers::Policy;
///
/// let policy = Policy::nothing()
///     .and_read()
///     .and_write_only(["src/**", "docs/*.md"])?
///     .and_run_only(["cargo", "git"]);
/// assert!(policy.read && policy.read_paths.is_none());
/// assert!(policy.write_paths.is_some_and(|paths| paths.matches("src/main.rs")));
/// # Ok::<(), belljar::layers::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether it may look at files.
    pub read: bool,
    /// The paths that it may look at; none for all.
    pub read_paths: Option<Rules>,
    /// Whether it may change files.
    pub write: bool,
    /// The paths that it may change; none for all.
    pub write_paths: Option<Rules>,
    /// Whether it may run programs.
    pub run: bool,
    /// The programs that it may run; none for all. A name stands for what the PATH finds, a path for itself;
    /// shell text needs `sh`. An allowed program that runs others runs any.
    pub programs: Option<BTreeSet<String>>,
}

impl Policy {
    /// Allows nothing.
    #[must_use]
    pub const fn nothing() -> Self {
        Self {
            read: false,
            read_paths: None,
            write: false,
            write_paths: None,
            run: false,
            programs: None,
        }
    }

    /// Allows everything that the backend gives.
    #[must_use]
    pub const fn everything() -> Self {
        Self {
            read: true,
            read_paths: None,
            write: true,
            write_paths: None,
            run: true,
            programs: None,
        }
    }

    /// Lets it look at every file, too.
    #[must_use]
    pub fn and_read(mut self) -> Self {
        (self.read, self.read_paths) = (true, None);
        self
    }

    /// Lets it look at files that match one of the globs, too.
    ///
    /// # Errors
    /// [`PolicyError`] for a glob that is none.
    pub fn and_read_only<T: AsRef<str>>(
        mut self,
        globs: impl IntoIterator<Item = T>,
    ) -> Result<Self, PolicyError> {
        (self.read, self.read_paths) = (true, Some(Rules::new(globs)?));
        Ok(self)
    }

    /// Lets it change every file, too.
    #[must_use]
    pub fn and_write(mut self) -> Self {
        (self.write, self.write_paths) = (true, None);
        self
    }

    /// Lets it change files that match one of the globs, too.
    ///
    /// # Errors
    /// [`PolicyError`] for a glob that is none.
    pub fn and_write_only<T: AsRef<str>>(
        mut self,
        globs: impl IntoIterator<Item = T>,
    ) -> Result<Self, PolicyError> {
        (self.write, self.write_paths) = (true, Some(Rules::new(globs)?));
        Ok(self)
    }

    /// Lets it run every program, too.
    #[must_use]
    pub fn and_run(mut self) -> Self {
        (self.run, self.programs) = (true, None);
        self
    }

    /// Lets it run these programs, too.
    #[must_use]
    pub fn and_run_only<T: Into<String>>(mut self, programs: impl IntoIterator<Item = T>) -> Self {
        let programs = programs.into_iter().map(Into::into).collect();
        (self.run, self.programs) = (true, Some(programs));
        self
    }

    /// Whether it takes nothing away.
    pub(crate) fn is_everything(&self) -> bool {
        *self == Self::everything()
    }
}

impl Default for Policy {
    /// As [`everything`](Self::everything): without a policy, a tool has what the sandbox has.
    fn default() -> Self {
        Self::everything()
    }
}
