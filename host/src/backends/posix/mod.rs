//! The whole contract over one thing: running a program somewhere, with bytes in and bytes out.
//!
//! For places where no workspace engine can run: a container whose image is for another machine, a sandbox that a
//! vendor lends by an API. [`Exec`] is what such a place must do; [`PosixBackend`] makes the contract of it, by POSIX
//! `sh` and the utilities that busybox and a minimal Debian both have. Each operation on files is one program (of an
//! expected version, two): a script that is constant text, whose arguments are data, with content on standard input and an
//! answer in a frame. What can be computed here is: patterns, globs, replacing, versions.
//!
//! | | how |
//! |---|---|
//! | links never lead out | a name at a time, each directory entered and then compared with where it must be; an open file is compared, too (`/proc/self/fd`) |
//! | a write is whole | a temporary beside it, its length checked, renamed |
//! | an expected version | the script looks, it is judged here, and the script changes only the very file it looked at |
//! | which signal ended a program | `bash` or `time` tells; a shell alone cannot |
//! | everything ends | by the marker in the environment, the process group, and descent, from `/proc` |
//!
//! # What it needs
//! `sh`, `cat chmod chown dd env find grep head id ln ls mkdir mv od readlink rm rmdir sleep stat tail unlink`, with
//! `stat -c`, `mv -T`, `grep -z`; for processes, `/proc` and `bash` or `setsid` and `time`.
//!
//! # What it cannot do
//! What is weaker than the workspace engine is a [`PosixGap`] each, and told as a hardening gap. Processes that outlive a
//! call are not there (the capability is missing). Files over 64 MiB are not searched, and counted as unreadable. A
//! variable whose name is none for a shell is `unsupported`, because it would have to be in an argument vector.
//!
//! | file | what |
//! |---|---|
//! | `exec` | what a place must be able to do |
//! | `options`, `place`, `gaps` | the first look, and what is said of the session |
//! | `backend` | which function a request is |
//! | `shell`, `fault` | asking a script, and what it says of a failure |
//! | `read`, `changes`, `entries`, `listing` | functions of files |
//! | `glob`, `search` | over a listed `tree`, with `ignoring` and what `gather` reads |
//! | `run`, `variables`, `told`, `commands` | functions of processes |

mod backend;
mod changes;
mod commands;
mod entries;
mod exec;
mod fault;
mod gaps;
mod gather;
mod glob;
mod ignoring;
mod listing;
mod options;
mod place;
mod read;
mod run;
mod search;
mod shell;
mod told;
mod tree;
mod variables;

pub(in crate::backends) use self::shell::nonce;
pub use self::{
    backend::PosixBackend,
    exec::{Exec, ExecCall, ExecError},
    gaps::PosixGap,
    options::PosixOptions,
};
