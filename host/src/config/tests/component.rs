//! The `[sandbox.component]` table.

use super::*;
use crate::backends::{ComponentLimits, HttpGrant};

const COMPONENT: &str = r#"
version = 1

[sandbox]
backend = "component"

[sandbox.component]
component = "./vendor.wasm"
settings = { template = "base" }
ca = "ca.pem"
memory = "64MiB"
body = "1MiB"
timeout = "30s"
calls = 8

[sandbox.component.secrets]
token = { env = "VENDOR_TOKEN" }
key = { file = "secret/key" }

[[sandbox.component.http]]
hosts = ["api.vendor.example", "*.vendor.example"]

[[sandbox.component.http]]
hosts = ["127.0.0.1"]
ports = [8080]
methods = ["GET"]
private = true
http = true
"#;

fn component(text: &str) -> ComponentOptions {
    match good(text).sandbox.backend {
        Backend::Component(component) => component,
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_that_can_be_said_is_understood() {
    let environment = SecretSource::Environment {
        name: "VENDOR_TOKEN".into(),
    };
    let file = SecretSource::File {
        path: "/p/secret/key".into(),
    };
    let right = ComponentOptions {
        settings: [("template".to_owned(), "base".to_owned())].into(),
        secrets: [("token".to_owned(), environment), ("key".to_owned(), file)].into(),
        http: vec![
            HttpGrant::to(["api.vendor.example", "*.vendor.example"]),
            HttpGrant {
                hosts: vec!["127.0.0.1".into()],
                ports: Some(vec![8080]),
                methods: Some(vec!["GET".into()]),
                private: true,
                http: true,
            },
        ],
        ca: Some("/p/ca.pem".into()),
        component_limits: ComponentLimits {
            memory_bytes: 64 << 20,
            body_bytes: 1 << 20,
            timeout: Duration::from_secs(30),
            calls: 8,
        },
        ..ComponentOptions::new("/p/vendor.wasm")
    };
    assert_eq!(component(COMPONENT), right);
    let config = good(COMPONENT);
    assert_eq!(
        config.secret_variables().collect::<Vec<_>>(),
        ["VENDOR_TOKEN"]
    );
    let schema = Config::schema();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let table: toml::Table = COMPONENT.parse().expect("toml");
    let value = serde_json::to_value(table).expect("json");
    let errors: Vec<String> = validator
        .iter_errors(&value)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn without_grants_it_reaches_nothing() {
    let text = "version = 1\nsandbox.backend = 'component'\nsandbox.component.component = 'a.wasm'";
    assert_eq!(component(text), ComponentOptions::new("/p/a.wasm"));
}

#[test]
fn what_is_wrong_has_its_place() {
    let with = |line: &str| {
        format!(
            "version = 1\nsandbox.backend = 'component'\n[sandbox.component]\ncomponent = 'a.wasm'\n{line}\n"
        )
    };
    for (line, key) in [
        ("secrets = { a = {} }", "sandbox.component.secrets.a"),
        (
            "secrets = { a = { env = 'X', file = 'y' } }",
            "sandbox.component.secrets.a",
        ),
        (
            "secrets = { a = { env = 'X=Y' } }",
            "sandbox.component.secrets.a",
        ),
        (
            "secrets = { a = { env = 'X' } }\nsettings = { a = 'b' }",
            "sandbox.component.secrets.a",
        ),
        ("calls = 0", "sandbox.component.calls"),
        ("timeout = '0s'", "sandbox.component.timeout"),
        ("memory = '1KiB'", "sandbox.component.memory"),
        ("body = 0", "sandbox.component.body"),
        ("[[sandbox.component.http]]", "sandbox.component.http"),
        (
            "[[sandbox.component.http]]\nhosts = ['https://a']",
            "sandbox.component.http",
        ),
        (
            "[[sandbox.component.http]]\nhosts = ['a']\nports = [70000]",
            "sandbox.component.http",
        ),
        (
            "[[sandbox.component.http]]\nhosts = ['a']\nmethods = ['CONNECT']",
            "sandbox.component.http",
        ),
        (
            "[[sandbox.component.http]]\nhost = 'a'",
            "sandbox.component.http.host",
        ),
    ] {
        let problems = problems(&with(line));
        let found = problems.iter().find(|(at, ..)| at == key);
        let (_, (line_number, _), _) = found.unwrap_or_else(|| panic!("{line}: {problems:?}"));
        assert!(*line_number >= 5, "{line}");
    }
    let problems = problems("version = 1\nsandbox.backend = 'component'\nsandbox.workspace = '.'");
    let keys: Vec<&str> = problems.iter().map(|(key, ..)| key.as_str()).collect();
    assert_eq!(keys, ["sandbox.component.component", "sandbox.workspace"]);
}

#[test]
fn a_configuration_from_code_is_checked_too() {
    assert!(
        Config::component(ComponentOptions::new("a.wasm"))
            .check()
            .is_ok()
    );
    assert!(
        Config::component(ComponentOptions::new(""))
            .check()
            .is_err()
    );
    let mut options = ComponentOptions::new("a.wasm");
    options.http.push(HttpGrant::to([""]));
    assert!(Config::component(options).check().is_err());
}
