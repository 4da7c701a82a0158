//! The id of a session, and until when what was made for it is left alone.

use std::time::Duration;

/// Makes the id of a session: 128 bits that nobody can guess.
#[cfg(target_os = "linux")]
pub(super) fn session_id() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    // The kernel fills so few bytes whole or not at all.
    debug_assert_eq!(filled, bytes.len());
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// Makes the id of a session: 128 bits from the standard library's own randomness, which the system seeds.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(super) fn session_id() -> std::io::Result<String> {
    use std::hash::{BuildHasher as _, RandomState};
    let half = || RandomState::new().hash_one(std::process::id());
    Ok(format!("{:016x}{:016x}", half(), half()))
}

/// When a lease that begins now ends: seconds since 1970.
pub(super) fn lease_end(now: u64, lease: Duration) -> u64 {
    now.saturating_add(lease.as_secs())
}

/// Seconds since 1970, which a machine that is another can compare.
pub(super) fn seconds_since_1970() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_128_bits_and_differ() {
        let (one, two) = (session_id().expect("bits"), session_id().expect("bits"));
        assert_ne!(one, two);
        assert!(one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
