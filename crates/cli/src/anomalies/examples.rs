//! A small history for each anomaly: those of the corpus that are named after them, as part of the command.

use isonomy::AnomalyInfo;

/// Names and histories.
macro_rules! examples {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../corpus/", $name, ".hist")))),*]
    };
}

const EXAMPLES: &[(&str, &str)] = examples![
    "thin-air-read",
    "aborted-read",
    "intermediate-read",
    "future-read",
    "not-my-own-write",
    "not-my-last-write",
    "duplicate-element",
    "incompatible-order",
    "dirty-write",
    "cyclic-information-flow",
    "non-monotonic-read",
    "non-repeatable-read",
    "fractured-read",
    "session-guarantee-violation",
    "causality-violation",
    "version-order-conflict",
    "long-fork",
    "lost-update",
    "read-skew",
    "g-sib",
    "write-skew",
    "phantom",
    "serialization-cycle",
    "commit-order-inversion",
    "stale-snapshot",
    "real-time-violation",
];

/// The history that shows an anomaly.
pub(super) fn of(info: &AnomalyInfo) -> &'static str {
    let found = EXAMPLES.iter().find(|(name, _)| *name == info.name);
    found.expect("there is one of each").1
}

#[cfg(test)]
mod tests {
    use isonomy::ANOMALIES;

    #[test]
    fn every_anomaly_has_an_example() {
        assert!(ANOMALIES.iter().all(|info| !super::of(info).is_empty()));
        assert_eq!(super::EXAMPLES.len(), ANOMALIES.len());
    }
}
