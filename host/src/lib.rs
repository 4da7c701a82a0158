//! Runs an AI agent's tools as WebAssembly components against exchangeable sandbox backends.
