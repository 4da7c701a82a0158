//! A pattern as a Thompson automaton, and how a walk carries its states down.

use super::syntax::{Node, Sequence};

#[derive(Clone, Debug)]
enum Instruction {
    Char(char),
    /// Any character of a name.
    Any,
    /// Index of the class.
    Class(usize),
    Slash,
    /// Goes on at both.
    Split(u32, u32),
    Jump(u32),
    Match,
}

/// An automaton.
#[derive(Clone, Debug)]
pub(super) struct Program {
    instructions: Vec<Instruction>,
    classes: Vec<(Vec<(char, char)>, bool)>,
}

/// Where a pattern is after some whole names: what may come next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State(Vec<u32>);

/// What one more name makes of a [`State`].
#[derive(Clone, Debug)]
pub struct Step {
    /// The path up to and with this name matches.
    pub matches: bool,
    /// Where the pattern is below this name; none when nothing below it can match.
    pub below: Option<State>,
}

/// Memory that steps use, kept from one to the next.
#[derive(Debug, Default)]
pub struct Scratch {
    current: Vec<u32>,
    next: Vec<u32>,
    stack: Vec<u32>,
    /// For each instruction, the last round in which it was reached.
    reached: Vec<u64>,
    round: u64,
    /// Instructions that were looked at since [`Scratch::is_due`] last said yes.
    spent: usize,
}

/// After how many instructions a caller should look whether it may go on: a millisecond or so.
const DUE: usize = 1 << 17;

impl Program {
    pub(super) fn compile(sequence: &Sequence) -> Self {
        let mut program = Self {
            instructions: Vec::new(),
            classes: Vec::new(),
        };
        program.sequence(sequence);
        program.push(Instruction::Match);
        program
    }

    fn here(&self) -> u32 {
        // A pattern has at most 4,096 bytes, and each makes a few instructions.
        u32::try_from(self.instructions.len()).unwrap_or(u32::MAX)
    }

    fn push(&mut self, instruction: Instruction) -> u32 {
        let here = self.here();
        self.instructions.push(instruction);
        here
    }

    fn set(&mut self, at: u32, instruction: Instruction) {
        self.instructions[at as usize] = instruction;
    }

    fn sequence(&mut self, sequence: &[Node]) {
        let mut nodes = sequence.iter().peekable();
        while let Some(node) = nodes.next() {
            match node {
                Node::Char(character) => {
                    self.push(Instruction::Char(*character));
                }
                Node::Any => {
                    self.push(Instruction::Any);
                }
                Node::Class(ranges, negated) => {
                    self.classes.push((ranges.clone(), *negated));
                    let class = self.classes.len() - 1;
                    self.push(Instruction::Class(class));
                }
                Node::Slash => {
                    self.push(Instruction::Slash);
                }
                Node::Star => {
                    let split = self.push(Instruction::Jump(0));
                    self.push(Instruction::Any);
                    self.push(Instruction::Jump(split));
                    let out = self.here();
                    self.set(split, Instruction::Split(split + 1, out));
                }
                // (name slash)*
                Node::Names if nodes.next_if_eq(&&Node::Slash).is_some() => {
                    let split = self.push(Instruction::Jump(0));
                    let any = self.push(Instruction::Any);
                    let again = self.here() + 1;
                    self.push(Instruction::Split(any, again));
                    self.push(Instruction::Slash);
                    self.push(Instruction::Jump(split));
                    let out = self.here();
                    self.set(split, Instruction::Split(any, out));
                }
                // name (slash name)*
                Node::Names => {
                    let any = self.push(Instruction::Any);
                    let split = self.here() + 1;
                    self.push(Instruction::Split(any, split));
                    self.push(Instruction::Split(split + 1, split + 3));
                    self.push(Instruction::Slash);
                    self.push(Instruction::Jump(any));
                }
                Node::Alternatives(alternatives) => self.alternatives(alternatives),
            }
        }
    }

    fn alternatives(&mut self, alternatives: &[Sequence]) {
        let mut ends = Vec::new();
        for (index, alternative) in alternatives.iter().enumerate() {
            if index + 1 == alternatives.len() {
                self.sequence(alternative);
            } else {
                let split = self.push(Instruction::Jump(0));
                self.sequence(alternative);
                ends.push(self.push(Instruction::Jump(0)));
                let next = self.here();
                self.set(split, Instruction::Split(split + 1, next));
            }
        }
        let out = self.here();
        for end in ends {
            self.set(end, Instruction::Jump(out));
        }
    }

    pub(super) fn start(&self) -> State {
        let mut scratch = Scratch::default();
        scratch.begin(self);
        scratch.reach(self, 0);
        State(std::mem::take(&mut scratch.next))
    }

    pub(super) fn step(
        &self,
        from: &State,
        name: &str,
        hidden: bool,
        scratch: &mut Scratch,
    ) -> Step {
        scratch.current.clear();
        scratch.current.extend_from_slice(&from.0);
        let mut literal_only = !hidden && name.starts_with('.');
        for character in name.chars() {
            scratch.begin(self);
            scratch.spent = scratch.spent.saturating_add(scratch.current.len());
            for index in 0..scratch.current.len() {
                let at = scratch.current[index];
                let takes = match &self.instructions[at as usize] {
                    Instruction::Char(wanted) => *wanted == character,
                    _ if literal_only => false,
                    Instruction::Any => character != '/',
                    Instruction::Class(class) => self.in_class(*class, character),
                    _ => false,
                };
                if takes {
                    scratch.reach(self, at + 1);
                }
            }
            literal_only = false;
            std::mem::swap(&mut scratch.current, &mut scratch.next);
            if scratch.current.is_empty() {
                return Step {
                    matches: false,
                    below: None,
                };
            }
        }
        scratch.begin(self);
        let mut matches = false;
        for index in 0..scratch.current.len() {
            let at = scratch.current[index];
            match &self.instructions[at as usize] {
                Instruction::Slash => scratch.reach(self, at + 1),
                Instruction::Match => matches = true,
                _ => {}
            }
        }
        let below = (!scratch.next.is_empty()).then(|| State(scratch.next.clone()));
        Step { matches, below }
    }

    fn in_class(&self, class: usize, character: char) -> bool {
        let (ranges, negated) = &self.classes[class];
        let inside = ranges
            .iter()
            .any(|(low, high)| (*low..=*high).contains(&character));
        inside != *negated && character != '/'
    }
}

impl Scratch {
    /// Whether steps have cost so much since this last said yes that it is time to look whether to go on.
    pub(crate) const fn is_due(&mut self) -> bool {
        let due = self.spent >= DUE;
        if due {
            self.spent = 0;
        }
        due
    }

    /// Begins a new set of instructions, in `next`.
    fn begin(&mut self, program: &Program) {
        self.next.clear();
        self.round += 1;
        if self.reached.len() < program.instructions.len() {
            self.reached.resize(program.instructions.len(), 0);
        }
    }

    /// Adds an instruction to the set, through every jump.
    fn reach(&mut self, program: &Program, at: u32) {
        self.stack.push(at);
        while let Some(at) = self.stack.pop() {
            let reached = &mut self.reached[at as usize];
            if *reached == self.round {
                continue;
            }
            *reached = self.round;
            match program.instructions[at as usize] {
                Instruction::Split(one, other) => self.stack.extend([one, other]),
                Instruction::Jump(to) => self.stack.push(to),
                _ => self.next.push(at),
            }
        }
    }
}
