//! A tool's JSON Schema, and values held to it within the time of a call.
//!
//! A schema comes with its component, and checking a value may take for ever: references that double at each
//! level, a pattern with look-around on a long text. Nothing stops such a check, so what could be one runs on
//! a thread of its own. A call that ends before it gives it up, and the schema is not used again.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, sync_channel},
    },
    time::Duration,
};

use belljar_contract::{Context, Stop};
use serde_json::Value;

/// What checking takes at most without references and patterns, as schema times value in bytes, to be
/// done on the caller's thread: some milliseconds.
const SHORT: usize = 1 << 22;
/// What makes a check take longer than the sizes say.
const LONG: [&str; 5] = [
    "\"$ref\"",
    "\"$dynamicRef\"",
    "\"$recursiveRef\"",
    "\"pattern\"",
    "\"patternProperties\"",
];
/// How often a call looks whether it may still wait.
const LOOK: Duration = Duration::from_millis(10);

/// A schema that values are held to.
pub(super) struct Schema {
    validator: Arc<jsonschema::Validator>,
    bytes: usize,
    may_be_long: bool,
    given_up: AtomicBool,
}

/// Why a value is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// What does not fit, by field.
    Problems(String),
    /// The call ended first.
    Stopped(Stop),
    /// The check cannot be made.
    Host(String),
}

impl Schema {
    /// Compiles a schema, or says what is wrong with it.
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        let validator = jsonschema::validator_for(schema).map_err(|error| error.to_string())?;
        let text = schema.to_string();
        Ok(Self {
            validator: Arc::new(validator),
            bytes: text.len(),
            may_be_long: LONG.iter().any(|keyword| text.contains(keyword)),
            given_up: AtomicBool::new(false),
        })
    }

    /// Checks a value that takes this many bytes as JSON, and gives it back.
    pub(super) fn check(
        &self,
        value: Value,
        bytes: usize,
        context: &Context,
    ) -> Result<Value, Unfit> {
        if !self.may_be_long && self.bytes.saturating_mul(bytes) <= SHORT {
            return problems(&self.validator, value);
        }
        if self.given_up.load(Ordering::Acquire) {
            let reason = "a check of the tool's own schema did not end; load the tool again";
            return Err(Unfit::Host(reason.to_owned()));
        }
        let (send, receive) = sync_channel(1);
        let validator = Arc::clone(&self.validator);
        std::thread::Builder::new()
            .name("belljar-schema".into())
            // Nobody waits any more when it is not received.
            .spawn(move || send.send(problems(&validator, value)))
            .map_err(|error| Unfit::Host(error.to_string()))?;
        loop {
            match receive.recv_timeout(context.remaining().unwrap_or(LOOK).min(LOOK)) {
                Ok(checked) => return checked,
                Err(RecvTimeoutError::Timeout) => context.check().map_err(|stop| {
                    self.given_up.store(true, Ordering::Release);
                    Unfit::Stopped(stop)
                })?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Unfit::Host(
                        "a check of the tool's schema failed".to_owned(),
                    ));
                }
            }
        }
    }
}

/// What does not fit, by field; the first few problems.
fn problems(validator: &jsonschema::Validator, value: Value) -> Result<Value, Unfit> {
    let problems = validator.iter_errors(&value).take(5).map(|error| {
        let field = error.instance_path().to_string();
        if field.is_empty() {
            error.to_string()
        } else {
            format!("{field}: {error}")
        }
    });
    let problems: Vec<String> = problems.collect();
    if problems.is_empty() {
        Ok(value)
    } else {
        Err(Unfit::Problems(problems.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_fits_or_what_does_not_is_named() {
        for key in ["properties", "patternProperties"] {
            let schema =
                Schema::new(&json!({ "type": "object", key: { "a": { "type": "string" } } }));
            let schema = schema.unwrap();
            let check = |value| schema.check(value, 10, &Context::new());
            assert_eq!(check(json!({ "a": "b" })), Ok(json!({ "a": "b" })));
            let Err(Unfit::Problems(problems)) = check(json!({ "a": 1 })) else {
                panic!("it fits");
            };
            assert!(problems.starts_with("/a: "), "{problems}");
        }
    }

    #[test]
    fn a_check_that_does_not_end_is_given_up() {
        // Each level is checked twice for each check of the one above.
        let mut levels = serde_json::Map::new();
        for level in 0..60 {
            let next = json!({ "$ref": format!("#/$defs/{}", level + 1) });
            levels.insert(level.to_string(), json!({ "anyOf": [next, next] }));
        }
        levels.insert("60".to_owned(), json!({ "type": "string" }));
        let schema = json!({ "type": "object", "$ref": "#/$defs/0", "$defs": levels });
        let schema = Schema::new(&schema).unwrap();
        let context = Context::new().with_timeout(Duration::from_millis(50));
        let started = context.now();
        assert_eq!(
            schema.check(json!({}), 2, &context),
            Err(Unfit::Stopped(Stop::TimedOut))
        );
        assert!(context.now() - started < Duration::from_secs(5));
        // There are never two of them.
        assert!(matches!(
            schema.check(json!({}), 2, &Context::new()),
            Err(Unfit::Host(_))
        ));
    }
}
