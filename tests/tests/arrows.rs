//! The dependencies point one way: reads the source and fails where an arrow points back.

#![expect(clippy::disallowed_methods, reason = "a test reads the sources")]

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use belljar_tests::workspace_root;

/// A folder (or file), and what nothing in it may name.
const FORBIDDEN: &[(&str, &[&str])] = &[
    (
        "host/contract/src",
        &[
            "belljar_workspace",
            "wasmtime",
            "belljar::",
            "belljar_guest",
            "tokio",
            "std::fs",
        ],
    ),
    (
        "host/workspace/src",
        &[
            "wasmtime",
            "belljar::",
            "belljar_guest",
            "tokio",
            "std::env",
        ],
    ),
    (
        "host/src/runtime",
        &[
            "crate::config",
            "crate::backends",
            "crate::layers",
            "crate::host",
            "crate::tool",
            "belljar_workspace",
            "clap",
        ],
    ),
    (
        "host/src/layers",
        &[
            "crate::config",
            "crate::backends",
            "crate::runtime",
            "crate::host",
            "crate::tool",
            "wasmtime",
            "clap",
        ],
    ),
    (
        "host/src/backends",
        &[
            "crate::config",
            "crate::layers",
            "crate::runtime",
            "crate::host",
            "crate::tool",
            "wasmtime",
            "clap",
        ],
    ),
    (
        // Of the backends it names options, and opens none; see `OPTIONS`.
        "host/src/programs",
        &[
            "crate::config",
            "crate::backends",
            "crate::layers",
            "crate::host",
            "crate::tool",
            "wasmtime",
            "clap",
        ],
    ),
    (
        "host/src/config",
        &[
            ".open_ambient",
            ".examine_ambient",
            "crate::host",
            "crate::tool",
            "crate::sandbox",
            "wasmtime",
            "clap",
        ],
    ),
    (
        "host/src/host.rs",
        &["clap", "wasmtime::", "belljar_workspace"],
    ),
    (
        "host/src/tool.rs",
        &["clap", "wasmtime::", "belljar_workspace", "crate::backends"],
    ),
    (
        "host/src/sandbox.rs",
        &[
            "clap",
            "wasmtime::",
            "belljar_workspace",
            "crate::backends",
            "crate::config",
        ],
    ),
    (
        "tests/conformance/src",
        &[
            "belljar_workspace",
            "belljar::",
            "belljar_guest",
            "wasmtime",
            "tokio",
        ],
    ),
];

/// What a configuration may name of the backends: options, which are values, and what these are made of.
const OPTIONS: &[&str] = &[
    "Bind",
    "ComponentLimits",
    "ComponentOptions",
    "ClusterAccess",
    "ContainerEngine",
    "ContainerOptions",
    "ContainerUser",
    "Guarantee",
    "HttpGrant",
    "KubernetesOptions",
    "LocalOptions",
    "PodResident",
    "PodToleration",
    "PoolOptions",
    "PullPolicy",
    "RemoteOptions",
    "ResidentChoice",
    "SecretSource",
    "TransportChoice",
];

fn sources(place: &Path, into: &mut Vec<PathBuf>) {
    if place.is_file() {
        into.push(place.to_owned());
        return;
    }
    for entry in std::fs::read_dir(place).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let name = entry_name(&path);
        let source = name.ends_with(".rs") && !name.ends_with("tests.rs");
        if path.is_dir() || source {
            sources(&path, into);
        }
    }
}

/// Tests stand beside the code, and may use what the code may not.
fn entry_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The code of a file: no comments, so that a doc link is no dependency.
fn code(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a source file");
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default().to_owned())
        .collect()
}

fn files(place: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    sources(&workspace_root().join(place), &mut files);
    assert!(!files.is_empty(), "{place} has no source files");
    files
}

#[test]
fn no_arrow_points_back() {
    let mut back = Vec::new();
    for (place, forbidden) in FORBIDDEN {
        for file in files(place) {
            for (number, line) in code(&file).iter().enumerate() {
                for name in *forbidden {
                    if line.contains(name) {
                        back.push(format!("{}:{}: {name}", file.display(), number + 1));
                    }
                }
            }
        }
    }
    assert!(
        back.is_empty(),
        "arrows that point back:\n{}",
        back.join("\n")
    );
}

#[test]
fn a_configuration_names_options_of_the_backends_and_nothing_else() {
    let mut named = BTreeSet::new();
    for file in files("host/src/config") {
        // Whatever stands before it: `use crate::{backends::…}` is an arrow too.
        for after in code(&file).concat().split("backends").skip(1) {
            let names = match after.strip_prefix("::") {
                // The module itself, under this name or another, is everything.
                None => Some("*"),
                Some(after) => match after.strip_prefix('{') {
                    Some(list) => list.split('}').next(),
                    None => after.split([',', ';', '}']).next(),
                },
            };
            let names = names.unwrap_or_default().split(',').map(str::trim);
            named.extend(names.filter(|one| !one.is_empty()).map(str::to_owned));
        }
    }
    let options = OPTIONS.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(named, options);
}
