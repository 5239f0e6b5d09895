//! `isonomy certify`: checks certificates again.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use isonomy::certify::certify;
use isonomy::report::{Certificate, CertificateError};
use isonomy::{History, Verdict};
use serde_json::json;

use crate::args::CertifyArgs;
use crate::exit::{Exit, Failure};
use crate::load::{self, Loader};
use crate::output::{Output, Style, Terminal};
use crate::progress::Progress;

pub(crate) fn run(args: &CertifyArgs, terminal: Terminal) -> Result<Exit, Failure> {
    if load::is_stdin(&args.history) && load::is_stdin(&args.file) {
        return Err(Failure::new("the history and its certificates cannot both be standard input"));
    }
    let progress = Progress::bytes(terminal.shows_progress(), load::total_size([args.history.as_path()]));
    let memory = load::available_memory();
    let loaded = Loader { format: args.format, memory, progress: progress.clone() }.load(&args.history);
    progress.end();
    let history = loaded?.history;

    let file = load::name(&args.file);
    let unreadable = |error: io::Error| Failure::new(format_args!("{file}: cannot be read: {error}"));
    let input: Box<dyn BufRead> = if load::is_stdin(&args.file) {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(&args.file).map_err(unreadable)?))
    };
    let mut out = Output::new();
    let mut exit = Exit::Fine;
    let mut certificates = 0;
    for (index, line) in input.lines().enumerate() {
        let line = line.map_err(unreadable)?;
        if line.trim().is_empty() {
            continue;
        }
        certificates += 1;
        let place = format!("{file}: line {}", index + 1);
        let certificate: Certificate = serde_json::from_str(&line).map_err(|error| {
            Failure::new(format_args!("{place}: expected a certificate of `isonomy check`, found {}", told(&error)))
        })?;
        match examine(&history, &certificate) {
            Ok(result) => {
                if result.flaw.is_some() {
                    exit = exit.and(Exit::Violated);
                }
                let text = if args.json {
                    format!("{}\n", result.json(&args.history.display().to_string(), index + 1))
                } else {
                    result.text(terminal)
                };
                out.print(&text)?;
            }
            Err(error) => {
                exit = exit.and(Exit::CouldNotRun);
                Failure::new(format_args!("{place}: {error}")).report(terminal.err);
            }
        }
    }
    if certificates == 0 {
        return Err(Failure::new(format_args!("{file}: expected certificates of `isonomy check`, found none")));
    }
    Ok(exit)
}

/// The parser's message without its place: each certificate is a line by itself.
fn told(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_string()
}

struct Outcome {
    level: String,
    /// What the certificate claims.
    claim: &'static str,
    anomaly: Option<&'static str>,
    flaw: Option<String>,
}

fn examine(history: &History, certificate: &Certificate) -> Result<Outcome, CertificateError> {
    let level = certificate.level.clone();
    match certificate.verdict(history) {
        Ok((known, verdict)) => {
            let anomaly = match &verdict {
                Verdict::Violated(counterexample) => Some(counterexample.anomaly.name()),
                _ => None,
            };
            let flaw = certify(history, known, certificate.terms(), &verdict).err();
            Ok(Outcome { level, claim: verdict.name(), anomaly, flaw: flaw.map(|flaw| flaw.to_string()) })
        }
        // It is for this history and yet speaks of what the history does not have: the evidence is at fault.
        Err(flaw @ CertificateError::Unknown(_)) => {
            use isonomy::report::CertificateEvidence::Witness;
            let claim = if matches!(certificate.evidence, Witness { .. }) { "holds" } else { "violated" };
            Ok(Outcome { level, claim, anomaly: None, flaw: Some(flaw.to_string()) })
        }
        Err(error) => Err(error),
    }
}

impl Outcome {
    fn text(&self, terminal: Terminal) -> String {
        let Outcome { level, claim, anomaly, flaw } = self;
        let anomaly = anomaly.map(|anomaly| format!(": {anomaly}")).unwrap_or_default();
        match flaw {
            None => format!("{}: {level} {claim}{anomaly}\n", terminal.out.style(Style::Good, "certified")),
            Some(flaw) => {
                format!("{}: {level} {claim}{anomaly}: {flaw}\n", terminal.out.style(Style::Bad, "rejected"))
            }
        }
    }

    fn json(&self, history: &str, line: usize) -> serde_json::Value {
        let mut value = json!({
            "history": history,
            "line": line,
            "level": self.level,
            "verdict": self.claim,
            "certified": self.flaw.is_none(),
        });
        if let Some(anomaly) = self.anomaly {
            value["anomaly"] = anomaly.into();
        }
        if let Some(flaw) = &self.flaw {
            value["flaw"] = flaw.as_str().into();
        }
        value
    }
}
