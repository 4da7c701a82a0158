//! Which files a search looks at: `include`, `exclude` and hidden names.

use belljar_contract::Query;

use crate::files::{
    dialect::{Glob, Scratch, State},
    fault::Fault,
    glob::compile,
};

/// The globs of a search.
pub(super) struct Filter {
    include: Vec<Glob>,
    exclude: Vec<Glob>,
    hidden: bool,
}

/// What the globs make of a directory.
#[derive(Clone)]
pub(super) struct Passed {
    include: Vec<Option<State>>,
    exclude: Vec<Option<State>>,
    /// How many leading parts the directory's names are, of each `include` whose literal beginning it is on.
    literal: Vec<Option<usize>>,
}

/// What the globs make of an entry.
pub(super) struct Passes {
    /// It is looked at, if it is a file.
    pub(super) looks: bool,
    /// It is entered, if it is a directory.
    pub(super) enters: Option<Passed>,
    /// It is neither hidden nor excluded.
    pub(super) meets: bool,
    /// An `include` names it: it counts even when it is ignored.
    pub(super) by_name: bool,
}

impl Filter {
    pub(super) fn new(query: &Query, hidden: bool) -> Result<Self, Fault> {
        let globs = |patterns: &[belljar_contract::Pattern]| {
            patterns
                .iter()
                .map(|pattern| compile(pattern, Glob::filter))
                .collect::<Result<Vec<_>, Fault>>()
        };
        Ok(Self {
            include: globs(&query.include)?,
            exclude: globs(&query.exclude)?,
            hidden,
        })
    }

    /// Where a walk begins.
    pub(super) fn start(&self) -> Passed {
        let states = |globs: &[Glob]| globs.iter().map(|glob| Some(glob.start())).collect();
        Passed {
            include: states(&self.include),
            exclude: states(&self.exclude),
            literal: self.include.iter().map(|_| Some(0)).collect(),
        }
    }

    /// What the globs make of an entry. Many long ones take their time, so `go_on` is asked in between.
    pub(super) fn pass<E>(
        &self,
        above: &Passed,
        name: &str,
        is_directory: bool,
        scratch: &mut Scratch,
        go_on: impl Fn() -> Result<(), E>,
    ) -> Result<Passes, E> {
        let look_up = |scratch: &mut Scratch| match scratch.is_due() {
            true => go_on(),
            false => Ok(()),
        };
        let mut excluded = false;
        let mut exclude = Vec::with_capacity(self.exclude.len());
        for (glob, state) in self.exclude.iter().zip(&above.exclude) {
            look_up(scratch)?;
            exclude.push(state.as_ref().and_then(|state| {
                let step = glob.step(state, name, true, scratch);
                excluded |= step.matches && (is_directory || !glob.directories_only());
                step.below
            }));
        }
        let shown = self.hidden || !name.starts_with('.');
        let mut passes = Passes {
            looks: false,
            enters: None,
            meets: shown && !excluded,
            by_name: false,
        };
        if excluded {
            return Ok(passes);
        }
        let mut enters = shown && self.include.is_empty();
        passes.looks = enters;
        let mut below = Passed {
            include: Vec::with_capacity(self.include.len()),
            exclude,
            literal: Vec::with_capacity(self.include.len()),
        };
        for (index, glob) in self.include.iter().enumerate() {
            look_up(scratch)?;
            let literal = above.literal[index]
                .filter(|count| glob.literal().get(*count).is_some_and(|part| part == name))
                .map(|count| count + 1);
            passes.by_name |= literal.is_some();
            below.literal.push(literal);
            let step = above.include[index]
                .as_ref()
                .map(|state| glob.step(state, name, self.hidden, scratch));
            let state = step.and_then(|step| {
                passes.looks |= step.matches && !glob.directories_only();
                step.below
            });
            enters |= state.is_some();
            below.include.push(state);
        }
        passes.enters = (enters && is_directory).then_some(below);
        Ok(passes)
    }
}
