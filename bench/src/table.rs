//! The table, in Markdown.

use std::fmt;
use std::time::Duration;

use crate::compare::Summary;
use crate::replicated;
use crate::sets::{Order, Set, Study};
use crate::verdict::{Outcome, Verdict};

/// What the columns mean, and the first two lines.
pub(crate) fn heading(study: Study) -> String {
    let (legend, columns): (&str, &[&str]) = match study {
        Study::Comparison | Study::Lightweight => (COMPARISON, &COMPARISON_COLUMNS),
        Study::Rejection => (REJECTION, &REJECTION_COLUMNS),
        Study::Contention => (CONTENTION, &CONTENTION_COLUMNS),
        Study::Mini => (MINI, &MINI_COLUMNS),
        Study::Crdt => (replicated::LEGEND, &replicated::COLUMNS),
    };
    let rule = columns.iter().map(|column| if WORDS.contains(column) { "---" } else { "---:" });
    format!("{legend}| {} |\n| {} |\n", columns.join(" | "), rule.collect::<Vec<_>>().join(" | "))
}

const COMPARISON: &str = "\
Cells are `CPU seconds / peak MiB`, medians; CPU is user and system time of the whole process, reading the file included.
Ratios are the peer's number over ours, so above 1 we take less: `ratio text` and `memory ratio` for the same text file,
`ratio binary` for our binary file. `>` where the peer was stopped. `yes`: text, binary, the peer, and what is known by
construction agree; `alone`: the same, without a verdict of a peer. Text of histories of lists and registers is `jsonl`. In histories
`by-session` the order between sessions is lost; peers whose input never has it are measured once for both orders.

";

const COMPARISON_COLUMNS: [&str; 11] = [
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

const REJECTION: &str = "\
Cells are `CPU seconds / peak MiB`, medians, of `isonomy` on the binary file, reading it included. `accepted` is the history
without the anomaly, `rejected` the one with it; `ratio` is rejection over acceptance, and `ratio check` that of checking alone, in
wall time. `agree` is as in comparisons: text, binary, and what is known by construction.

";

const REJECTION_COLUMNS: [&str; 9] =
    ["input", "transactions", "order", "level", "accepted", "rejected", "ratio", "ratio check", "agree"];

const CONTENTION: &str = "\
Workload a, of which one parameter changes; session by session. Cells are `CPU seconds / peak MiB`, medians, of `isonomy` on the binary
file, reading it included. `check` is the wall time of checking alone, and `stages` what it consists of.

";

const CONTENTION_COLUMNS: [&str; 8] =
    ["parameter", "value", "transactions", "level", "ours binary", "check", "stages", "agree"];

const MINI: &str = "\
Cells are `CPU seconds / peak MiB`, medians, of `isonomy` on the binary file, reading it included; `check` is the wall time of
checking alone. `variant` is ourselves in another way: `frontier` is `--engine frontier`, `no-guess` is `--no-guess`, and `no-inference`
is that with `--no-rmw-inference`, which makes a constraint for each two writers of a key. Ratios are the variant's number over the usual
one, of CPU time, of checking alone, and of memory. `agree` is as in comparisons: both ways, and what is known by construction.

";

const MINI_COLUMNS: [&str; 11] = [
    "input",
    "transactions",
    "events",
    "level",
    "ours binary",
    "check",
    "variant",
    "ratio",
    "ratio check",
    "memory ratio",
    "agree",
];

/// Columns of words rather than numbers.
const WORDS: [&str; 9] = ["input", "level", "peer", "variant", "agree", "order", "parameter", "stages", "verdicts"];

/// What became of a peer or variant, and its name.
pub(crate) type RivalResult = (String, Summary);

/// A history at a level, beside at most one rival: a peer, or a variant of ours.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) set: Set,
    pub(crate) transactions: u64,
    pub(crate) events: u64,
    pub(crate) level: &'static str,
    /// What must come out, if it is known.
    pub(crate) expected: Option<Verdict>,
    /// The CPU time that each run may take.
    pub(crate) limit: Duration,
    /// Of our run on the text file, if there is one.
    pub(crate) text: Option<Summary>,
    pub(crate) binary: Summary,
    pub(crate) rival: Option<RivalResult>,
}

impl Row {
    /// Whether no verdicts differ and ours are there, or late. A rival may fail.
    pub(crate) fn is_good(&self) -> bool {
        !self.is_split() && !self.is_ours_failed()
    }

    /// What is wrong, for whoever watches; also where only the rival failed.
    pub(crate) fn trouble(&self) -> Option<String> {
        if self.is_split() || self.is_ours_failed() {
            return Some(self.agreement());
        }
        match &self.rival {
            Some((name, Summary { outcome: Outcome::Failed(why), .. })) => Some(format!("{name} failed: {why}")),
            _ => None,
        }
    }

    fn ours(&self) -> impl Iterator<Item = (&str, &Summary)> {
        self.text.iter().map(|text| ("text", text)).chain([("binary", &self.binary)])
    }

    fn tools(&self) -> impl Iterator<Item = (&str, &Summary)> {
        self.ours().chain(self.rival.iter().map(|(name, summary)| (name.as_str(), summary)))
    }

    /// Whether two verdicts differ, of whomever, in whichever run.
    fn is_split(&self) -> bool {
        let mut all = self.tools().flat_map(|(_, summary)| &summary.verdicts).chain(&self.expected);
        let first = all.next();
        all.any(|verdict| Some(verdict) != first)
    }

    fn is_ours_failed(&self) -> bool {
        self.ours().any(|(_, summary)| matches!(summary.outcome, Outcome::Failed(_)))
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
            let failed = self.ours().find_map(|(name, summary)| match &summary.outcome {
                Outcome::Failed(why) => Some(format!("**NO VERDICT: {name}, {why}**")),
                _ => None,
            });
            return failed.expect("one of ours failed");
        }
        let ours = self.ours().find_map(|(_, summary)| summary.verdicts.first());
        let theirs = self.rival.as_ref().and_then(|(_, summary)| summary.verdicts.first());
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
            Outcome::Skipped(ref why) => format!("not run: {why}"),
        }
    }

    /// The rival's number over ours; a bound if the rival was stopped.
    fn ratio(&self, ours: Option<&Summary>, number: impl Fn(&Summary) -> f64) -> String {
        let (Some(ours), Some((_, theirs))) = (ours, &self.rival) else { return "–".to_owned() };
        let stopped = match (&ours.outcome, &theirs.outcome) {
            (Outcome::Decided(_), Outcome::Decided(_)) => "",
            (Outcome::Decided(_), Outcome::TimedOut) => ">",
            _ => return "–".to_owned(),
        };
        let ratio = number(theirs) / number(ours);
        if ratio.is_finite() { format!("{stopped}{}", significant(ratio)) } else { "–".to_owned() }
    }

    /// The line of a study; that of rejection needs the history without the anomaly.
    pub(crate) fn line(&self, study: Study, accepted: Option<&Row>) -> String {
        let cells = match study {
            // Replicated data types have rows of their own.
            Study::Comparison | Study::Lightweight | Study::Crdt => return self.to_string(),
            Study::Rejection => self.rejection(accepted),
            Study::Contention => self.contention(),
            Study::Mini => self.mini(),
        };
        line(cells)
    }

    fn rejection(&self, accepted: Option<&Row>) -> Vec<String> {
        let ratio = |number: &dyn Fn(&Summary) -> Option<f64>| {
            let ratio = accepted.and_then(|accepted| Some(number(&self.binary)? / number(&accepted.binary)?));
            ratio.filter(|ratio| ratio.is_finite()).map_or_else(|| "–".to_owned(), significant)
        };
        let decided = |summary: &Summary| matches!(summary.outcome, Outcome::Decided(_));
        vec![
            self.set.name.clone(),
            self.transactions.to_string(),
            self.order().to_owned(),
            self.level.to_owned(),
            accepted.map_or_else(|| "–".to_owned(), |accepted| accepted.cell(&accepted.binary)),
            self.cell(&self.binary),
            ratio(&|summary| decided(summary).then_some(summary.cpu.as_secs_f64())),
            ratio(&|summary| decided(summary).then(|| checking(summary)).flatten()),
            self.agreement(),
        ]
    }

    fn contention(&self) -> Vec<String> {
        let (parameter, value) = self.set.point.clone().unwrap_or_default();
        let stats = self.binary.stats.as_ref();
        let stages = stats.and_then(|stats| stats["stages"].as_object()).into_iter().flatten();
        // What takes less than a millisecond explains nothing.
        let stages = stages.filter_map(|(name, time)| Some((name, time.as_f64().filter(|&time| time >= 0.001)?)));
        vec![
            parameter.to_owned(),
            value,
            self.transactions.to_string(),
            self.level.to_owned(),
            self.cell(&self.binary),
            checking(&self.binary).map_or_else(|| "–".to_owned(), |time| format!("{time:.3}")),
            stages.map(|(name, time)| format!("{name} {time:.3}")).collect::<Vec<_>>().join(", "),
            self.agreement(),
        ]
    }

    fn mini(&self) -> Vec<String> {
        let binary = Some(&self.binary);
        vec![
            self.set.name.clone(),
            self.transactions.to_string(),
            self.events.to_string(),
            self.level.to_owned(),
            self.cell(&self.binary),
            checking(&self.binary).map_or_else(|| "–".to_owned(), |time| format!("{time:.3}")),
            self.rival(),
            self.ratio(binary, cpu),
            // Who was stopped did not say how long checking took.
            self.ratio(binary, |summary| checking(summary).unwrap_or(f64::NAN)),
            self.ratio(binary, memory),
            self.agreement(),
        ]
    }

    fn rival(&self) -> String {
        let cell = self.rival.as_ref().map(|(name, summary)| format!("{name} {}", self.cell(summary)));
        cell.unwrap_or_else(|| "–".to_owned())
    }

    fn order(&self) -> &'static str {
        match self.set.order {
            Order::Recorded => "recorded",
            Order::BySession => "by session",
        }
    }
}

fn cpu(summary: &Summary) -> f64 {
    summary.cpu.as_secs_f64()
}

fn memory(summary: &Summary) -> f64 {
    summary.peak_memory as f64
}

/// The seconds that checking took, as `isonomy` says.
fn checking(summary: &Summary) -> Option<f64> {
    summary.stats.as_ref()?["seconds"].as_f64()
}

fn line(cells: Vec<String>) -> String {
    // What failed is quoted in cells, and a bar would end one.
    let cells: Vec<String> = cells.into_iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |", cells.join(" | "))
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.as_ref();
        f.write_str(&line(vec![
            self.set.name.clone(),
            self.transactions.to_string(),
            self.events.to_string(),
            self.level.to_owned(),
            text.map_or_else(|| "–".to_owned(), |text| self.cell(text)),
            self.cell(&self.binary),
            self.rival(),
            self.ratio(text, cpu),
            self.ratio(Some(&self.binary), cpu),
            self.ratio(text, memory),
            self.agreement(),
        ]))
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
            stats: Some(serde_json::json!({"seconds": 0.01, "stages": {"guess": 0.009, "reads": 0.000_1}})),
        }
    }

    fn row(text: Outcome, binary: Outcome, rival: Option<Outcome>) -> Row {
        Row {
            set: Set::named("a-10k").unwrap(),
            transactions: 10_000,
            events: 150_000,
            level: "causal",
            expected: None,
            limit: Duration::from_secs(180),
            text: Some(summary(text, 40, 10)),
            binary: summary(binary, 20, 8),
            rival: rival.map(|outcome| ("other".to_owned(), summary(outcome, 2_000, 105))),
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
    }

    #[test]
    fn lines_have_the_columns_of_their_study() {
        let rejected = Row { set: Set::named("a-10k-si-g-sib-by-session").unwrap(), ..row(VIOLATED, VIOLATED, None) };
        let accepted = row(HOLDS, HOLDS, None);
        let point = Row { set: Set::named("a-20k-keys-100-by-session").unwrap(), ..row(HOLDS, HOLDS, None) };
        assert_eq!(
            rejected.line(Study::Rejection, Some(&accepted)),
            "| a-10k-si-g-sib-by-session | 10000 | by session | causal | 0.020 / 8.00 | 0.020 / 8.00 | 1.00 | 1.00 | alone: violated |"
        );
        assert!(rejected.line(Study::Rejection, None).contains("| – | 0.020 / 8.00 | – | – |"));
        assert_eq!(
            point.line(Study::Contention, None),
            "| keys | 100 | 10000 | causal | 0.020 / 8.00 | 0.010 | guess 0.009 | alone: holds |"
        );
        let variant = Row { text: None, ..row(HOLDS, HOLDS, Some(HOLDS)) };
        assert_eq!(
            variant.line(Study::Mini, None),
            "| a-10k | 10000 | 150000 | causal | 0.020 / 8.00 | 0.010 | other 2.00 / 105 | 100 | 1.00 | 13.1 | yes: holds |"
        );
        for (study, row) in [
            (Study::Comparison, &accepted),
            (Study::Rejection, &rejected),
            (Study::Contention, &point),
            (Study::Mini, &variant),
        ] {
            let heading = heading(study);
            let [.., names, rule] = heading.lines().collect::<Vec<_>>()[..] else { panic!("{heading}") };
            for line in [rule, &row.line(study, Some(&accepted))] {
                assert_eq!(line.matches('|').count(), names.matches('|').count(), "{heading}{line}");
            }
        }
    }

    #[test]
    fn a_peer_that_was_not_asked_is_told() {
        let row = row(HOLDS, HOLDS, Some(Outcome::Skipped("stopped at a-1k".to_owned())));
        assert!(row.to_string().contains("| other not run: stopped at a-1k | – | – | – | alone: holds |"), "{row}");
        assert!(row.is_good() && row.trouble().is_none());
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
        fickle.text.as_mut().unwrap().verdicts = vec![Verdict::Holds, Verdict::Violated];
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
