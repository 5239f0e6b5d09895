//! What came of a run, for people and for programs.

use std::fmt::Write;

use isonomy::certify::certify;
use isonomy::{History, IsolationLevel, Terms, Verdict};
use isonomy_driver::faults::Injected;
use isonomy_driver::run::{End, Plan, Summary};
use isonomy_web::without_password;
use serde_json::{Value, json};

use super::Job;
use super::folder::Folder;
use crate::check::draw::weakest;
use crate::check::judge::Judged;
use crate::check::{json as lines, text};
use crate::ci::{Report, Subject};
use crate::exit::{Exit, Failure};
use crate::load::Loaded;
use crate::output::{Paint, count, grouped, time};

/// A run that has ended, with its verdicts.
pub(crate) struct Ran {
    pub(super) number: usize,
    pub(super) seed: u64,
    pub(super) plan: Plan,
    pub(super) folder: Folder,
    pub(super) summary: Summary,
    /// What was broken on purpose.
    pub(super) faults: Vec<Injected>,
    pub(super) loaded: Loaded,
    /// The levels asked for.
    pub(super) judged: Vec<Judged>,
    /// Others, to tell what the database does give.
    pub(super) others: Vec<Judged>,
}

impl Job<'_> {
    /// What is run and what is asked, for people.
    pub(super) fn introduction(&self) -> String {
        let name = self.urls.join(" and ");
        let database = match (self.demonstration, self.promised) {
            (true, Some(promised)) => format!("{name}, a simulated store that gives {promised} and nothing more"),
            (_, promised) => {
                let promise = match promised {
                    Some(level) => format!("which is to give {level}"),
                    None => "of which the documentation promises no level by name".into(),
                };
                format!("{name}, {} at {}, {promise}", self.product(), self.about.isolation)
            }
        };
        let question = match &self.asked[..] {
            [] => "which levels does it give".into(),
            [one] => format!("does it give {one}? ({}.)", one.summary()),
            several => format!("does it give {}", names(several)),
        };
        let mark = if self.asked.len() == 1 { "" } else { "?" };
        format!("The database: {database}.\nThe question: {question}{mark}\n\n")
    }

    /// `SQLite 3.51`.
    pub(super) fn product(&self) -> String {
        format!("{} {}", self.about.product, self.about.version)
    }
}

impl Ran {
    pub(super) fn is_violated(&self) -> bool {
        self.judged.iter().any(|judged| matches!(judged.verdict, Verdict::Violated(_)))
    }

    /// How the command ends on account of this run.
    pub(super) fn exit(&self) -> Exit {
        let verdicts = self.judged.iter().map(|judged| match judged.verdict {
            Verdict::Holds(_) => Exit::Fine,
            Verdict::Violated(_) => Exit::Violated,
            Verdict::Undecided(_) => Exit::Undecided,
        });
        // A database that is gone, or that commits nothing, has not been tested.
        let untested = matches!(self.summary.end, End::Disconnected(_)) || self.summary.committed == 0;
        verdicts.fold(if untested { Exit::CouldNotRun } else { Exit::Fine }, Exit::and)
    }

    /// What programs call the history.
    pub(super) fn name(&self, job: &Job<'_>) -> String {
        match self.folder.kept() {
            Some(_) => self.folder.history().display().to_string(),
            None => format!("{}?seed={}", job.urls.join(","), self.seed),
        }
    }

    /// For CI systems: the levels asked for. Only what is kept can be pointed at.
    pub(super) fn report(&self, job: &Job<'_>) -> Report {
        let name = format!("isonomy run {} seed {}", job.urls.join(" "), self.seed);
        let path = self.folder.kept().map(|_| self.folder.history());
        let subject = Subject {
            name: &name,
            class: &job.product(),
            path: path.as_deref(),
            history: &self.loaded.history,
            judged: &self.judged,
            took: self.summary.took,
            note: Some(&self.numbers()),
        };
        Report::of(&job.args.ci, &subject)
    }

    /// A line or two: what was run, how fast, and the verdicts in a word each.
    pub(super) fn told(&self, job: &Job<'_>, paint: Paint) -> String {
        let history = &self.loaded.history;
        let verdicts: Vec<String> = self
            .judged
            .iter()
            .map(|Judged { level, verdict, took, .. }| {
                format!("{level} {} ({})", paint.style(text::style(verdict), verdict.name()), time(*took))
            })
            .collect();
        let verdicts = if verdicts.is_empty() { String::new() } else { format!("; {}", verdicts.join(", ")) };
        let mut told = format!("Run {}, seed {}: ", self.number, self.seed);
        if job.demonstration {
            let _ = writeln!(
                told,
                "{} in {}, {}{verdicts}.",
                count(history.transaction_count(), "transaction"),
                count(history.sessions().len(), "session"),
                count(history.event_count(), "event"),
            );
            return told;
        }
        let _ = writeln!(told, "{}{verdicts}.", self.numbers());
        for (reason, times) in self.summary.reasons.iter().take(3) {
            let _ = writeln!(told, "  {} aborted: {reason}", grouped(*times as usize));
        }
        if !self.faults.is_empty() {
            let _ = writeln!(told, "  broken on purpose: {}", faults(&self.faults));
        }
        if let Some(why) = ended_early(&self.summary) {
            let _ = writeln!(told, "  {why}");
        }
        if let Some(kept) = self.folder.kept() {
            let _ = writeln!(told, "  kept in {}", kept.display());
        }
        told
    }

    /// How much was done, and how fast.
    pub(super) fn numbers(&self) -> String {
        let Summary { committed, aborted, indeterminate, took, latencies, .. } = &self.summary;
        let mut numbers = format!(
            "{} committed, {} aborted ({:.1} %)",
            grouped(*committed as usize),
            grouped(*aborted as usize),
            100.0 * self.summary.abort_rate()
        );
        if *indeterminate > 0 {
            let _ = write!(numbers, ", {} indeterminate", grouped(*indeterminate as usize));
        }
        let _ = write!(numbers, " in {}: {}/s", time(*took), grouped(self.summary.rate() as usize));
        if let (Some(half), Some(most)) = (latencies.percentile(0.5), latencies.percentile(0.99)) {
            let _ = write!(numbers, ", half within {}, 99 % within {}", time(half), time(most));
        }
        numbers
    }

    /// The verdicts, with the story of a violation.
    pub(super) fn verdicts(&self, job: &Job<'_>, paint: Paint) -> String {
        let history = &self.loaded.history;
        let mut told = String::from("\n");
        let shown = weakest(&self.judged);
        for Judged { level, verdict, .. } in &self.judged {
            let evidence = || format!("checked again by code of its own: {}", checked(history, *level, verdict));
            let _ = match verdict {
                Verdict::Violated(counterexample) => {
                    let _ = writeln!(told, "{level} is violated: {}", counterexample.anomaly);
                    // Stronger levels often fail by the same story.
                    if !shown.is_some_and(|shown| shown == counterexample) {
                        continue;
                    }
                    writeln!(told, "\n{}\nThe evidence, {}.", text::story(history, counterexample), evidence())
                }
                Verdict::Holds(_) => {
                    let _ = write!(told, "No run violated {level}. ");
                    writeln!(told, "The evidence for the last one, {}.", evidence())
                }
                Verdict::Undecided(reason) => writeln!(told, "{level} is undecided: {reason}."),
            };
        }
        if job.demonstration {
            for judged in &self.others {
                told += &promise(history, judged);
            }
            let never_promised = |judged: &Judged| job.promised.is_some_and(|level| !level.implies(judged.level));
            if let Some(Judged { level, .. }) = self.judged.iter().find(|judged| never_promised(judged))
                && self.is_violated()
            {
                let _ = writeln!(
                    told,
                    "\nThat is how it should end: the store never promised {level}, and isonomy found out. Exit code 1 \
                     says `violated`."
                );
            }
            return told;
        }
        if self.judged.is_empty() {
            told += &text::table(&self.name(job), &self.loaded, &self.others, paint);
        } else {
            let _ = writeln!(told, "you got: {}", self.got());
        }
        told
    }

    /// The strongest levels that hold, of all that were looked at.
    pub(super) fn got(&self) -> String {
        text::got(self.judged.iter().chain(&self.others))
    }

    /// For programs: the run, and then its verdicts.
    pub(super) fn json_lines(&self, job: &Job<'_>) -> String {
        let mut run = json!({ "run": self.number });
        merge(&mut run, setup(job, &self.plan));
        merge(&mut run, self.outcome());
        let name = self.name(job);
        let verdicts = |judged: &[Judged]| lines::lines(&name, &self.loaded, judged, None);
        format!("{run}\n{}{}", verdicts(&self.judged), verdicts(&self.others))
    }

    /// Writes the report into the folder of the run.
    pub(super) fn keep(&self, job: &Job<'_>) -> Result<(), Failure> {
        let mut report = setup(job, &self.plan);
        merge(&mut report, self.outcome());
        let verdicts = |judged: &[Judged]| -> Vec<Value> {
            let text = lines::lines("history.jsonl", &self.loaded, judged, None);
            text.lines().map(|line| serde_json::from_str(line).expect("it was just written")).collect()
        };
        merge(&mut report, json!({ "verdicts": verdicts(&self.judged), "others": verdicts(&self.others) }));
        self.folder.write("report.json", &format!("{report:#}\n"))?;
        let told = [job.introduction(), self.told(job, Paint::NONE), self.verdicts(job, Paint::NONE)];
        self.folder.write("report.txt", &told.concat())
    }

    fn outcome(&self) -> Value {
        let Summary { committed, aborted, indeterminate, reconnected, reasons, took, latencies, end } = &self.summary;
        let latency = |share| latencies.percentile(share).map(|latency| latency.as_secs_f64());
        let reasons: Vec<Value> =
            reasons.iter().map(|(reason, times)| json!({ "reason": reason, "times": times })).collect();
        json!({
            "committed": committed,
            "aborted": aborted,
            "faults": self.faults.iter().map(|one| json!({
                "fault": one.fault.name(),
                "node": one.node,
                "from": one.from.as_secs_f64(),
                "until": one.until.as_secs_f64(),
                "trouble": one.trouble,
            })).collect::<Vec<Value>>(),
            "indeterminate": indeterminate,
            "reconnected": reconnected,
            "abort_rate": self.summary.abort_rate(),
            "reasons": reasons,
            "seconds": took.as_secs_f64(),
            "commits_per_second": self.summary.rate(),
            "latency_seconds": { "p50": latency(0.5), "p90": latency(0.9), "p99": latency(0.99), "max": latency(1.0) },
            "end": match end {
                End::Complete => "complete",
                End::TimeIsUp => "time-is-up",
                End::Interrupted => "interrupted",
                End::TooManyAttempts => "too-many-attempts",
                End::Disconnected(_) => "disconnected",
            },
            "got": text::strongest(self.judged.iter().chain(&self.others)),
        })
    }
}

/// All that is known before a run: enough to run it again.
pub(super) fn setup(job: &Job<'_>, plan: &Plan) -> Value {
    let command: Vec<String> = std::env::args().map(|argument| quoted(&without_password(&argument))).collect();
    json!({
        "isonomy": env!("CARGO_PKG_VERSION"),
        "command": command.join(" "),
        "database": {
            "urls": job.urls,
            "product": job.about.product,
            "version": job.about.version,
            "isolation": job.about.isolation.name,
            "promises": job.about.isolation.promises,
        },
        "workload": job.args.workload.map(|preset| preset.name()),
        "keys": plan.workload.keys,
        "sessions": plan.sessions,
        "transactions": plan.transactions,
        "duration_seconds": plan.duration.map(|duration| duration.as_secs_f64()),
        "think_seconds": plan.think.as_secs_f64(),
        "delay_seconds": plan.delay.as_secs_f64(),
        "seed": plan.seed,
    })
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

/// As a shell would read it.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_string()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

/// Why there is less than was asked for.
fn ended_early(summary: &Summary) -> Option<String> {
    match &summary.end {
        End::Complete | End::TimeIsUp => None,
        End::Interrupted => Some("stopped: what was recorded until then is checked".into()),
        End::TooManyAttempts => {
            Some("stopped: nearly all attempts aborted; fewer --sessions or more --keys may help".into())
        }
        End::Disconnected(last) => Some(format!("stopped: the connection was lost and did not come back: {last}")),
    }
}

/// What came of the level that the simulated store promises.
fn promise(history: &History, Judged { level, verdict, .. }: &Judged) -> String {
    match verdict {
        Verdict::Holds(_) => format!(
            "What the store does promise, it kept: {level} holds for the same history ({}).\n",
            checked(history, *level, verdict)
        ),
        Verdict::Violated(counterexample) => format!(
            "The store broke its own promise, {level}. That is a bug in isonomy; please report it.\n{}\n",
            text::story(history, counterexample)
        ),
        Verdict::Undecided(reason) => format!("Whether the store kept {level} is undecided: {reason}.\n"),
    }
}

fn names(levels: &[IsolationLevel]) -> String {
    levels.iter().map(|level| level.name()).collect::<Vec<_>>().join(", ")
}

pub(super) fn checked(history: &History, level: IsolationLevel, verdict: &Verdict) -> String {
    match certify(history, level, Terms::default(), verdict) {
        Ok(()) => "certified".into(),
        Err(flaw) => format!("rejected, {flaw}"),
    }
}

/// `cut of node 0 at 1.2 s, kill of node 2 from 3.0 to 4.1 s`.
fn faults(injected: &[Injected]) -> String {
    let one = |one: &Injected| {
        let (from, until) = (one.from.as_secs_f64(), one.until.as_secs_f64());
        let trouble = one.trouble.as_ref().map_or(String::new(), |trouble| format!(" ({trouble})"));
        format!("{} of node {} from {from:.1} to {until:.1} s{trouble}", one.fault, one.node)
    };
    injected.iter().map(one).collect::<Vec<_>>().join(", ")
}
