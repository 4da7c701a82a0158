//! `glob` over the tree in memory.

use std::{collections::BTreeMap, sync::Arc};

use belljar_contract::{
    Context, Error, ErrorKind, GuestPath, Operation, Pattern, Result, Scope,
    files::{Found, GlobResult, Skipped},
};
use belljar_workspace::files::{Glob, Scratch, State};

use super::{
    fault::Fault,
    ignoring::Rules,
    tree::{Node, Tree},
};

/// Finds the paths that match, below the scope's base.
pub(super) fn glob(
    context: &Context,
    tree: &Tree,
    pattern: &Pattern,
    scope: &Scope,
) -> Result<GlobResult> {
    let operation = Operation::Glob;
    let glob = Glob::new(pattern.as_str()).map_err(|error| {
        let message = format!("{}: {error}", pattern.as_str());
        Error::new(ErrorKind::InvalidArgument, operation, message).because(error)
    })?;
    let is_directory = tree.existing(&scope.base).map(Node::is_directory);
    match is_directory {
        Ok(true) => {}
        Ok(false) => return Err(Fault::NotDirectory.at(operation, &scope.base)),
        Err(fault) => return Err(fault.at(operation, &scope.base)),
    }
    let mut result = GlobResult::default();
    // What is asked for by name counts whatever it is called.
    let Some((directory, state)) = enter(&glob, &scope.base) else {
        return Ok(result);
    };
    if glob.is_literal() {
        if let Ok(Some(node)) = tree.get(&directory)
            && !glob.literal().is_empty()
        {
            take(&mut result, &glob, directory.as_str(), node, scope.limit);
        }
        return Ok(result);
    }
    if let Ok(Some(node)) = tree.get(&directory)
        && node.is_directory()
    {
        below(context, tree, &glob, scope, &directory, state, &mut result)
            .map_err(|fault| fault.at(operation, &scope.base))?;
    }
    Ok(result)
}

/// Where the pattern's literal beginning leads, and what of the pattern is left there.
fn enter(glob: &Glob, base: &GuestPath) -> Option<(GuestPath, State)> {
    let mut scratch = Scratch::default();
    let mut directory = base.clone();
    let mut state = glob.start();
    for name in glob.literal() {
        directory = directory.join(name).ok()?;
        match glob.step(&state, name, true, &mut scratch).below {
            Some(below) => state = below,
            // Only the last name of a pattern without wildcards has nothing below it.
            None if glob.is_literal() => {}
            None => return None,
        }
    }
    Some((directory, state))
}

/// Walks everything below a directory. Paths come in byte order, so that a directory has been met
/// before what is in it; one that is not among the `entered` is not walked.
fn below(
    context: &Context,
    tree: &Tree,
    glob: &Glob,
    scope: &Scope,
    directory: &GuestPath,
    state: State,
    result: &mut GlobResult,
) -> Result<(), Fault> {
    let mut skipped = Skipped::default();
    let rules = if scope.ignored {
        None
    } else {
        Rules::down_to(tree, directory, &mut skipped)
    };
    let mut entered: BTreeMap<&str, (State, Option<Arc<Rules>>)> =
        BTreeMap::from([(directory.as_str(), (state, rules))]);
    let mut scratch = Scratch::default();
    for (index, (path, node)) in tree.below(directory).enumerate() {
        if index.is_multiple_of(1024) {
            context.check()?;
        }
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let Some((state, rules)) = entered.get(parent) else {
            continue;
        };
        let step = glob.step(state, name, scope.hidden, &mut scratch);
        if !step.matches && step.below.is_none() {
            continue;
        }
        let is_directory = node.is_directory();
        if rules
            .as_ref()
            .is_some_and(|rules| rules.exclude(path, is_directory))
        {
            continue;
        }
        if step.matches {
            take(result, glob, path, node, scope.limit);
        }
        if let Some(state) = step.below
            && is_directory
        {
            let rules = rules.clone();
            let rules = match GuestPath::parse(path, "/") {
                Ok(directory) if !scope.ignored => Rules::of(tree, &directory, rules, &mut skipped),
                _ => rules,
            };
            entered.insert(path, (state, rules));
        }
    }
    result.skipped = skipped;
    Ok(())
}

fn take(result: &mut GlobResult, glob: &Glob, path: &str, node: &Node, limit: u32) {
    if glob.directories_only() && !node.is_directory() {
        return;
    }
    result.total += 1;
    if result.total <= u64::from(limit) {
        result.paths.push(Found {
            path: path.into(),
            kind: node.kind(),
        });
    }
}
