//! Does what is surely seen explain an answer, and if not, what could?
//!
//! Each rule looks at the smallest visibility within the bounds. If that does not explain the answer, more must have been seen,
//! and the rule lists all first steps towards that. None: a conflict. One: it must be so. Several: a decision.

use super::bounds::{Bounds, Conflict, Literal};
use crate::history::{OpId, Operation};
use crate::problem::{Problem, Query, Rule, Track};

pub(crate) enum Answer {
    /// The smallest visibility explains it.
    Explained,
    /// No visibility within the bounds does.
    Impossible(Conflict),
    /// All that do have this in common, for these reasons.
    Forced(Literal, Vec<Literal>),
    /// One of several steps.
    Open(Literal),
}

/// First steps that could explain an answer, and why there are no others.
#[derive(Default)]
struct Steps {
    literals: Vec<(u32, Literal)>,
    reasons: Vec<Literal>,
}

impl Steps {
    /// A step, and how much it adds to what is surely seen.
    fn add(&mut self, cost: u32, literal: Literal) {
        self.literals.push((cost, literal));
    }

    fn finish(self) -> Answer {
        match self.literals[..] {
            [] => Answer::Impossible(self.reasons),
            [(_, only)] => Answer::Forced(only, self.reasons),
            [first, ref rest @ ..] => {
                let best = rest.iter().fold(first, |best, &next| if next.0 < best.0 { next } else { best });
                Answer::Open(best.1)
            }
        }
    }
}

/// Evaluates rules; has room that is used again.
pub(crate) struct Rules<'p> {
    problem: &'p Problem<'p>,
    /// The list that has each element, by the number of the evaluation.
    listed: Vec<u32>,
    evaluations: u32,
}

impl<'p> Rules<'p> {
    pub(crate) fn new(problem: &'p Problem<'p>) -> Self {
        Rules { problem, listed: vec![0; problem.adder.len()], evaluations: 0 }
    }

    pub(crate) fn evaluate(&mut self, bounds: &Bounds<'_>, query: Query) -> Answer {
        let view = View { problem: self.problem, bounds, op: query.op };
        match query.rule {
            Rule::Exists { winners, coverers, initial } => view.exists(winners, coverers, initial),
            Rule::Covered { coverers, initial: true, .. } if !view.sees_any(coverers) => view.see_any(coverers),
            Rule::Covered { winners, coverers, .. } => {
                let last = |replica| view.problem.last_of(winners, replica, view.least(replica));
                let next = |replica| view.problem.next_of(winners, replica, view.least(replica));
                view.covered(coverers, last, next)
            }
            Rule::Only { writes, returned: coverers } => {
                let Operation::Read(_, returned) = self.problem.history.operation(OpId(query.op)) else {
                    unreachable!("only reads have this rule")
                };
                let other = |&write: &u32| match view.problem.history.operation(OpId(write)) {
                    Operation::Write(_, value) => returned.binary_search(&value).is_err(),
                    _ => false,
                };
                let last = |replica| view.problem.last_of(writes, replica, view.least(replica)).filter(other);
                let next = |replica| view.problem.next_of(writes, replica, view.least(replica)).filter(other);
                view.covered(coverers, last, next)
            }
            Rule::Sum { track, value } => view.sum(track, value),
            Rule::Choice { variable, candidates, writes } => view.choice(variable, candidates, writes),
            Rule::List { before } => self.list(bounds, query.op, before),
            Rule::Never => Answer::Impossible(Vec::new()),
        }
    }

    /// What was seen and is not in the list was removed. What the list before it explained needs no second look, unless it was
    /// listed there.
    fn list(&mut self, bounds: &Bounds<'_>, op: u32, before: Option<u32>) -> Answer {
        let view = View { problem: self.problem, bounds, op };
        let history = self.problem.history;
        let Operation::List(elements) = history.operation(OpId(op)) else { unreachable!("only lists have this rule") };
        self.evaluations += 1;
        for element in elements {
            self.listed[element.0 as usize] = self.evaluations;
        }
        let earlier = before.map(|before| history.operation(OpId(before)));
        let listed_before = if let Some(Operation::List(elements)) = earlier { elements } else { &[] };
        for &element in listed_before {
            let adder = self.problem.adder[element.0 as usize];
            if self.listed[element.0 as usize] != self.evaluations
                && adder != crate::problem::NOBODY
                && let Some(answer) = view.missing(adder, element)
            {
                return answer;
            }
        }
        for replica in 0..self.problem.replicas {
            let start = self.problem.first[replica as usize];
            let known = before.map_or(0, |before| bounds.least(before, replica));
            for adder in start + known..start + bounds.least(op, replica) {
                if let Operation::Insert(_, element) = history.operation(OpId(adder))
                    && self.listed[element.0 as usize] != self.evaluations
                    && let Some(answer) = view.missing(adder, element)
                {
                    return answer;
                }
            }
        }
        Answer::Explained
    }
}

/// One query within the bounds.
#[derive(Clone, Copy)]
struct View<'a> {
    problem: &'a Problem<'a>,
    bounds: &'a Bounds<'a>,
    op: u32,
}

impl View<'_> {
    fn least(&self, replica: u32) -> u32 {
        self.bounds.least(self.op, replica)
    }

    fn most(&self, replica: u32) -> u32 {
        self.bounds.most(self.op, replica)
    }

    /// The query saw the operation.
    fn saw(&self, op: u32) -> Literal {
        self.literal_saw(self.op, op)
    }

    fn missed(&self, op: u32) -> Literal {
        self.literal_missed(self.op, op)
    }

    fn literal_saw(&self, who: u32, what: u32) -> Literal {
        Literal::at_least(self.bounds.variable(who, self.problem.replica(what)), self.problem.position(what) + 1)
    }

    fn literal_missed(&self, who: u32, what: u32) -> Literal {
        Literal::at_most(self.bounds.variable(who, self.problem.replica(what)), self.problem.position(what))
    }

    fn may_see(&self, op: u32) -> bool {
        self.most(self.problem.replica(op)) > self.problem.position(op)
    }

    /// How much more the query would see with an operation.
    fn cost(&self, op: u32) -> u32 {
        (self.problem.position(op) + 1).saturating_sub(self.least(self.problem.replica(op)))
    }

    /// A coverer that the query surely saw and that surely saw the operation.
    fn coverer_of(&self, op: u32, coverers: Track) -> Option<u32> {
        let last = |replica| self.problem.last_of(coverers, replica, self.least(replica));
        (0..self.problem.replicas).filter_map(last).find(|&coverer| self.bounds.saw(coverer, op))
    }

    fn sees_any(&self, track: Track) -> bool {
        (0..self.problem.replicas).any(|replica| self.problem.last_of(track, replica, self.least(replica)).is_some())
    }

    /// At least one of a track must be seen, and none surely is.
    fn see_any(&self, track: Track) -> Answer {
        let mut steps = Steps::default();
        for replica in 0..self.problem.replicas {
            let Some(first) = self.problem.next_of(track, replica, 0) else { continue };
            if self.may_see(first) {
                steps.add(self.cost(first), self.saw(first));
            } else {
                steps.reasons.push(self.missed(first));
            }
        }
        steps.finish()
    }

    fn exists(&self, winners: Track, coverers: Track, initial: bool) -> Answer {
        let mut steps = Steps::default();
        if initial {
            let seen = |replica| self.problem.next_of(coverers, replica, 0).filter(|&op| self.bounds.saw(self.op, op));
            match (0..self.problem.replicas).find_map(seen) {
                None => return Answer::Explained,
                Some(coverer) => steps.reasons.push(self.saw(coverer)),
            }
        }
        let mut uncovered = None;
        for replica in 0..self.problem.replicas {
            if let Some(winner) = self.problem.last_of(winners, replica, self.least(replica)) {
                match self.coverer_of(winner, coverers) {
                    None if uncovered.is_some() => return Answer::Explained,
                    None => uncovered = Some(winner),
                    Some(coverer) => {
                        steps.reasons.push(self.saw(coverer));
                        steps.reasons.push(self.literal_saw(coverer, winner));
                    }
                }
            }
            // What is not seen for sure is not covered for sure: who saw the coverer would have seen it.
            if let Some(next) = self.problem.next_of(winners, replica, self.least(replica)) {
                if self.may_see(next) {
                    steps.add(self.cost(next), self.saw(next));
                } else {
                    steps.reasons.push(self.missed(next));
                }
            }
        }
        match uncovered {
            Some(winner) if steps.literals.is_empty() => self.stays_uncovered(winner, coverers, steps.reasons),
            Some(_) => Answer::Explained,
            None => steps.finish(),
        }
    }

    /// It must be this one: nothing that was seen saw it.
    fn stays_uncovered(&self, op: u32, coverers: Track, mut reasons: Vec<Literal>) -> Answer {
        let (home, position) = (self.problem.replica(op), self.problem.position(op));
        let last = |replica| self.problem.last_of(coverers, replica, self.least(replica));
        let mut seen = (0..self.problem.replicas).filter_map(last);
        match seen.find(|&coverer| self.bounds.most(coverer, home) > position) {
            None => Answer::Explained,
            Some(coverer) => {
                reasons.push(self.saw(coverer));
                Answer::Forced(self.literal_missed(coverer, op), reasons)
            }
        }
    }

    /// On each replica, the last operation that was seen and is to be covered, is; and the next is not seen if it cannot be.
    fn covered(&self, coverers: Track, last: impl Fn(u32) -> Option<u32>, next: impl Fn(u32) -> Option<u32>) -> Answer {
        for replica in 0..self.problem.replicas {
            if let Some(op) = last(replica)
                && self.coverer_of(op, coverers).is_none()
            {
                return self.cover(op, coverers);
            }
        }
        for replica in 0..self.problem.replicas {
            if let Some(op) = next(replica)
                && self.may_see(op)
                && let Some(reasons) = self.cannot_cover(op, coverers)
            {
                return Answer::Forced(self.missed(op), reasons);
            }
        }
        Answer::Explained
    }

    /// Why nothing that the query may see can have seen an operation.
    fn cannot_cover(&self, op: u32, coverers: Track) -> Option<Vec<Literal>> {
        let (home, position) = (self.problem.replica(op), self.problem.position(op));
        let mut reasons = Vec::new();
        for replica in 0..self.problem.replicas {
            if let Some(last) = self.problem.last_of(coverers, replica, self.most(replica)) {
                if self.bounds.most(last, home) > position {
                    return None;
                }
                reasons.push(self.literal_missed(last, op));
            }
            let beyond = self.problem.next_of(coverers, replica, self.most(replica));
            reasons.extend(beyond.map(|beyond| self.missed(beyond)));
        }
        Some(reasons)
    }

    /// On some replica, the last coverer that the query sees must see the operation. Either that is the last one that it
    /// surely sees, or it sees more.
    fn cover(&self, op: u32, coverers: Track) -> Answer {
        let mut steps = Steps::default();
        steps.reasons.push(self.saw(op));
        let (home, position) = (self.problem.replica(op), self.problem.position(op));
        let could = |coverer: u32| self.bounds.most(coverer, home) > position;
        for replica in 0..self.problem.replicas {
            let now = self.problem.last_of(coverers, replica, self.least(replica));
            if let Some(now) = now {
                if could(now) {
                    steps.add(self.far(now, op), self.literal_saw(now, op));
                } else {
                    steps.reasons.push(self.literal_missed(now, op));
                }
            }
            let Some(next) = self.problem.next_of(coverers, replica, self.least(replica)) else { continue };
            if !self.may_see(next) {
                steps.reasons.push(self.missed(next));
                continue;
            }
            let able = self.first_able(coverers, next, could);
            match able {
                Some(able) if self.may_see(able) => {
                    steps.add(self.cost(able) + self.far(able, op), self.saw(able));
                    let skipped = self.problem.last_of(coverers, replica, self.problem.position(able));
                    if let Some(skipped) = skipped.filter(|&skipped| skipped >= next) {
                        steps.reasons.push(self.literal_missed(skipped, op));
                    }
                }
                _ => {
                    let last = self.problem.last_of(coverers, replica, self.most(replica));
                    let last = last.expect("the next coverer may be seen");
                    steps.reasons.push(self.literal_missed(last, op));
                    let beyond = self.problem.next_of(coverers, replica, self.most(replica));
                    steps.reasons.extend(beyond.map(|beyond| self.missed(beyond)));
                }
            }
        }
        steps.finish()
    }

    /// How much more an operation would see with another.
    fn far(&self, who: u32, what: u32) -> u32 {
        (self.problem.position(what) + 1).saturating_sub(self.bounds.least(who, self.problem.replica(what)))
    }

    /// The first coverer, from one on and on its replica, that could have seen what is to be covered.
    fn first_able(&self, coverers: Track, from: u32, could: impl Fn(u32) -> bool) -> Option<u32> {
        let end = self.problem.first[self.problem.replica(from) as usize + 1];
        let members = self.problem.members(coverers);
        let range = &members[members.partition_point(|&op| op < from)..members.partition_point(|&op| op < end)];
        range.get(range.partition_point(|&op| !could(op))).copied()
    }

    /// An element that was surely seen and is not in the list: one of its removers was seen.
    fn missing(&self, adder: u32, element: crate::LabelId) -> Option<Answer> {
        let removers = self.problem.removers(element);
        if removers.iter().any(|&remover| self.bounds.saw(self.op, remover)) {
            return None;
        }
        let mut steps = Steps::default();
        steps.reasons.push(self.saw(adder));
        for &remover in removers {
            if self.may_see(remover) {
                steps.add(self.cost(remover), self.saw(remover));
            } else {
                steps.reasons.push(self.missed(remover));
            }
        }
        Some(steps.finish())
    }

    fn choice(&self, variable: u32, candidates: Track, writes: Track) -> Answer {
        let members = self.problem.members(candidates);
        let (least, most) = self.bounds.choice(variable);
        if least == most {
            let write = members[least as usize];
            let chosen = [Literal::at_least(variable, least), Literal::at_most(variable, most)];
            if !self.bounds.saw(self.op, write) {
                return Answer::Forced(self.saw(write), chosen.to_vec());
            }
            return match self.coverer_of(write, writes) {
                None => self.stays_uncovered(write, writes, chosen.to_vec()),
                Some(later) => {
                    Answer::Impossible([&chosen[..], &[self.saw(later), self.literal_saw(later, write)]].concat())
                }
            };
        }
        if let Some(reasons) = self.excluded(members[least as usize], writes) {
            let mut reasons = reasons;
            reasons.push(Literal::at_least(variable, least));
            return Answer::Forced(Literal::at_least(variable, least + 1), reasons);
        }
        if let Some(mut reasons) = self.excluded(members[most as usize], writes) {
            reasons.push(Literal::at_most(variable, most));
            return Answer::Forced(Literal::at_most(variable, most - 1), reasons);
        }
        let open = (least..=most).filter(|&at| self.excluded(members[at as usize], writes).is_none());
        let best = open.min_by_key(|&at| self.cost(members[at as usize])).expect("both ends are open");
        let decision = if best > least { Literal::at_least(variable, best) } else { Literal::at_most(variable, best) };
        Answer::Open(decision)
    }

    /// Why a write cannot be what the read chose.
    fn excluded(&self, write: u32, writes: Track) -> Option<Vec<Literal>> {
        if !self.may_see(write) {
            return Some(vec![self.missed(write)]);
        }
        let later = self.coverer_of(write, writes)?;
        Some(vec![self.saw(later), self.literal_saw(later, write)])
    }

    fn sum(&self, track: Track, value: i64) -> Answer {
        let seen: i64 = (0..self.problem.replicas).map(|replica| self.seen_sum(track, replica)).sum();
        if seen == value {
            return Answer::Explained;
        }
        // Everything below is for sums that are too low; the others are the same upside down.
        let sign = if seen < value { 1 } else { -1 };
        let ranges: Vec<Range<'_>> =
            (0..self.problem.replicas).map(|replica| self.range(track, replica, sign)).collect();
        let most: i64 = ranges.iter().map(|range| range.highest).sum();
        let mut steps = Steps::default();
        if most < sign * value {
            for range in &ranges {
                self.stays_below(range, range.highest, &mut steps.reasons);
            }
            return Answer::Impossible(steps.reasons);
        }
        for range in &ranges {
            match range.first_above(range.now) {
                Some(next) if self.may_see(next) => {
                    steps.add(self.cost(next), self.saw(next));
                    self.started_at(range, range.now, &mut steps.reasons);
                }
                _ => self.stays_below(range, range.now, &mut steps.reasons),
            }
        }
        steps.finish()
    }

    fn seen_sum(&self, track: Track, replica: u32) -> i64 {
        let Some(last) = self.problem.last_of(track, replica, self.least(replica)) else { return 0 };
        let at = self.problem.members(track).partition_point(|&op| op < last);
        self.problem.sums(track)[at]
    }

    fn range(&self, track: Track, replica: u32, sign: i64) -> Range<'_> {
        let (start, end) = (self.problem.first[replica as usize], self.problem.first[replica as usize + 1]);
        let members = self.problem.members(track);
        let (from, to) = (members.partition_point(|&op| op < start), members.partition_point(|&op| op < end));
        let (members, sums) = (&members[from..to], &self.problem.sums(track)[from..to]);
        let seen = members.partition_point(|&op| op < start + self.least(replica));
        let may = members.partition_point(|&op| op < start + self.most(replica));
        let now = if seen == 0 { 0 } else { sign * sums[seen - 1] };
        let highest = sums[seen..may].iter().fold(now, |highest, &sum| highest.max(sign * sum));
        Range { sign, members, sums, seen, now, highest }
    }

    /// The literals from which it follows that a replica contributes no more than `highest`.
    fn stays_below(&self, range: &Range<'_>, highest: i64, reasons: &mut Vec<Literal>) {
        self.started_at(range, highest, reasons);
        reasons.extend(range.first_above(highest).map(|next| self.missed(next)));
    }

    /// Enough was seen that sums above `highest` from before do not count. As little as that as possible, so that what is
    /// learnt holds more often.
    fn started_at(&self, range: &Range<'_>, highest: i64, reasons: &mut Vec<Literal>) {
        let before = range.sums[..range.seen].iter().rposition(|&sum| range.sign * sum > highest);
        if let Some(before) = before {
            // The sum is at most `highest` from the next member on.
            reasons.push(self.saw(range.members[before + 1]));
        } else if highest < 0 {
            // It was 0 at first.
            reasons.push(self.saw(range.members[0]));
        }
    }
}

/// The sums of one replica that a counter may have seen.
struct Range<'a> {
    sign: i64,
    members: &'a [u32],
    sums: &'a [i64],
    seen: usize,
    now: i64,
    highest: i64,
}

impl Range<'_> {
    /// The first member not surely seen after which the sum is above.
    fn first_above(&self, sum: i64) -> Option<u32> {
        let at = self.sums[self.seen..].iter().position(|&other| self.sign * other > sum)?;
        Some(self.members[self.seen + at])
    }
}
