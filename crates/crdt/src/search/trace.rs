//! The same search on a small part of a history, step by step, for people.
//!
//! Nothing is learnt here, and nothing done at once: each bound has its reason, and where one must suppose something, both cases
//! are gone through. What no contradiction rests on is left out.

use super::bounds::{Bounds, Literal};
use super::root;
use super::rules::{Answer, Rules};
use super::stamps::{self, Edge};
use crate::problem::Problem;

/// Where a bound comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// What an operation says at once: [`Problem::seen`] and [`Problem::unseen`].
    Said { op: u32 },
    /// The rule of a query.
    Rule { query: u32 },
    /// What others saw or did not see.
    Carried,
    /// Supposed.
    Supposed,
    /// Timestamps go in a circle.
    Circle,
}

/// A bound, or at the end of a case a contradiction, and from what it follows.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) bound: Option<Literal>,
    pub(crate) why: Why,
    pub(crate) reasons: Vec<Literal>,
    /// For a circle of timestamps, the circle.
    pub(crate) circle: Vec<Edge>,
}

impl Told {
    fn contradiction(why: Why, reasons: Vec<Literal>) -> Self {
        Told { bound: None, why, reasons, circle: Vec::new() }
    }
}

/// What follows, and then a contradiction, or two cases.
#[derive(Debug, Default)]
pub(crate) struct Case {
    pub(crate) told: Vec<Told>,
    pub(crate) cases: Vec<Case>,
}

/// How many cases are gone through at most.
const CASES: usize = 16;

/// The way to the contradiction; `None` if it is too long to tell.
pub(crate) fn trace(problem: &Problem<'_>) -> Option<Case> {
    let mut lower = vec![0; problem.len() * problem.replicas as usize + problem.choices.len()];
    for op in 0..problem.len() as u32 {
        lower[(op * problem.replicas + problem.replica(op)) as usize] = problem.position(op);
    }
    let bounds = Bounds::new(problem, lower, root::widest(problem));
    let mut trace = Trace { problem, bounds, rules: Rules::new(problem), needed: Vec::new(), cases: 0 };
    let start = trace.start();
    trace.case(0, start)
}

struct Trace<'p> {
    problem: &'p Problem<'p>,
    bounds: Bounds<'p>,
    rules: Rules<'p>,
    /// For each change so far, whether a contradiction rests on it.
    needed: Vec<bool>,
    cases: usize,
}

/// What a case comes to.
enum End {
    Contradiction(Told),
    /// One of several steps.
    Open(Literal),
    /// There is an explanation after all.
    None,
}

impl Trace<'_> {
    fn start(&mut self) -> Result<(), Told> {
        self.bounds.bound_above(|| true).map_err(|conflict| Told::contradiction(Why::Carried, conflict))?;
        let saw = |who: u32, what: u32, bounds: &Bounds<'_>| bounds.variable(who, self.problem.replica(what));
        for &(what, who) in &self.problem.seen {
            let literal = Literal::at_least(saw(who, what, &self.bounds), self.problem.position(what) + 1);
            self.say(literal, who)?;
        }
        for &(what, who) in &self.problem.unseen {
            let literal = Literal::at_most(saw(who, what, &self.bounds), self.problem.position(what));
            self.say(literal, who)?;
        }
        Ok(())
    }

    fn say(&mut self, literal: Literal, op: u32) -> Result<(), Told> {
        let why = Why::Said { op };
        let result = self.bounds.assert_noted(literal, &[], 2 * op + 1);
        result.map_err(|reasons| Told::contradiction(why, reasons))
    }

    /// Goes on from the changes after the first `from`.
    fn case(&mut self, from: usize, so_far: Result<(), Told>) -> Option<Case> {
        let end = match so_far {
            Ok(()) => self.go_on(),
            Err(contradiction) => End::Contradiction(contradiction),
        };
        let mut case = Case::default();
        match end {
            End::None => return None,
            End::Contradiction(contradiction) => {
                self.cases += 1;
                self.needed.resize(self.bounds.trail().len(), false);
                self.need(&contradiction.reasons);
                case.told.push(contradiction);
            }
            End::Open(_) if self.cases >= CASES || self.bounds.level() >= CASES => return None,
            End::Open(literal) => {
                let level = self.bounds.level();
                for literal in [literal, literal.negated()] {
                    let start = self.bounds.trail().len();
                    let result = self.bounds.decide(literal);
                    let result = result.map_err(|reasons| Told::contradiction(Why::Carried, reasons));
                    let one = self.case(start, result)?;
                    // If nothing rests on what was supposed, there was no need to suppose it.
                    let idle = !matches!(one.told.first(), Some(Told { why: Why::Supposed, .. }));
                    self.bounds.backtrack(level, |_| {});
                    self.needed.truncate(start);
                    if idle {
                        case = one;
                        break;
                    }
                    case.cases.push(one);
                }
            }
        }
        let mut told = self.told(from);
        told.append(&mut case.told);
        Some(Case { told, cases: case.cases })
    }

    /// Follows all rules until there is a contradiction or a choice.
    fn go_on(&mut self) -> End {
        'again: loop {
            loop {
                let mut changes = 0;
                if let Err(conflict) = self.bounds.propagate(|_| changes += 1) {
                    return End::Contradiction(Told::contradiction(Why::Carried, conflict));
                }
                if changes == 0 {
                    break;
                }
            }
            let mut open = None;
            for number in 0..self.problem.queries.len() {
                let why = Why::Rule { query: number as u32 };
                match self.rules.evaluate(&self.bounds, self.problem.queries[number]) {
                    Answer::Explained => {}
                    Answer::Impossible(reasons) => return End::Contradiction(Told::contradiction(why, reasons)),
                    Answer::Forced(literal, reasons) => {
                        match self.bounds.assert_noted(literal, &reasons, 2 * number as u32 + 2) {
                            Ok(()) => continue 'again,
                            Err(reasons) => return End::Contradiction(Told::contradiction(why, reasons)),
                        }
                    }
                    Answer::Open(literal) => open = open.or(Some(literal)),
                }
            }
            if let Err(circle) = stamps::arrange(self.problem, &self.bounds) {
                let reasons = stamps::literals(self.problem, &self.bounds, &circle);
                return End::Contradiction(Told { circle, ..Told::contradiction(Why::Circle, reasons) });
            }
            return open.map_or(End::None, End::Open);
        }
    }

    /// Marks all changes that literals rest on.
    fn need(&mut self, literals: &[Literal]) {
        let mut open: Vec<usize> = literals.iter().filter_map(|&literal| self.bounds.entry_of(literal)).collect();
        while let Some(entry) = open.pop() {
            if !std::mem::replace(&mut self.needed[entry], true) {
                let reasons = self.bounds.reason(entry).iter();
                open.extend(reasons.filter_map(|&literal| self.bounds.entry_of(literal)));
            }
        }
    }

    /// The changes from one on that contradictions rest on. What only follows along a replica goes without saying.
    fn told(&self, from: usize) -> Vec<Told> {
        let needed = (from..self.bounds.trail().len()).filter(|&entry| self.needed[entry]);
        let told = needed.filter_map(|entry| {
            let (note, literal) = (self.bounds.trail()[entry].note, self.bounds.trail()[entry].literal);
            let reasons = self.bounds.reason(entry).to_vec();
            let why = match (note, reasons.len()) {
                (0, 0) => Why::Supposed,
                (0, 1) => return None,
                (0, _) => Why::Carried,
                (note, _) if note % 2 == 1 => Why::Said { op: note / 2 },
                (note, _) => Why::Rule { query: note / 2 - 1 },
            };
            Some(Told { bound: Some(literal), ..Told::contradiction(why, reasons) })
        });
        told.collect()
    }
}
