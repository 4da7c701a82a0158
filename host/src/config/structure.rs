//! The structure of a configuration, compared with its schema: unknown keys, wrong types, unknown
//! values, all of them, each with its place.
//!
//! What is wrong is reported and taken out, so that the rest can still be interpreted.

use serde_json::{Map, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    error::{Problem, ProblemKind},
    nearest::nearest,
    position::Position,
};

/// Takes out of `table` what `schema` does not allow, and says what that was.
pub(super) fn check(text: &str, table: &mut DeTable<'_>, schema: &Value) -> Vec<Problem> {
    let mut walk = Walk {
        text,
        problems: Vec::new(),
    };
    walk.table(&mut Vec::new(), table, schema);
    walk.problems
}

struct Walk<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn problem(&mut self, key: &[String], offset: usize, kind: ProblemKind) {
        self.problems.push(Problem {
            key: key.join("."),
            position: Some(Position::of(self.text, offset)),
            kind,
        });
    }

    fn table(&mut self, key: &mut Vec<String>, table: &mut DeTable<'_>, schema: &Value) {
        let none = Map::new();
        let known = schema["properties"].as_object().unwrap_or(&none);
        let others = schema
            .get("additionalProperties")
            .filter(|others| **others != Value::Bool(false));
        let mut wrong = Vec::new();
        for (name, value) in table.iter_mut() {
            key.push(name.get_ref().to_string());
            let fits = match known.get(name.get_ref().as_ref()).or(others) {
                Some(schema) => self.value(key, value, schema),
                None => {
                    let nearest = nearest(name.get_ref(), known.keys().map(String::as_str));
                    let nearest = nearest.map(str::to_owned);
                    let kind = ProblemKind::UnknownKey { nearest };
                    self.problem(key, name.span().start, kind);
                    false
                }
            };
            key.pop();
            if !fits {
                wrong.push(name.get_ref().to_string());
            }
        }
        for name in wrong {
            table.remove(name.as_str());
        }
    }

    /// Whether the value can stay.
    fn value(
        &mut self,
        key: &mut Vec<String>,
        value: &mut Spanned<DeValue<'_>>,
        schema: &Value,
    ) -> bool {
        let offset = value.span().start;
        let schema = without_null(schema);
        let expected = types(schema);
        let found = type_of(value.get_ref());
        let is_number = expected.contains(&"number") && matches!(found, "integer" | "float");
        if !expected.is_empty() && !expected.contains(&found) && !is_number {
            let expected = expected.join(" or ");
            self.problem(key, offset, ProblemKind::WrongType { expected, found });
            return false;
        }
        match value.get_mut() {
            DeValue::Table(table) => self.table(key, table, schema),
            DeValue::Array(items) => {
                let Some(of) = schema.get("items") else {
                    return true;
                };
                let mut fits = true;
                for item in items.iter_mut() {
                    fits &= self.value(key, item, of);
                }
                return fits;
            }
            DeValue::String(text) => {
                let expected = values(schema);
                if !expected.is_empty() && !expected.contains(&text.as_ref()) {
                    let kind = ProblemKind::UnknownValue {
                        value: text.chars().take(100).collect(),
                        nearest: nearest(text, expected.iter().copied()).map(str::to_owned),
                        expected: expected.into_iter().map(str::to_owned).collect(),
                    };
                    self.problem(key, offset, kind);
                    return false;
                }
            }
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => {}
        }
        true
    }
}

/// The schema of an optional value without its `null`, which TOML does not have.
fn without_null(schema: &Value) -> &Value {
    let present = |schema: &&Value| schema["type"] != "null";
    schema["anyOf"]
        .as_array()
        .and_then(|either| either.iter().find(present))
        .unwrap_or(schema)
}

/// The types that a schema allows; none when it allows all.
fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => {
            let named = several.iter().filter_map(Value::as_str);
            named.filter(|name| *name != "null").collect()
        }
        _ if !values(schema).is_empty() => vec!["string"],
        _ => Vec::new(),
    }
}

/// The texts that a schema allows; none when it allows all.
fn values(schema: &Value) -> Vec<&str> {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().filter_map(Value::as_str).collect();
    }
    let Some(variants) = schema["oneOf"].as_array() else {
        return Vec::new();
    };
    let variants = variants.iter();
    variants.filter_map(|one| one["const"].as_str()).collect()
}

fn type_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "string",
        DeValue::Integer(_) => "integer",
        DeValue::Float(_) => "float",
        DeValue::Boolean(_) => "boolean",
        DeValue::Datetime(_) => "datetime",
        DeValue::Array(_) => "array",
        DeValue::Table(_) => "object",
    }
}
