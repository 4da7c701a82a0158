//! What the imports of a lender do.

use super::{
    super::{
        bindings::belljar::sandbox::{progress, types},
        state::shortened,
    },
    bindings::backend::belljar::sandbox::{outgoing_http as http, settings},
    outgoing::{HttpError, HttpRequest},
    state::{LenderState, Turn},
};

impl types::Host for LenderState {}

impl settings::Host for LenderState {
    fn get(&mut self, name: String) -> wasmtime::Result<Option<String>> {
        self.charge().map_err(wasmtime::Error::new)?;
        Ok(self.world.settings.get(&name).map(str::to_owned))
    }
}

impl http::Host for LenderState {
    fn send(
        &mut self,
        request: http::Request,
    ) -> wasmtime::Result<Result<http::Response, http::HttpError>> {
        self.charge().map_err(wasmtime::Error::new)?;
        let context = match self.turn().map_err(wasmtime::Error::new)? {
            Turn::Send(context) => context,
            Turn::Tell => return Ok(Err(http::HttpError::Stopped)),
        };
        let request = HttpRequest {
            method: request.method,
            url: request.url,
            headers: request.headers,
            body: request.body,
            timeout: request.timeout,
        };
        let outgoing = std::sync::Arc::clone(&self.world.outgoing);
        Ok(match outgoing.send(&context, request) {
            Ok(response) => Ok(http::Response {
                status: response.status,
                headers: response.headers,
                body: response.body,
            }),
            Err(HttpError::Stopped) => match self.turn().map_err(wasmtime::Error::new)? {
                Turn::Tell => Err(http::HttpError::Stopped),
                // What was left after the end has passed as well.
                Turn::Send(_) => Err(http::HttpError::TimedOut),
            },
            Err(HttpError::Denied(message)) => Err(http::HttpError::Denied(message)),
            Err(HttpError::Invalid(message)) => Err(http::HttpError::Invalid(message)),
            Err(HttpError::Unreachable(message)) => Err(http::HttpError::Unreachable(message)),
            Err(HttpError::TimedOut) => Err(http::HttpError::TimedOut),
            Err(HttpError::TooLarge) => Err(http::HttpError::TooLarge),
        })
    }
}

/// A backend has no caller to tell of its progress; what it says is for whoever operates the host.
impl progress::Host for LenderState {
    fn report(&mut self, done: u64, total: Option<u64>, message: String) -> wasmtime::Result<()> {
        self.charge().map_err(wasmtime::Error::new)?;
        let message = self.world.settings.told(&shortened(message));
        tracing::debug!(done, total, message, "a backend component reports");
        Ok(())
    }

    fn log(&mut self, level: progress::Level, message: String) -> wasmtime::Result<()> {
        self.charge().map_err(wasmtime::Error::new)?;
        let message = self.world.settings.told(&shortened(message));
        match level {
            progress::Level::Debug => tracing::debug!(message, "a backend component says"),
            progress::Level::Info => tracing::info!(message, "a backend component says"),
            progress::Level::Warn | progress::Level::Error => {
                tracing::warn!(message, "a backend component says");
            }
        }
        Ok(())
    }

    fn panicked(&mut self, message: String) -> wasmtime::Result<()> {
        self.charge().map_err(wasmtime::Error::new)?;
        self.set_panic(message);
        Ok(())
    }
}
