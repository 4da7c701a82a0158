//! The standard coding tools as one component: what an agent needs to work on a source tree.
//!
//! Every tool answers with short text for a model: the result first, then, in brackets, what was
//! left out and how to get it. A failure says what to do next (`advice`). `run` and `shell` need processes
//! and are not offered where there are none.

mod advice;
mod edit;
mod execution;
mod glob;
mod list;
mod move_entry;
mod read;
mod remove;
mod run;
mod search;
mod shell;
mod shown;
mod stat;
mod timestamp;
mod tree;
mod write;

belljar_guest::component!(
    read::read,
    write::write,
    edit::edit,
    list::list,
    tree::tree,
    glob::glob,
    search::search,
    stat::stat,
    move_entry::move_entry,
    remove::remove,
    run::run,
    shell::shell,
);

#[cfg(test)]
mod tests;
