//! Why a program is not loaded.

use std::path::PathBuf;

/// Why a program is not loaded: what it is, what is needed, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The file cannot be read.
    #[error("cannot read the program {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not WebAssembly.
    #[error(
        "the file is not WebAssembly; a program is a WASI command, built for wasm32-wasip1 or wasm32-wasip2"
    )]
    NotWasm,
    /// The file is cut or damaged.
    #[error("the program is malformed or cut short; build or fetch it again")]
    Malformed(#[source] wasmparser::BinaryReaderError),
    /// It is larger than any program needs to be.
    #[error("the program is over {most} bytes; strip it of its debugging information")]
    TooLarge {
        /// The most bytes that a program may have.
        most: u64,
    },
    /// Components are nested too deep in it.
    #[error("the program has components nested in it, over {most} deep")]
    TooDeep {
        /// How deep they may be.
        most: u32,
    },
    /// It imports something else than a command line's WASI.
    #[error(
        "the program imports {}, which no program gets; build it for WASI's command line alone",
        names.join(", ")
    )]
    ForbiddenImports {
        /// The imports.
        names: Vec<String>,
    },
    /// It cannot be started.
    #[error(
        "the file is WebAssembly and no command: it has neither _start nor wasi:cli/run; a tool belongs in [tools.NAME]"
    )]
    NotACommand,
    /// It does not compile.
    #[error("the program does not compile: {reason}")]
    Compile {
        /// The compiler's words.
        reason: String,
    },
    /// Its imports have the right names and other types.
    #[error("the program does not fit this version of WASI: {reason}")]
    Mismatch {
        /// The linker's words.
        reason: String,
    },
}
