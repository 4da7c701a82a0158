//! What a component is.

use std::{fmt, str::FromStr};

use sha2::{Digest as _, Sha256};

use super::error::RegistryError;

const ALGORITHM: &str = "sha256:";

/// The SHA-256 of a component's bytes, written as registries do: `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digits alone.
    #[must_use]
    pub fn hexadecimal(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ALGORITHM}{}", self.hexadecimal())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = RegistryError;

    fn from_str(text: &str) -> Result<Self, RegistryError> {
        let bad = || RegistryError::BadDigest {
            text: text.to_owned(),
        };
        let digits = text.strip_prefix(ALGORITHM).ok_or_else(bad)?;
        let mut bytes = [0; 32];
        if digits.len() != 2 * bytes.len()
            || digits
                .contains(|digit: char| !digit.is_ascii_hexdigit() || digit.is_ascii_uppercase())
        {
            return Err(bad());
        }
        for (byte, at) in bytes.iter_mut().zip((0..digits.len()).step_by(2)) {
            *byte = u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| bad())?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_as_it_is_written() {
        let digest = Digest::of(b"");
        assert_eq!(
            digest.to_string(),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        for bad in [
            "",
            "sha256:",
            "sha256:e3",
            "sha512:00",
            &digest.hexadecimal(),
            &digest.to_string().to_uppercase(),
        ] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }
}
