//! What a client may answer, and what it is told.

mod bytes;
mod hangs;
mod native;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use belljar_contract::processes::Outcome;

use super::*;
use crate::backends::ExecCall;

type Answer = fn(&str) -> Result<ClientOutput, ClientError>;

/// A client that answers what a test says, and notes what it is asked.
struct Scripted {
    answer: Answer,
    file: Vec<u8>,
    asked: Mutex<Vec<String>>,
    written: Mutex<Vec<Vec<u8>>>,
}

#[async_trait]
impl Client for Scripted {
    async fn read(&self, _: &Context, _: &str) -> Result<Vec<u8>, ClientError> {
        Ok(self.file.clone())
    }

    async fn write(&self, _: &Context, _: &str, content: &[u8]) -> Result<(), ClientError> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.push(content.to_vec());
        Ok(())
    }

    async fn exec(&self, _: &Context, command: &str) -> Result<ClientOutput, ClientError> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(command.to_owned());
        drop(asked);
        match command.starts_with("umask") {
            true => Ok(ClientOutput::default()),
            false => (self.answer)(command),
        }
    }

    async fn close(&self) -> Result<(), ClientError> {
        Ok(())
    }
}

fn scripted(answer: Answer) -> Arc<Scripted> {
    Arc::new(Scripted {
        answer,
        file: Vec::new(),
        asked: Mutex::default(),
        written: Mutex::default(),
    })
}

fn printed(text: &str) -> Result<ClientOutput, ClientError> {
    Ok(ClientOutput {
        stdout: text.to_owned(),
        ..ClientOutput::default()
    })
}

fn call(argv: &[&str], stdin: &[u8]) -> ExecCall {
    ExecCall {
        argv: argv.iter().map(|&word| word.to_owned()).collect(),
        stdin: stdin.to_vec(),
        user: None,
        output_limit: 100,
    }
}

fn run(
    client: Arc<Scripted>,
    call: ExecCall,
) -> Result<belljar_contract::processes::Execution, ExecError> {
    let context = Context::new().with_timeout(Duration::from_secs(10));
    let work = async {
        let folder = "/tmp/belljar-x".to_owned();
        let carried = Carried::open(&context, client, folder).await;
        carried.expect("it is made").exec(&context, call).await
    };
    belljar_contract::blocking::block_on(&context, work).expect("in time")
}

#[test]
fn arguments_are_quoted_and_input_is_in_no_command() {
    let client = scripted(|_| printed("belljar 0 0 0\nand\nend\n"));
    let argument = "it's; $(touch x)\n\\";
    let ran = run(Arc::clone(&client), call(&["printf", argument], b"s3cret")).expect("it ran");
    assert_eq!(ran.outcome, Outcome::Exited(0));
    let asked = client.asked.lock().expect("no panic");
    let quoted = "'printf' 'it'\\''s; $(touch x)\n\\'";
    assert!(asked[1].ends_with(quoted), "{}", asked[1]);
    assert!(asked.iter().all(|command| !command.contains("s3cret")));
    let written = client.written.lock().expect("no panic");
    assert_eq!(*written, [b"s3cret".to_vec()]);
}

#[test]
fn a_long_command_travels_as_a_file() {
    let client = scripted(|_| printed("belljar 0 0 0\nand\nend\n"));
    let long = "x".repeat(100 << 10);
    run(Arc::clone(&client), call(&["echo", &long], b"")).expect("it ran");
    let asked = client.asked.lock().expect("no panic");
    assert_eq!(asked[1], "sh '/tmp/belljar-x/0.sh'");
    let written = client.written.lock().expect("no panic");
    assert!(written[0].ends_with(format!("'{long}'").as_bytes()));
}

#[test]
fn an_answer_that_is_none_is_told() {
    let answers: [Answer; 5] = [
        |_| printed(""),
        |_| printed("Welcome!\nbelljar 0 0 0\nand\nend\n"),
        // Less, and more, than was told.
        |_| printed("belljar 0 5 0\n 61\nand\nend\n"),
        |_| printed("belljar 0 200 0\nfiles\n"),
        |_| printed(&"61 ".repeat(1 << 20)),
    ];
    for answer in answers {
        let ran = run(scripted(answer), call(&["true"], b""));
        assert!(matches!(ran, Err(ExecError::Failed { .. })), "{ran:?}");
    }
    let failed = run(
        scripted(|_| {
            Ok(ClientOutput {
                code: 70,
                ..ClientOutput::default()
            })
        }),
        call(&["true"], b""),
    );
    assert!(matches!(failed, Err(ExecError::Failed { .. })));
}

#[test]
fn why_a_client_failed_stays() {
    let gone = run(
        scripted(|_| {
            Err(ClientError::Unavailable {
                message: "evicted".into(),
            })
        }),
        call(&["true"], b""),
    );
    let message = "evicted".to_owned();
    assert_eq!(gone.err(), Some(ExecError::Unavailable { message }));
}

#[test]
fn a_client_that_forgets_its_deadline_is_given_up() {
    let client = scripted(|_| {
        std::thread::sleep(Duration::from_secs(5));
        printed("")
    });
    let context = Context::new();
    let folder = "/tmp/belljar-x".to_owned();
    let wait = |future| belljar_contract::blocking::block_on(&context, future);
    let opened = wait(Carried::open(&context, client, folder));
    let carried = opened.expect("in time").expect("it is made");
    let limited = context.with_timeout(Duration::from_millis(50));
    let began = context.now();
    let ran = belljar_contract::blocking::block_on(
        &limited,
        carried.exec(&limited, call(&["true"], b"")),
    );
    assert!(ran.is_err(), "nobody answered");
    assert!(context.now() - began < Duration::from_secs(2));
}
