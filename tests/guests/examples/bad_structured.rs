//! Answers a structured value that is not what its schema promises.
#![cfg(target_family = "wasm")]

use belljar_guest::raw::exports::belljar::sandbox::tools::{Answer, CallError, Description, Guest};

struct Component;

impl Guest for Component {
    fn describe() -> Vec<Description> {
        let mut description = belljar_test_guests::description!();
        description.output_schema = Some(
            r#"{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}"#
                .to_owned(),
        );
        vec![description]
    }

    fn call(_name: String, _arguments: String) -> Result<Answer, CallError> {
        Ok(Answer {
            content: Vec::new(),
            structured: Some(r#"{"count":"three"}"#.to_owned()),
        })
    }
}

belljar_guest::raw::export!(Component with_types_in belljar_guest::raw);
