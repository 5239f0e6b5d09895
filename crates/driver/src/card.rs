//! Anomaly cards: the classic scenarios of isolation, played step by step in a fixed interleaving.
//!
//! Each [`Scenario`] is a short play of two to four sessions in which some anomaly shows, unless the database prevents it: by making somebody
//! wait, by aborting somebody, or by answering from a snapshot. [`play`] gives every session a thread of its own, sends one step at a time, and notes
//! each answer and who had to wait. What comes out is a transcript and a history. Whether the anomaly showed is for a checker to say: it did iff the
//! history violates the level that rules it out.
//!
//! The scenarios are those of Martin Kleppmann's Hermitage (2014), which people have typed into two terminals since; and a few more.

mod play;
mod scenarios;

pub use play::{Answer, Played, PlayedStep, play};
pub use scenarios::{SCENARIOS, Scenario, Step};
