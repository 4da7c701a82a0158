//! What a session looks like through a policy.

use std::collections::BTreeSet;

use belljar_contract::session::{Capability, Description};

use super::{Policy, Rules, beginning::literal_beginning};

/// Tells of a programs' freedom that a policy for paths cannot take.
const UNBOUND: &str = "programs that this tool runs are not bound by the policy's rules for reading and changing files";

/// The description of what the policy leaves.
pub(super) fn narrow(below: &Description, policy: &Policy) -> Description {
    let mut left = below.clone();
    let mut taken: Vec<Capability> = Vec::new();
    if !policy.read {
        taken.push(Capability::Read);
    }
    if !policy.write {
        taken.push(Capability::Write);
        left.writable = false;
    }
    if !policy.run {
        taken.extend([
            Capability::Run,
            Capability::Start,
            Capability::User,
            Capability::OutOfMemory,
        ]);
    }
    left.capabilities
        .retain(|capability| !taken.contains(capability));
    left.policy.read = paths(below.policy.read.clone(), policy.read, &policy.read_paths);
    left.policy.write = paths(
        below.policy.write.clone(),
        policy.write,
        &policy.write_paths,
    );
    left.policy.programs = programs(below.policy.programs.clone(), policy);

    let bound = policy.read_paths.is_some() || policy.write_paths.is_some();
    let unbound = bound || !policy.write || !policy.read;
    let gap = || UNBOUND.to_owned();
    if left.can(Capability::Run) && unbound && !left.hardening_gaps.contains(&gap()) {
        left.hardening_gaps.push(gap());
    }
    let summary = summary(&left);
    if !left.instructions.is_empty() {
        left.instructions.push(' ');
    }
    left.instructions.push_str(&summary);
    left
}

fn summary(left: &Description) -> String {
    let files = |verb: &str, globs: &Option<Vec<String>>| match globs.as_deref() {
        None => format!("{verb} any file"),
        Some([]) => format!("{verb} no file"),
        Some(globs) => format!("{verb} only {}", globs.join(", ")),
    };
    let write = if left.writable {
        files("change", &left.policy.write)
    } else {
        "change no file".to_owned()
    };
    let run = match left.policy.programs.as_deref() {
        _ if !left.can(Capability::Run) => "run nothing".to_owned(),
        Some([]) => "run nothing".to_owned(),
        None => "run any program".to_owned(),
        Some(programs) => format!("run only {}", programs.join(", ")),
    };
    let read = files("read", &left.policy.read);
    format!("By policy, this tool may {read}; {write}; {run}.")
}

/// The globs that are left. Of two lists each keeps what surely is in the other: the
/// summary may say less than is allowed, and never more.
fn paths(below: Option<Vec<String>>, allowed: bool, rules: &Option<Rules>) -> Option<Vec<String>> {
    if !allowed {
        return Some(Vec::new());
    }
    let Some(rules) = rules else { return below };
    let Some(below) = below else {
        return Some(rules.globs().to_vec());
    };
    let within = |glob: &String, other: &Rules| {
        other.globs().contains(glob) || other.covers(&literal_beginning(glob).0.join("/"))
    };
    // Globs of a layer that has another dialect narrow all the same; they are only not shown.
    let Ok(parsed) = Rules::new(&below) else {
        return Some(Vec::new());
    };
    let ours = rules.globs().iter().filter(|glob| within(glob, &parsed));
    let mut left: Vec<String> = ours.cloned().collect();
    for glob in below {
        if within(&glob, rules) && !left.contains(&glob) {
            left.push(glob);
        }
    }
    Some(left)
}

fn programs(below: Option<Vec<String>>, policy: &Policy) -> Option<Vec<String>> {
    if !policy.run {
        return Some(Vec::new());
    }
    let Some(ours) = &policy.programs else {
        return below;
    };
    let below: Option<BTreeSet<String>> = below.map(|names| names.into_iter().collect());
    let both = |name: &&String| below.as_ref().is_none_or(|below| below.contains(*name));
    Some(ours.iter().filter(both).cloned().collect())
}
