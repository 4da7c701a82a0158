//! What this way of serving the contract is weaker in, each under a stable name.

use std::fmt;

use super::place::{Found, Witness};

macro_rules! gaps {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $message:literal;)*) => {
        /// Something in which a place that only runs programs is weaker than the workspace engine.
        ///
        /// [`PosixBackend`](super::PosixBackend) tells each that is so as a hardening gap, `NAME: MESSAGE`.
        ///
        /// ```
        /// use belljar::backends::PosixGap;
        ///
        /// assert_eq!(PosixGap::LateChange.as_str(), "late-change");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum PosixGap {
            $($(#[$doc])* $variant,)*
        }

        impl PosixGap {
            /// Every gap.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The gap's stable name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What is weaker: a lower-case fragment for people.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)* }
            }
        }
    };
}

gaps! {
    /// A look at a name and its use are two steps.
    LookAndUse = "look-and-use", "file functions run as programs: a process of the sandbox can put another file or link in the place of one between the look at it and its use, or change one between the check of its version and the change";
    /// A change that was given up may still happen.
    LateChange = "late-change", "a change that was cancelled, or ran out of its time, may still be made after its call has come back: whole, but late";
    /// A program does not see the name that it was called by.
    ProgramName = "program-name", "a program that was found on the PATH is called by its whole path, so its argv[0] is not the name that was given";
    /// A process can hide from the end of its call.
    StrayProcesses = "stray-processes", "a process that leaves its group and clears its environment can outlive its call";
    /// An exit code can be taken for a signal.
    ExitCodes = "exit-codes", "without bash or time an exit code from 129 to 192 is told as a signal";
    /// An open file is not compared with its name.
    SwappedFile = "swapped-file", "without /proc a link that is put in the place of a file while it is read can lead out";
    /// Mounts of one file system are not told apart.
    RenameAcrossMounts = "rename-across-mounts", "without mnt_id in /proc/self/fdinfo a rename from one mount of a file system to another is not refused, but made as a copy and a removal";
}

impl fmt::Display for PosixGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.as_str(), self.message())
    }
}

impl PosixGap {
    /// Those that every place has, whatever there is to work with.
    pub(crate) const ALWAYS: [Self; 4] = [
        Self::LookAndUse,
        Self::LateChange,
        Self::ProgramName,
        Self::StrayProcesses,
    ];

    /// Those of a place with these means.
    pub(super) fn of(found: &Found) -> Vec<Self> {
        let has = |gap: &Self| match gap {
            Self::LookAndUse | Self::LateChange => true,
            // Without /proc there are no processes.
            Self::ProgramName | Self::StrayProcesses => found.has_proc,
            Self::ExitCodes => found.has_proc && found.witness == Witness::None,
            Self::SwappedFile => !found.has_proc,
            Self::RenameAcrossMounts => !found.has_mounts,
        };
        Self::ALL.iter().copied().filter(has).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &str) -> Found {
        Found::parse(format!("ok\n{words}root\n/w").as_bytes(), "/w").unwrap()
    }

    #[test]
    fn a_place_with_all_means_has_what_no_place_can_help() {
        let all = found("has proc\nhas mounts\nhas fraction\nhas time\n");
        assert_eq!(PosixGap::of(&all), PosixGap::ALWAYS);
    }

    #[test]
    fn each_means_that_lacks_is_told() {
        let no_witness = found("has proc\nhas mounts\n");
        assert!(PosixGap::of(&no_witness).contains(&PosixGap::ExitCodes));
        let nothing = PosixGap::of(&found(""));
        let right = [
            PosixGap::LookAndUse,
            PosixGap::LateChange,
            PosixGap::SwappedFile,
            PosixGap::RenameAcrossMounts,
        ];
        assert_eq!(nothing, right);
    }

    #[test]
    fn names_are_distinct() {
        let names: std::collections::BTreeSet<_> =
            PosixGap::ALL.iter().map(|gap| gap.as_str()).collect();
        assert_eq!(names.len(), PosixGap::ALL.len());
    }
}
