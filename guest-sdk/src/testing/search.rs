//! `search` over the tree in memory.

use std::{collections::BTreeMap, sync::Arc};

use belljar_contract::{
    Context, Operation, Query, Result, Scope,
    files::{Name, SearchResult},
};
use belljar_workspace::files::{ContentSearch, Entered, Scratch};

use super::{
    fault::Fault,
    ignoring::Rules,
    tree::{Node, Tree},
};

/// Finds the lines that match, in the scope's base or below it.
pub(super) fn search(
    context: &Context,
    tree: &Tree,
    query: &Query,
    scope: &Scope,
) -> Result<SearchResult> {
    let search = ContentSearch::new(query, scope)?;
    let of_base = |fault: Fault| fault.at(Operation::Search, &scope.base);
    let base = tree.existing(&scope.base).map_err(of_base)?;
    let mut found = Found {
        context,
        search: &search,
        limit: usize::try_from(scope.limit).unwrap_or(usize::MAX),
        result: SearchResult::default(),
    };
    if base.is_directory() {
        below(&mut found, tree, scope)?;
    } else {
        // What cannot be read is the caller's to know when it is all that was asked for.
        base.readable().map_err(of_base)?;
        found.look(scope.base.as_str(), base)?;
    }
    Ok(found.result)
}

/// Looks at every file that the scope and the filters leave. Paths come in byte order, so that a
/// directory has been met before what is in it; one that is not among the `entered` is not walked.
fn below(found: &mut Found<'_>, tree: &Tree, scope: &Scope) -> Result<()> {
    let rules = if scope.ignored {
        None
    } else {
        Rules::down_to(tree, &scope.base, &mut found.result.skipped)
    };
    let mut entered: BTreeMap<&str, (Entered, Option<Arc<Rules>>)> =
        BTreeMap::from([(scope.base.as_str(), (found.search.start(), rules))]);
    let mut scratch = Scratch::default();
    for (path, node) in tree.below(&scope.base) {
        found
            .context
            .check()
            .map_err(|stop| stop.during(Operation::Search))?;
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let Some((above, rules)) = entered.get(parent) else {
            continue;
        };
        let is_directory = node.is_directory();
        let passage = found.search.pass(above, name, is_directory, &mut scratch);
        let excluded = |rules: &Arc<Rules>| rules.exclude(path, is_directory);
        if !passage.by_name && rules.as_ref().is_some_and(excluded) {
            continue;
        }
        if !is_directory {
            if passage.looks && !found.look(path, node)? {
                return Ok(());
            }
        } else if let Some(below) = passage.enters {
            let rules = match belljar_contract::GuestPath::parse(path, "/") {
                Ok(directory) if !scope.ignored => {
                    Rules::of(tree, &directory, rules.clone(), &mut found.result.skipped)
                }
                _ => None,
            };
            entered.insert(path, (below, rules));
        }
    }
    Ok(())
}

struct Found<'a> {
    context: &'a Context,
    search: &'a ContentSearch,
    limit: usize,
    result: SearchResult,
}

impl Found<'_> {
    /// Looks at a file; says whether to go on.
    fn look(&mut self, path: &str, node: &Node) -> Result<bool> {
        let Ok(content) = node.readable() else {
            self.result.skipped.unreadable += 1;
            return Ok(true);
        };
        // One more than there is room for tells that there is more.
        let room = self.limit - self.result.matches.len();
        let most = room.saturating_add(1);
        let name = Name::from(path);
        let Some(mut matches) = self.search.look(self.context, &name, content, most)? else {
            self.result.skipped.binary += 1;
            return Ok(true);
        };
        self.result.more = matches.len() > room;
        matches.truncate(room);
        self.result.matches.append(&mut matches);
        Ok(!self.result.more)
    }
}
