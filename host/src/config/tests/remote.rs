//! The `[sandbox.remote]` table.

use super::*;

const REMOTE: &str = r#"
version = 1

[sandbox]
backend = "remote"

[sandbox.remote]
command = ["./bin/ssh", "-o", "BatchMode=yes", "build", "sh"]
root = "/home/ada/work"
install = true
connect-timeout = "10s"
patience = "5s"
keep-alive = "1m"
environment = { TOKEN = "s3cret" }
"#;

fn remote(text: &str) -> RemoteOptions {
    match good(text).sandbox.backend {
        Backend::Remote(remote) => remote,
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_that_can_be_said_is_understood() {
    let command = ["/p/bin/ssh", "-o", "BatchMode=yes", "build", "sh"];
    let right = RemoteOptions {
        install: true,
        connect_timeout: Duration::from_secs(10),
        patience: Duration::from_secs(5),
        keep_alive: Duration::from_secs(60),
        environment: [("TOKEN".to_owned(), "s3cret".to_owned())].into(),
        ..RemoteOptions::new(command, "/home/ada/work")
    };
    assert_eq!(remote(REMOTE), right);
    let schema = Config::schema();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let table: toml::Table = REMOTE.parse().expect("toml");
    let value = serde_json::to_value(table).expect("json");
    let errors: Vec<String> = validator
        .iter_errors(&value)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert!(!format!("{:?}", good(REMOTE)).contains("s3cret"));
}

#[test]
fn a_command_and_a_directory_are_enough_and_needed() {
    let least = "version = 1\nsandbox.backend = 'remote'\nsandbox.remote.command = ['ssh', 'build', 'sh']\n\
        sandbox.remote.root = '/work'";
    let right = RemoteOptions::new(["ssh", "build", "sh"], "/work");
    assert_eq!(remote(least), right);
    for text in [
        "version = 1\nsandbox.backend = 'remote'",
        "version = 1\nsandbox.backend = 'remote'\nsandbox.remote.install = true",
    ] {
        let found = problems(text);
        let keys: Vec<&str> = found.iter().map(|(key, _, _)| key.as_str()).collect();
        assert_eq!(keys, ["sandbox.remote.command", "sandbox.remote.root"]);
        assert!(matches!(found[0].2, ProblemKind::Missing(_)));
    }
    let nothing = RemoteOptions::new([""; 0], "");
    assert!(Config::remote(nothing).check().is_err());
    assert!(Config::remote(right).check().is_ok());
}

#[test]
fn what_is_wrong_is_refused_where_it_stands() {
    let text = "version = 1\n[sandbox]\nbackend = 'remote'\nworkspace = 'here'\n[sandbox.remote]\n\
        command = []\nroot = 'work'\npatience = '0s'\nkeep-alive = 'often'\nenvironment = { 'A=B' = '' }";
    let found = problems(text);
    let mut at: Vec<_> = found
        .iter()
        .map(|(key, (line, _), _)| (key.as_str(), *line))
        .collect();
    at.sort_by_key(|(key, line)| (*line, *key));
    assert_eq!(
        at,
        [
            ("sandbox.workspace", 4),
            ("sandbox.remote.command", 6),
            ("sandbox.remote.root", 7),
            ("sandbox.remote.patience", 8),
            ("sandbox.remote.keep-alive", 9),
            ("sandbox.remote.environment.A=B", 10),
        ]
    );
    let empty =
        "version = 1\n[sandbox]\nbackend = 'remote'\n[sandbox.remote]\nroot = '/w'\ncommand = ['']";
    assert_eq!(problems(empty)[0].0, "sandbox.remote.command");
}
