//! One instance of a program, from its start to its end.

use std::{
    io,
    os::fd::{AsRawFd as _, BorrowedFd, OwnedFd},
};

use belljar_contract::{Cancellation, processes::Outcome};
use tokio::runtime;
use wasmtime::{Store, component::ResourceTable};
use wasmtime_wasi::{FsPerms, WasiCtxBuilder, WasiView as _};

use super::{
    budget::{Instance, MAX_OPEN, Preview2},
    load::{Linked, LoadedProgram},
    outcome::judge,
    stream::{Input, Output},
};

/// What an instance starts with.
pub(crate) struct Start<'a> {
    /// The program's name first.
    pub(crate) arguments: &'a [String],
    pub(crate) variables: &'a [(String, String)],
    /// The workspace's root, and its path as a process sees it.
    pub(crate) root: (BorrowedFd<'a>, &'a str),
    /// The working directory, and its path as a process sees it.
    pub(crate) directory: (BorrowedFd<'a>, &'a str),
    pub(crate) writable: bool,
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    /// All linear memories together.
    pub(crate) memory_bytes: u64,
    /// All tables together.
    pub(crate) table_elements: u32,
}

impl LoadedProgram {
    /// Runs an instance to its end, on this thread, or until it is stopped; what is returned then does not count.
    pub(crate) fn run(&self, start: Start<'_>, stop: &Cancellation) -> Outcome {
        // A runtime of its own: what the instance waits for wakes this thread and no other. It costs two
        // descriptors and some microseconds.
        let runtime = runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build();
        let failed = |error: io::Error| {
            tracing::warn!(error = %error, "a program could not be started");
            Outcome::Signalled(rustix::process::Signal::ABORT.as_raw().unsigned_abs())
        };
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => return failed(error),
        };
        let _ticking = self.engine.base.ticker.run();
        let outcome = runtime.block_on(async {
            tokio::select! {
                biased;
                () = stop.cancelled() => None,
                ended = self.run_to_its_end(start) => Some(ended),
            }
        });
        runtime.shutdown_background();
        match outcome {
            Some(Ok(outcome)) => outcome,
            Some(Err(error)) => failed(error),
            None => Outcome::Cancelled,
        }
    }

    async fn run_to_its_end(&self, start: Start<'_>) -> io::Result<Outcome> {
        let name = start.arguments.first().cloned().unwrap_or_default();
        let limits = (start.memory_bytes, start.table_elements);
        let stdout = Output::new(start.stdout)?;
        let stderr = Output::new(start.stderr)?;
        let mut builder = WasiCtxBuilder::new();
        builder
            .stdin(Input::new(start.stdin)?)
            .stdout(stdout.clone())
            .stderr(stderr.clone())
            .args(start.arguments)
            .envs(start.variables)
            .initial_cwd(start.directory.1)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false);
        // Work on files may take this thread, which is the instance's own; a sleep may not, since it could not be
        // ended. The switch is read as each directory is opened, and again at each sleep.
        builder.allow_blocking_current_thread(true);
        let permissions = match start.writable {
            true => FsPerms::ReadWrite,
            false => FsPerms::ReadOnly,
        };
        // Programs look a path up by the longest name of a directory that begins it.
        for (handle, path) in [(start.directory.0, "."), start.root] {
            builder
                .preopened_dir(handle_path(handle), path, permissions)
                .map_err(io::Error::other)?;
        }
        builder.allow_blocking_current_thread(false);
        let result = match &self.linked {
            Linked::Module(program) => {
                let mut wasi = builder.build_p1();
                wasi.ctx().table.set_max_capacity(MAX_OPEN);
                let mut store = self.store(wasi, limits);
                async {
                    let instance = program.instantiate_async(&mut store).await?;
                    let start = instance.get_typed_func::<(), ()>(&mut store, "_start")?;
                    start.call_async(&mut store, ()).await.map(|()| 0)
                }
                .await
            }
            Linked::Component(program) => {
                let mut table = ResourceTable::new();
                table.set_max_capacity(MAX_OPEN);
                let context = builder.build();
                let mut store = self.store(Preview2 { context, table }, limits);
                async {
                    let command = program.instantiate_async(&mut store).await?;
                    let ended = command.wasi_cli_run().call_run(&mut store).await?;
                    Ok(i32::from(ended.is_err()))
                }
                .await
            }
        };
        let (outcome, words) = judge(result);
        stdout.finish().await;
        if let Some(words) = words {
            stderr.say(&format!("{name}: {words}\n"));
        }
        stderr.finish().await;
        Ok(outcome)
    }

    fn store<W: Send + 'static>(&self, wasi: W, limits: (u64, u32)) -> Store<Instance<W>> {
        let (memory_bytes, table_elements) = limits;
        let state = Instance::new(wasi, memory_bytes, table_elements);
        let mut store = Store::new(&self.engine.base.engine, state);
        store.limiter(|instance| instance);
        store.set_hostcall_fuel(usize::try_from(memory_bytes).unwrap_or(usize::MAX));
        // At each tick the instance lets go of its thread for a moment, in which it can be stopped.
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        store
    }
}

/// A path that means the directory of a descriptor, whatever happens to its name: WASI's library opens by path.
fn handle_path(handle: BorrowedFd<'_>) -> String {
    let folder = match cfg!(target_os = "linux") {
        true => "/proc/self/fd",
        false => "/dev/fd",
    };
    format!("{folder}/{}", handle.as_raw_fd())
}
