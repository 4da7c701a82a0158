//! The export `machine`.

use super::{
    super::{Client, Failure, Machine, Output},
    Exported,
};
use crate::bindings::client::exports::belljar::sandbox::machine as wit;

impl<T: Client> Exported<T> {
    fn machine<R>(work: impl FnOnce(&T) -> Result<R, Failure>) -> Result<R, wit::Failure> {
        Self::with(work)
            .unwrap_or_else(|| Err(Failure::Failed("the session was not resumed".to_owned())))
            .map_err(failure)
    }
}

impl<T: Client> wit::Guest for Exported<T> {
    fn describe() -> Result<wit::Description, wit::Failure> {
        Self::machine(T::describe).map(description)
    }

    fn read(path: String) -> Result<Vec<u8>, wit::Failure> {
        Self::machine(|client| client.read(&path))
    }

    fn write(path: String, bytes: Vec<u8>) -> Result<(), wit::Failure> {
        Self::machine(|client| client.write(&path, &bytes))
    }

    fn exec(command: String, stdin: Vec<u8>) -> Result<wit::Output, wit::Failure> {
        Self::machine(|client| client.exec(&command, &stdin)).map(output)
    }
}

fn description(machine: Machine) -> wit::Description {
    wit::Description {
        root: machine.root,
        scratch: machine.scratch,
        durable: machine.durable,
        traits: wit::Traits {
            stdin: machine.traits.stdin,
            bytes: machine.traits.bytes,
        },
        instructions: machine.instructions,
    }
}

fn output(output: Output) -> wit::Output {
    wit::Output {
        code: output.code,
        stdout: output.stdout,
        stderr: output.stderr,
    }
}

fn failure(failure: Failure) -> wit::Failure {
    match failure {
        Failure::Unavailable(message) => wit::Failure::Unavailable(message),
        Failure::Busy(message) => wit::Failure::Busy(message),
        Failure::Failed(message) => wit::Failure::Failed(message),
    }
}
