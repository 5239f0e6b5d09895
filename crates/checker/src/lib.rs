//! Decides which isolation levels a history satisfies, and returns evidence.

mod level;

pub use level::{IsolationLevel, UnknownLevel};
