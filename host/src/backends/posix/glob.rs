//! `glob`: the engine's dialect over a listed tree.

use belljar_contract::{
    Context, GuestPath, Operation, Pattern, Scope,
    files::{EntryKind, Found, GlobResult, Name, Skipped},
};
use belljar_workspace::files::{Glob, Scratch, Visible};

use super::{
    PosixBackend,
    fault::{Fault, Word},
    ignoring::Ignoring,
    tree::{Verdict, join, name_of},
};

impl PosixBackend {
    pub(super) async fn glob(
        &self,
        context: &Context,
        pattern: &Pattern,
        scope: &Scope,
    ) -> Result<GlobResult, Fault> {
        let glob = Glob::new(pattern.as_str()).map_err(|error| {
            Fault::BadPattern(format!("the glob {:?}: {error}", pattern.as_str()))
        })?;
        let visible = Visible::of(scope, Operation::Glob)?;
        if !glob.literal().is_empty() || glob.is_literal() {
            match self.resolve(context, &scope.base).await?.1 {
                Some(EntryKind::Directory) => {}
                Some(_) => return Err(Fault::told(Word::NotDirectory)),
                None => return Err(Fault::told(Word::Missing)),
            }
        }
        let Some(shown) = below(&scope.base, glob.literal())? else {
            return Ok(GlobResult::default());
        };
        if glob.is_literal() {
            return match self.holds(context, &shown).await {
                Ok(kind) => Ok(one(&glob, &visible, &shown, kind, scope.limit)),
                Err(fault) if is_nothing(&fault) => Ok(GlobResult::default()),
                Err(fault) => Err(fault),
            };
        }
        let tree = match self.tree(context, &shown, true).await {
            Err(fault) if is_nothing(&fault) && !glob.literal().is_empty() => {
                return Ok(GlobResult::default());
            }
            tree => tree?,
        };
        let ignoring = if scope.ignored {
            Ignoring::default()
        } else {
            self.ignoring(context, &tree).await?
        };
        let mut scratch = Scratch::default();
        let mut state = glob.start();
        for name in glob.literal() {
            match glob.step(&state, name, true, &mut scratch).below {
                Some(below) => state = below,
                None => return Ok(GlobResult::default()),
            }
        }
        let mut result = GlobResult::default();
        let mut skipped = Skipped::default();
        let real = tree.base.len();
        let walked = tree.walk(
            context,
            &ignoring,
            state,
            &mut skipped,
            |below, entry, is_ignored, skipped| {
                let name = name_of(&entry.path);
                let text = String::from_utf8_lossy(name);
                let step = glob.step(below, &text, scope.hidden, &mut scratch);
                let is_directory = entry.kind == EntryKind::Directory;
                let matches = step.matches && (is_directory || !glob.directories_only());
                // A link counts wherever the walk meets it: what is behind it is not in the answer.
                let is_link =
                    entry.kind == EntryKind::Link && (scope.hidden || !name.starts_with(b"."));
                let enters = step.below.filter(|_| is_directory);
                if !(matches || is_link || enters.is_some())
                    || is_ignored()
                    || !visible.counts(&entry.path, entry.kind)
                {
                    return Ok(Verdict::Leave);
                }
                if is_link || (matches && entry.kind == EntryKind::Link) {
                    skipped.links += 1;
                }
                if matches {
                    result.total += 1;
                    if result.paths.len() < scope.limit as usize {
                        result.paths.push(Found {
                            path: shown_name(real, &shown, &entry.path),
                            kind: entry.kind,
                        });
                    }
                }
                Ok(enters.map_or(Verdict::Leave, Verdict::Enter))
            },
        );
        walked?;
        result.skipped = skipped;
        Ok(result)
    }
}

/// A path from the root as the caller would spell it: below the base as it was given.
pub(super) fn shown_name(real_base: usize, shown_base: &GuestPath, path: &[u8]) -> Name {
    let rest = path.get(real_base..).unwrap_or_default();
    let rest = rest.strip_prefix(b"/").unwrap_or(rest);
    Name::from_bytes(join(shown_base.as_str().as_bytes(), rest))
}

/// Whether a path that leads nowhere is an empty answer.
fn is_nothing(fault: &Fault) -> bool {
    [
        Word::Missing,
        Word::Dangling,
        Word::DanglingLast,
        Word::NotDirectory,
    ]
    .into_iter()
    .any(|word| fault.is(word))
}

/// The path of a pattern's literal beginning, which is bound as the base is; none when nothing can have it.
fn below(base: &GuestPath, literal: &[String]) -> Result<Option<GuestPath>, Fault> {
    if literal.is_empty() {
        return Ok(Some(base.clone()));
    }
    if literal.iter().any(|name| name.contains('\0')) {
        return Ok(None);
    }
    let text = format!("{base}/{}", literal.join("/"));
    let path =
        GuestPath::parse(&text, "/").map_err(|error| Fault::BadPattern(error.to_string()))?;
    Ok(Some(if base.no_links() {
        path.without_links()
    } else {
        path
    }))
}

/// The answer of a pattern that names one path.
fn one(
    glob: &Glob,
    visible: &Visible,
    path: &GuestPath,
    kind: EntryKind,
    limit: u32,
) -> GlobResult {
    let counts = (kind == EntryKind::Directory || !glob.directories_only())
        && visible.counts(path.as_str().as_bytes(), kind);
    if !counts {
        return GlobResult::default();
    }
    let found = Found {
        path: Name::from(path.to_string().as_str()),
        kind,
    };
    GlobResult {
        total: 1,
        paths: Some(found).into_iter().take(limit as usize).collect(),
        skipped: Skipped {
            links: u64::from(kind == EntryKind::Link),
            ..Skipped::default()
        },
    }
}
