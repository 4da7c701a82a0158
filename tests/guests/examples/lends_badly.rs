//! A backend that does what it must not: a file's name says what. It counts its instances by what they remember.

#![cfg(target_family = "wasm")]

use std::cell::Cell;

use belljar_guest::{
    Error, ErrorKind, Result,
    files::{Content, Entry, EntryKind, Listing, Version},
    lend::{Backend, Lease, Opened, Request, Response},
    progress,
    session::Description,
    settings,
};

struct Lent {
    calls: Cell<u32>,
}

impl Lease for Lent {
    fn open() -> Result<Opened> {
        match settings::get("open").as_deref() {
            Some("ticket") => Ok(Opened::new(vec![0; (64 << 10) + 1])),
            Some("loop") => endless(),
            Some("refuses") => {
                let message = format!("no such key: {:?}", settings::get("key"));
                Err(Error::new(
                    ErrorKind::AccessDenied,
                    belljar_guest::Operation::Open,
                    message,
                ))
            }
            _ => Ok(Opened::new("ticket")),
        }
    }

    fn resume(ticket: &[u8]) -> Result<Self> {
        assert_eq!(ticket, b"ticket");
        Ok(Self {
            calls: Cell::new(0),
        })
    }

    fn close(&self) -> Result<()> {
        Ok(())
    }
}

fn endless() -> ! {
    let mut number = 0_u64;
    loop {
        number = std::hint::black_box(number.wrapping_add(1));
    }
}

fn content(bytes: Vec<u8>) -> Result<Response> {
    let version = Version::parse("v").map_err(|_| {
        Error::new(
            ErrorKind::BackendFailed,
            belljar_guest::Operation::Read,
            "no version",
        )
    })?;
    Ok(Response::Content(Content { bytes, version }))
}

fn listing(names: &[&str], total: u64) -> Result<Response> {
    let entry = |name: &&str| Entry {
        name: (*name).into(),
        kind: EntryKind::File,
        size: None,
    };
    let entries = names.iter().map(entry).collect();
    Ok(Response::Listing(Listing { entries, total }))
}

impl Backend for Lent {
    fn describe(&self) -> Description {
        let mut description = belljar_test_guests::description();
        match settings::get("describe").as_deref() {
            Some("root") => description.root = "../..".to_owned(),
            Some("much") => {
                description.limits.file_bytes = u64::MAX;
                description.limits.processes = u32::MAX;
                description.instructions = "x".repeat(1 << 20);
                description.hardening_gaps = vec!["gap".to_owned(); 10_000];
            }
            _ => {}
        }
        description
    }

    fn call(&self, request: Request) -> Result<Response> {
        self.calls.set(self.calls.get() + 1);
        match &request {
            Request::Read { path } => match path.as_str() {
                "loop" => endless(),
                "trap" => panic!("the token is {:?}", settings::get("key")),
                "memory" => {
                    let mut kept = Vec::new();
                    loop {
                        kept.push(vec![1_u8; 1 << 20]);
                    }
                }
                "much" => content(vec![0; (1 << 20) + 1]),
                "says" => {
                    progress::log(progress::Level::Warn, "a line");
                    Err(Error::new(
                        ErrorKind::NotFound,
                        request.operation(),
                        "x".repeat(1 << 20),
                    ))
                }
                "asks" => loop {
                    progress::report(1, None, "on and on");
                },
                "calls" => content(self.calls.get().to_string().into_bytes()),
                "keys" => content(format!("{:?}", settings::get("key")).into_bytes()),
                _ => content(Vec::new()),
            },
            Request::List { path, .. } => match path.as_str() {
                "order" => listing(&["b", "a"], 2),
                "names" => listing(&["../x"], 1),
                "total" => listing(&["a", "b"], 1),
                _ => listing(&["a", "b"], 2),
            },
            // Another answer than was asked for.
            _ => Ok(Response::Done),
        }
    }
}

belljar_guest::backend!(Lent);
