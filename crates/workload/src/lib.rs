//! Workloads and simulated stores: a seed and a shape become transaction programs, and histories of a chosen level.
//!
//! [`Workload`] says which transactions there are and draws their [`Programs`], for whoever wants to run them against a
//! database. [`HistorySpec`] runs them against a simulated store instead, whose histories hold at its level by construction
//! and rarely at the next; and plants an [`Anomaly`] on request. [`SimulatedStore`] is that store for clients who come by themselves.
//! [`LightweightSpec`] makes histories of compare-and-sets. Everything follows from the seed: no file, clock or environment is read, and the
//! same specification gives the same bytes on every machine.
//!
//! ```
//! use isonomy_history::HistoryBuilder;
//! use isonomy_workload::{HistorySpec, Preset, StoreLevel};
//!
//! let spec = HistorySpec { transactions: 500, level: StoreLevel::Causal, seed: 7, ..Preset::PolySi.spec() };
//! let mut history = HistoryBuilder::new();
//! let summary = spec.generate(&mut history)?;
//! assert_eq!((summary.committed, summary.events), (500, 7500));
//! assert_eq!(history.finish()?.transaction_count(), 500);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod distribution;
mod generate;
mod knowledge;
mod lightweight;
mod math;
mod plant;
mod preset;
mod program;
mod rng;
mod simulate;

pub use distribution::{Distribution, InvalidDistribution, KeySampler};
pub use generate::{GenerateError, HistorySpec, Hooks, Placed, Planted, SpecError, Summary, TimeDetail};
pub use knowledge::Knowledge;
pub use lightweight::{LightweightSpec, LightweightSummary};
pub use plant::{Anomaly, UnknownAnomaly};
pub use preset::{Preset, UnknownPreset};
pub use program::{
    Application, InvalidLength, InvalidMix, Length, MiniMix, MiniShape, Operation, Programs, RangeMix, Shape, Workload,
    WorkloadError,
};
pub use rng::Rng;
pub use simulate::{Conflict, SimulatedClient, SimulatedStore, StoreLevel, UnknownStoreLevel};
