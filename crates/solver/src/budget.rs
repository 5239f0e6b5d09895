//! How long a search may take, in units that are the same on every machine.

/// How much work may be spent, and who may stop it before.
///
/// A unit is about one step of the search: a literal assigned, a node visited, a choice looked at, a conflict. So the same
/// calls with the same budget end at the same place everywhere. A limit by the clock is the caller's: it comes in as a
/// signal that is asked every few thousand units.
pub struct Budget<'a> {
    remaining: u64,
    spent: u64,
    next_question: u64,
    stop: Option<&'a dyn Fn() -> bool>,
    stopped: bool,
}

/// Units between two questions to the signal: well below a millisecond of work.
const BETWEEN_QUESTIONS: u64 = 4096;

impl<'a> Budget<'a> {
    /// So many units.
    pub fn new(units: u64) -> Self {
        Budget { remaining: units, spent: 0, next_question: 0, stop: None, stopped: false }
    }

    /// As long as it takes.
    pub fn unlimited() -> Self {
        Budget::new(u64::MAX)
    }

    /// Ends also when `stop` returns true.
    #[must_use]
    pub fn with_stop(self, stop: &'a dyn Fn() -> bool) -> Self {
        Budget { stop: Some(stop), ..self }
    }

    /// Units left.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Units spent.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// Takes units away; false when there are none left, or the signal says stop.
    pub fn spend(&mut self, units: u64) -> bool {
        self.spent += units;
        self.remaining = self.remaining.saturating_sub(units);
        if self.spent >= self.next_question {
            self.next_question = self.spent + BETWEEN_QUESTIONS;
            self.stopped = self.stopped || self.stop.is_some_and(|stop| stop());
        }
        self.remaining > 0 && !self.stopped
    }
}

impl std::fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget").field("remaining", &self.remaining).field("spent", &self.spent).finish_non_exhaustive()
    }
}
