//! How bytes are serialized: as they are in a binary format, in base64 in a text format.

use base64::{Engine as _, display::Base64Display, engine::general_purpose::STANDARD};
use serde::{Deserializer, Serializer};

/// Serializes bytes. For `#[serde(with = "belljar_contract::bytes")]`.
///
/// # Errors
/// Whatever the serializer answers.
pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        // Written as it is made: a text of it beside the one that is written would be there once more.
        serializer.collect_str(&Base64Display::new(bytes, &STANDARD))
    } else {
        serializer.serialize_bytes(bytes)
    }
}

/// Deserializes bytes.
///
/// # Errors
/// Whatever the deserializer answers, and text that is not base64.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    if deserializer.is_human_readable() {
        deserializer.deserialize_str(TextVisitor)
    } else {
        deserializer.deserialize_byte_buf(BytesVisitor)
    }
}

/// Reads text where it stands: it may be large, and is needed no more.
struct TextVisitor;

impl serde::de::Visitor<'_> for TextVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("base64")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<u8>, E> {
        STANDARD
            .decode(text)
            .map_err(|error| E::custom(format!("not base64: {error}")))
    }
}

struct BytesVisitor;

impl serde::de::Visitor<'_> for BytesVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }
}

/// The same for optional bytes.
pub mod option {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Serializes optional bytes.
    ///
    /// # Errors
    /// Whatever the serializer answers.
    pub fn serialize<S: Serializer>(
        bytes: &Option<Vec<u8>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        bytes
            .as_ref()
            .map(|bytes| Wrapped(bytes.clone()))
            .serialize(serializer)
    }

    /// Deserializes optional bytes.
    ///
    /// # Errors
    /// Whatever the deserializer answers.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<u8>>, D::Error> {
        Ok(Option::<Wrapped>::deserialize(deserializer)?.map(|wrapped| wrapped.0))
    }

    #[derive(Serialize, Deserialize)]
    struct Wrapped(#[serde(with = "super")] Vec<u8>);
}
