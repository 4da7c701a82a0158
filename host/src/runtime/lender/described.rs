//! What is believed of a description: no more than the operator allows, and nothing without a bound.

use belljar_contract::session::{Capability, Description, Limits, PolicySummary};

use super::{
    super::convert, bindings::backend::exports::belljar::sandbox::session as wit, convert::Bad,
    state::Settings,
};

/// The most bytes of the root's path.
const ROOT_BYTES: usize = 1024;
/// The most gaps that are told on.
const MOST_GAPS: usize = 64;

/// What the operator says of a session, whatever its backend does.
#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    /// Whether anything may be changed.
    pub(crate) writable: bool,
    /// The numbers in force; a backend may have smaller ones.
    pub(crate) limits: Limits,
}

/// Reads a component's description of its sandbox.
pub(super) fn described(
    described: wit::Description,
    allowed: &Allowed,
    settings: &Settings,
) -> Result<Description, Bad> {
    let is_root = |root: &str| {
        let parts = || root.split('/').skip(1);
        root.starts_with('/')
            && root.len() <= ROOT_BYTES
            && !root.contains(char::is_control)
            && (root == "/" || parts().all(|part| !matches!(part, "" | "." | "..")))
    };
    if !is_root(&described.root) {
        return Err(Bad("a root that is no absolute and normal path"));
    }
    let process_root = described.process_root;
    if process_root.as_deref().is_some_and(|root| !is_root(root)) {
        return Err(Bad(
            "a root of processes that is no absolute and normal path",
        ));
    }
    let writable = described.writable && allowed.writable;
    let told = described.capabilities.into_iter();
    let mut capabilities: Vec<Capability> = told.map(convert::capability_from).collect();
    capabilities.sort_unstable();
    capabilities.dedup();
    capabilities.retain(|capability| writable || *capability != Capability::Write);
    let gaps = described.hardening_gaps.iter().take(MOST_GAPS);
    Ok(Description {
        // Which component it is, its operator knows; what it calls itself could be another backend's name.
        backend: "component".to_owned(),
        root: described.root,
        process_root,
        writable,
        durable: described.durable,
        capabilities,
        limits: smaller(&described.limits, &allowed.limits)?,
        policy: PolicySummary::default(),
        instructions: settings.told(&described.instructions),
        hardening_gaps: gaps.map(|gap| settings.told(gap)).collect(),
    })
}

/// Of each number the smaller one.
fn smaller(told: &wit::Limits, allowed: &Limits) -> Result<Limits, Bad> {
    let milliseconds = std::time::Duration::from_millis;
    let output_maximum = told.output_maximum.min(allowed.output_maximum);
    let timeout_maximum = milliseconds(told.timeout_maximum).min(allowed.timeout_maximum);
    if timeout_maximum.is_zero() || told.timeout_default == 0 {
        return Err(Bad("a time limit of nothing"));
    }
    Ok(Limits {
        file_bytes: told.file_bytes.min(allowed.file_bytes),
        results: told.results.min(allowed.results),
        stdin_bytes: told.stdin_bytes.min(allowed.stdin_bytes),
        argument_bytes: told.argument_bytes.min(allowed.argument_bytes),
        output_default: told
            .output_default
            .min(allowed.output_default)
            .min(output_maximum),
        output_maximum,
        timeout_default: milliseconds(told.timeout_default)
            .min(allowed.timeout_default)
            .min(timeout_maximum),
        timeout_maximum,
        processes: told.processes.min(allowed.processes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told() -> wit::Description {
        wit::Description {
            backend: "virtual".into(),
            root: "/work".into(),
            process_root: None,
            writable: true,
            durable: true,
            capabilities: vec![
                convert::capability_to(Capability::Write),
                convert::capability_to(Capability::Read),
                convert::capability_to(Capability::Read),
            ],
            limits: wit::Limits {
                file_bytes: u64::MAX,
                results: 5,
                stdin_bytes: u64::MAX,
                argument_bytes: u64::MAX,
                output_default: u64::MAX,
                output_maximum: 10,
                timeout_default: u64::MAX,
                timeout_maximum: 3_000,
                processes: u32::MAX,
            },
            policy: wit::Policy {
                read: Some(vec!["a".into()]),
                write: None,
                programs: None,
            },
            instructions: "x".repeat(1 << 20),
            hardening_gaps: vec!["a\nb".into(); 1000],
        }
    }

    fn read(told: wit::Description, writable: bool) -> Result<Description, Bad> {
        let limits = Limits::default();
        described(told, &Allowed { writable, limits }, &Settings::default())
    }

    #[test]
    fn a_description_is_narrowed_and_bounded() {
        let Ok(read) = read(told(), true) else {
            panic!("it is a description");
        };
        let limits = Limits::default();
        assert_eq!(read.backend, "component");
        assert_eq!(read.capabilities, [Capability::Read, Capability::Write]);
        assert_eq!(read.limits.file_bytes, limits.file_bytes);
        assert_eq!((read.limits.results, read.limits.output_default), (5, 10));
        assert_eq!(read.limits.timeout_default.as_secs(), 3);
        assert!(read.instructions.len() < 4096);
        assert_eq!(
            (read.hardening_gaps.len(), read.hardening_gaps[0].as_str()),
            (64, "a b")
        );
    }

    #[test]
    fn what_may_not_be_changed_is_not_said_to_be() {
        let Ok(read) = read(told(), false) else {
            panic!("it is a description");
        };
        assert!(!read.writable);
        assert_eq!(read.capabilities, [Capability::Read]);
    }

    #[test]
    fn a_root_is_absolute_and_normal() {
        for bad in ["", "work", "/a/", "/a/../b", "//a", "/a\nb"] {
            let root = bad.to_owned();
            assert!(
                read(wit::Description { root, ..told() }, true).is_err(),
                "{bad:?}"
            );
        }
    }
}
