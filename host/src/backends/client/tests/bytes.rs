//! Where a client takes bytes and gives bytes, an operation is one call.

use super::*;

/// A client whose every command prints this, as it is.
struct Prints {
    answer: &'static [u8],
    inner: Arc<Scripted>,
}

#[async_trait]
impl Client for Prints {
    async fn read(&self, context: &Context, path: &str) -> Result<Vec<u8>, ClientError> {
        self.inner.read(context, path).await
    }

    async fn write(&self, context: &Context, path: &str, bytes: &[u8]) -> Result<(), ClientError> {
        self.inner.write(context, path, bytes).await
    }

    async fn exec(&self, context: &Context, command: &str) -> Result<ClientOutput, ClientError> {
        self.inner.exec(context, command).await
    }

    async fn close(&self) -> Result<(), ClientError> {
        Ok(())
    }

    fn bytes(&self) -> Option<Arc<dyn ClientBytes>> {
        Some(Arc::new(Self {
            answer: self.answer,
            inner: Arc::clone(&self.inner),
        }))
    }
}

#[async_trait]
impl ClientBytes for Prints {
    async fn exec(
        &self,
        _: &Context,
        command: &str,
        stdin: &[u8],
    ) -> Result<ClientBytesOutput, ClientError> {
        let mut asked = self.inner.asked.lock().expect("no panic");
        asked.push(command.to_owned());
        drop(asked);
        let mut written = self.inner.written.lock().expect("no panic");
        written.push(stdin.to_vec());
        Ok(ClientBytesOutput {
            stdout: self.answer.to_vec(),
            ..ClientBytesOutput::default()
        })
    }
}

fn ran(
    answer: &'static [u8],
    stdin: &[u8],
) -> (
    Arc<Scripted>,
    Result<belljar_contract::processes::Execution, ExecError>,
) {
    let inner = scripted(|_| printed(""));
    let client = Arc::new(Prints {
        answer,
        inner: Arc::clone(&inner),
    });
    let context = Context::new().with_timeout(Duration::from_secs(10));
    let work = async {
        let folder = "/tmp/belljar-x".to_owned();
        let carried = Carried::open(&context, client, folder).await;
        let carried = carried.expect("it is made");
        carried.exec(&context, call(&["cat"], stdin)).await
    };
    let ran = belljar_contract::blocking::block_on(&context, work).expect("in time");
    (inner, ran)
}

#[test]
fn an_operation_is_one_call() {
    let (client, ran) = ran(b"belljar 3 2 1 2 1\n\xffh!", b"s3cret");
    let ran = ran.expect("it ran");
    assert_eq!(ran.outcome, Outcome::Exited(3));
    assert_eq!(
        (ran.stdout.head.as_slice(), ran.stderr.head.as_slice()),
        (&b"\xffh"[..], &b"!"[..])
    );
    let asked = client.asked.lock().expect("no panic");
    // The folder is made, and then there is the one call.
    assert_eq!(asked.len(), 2);
    assert!(!asked[1].contains("s3cret"));
    let written = client.written.lock().expect("no panic");
    assert_eq!(*written, [b"s3cret".to_vec()]);
}

#[test]
fn an_answer_that_is_none_is_told() {
    for answer in [
        &b""[..],
        b"belljar 0 5 0 5 0\nabc",
        b"belljar 0 200 0 200 0\n",
        b"Welcome!\n",
    ] {
        let (_, ran) = ran(answer, b"");
        assert!(matches!(ran, Err(ExecError::Failed { .. })), "{ran:?}");
    }
}
