//! What is known of a level: its verdict, and what it took to find out.

use isonomy::IsolationLevel;
use serde_json::Value;

/// What is known of a level.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Told {
    pub(crate) level: String,
    pub(crate) verdict: String,
    pub(crate) anomaly: Option<String>,
    /// Why it is undecided.
    pub(crate) reason: Option<String>,
    pub(crate) seconds: Option<f64>,
    /// What the stages took, in seconds.
    pub(crate) stages: Vec<(String, f64)>,
    /// How many constraints there were, before and after pruning. Most checks never make them.
    pub(crate) constraints: Option<(u64, Option<u64>)>,
}

impl Told {
    /// From a line of `check --json`, or an element of a report.
    pub(crate) fn from_json(line: &Value) -> Option<Self> {
        let text = |name: &str| line[name].as_str().map(str::to_owned);
        let stats = &line["stats"];
        let stages = stats["stages"].as_object().into_iter().flatten();
        let counts = &stats["counts"];
        Some(Told {
            level: text("level")?,
            verdict: text("verdict")?,
            anomaly: text("anomaly"),
            reason: text("reason"),
            seconds: stats["seconds"].as_f64(),
            stages: stages.filter_map(|(name, took)| Some((name.clone(), took.as_f64()?))).collect(),
            constraints: counts["constraints"]
                .as_u64()
                .map(|before| (before, counts["constraints_after_pruning"].as_u64())),
        })
    }

    pub(crate) fn is_violated(&self) -> bool {
        self.verdict == "violated"
    }

    /// Where its level comes among all: weaker ones first, those that we do not know last.
    pub(crate) fn place(&self) -> usize {
        let level = self.known();
        IsolationLevel::ALL.into_iter().position(|other| Some(other) == level).unwrap_or(usize::MAX)
    }

    /// The level, if we know it.
    pub(crate) fn known(&self) -> Option<IsolationLevel> {
        self.level.parse().ok()
    }
}

/// The level whose counterexample the command shows: the first that is violated and implies no other one that is.
pub(crate) fn weakest(told: &[Told]) -> Option<IsolationLevel> {
    let violated = || told.iter().filter(|told| told.is_violated()).filter_map(Told::known);
    violated().find(|level| !violated().any(|other| other != *level && level.implies(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let line = r#"{"level":"causal","verdict":"violated","anomaly":"long-fork","stats":{"seconds":0.5,
                       "stages":{"guess":0.2},"counts":{"constraints":9}}}"#;
        let told = Told::from_json(&serde_json::from_str(line).unwrap()).unwrap();
        assert!(told.is_violated() && told.known() == Some(IsolationLevel::Causal));
        assert_eq!((told.seconds, told.constraints), (Some(0.5), Some((9, None))));
        assert_eq!(told.stages, [("guess".to_owned(), 0.2)]);
        assert_eq!(Told::from_json(&serde_json::json!({ "run": 1 })), None);
    }

    #[test]
    fn the_weakest_is_shown() {
        let told =
            |level: &str, verdict: &str| Told { level: level.into(), verdict: verdict.into(), ..Told::default() };
        let all = [told("serializable", "violated"), told("causal", "violated"), told("read-atomic", "holds")];
        assert_eq!(weakest(&all), Some(IsolationLevel::Causal));
        assert_eq!(weakest(&all[2..]), None);
    }
}
