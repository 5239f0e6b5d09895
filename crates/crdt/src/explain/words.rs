//! The sentences.

use std::cell::RefCell;

use super::{Arrow, ArrowKind, Sentence, name};
use crate::data_type::DataType;
use crate::history::{History, LabelId, OpId, Operation};
use crate::problem::{NOBODY, Problem, Query, Rule, Track};
use crate::search::{Case, Edge, Literal, Reason, Told, Why};

pub(super) struct Words<'a> {
    history: &'a History,
    /// The operations of the counterexample as the search sees them.
    problem: &'a Problem<'a>,
    from: &'a [OpId],
    /// What the sentence at hand has spelt out already.
    mentioned: RefCell<Vec<u32>>,
}

/// A bound in terms of two operations: who saw, or did not see, what.
enum Fact {
    Saw(u32, u32),
    Missed(u32, u32),
    /// The read chose one of these writes.
    Chose(u32, Vec<u32>),
    /// It says nothing.
    Empty,
}

impl<'a> Words<'a> {
    pub(super) fn new(history: &'a History, problem: &'a Problem<'a>, from: &'a [OpId]) -> Self {
        Words { history, problem, from, mentioned: RefCell::default() }
    }

    pub(super) fn headline(&self) -> String {
        self.mentioned.borrow_mut().clear();
        let queries: Vec<u32> = (0..self.problem.len() as u32).filter(|&op| self.operation(op).is_query()).collect();
        match queries[..] {
            [] => "An operation speaks of an element that it cannot have known.".into(),
            [query] => format!("Nothing that it can have seen explains {}.", self.full(query)),
            _ => {
                let list: Vec<String> = queries.iter().map(|&query| self.full(query)).collect();
                format!("No way in which updates can have spread explains these answers together: {}.", list.join(", "))
            }
        }
    }

    pub(super) fn too_long(&self) -> Sentence {
        Sentence {
            depth: 0,
            text: "There are too many cases to tell them one by one; all of them end in a contradiction. The certificate has the \
                   proof."
                .into(),
            arrows: Vec::new(),
            operations: Vec::new(),
        }
    }

    pub(super) fn story(&self, case: &Case) -> Vec<Sentence> {
        let mut sentences = Vec::new();
        let mut open = vec![(0, case)];
        while let Some((depth, case)) = open.pop() {
            for told in &case.told {
                sentences.push(self.sentence(told, depth));
            }
            open.extend(case.cases.iter().rev().map(|below| (depth + 1, below)));
        }
        sentences
    }

    fn sentence(&self, told: &Told, depth: usize) -> Sentence {
        self.mentioned.borrow_mut().clear();
        let text = match told.why {
            Why::Supposed => format!("Suppose that {}.", self.conclusion(told)),
            Why::Said { op } => self.said(op, told),
            Why::Carried => self.carried(told),
            Why::Circle => self.circle(told),
            Why::Rule { query } => self.rule(self.problem.queries[query as usize], told),
        };
        let mut operations: Vec<OpId> = Vec::new();
        for &literal in told.reasons.iter().chain(&told.bound) {
            match self.fact(literal) {
                Fact::Saw(who, what) | Fact::Missed(who, what) => operations.extend([self.op(who), self.op(what)]),
                Fact::Chose(read, writes) => {
                    operations.push(self.op(read));
                    operations.extend(writes.into_iter().map(|write| self.op(write)));
                }
                Fact::Empty => {}
            }
        }
        operations.extend(told.circle.iter().flat_map(|edge| [self.op(edge.from), self.op(edge.to)]));
        if let Why::Rule { query } = told.why {
            operations.push(self.op(self.problem.queries[query as usize].op));
        }
        operations.sort_unstable();
        operations.dedup();
        let arrows = match told.why {
            Why::Circle => told.circle.iter().filter_map(|&edge| self.stamp(edge)).collect(),
            _ => told.bound.and_then(|bound| self.arrow(bound)).into_iter().collect(),
        };
        Sentence { depth, text, arrows, operations }
    }

    fn arrow(&self, literal: Literal) -> Option<Arrow> {
        match self.fact(literal) {
            Fact::Saw(who, what) => Some(Arrow { from: self.op(what), to: self.op(who), kind: ArrowKind::Saw }),
            Fact::Missed(who, what) => Some(Arrow { from: self.op(what), to: self.op(who), kind: ArrowKind::Missed }),
            _ => None,
        }
    }

    fn op(&self, op: u32) -> OpId {
        self.from[op as usize]
    }

    fn operation(&self, op: u32) -> Operation<'_> {
        self.problem.history.operation(OpId(op))
    }

    fn name(&self, op: u32) -> String {
        name(self.history, self.op(op))
    }

    /// Its name, and in each sentence once what it is.
    fn full(&self, op: u32) -> String {
        let mut mentioned = self.mentioned.borrow_mut();
        if mentioned.contains(&op) {
            return self.name(op);
        }
        mentioned.push(op);
        format!("{} {}", self.name(op), self.history.show(self.op(op)))
    }

    fn label(&self, label: LabelId) -> String {
        self.history.label(label).to_string()
    }

    fn fact(&self, literal: Literal) -> Fact {
        let replicas = self.problem.replicas;
        let (op, replica) = (literal.variable / replicas, literal.variable % replicas);
        if op as usize >= self.problem.len() {
            return self.chose(literal);
        }
        let start = self.problem.first[replica as usize];
        let count = self.problem.first[replica as usize + 1] - start;
        match (literal.upper, literal.bound) {
            (false, 0) => Fact::Empty,
            (false, bound) => Fact::Saw(op, start + bound - 1),
            (true, bound) if bound >= count => Fact::Empty,
            (true, bound) => Fact::Missed(op, start + bound),
        }
    }

    fn chose(&self, literal: Literal) -> Fact {
        let choice = literal.variable as usize - self.problem.len() * self.problem.replicas as usize;
        let read = self.problem.reader_of(choice);
        let query = self.problem.queries.iter().find(|query| query.op == read);
        let Some(&Query { rule: Rule::Choice { candidates, .. }, .. }) = query else { return Fact::Empty };
        let writes = self.problem.members(candidates);
        let bound = (literal.bound as usize).min(writes.len() - 1);
        let writes = if literal.upper { &writes[..=bound] } else { &writes[bound..] };
        Fact::Chose(read, writes.to_vec())
    }

    /// A fact as a clause of a sentence; `None` if it says nothing.
    fn clause(&self, literal: Literal) -> Option<String> {
        let home = |op: u32| self.problem.replica(op);
        match self.fact(literal) {
            Fact::Empty => None,
            Fact::Saw(who, what) if home(who) == home(what) => {
                Some(format!("{} comes after {}", self.full(who), self.full(what)))
            }
            Fact::Saw(who, what) => Some(format!("{} saw {}", self.full(who), self.full(what))),
            Fact::Missed(who, what) if home(who) == home(what) => None,
            Fact::Missed(who, what) => Some(format!("{} did not see {}", self.full(who), self.full(what))),
            Fact::Chose(read, writes) => match writes[..] {
                [write] => Some(format!("{} returned what {} wrote", self.full(read), self.name(write))),
                _ => None,
            },
        }
    }

    fn clauses(&self, literals: &[Literal]) -> Vec<String> {
        let mut clauses: Vec<String> = literals.iter().filter_map(|&literal| self.clause(literal)).collect();
        let mut at = 0;
        while at < clauses.len() {
            if clauses[..at].contains(&clauses[at]) {
                clauses.remove(at);
            } else {
                at += 1;
            }
        }
        clauses
    }

    fn conclusion(&self, told: &Told) -> String {
        let bound = told.bound.and_then(|bound| self.clause(bound));
        bound.unwrap_or_else(|| "it returned another of the writes of that value".into())
    }

    /// What an operation tells by itself.
    fn said(&self, op: u32, told: &Told) -> String {
        // What contradicts it at once is its opposite.
        let fact = told.bound.or(told.reasons.last().map(|reason| reason.negated()));
        let because = match (self.operation(op), fact.map(|fact| self.fact(fact))) {
            (Operation::Insert(Some(element), _) | Operation::Delete(element), _) => {
                format!("it speaks of {}", self.label(element))
            }
            (Operation::List(_), Some(Fact::Saw(_, what))) => match self.operation(what) {
                Operation::Insert(_, element) => format!("it lists {}", self.label(element)),
                _ => "it lists something that was added".into(),
            },
            (Operation::List(_), Some(Fact::Missed(_, what))) => match self.operation(what) {
                Operation::Delete(element) => format!("it lists {}", self.label(element)),
                _ => "it lists something that was removed".into(),
            },
            (Operation::Read(x, []), _) => format!("it found {} as it was at first", self.label(x)),
            (Operation::Read(..), _) => "nobody else wrote that value".into(),
            _ => "it says so".into(),
        };
        match told.bound {
            Some(_) => format!("{}: {because}.", self.conclusion(told)),
            None => format!("{} cannot be: {because}, but {}.", self.full(op), self.all(&told.reasons)),
        }
    }

    fn carried(&self, told: &Told) -> String {
        let reasons = self.all(&told.reasons);
        match told.bound {
            Some(_) => format!("{}: {reasons}.", self.conclusion(told)),
            None => format!("That cannot be: {reasons}."),
        }
    }

    fn circle(&self, told: &Told) -> String {
        let mut clauses = Vec::new();
        for edge in merged(&told.circle) {
            let (low, high) = (edge.from, edge.to);
            let (high, low) = (self.full(high), self.full(low));
            clauses.push(match edge.reason {
                Reason::Order => format!("{high} after {low}, on its replica"),
                Reason::Seen => format!("{high} after {low}, which it saw"),
                Reason::Lists => format!("{high} after {low}, as lists have it in front"),
                Reason::Chosen { read, .. } => {
                    format!("{high} after {low}, since {} saw both and returned the former", self.full(read))
                }
            });
        }
        format!("Timestamps would go in a circle: {}.", join(&clauses))
    }

    fn stamp(&self, edge: Edge) -> Option<Arrow> {
        let kind = match edge.reason {
            Reason::Order => return None,
            Reason::Seen => ArrowKind::Saw,
            Reason::Lists | Reason::Chosen { .. } => ArrowKind::Later,
        };
        Some(Arrow { from: self.op(edge.from), to: self.op(edge.to), kind })
    }

    fn all(&self, literals: &[Literal]) -> String {
        match self.clauses(literals) {
            clauses if clauses.is_empty() => "there is nothing else that it can have seen".into(),
            clauses => join(&clauses),
        }
    }

    fn rule(&self, query: Query, told: &Told) -> String {
        let claim = self.claim(query, told);
        let clauses = self.clauses(&told.reasons);
        let but = if clauses.is_empty() { String::new() } else { format!(" {}.", join(&clauses)) };
        match told.bound {
            Some(_) => format!("{claim}{but} So {}.", self.conclusion(told)),
            None if matches!(query.rule, Rule::Never) => claim,
            None => format!("{claim}{but} {}", self.nothing(query, told)),
        }
    }

    /// What the answer of a query says.
    fn claim(&self, query: Query, told: &Told) -> String {
        // A sentence spells an operation out where it is first asked for.
        let who = || self.full(query.op);
        let methods = self.history.data_type().methods();
        let second = methods.second.unwrap_or_default();
        let (added, removed) = (methods.first, second);
        let x = self.operation(query.op).object().map(|x| self.label(x)).unwrap_or_default();
        let (added, removed) = (format!("{added}({x})"), format!("{removed}({x})"));
        let read = matches!(self.operation(query.op), Operation::Read(..));
        match query.rule {
            Rule::Exists { .. } if read => {
                format!(
                    "{} saw a write of each value that it returned, which no other write of {x} that it saw had seen.",
                    who()
                )
            }
            Rule::Exists { initial: false, .. } => {
                format!("{} saw some {added} that no {removed} it saw had seen.", who())
            }
            Rule::Exists { .. } => {
                format!("{} saw no {added}, or some {removed} that no {added} it saw had seen.", who())
            }
            Rule::Covered { initial: false, .. } => {
                format!("For {}, every {added} that it saw was seen by a {removed} that it saw.", who())
            }
            Rule::Covered { .. } => {
                format!(
                    "{} saw some {added}, and every {removed} that it saw was seen by an {added} that it saw.",
                    who()
                )
            }
            Rule::Only { .. } => {
                format!(
                    "For {}, every write of {x} that it saw and did not return was seen by one that it returned.",
                    who()
                )
            }
            Rule::Sum { value, .. } if value < 0 => format!("{} saw {} fewer {added} than {removed}.", who(), -value),
            Rule::Sum { value, .. } => format!("{} saw {value} more {added} than {removed}.", who()),
            Rule::Choice { .. } => {
                format!("{} returned the write with the highest timestamp of those of {x} that it saw.", who())
            }
            Rule::List { .. } => self.missing(query.op, told),
            Rule::Never => self.never(query.op),
        }
    }

    fn missing(&self, op: u32, told: &Told) -> String {
        let element = told.reasons.iter().find_map(|&literal| match self.fact(literal) {
            Fact::Saw(who, what) if who == op => match self.operation(what) {
                Operation::Insert(_, element) => Some(self.label(element)),
                _ => None,
            },
            _ => None,
        });
        let element = element.unwrap_or_else(|| "some element".into());
        format!("{} does not list {element}: it saw a removal of it, if it saw it at all.", self.full(op))
    }

    /// Why nothing at all explains an operation.
    fn never(&self, op: u32) -> String {
        let who = self.full(op);
        let unknown = |element: LabelId| self.problem.adder[element.0 as usize] == NOBODY;
        match self.operation(op) {
            Operation::Read(x, values) => {
                let value = values.first().map(|&value| self.label(value)).unwrap_or_default();
                format!("{who}: nobody wrote {value} to {}.", self.label(x))
            }
            Operation::Insert(Some(element), _) | Operation::Delete(element) => {
                format!("{who}: nobody added {}.", self.label(element))
            }
            Operation::List(elements) => {
                if let Some(&element) = elements.iter().find(|&&element| unknown(element)) {
                    return format!("{who}: nobody added {}.", self.label(element));
                }
                let again = (1..elements.len()).find(|&at| elements[..at].contains(&elements[at]));
                match again {
                    Some(at) => format!("{who} lists {} twice.", self.label(elements[at])),
                    None => format!("{who} lists an element before the one that it was put after."),
                }
            }
            _ => format!("{who}: nothing explains it."),
        }
    }

    /// The end of a contradiction.
    fn nothing(&self, query: Query, told: &Told) -> String {
        match (query.rule, self.history.data_type()) {
            (Rule::Sum { track, value }, _) => self.counted(query.op, track, value, told),
            (Rule::Exists { .. }, DataType::MvRegister) => "There is no such write.".into(),
            (Rule::Exists { .. }, _) => "There is nothing of the kind.".into(),
            (Rule::List { .. }, _) => "There is no removal that it can have seen.".into(),
            (Rule::Choice { .. }, _) => "So the write that it returned was overwritten, as far as it saw.".into(),
            _ => "There is nothing that can have done that.".into(),
        }
    }
}

impl Words<'_> {
    /// How far the count can go, by what a contradiction rests on.
    fn counted(&self, op: u32, track: Track, value: i64, told: &Told) -> String {
        let (mut least, mut most) = (0, 0);
        for replica in 0..self.problem.replicas {
            let variable = op * self.problem.replicas + replica;
            let bounds = |upper| told.reasons.iter().filter(move |r| r.variable == variable && r.upper == upper);
            let start = self.problem.first[replica as usize];
            let (mut from, mut to) = (start, self.problem.first[replica as usize + 1]);
            if replica == self.problem.replica(op) {
                (from, to) = (op, op);
            }
            from = bounds(false).map(|bound| start + bound.bound).fold(from, u32::max);
            to = bounds(true).map(|bound| start + bound.bound).fold(to, u32::min);
            let members = self.problem.members(track).iter().zip(self.problem.sums(track));
            let own = members.filter(|&(&member, _)| self.problem.replica(member) == replica);
            let mut now = 0;
            let (mut low, mut high) = (i64::MAX, i64::MIN);
            for (&member, &sum) in own {
                if member >= from {
                    (low, high) = (low.min(now), high.max(now));
                }
                if member >= to {
                    break;
                }
                now = sum;
            }
            least += low.min(now);
            most += high.max(now);
        }
        if value > most {
            format!("It cannot have seen more than {most}.")
        } else {
            format!("It must have seen at least {least}.")
        }
    }
}

/// A circle in which steps along one replica are one.
fn merged(circle: &[Edge]) -> Vec<Edge> {
    let is_order = |edge: &Edge| matches!(edge.reason, Reason::Order);
    let start = circle.iter().position(|edge| !is_order(edge)).unwrap_or(0);
    let mut merged: Vec<Edge> = Vec::new();
    for &edge in circle[start..].iter().chain(&circle[..start]) {
        match merged.last_mut() {
            Some(last) if is_order(last) && is_order(&edge) => last.to = edge.to,
            _ => merged.push(edge),
        }
    }
    merged
}

fn join(clauses: &[String]) -> String {
    match clauses {
        [] => String::new(),
        [only] => only.clone(),
        [init @ .., last] => format!("{}, and {last}", init.join(", ")),
    }
}
