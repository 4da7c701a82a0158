//! What a session was asked to guarantee, and what it was found to give.

use std::fmt;

use belljar_contract::{
    Error,
    session::{Capability, Description},
};

use super::OpenError;

/// What is to be said of one guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It was asked for, and was seen to hold.
    Held,
    /// It was asked for, and nothing inside can see it: the backend's word stands.
    Believed,
    /// It was not asked for.
    NotAsked,
    /// It was asked for, and it was known before the start that it cannot be had.
    Missing,
    /// It was asked for, and was seen not to hold.
    Contradicted,
    /// It was asked for, could be seen, and was not told.
    Unseen,
}

impl Standing {
    /// The standing's stable name.
    ///
    /// ```
    /// assert_eq!(belljar::backends::Standing::NotAsked.as_str(), "not-asked");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Believed => "believed",
            Self::NotAsked => "not-asked",
            Self::Missing => "missing",
            Self::Contradicted => "contradicted",
            Self::Unseen => "unseen",
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One guarantee: asked, got, and the gap between the two.
///
/// What was got may be an untrusted program's words: show it, and do nothing else with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The guarantee's name: of a container one of [`Guarantee`](super::Guarantee)'s, or `workspace`, `tmp`
    /// or `binds`; without a resident those of [`PosixGap`](super::PosixGap), too.
    pub guarantee: String,
    /// What was asked for, for people.
    pub asked: String,
    /// What was seen, for people.
    pub got: String,
    /// What is to be said of it.
    pub standing: Standing,
    /// Why it does not hold, where that is known.
    pub gap: Option<String>,
    /// Whether the configuration requires it.
    pub required: bool,
}

impl Row {
    /// Whether the session should not be used: it is other than was asked, or lacks what is required.
    #[must_use]
    pub const fn fails(&self) -> bool {
        match self.standing {
            Standing::Contradicted => true,
            Standing::NotAsked | Standing::Missing | Standing::Unseen => self.required,
            Standing::Held | Standing::Believed => false,
        }
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExamineError {
    /// The session does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It opens, and is then not there.
    #[error(transparent)]
    Session(#[from] Error),
}

/// Something in which a session would be weaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakness {
    /// The stable name, under which a session that is so has it as a hardening gap.
    pub name: String,
    /// What is weaker: a lower-case fragment for people.
    pub message: String,
}

/// What a session was asked to guarantee, and what it was found to give.
///
/// ```
/// use belljar::{Context, OpenOptions, config::Config, examine_ambient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = Config::temporary();
/// let report = examine_ambient(&Context::new(), &config, OpenOptions::default()).await?;
/// assert_eq!(report.backend, "virtual");
/// assert!(report.failures().next().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The backend's name.
    pub backend: String,
    /// A row a guarantee.
    pub rows: Vec<Row>,
    /// What would be weaker in a session of the same configuration that had to do without the program that serves
    /// it. Nothing, where it does without already: then they are rows.
    pub fall_back: Vec<Weakness>,
}

impl Report {
    /// The guarantees for which the session should not be used.
    pub fn failures(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.fails())
    }

    /// Of a backend that has nothing to look into: what it says of itself.
    pub(crate) fn of(description: &Description) -> Self {
        let row = |guarantee: &str, asked: &str, got: &str, standing| Row {
            guarantee: guarantee.to_owned(),
            asked: asked.to_owned(),
            got: got.to_owned(),
            standing,
            gap: None,
            required: false,
        };
        let writable = match description.writable {
            true => "it can be changed",
            false => "it can only be read",
        };
        let files = format!("every path is opened beneath it; {writable}");
        let mut rows = vec![row("workspace", "confined", &files, Standing::Believed)];
        if description.can(Capability::Run) {
            let got = "processes of this machine, with the rights of its user";
            rows.push(row("no-processes", "no", got, Standing::NotAsked));
            rows.push(row("no-network", "no", "the machine's", Standing::NotAsked));
        } else {
            let standing = Standing::Believed;
            rows.push(row("no-processes", "yes", "there are none", standing));
            rows.push(row("no-network", "yes", "nothing can use one", standing));
        }
        rows.extend(description.hardening_gaps.iter().map(|gap| Row {
            gap: Some(gap.clone()),
            ..row("hardening", "no", "less", Standing::NotAsked)
        }));
        Self {
            backend: description.backend.clone(),
            rows,
            fall_back: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(standing: Standing, required: bool) -> Row {
        Row {
            guarantee: "seccomp".into(),
            asked: String::new(),
            got: String::new(),
            standing,
            gap: None,
            required,
        }
    }

    #[test]
    fn what_contradicts_fails_and_what_is_required_must_be_there() {
        for (standing, fails, fails_required) in [
            (Standing::Held, false, false),
            (Standing::Believed, false, false),
            (Standing::NotAsked, false, true),
            (Standing::Missing, false, true),
            (Standing::Contradicted, true, true),
            (Standing::Unseen, false, true),
        ] {
            assert_eq!(row(standing, false).fails(), fails, "{standing}");
            assert_eq!(row(standing, true).fails(), fails_required, "{standing}");
        }
    }
}
