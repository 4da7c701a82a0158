//! Durations on the command line, written as in the configuration: `500ms`, `30s`, `2m`, `1h`.

use std::time::Duration;

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];

/// Reads a duration; for clap.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.find(|character: char| !character.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let factor = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|(_, factor)| *factor);
    let milliseconds = factor.zip(number.parse::<u64>().ok());
    milliseconds
        .and_then(|(factor, number)| number.checked_mul(factor))
        .map(Duration::from_millis)
        .ok_or_else(|| "not a duration: a whole number and ms, s, m or h, as in 30s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit() {
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("2m"), Ok(Duration::from_secs(120)));
        for bad in ["", "5", "s", "-1s", "1.5s", "18446744073709551615h", "1 s"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
