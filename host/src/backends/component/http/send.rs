//! A request with its redirects, each judged as a request of its own.

use std::{error::Error as _, net::IpAddr, sync::Arc, time::Duration};

use reqwest::{
    Method, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap, LOCATION},
    redirect,
};
use rustls::RootCertStore;

use super::{
    client::{Failure, Request, Response},
    request::{self, ANYBODYS, Checked},
    resolver::{NotGranted, Resolver},
    tls,
};
use crate::backends::{
    ComponentError,
    component::grant::{Asked, HttpGrant},
};

/// Redirects of one request: more than an honest service has.
const REDIRECTS: usize = 5;
/// How long it may take to connect to one address.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a connection is kept for the next request.
const KEPT: Duration = Duration::from_secs(30);

/// The grants, each with a client of its own: a connection that one grant allowed is not another's.
pub(super) struct Sender {
    granted: Vec<Granted>,
    /// The most bytes of a body.
    most: u64,
}

struct Granted {
    grant: Arc<HttpGrant>,
    client: reqwest::Client,
}

impl Sender {
    pub(super) fn new(
        grants: Vec<HttpGrant>,
        most: u64,
        roots: &RootCertStore,
    ) -> Result<Self, ComponentError> {
        let tls = tls::config(roots)?;
        let granted = grants.into_iter().map(|grant| {
            let grant = Arc::new(grant);
            let client = reqwest::Client::builder()
                .tls_backend_preconfigured(tls.clone())
                .redirect(redirect::Policy::none())
                .retry(reqwest::retry::never())
                .no_proxy()
                .referer(false)
                .connect_timeout(CONNECT)
                .pool_idle_timeout(KEPT)
                .dns_resolver(Resolver(Arc::clone(&grant)))
                .build()
                .map_err(|error| ComponentError::Tls(chain(&error)))?;
            Ok(Granted { grant, client })
        });
        Ok(Self {
            granted: granted.collect::<Result<_, ComponentError>>()?,
            most,
        })
    }

    pub(super) async fn send(&self, request: Request) -> Result<Response, Failure> {
        let mut next = request::check(request, self.most)?;
        for _ in 0..=REDIRECTS {
            let client = self.granted(&next.method, &next.url)?;
            // What is sent is kept for the case that it is sent elsewhere.
            let sent = client
                .request(next.method.clone(), next.url.clone())
                .headers(next.headers.clone())
                .body(next.body.clone())
                .send();
            let response = sent.await.map_err(failed)?;
            match redirected(&response, next)? {
                Some(redirected) => next = redirected,
                None => return self.read(response).await,
            }
        }
        let message = format!("over {REDIRECTS} redirects");
        Err(Failure::Unreachable(message))
    }

    /// The client of the grant that has this request.
    fn granted(&self, method: &Method, url: &Url) -> Result<&reqwest::Client, Failure> {
        let asked = Asked {
            method: method.as_str(),
            secure: url.scheme() == "https",
            host: url.host_str().unwrap_or_default(),
            port: url.port_or_known_default().unwrap_or_default(),
        };
        let denied = |why: &str| {
            Failure::Denied(format!(
                "{} {}://{}:{} {why}",
                asked.method,
                url.scheme(),
                asked.host,
                asked.port
            ))
        };
        let mut of_grants = self.granted.iter();
        // An address is not looked up, so it is judged here.
        let address = asked.host.trim_start_matches('[').trim_end_matches(']');
        let address: Option<IpAddr> = address.parse().ok();
        let mut has = false;
        let found = of_grants.find(|granted| {
            let grant = &granted.grant;
            let this = grant.has(&asked);
            has |= this;
            this && address.is_none_or(|address| grant.admits(asked.host, address))
        });
        match found {
            Some(granted) => Ok(&granted.client),
            None if has => Err(denied("is an address that is not public")),
            None => Err(denied("is in no grant")),
        }
    }

    async fn read(&self, mut response: reqwest::Response) -> Result<Response, Failure> {
        if response
            .content_length()
            .is_some_and(|length| length > self.most)
        {
            return Err(Failure::TooLarge);
        }
        let status = response.status().as_u16();
        let headers = response.headers().iter();
        let headers = headers
            .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
            .collect();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if (body.len() + chunk.len()) as u64 > self.most {
                return Err(Failure::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Response {
            status,
            headers,
            body,
        })
    }
}

/// The request that a response asks for instead; none when it asks for none.
fn redirected(response: &reqwest::Response, sent: Checked) -> Result<Option<Checked>, Failure> {
    let status = response.status();
    let Some(location) = response.headers().get(LOCATION) else {
        return Ok(None);
    };
    let keeps = matches!(
        status,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let changes = matches!(
        status,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER
    );
    if !keeps && !changes {
        return Ok(None);
    }
    let to = location.to_str().ok();
    let to = to.and_then(|location| sent.url.join(location).ok());
    let Some(to) = to else {
        let message = "a redirect to what is no URL".to_owned();
        return Err(Failure::Unreachable(message));
    };
    let url = request::url(to.as_str())
        .map_err(|_| Failure::Denied("a redirect to what can be no request".to_owned()))?;
    Ok(Some(follow(sent, url, status)))
}

/// The same request at another place, as browsers follow: a form that was sent is not sent again, and what could be a
/// secret of the one host is not told to another.
fn follow(sent: Checked, url: Url, status: StatusCode) -> Checked {
    let fetch = match status {
        StatusCode::SEE_OTHER => sent.method != Method::HEAD,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => sent.method == Method::POST,
        _ => false,
    };
    let mut headers = match url.origin() == sent.url.origin() {
        true => sent.headers,
        false => anybodys(&sent.headers),
    };
    let (method, body) = match fetch {
        true => {
            headers.remove(CONTENT_TYPE);
            (Method::GET, Vec::new())
        }
        false => (sent.method, sent.body),
    };
    Checked {
        method,
        url,
        headers,
        body,
    }
}

fn anybodys(headers: &HeaderMap) -> HeaderMap {
    let kept = headers.iter();
    let kept = kept.filter(|(name, _)| ANYBODYS.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Tells what a request failed by; without its URL, in which a secret could be.
fn failed(error: reqwest::Error) -> Failure {
    let error = error.without_url();
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(refused) = cause.downcast_ref::<NotGranted>() {
            return Failure::Denied(refused.to_string());
        }
        source = cause.source();
    }
    if error.is_builder() {
        return Failure::Invalid(chain(&error));
    }
    Failure::Unreachable(chain(&error))
}

/// An error with all that is behind it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(method: Method) -> Checked {
        let mut headers = HeaderMap::new();
        for name in [
            "accept",
            "content-type",
            "authorization",
            "x-api-key",
            "cookie",
        ] {
            headers.insert(name, "v".parse().expect("a value"));
        }
        Checked {
            method,
            url: url("https://a.example/x"),
            headers,
            body: b"body".to_vec(),
        }
    }

    fn url(text: &str) -> Url {
        text.parse().expect("a URL")
    }

    fn names(request: &Checked) -> Vec<&str> {
        let mut names: Vec<&str> = request.headers.keys().map(|name| name.as_str()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn secrets_go_to_no_other_origin() {
        for other in [
            "https://b.example/x",
            "https://a.example:8443/x",
            "http://a.example/x",
        ] {
            let status = StatusCode::TEMPORARY_REDIRECT;
            let next = follow(sent(Method::POST), url(other), status);
            assert_eq!(names(&next), ["accept", "content-type"], "{other}");
            assert_eq!((next.method, next.body), (Method::POST, b"body".to_vec()));
        }
        let same = url("https://a.example/y");
        let next = follow(sent(Method::PUT), same, StatusCode::PERMANENT_REDIRECT);
        assert_eq!(names(&next).len(), 5);
    }

    #[test]
    fn a_form_is_not_sent_twice() {
        let to = || url("https://a.example/y");
        for (status, method, right) in [
            (StatusCode::SEE_OTHER, Method::PUT, Method::GET),
            (StatusCode::SEE_OTHER, Method::HEAD, Method::HEAD),
            (StatusCode::FOUND, Method::POST, Method::GET),
            (StatusCode::FOUND, Method::PUT, Method::PUT),
            (StatusCode::MOVED_PERMANENTLY, Method::POST, Method::GET),
        ] {
            let next = follow(sent(method), to(), status);
            assert_eq!(next.method, right, "{status}");
            let is_fetch = right == Method::GET;
            assert_eq!(next.body.is_empty(), is_fetch, "{status}");
        }
    }
}
