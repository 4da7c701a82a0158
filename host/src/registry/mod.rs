//! Components in OCI registries: pushed, pulled, pinned, and only loaded with a signature that is trusted.
//!
//! | file | what |
//! |---|---|
//! | `reference` | where a component is: `registry/repository:tag` |
//! | `digest` | what it is: the SHA-256 of its bytes |
//! | `artifact` | the manifest and the configuration that the ecosystem's tools agree on |
//! | `client` | a registry, asked within bounds |
//! | `signature` | who vouches for a component, and until when |
//! | `lock` | `belljar.lock`: which bytes a reference stands for |
//! | `store` | the bytes, in a folder of the user's |
//! | `pinned` | all of them together: a reference as the bytes that were pinned, when they are trusted |
//! | `error` | what goes wrong |
//!
//! A component is stored by its digest and looked at again each time it is taken out, so that a registry, a mirror or
//! the folder can at most withhold it. What stands in the lock needs no network.
//!
//! # Signatures
//! They are [minisign](https://jedisct1.github.io/minisign/)'s: an Ed25519 key that a person keeps, a text of four lines, and nothing
//! else to ask or to trust, so a verdict needs no network and no third party's clock. The signature is of the
//! component's bytes and travels as an annotation of its layer. Its trusted comment may say `expires:SECONDS`, in
//! seconds since 1970. It says nothing of the name: an older version under a newer tag has a good signature, and the lock
//! is what keeps it out.

mod artifact;
mod client;
mod digest;
mod error;
mod lock;
mod pinned;
mod reference;
mod signature;
mod store;

pub use self::{
    client::{Pulled, Registry, RegistryOptions},
    digest::Digest,
    error::RegistryError,
    lock::{LOCK_FILE_NAME, Lock, Locked},
    pinned::Pinned,
    reference::Reference,
    signature::{SignatureError, TrustedKey, TrustedKeys},
    store::Store,
};
