//! The sandbox in memory as a backend.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use belljar_contract::{
    Backend, Context, GuestPath, Operation, Request, Response, Result, async_trait,
    session::{CommandInfo, Description},
};

use super::{change, entries, fault::Fault, glob, script::Script, search, tree::Tree};

/// A tree and a script behind the contract. Every change is made under one lock, which makes it one step.
#[derive(Debug)]
pub(super) struct MemoryBackend {
    tree: Arc<Mutex<Tree>>,
    description: Arc<Description>,
    script: Script,
    commands: BTreeMap<String, CommandInfo>,
}

impl MemoryBackend {
    pub(super) const fn new(
        tree: Arc<Mutex<Tree>>,
        description: Arc<Description>,
        script: Script,
        commands: BTreeMap<String, CommandInfo>,
    ) -> Self {
        Self {
            tree,
            description,
            script,
            commands,
        }
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        let file_bytes = self.description.limits.file_bytes;
        match request {
            Request::Read { path } => {
                let content = entries::read(&self.tree(), &path, file_bytes);
                content.map(Response::Content).at(operation, &path)
            }
            Request::ReadRange {
                path,
                offset,
                length,
            } => {
                let chunk = entries::read_range(&self.tree(), &path, offset, length);
                chunk.map(Response::Chunk).at(operation, &path)
            }
            Request::Write {
                path,
                bytes,
                options,
            } => {
                let version = change::write(&mut self.tree(), &path, bytes, &options);
                version.map(Response::Version).at(operation, &path)
            }
            Request::Append {
                path,
                bytes,
                options,
            } => {
                let version = change::append(&mut self.tree(), &path, &bytes, &options);
                version.map(Response::Version).at(operation, &path)
            }
            Request::Replace {
                path,
                old,
                new,
                options,
            } => {
                let replaced =
                    change::replace(&mut self.tree(), &path, &old, &new, &options, file_bytes);
                replaced.map(Response::Replaced).at(operation, &path)
            }
            Request::List { path, limit } => {
                let listing = entries::list(&self.tree(), &path, limit);
                listing.map(Response::Listing).at(operation, &path)
            }
            Request::Glob { pattern, scope } => {
                glob::glob(context, &self.tree(), &pattern, &scope).map(Response::Glob)
            }
            Request::Search { query, scope } => {
                search::search(context, &self.tree(), &query, &scope).map(Response::Search)
            }
            Request::Stat { path } => {
                let info = entries::stat(&self.tree(), &path);
                info.map(Response::Info).at(operation, &path)
            }
            Request::Resolve { path } => {
                let resolved = entries::resolve(&self.tree(), &path);
                resolved.map(Response::Path).at(operation, &path)
            }
            Request::MakeDirectory { path } => {
                let made = self.tree().make_directories(&path);
                made.map(|()| Response::Done).at(operation, &path)
            }
            Request::Remove { path, recursive } => {
                let removed = entries::remove(&mut self.tree(), &path, recursive);
                removed.map(|()| Response::Done).at(operation, &path)
            }
            Request::Rename {
                source,
                target,
                destination,
            } => {
                let mut tree = self.tree();
                entries::rename_source(&tree, &source).at(operation, &source)?;
                let renamed = entries::rename(&mut tree, &source, &target, &destination);
                renamed.map(|()| Response::Done).at(operation, &target)
            }
            Request::Copy {
                source,
                target,
                destination,
            } => {
                let mut tree = self.tree();
                let content = change::copy_source(&tree, &source).at(operation, &source)?;
                let version = change::copy(&mut tree, &source, content, &target, &destination);
                version.map(Response::Version).at(operation, &target)
            }
            Request::Run(launch) => {
                self.check_directory(operation, &launch.directory)?;
                self.script.run(&launch).map(Response::Execution)
            }
            Request::Start(launch) => {
                self.check_directory(operation, &launch.directory)?;
                self.script.start(&launch).map(Response::Process)
            }
            Request::ReadOutput {
                process,
                output,
                cursor,
                limit,
                wait: _,
            } => self
                .script
                .read_output(process, output, cursor, limit)
                .map(Response::Output),
            Request::WriteInput { process, .. } => {
                self.script.write_input(process).map(|()| Response::Done)
            }
            Request::Signal { process, .. } => self.script.signal(process).map(|()| Response::Done),
            Request::Wait { process, .. } => self
                .script
                .wait(process)
                .map(|ended| Response::Ended(Some(ended))),
            Request::FindCommands { names } => Ok(Response::Commands(
                names.into_iter().map(|name| self.command(name)).collect(),
            )),
        }
    }

    fn check_directory(&self, operation: Operation, path: &GuestPath) -> Result<()> {
        let tree = self.tree();
        let node = tree.existing(path).at(operation, path)?;
        if node.is_directory() {
            Ok(())
        } else {
            Err(Fault::NotDirectory).at(operation, path)
        }
    }

    fn command(&self, name: String) -> CommandInfo {
        self.commands.get(&name).cloned().unwrap_or(CommandInfo {
            name,
            path: None,
            version: None,
        })
    }
}

#[async_trait]
impl Backend for MemoryBackend {
    fn describe(&self) -> Arc<Description> {
        Arc::clone(&self.description)
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        self.answer(context, request)
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}

/// Says where a fault happened.
trait At<T> {
    fn at(self, operation: Operation, path: &GuestPath) -> Result<T>;
}

impl<T> At<T> for Result<T, Fault> {
    fn at(self, operation: Operation, path: &GuestPath) -> Result<T> {
        self.map_err(|fault| fault.at(operation, path))
    }
}
