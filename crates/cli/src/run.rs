//! `isonomy run`: the main job. Runs a workload against a database, records what the clients saw, and checks it.
//!
//! Without a database it is a demonstration, on a simulated store that promises too little.

mod folder;
mod html;
mod report;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use isonomy::{Ablation, Engine, Format, History, IsolationLevel, Terms, formats};
use isonomy_driver::faults::Schedule;
use isonomy_driver::run::{Plan, RunError, Watch};
use isonomy_driver::{Database, Description, Recorder, schemes};
use isonomy_web::without_password;
use isonomy_workload::{Distribution, Length, Shape, Workload};

use crate::args::RunArgs;
use crate::check::in_halves;
use crate::check::judge::{Judged, Settings, judge};
use crate::ci::Report;
use crate::exit::{Exit, Failure};
use crate::files::{Problem, Target};
use crate::levels;
use crate::load::{self, Loader};
use crate::output::{Output, Terminal, grouped};
use crate::progress::Progress;
use crate::system::System;
use crate::values::chosen;
use folder::Folder;
use report::Ran;

/// When runs are enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Until {
    Violation,
}

/// What the demonstration runs against, and how often at most.
const DEMONSTRATION: (&str, usize) = ("mock:read-atomic", 20);

/// Levels that nobody asked for get no more time than this.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn after_help() -> String {
    let width = schemes().iter().map(|scheme| scheme.form.chars().count()).max().unwrap_or(0);
    let databases: String =
        schemes().iter().map(|scheme| format!("  {:width$}  {}\n", scheme.form, scheme.what)).collect();
    let (cluster, kinds) = ("cluster:KIND", isonomy_cluster::Kind::names());
    format!(
        "\
Without --db it is a demonstration: the simulated store gives read-atomic, causal consistency is asked of it, and the
violation found is shown. It ends with exit code 1, as every command that found a violation does.

Databases:
{databases}  {cluster:width$}  servers started for this run from what is installed: {kinds}

Examples:
  isonomy run
  isonomy run --db sqlite --workload mini --txns 10000
  isonomy run --db mock:snapshot-isolation --level serializable --until violation --out runs
  isonomy run --db sqlite:/tmp/some.db --duration 30s --delay 2ms --junit results.xml
  isonomy run --db cluster:postgres --isolation 'repeatable read' --level serializable --until violation
  isonomy run --db cluster:galera --workload mini --duration 60s --faults cut,mute,kill
  isonomy check runs/seed-4

Ctrl-C ends a run: transactions under way are finished, and what was recorded is checked.

Exit codes: 0 what was asked for holds; 1 violated; 2 could not run; 3 undecided."
    )
}

pub(crate) fn run(args: &RunArgs, terminal: Terminal) -> Result<Exit, Failure> {
    validate(args)?;
    let job = Job::new(args, terminal)?;
    let mut show = Show { out: Output::new(), json: args.json };
    show.people(&job.introduction())?;
    let most = match (args.repeat, job.demonstration, args.until) {
        (Some(most), ..) => most.get(),
        (None, true, _) => DEMONSTRATION.1,
        (None, false, Some(Until::Violation)) => usize::MAX,
        (None, false, None) => 1,
    };
    let until_violation = job.demonstration || args.until == Some(Until::Violation);
    let (mut page, mut found) = (html::Runs::default(), Report::default());
    let mut exit = Exit::Fine;
    let mut last: Option<Ran> = None;
    for number in 1..=most {
        // The one before is dropped first: histories can be large.
        drop(last.take());
        let ran = job.once(number)?;
        show.people(&ran.told(&job, terminal.out))?;
        if args.json {
            show.out.print(&ran.json_lines(&job))?;
        }
        ran.keep(&job)?;
        if args.html.is_some() {
            page.add(&job, &ran);
        }
        let report = ran.report(&job);
        show.people(&report.commands)?;
        found.extend(report);
        exit = exit.and(ran.exit());
        let enough = (until_violation && ran.is_violated()) || job.interrupted.load(Ordering::Relaxed);
        last = Some(ran);
        if enough {
            break;
        }
    }
    let ran = last.expect("there is at least one run");
    show.people(&ran.verdicts(&job, terminal.out))?;
    if let Some(path) = &args.save {
        save(path, &ran.loaded.history, terminal)?;
    }
    if let Some(path) = &args.html {
        write(path, &page.finish(&job))?;
    }
    found.write(&args.ci)?;
    Ok(exit)
}

/// Says it to people, or to programs.
struct Show {
    out: Output,
    json: bool,
}

impl Show {
    fn people(&mut self, text: &str) -> Result<(), Failure> {
        if self.json { Ok(()) } else { self.out.print(text) }
    }
}

fn validate(args: &RunArgs) -> Result<(), Failure> {
    let own = [("--save", &args.save), ("--out", &args.out), ("--html", &args.html)];
    for (option, path) in own.map(|(option, path)| (option, path.as_deref())).into_iter().chain(args.ci.files()) {
        if path.is_some_and(load::is_stdin) {
            return Err(Failure::new(format_args!("{option} needs a file: the answers are on standard output")));
        }
    }
    Ok(())
}

fn save(path: &std::path::Path, history: &History, terminal: Terminal) -> Result<(), Failure> {
    let target = Target::File(path.to_path_buf());
    let format = target.format().unwrap_or(Format::Jsonl);
    target.write(|out| formats::write(history, format, out).expect("formats told by names are writable"))?;
    terminal.note(&format!("{}: the last history, as {format}", path.display()));
    Ok(())
}

fn write(path: &std::path::Path, text: &str) -> Result<(), Failure> {
    let target = Target::File(path.to_path_buf());
    target.write(|out| out.write_all(text.as_bytes()).map_err(Problem::Io)).map(|_| ())
}

/// What is run, and what is asked.
pub(crate) struct Job<'a> {
    args: &'a RunArgs,
    terminal: Terminal,
    // Dropped before the system that it is part of.
    database: Box<dyn Database>,
    system: System,
    about: Description,
    /// The URLs, without passwords.
    urls: Vec<String>,
    demonstration: bool,
    /// The level that the documentation promises.
    promised: Option<IsolationLevel>,
    /// The levels that decide how the command ends. None: which one holds is the question.
    asked: Vec<IsolationLevel>,
    plan: Plan,
    interrupted: Arc<AtomicBool>,
}

impl<'a> Job<'a> {
    fn new(args: &'a RunArgs, terminal: Terminal) -> Result<Self, Failure> {
        let demonstration = args.db.is_empty();
        let urls: Vec<&str> =
            if demonstration { vec![DEMONSTRATION.0] } else { args.db.iter().map(String::as_str).collect() };
        let system = System::new(&urls, &args.faults)?;
        let database = system.open(args.isolation.as_deref())?;
        let about = database.describe().map_err(Failure::new)?;
        let promised = about.isolation.promises.and_then(|name| name.parse().ok());
        let asked = match promised {
            _ if !args.level.is_empty() => chosen(&args.level),
            Some(promised) if demonstration => vec![weakest_not_promised(promised)],
            promised => promised.into_iter().collect(),
        };
        let interrupted = Arc::new(AtomicBool::new(false));
        listen(&interrupted)?;
        Ok(Job {
            args,
            terminal,
            database,
            system,
            about,
            urls: urls.into_iter().map(without_password).collect(),
            demonstration,
            promised,
            asked,
            plan: plan(args, demonstration),
            interrupted,
        })
    }

    /// Runs the workload once, and checks what was recorded.
    fn once(&self, number: usize) -> Result<Ran, Failure> {
        let seed = self.args.seed.wrapping_add(number as u64 - 1);
        let plan = Plan { seed, ..self.plan.clone() };
        let mut folder = Folder::create(self.args.out.as_deref(), seed)?;
        folder.write("run.json", &format!("{:#}\n", report::setup(self, &plan)))?;
        let recorder = Recorder::create(folder.history()).map_err(Failure::new)?;
        let progress = Progress::commits(self.terminal.shows_progress(), plan.transactions);
        let mut advance = |now: isonomy_driver::run::Progress| {
            let rate = now.committed as f64 / now.elapsed.as_secs_f64().max(1e-9);
            let attempts = (now.committed + now.aborted + now.indeterminate).max(1);
            let aborted = 100.0 * now.aborted as f64 / attempts as f64;
            progress.doing(format!("{}/s, {aborted:.1} % aborted", grouped(rate as usize)));
            progress.reach(now.committed);
        };
        let watch = Watch { stop: &self.interrupted, progress: &mut advance };
        let schedule = Schedule {
            faults: self.args.faults.clone(),
            every: self.args.fault_every,
            lasting: self.args.fault_lasting,
            seed,
        };
        let over = AtomicBool::new(false);
        let (summary, faults) = thread::scope(|scope| {
            let faults = scope.spawn(|| schedule.run(&self.system.breakable(), &over));
            let summary = isonomy_driver::run(&*self.database, &plan, &recorder, watch);
            over.store(true, Ordering::Relaxed);
            (summary, faults.join().expect("faults are not to harm us"))
        });
        progress.end();
        let summary = summary.and_then(|summary| recorder.finish().map(|()| summary).map_err(RunError::from));
        let summary = match summary {
            Ok(summary) => summary,
            Err(error @ RunError::Record(_)) => {
                let kept = folder.keep().display();
                return Err(Failure::new(error).hint(format_args!("`isonomy check {kept}` checks what was recorded")));
            }
            Err(error) => return Err(Failure::new(error)),
        };
        let loaded = Loader::default().load(&folder.history())?;
        let (judged, others) = self.judge(&loaded.history);
        Ok(Ran { number, seed, plan, folder, summary, faults, loaded, judged, others })
    }

    /// The levels asked for; and others, to tell what the database does give.
    fn judge(&self, history: &History) -> (Vec<Judged>, Vec<Judged>) {
        // Whoever stops a run still wants to know what came of it.
        let cancelled = AtomicBool::new(false);
        let settings = |timeout| Settings {
            terms: Terms::default(),
            engine: Engine::default(),
            ablation: Ablation::default(),
            timeout,
            cancelled: &cancelled,
        };
        let (mine, brief) = (settings(self.args.timeout), settings(Some(self.args.timeout.unwrap_or(PATIENCE))));
        let mut judged: Vec<Judged> = Vec::new();
        for level in in_halves(&self.asked) {
            judged.push(judge(history, level, &mine, &judged));
        }
        let wanted: Vec<IsolationLevel> = match self.promised {
            Some(promised) if self.demonstration => vec![promised],
            _ => levels::by_default(history),
        };
        let wanted: Vec<IsolationLevel> = wanted.into_iter().filter(|level| !self.asked.contains(level)).collect();
        let asked = judged.len();
        for level in in_halves(&wanted) {
            judged.push(judge(history, level, &brief, &judged));
        }
        let mut others = judged.split_off(asked);
        judged.sort_by_key(|judged| self.asked.iter().position(|&level| level == judged.level));
        others.sort_by_key(|judged| wanted.iter().position(|&level| level == judged.level));
        (judged, others)
    }
}

/// The weakest level that a store of some level need not satisfy; its own if there is none.
fn weakest_not_promised(given: IsolationLevel) -> IsolationLevel {
    let open = |level: &IsolationLevel| !given.implies(*level) && *level != IsolationLevel::Linearizable;
    IsolationLevel::ALL.into_iter().find(open).unwrap_or(given)
}

/// Small transactions on few keys, if nothing else is asked for: they meet often, and their stories are short.
fn plan(args: &RunArgs, demonstration: bool) -> Plan {
    let (mut workload, sessions, transactions) = match args.workload {
        Some(preset) => {
            let spec = preset.spec();
            (spec.workload, spec.sessions, spec.transactions)
        }
        None => {
            let shape = Shape::General { length: Length::Between(2, 4), read_share: 0.5, single_access: true };
            let workload = Workload { keys: 30, distribution: Distribution::Uniform, shape };
            if demonstration { (workload, 5, 60) } else { (workload, 8, 2_000) }
        }
    };
    workload.keys = args.keys.unwrap_or(workload.keys);
    // The store answers so fast that, without pauses, one client would be done before the next begins.
    let delay = if demonstration { Duration::from_micros(200) } else { Duration::ZERO };
    Plan {
        seed: args.seed,
        transactions: args.txns.or_else(|| args.duration.is_none().then_some(transactions)),
        duration: args.duration,
        think: args.think,
        delay: args.delay.unwrap_or(delay),
        ..Plan::new(workload, args.sessions.unwrap_or(sessions), 0)
    }
}

/// The first ctrl-C ends the run, the second the program.
pub(crate) fn listen(interrupted: &Arc<AtomicBool>) -> Result<(), Failure> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM] {
        // The order matters: at the first one the flag is not yet set when the shutdown looks at it.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(interrupted))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(interrupted)))
            .map_err(Failure::new)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demonstration_asks_for_the_next_level() {
        assert_eq!(weakest_not_promised(IsolationLevel::ReadAtomic), IsolationLevel::Causal);
        assert_eq!(weakest_not_promised(IsolationLevel::Causal), IsolationLevel::Prefix);
    }
}
