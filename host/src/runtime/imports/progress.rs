//! The import `progress`.

use crate::runtime::{
    bindings::belljar::sandbox::progress as wit,
    state::{CallState, LogLevel, Progress, shortened},
};

impl wit::Host for CallState {
    fn report(&mut self, done: u64, total: Option<u64>, message: String) -> wasmtime::Result<()> {
        self.charge(message.len()).map_err(wasmtime::Error::new)?;
        self.tell(|| Progress::Report {
            done,
            total,
            message: shortened(message),
        });
        Ok(())
    }

    fn log(&mut self, level: wit::Level, message: String) -> wasmtime::Result<()> {
        self.charge(message.len()).map_err(wasmtime::Error::new)?;
        let level = match level {
            wit::Level::Debug => LogLevel::Debug,
            wit::Level::Info => LogLevel::Info,
            wit::Level::Warn => LogLevel::Warn,
            wit::Level::Error => LogLevel::Error,
        };
        self.tell(|| Progress::Log {
            level,
            message: shortened(message),
        });
        Ok(())
    }

    fn panicked(&mut self, message: String) -> wasmtime::Result<()> {
        self.charge(message.len()).map_err(wasmtime::Error::new)?;
        self.set_panic(message);
        Ok(())
    }
}
