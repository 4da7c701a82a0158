//! JSON Schemas (2020-12) of what tools take and give.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// The schema of a tool's arguments, which are always an object.
pub(crate) fn of_input<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    object(settings.into_generator().into_root_schema_for::<T>().into())
}

/// The schema of a structured answer, which the Model Context Protocol wants as an object too.
pub(crate) fn of_output<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    object(settings.into_generator().into_root_schema_for::<T>().into())
}

/// Says `object` where the type leaves it open, as an enum with a tag does.
fn object(mut schema: Value) -> Value {
    if let Value::Object(members) = &mut schema {
        members
            .entry("type")
            .or_insert_with(|| Value::from("object"));
    }
    schema
}
