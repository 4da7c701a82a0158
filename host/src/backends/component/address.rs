//! Which addresses are somebody's own: what a component reaches there, it would reach with this machine's place in the
//! network.
//!
//! From the registries of special-purpose addresses (RFC 6890 and what followed it). An address that has another in it is
//! judged by that one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Who is at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Anybody on the internet.
    Public,
    /// This machine, its network, or its provider's.
    Private,
    /// Where a cloud gives its machines their credentials.
    Metadata,
    /// Nobody, or many.
    Nobody,
}

/// Says who is at an address.
pub(super) fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

const fn reach_v4(address: Ipv4Addr) -> Reach {
    match address.octets() {
        // Amazon's, Google's and Microsoft's; Alibaba's; Oracle's.
        [169, 254, 169, 254] | [100, 100, 100, 200] | [192, 0, 0, 192] => Reach::Metadata,
        [0, ..] | [224..=255, ..] => Reach::Nobody,
        [10 | 127, ..]
        | [100, 64..=127, ..]
        | [169, 254, ..]
        | [172, 16..=31, ..]
        | [192, 168, ..]
        | [192, 0, 0, _]
        // Documentation, the relays of 6to4, and benchmarks: nobody's on the internet, and somebody's at home.
        | [192, 0, 2, _]
        | [192, 88, 99, _]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _] => Reach::Private,
        _ => Reach::Public,
    }
}

const fn reach_v6(address: Ipv6Addr) -> Reach {
    let segments = address.segments();
    let [.., g, h, i, j] = address.octets();
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0] => Reach::Nobody,
        [0, 0, 0, 0, 0, 0, 0, 1] => Reach::Private,
        // Mapped, once compatible, and translated (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, ..] | [0, 0, 0, 0, 0, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
            reach_v4(Ipv4Addr::new(g, h, i, j))
        }
        // 6to4: the address is in the prefix.
        [0x2002, high, low, ..] => {
            let [a, b] = high.to_be_bytes();
            let [c, d] = low.to_be_bytes();
            match reach_v4(Ipv4Addr::new(a, b, c, d)) {
                // A relay decides where that goes.
                Reach::Public => Reach::Private,
                other => other,
            }
        }
        // Amazon's metadata over IPv6.
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] => Reach::Metadata,
        [0xff00..=0xffff, ..] => Reach::Nobody,
        // Protocol assignments (Teredo, ORCHID), documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Reach::Private,
        [0x2000..=0x3fff, ..] => Reach::Public,
        // Local by name or by use, and all that is not given out.
        _ => Reach::Private,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Reach {
        reach(text.parse().expect("an address"))
    }

    #[test]
    fn what_is_somebodys_own_is_not_public() {
        for text in [
            "127.0.0.1",
            "127.8.9.10",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "100.64.0.1",
            "100.127.255.255",
            "169.254.1.1",
            "192.0.0.8",
            "198.18.0.1",
            "203.0.113.9",
            "::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fdab::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "2002:a00:1::1",
            "2002:808:808::1",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "100::1",
        ] {
            assert_eq!(of(text), Reach::Private, "{text}");
        }
    }

    #[test]
    fn metadata_is_found_in_every_spelling() {
        for text in [
            "169.254.169.254",
            "100.100.100.200",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
            "fd00:ec2::254",
        ] {
            assert_eq!(of(text), Reach::Metadata, "{text}");
        }
    }

    #[test]
    fn nobody_is_reached_at_all() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "ff02::1",
            "::ffff:0.0.0.0",
        ] {
            assert_eq!(of(text), Reach::Nobody, "{text}");
        }
    }

    #[test]
    fn the_rest_is_public() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
        ] {
            assert_eq!(of(text), Reach::Public, "{text}");
        }
    }
}
