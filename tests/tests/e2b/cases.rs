//! A part of the conformance suite over the shim. All of it takes minutes, and runs when it is named:
//! `cargo test -p belljar-tests --test conformance -- e2b::`.

use std::sync::Arc;

use belljar_conformance::{Factory, Outcome, Shared, TIME_LIMIT, cases, run_case};

use super::*;

/// One or two of what the shim could spoil: bytes both ways, names, links, ends of programs.
const PART: [&str; 14] = [
    "files.read/every-byte-survives",
    "files.write/makes-and-replaces",
    "files.write/names-are-data",
    "files.write/leaves-nothing-beside",
    "files.replace/new-text-is-literal",
    "versions/are-the-same-by-every-function",
    "links/are-followed",
    "escapes/by-a-link-as-a-parent",
    "glob/signs-in-names",
    "search/lines-and-offsets",
    "processes.run/exit-codes",
    "field/output-that-is-not-utf-8",
    "workspace/three-megabytes-both-ways",
    "session.describe/is-complete-and-steady",
];

#[test]
fn a_part_of_the_suite_holds() {
    let place = place();
    let sandbox = open(&place);
    let factory: Arc<dyn Factory> = Arc::new(Shared::new((*sandbox).clone()));
    for name in PART {
        let case = cases().iter().find(|case| case.name == name);
        let case = case.unwrap_or_else(|| panic!("there is no case {name}"));
        let outcome = run_case(case, &factory, TIME_LIMIT).outcome;
        assert!(matches!(outcome, Outcome::Passed), "{name}: {outcome:?}");
    }
    close(&sandbox);
}
