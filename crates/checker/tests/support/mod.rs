//! What tests of the checker share: a short notation, every small history, random ones and hard ones, and the definition of the strong
//! levels for an order that is given.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub(crate) mod enumerate;
pub(crate) mod graph;
pub(crate) mod hardness;
pub(crate) mod notation;
pub(crate) mod random;
pub(crate) mod replay;

use isonomy_history::{History, Outcome};

use enumerate::{Bound, Sources, for_each_history, session_shapes};
use random::{Shape, random_history};

/// Every history that the exhaustive tests look at: up to four transactions, two keys and six events. Returns how many
/// there were.
pub(crate) fn for_each_small_history(mut visit: impl FnMut(&History)) -> usize {
    let all = [Outcome::Committed, Outcome::Aborted, Outcome::Indeterminate];
    let mut count = 0;
    let mut run = |bound: Bound<'_>| count += for_each_history(&bound, &mut visit);
    for transactions in 1..=4 {
        for sessions in session_shapes(transactions) {
            // Faulty reads of every kind, then larger ones without, then all outcomes, then all overlaps in time.
            run(Bound::new(&sessions, 5, 2, Sources::All));
            if sessions.len() > 1 {
                run(Bound::new(&sessions, 6, 2, Sources::Consistent));
            }
            run(Bound { outcomes: &all, ..Bound::new(&sessions, 4, 2, Sources::All) });
            if transactions <= 3 {
                run(Bound { timed: true, ..Bound::new(&sessions, 4, 2, Sources::Consistent) });
            }
        }
    }
    count
}

/// How many random histories of each shape the tests look at.
pub(crate) const SEEDS: u64 = 10_000;

/// Calls with each history and what to call it in a message.
pub(crate) fn for_each_random_history(mut visit: impl FnMut(&History, &str)) {
    for (which, shape) in [Shape::MIXED, Shape::PLAIN, Shape::LISTS, Shape::SINGLE_OBJECT].iter().enumerate() {
        for seed in 0..SEEDS {
            visit(&random_history(shape, seed), &format!("shape {which}, seed {seed}"));
        }
    }
}

/// A history in the notation of `hist`.
pub(crate) fn shown(history: &History) -> String {
    let mut text = Vec::new();
    let written = isonomy_history::formats::write(history, isonomy_history::formats::Format::Hist, &mut text);
    written.expect("hist can be written").expect("a vector takes all");
    String::from_utf8(text).expect("hist is text")
}
