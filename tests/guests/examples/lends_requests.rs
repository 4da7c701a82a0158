//! A backend whose files are requests: a file's name is that of a setting, `METHOD URL [NAME: VALUE]…` in lines, and
//! its content what came of it, with the headers that the server said it had got.

#![cfg(target_family = "wasm")]

use belljar_guest::{
    Error, ErrorKind, Result,
    files::{Content, Version},
    http::{HttpError, Request as Http},
    lend::{Backend, Lease, Opened, Request, Response},
    session::Description,
    settings,
};

struct Lent;

impl Lease for Lent {
    fn open() -> Result<Opened> {
        Ok(Opened::new("ticket"))
    }

    fn resume(_: &[u8]) -> Result<Self> {
        Ok(Self)
    }

    fn close(&self) -> Result<()> {
        Ok(())
    }
}

impl Backend for Lent {
    fn describe(&self) -> Description {
        belljar_test_guests::description()
    }

    fn call(&self, request: Request) -> Result<Response> {
        let Request::Read { path } = &request else {
            let operation = request.operation();
            return Err(Error::new(ErrorKind::Unsupported, operation, "only read"));
        };
        let Some(asked) = settings::get(path.as_str()) else {
            let operation = request.operation();
            return Err(Error::new(
                ErrorKind::NotFound,
                operation,
                "no such setting",
            ));
        };
        let mut lines = asked.split('\n');
        let (method, url) = lines
            .next()
            .and_then(|line| line.split_once(' '))
            .unwrap_or_default();
        let mut http = Http::new(method, url);
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap_or((line, ""));
            http = http.with_header(name, value);
        }
        let came = match http.send() {
            Ok(response) => format!("{} {}", response.status, response.text()),
            Err(HttpError::Denied(_)) => "denied".to_owned(),
            Err(HttpError::Invalid(_)) => "invalid".to_owned(),
            Err(HttpError::Unreachable(_)) => "unreachable".to_owned(),
            Err(HttpError::TimedOut) => "timed-out".to_owned(),
            Err(HttpError::Stopped) => "stopped".to_owned(),
            Err(HttpError::TooLarge) => "too-large".to_owned(),
            Err(_) => "another".to_owned(),
        };
        let version = Version::parse("v")
            .map_err(|_| Error::new(ErrorKind::BackendFailed, request.operation(), "no version"))?;
        Ok(Response::Content(Content {
            bytes: came.into_bytes(),
            version,
        }))
    }
}

belljar_guest::backend!(Lent);
