//! `isonomy stats`: what is in histories.

use std::path::{Path, PathBuf};

use isonomy::{Event, History, Outcome, versions_are_determined};
use serde::Serialize;

use crate::args::StatsArgs;
use crate::exit::{Exit, Failure};
use crate::load::{self, Loaded, Loader};
use crate::output::{Output, Style, Table, Terminal, grouped};
use crate::progress::Progress;

pub(crate) fn run(args: &StatsArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let total = load::total_size(args.histories.iter().map(PathBuf::as_path));
    let progress = Progress::bytes(terminal.shows_progress(), total);
    let loader = Loader { format: args.format, memory: load::available_memory(), progress: progress.clone() };
    let mut out = Output::new();
    let mut exit = Exit::Fine;
    for (index, path) in args.histories.iter().enumerate() {
        let loaded = loader.load(path);
        progress.suspended(|| match loaded {
            Ok(loaded) => {
                let stats = Stats::of(path, &loaded);
                let text = if args.json {
                    serde_json::to_string(&stats).expect("it has only strings for keys") + "\n"
                } else {
                    let gap = if index > 0 { "\n" } else { "" };
                    gap.to_string() + &stats.text(terminal)
                };
                out.print(&text)
            }
            Err(failure) => {
                failure.report(terminal.err);
                exit = exit.and(Exit::CouldNotRun);
                Ok(())
            }
        })?;
    }
    progress.end();
    Ok(exit)
}

#[derive(Serialize)]
struct Stats {
    history: String,
    format: Option<&'static str>,
    sessions: usize,
    transactions: Transactions,
    events: Events,
    keys: usize,
    values: usize,
    events_per_transaction: f64,
    reads_per_transaction: f64,
    /// Whether any transaction has times, and how many have a start and a finish.
    times: bool,
    timed: usize,
    longest_session: usize,
    longest_transaction: usize,
    /// Transactions of one or two reads and at most two writes, each of a key that was read before.
    mini_transactions: usize,
    /// Whether reads leave no choice of an order of versions, so that strong levels take linear time.
    versions_determined: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    hottest_key: Option<HottestKey>,
    load_seconds: f64,
}

#[derive(Default, Serialize)]
struct Transactions {
    all: usize,
    committed: usize,
    aborted: usize,
    indeterminate: usize,
    /// Committed, or observed by one that is.
    counting: usize,
}

#[derive(Default, Serialize)]
struct Events {
    all: usize,
    read: usize,
    write: usize,
    append: usize,
    list: usize,
    insert: usize,
    delete: usize,
    range: usize,
    cas: usize,
}

#[derive(Serialize)]
struct HottestKey {
    key: String,
    /// Its share of all accesses.
    share: f64,
}

impl Stats {
    fn of(path: &Path, loaded: &Loaded) -> Stats {
        let history = &loaded.history;
        let mut transactions = Transactions { all: history.transaction_count(), ..Transactions::default() };
        let mut timed = 0;
        let mut longest_transaction = 0;
        let mut mini_transactions = 0;
        for txn in history.transactions() {
            match history.outcome(txn) {
                Outcome::Committed => transactions.committed += 1,
                Outcome::Aborted => transactions.aborted += 1,
                Outcome::Indeterminate => transactions.indeterminate += 1,
            }
            mini_transactions += usize::from(history.is_mini(txn));
            let times = history.times(txn);
            timed += usize::from(times.start.is_some() && times.finish.is_some());
            longest_transaction = longest_transaction.max(history.event_ids(txn).len());
        }
        transactions.counting = history.derived().count();
        let (events, hottest_key) = Events::of(history);
        let per_transaction = |number: usize| number as f64 / transactions.all.max(1) as f64;
        Stats {
            history: path.display().to_string(),
            format: loaded.format.map(|format| format.name()),
            sessions: history.sessions().len(),
            keys: history.key_count(),
            values: history.value_count(),
            events_per_transaction: per_transaction(events.all),
            reads_per_transaction: per_transaction(events.read + events.list + events.range),
            times: history.has_times(),
            timed,
            longest_session: history.sessions().map(|s| history.transactions_of(s).len()).max().unwrap_or(0),
            longest_transaction,
            mini_transactions,
            versions_determined: versions_are_determined(history),
            hottest_key,
            load_seconds: loaded.took.as_secs_f64(),
            transactions,
            events,
        }
    }

    fn text(&self, terminal: Terminal) -> String {
        let mut table = Table::default();
        let mut row = |what: &str, value: String| table.row([(what.into(), Style::Plain), (value, Style::Plain)]);
        let parts = |parts: &[(&str, usize)]| {
            let some: Vec<String> =
                parts.iter().filter(|part| part.1 > 0).map(|(name, n)| format!("{} {name}", grouped(*n))).collect();
            if some.is_empty() { String::new() } else { format!(" ({})", some.join(", ")) }
        };
        let (t, e) = (&self.transactions, &self.events);
        row("format", self.format.unwrap_or("unknown").into());
        row("sessions", format!("{}, the longest of {}", grouped(self.sessions), grouped(self.longest_session)));
        let outcomes = [("committed", t.committed), ("aborted", t.aborted), ("indeterminate", t.indeterminate)];
        row("transactions", grouped(t.all) + &parts(&outcomes));
        row("that count", grouped(t.counting));
        let kinds = [
            ("reads", e.read),
            ("writes", e.write),
            ("appends", e.append),
            ("list reads", e.list),
            ("inserts", e.insert),
            ("deletes", e.delete),
            ("ranges", e.range),
            ("compare-and-sets", e.cas),
        ];
        row("events", grouped(e.all) + &parts(&kinds));
        let (events, reads) = (self.events_per_transaction, self.reads_per_transaction);
        let most = self.longest_transaction;
        row("per transaction", format!("{events:.2} events (at most {most}), {reads:.2} of them reads"));
        row(
            "mini-transactions",
            if self.mini_transactions == t.all { "all".into() } else { grouped(self.mini_transactions) },
        );
        let order =
            if self.versions_determined { "determined by reads: strong levels take linear time" } else { "open" };
        row("order of versions", order.into());
        row("keys", grouped(self.keys));
        if let Some(HottestKey { key, share }) = &self.hottest_key {
            row("hottest key", format!("{key}, with {:.2} % of all accesses", share * 100.0));
        }
        row("values", grouped(self.values));
        let times = match (self.times, self.timed == t.all) {
            (false, _) => "none".into(),
            (true, true) => "of all transactions".into(),
            (true, false) => format!("start and finish of {} transactions", grouped(self.timed)),
        };
        row("times", times);
        let lines: String = table.lines(terminal.out).into_iter().map(|line| format!("  {line}\n")).collect();
        format!("{}\n{lines}", terminal.out.style(Style::Strong, &self.history))
    }
}

impl Events {
    /// Counts events by kind, and finds the key that is accessed most.
    fn of(history: &History) -> (Events, Option<HottestKey>) {
        let mut events = Events { all: history.event_count(), ..Events::default() };
        let mut accesses = vec![0usize; history.key_count()];
        for event in history.transactions().flat_map(|txn| history.events(txn)) {
            let mut access = |value| accesses[history.key_of(value).index()] += 1;
            let kind = match event {
                Event::Read(value) => (access(value), &mut events.read).1,
                Event::Write(value) => (access(value), &mut events.write).1,
                Event::Append(value) => (access(value), &mut events.append).1,
                Event::Insert(value) => (access(value), &mut events.insert).1,
                Event::Delete(value) => (access(value), &mut events.delete).1,
                Event::CompareAndSet { new, .. } => (access(new), &mut events.cas).1,
                Event::Range { rows, .. } => (rows.iter().for_each(|&row| access(row)), &mut events.range).1,
                Event::ReadList { key, .. } => {
                    accesses[key.index()] += 1;
                    &mut events.list
                }
            };
            *kind += 1;
        }
        let total: usize = accesses.iter().sum();
        // The first of the hottest, so that the answer does not depend on luck.
        let hottest = (0..accesses.len()).max_by_key(|&key| (accesses[key], std::cmp::Reverse(key)));
        let hottest = hottest.map(|key| HottestKey {
            key: history.key_name(isonomy::Key(key as u32)).to_string(),
            share: accesses[key] as f64 / total.max(1) as f64,
        });
        (events, hottest)
    }
}
