//! Which requests a component may make.

use std::net::IpAddr;

use super::address::{Reach, reach};

/// The methods of a grant that names none: those that fetch and change, and none that asks for a tunnel or an echo.
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/// What no grant gives: a tunnel to anywhere, and an echo of headers.
const NEVER: [&str; 2] = ["CONNECT", "TRACE"];

/// Requests that a component may make: to one of these hosts, on one of these ports, by one of these methods.
///
/// ```
/// use belljar::backends::HttpGrant;
///
/// let grant = HttpGrant::to(["api.sandboxes.example", "*.sandboxes.example"]);
/// assert!(grant.validated().is_ok());
/// assert!(HttpGrant::to(["https://sandboxes.example/"]).validated().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpGrant {
    /// Names or addresses as they stand in a URL; `*.` before a name: every name below it, and not itself.
    pub hosts: Vec<String>,
    /// None: 443, and with [`http`](Self::http) 80.
    pub ports: Option<Vec<u16>>,
    /// In capitals; none: `GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE`.
    pub methods: Option<Vec<String>>,
    /// Whether the hosts may have addresses that are somebody's own: this machine's, a private network's. Where a cloud
    /// gives out credentials (`169.254.169.254`) is reached only when the grant names that address itself.
    pub private: bool,
    /// Whether `http` will do, which anybody on the way can read and change.
    pub http: bool,
}

/// Why a grant is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    /// It names no host.
    #[error("the grant names no host")]
    NoHost,
    /// A host is none.
    #[error(
        "{host:?} is not a host: name it as in api.example.com, *.example.com, 192.0.2.1 or [2001:db8::1], in small letters, without scheme, port or path"
    )]
    Host {
        /// What was given.
        host: String,
    },
    /// A port is none.
    #[error("there is no port 0")]
    Port,
    /// A method is none.
    #[error("{method:?} cannot be granted: a method is in capitals, and never CONNECT or TRACE")]
    Method {
        /// What was given.
        method: String,
    },
}

impl HttpGrant {
    /// A grant of `https` to these hosts, at public addresses.
    pub fn to(hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            hosts: hosts.into_iter().map(Into::into).collect(),
            ports: None,
            methods: None,
            private: false,
            http: false,
        }
    }

    /// Says whether it is one.
    ///
    /// # Errors
    /// [`GrantError`] for the first thing that cannot be granted.
    pub fn validated(&self) -> Result<(), GrantError> {
        if self.hosts.is_empty() {
            return Err(GrantError::NoHost);
        }
        for host in &self.hosts {
            check_host(host)?;
        }
        if self.ports.as_ref().is_some_and(|ports| ports.contains(&0)) {
            return Err(GrantError::Port);
        }
        for method in self.methods.iter().flatten() {
            check_method(method)?;
        }
        Ok(())
    }

    /// Whether a request is to one of its hosts and ports, by one of its methods and schemes. What its host's address
    /// is, is asked later.
    pub(super) fn has(&self, asked: &Asked<'_>) -> bool {
        let port = match &self.ports {
            Some(ports) => ports.contains(&asked.port),
            None => asked.port == 443 || (self.http && asked.port == 80),
        };
        let method = match &self.methods {
            Some(methods) => methods.iter().any(|method| method == asked.method),
            None => METHODS.contains(&asked.method),
        };
        port && method && (asked.secure || self.http) && self.has_host(asked.host)
    }

    fn has_host(&self, host: &str) -> bool {
        self.hosts
            .iter()
            .any(|granted| match granted.strip_prefix('*') {
                // With its dot: `evilexample.com` is not below `example.com`.
                Some(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
                None => host == granted,
            })
    }

    /// Whether it may be connected to this address, for a host of that name.
    pub(super) fn admits(&self, host: &str, address: IpAddr) -> bool {
        match reach(address) {
            Reach::Public => true,
            Reach::Private => self.private,
            Reach::Metadata => {
                let literal = host.trim_start_matches('[').trim_end_matches(']');
                let is_literal = literal.parse::<IpAddr>().is_ok();
                self.private && is_literal && self.hosts.iter().any(|granted| granted == host)
            }
            Reach::Nobody => false,
        }
    }
}

/// A request, as a grant looks at it.
pub(super) struct Asked<'a> {
    pub(super) method: &'a str,
    /// Whether it is `https`.
    pub(super) secure: bool,
    /// As a parsed URL has it: in small letters, an IPv6 address in brackets.
    pub(super) host: &'a str,
    pub(super) port: u16,
}

/// Says whether a host of a grant is one.
fn check_host(host: &str) -> Result<(), GrantError> {
    let name = host.strip_prefix("*.").unwrap_or(host);
    let is_v6 = name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .and_then(|address| Some((address, address.parse::<std::net::Ipv6Addr>().ok()?)))
        // As a URL is read, which is what it is compared with.
        .is_some_and(|(text, address)| text == address.to_string());
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_')
            })
    };
    let is_name = name.len() <= 253 && name.split('.').all(label);
    match (host == name && is_v6) || is_name {
        true => Ok(()),
        false => Err(GrantError::Host {
            host: host.to_owned(),
        }),
    }
}

fn check_method(method: &str) -> Result<(), GrantError> {
    let is_one = !method.is_empty()
        && method
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'-')
        && !NEVER.contains(&method);
    match is_one {
        true => Ok(()),
        false => Err(GrantError::Method {
            method: method.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn asked<'a>(method: &'a str, secure: bool, host: &'a str, port: u16) -> Asked<'a> {
        Asked {
            method,
            secure,
            host,
            port,
        }
    }

    #[test]
    fn hosts_are_whole_names() {
        let grant = HttpGrant::to(["a.example", "*.b.example"]);
        let has = |host| grant.has(&asked("GET", true, host, 443));
        assert!(has("a.example") && has("x.b.example") && has("x.y.b.example"));
        for other in [
            "b.example",
            "xa.example",
            "x.a.example",
            "xb.example",
            "a.example.",
        ] {
            assert!(!has(other), "{other}");
        }
    }

    #[test]
    fn ports_methods_and_schemes_are_granted_too() {
        let grant = HttpGrant::to(["a"]);
        assert!(grant.has(&asked("DELETE", true, "a", 443)));
        assert!(!grant.has(&asked("GET", true, "a", 8443)));
        assert!(!grant.has(&asked("GET", false, "a", 80)));
        assert!(!grant.has(&asked("CONNECT", true, "a", 443)));
        let narrow = HttpGrant {
            ports: Some(vec![8080]),
            methods: Some(vec!["GET".into()]),
            http: true,
            ..grant
        };
        assert!(narrow.has(&asked("GET", false, "a", 8080)));
        assert!(!narrow.has(&asked("POST", false, "a", 8080)));
        assert!(!narrow.has(&asked("GET", false, "a", 80)));
    }

    #[test]
    fn metadata_is_named_or_not_reached() {
        let metadata = "169.254.169.254".parse().expect("an address");
        let private = |host: &str| HttpGrant {
            private: true,
            ..HttpGrant::to([host])
        };
        assert!(!private("cloud.example").admits("cloud.example", metadata));
        assert!(private("169.254.169.254").admits("169.254.169.254", metadata));
        assert!(!HttpGrant::to(["169.254.169.254"]).admits("169.254.169.254", metadata));
        let local = "127.0.0.1".parse().expect("an address");
        assert!(private("a").admits("a", local) && !HttpGrant::to(["a"]).admits("a", local));
        let nobody = "0.0.0.0".parse().expect("an address");
        assert!(!private("a").admits("a", nobody));
    }

    #[test]
    fn what_is_no_grant_is_refused() {
        for host in [
            "",
            "*",
            "*.",
            "A.example",
            "a.example:443",
            "https://a",
            "a/b",
            "a..b",
            "*.*.a",
            "[::01]",
            "::1",
            "*.[::1]",
        ] {
            let refused = HttpGrant::to([host]).validated();
            assert!(matches!(refused, Err(GrantError::Host { .. })), "{host:?}");
        }
        for right in ["a", "*.a.b", "127.0.0.1", "[::1]", "a_b.example"] {
            assert_eq!(HttpGrant::to([right]).validated(), Ok(()), "{right:?}");
        }
        let none = HttpGrant::to([""; 0]).validated();
        assert_eq!(none, Err(GrantError::NoHost));
        for method in ["get", "CONNECT", "TRACE", "", "A B"] {
            let grant = HttpGrant {
                methods: Some(vec![method.into()]),
                ..HttpGrant::to(["a"])
            };
            assert!(grant.validated().is_err(), "{method:?}");
        }
    }
}
