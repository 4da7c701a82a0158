//! `search`: the engine's patterns over contents that are read in bulk.

use belljar_contract::{
    Context, Operation, Query, Scope,
    files::{EntryKind, Match, SearchResult},
};
use belljar_workspace::files::{ContentSearch, Scratch, Visible};

use super::{
    PosixBackend,
    fault::{Fault, Word},
    gather::{Gathered, LARGEST_SEARCHED, batches},
    glob::shown_name,
    ignoring::Ignoring,
    tree::{Verdict, name_of},
};

/// The most bytes of all matches of an answer.
const ANSWER_BYTES: usize = 64 << 20;

impl PosixBackend {
    pub(super) async fn search(
        &self,
        context: &Context,
        query: &Query,
        scope: &Scope,
    ) -> Result<SearchResult, Fault> {
        let search = ContentSearch::new(query, scope)?;
        let visible = Visible::of(scope, Operation::Search)?;
        let (real, kind) = self.resolve(context, &scope.base).await?;
        let mut found = Found {
            limit: scope.limit as usize,
            bytes: 0,
            result: SearchResult::default(),
        };
        match kind {
            None => return Err(Fault::told(Word::Missing)),
            Some(EntryKind::Directory) => {}
            Some(_) => {
                self.search_one(context, &search, &visible, scope, real.as_str(), &mut found)
                    .await?;
                return Ok(found.result);
            }
        }
        let tree = self.tree(context, &scope.base, true).await?;
        let ignoring = if scope.ignored {
            Ignoring::default()
        } else {
            self.ignoring(context, &tree).await?
        };
        let mut scratch = Scratch::default();
        let mut skipped = found.result.skipped;
        let looks = tree.walk(
            context,
            &ignoring,
            search.start(),
            &mut skipped,
            |below, entry, is_ignored, skipped| {
                let text = String::from_utf8_lossy(name_of(&entry.path));
                let is_directory = entry.kind == EntryKind::Directory;
                let passage = search.pass(below, &text, is_directory, &mut scratch);
                let counts = match entry.kind {
                    EntryKind::Directory => passage.enters.is_some(),
                    EntryKind::File | EntryKind::Other => passage.looks,
                    EntryKind::Link => passage.meets,
                };
                if !counts
                    || (!passage.by_name && is_ignored())
                    || !visible.counts(&entry.path, entry.kind)
                {
                    return Ok(Verdict::Leave);
                }
                match entry.kind {
                    EntryKind::File => return Ok(Verdict::Look),
                    EntryKind::Directory => {
                        return Ok(passage.enters.map_or(Verdict::Leave, Verdict::Enter));
                    }
                    EntryKind::Link => skipped.links += 1,
                    EntryKind::Other => skipped.special += 1,
                }
                Ok(Verdict::Leave)
            },
        )?;
        found.result.skipped = skipped;
        let (small, large): (Vec<_>, Vec<_>) = looks
            .into_iter()
            .partition(|(_, size)| *size <= LARGEST_SEARCHED);
        found.result.skipped.unreadable += large.len() as u64;
        let real = tree.base.len();
        for batch in batches(&small, LARGEST_SEARCHED) {
            let gathered = self.gather(context, batch, LARGEST_SEARCHED).await?;
            for ((path, _), gathered) in batch.iter().zip(gathered) {
                let name = shown_name(real, &scope.base, path);
                if !found.look(context, &search, &name, gathered)? {
                    return Ok(found.result);
                }
            }
        }
        Ok(found.result)
    }

    /// Searches a base that is no directory.
    async fn search_one(
        &self,
        context: &Context,
        search: &ContentSearch,
        visible: &Visible,
        scope: &Scope,
        real: &str,
        found: &mut Found,
    ) -> Result<(), Fault> {
        if scope.base.must_be_directory() {
            return Err(Fault::told(Word::NotDirectory));
        }
        if !visible.counts(real.as_bytes(), EntryKind::File) {
            return Err(Fault::told(Word::Missing));
        }
        let name = scope.base.as_str().into();
        // What cannot be read is the caller's to know when it is all that was asked for.
        let gathered = match self.whole(context, &scope.base).await {
            Ok(Some(bytes)) => Gathered::Content(bytes),
            Ok(None) => Gathered::Unreadable,
            Err(fault) if fault.is(Word::NotFile) => Gathered::Special,
            Err(fault) => return Err(fault),
        };
        found.look(context, search, &name, gathered)?;
        Ok(())
    }
}

struct Found {
    limit: usize,
    bytes: usize,
    result: SearchResult,
}

impl Found {
    /// Looks at a file; says whether to go on.
    fn look(
        &mut self,
        context: &Context,
        search: &ContentSearch,
        name: &belljar_contract::files::Name,
        gathered: Gathered,
    ) -> Result<bool, Fault> {
        context.check()?;
        let skipped = &mut self.result.skipped;
        let content = match gathered {
            Gathered::Content(content) => content,
            Gathered::Nothing => return Ok(true),
            Gathered::Link => {
                skipped.links += 1;
                return Ok(true);
            }
            Gathered::Special => {
                skipped.special += 1;
                return Ok(true);
            }
            Gathered::Unreadable => {
                skipped.unreadable += 1;
                return Ok(true);
            }
        };
        // One more than there is room for tells that there is more.
        let room = self.limit - self.result.matches.len();
        let most = room.saturating_add(1);
        let Some(matches) = search.look(context, name, &content, most)? else {
            skipped.binary += 1;
            return Ok(true);
        };
        for (index, one) in matches.into_iter().enumerate() {
            self.bytes += size_of_match(&one);
            if index == room || self.bytes > ANSWER_BYTES {
                self.result.more = true;
                return Ok(false);
            }
            self.result.matches.push(one);
        }
        Ok(true)
    }
}

fn size_of_match(one: &Match) -> usize {
    let lines = one.before.iter().chain(&one.after);
    let around: usize = lines.map(|line| line.text.len() + 64).sum();
    one.path.as_bytes().len() + one.line.text.len() + around + 128
}
