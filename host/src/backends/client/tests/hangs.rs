//! A client that never answers.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use belljar_contract::{blocking::block_on, session::Limits};

use super::super::*;

/// One that never answers, and forgets its context.
#[derive(Default)]
struct Hangs {
    closed: AtomicBool,
}

#[async_trait]
impl Client for Hangs {
    async fn read(&self, _: &Context, _: &str) -> Result<Vec<u8>, ClientError> {
        std::future::pending().await
    }

    async fn write(&self, _: &Context, _: &str, _: &[u8]) -> Result<(), ClientError> {
        std::future::pending().await
    }

    async fn exec(&self, _: &Context, _: &str) -> Result<ClientOutput, ClientError> {
        std::future::pending().await
    }

    async fn close(&self) -> Result<(), ClientError> {
        self.closed.store(true, Ordering::Release);
        Ok(())
    }
}

pub(super) fn options(scratch: &str) -> ClientOptions {
    ClientOptions {
        posix: PosixOptions {
            backend: "client".into(),
            root: "/work".into(),
            writable: true,
            durable: false,
            users: false,
            environment: BTreeMap::new(),
            limits: Limits::default(),
            instructions: String::new(),
            hardening_gaps: Vec::new(),
        },
        scratch: scratch.into(),
    }
}

fn opened(context: &Context, scratch: &str) -> (Error, bool) {
    let client = Arc::new(Hangs::default());
    let open = options(scratch).open(context, Arc::clone(&client) as Arc<dyn Client>);
    let error = match block_on(&Context::new(), open).expect("it ends by itself") {
        Err(error) => error,
        Ok(_) => panic!("it opens"),
    };
    (error, client.closed.load(Ordering::Acquire))
}

#[test]
fn one_that_never_answers_is_given_up_and_closed() {
    let context = Context::new().with_timeout(Duration::from_millis(50));
    let (error, closed) = opened(&context, "/tmp");
    assert_eq!(error.kind, ErrorKind::TimedOut, "{error:?}");
    assert!(closed);
}

#[test]
fn what_travels_has_a_place_of_its_own() {
    for scratch in ["", "tmp", "../tmp", "/tmp\0"] {
        let (error, closed) = opened(&Context::new(), scratch);
        assert_eq!(error.kind, ErrorKind::InvalidArgument, "{error:?}");
        assert!(closed);
    }
}
