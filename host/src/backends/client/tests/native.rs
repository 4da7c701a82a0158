//! A client that runs programs by itself.

use std::sync::atomic::{AtomicU32, Ordering};

use belljar_contract::{blocking::block_on, processes::Execution};

use super::{super::*, hangs};
use crate::backends::ExecCall;

/// Notes what it is asked to run, and has no sandbox any more.
#[derive(Default)]
struct Notes(AtomicU32);

#[async_trait]
impl Exec for Notes {
    async fn exec(&self, _: &Context, _: ExecCall) -> std::result::Result<Execution, ExecError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let message = "evicted".to_owned();
        Err(ExecError::Unavailable { message })
    }
}

/// Of the four functions only the last may be called.
struct Native(Arc<Notes>);

#[async_trait]
impl Client for Native {
    async fn read(&self, _: &Context, _: &str) -> std::result::Result<Vec<u8>, ClientError> {
        panic!("it reads");
    }

    async fn write(&self, _: &Context, _: &str, _: &[u8]) -> std::result::Result<(), ClientError> {
        panic!("it writes");
    }

    async fn exec(&self, _: &Context, _: &str) -> std::result::Result<ClientOutput, ClientError> {
        panic!("it runs a text");
    }

    async fn close(&self) -> std::result::Result<(), ClientError> {
        Ok(())
    }

    fn native(&self) -> Option<Arc<dyn Exec>> {
        Some(Arc::clone(&self.0) as Arc<dyn Exec>)
    }
}

#[test]
fn one_that_runs_programs_by_itself_is_asked_for_nothing_else() {
    let notes = Arc::new(Notes::default());
    let client = Arc::new(Native(Arc::clone(&notes)));
    let context = Context::new();
    let open = hangs::options("/tmp").open(&context, client);
    let opened = block_on(&context, open).expect("it ends by itself");
    let error = opened.err().expect("its sandbox is gone");
    assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error:?}");
    assert_eq!(notes.0.load(Ordering::Relaxed), 1);
}
