//! Why a component is not loaded.

use std::path::PathBuf;

use super::{cache::CacheError, call::CallError, engine::EngineError};

/// Why a component is not loaded: what it is, what is needed, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read the component {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file has no bytes.
    #[error("the file is empty; a tool is a WebAssembly component")]
    Empty,
    /// The file does not begin as WebAssembly does.
    #[error("the file is not WebAssembly; a tool is a WebAssembly component")]
    NotWasm,
    /// The file is a core module.
    #[error(
        "the file is a WebAssembly core module, not a component; build it with the linker `wasm-component-ld`, or wrap it with `wasm-tools component new`"
    )]
    CoreModule,
    /// The file is cut or damaged.
    #[error("the component is malformed or cut short; build or fetch it again")]
    Malformed(#[source] wasmparser::BinaryReaderError),
    /// It is larger than any tool needs to be.
    #[error(
        "the component is over {most} bytes; strip it of its debugging information, or leave out what it embeds"
    )]
    TooLarge {
        /// The most bytes that a component may have.
        most: u64,
    },
    /// Components are nested too deep in it.
    #[error("the component has others nested in it, over {most} deep")]
    TooDeep {
        /// How deep they may be.
        most: u32,
    },
    /// It imports something that is not granted.
    #[error("the component imports {}, which a tool does not get; build it without, or for WASI's stubs without effect set wasi = \"inert\" for it", names.join(", "))]
    ForbiddenImports {
        /// The imports, by full name.
        names: Vec<String>,
    },
    /// It imports an interface that its world of the contract does not have.
    #[error("the component imports {name}, which its world does not have; it has {known}")]
    UnknownInterface {
        /// The import.
        name: String,
        /// What there is.
        known: String,
    },
    /// It was built for another version of the contract.
    #[error(
        "the component uses {name}, version {found} of the contract, and this host has {supported}; build it for that version, or use another host"
    )]
    OtherVersion {
        /// The import or export.
        name: String,
        /// The component's version.
        found: String,
        /// The host's.
        supported: &'static str,
    },
    /// It exports no tools.
    #[error("the component is of another world: it exports {}, and a tool exports belljar:sandbox/tools", if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") })]
    NotATool {
        /// What it exports.
        exports: Vec<String>,
    },
    /// It exports no backend.
    #[error("the component is of another world: it exports {}, and a backend exports belljar:sandbox/lease, and with it machine, or files, narrowed, processes and session", if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") })]
    NotABackend {
        /// What it exports.
        exports: Vec<String>,
    },
    /// It does not compile.
    #[error("the component does not compile: {reason}")]
    Compile {
        /// The compiler's words.
        reason: String,
    },
    /// Its imports or exports have the right names and other types.
    #[error("the component does not fit version {supported} of the contract: {reason}", supported = super::CONTRACT_VERSION)]
    Mismatch {
        /// The linker's words.
        reason: String,
    },
    /// It could not describe its tools.
    #[error("the component could not describe its tools")]
    Describe(#[source] Box<CallError>),
    /// It described a tool badly.
    #[error("the component's tool {tool:?} is described badly: {reason}")]
    BadDescription {
        /// The tool's name, as described.
        tool: String,
        /// What is wrong.
        reason: String,
    },
    /// There is no engine to compile it for.
    #[error(transparent)]
    Engine(EngineError),
    /// The compilation cache could not be used safely.
    #[error(transparent)]
    Cache(#[from] CacheError),
}
