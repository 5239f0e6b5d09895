//! `isonomy run`: the main job. Runs a workload against a database, records what the clients saw, and checks it.
//!
//! So far the database is a simulated store. Drivers of real ones take the place of [`record`].

use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use isonomy::certify::certify;
use isonomy::{Ablation, Engine, Format, History, HistoryBuilder, IsolationLevel, Terms, Verdict, formats};
use isonomy_workload::{Distribution, HistorySpec, Length, Shape, Workload};

use crate::args::RunArgs;
use crate::check::judge::{Judged, Settings, judge};
use crate::check::{json, text};
use crate::exit::{Exit, Failure};
use crate::files::Target;
use crate::load::{self, Loaded};
use crate::output::{Output, Terminal, count, time};
use crate::values::Database;

pub(crate) fn after_help() -> &'static str {
    "\
Without arguments it is a demonstration: the simulated store gives read-atomic, causal consistency is asked of it, and the
violation found is shown. It ends with exit code 1, as every command that found a violation does.

Examples:
  isonomy run
  isonomy run --db mock:read-committed --level read-atomic --seed 3
  isonomy run --db mock:causal --level causal --txns 10000 --repeat 5
  isonomy run --save history.jsonl ; isonomy check history.jsonl

Exit codes: 0 no run violated the level; 1 violated; 2 could not run; 3 undecided."
}

pub(crate) fn run(args: &RunArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let Database::Mock(store) = args.db;
    let given: IsolationLevel = store.name().parse().expect("the store's levels are the checker's");
    let asked = args.level.unwrap_or_else(|| weakest_not_promised(given));
    let spec = specification(args);
    let mut show = Show { out: Output::new(), json: args.json };
    show.say(format_args!(
        "The database: {}, a simulated store that gives {given} and nothing more.\n\
         The question: does it give {asked}? ({}.)\n",
        args.db,
        asked.summary(),
    ))?;

    let cancelled = AtomicBool::new(false);
    let settings = Settings {
        terms: Terms::default(),
        engine: Engine::default(),
        ablation: Ablation::default(),
        timeout: args.timeout,
        cancelled: &cancelled,
    };
    let mut exit = Exit::Fine;
    let mut last = None;
    for run in 0..args.repeat.get() as u64 {
        let spec = HistorySpec { seed: args.seed.wrapping_add(run), ..spec.clone() };
        let loaded = record(&spec)?;
        let judged = judge(&loaded.history, asked, &settings, &[]);
        show.say(format_args!(
            "Run {}, seed {}: {} in {}, {}; {asked} {} ({}).",
            run + 1,
            spec.seed,
            count(loaded.history.transaction_count(), "transaction"),
            count(loaded.history.sessions().len(), "session"),
            count(loaded.history.event_count(), "event"),
            terminal.out.style(text::style(&judged.verdict), judged.verdict.name()),
            time(judged.took),
        ))?;
        let name = format!("{}?seed={}", args.db, spec.seed);
        show.json(&name, &loaded, &judged)?;
        let found = match judged.verdict {
            Verdict::Holds(_) => Exit::Fine,
            Verdict::Violated(_) => Exit::Violated,
            Verdict::Undecided(_) => Exit::Undecided,
        };
        exit = exit.and(found);
        last = Some((name, loaded, judged));
        if found == Exit::Violated {
            break;
        }
    }
    let (name, loaded, judged) = last.expect("there is at least one run");
    show.verdict(&loaded.history, asked, &judged.verdict)?;
    if given != asked {
        let own = judge(&loaded.history, given, &settings, &[]);
        show.json(&name, &loaded, &own)?;
        show.promise(&loaded.history, given, &own.verdict)?;
        // The store's own level is asked to show that the store does what it says; only a violation would be news.
        if matches!(own.verdict, Verdict::Violated(_)) {
            exit = exit.and(Exit::Violated);
        }
    }
    let promised = given.implies(asked);
    if exit == Exit::Violated && !promised {
        show.say(format_args!(
            "\nThat is how it should end: the store never promised {asked}, and isonomy found out. Exit code 1 says `violated`."
        ))?;
    }
    save(args, &loaded.history, terminal)?;
    Ok(exit)
}

/// The weakest level with a checker that a store of some level need not satisfy; its own if there is none.
fn weakest_not_promised(given: IsolationLevel) -> IsolationLevel {
    // The store records times only where its own level speaks of them.
    let askable = |level: IsolationLevel| !level.needs_times() || given.needs_times();
    let open =
        |level: &IsolationLevel| !given.implies(*level) && askable(*level) && *level != IsolationLevel::Linearizable;
    IsolationLevel::ALL.into_iter().find(open).unwrap_or(given)
}

/// Small transactions on few keys: they meet often, and their stories are short.
fn specification(args: &RunArgs) -> HistorySpec {
    let Database::Mock(level) = args.db;
    let mut spec = match args.workload {
        Some(preset) => preset.spec(),
        None => HistorySpec {
            sessions: 5,
            transactions: 60,
            workload: Workload {
                keys: 30,
                distribution: Distribution::Uniform,
                shape: Shape::General { length: Length::Between(2, 4), read_share: 0.5, single_access: true },
            },
            ..HistorySpec::default()
        },
    };
    spec.level = level;
    spec.sessions = args.sessions.unwrap_or(spec.sessions);
    spec.transactions = args.txns.unwrap_or(spec.transactions);
    spec
}

/// Runs the workload once.
fn record(spec: &HistorySpec) -> Result<Loaded, Failure> {
    let began = Instant::now();
    let mut builder = HistoryBuilder::new();
    spec.generate(&mut builder).map_err(Failure::new)?;
    let history = builder.finish().map_err(Failure::new)?;
    Ok(Loaded { history, format: None, took: began.elapsed() })
}

fn save(args: &RunArgs, history: &History, terminal: Terminal) -> Result<(), Failure> {
    let Some(path) = &args.save else { return Ok(()) };
    if load::is_stdin(path) {
        return Err(Failure::new("--save needs a file: the answers are on standard output"));
    }
    let target = Target::File(path.clone());
    let format = target.format().unwrap_or(Format::Jsonl);
    target.write(|out| formats::write(history, format, out).expect("formats told by names are writable"))?;
    terminal.note(&format!("{}: the last history, as {format}", path.display()));
    Ok(())
}

/// Says it to people, or to programs.
struct Show {
    out: Output,
    json: bool,
}

impl Show {
    fn say(&mut self, text: std::fmt::Arguments<'_>) -> Result<(), Failure> {
        if self.json { Ok(()) } else { self.out.print(&format!("{text}\n")) }
    }

    fn json(&mut self, name: &str, loaded: &Loaded, judged: &Judged) -> Result<(), Failure> {
        if self.json { self.out.print(&json::lines(name, loaded, std::slice::from_ref(judged), None)) } else { Ok(()) }
    }

    fn verdict(&mut self, history: &History, level: IsolationLevel, verdict: &Verdict) -> Result<(), Failure> {
        match verdict {
            Verdict::Violated(counterexample) => {
                let mut told = format!("\n{level} is violated: {}\n\n", counterexample.anomaly);
                told += &text::story(history, counterexample);
                let _ = write!(
                    told,
                    "\nThe evidence, checked again by code of its own: {}.",
                    checked(history, level, verdict)
                );
                self.say(format_args!("{told}"))
            }
            Verdict::Holds(_) => self.say(format_args!(
                "\nNo run violated {level}. The evidence for the last one, checked again by code of its own: {}.",
                checked(history, level, verdict)
            )),
            Verdict::Undecided(reason) => self.say(format_args!("\n{level} is undecided: {reason}.")),
        }
    }

    /// What came of the level that the store promises.
    fn promise(&mut self, history: &History, level: IsolationLevel, verdict: &Verdict) -> Result<(), Failure> {
        match verdict {
            Verdict::Holds(_) => self.say(format_args!(
                "What the store does promise, it kept: {level} holds for the same history ({}).",
                checked(history, level, verdict)
            )),
            Verdict::Violated(counterexample) => self.say(format_args!(
                "The store broke its own promise, {level}. That is a bug in isonomy; please report it.\n{}",
                text::story(history, counterexample)
            )),
            Verdict::Undecided(reason) => {
                self.say(format_args!("Whether the store kept {level} is undecided: {reason}."))
            }
        }
    }
}

fn checked(history: &History, level: IsolationLevel, verdict: &Verdict) -> String {
    match certify(history, level, Terms::default(), verdict) {
        Ok(()) => "certified".into(),
        Err(flaw) => format!("rejected, {flaw}"),
    }
}
