//! From a history and a level to a verdict.

use isonomy_history::{FaultKind, History, TxnId};

use crate::anomaly::Anomaly;
use crate::frontier;
use crate::level::IsolationLevel;
use crate::linearizable;
use crate::lists::Lists;
use crate::order::{Likely, likely_order};
use crate::polygraph::{self, Question};
use crate::saturation::{self, Outcome, Saturated};
use crate::trace;
use crate::verdict::{Counterexample, Evidence, Reason, Verdict, Why, Witness};

/// How to check.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Whether levels that respect session order do so.
    pub session_order: bool,
    /// By how many nanoseconds clocks may differ.
    pub clock_drift: i64,
    /// What decides the strong levels.
    pub engine: Engine,
    /// What the engine of constraints does without.
    pub ablation: Ablation,
    /// Asked now and then; when it says true, the verdict is undecided.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Told of each stage as it begins.
    pub stage: &'a (dyn Fn(Stage) + Sync),
    /// Told of what was counted, by name.
    pub counted: &'a (dyn Fn(&'static str, u64) + Sync),
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            session_order: true,
            clock_drift: 0,
            engine: Engine::default(),
            ablation: Ablation::default(),
            stop: &|| false,
            stage: &|_| {},
            counted: &|_, _| {},
        }
    }
}

/// What decides the strong levels, from prefix up. The weak ones have one way only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Constraints between transactions, and a solver.
    #[default]
    Polygraph,
    /// A search through frontiers: see [`frontier`].
    Frontier,
}

/// Ingredients of [`Engine::Polygraph`] that can be left out, to see what each is worth. No verdict depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ablation {
    /// Guess an order of commits and repair it. Without, all constraints are made at once, as in the papers.
    pub guess: bool,
    /// Drop what reachability excludes.
    pub prune: bool,
    /// One constraint for each two transactions. Counts only without guessing.
    pub coalesce: bool,
    /// Who reads a version and writes the key comes right after it. Counts only without guessing.
    pub rmw_inference: bool,
}

impl Default for Ablation {
    fn default() -> Self {
        Ablation { guess: true, prune: true, coalesce: true, rmw_inference: true }
    }
}

/// A stage of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reads by themselves.
    Reads,
    /// Inferring an order of commits.
    Saturate,
    /// Ordering versions by what was read, where that leaves no choice.
    Determine,
    /// Trying an order that is likely.
    Guess,
    /// Making constraints.
    Constrain,
    /// Finding what reachability excludes.
    Prune,
    /// Searching where that is not enough.
    Solve,
    /// Searching for an order.
    Search,
    /// Making the counterexample small and finding reasons.
    Explain,
}

impl Stage {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Reads => "reads",
            Stage::Saturate => "saturate",
            Stage::Determine => "determine",
            Stage::Guess => "guess",
            Stage::Constrain => "constrain",
            Stage::Prune => "prune",
            Stage::Solve => "solve",
            Stage::Search => "search",
            Stage::Explain => "explain",
        }
    }
}

/// Decides whether a history satisfies a level.
pub fn check(history: &History, level: IsolationLevel, options: &Options<'_>) -> Verdict {
    (options.stage)(Stage::Reads);
    if level.needs_times() && !polygraph::times_are_known(history) {
        return Verdict::Undecided(Reason::NoTimes);
    }
    let objects = match level {
        IsolationLevel::Linearizable => match linearizable::objects(history) {
            Some(objects) => objects,
            None => return Verdict::Undecided(Reason::SeveralObjects),
        },
        _ => Lists::empty(),
    };
    if let Some(counterexample) = faulty_read(history, level) {
        return Verdict::Violated(counterexample);
    }
    let session_order = options.session_order && level.has_session_order();
    match level {
        IsolationLevel::ReadCommitted | IsolationLevel::ReadAtomic | IsolationLevel::Causal => {
            match saturate(history, level, session_order, options) {
                // Sessions make few chains. What holds with them holds without.
                Verdict::Undecided(Reason::TooLarge) if !session_order => {
                    match saturate(history, level, true, options) {
                        holds @ Verdict::Holds(_) => holds,
                        _ => Verdict::Undecided(Reason::TooLarge),
                    }
                }
                verdict => verdict,
            }
        }
        IsolationLevel::Linearizable => linearizable::check(history, &objects, session_order, options),
        _ => match options.engine {
            Engine::Polygraph => by_polygraph(history, level, session_order, options),
            Engine::Frontier => by_frontiers(history, level, session_order, options),
        },
    }
}

/// Whether what was read determines the order of the versions of every key, at the levels that allow no lost update: then they are decided
/// in linear time, but for the sorting of times. So it is where every write follows a read of its key. No where reads are wrong by
/// themselves.
pub fn versions_are_determined(history: &History) -> bool {
    history.derived().faults().is_empty()
        && Question::new(history, IsolationLevel::SnapshotIsolation, true, 0).is_determined()
}

/// More frontiers than this are never visited: at some microseconds each it is minutes.
const MOST_FRONTIERS: u64 = 100_000_000;

fn by_frontiers(history: &History, level: IsolationLevel, session_order: bool, options: &Options<'_>) -> Verdict {
    (options.stage)(Stage::Search);
    let Options { clock_drift, stop, .. } = *options;
    let settings =
        frontier::Settings { session_order, clock_drift, stop, budget: MOST_FRONTIERS, ..Default::default() };
    match frontier::decide(history, level, &settings) {
        frontier::Outcome::Order(order) => Verdict::Holds(Witness { order }),
        // The search knows that, and not why.
        frontier::Outcome::Violated => explained(by_polygraph(history, level, session_order, options), level),
        frontier::Outcome::Stopped => Verdict::Undecided(Reason::Stopped),
        frontier::Outcome::NoTimes => Verdict::Undecided(Reason::NoTimes),
    }
}

/// Decides a level that asks for an order of versions.
fn by_polygraph(history: &History, level: IsolationLevel, session_order: bool, options: &Options<'_>) -> Verdict {
    if !options.ablation.guess {
        return by_constraints(history, level, session_order, options);
    }
    if !session_order && history.sessions().len() < history.transaction_count() {
        // Sessions are seldom broken, and where they are not, they make the question easier.
        match guess(history, level, true, options) {
            Guessed::Order(order) => return Verdict::Holds(Witness { order }),
            Guessed::Stopped => return Verdict::Undecided(Reason::Stopped),
            Guessed::NotCausal(_) | Guessed::Violated(..) => {}
        }
    }
    match guess(history, level, session_order, options) {
        Guessed::Order(order) => Verdict::Holds(Witness { order }),
        Guessed::NotCausal(counterexample) => Verdict::Violated(counterexample),
        Guessed::Violated(question, core) => Verdict::Violated(question.explain(core, options)),
        Guessed::Stopped => Verdict::Undecided(Reason::Stopped),
    }
}

enum Guessed<'h> {
    /// The level holds by this order.
    Order(Vec<TxnId>),
    /// Not even causal holds.
    NotCausal(Counterexample),
    /// These transactions violate the level by themselves.
    Violated(Box<Question<'h>>, Vec<TxnId>),
    Stopped,
}

fn guess<'h>(history: &'h History, level: IsolationLevel, session_order: bool, options: &Options<'_>) -> Guessed<'h> {
    (options.stage)(Stage::Determine);
    let question = Question::new(history, level, session_order, options.clock_drift);
    let mut decided = question.if_determined();
    let mut likely = Vec::new();
    if decided.is_none() {
        (options.stage)(Stage::Guess);
        let Likely { order, is_recorded } = likely_order(history);
        if question.holds_by(&order) {
            return Guessed::Order(order.into_iter().map(TxnId).collect());
        }
        (options.stage)(Stage::Solve);
        // A recorded order is nearly right as a rule, and then what is wrong with it is soon found.
        decided = is_recorded.then(|| question.decide(&order, true, options));
        likely = order;
    }
    match decided {
        Some(polygraph::Outcome::Order(order)) => return Guessed::Order(order),
        Some(polygraph::Outcome::Stopped) => return Guessed::Stopped,
        Some(polygraph::Outcome::Violated(_)) | None => {}
    }
    // Every strong level implies causal, with or without session order as it has it; and where causal holds, it has an order that is
    // nearer to what is sought.
    let seed = match saturate(history, IsolationLevel::Causal, session_order, options) {
        Verdict::Violated(counterexample) => return Guessed::NotCausal(counterexample),
        Verdict::Holds(witness) => witness.order.into_iter().map(|txn| txn.0).collect(),
        Verdict::Undecided(_) => likely,
    };
    match decided.unwrap_or_else(|| question.decide(&seed, false, options)) {
        polygraph::Outcome::Order(order) => Guessed::Order(order),
        polygraph::Outcome::Violated(core) => Guessed::Violated(Box::new(question), core),
        polygraph::Outcome::Stopped => Guessed::Stopped,
    }
}

/// Decides such a level without guessing.
fn by_constraints(history: &History, level: IsolationLevel, session_order: bool, options: &Options<'_>) -> Verdict {
    (options.stage)(Stage::Constrain);
    let question = Question::new(history, level, session_order, options.clock_drift);
    match question.by_constraints(options) {
        polygraph::Answer::Order(order) => Verdict::Holds(Witness { order }),
        polygraph::Answer::Stopped => Verdict::Undecided(Reason::Stopped),
        polygraph::Answer::Violated => {
            let options = Options { ablation: Ablation::default(), counted: &|_, _| {}, ..*options };
            explained(by_polygraph(history, level, session_order, &options), level)
        }
    }
}

/// Evidence for what another way of deciding has found violated.
fn explained(verdict: Verdict, level: IsolationLevel) -> Verdict {
    match verdict {
        Verdict::Holds(_) => {
            panic!("two engines disagree on {level}: one found an order, the other that there is none")
        }
        verdict => verdict,
    }
}

/// The first read that is wrong by itself, at this level.
fn faulty_read(history: &History, level: IsolationLevel) -> Option<Counterexample> {
    let forbidden = |kind| kind != FaultKind::NonRepeatable || level != IsolationLevel::ReadCommitted;
    let fault = *history.derived().faults().iter().find(|fault| forbidden(fault.kind))?;
    Some(Counterexample { anomaly: Anomaly::of_fault(fault.kind), evidence: Evidence::Read(fault) })
}

fn saturate(history: &History, level: IsolationLevel, session_order: bool, options: &Options<'_>) -> Verdict {
    (options.stage)(Stage::Saturate);
    let mut saturated = saturation::decide(history, level, session_order, options.stop);
    match std::mem::replace(&mut saturated.outcome, Outcome::Stopped) {
        Outcome::Order(order) => Verdict::Holds(Witness { order: order.into_iter().map(TxnId).collect() }),
        Outcome::Stopped => Verdict::Undecided(Reason::Stopped),
        Outcome::TooLarge => Verdict::Undecided(Reason::TooLarge),
        outcome => {
            (options.stage)(Stage::Explain);
            Verdict::Violated(explain(history, level, &saturated, outcome))
        }
    }
}

fn explain(history: &History, level: IsolationLevel, saturated: &Saturated<'_>, outcome: Outcome) -> Counterexample {
    let edges = match outcome {
        Outcome::Cycle(cycle) => trace::cycle(saturated, level, &cycle),
        Outcome::StaleInitial(inferred) => trace::stale_initial(saturated, level, inferred),
        Outcome::Order(_) | Outcome::Stopped | Outcome::TooLarge => unreachable!("there is nothing to explain"),
    };
    let anomaly = name(history, &edges);
    Counterexample { anomaly, evidence: Evidence::Cycle(edges) }
}

/// The strongest claim that a cycle supports: the anomaly that the weakest level forbids.
fn name(history: &History, edges: &[crate::verdict::Edge]) -> Anomaly {
    let mut inferred = 0;
    let mut all_monotone_breaks = true;
    let mut all_direct = true;
    let mut through_read = false;
    for edge in edges {
        let Why::Overwritten { key, reader, ref seen } = edge.why else { continue };
        inferred += 1;
        all_direct &= seen.len() == 1;
        through_read |= seen.len() == 1 && seen[0].key.is_some();
        all_monotone_breaks &= seen.len() == 1 && trace::read_before(history, reader, seen[0].from, key, edge.to);
    }
    match inferred {
        0 if edges.iter().all(|edge| matches!(edge.why, Why::Version(_))) => Anomaly::DirtyWrite,
        0 => Anomaly::CyclicInformationFlow,
        _ if all_monotone_breaks => Anomaly::NonMonotonicRead,
        _ if all_direct && through_read => Anomaly::FracturedRead,
        _ if all_direct => Anomaly::SessionGuaranteeViolation,
        1 => Anomaly::CausalityViolation,
        _ => Anomaly::VersionOrderConflict,
    }
}
