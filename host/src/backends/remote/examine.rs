//! Opens a session only to see what the place gives.
//!
//! Nothing was asked of it but the workspace, so nothing else can be contradicted: the rows say what processes there
//! have, in the kernel's own words. It is the resident's word, as far as that can be believed.

use belljar_contract::{Backend as _, Context};
use belljar_protocol::facts::{Attempt, Facts, Told};

use super::{
    super::{ExamineError, Report, Row, Standing},
    RemoteOptions,
};

/// The most characters of what was told that a row shows.
const SHOWN: usize = 120;

impl RemoteOptions {
    /// Connects, asks the resident what it sees, and closes the session.
    ///
    /// # Ambient authority
    /// As [`open_ambient`](Self::open_ambient).
    ///
    /// # Errors
    /// [`ExamineError`] when the session does not open, is not had, or is lost.
    pub async fn examine_ambient(self, context: &Context) -> Result<Report, ExamineError> {
        let writable = self.writable;
        let session = self.prepare_ambient()?;
        let probed = session.probe(context).await;
        let closed = session.close().await;
        let facts = probed?;
        closed?;
        let description = session.describe();
        let mut rows = rows(&facts, writable);
        rows.extend(description.hardening_gaps.iter().map(|gap| Row {
            gap: Some(gap.clone()),
            ..row("hardening", "no", "less".to_owned(), Standing::NotAsked)
        }));
        Ok(Report {
            backend: description.backend.clone(),
            rows,
            fall_back: Vec::new(),
        })
    }
}

fn row(guarantee: &str, asked: &str, got: String, standing: Standing) -> Row {
    Row {
        guarantee: guarantee.to_owned(),
        asked: asked.to_owned(),
        got,
        standing,
        gap: None,
        required: false,
    }
}

fn rows(facts: &Facts, writable: bool) -> Vec<Row> {
    let told = |got: Option<String>| got.unwrap_or_else(|| "not told".to_owned());
    let seen = |name: &str, got| row(name, "no", told(got), Standing::NotAsked);
    let numbers = |name: &str| {
        let first = field(&facts.status, name)?
            .split_ascii_whitespace()
            .next()?;
        Some(shown(first))
    };
    let user = numbers("Uid").zip(numbers("Gid"));
    let workspace = match (&facts.workspace, writable) {
        (Attempt::Possible, true) => ("it can be written".to_owned(), Standing::Held),
        (Attempt::Refused(why), true) => (shown(why), Standing::Contradicted),
        (Attempt::NotTried, true) => ("not told".to_owned(), Standing::Unseen),
        // What the file functions change, the sandbox decides before it asks.
        (_, false) => (
            "the file functions only read it".to_owned(),
            Standing::Believed,
        ),
    };
    let asked = match writable {
        true => "it can be written",
        false => "it can only be read",
    };
    vec![
        row("workspace", asked, workspace.0, workspace.1),
        seen(
            "user",
            user.map(|(user, group)| format!("user {user}, group {group}")),
        ),
        seen(
            "capabilities",
            field(&facts.status, "CapEff").map(|set| match set.trim_start_matches('0') {
                "" => "none".to_owned(),
                set => format!("0x{}", shown(set)),
            }),
        ),
        seen(
            "no-new-privileges",
            field(&facts.status, "NoNewPrivs").map(|on| match on {
                "1" => "on".to_owned(),
                _ => "off".to_owned(),
            }),
        ),
        seen(
            "seccomp",
            field(&facts.status, "Seccomp").map(|mode| match mode {
                "2" => "a filter".to_owned(),
                mode => format!("mode {}", shown(mode)),
            }),
        ),
        seen("no-network", interfaces(&facts.interfaces)),
    ]
}

fn field<'a>(status: &'a Told, name: &str) -> Option<&'a str> {
    let Told::Text(text) = status else {
        return None;
    };
    let line = |line: &'a str| line.strip_prefix(name)?.strip_prefix(':');
    text.lines().find_map(line).map(str::trim)
}

/// The names of the interfaces, below two lines of heading.
fn interfaces(told: &Told) -> Option<String> {
    let Told::Text(text) = told else {
        return None;
    };
    let names = text.lines().skip(2);
    let names: Vec<&str> = names
        .filter_map(|line| Some(line.split_once(':')?.0.trim()))
        .collect();
    Some(shown(&names.join(", ")))
}

fn shown(text: &str) -> String {
    text.chars()
        .filter(|character| !character.is_control())
        .take(SHOWN)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_shown_and_nothing_more() {
        let facts = Facts {
            status: Told::Text(
                "Name:\tbelljar\nUid:\t0\t0\t0\t0\nGid:\t5\t5\t5\t5\nNoNewPrivs:\t0\nSeccomp:\t2\nCapEff:\t00000000000000ff\n"
                    .into(),
            ),
            interfaces: Told::Text("a|\nb|\n    lo: 1\n  eth0: 2\n".into()),
            workspace: Attempt::Possible,
            ..Facts::default()
        };
        let got = |facts: &Facts| -> Vec<String> {
            let rows = rows(facts, true).into_iter();
            rows.map(|row| format!("{} {}: {}", row.guarantee, row.standing, row.got))
                .collect()
        };
        assert_eq!(
            got(&facts),
            [
                "workspace held: it can be written",
                "user not-asked: user 0, group 5",
                "capabilities not-asked: 0xff",
                "no-new-privileges not-asked: off",
                "seccomp not-asked: a filter",
                "no-network not-asked: lo, eth0",
            ]
        );
        let nothing = got(&Facts::default());
        assert_eq!(nothing[0], "workspace unseen: not told");
        assert!(nothing.iter().all(|row| row.ends_with("not told")));
    }
}
