//! Command lines that run: pipelines of instances, one after the other.

use std::{io, os::fd::OwnedFd};

use belljar_contract::{Cancellation, processes::Outcome};
use belljar_workspace::processes::{Prepared, Surroundings};

use super::{
    ProgramSet,
    command::{Directory, OneProgram, Place, Streams},
    expand::expand,
    files::{Access, Files},
    parse::{Destination, Lines, Simple, When},
};

/// What a shell says when a program is not there; when it cannot do what it is told; and of a signal.
const NOT_FOUND: i32 = 127;
const FAILED: i32 = 1;
const SIGNALLED: i32 = 128;

/// Pipelines of programs.
pub(super) struct Script {
    programs: ProgramSet,
    lines: Lines,
}

impl Script {
    pub(super) const fn new(programs: ProgramSet, lines: Lines) -> Self {
        Self { programs, lines }
    }
}

impl Prepared for Script {
    fn run(self: Box<Self>, surroundings: Surroundings, stop: &Cancellation) -> Outcome {
        let mut stderr = match surroundings.stderr.try_clone() {
            Ok(stderr) => Errors(stderr),
            Err(_) => return Outcome::Exited(FAILED),
        };
        let done = Run::new(&self.programs, &surroundings, stop)
            .and_then(|mut run| run.lines(&self.lines));
        done.unwrap_or_else(|error| {
            stderr.say(&format!("sh: {error}"));
            Outcome::Exited(FAILED)
        })
    }
}

/// Where words of the command line's own go: a pipe that does not block, and whose reader reads everything.
struct Errors(OwnedFd);

impl Errors {
    fn say(&mut self, words: &str) {
        let line = format!("{words}\n");
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            match rustix::io::write(&self.0, rest) {
                Ok(count) => rest = &rest[count..],
                Err(rustix::io::Errno::INTR) => {}
                // Full: what a program has printed is said before. One line more is not worth waiting for.
                Err(_) => return,
            }
        }
    }
}

struct Run<'a> {
    programs: &'a ProgramSet,
    surroundings: &'a Surroundings,
    variables: Vec<(String, String)>,
    files: Files<'a>,
    directory: OwnedFd,
    stop: &'a Cancellation,
}

/// A command that is ready, or what became of it instead.
enum Ready {
    Program(OneProgram, Streams),
    Ended(i32),
}

impl<'a> Run<'a> {
    fn new(
        programs: &'a ProgramSet,
        surroundings: &'a Surroundings,
        stop: &'a Cancellation,
    ) -> io::Result<Self> {
        let variables = surroundings.variables.clone();
        let files = Files::new(
            &surroundings.root,
            &surroundings.root_handle,
            surroundings.directory.clone(),
            surroundings.writable,
        )?;
        Ok(Self {
            programs,
            surroundings,
            variables: variables.into_iter().collect(),
            files,
            directory: surroundings.directory_handle.try_clone()?,
            stop,
        })
    }

    fn lines(&mut self, lines: &Lines) -> io::Result<Outcome> {
        let mut last = Outcome::Exited(0);
        for step in lines {
            let succeeded = last == Outcome::Exited(0);
            let is_due = match step.when {
                When::Always => true,
                When::Success => succeeded,
                When::Failure => !succeeded,
            };
            if self.stop.is_cancelled() {
                break;
            }
            if is_due {
                last = self.pipeline(&step.commands)?;
            }
        }
        Ok(match last {
            Outcome::Signalled(signal) => {
                Outcome::Exited(SIGNALLED.saturating_add_unsigned(signal))
            }
            other => other,
        })
    }

    /// Runs commands side by side, the last on this thread; the outcome of the last.
    fn pipeline(&mut self, commands: &[Simple]) -> io::Result<Outcome> {
        let mut input = self.surroundings.stdin.try_clone()?;
        let mut ready = Vec::new();
        for (at, command) in commands.iter().enumerate() {
            let mut streams = Streams {
                stdin: input,
                stdout: self.surroundings.stdout.try_clone()?,
                stderr: self.surroundings.stderr.try_clone()?,
            };
            if at + 1 < commands.len() {
                let (reader, writer) = pipe()?;
                streams.stdout = writer;
                input = reader;
            } else {
                // Nothing is left for another.
                input = streams.stdin.try_clone()?;
            }
            ready.push(self.ready(command, streams)?);
        }
        drop(input);
        let place = Place {
            root: &self.surroundings.root,
            root_handle: &self.surroundings.root_handle,
            writable: self.surroundings.writable,
            variables: &self.variables,
        };
        let directory = Directory {
            path: self.files.directory(),
            handle: &self.directory,
        };
        let run = |ready: Ready| match ready {
            Ready::Program(program, streams) => {
                program.run_in(&place, &directory, streams, self.stop)
            }
            Ready::Ended(code) => Outcome::Exited(code),
        };
        let Some(last) = ready.pop() else {
            return Ok(Outcome::Exited(0));
        };
        std::thread::scope(|scope| {
            for command in ready {
                std::thread::Builder::new()
                    .name("belljar-program".into())
                    .spawn_scoped(scope, || {
                        run(command);
                    })?;
            }
            Ok(run(last))
        })
    }

    /// Makes a command ready: its words, its streams, its program. What it cannot have it says as a shell does.
    fn ready(&mut self, command: &Simple, mut streams: Streams) -> io::Result<Ready> {
        let mut arguments = Vec::new();
        for word in &command.words {
            match expand(word, &self.files) {
                Ok(words) => arguments.extend(words),
                Err(error) => return ended(&streams, &error, FAILED),
            }
        }
        if let Err(error) = self.redirect(command, &mut streams)? {
            return ended(&streams, &error, FAILED);
        }
        let name = arguments.first().cloned().unwrap_or_default();
        if let Some(program) = self.programs.get(&name) {
            let program = OneProgram {
                program: program.clone(),
                arguments,
                limits: self.programs.limits,
            };
            return Ok(Ready::Program(program, streams));
        }
        if name == "cd" {
            return self.change_directory(&arguments, &streams);
        }
        let known: Vec<_> = self.programs.programs.keys().map(String::as_str).collect();
        let words = format!("{name}: not found; there is cd, {}", known.join(", "));
        ended(&streams, &words, NOT_FOUND)
    }

    fn redirect(&self, command: &Simple, streams: &mut Streams) -> io::Result<Result<(), String>> {
        for redirect in &command.redirects {
            let (word, access) = match &redirect.to {
                Destination::Read(word) => (word, Access::Read),
                Destination::Write(word) => (word, Access::Write),
                Destination::Append(word) => (word, Access::Append),
                Destination::Same(other) => {
                    let same = match other {
                        1 => streams.stdout.try_clone()?,
                        _ => streams.stderr.try_clone()?,
                    };
                    streams.set(redirect.stream, same);
                    continue;
                }
            };
            let opened = expand(word, &self.files).and_then(|names| match names.as_slice() {
                [name] => self.files.open(name, access),
                _ => Err(format!("{}: several files", word.text())),
            });
            match opened {
                Ok(file) => streams.set(redirect.stream, file),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }

    fn change_directory(&mut self, arguments: &[String], streams: &Streams) -> io::Result<Ready> {
        let to = match arguments {
            // Where HOME is.
            [_] => &self.surroundings.root,
            [_, to] => to,
            _ => return ended(streams, "cd: more than one directory", FAILED),
        };
        match self.files.enter(to) {
            Ok(directory) => {
                self.directory = directory;
                Ok(Ready::Ended(0))
            }
            Err(error) => ended(streams, &format!("cd: {error}"), FAILED),
        }
    }
}

impl Streams {
    fn set(&mut self, stream: usize, to: OwnedFd) {
        match stream {
            0 => self.stdin = to,
            1 => self.stdout = to,
            _ => self.stderr = to,
        }
    }
}

fn ended(streams: &Streams, words: &str, code: i32) -> io::Result<Ready> {
    Errors(streams.stderr.try_clone()?).say(words);
    Ok(Ready::Ended(code))
}

/// A pipe between two instances, whose ends do not block.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe()?;
    for end in [&reader, &writer] {
        rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(end, true)?;
    }
    Ok((reader, writer))
}
