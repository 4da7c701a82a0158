//! Argument vectors for an engine's program: pure functions from options.
//!
//! Every option is one argument, `--name=value`, so that no value is ever taken for an option. Names of images,
//! containers and users that begin with `-` were refused before.

mod carry;
mod exec;
mod hardening;
mod mount;
mod query;
mod run;

pub(super) use self::{
    carry::{carrier, load, rename},
    exec::{Exec, exec},
    hardening::{Surroundings, hardening},
    query::{
        containers, context, image_inspect, info, inspect, pull, remove, start, stop, unpause,
    },
    run::{Keeper, Program, Start, Transport, pulls_by_itself, run},
};
