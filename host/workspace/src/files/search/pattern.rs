//! What a line must have to match.

use std::sync::Arc;

use belljar_contract::{Query, files::Syntax};
use memchr::memmem;
use regex_automata::meta::{BuildError, Regex};
use regex_syntax::{
    ParserBuilder,
    hir::{Capture, Class, ClassBytes, ClassUnicode, Hir, HirKind, Look, Repetition},
};

use crate::files::fault::Fault;

/// The largest automaton: what the `regex` crate takes by default.
const LARGEST: usize = 10 << 20;

/// A compiled pattern.
///
/// Many lines are looked at together, by an expression without `^`, `$` and `\b`, which finds at least every line
/// that matches; the line alone, without its end, decides. So CRLF and a last line without an end need
/// no expression of their own, and a lone CR is a character like others.
#[derive(Clone)]
pub(super) enum LinePattern {
    Literal(Arc<memmem::Finder<'static>>),
    Regex {
        candidates: Regex,
        line: Regex,
        /// The candidates are the matches, wherever a line's end is not in question.
        is_exact: bool,
    },
}

impl LinePattern {
    pub(super) fn new(query: &Query) -> Result<Self, Fault> {
        if query.pattern.is_empty() {
            return Err(bad("the pattern is empty"));
        }
        let pattern = match (query.syntax, query.ignore_case) {
            (Syntax::Literal, false) => {
                if query.pattern.contains('\n') {
                    return Err(bad(SPANS));
                }
                let finder = memmem::Finder::new(query.pattern.as_bytes());
                return Ok(Self::Literal(Arc::new(finder.into_owned())));
            }
            (Syntax::Literal, true) => regex_syntax::escape(&query.pattern),
            (Syntax::Regex, _) => query.pattern.clone(),
        };
        let tree = ParserBuilder::new()
            .utf8(false)
            .case_insensitive(query.ignore_case)
            .build()
            .parse(&pattern)
            .map_err(|error| bad(&error.to_string()))?;
        // Both have the line end taken out: neither then matches across lines.
        let line = rewrite(&tree, &look_at_edges).ok_or_else(|| bad(SPANS))?;
        let candidates = rewrite(&tree, &|_| Hir::empty()).ok_or_else(|| bad(SPANS))?;
        let is_exact = line.properties().look_set().is_empty();
        let build = |tree: &Hir| {
            Regex::builder()
                .configure(
                    Regex::config()
                        .utf8_empty(false)
                        .nfa_size_limit(Some(LARGEST))
                        .hybrid_cache_capacity(2 << 20),
                )
                .build_from_hir(tree)
                .map_err(|error| bad(&reason(&error)))
        };
        Ok(Self::Regex {
            candidates: build(&candidates)?,
            line: build(&line)?,
            is_exact,
        })
    }

    /// The first place in some lines that may be in a line that matches.
    pub(super) fn candidate(&self, lines: &[u8]) -> Option<usize> {
        match self {
            Self::Literal(finder) => finder.find(lines),
            Self::Regex { candidates, .. } => candidates.find(lines).map(|found| found.start()),
        }
    }

    /// Whether a line with a candidate, its end cut off, matches.
    pub(super) fn is_match(&self, line: &[u8], has_carriage_return: bool) -> bool {
        match self {
            Self::Literal(finder) => !has_carriage_return || finder.find(line).is_some(),
            Self::Regex { is_exact: true, .. } if !has_carriage_return => true,
            Self::Regex { line: regex, .. } => regex.is_match(line),
        }
    }
}

const SPANS: &str = "the pattern must match a line end, and lines are searched one by one";

fn bad(reason: &str) -> Fault {
    Fault::BadPattern(reason.to_owned())
}

fn reason(error: &BuildError) -> String {
    match error.size_limit() {
        Some(limit) => format!("the pattern is over {limit} bytes when compiled"),
        None => error.to_string(),
    }
}

/// The edges of the haystack, which is one line.
fn look_at_edges(look: Look) -> Hir {
    Hir::look(match look {
        Look::Start | Look::StartLF | Look::StartCRLF => Look::Start,
        Look::End | Look::EndLF | Look::EndCRLF => Look::End,
        word => word,
    })
}

/// The same expression without the line end, and with each look-around as `look` has it. None when it
/// can match nothing any more. The tree's depth is bounded by its parser.
fn rewrite(tree: &Hir, look: &dyn Fn(Look) -> Hir) -> Option<Hir> {
    Some(match tree.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => return None,
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(class) => {
            let mut class = class.clone();
            match &mut class {
                Class::Unicode(class) => class.difference(&ClassUnicode::new([
                    regex_syntax::hir::ClassUnicodeRange::new('\n', '\n'),
                ])),
                Class::Bytes(class) => {
                    class.difference(&ClassBytes::new([regex_syntax::hir::ClassBytesRange::new(
                        b'\n', b'\n',
                    )]))
                }
            }
            if class.is_empty() {
                return None;
            }
            Hir::class(class)
        }
        HirKind::Look(kind) => look(*kind),
        HirKind::Repetition(repetition) => match rewrite(&repetition.sub, look) {
            Some(sub) => Hir::repetition(Repetition {
                sub: Box::new(sub),
                ..repetition.clone()
            }),
            None if repetition.min == 0 => Hir::empty(),
            None => return None,
        },
        HirKind::Capture(capture) => Hir::capture(Capture {
            sub: Box::new(rewrite(&capture.sub, look)?),
            ..capture.clone()
        }),
        HirKind::Concat(parts) => Hir::concat(
            parts
                .iter()
                .map(|part| rewrite(part, look))
                .collect::<Option<_>>()?,
        ),
        HirKind::Alternation(parts) => {
            let parts: Vec<_> = parts
                .iter()
                .filter_map(|part| rewrite(part, look))
                .collect();
            if parts.is_empty() {
                return None;
            }
            Hir::alternation(parts)
        }
    })
}
