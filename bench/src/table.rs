//! The table, in Markdown.

use std::fmt;
use std::time::Duration;

use crate::compare::Summary;
use crate::verdict::{Outcome, Verdict};

/// What the columns mean.
pub(crate) const LEGEND: &str = "\
Cells are `CPU seconds / peak MiB`, medians; CPU is user and system time of the whole process, reading the file included.
Ratios are the peer's number over ours, so above 1 we take less: `ratio text` and `memory ratio` for the same text file,
`ratio binary` for our binary file. `>` where the peer was stopped. `yes`: text, binary, the peer, and what is known by
construction agree; `alone`: the same, without a verdict of a peer.

";

const COLUMNS: [&str; 11] = [
    "input",
    "transactions",
    "events",
    "level",
    "ours text",
    "ours binary",
    "peer",
    "ratio text",
    "ratio binary",
    "memory ratio",
    "agree",
];

/// The first two lines.
pub(crate) fn header() -> String {
    let rule =
        COLUMNS.map(|column| if matches!(column, "input" | "level" | "peer" | "agree") { "---" } else { "---:" });
    format!("| {} |\n| {} |\n", COLUMNS.join(" | "), rule.join(" | "))
}

/// A history at a level, beside at most one peer.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) input: String,
    pub(crate) transactions: u64,
    pub(crate) events: u64,
    pub(crate) level: &'static str,
    /// What must come out, if it is known.
    pub(crate) expected: Option<Verdict>,
    /// The CPU time that each run may take.
    pub(crate) limit: Duration,
    pub(crate) text: Summary,
    pub(crate) binary: Summary,
    pub(crate) peer: Option<(String, Summary)>,
}

impl Row {
    /// Whether no verdicts differ and ours are there, or late. A peer may fail.
    pub(crate) fn is_good(&self) -> bool {
        !self.is_split() && !self.is_ours_failed()
    }

    /// What is wrong, for whoever watches; also where only the peer failed.
    pub(crate) fn trouble(&self) -> Option<String> {
        if self.is_split() || self.is_ours_failed() {
            return Some(self.agreement());
        }
        match &self.peer {
            Some((name, Summary { outcome: Outcome::Failed(why), .. })) => Some(format!("{name} failed: {why}")),
            _ => None,
        }
    }

    fn tools(&self) -> impl Iterator<Item = (&str, &Summary)> {
        let peer = self.peer.iter().map(|(name, summary)| (name.as_str(), summary));
        [("text", &self.text), ("binary", &self.binary)].into_iter().chain(peer)
    }

    /// Whether two verdicts differ, of whomever, in whichever run.
    fn is_split(&self) -> bool {
        let mut all = self.tools().flat_map(|(_, summary)| &summary.verdicts).chain(&self.expected);
        let first = all.next();
        all.any(|verdict| Some(verdict) != first)
    }

    fn is_ours_failed(&self) -> bool {
        [&self.text, &self.binary].iter().any(|summary| matches!(summary.outcome, Outcome::Failed(_)))
    }

    fn agreement(&self) -> String {
        if self.is_split() {
            let expected = self.expected.map(|verdict| format!("expected {verdict}"));
            let said = self.tools().map(|(name, summary)| {
                let mut verdicts: Vec<String> = summary.verdicts.iter().map(Verdict::to_string).collect();
                verdicts.dedup();
                format!("{name} {}", if verdicts.is_empty() { "–".to_owned() } else { verdicts.join(" then ") })
            });
            let said: Vec<String> = expected.into_iter().chain(said).collect();
            return format!("**NO: {}**", said.join(", "));
        }
        if self.is_ours_failed() {
            let failed = self.tools().take(2).find_map(|(name, summary)| match &summary.outcome {
                Outcome::Failed(why) => Some(format!("**NO VERDICT: {name}, {why}**")),
                _ => None,
            });
            return failed.expect("one of ours failed");
        }
        let ours = self.text.verdicts.first().or(self.binary.verdicts.first());
        let theirs = self.peer.as_ref().and_then(|(_, summary)| summary.verdicts.first());
        match (ours, theirs) {
            (Some(verdict), Some(_)) => format!("yes: {verdict}"),
            (Some(verdict), None) => format!("alone: {verdict}"),
            (None, Some(verdict)) => format!("peer alone: {verdict}"),
            (None, None) => "–".to_owned(),
        }
    }

    fn cell(&self, summary: &Summary) -> String {
        let memory = mebibytes(summary.peak_memory);
        match summary.outcome {
            Outcome::Decided(_) => format!("{} / {memory}", seconds(summary.cpu)),
            Outcome::TimedOut => format!("timeout {} s / {memory}", self.limit.as_secs()),
            Outcome::Failed(_) => format!("failed after {} / {memory}", seconds(summary.cpu)),
        }
    }

    /// The peer's number over ours; a bound if the peer was stopped.
    fn ratio(&self, ours: &Summary, number: impl Fn(&Summary) -> f64) -> String {
        let Some((_, theirs)) = &self.peer else { return "–".to_owned() };
        let stopped = match (&ours.outcome, &theirs.outcome) {
            (Outcome::Decided(_), Outcome::Decided(_)) => "",
            (Outcome::Decided(_), Outcome::TimedOut) => ">",
            _ => return "–".to_owned(),
        };
        let ratio = number(theirs) / number(ours);
        if ratio.is_finite() { format!("{stopped}{}", significant(ratio)) } else { "–".to_owned() }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpu = |summary: &Summary| summary.cpu.as_secs_f64();
        let memory = |summary: &Summary| summary.peak_memory as f64;
        let peer = self.peer.as_ref().map(|(name, summary)| format!("{name} {}", self.cell(summary)));
        let cells = [
            self.input.clone(),
            self.transactions.to_string(),
            self.events.to_string(),
            self.level.to_owned(),
            self.cell(&self.text),
            self.cell(&self.binary),
            peer.unwrap_or_else(|| "–".to_owned()),
            self.ratio(&self.text, cpu),
            self.ratio(&self.binary, cpu),
            self.ratio(&self.text, memory),
            self.agreement(),
        ];
        // What failed is quoted in cells, and a bar would end one.
        write!(f, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
    }
}

fn seconds(time: Duration) -> String {
    let time = time.as_secs_f64();
    // Milliseconds are as fine as such a measurement can be.
    if time < 1.0 { format!("{time:.3}") } else { significant(time) }
}

fn mebibytes(bytes: u64) -> String {
    significant(bytes as f64 / f64::from(1 << 20))
}

/// Three digits, or all before the point.
fn significant(number: f64) -> String {
    match number {
        0.0..9.995 => format!("{number:.2}"),
        9.995..99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(outcome: Outcome, milliseconds: u64, mebibytes: u64) -> Summary {
        Summary {
            verdicts: outcome.verdict().into_iter().collect(),
            outcome,
            cpu: Duration::from_millis(milliseconds),
            peak_memory: mebibytes << 20,
        }
    }

    fn row(text: Outcome, binary: Outcome, peer: Option<Outcome>) -> Row {
        Row {
            input: "a-10k".to_owned(),
            transactions: 10_000,
            events: 150_000,
            level: "causal",
            expected: None,
            limit: Duration::from_secs(180),
            text: summary(text, 40, 10),
            binary: summary(binary, 20, 8),
            peer: peer.map(|outcome| ("other".to_owned(), summary(outcome, 2_000, 105))),
        }
    }

    const HOLDS: Outcome = Outcome::Decided(Verdict::Holds);
    const VIOLATED: Outcome = Outcome::Decided(Verdict::Violated);

    #[test]
    fn a_row_has_sizes_medians_ratios_and_agreement() {
        let row = row(HOLDS, HOLDS, Some(HOLDS));
        assert_eq!(
            row.to_string(),
            "| a-10k | 10000 | 150000 | causal | 0.040 / 10.0 | 0.020 / 8.00 | other 2.00 / 105 | 50.0 | 100 | 10.5 | yes: holds |"
        );
        assert!(row.is_good() && row.trouble().is_none());
        assert_eq!(header().lines().next().map(|line| line.matches('|').count()), Some(12));
    }

    #[test]
    fn a_timeout_is_a_row() {
        let row = row(VIOLATED, VIOLATED, Some(Outcome::TimedOut));
        let text = row.to_string();
        assert!(text.contains("other timeout 180 s / 105 | >50.0 | >100 | >10.5 | alone: violated"), "{text}");
        assert!(row.is_good());
    }

    #[test]
    fn disagreement_is_loud() {
        for row in [row(HOLDS, HOLDS, Some(VIOLATED)), row(HOLDS, VIOLATED, None)] {
            assert!(!row.is_good() && row.to_string().contains("**NO: text holds, binary"), "{row}");
        }
        let unexpected = Row { expected: Some(Verdict::Violated), ..row(HOLDS, HOLDS, None) };
        assert!(!unexpected.is_good() && unexpected.trouble().unwrap().contains("expected violated, text holds"));
        let mut fickle = row(HOLDS, HOLDS, Some(HOLDS));
        fickle.text.verdicts = vec![Verdict::Holds, Verdict::Violated];
        assert!(!fickle.is_good() && fickle.to_string().contains("text holds then violated"), "{fickle}");
    }

    #[test]
    fn our_failures_are_loud_and_those_of_peers_are_told() {
        let failed = |why: &str| Outcome::Failed(why.to_owned());
        let ours = row(HOLDS, failed("signal 6: a|b"), Some(HOLDS));
        assert!(!ours.is_good() && ours.to_string().contains("**NO VERDICT: binary, signal 6: a\\|b**"), "{ours}");
        let theirs = row(HOLDS, HOLDS, Some(failed("exit code 7")));
        assert!(theirs.is_good() && theirs.trouble() == Some("other failed: exit code 7".to_owned()));
        assert!(theirs.to_string().contains("other failed after 2.00 / 105 | – | – | – | alone: holds"), "{theirs}");
    }
}
