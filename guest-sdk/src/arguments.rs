//! A tool's arguments, from JSON to its type.

use serde::{Deserialize, de::DeserializeOwned};

/// The argument of a tool that takes none.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

/// Reads a JSON object as `T`.
///
/// # Errors
/// What is wrong, and in which field.
pub(crate) fn parse<T: DeserializeOwned>(json: &str) -> Result<T, String> {
    // Derived structs would also take an array, field by field; the contract has objects only.
    if !json.trim_start().starts_with('{') {
        return Err(match serde_json::from_str::<serde::de::IgnoredAny>(json) {
            Ok(_) => "the arguments are not an object".to_owned(),
            Err(error) => format!("the arguments are not JSON: {error}"),
        });
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let value: T = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        describe(&path, error.inner())
    })?;
    match deserializer.end() {
        Ok(()) => Ok(value),
        Err(error) => Err(format!("the arguments are not JSON: {error}")),
    }
}

fn describe(path: &str, error: &serde_json::Error) -> String {
    let text = error.to_string();
    if !error.is_data() {
        return format!("the arguments are not JSON: {text}");
    }
    // The place in the text means nothing to who has named fields.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = text.strip_suffix(&place).unwrap_or(&text);
    if path == "." {
        reason.to_owned()
    } else {
        format!("{path}: {reason}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Edit {
        path: String,
        #[serde(default)]
        lines: Vec<u32>,
    }

    #[test]
    fn what_fits_is_taken() {
        let right = Edit {
            path: "a".into(),
            lines: vec![1],
        };
        assert_eq!(parse(r#" {"path":"a","lines":[1]} "#), Ok(right));
    }

    #[test]
    fn what_does_not_fit_names_its_field() {
        for (json, names) in [
            (r#"{"path":"a","lines":[1,"x"]}"#, "lines[1]: "),
            (r#"{"path":1}"#, "path: "),
            (r#"{"pth":"a"}"#, "`pth`"),
            ("{}", "`path`"),
            (r#"{"path":"a","path":"b"}"#, "`path`"),
        ] {
            let error = parse::<Edit>(json).expect_err(json);
            assert!(error.contains(names), "{json}: {error}");
            assert!(!error.contains(" line "), "{json}: {error}");
        }
    }

    #[test]
    fn what_is_not_an_object_is_refused() {
        for json in [
            "",
            "null",
            r#"["a"]"#,
            r#""a""#,
            "{",
            r#"{"path":"a"} x"#,
            "nonsense",
        ] {
            assert!(parse::<Edit>(json).is_err(), "{json}");
        }
        let deep = format!(r#"{{"path":{}"#, "[".repeat(100_000));
        assert!(parse::<Edit>(&deep).is_err());
    }
}
