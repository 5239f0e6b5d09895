//! Draws counterexamples: a lane for each session, a box for each transaction, an arrow for each dependency.
//!
//! ```
//! use isonomy_checker::{IsolationLevel, Options, Verdict, check};
//! use isonomy_draw::Drawing;
//! use isonomy_history::HistoryBuilder;
//!
//! let mut history = HistoryBuilder::new();
//! history.transaction("alice").read("x", None::<i64>).write("x", 1).commit();
//! history.transaction("bob").read("x", None::<i64>).write("x", 2).commit();
//! let history = history.finish()?;
//!
//! let verdict = check(&history, IsolationLevel::SnapshotIsolation, &Options::default());
//! let Verdict::Violated(counterexample) = verdict else { panic!("one of the updates is lost") };
//! let drawing = Drawing::new(&history, &counterexample);
//! assert!(drawing.svg().starts_with("<svg ") && drawing.dot().starts_with("digraph "));
//! # Ok::<(), isonomy_history::HistoryError>(())
//! ```
//!
//! [`Drawing`] is data; the SVG is complete in itself, without scripts or fonts of its own, and follows the reader's choice of light or
//! dark. The same counterexample always gives the same bytes.

mod clock;
mod columns;
mod dot;
mod draft;
mod gallery;
mod gather;
mod geometry;
mod kind;
mod layout;
mod model;
mod page;
mod paint;
mod replicas;
mod route;
mod svg;
mod text;

pub use gallery::gallery;
pub use model::Drawing;
pub use page::{Exhibit, Page, Section, VerdictRow};
pub use replicas::{ReplicasItem, replicas_page, replicas_svg};
