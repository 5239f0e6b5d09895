//! `isonomy check`: which levels do histories satisfy?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use isonomy::patterns::all_anomalies;
use isonomy::{IsolationLevel, Reason, Section, Terms, Verdict, report::Certificate};

use crate::args::CheckArgs;
use crate::ci::{Report, Subject};
use crate::exit::{Exit, Failure};
use crate::files::{Problem, Target};
use crate::levels;
use crate::load::{self, Loaded, Loader};
use crate::output::{Output, Paint, Terminal};
use crate::progress::Progress;
use crate::values::chosen;

pub(crate) mod draw;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod judge;
pub(crate) mod patterns;
pub(crate) mod text;

use judge::{Judged, Settings, judge};

pub(crate) fn run(args: &CheckArgs, terminal: Terminal) -> Result<Exit, Failure> {
    validate(args)?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or(cores, usize::from).min(args.histories.len());
    let total = load::total_size(args.histories.iter().map(PathBuf::as_path));
    let progress = Progress::bytes(terminal.shows_progress(), total);
    let memory = args.memory.or_else(load::available_memory).map(|bytes| bytes / threads);
    let cancelled = AtomicBool::new(false);
    let task = Task {
        args,
        asked: (!args.level.is_empty()).then(|| chosen(&args.level)),
        settings: Settings {
            terms: Terms {
                session_order: !args.no_session_order,
                clock_drift: i64::try_from(args.clock_drift.as_nanos()).unwrap_or(i64::MAX),
            },
            engine: args.engine,
            ablation: args.ablation.into(),
            timeout: args.timeout,
            cancelled: &cancelled,
        },
        loader: Loader { format: args.format, memory, progress: progress.clone() },
        paint: terminal.out,
    };

    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..threads {
            let (send, next, task) = (send.clone(), &next, &task);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = task.args.histories.get(index) else { break };
                    if send.send((index, task.examine(path))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        // Results are told in the order in which the histories were given.
        let mut out = Output::new();
        let mut exit = Exit::Fine;
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        let mut sections = Vec::new();
        let mut found = Report::default();
        for (index, examined) in receive {
            waiting.insert(index, examined);
            while let Some(examined) = waiting.remove(&due) {
                due += 1;
                exit = exit.and(examined.exit);
                sections.extend(examined.section);
                let told = progress.suspended(|| {
                    let told = out.print(&examined.text).and_then(|()| out.print(&examined.report.commands));
                    examined.notes.iter().for_each(|note| terminal.note(note));
                    examined.failures.iter().for_each(|failure| failure.report(terminal.err));
                    told
                });
                if told.is_err() {
                    cancelled.store(true, Ordering::Relaxed);
                    progress.end();
                }
                told?;
                found.extend(examined.report);
            }
        }
        progress.end();
        if let Some(path) = &args.html {
            html::write(path, sections)?;
        }
        found.write(&args.ci)?;
        Ok(exit)
    })
}

fn validate(args: &CheckArgs) -> Result<(), Failure> {
    let files =
        [("--certificate", &args.certificate), ("--svg", &args.svg), ("--dot", &args.dot), ("--html", &args.html)];
    for (option, path) in files {
        let Some(path) = path else { continue };
        if args.histories.len() > 1 && option != "--html" {
            return Err(Failure::new(format_args!("{option} takes one history; check the others by themselves")));
        }
        if load::is_stdin(path) {
            return Err(Failure::new(format_args!("{option} needs a file: the answers are on standard output")));
        }
    }
    for (option, path) in args.ci.files() {
        if path.is_some_and(load::is_stdin) {
            return Err(Failure::new(format_args!("{option} needs a file: the answers are on standard output")));
        }
    }
    if args.histories.iter().filter(|path| load::is_stdin(path)).count() > 1 {
        return Err(Failure::new("standard input can be read only once: `-` is given several times"));
    }
    Ok(())
}

/// Levels in an order that spares work: one that holds answers for those it implies, and one that is violated for those that imply it, so
/// those in the middle come first.
pub(crate) fn in_halves(levels: &[IsolationLevel]) -> Vec<IsolationLevel> {
    let mut left = levels.to_vec();
    left.dedup();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let spared = |level: IsolationLevel| {
            let others = left.iter().filter(|&&other| other != level);
            let (weaker, stronger) = others.fold((0, 0), |(weaker, stronger), &other| {
                (weaker + usize::from(level.implies(other)), stronger + usize::from(other.implies(level)))
            });
            (weaker.min(stronger), weaker + stronger)
        };
        let (at, _) = left.iter().enumerate().rev().max_by_key(|(_, level)| spared(**level)).expect("it is not empty");
        order.push(left.remove(at));
    }
    order
}

/// What is to be done with each history.
struct Task<'a> {
    args: &'a CheckArgs,
    /// The levels asked for by name.
    asked: Option<Vec<IsolationLevel>>,
    settings: Settings<'a>,
    loader: Loader,
    paint: Paint,
}

/// What came of one history.
struct Examined {
    text: String,
    /// What is told beside, on standard error.
    notes: Vec<String>,
    failures: Vec<Failure>,
    /// For CI systems.
    report: Report,
    exit: Exit,
    /// Its part of the page, if there is to be one.
    section: Option<Section>,
}

impl Task<'_> {
    fn examine(&self, path: &Path) -> Examined {
        let loaded = match self.loader.load(path) {
            Ok(loaded) => loaded,
            Err(failure) => {
                let report = Report::unreadable(&self.args.ci, path, &failure);
                let section = self.args.html.as_ref().map(|_| html::unreadable(&load::name(path), &failure));
                let (exit, failures) = (Exit::CouldNotRun, vec![failure]);
                return Examined { text: String::new(), notes: Vec::new(), failures, report, exit, section };
            }
        };
        let history = &loaded.history;
        let levels = self.asked.clone().unwrap_or_else(|| levels::by_default(history));
        let mut judged: Vec<Judged> = Vec::new();
        for level in in_halves(&levels) {
            self.loader.progress.doing(format!("checking {level}"));
            judged.push(judge(history, level, &self.settings, &judged));
        }
        judged.sort_by_key(|judged| levels.iter().position(|&level| level == judged.level));
        let mut exit = judged.iter().fold(Exit::Fine, |exit, judged| exit.and(self.exit_of(&judged.verdict)));
        let patterns =
            self.args.all_anomalies.then(|| all_anomalies(history, self.settings.terms.session_order, self.args.max));
        let name = load::name(path);
        let text = if self.args.json {
            json::lines(&path.display().to_string(), &loaded, &judged, patterns.as_ref())
        } else {
            let mut text = match &self.asked {
                Some(_) => text::lines(&name, history, &judged, self.paint),
                None => text::table(&name, &loaded, &judged, self.paint),
            };
            if let Some(patterns) = &patterns {
                text += &patterns::table(history, patterns, self.paint);
            }
            text
        };
        let mut notes: Vec<String> = loaded.note.iter().cloned().collect();
        let certificate = self.certificate(&loaded, &judged);
        let drawings = draw::write(self.args, history, &judged, &mut notes);
        let failures: Vec<Failure> = [certificate, drawings].into_iter().filter_map(Result::err).collect();
        if !failures.is_empty() {
            exit = exit.and(Exit::CouldNotRun);
        }
        let section = self.args.html.as_ref().map(|_| html::section(&name, history, &judged, self.asked.is_some()));
        let report = self.report(path, &name, &loaded, &judged);
        Examined { text, notes, failures, report, exit, section }
    }

    fn exit_of(&self, verdict: &Verdict) -> Exit {
        match verdict {
            Verdict::Holds(_) => Exit::Fine,
            Verdict::Violated(_) => Exit::Violated,
            Verdict::Undecided(Reason::SeveralObjects | Reason::NoTimes) if self.asked.is_none() => Exit::Fine,
            Verdict::Undecided(_) => Exit::Undecided,
        }
    }

    /// What CI systems are told of one history.
    fn report(&self, path: &Path, name: &str, loaded: &Loaded, judged: &[Judged]) -> Report {
        let took = judged.iter().fold(loaded.took, |sum, judged| sum + judged.took);
        let path = Some(path).filter(|path| !load::is_stdin(path));
        let history = &loaded.history;
        Report::of(&self.args.ci, &Subject { name, class: name, path, history, judged, took, note: None })
    }

    /// Writes the evidence of the verdicts.
    fn certificate(&self, loaded: &Loaded, judged: &[Judged]) -> Result<(), Failure> {
        let Some(path) = &self.args.certificate else { return Ok(()) };
        Target::File(path.clone())
            .write(|out| {
                for Judged { level, verdict, .. } in judged {
                    let terms = self.settings.terms;
                    if let Some(certificate) = Certificate::new(&loaded.history, *level, terms, verdict) {
                        serde_json::to_writer(&mut *out, &certificate).map_err(std::io::Error::from)?;
                        out.write_all(b"\n")?;
                    }
                }
                Ok::<(), Problem>(())
            })
            .map(|_| ())
    }
}
