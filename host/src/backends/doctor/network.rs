//! Interfaces and routes.

use std::collections::BTreeSet;

use belljar_protocol::facts::{Facts, Told};

use super::{Finding, listed};

/// Interfaces that the kernel itself makes in every network namespace when a module is loaded (the
/// `fb_tunnels_only_for_init_net` setting of its networking): they are down and lead nowhere until somebody
/// with NET_ADMIN changes that, which gives them a route.
const OF_THE_KERNEL: [&str; 9] = [
    "tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "sit0", "ip6tnl0", "ip6gre0",
];

const LOOPBACK: &str = "lo";

pub(in super::super) fn no_network(facts: &Facts) -> Finding {
    let Told::Text(interfaces) = &facts.interfaces else {
        return Finding::unknown();
    };
    // Two lines of heading, and then a name with a colon each.
    let mut names = Vec::new();
    for line in interfaces.lines().skip(2) {
        match line.split_once(':') {
            Some((name, _)) => names.push(name.trim()),
            None => return Finding::unknown(),
        }
    }
    if names.is_empty() {
        return Finding::unknown();
    }
    let (Some(routed), Some(routed6)) = (routed(&facts.routes), routed6(&facts.ipv6_routes)) else {
        return Finding::unknown();
    };
    let routed: BTreeSet<&str> = routed.union(&routed6).copied().collect();
    let mut got = listed(names.iter().copied());
    let beyond: Vec<&str> = (routed.iter().copied())
        .filter(|name| *name != LOOPBACK)
        .collect();
    if !beyond.is_empty() {
        got.push_str(&format!(
            "; routes through {}",
            listed(beyond.iter().copied())
        ));
        return Finding::broken(got, "there are routes that lead out");
    }
    let other = |name: &&str| *name != LOOPBACK && !OF_THE_KERNEL.contains(name);
    match names.iter().any(other) {
        true => Finding::broken(got, "there is more than the loopback interface"),
        false => Finding::holds(got),
    }
}

/// The interfaces that IPv4's routes name; none when that is not known.
fn routed(told: &Told) -> Option<BTreeSet<&str>> {
    let text = match told {
        Told::Text(text) => text,
        Told::Absent => return Some(BTreeSet::new()),
        Told::Unknown => return None,
    };
    // A heading, and then the interface first.
    let name = |line| str::split_ascii_whitespace(line).next();
    text.lines().skip(1).map(name).collect()
}

/// The same of IPv6, where the interface stands last and there is no heading.
fn routed6(told: &Told) -> Option<BTreeSet<&str>> {
    match told {
        Told::Text(text) => {
            let name = |line| str::split_ascii_whitespace(line).next_back();
            text.lines().map(name).collect()
        }
        // A kernel without it.
        Told::Absent => Some(BTreeSet::new()),
        Told::Unknown => None,
    }
}
