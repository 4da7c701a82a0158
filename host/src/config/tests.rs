use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::layers::Policy;

use super::*;

fn read(text: &str) -> Result<Config, ConfigError> {
    Config::from_toml(text, Path::new("/p"))
}

fn good(text: &str) -> Config {
    read(text).unwrap_or_else(|error| panic!("{error}"))
}

/// The problems, each with its key, its line and its column.
fn problems(text: &str) -> Vec<(String, (usize, usize), ProblemKind)> {
    match read(text) {
        Err(ConfigError::Invalid { problems, .. }) => problems
            .into_iter()
            .map(|problem| {
                let position = problem.position.expect("a position");
                (problem.key, (position.line, position.column), problem.kind)
            })
            .collect(),
        other => panic!("{other:?}"),
    }
}

const EXAMPLE: &str = r#"
version = 1

[sandbox]
backend = "local"
workspace = "./work/"
writable = false

[sandbox.local]
allow-host-processes = true
path = "/usr/bin:/bin"
environment = { TOKEN = "s3cret" }

[sandbox.container]
image = "debian:12"

[limits]
timeout = "10s"
max-timeout = "2m"
call-timeout = "5m"
output = "1MB"
max-output = 2000000
file = "16MiB"
results = 500
memory = "1GiB"
host-calls = 7

[tools.coding]
component = "tools/../coding.wasm"
allow = ["read", "write", "run"]
read = ["**"]
write = ["src/**"]
programs = ["cargo", "git"]
wasi = "inert"
guard = false

[tools.plain]
"#;

#[test]
fn everything_that_can_be_said_is_understood() {
    let config = good(EXAMPLE);
    let Backend::Local(local) = &config.sandbox.backend else {
        panic!("{config:?}")
    };
    assert!(local.allow_host_processes);
    assert_eq!(local.environment["PATH"], "/usr/bin:/bin");
    assert_eq!(local.environment["TOKEN"], "s3cret");
    assert_eq!(config.sandbox.workspace, Some(PathBuf::from("/p/work")));
    assert!(!config.sandbox.writable);
    assert_eq!(config.limits.timeout_default, Duration::from_secs(10));
    assert_eq!(config.limits.timeout_maximum, Duration::from_secs(120));
    assert_eq!(config.limits.output_default, 1_000_000);
    assert_eq!(config.limits.output_maximum, 2_000_000);
    assert_eq!(config.limits.results, 500);
    assert_eq!(config.limits.stdin_bytes, Limits::default().stdin_bytes);
    assert_eq!(config.call_limits.timeout, Duration::from_secs(300));
    assert_eq!(config.call_limits.memory_bytes, 1 << 30);
    assert_eq!(config.call_limits.host_calls, 7);

    let coding = &config.tools["coding"];
    assert_eq!(coding.component, Some(PathBuf::from("/p/coding.wasm")));
    assert_eq!((coding.wasi, coding.guard), (Wasi::Inert, false));
    let policy = Policy::nothing()
        .and_read_only(["**"])
        .and_then(|policy| policy.and_write_only(["src/**"]))
        .map(|policy| policy.and_run_only(["cargo", "git"]));
    assert_eq!(Ok(&coding.policy), policy.as_ref());
    assert_eq!(config.tools["plain"], ToolConfig::default());

    let noticed: Vec<&str> = config
        .notices
        .iter()
        .map(|notice| notice.key.as_str())
        .collect();
    assert_eq!(noticed, ["sandbox.container", "tools.coding"]);
    assert_eq!(config.check().map_err(|error| error.to_string()), Ok(()));
}

#[test]
fn nothing_but_a_version_is_a_temporary_workspace() {
    assert_eq!(good("version = 1"), Config::temporary());
    assert!(
        good("version = 1\n[sandbox]\nworkspace = 'w'")
            .sandbox
            .writable
    );
    assert!(!Config::virtual_at("w").sandbox.writable);
}

#[test]
fn secrets_are_not_shown() {
    assert!(!format!("{:?}", good(EXAMPLE)).contains("s3cret"));
    let wrong = EXAMPLE.replace("TOKEN", "\"TO=KEN\"");
    let error = read(&wrong).expect_err("a bad name");
    assert!(!format!("{error} {error:?}").contains("s3cret"));
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest() {
    let text =
        "version = 1\n[sandbox]\n  writeable = true\n[tools.x]\nallows = []\nzzz = 1\n[limit]";
    let unknown = |nearest: Option<&str>| ProblemKind::UnknownKey {
        nearest: nearest.map(str::to_owned),
    };
    assert_eq!(
        problems(text),
        [
            (
                "sandbox.writeable".into(),
                (3, 3),
                unknown(Some("writable"))
            ),
            ("tools.x.allows".into(), (5, 1), unknown(Some("allow"))),
            ("tools.x.zzz".into(), (6, 1), unknown(None)),
            ("limit".into(), (7, 2), unknown(Some("limits"))),
        ]
    );
}

#[test]
fn wrong_types_and_values_are_refused_where_they_stand() {
    let text = "version = 1\nsandbox.backend = 'virtul'\nsandbox.writable = 'yes'\n\
                [limits]\nfile = true\nresults = 1.5\ntimeout = '5 parsecs'\nstdin = -1\n\
                [tools]\nx.allow = ['read', 'wrote']\nx.read = ['[a']\ny = 1\n'a b'.guard = true";
    let found = problems(text);
    let at: Vec<_> = found
        .iter()
        .map(|(key, position, _)| (key.as_str(), *position))
        .collect();
    assert_eq!(
        at,
        [
            ("sandbox.backend", (2, 19)),
            ("sandbox.writable", (3, 20)),
            ("limits.file", (5, 8)),
            ("limits.results", (6, 11)),
            ("limits.timeout", (7, 11)),
            ("limits.stdin", (8, 9)),
            ("tools.x.allow", (10, 20)),
            ("tools.x.read", (11, 11)),
            ("tools.y", (12, 5)),
            ("tools.a b", (13, 1)),
        ]
    );
    assert!(
        matches!(&found[0].2, ProblemKind::UnknownValue { nearest: Some(nearest), .. } if nearest == "virtual")
    );
    let wrong = |expected: &str, found| ProblemKind::WrongType {
        expected: expected.into(),
        found,
    };
    assert_eq!(found[1].2, wrong("boolean", "string"));
    assert_eq!(found[2].2, wrong("string or integer", "boolean"));
    assert_eq!(found[3].2, wrong("integer", "float"));
    assert!(
        matches!(&found[6].2, ProblemKind::UnknownValue { nearest: Some(nearest), .. } if nearest == "write")
    );
}

#[test]
fn what_is_not_toml_is_refused_where_it_ends() {
    let found = problems("version = 1\n[sandbox\n");
    assert_eq!(found[0].1.0, 2);
    assert!(matches!(found[0].2, ProblemKind::Syntax(_)));
    assert!(matches!(
        problems("a = 1\na = 2")[0],
        (_, (2, 1), ProblemKind::Syntax(_))
    ));
}

#[test]
fn another_version_and_none_are_refused() {
    let kind = ProblemKind::Version { known: 1, found: 2 };
    assert_eq!(problems("version = 2"), [("version".into(), (1, 11), kind)]);
    assert!(matches!(problems("")[0].2, ProblemKind::Missing(_)));
}

#[cfg(not(feature = "kubernetes"))]
#[test]
fn a_backend_of_other_builds_is_known_and_refused() {
    let found = problems("version = 1\nsandbox.backend = 'kubernetes'");
    let kind = ProblemKind::BackendNotBuilt {
        backend: "kubernetes",
        has: vec!["virtual", "local", "component", "container", "remote"],
    };
    assert_eq!(found, [("sandbox.backend".into(), (2, 19), kind)]);
}

#[test]
fn local_needs_its_permission() {
    for text in [
        "version = 1\nsandbox.backend = 'local'",
        "version = 1\nsandbox.backend = 'local'\nsandbox.local.allow-host-processes = false",
    ] {
        let found = problems(text);
        assert_eq!(found[0].0, "sandbox.local.allow-host-processes");
        assert!(matches!(found[0].2, ProblemKind::Missing(_)));
    }
    assert!(Config::local_at("w").check().is_err());
    assert!(Config::local_at("w").allow_host_processes().check().is_ok());
}

#[test]
fn limits_out_of_range_are_brought_in_and_reported() {
    let config = good(
        "version = 1\n[limits]\ntimeout = '0s'\nmemory = '1000GB'\nprocesses = 0\nmax-timeout = '20s'",
    );
    assert_eq!(config.limits.timeout_default, Duration::from_millis(10));
    assert_eq!(config.call_limits.memory_bytes, 4 << 30);
    assert_eq!(config.limits.processes, 1);
    let mut at: Vec<_> = config
        .notices
        .iter()
        .map(|notice| {
            (
                notice.key.as_str(),
                notice.position.expect("a position").line,
            )
        })
        .collect();
    at.sort_unstable();
    assert_eq!(
        at,
        [
            ("limits.memory", 4),
            ("limits.processes", 5),
            ("limits.timeout", 3)
        ]
    );
    // A default follows its maximum, without a word.
    let config = good("version = 1\n[limits]\nmax-timeout = '20s'\nmax-output = '10kB'");
    assert_eq!(config.limits.timeout_default, Duration::from_secs(20));
    assert_eq!(config.limits.output_default, 10_000);
    assert_eq!(config.notices, []);
}

#[test]
fn a_list_that_narrows_what_is_not_allowed_is_refused() {
    for (key, list) in [("write", "['a']"), ("programs", "['git']")] {
        let text = format!("version = 1\n[tools.x]\nallow = ['read']\n{key} = {list}");
        let found = problems(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].0.as_str(), found[0].1.0),
            (&*format!("tools.x.{key}"), 4)
        );
    }
}

#[test]
fn a_grant_that_fits_no_tool_is_refused() {
    let config = good("version = 1\n[tools.codign]\n[tools.other]");
    assert!(config.check_tools(["codign", "other", "more"]).is_ok());
    match config.check_tools(["coding", "other"]) {
        Err(ConfigError::Invalid { problems, .. }) => {
            assert_eq!(problems[0].key, "tools.codign");
            assert_eq!(problems[0].nearest(), Some("coding"));
            assert_eq!(problems[0].position, Some(Position { line: 2, column: 8 }));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_nearest_file_is_found_and_its_paths_are_relative_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let deep = folder.path().join("a/b");
    std::fs::create_dir_all(&deep).expect("folders");
    let write = |path: &Path, text: &str| {
        #[expect(clippy::disallowed_methods, reason = "a test's own folder")]
        std::fs::write(path, text).expect("a file");
    };
    write(
        &folder.path().join(FILE_NAME),
        "version = 1\nsandbox.workspace = 'w'",
    );
    let config = Config::discover(&deep).expect("good").expect("found");
    assert_eq!(config.sandbox.workspace, Some(folder.path().join("w")));
    assert_eq!(config.file, Some(folder.path().join(FILE_NAME)));
    // A broken one nearer by is not passed over.
    write(&folder.path().join("a").join(FILE_NAME), "version = 3");
    assert!(matches!(
        Config::discover(&deep),
        Err(ConfigError::Invalid { file: Some(_), .. })
    ));
    assert!(matches!(
        Config::load(&deep.join("none.toml")),
        Err(ConfigError::Unreadable { .. })
    ));
    write(&deep.join("huge.toml"), &"#".repeat(2 << 20));
    assert!(matches!(
        Config::load(&deep.join("huge.toml")),
        Err(ConfigError::TooLarge { .. })
    ));
}

#[test]
fn the_schema_is_one_and_accepts_what_is_accepted() {
    let schema = Config::schema();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let as_json = |text: &str| {
        let table: toml::Table = text.parse().expect("toml");
        serde_json::to_value(table).expect("json")
    };
    let error = validator
        .iter_errors(&as_json(EXAMPLE))
        .map(|error| error.to_string())
        .next();
    assert_eq!(error, None);
    assert!(!validator.is_valid(&as_json("version = 1\nsandbox.writeable = true")));
    assert!(!validator.is_valid(&as_json("version = 2")));
    assert!(!validator.is_valid(&as_json("version = 1\nlimits.timeout = 'long'")));
}

#[test]
fn every_key_is_explained() {
    fn walk(path: &str, schema: &serde_json::Value) {
        let Some(properties) = schema["properties"].as_object() else {
            return;
        };
        for (name, of) in properties {
            assert!(of["description"].is_string(), "{path}.{name}: {of}");
            let either = of["anyOf"].as_array().into_iter().flatten();
            for of in either.chain([of, &of["items"]]) {
                walk(&format!("{path}.{name}"), of);
            }
        }
    }
    walk("", &Config::schema());
}

mod component;
mod container;
#[cfg(feature = "kubernetes")]
mod kubernetes;
mod programs;
mod remote;
