//! What a container without a resident tells of itself, by one exec of its own shell.
//!
//! They are the facts that a resident tells, and the same functions judge them. But who answers is the image's shell
//! and its utilities, and not a program of the host's: an image that lies says that its container is stronger or
//! weaker than it is. So they are asked for before anything else runs there, bounded, and worth what the image is.

use belljar_contract::{Context, Error, ErrorKind, Operation, Result};
use belljar_protocol::facts::{
    Attempt, Facts, LimitFile, MAX_LIMITS, MAX_TEXT_BYTES, MAX_WORD_BYTES, Told,
};

use crate::backends::posix::{PosixBackend, nonce};

const FACTS: &str = include_str!("sh/facts.sh");

/// The most bytes of all texts and words together.
const ANSWER_BYTES: u64 = (6 * MAX_TEXT_BYTES + 2 * MAX_LIMITS * MAX_WORD_BYTES) as u64;

/// Asks.
///
/// # Errors
/// Those of an exec, and `backend-failed` when the answer is none.
pub(super) async fn facts(
    context: &Context,
    posix: &PosixBackend,
    workspace: &str,
) -> Result<Facts> {
    let word = nonce();
    let [text, few] = [MAX_TEXT_BYTES, MAX_WORD_BYTES].map(|most| (most + 1).to_string());
    // Another word: what a shell says of a file has its name in it.
    let file = format!(".belljar-{}", nonce());
    let arguments = [word.as_str(), workspace, &text, &few, &file];
    let body = posix.tell(context, FACTS, &arguments, ANSWER_BYTES).await?;
    parse(&body, word.as_bytes()).ok_or_else(|| {
        let message = "the container's shell does not tell what it sees";
        Error::new(ErrorKind::BackendFailed, Operation::Open, message)
    })
}

/// None when there is no end, or a part is none of the script's.
fn parse(body: &[u8], word: &[u8]) -> Option<Facts> {
    let body = String::from_utf8_lossy(body);
    let word = str::from_utf8(word).ok()?;
    let mut facts = Facts::default();
    let mut parts = body.split(word);
    if !parts.next()?.is_empty() {
        return None;
    }
    for part in parts {
        let (head, content) = part.split_once('\n')?;
        let (kind, name) = head.split_once(' ')?;
        match (kind, name) {
            ("end", _) => return facts.are_bounded().then_some(facts),
            ("pid", _) => facts.pid = content.trim().parse().unwrap_or_default(),
            ("machine", _) => facts.machine = short(content),
            ("limit", path) if facts.limits.len() < MAX_LIMITS && path.len() <= MAX_WORD_BYTES => {
                facts.limits.push(LimitFile {
                    path: path.to_owned(),
                    text: short(content),
                });
            }
            // More of them than there are files of limits.
            ("limit", _) => return None,
            ("text", name) => {
                let whole = content.len() <= MAX_TEXT_BYTES;
                *text(&mut facts, name)? = match whole {
                    true => Told::Text(content.to_owned()),
                    false => Told::Unknown,
                };
            }
            ("absent", name) => *text(&mut facts, name)? = Told::Absent,
            // Reading it failed, perhaps in the middle.
            ("unknown", name) => *text(&mut facts, name)? = Told::Unknown,
            ("possible", name) => *attempt(&mut facts, name)? = Attempt::Possible,
            ("refused", name) => *attempt(&mut facts, name)? = Attempt::Refused(short(content)),
            _ => return None,
        }
    }
    None
}

fn short(content: &str) -> String {
    let content = content.trim();
    content[..content.floor_char_boundary(MAX_WORD_BYTES)].to_owned()
}

fn text<'a>(facts: &'a mut Facts, name: &str) -> Option<&'a mut Told> {
    match name {
        "status" => Some(&mut facts.status),
        "mounts" => Some(&mut facts.mounts),
        "interfaces" => Some(&mut facts.interfaces),
        "routes" => Some(&mut facts.routes),
        "ipv6-routes" => Some(&mut facts.ipv6_routes),
        _ => None,
    }
}

fn attempt<'a>(facts: &'a mut Facts, name: &str) -> Option<&'a mut Attempt> {
    match name {
        "root" => Some(&mut facts.root),
        "workspace" => Some(&mut facts.workspace),
        "tmp" => Some(&mut facts.tmp),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_a_fact() {
        let body = "Wpid \n17Wmachine \nx86_64\nWtext status\nCapBnd:\t0\nWabsent ipv6-routes\n\
                    Wtext mounts\nhalfWunknown mounts\n\
                    Wlimit /sys/fs/cgroup/pids.max\n512\nWrefused root\nsh: no\nWpossible tmp\nWend \n";
        let right = Facts {
            pid: 17,
            machine: "x86_64".to_owned(),
            status: Told::Text("CapBnd:\t0\n".to_owned()),
            ipv6_routes: Told::Absent,
            limits: vec![LimitFile {
                path: "/sys/fs/cgroup/pids.max".to_owned(),
                text: "512".to_owned(),
            }],
            root: Attempt::Refused("sh: no".to_owned()),
            tmp: Attempt::Possible,
            ..Facts::default()
        };
        assert_eq!(parse(body.as_bytes(), b"W"), Some(right));
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for body in [
            "",
            "pid",
            "xWend \n",
            "Wpid \n1",
            "Wtext other\nWend \n",
            "Wend",
        ] {
            assert_eq!(parse(body.as_bytes(), b"W"), None, "{body}");
        }
        let many = "Wlimit /a\n1".repeat(MAX_LIMITS + 1) + "Wend \n";
        assert_eq!(parse(many.as_bytes(), b"W"), None);
    }

    #[test]
    fn what_is_too_long_is_not_told() {
        let long = "x".repeat(MAX_TEXT_BYTES + 1);
        let body = format!("Wtext status\n{long}Wmachine \n{long}Wend \n");
        let facts = parse(body.as_bytes(), b"W").unwrap();
        assert_eq!(facts.status, Told::Unknown);
        assert_eq!(facts.machine.len(), MAX_WORD_BYTES);
    }
}
