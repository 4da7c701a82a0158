//! Durations and sizes as people write them: `"30s"`, `"16MiB"`.

use std::{fmt, time::Duration};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

const DURATION_UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
const SIZE_UNITS: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Reads a duration as the configuration has it: a whole number and one of `ms`, `s`, `m`, `h`.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(belljar::config::duration("30s"), Ok(Duration::from_secs(30)));
/// assert!(belljar::config::duration("30").is_err());
/// ```
///
/// # Errors
/// What a duration looks like, when this is none.
pub fn duration(text: &str) -> Result<Duration, String> {
    scaled(text, &DURATION_UNITS)
        .map(Duration::from_millis)
        .ok_or_else(|| {
            format!("{text:?} is not a duration: a whole number and ms, s, m or h, as in \"30s\"")
        })
}

/// Reads a size: a whole number and a unit, or none for bytes.
pub(super) fn size(text: &str) -> Result<u64, String> {
    scaled(text, &SIZE_UNITS)
        .or_else(|| text.trim().parse().ok())
        .ok_or_else(|| {
            format!("{text:?} is not a size: a whole number and B, kB, MB, GB, KiB, MiB or GiB, as in \"16MiB\"")
        })
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    // A number too large to count is as good as the largest: the limit's range clamps it.
    let number = number.parse::<u128>().ok()?;
    Some(u64::try_from(number.saturating_mul(u128::from(*factor))).unwrap_or(u64::MAX))
}

/// Writes a duration so that [`duration`] reads it.
pub(super) fn show_duration(duration: Duration) -> String {
    show(
        u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        &DURATION_UNITS,
    )
}

/// Writes a size so that [`size`] reads it.
pub(super) fn show_size(bytes: u64) -> String {
    show(bytes, &SIZE_UNITS)
}

fn show(number: u64, units: &[(&str, u64)]) -> String {
    let fits = |(_, factor): &&(&str, u64)| number != 0 && number.is_multiple_of(*factor);
    match units.iter().filter(fits).max_by_key(|(_, factor)| factor) {
        Some((unit, factor)) => format!("{}{unit}", number / factor),
        None => format!("{number}{}", units[0].0),
    }
}

/// A size in the file: text, or a number of bytes.
#[derive(Clone, Debug)]
pub(super) enum SizeValue {
    Text(String),
    Bytes(i64),
}

impl<'de> Deserialize<'de> for SizeValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = SizeValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size, or a number of bytes")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<SizeValue, E> {
                Ok(SizeValue::Text(text.to_owned()))
            }
            fn visit_i64<E: Error>(self, bytes: i64) -> Result<SizeValue, E> {
                Ok(SizeValue::Bytes(bytes))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for SizeValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "integer"],
            "minimum": 0,
            "pattern": "^ *[0-9]+ *(B|kB|MB|GB|KiB|MiB|GiB)? *$",
            "examples": ["16MiB", 1_000_000],
        })
    }
}

/// A number in the file, whole or not, in thousandths.
#[derive(Clone, Debug)]
pub(super) struct NumberValue(pub(super) Option<u32>);

impl<'de> Deserialize<'de> for NumberValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = NumberValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<NumberValue, E> {
                let thousandths = u32::try_from(number).ok();
                Ok(NumberValue(
                    thousandths.and_then(|number| number.checked_mul(1000)),
                ))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<NumberValue, E> {
                let thousandths = (number * 1000.0).round();
                let fits = (0.0..=f64::from(u32::MAX)).contains(&thousandths);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it is whole, and in the range"
                )]
                Ok(NumberValue(fits.then_some(thousandths as u32)))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for NumberValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "examples": [0.5, 2] })
    }
}

/// A duration in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct DurationValue(pub(super) String);

impl JsonSchema for DurationValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^ *[0-9]+ *(ms|s|m|h) *$",
            "examples": ["500ms", "30s", "2m"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, right) in [
            ("500ms", Some(500)),
            ("30s", Some(30_000)),
            ("2 m", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("0s", Some(0)),
            ("99999999999999999999h", Some(u64::MAX)),
            ("30", None),
            ("s", None),
            ("-1s", None),
            ("1.5s", None),
            ("1s2", None),
            ("", None),
        ] {
            let right = right.map(Duration::from_millis);
            assert_eq!(duration(text).ok(), right, "{text:?}");
        }
    }

    #[test]
    fn sizes() {
        for (text, right) in [
            ("1MB", Some(1_000_000)),
            ("16MiB", Some(16 << 20)),
            ("12", Some(12)),
            ("1 kB", Some(1000)),
            ("99999999999999999999GB", Some(u64::MAX)),
            ("1mb", None),
            ("MB", None),
            ("", None),
        ] {
            assert_eq!(size(text).ok(), right, "{text:?}");
        }
    }

    #[test]
    fn what_is_shown_is_read_back() {
        for bytes in [0, 1, 999, 1000, 1024, 16 << 20, 1_000_000, 3 << 30] {
            assert_eq!(size(&show_size(bytes)), Ok(bytes));
        }
        for millis in [0, 1, 1000, 90_000, 3_600_000] {
            let millis = Duration::from_millis(millis);
            assert_eq!(duration(&show_duration(millis)), Ok(millis));
        }
    }
}
