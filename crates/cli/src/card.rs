//! `isonomy card`: the classic scenarios of isolation, played on a database.

use std::time::Duration;

use clap::Args;
use isonomy::{IsolationLevel, Options, Verdict, check};
use isonomy_driver::Database;
use isonomy_driver::card::{Answer, Played, PlayedStep, SCENARIOS, Scenario, play};
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::output::{Output, Style, Table, Terminal};
use crate::system::System;
use crate::values::duration;

#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(crate) struct CardArgs {
    /// The database; several times for the nodes of one; or `cluster:KIND` for servers that are started for the purpose
    #[arg(long, value_name = "URL", required = true)]
    db: Vec<String>,
    /// The isolation to ask for, in the database's own words; may be repeated. All that it has if absent
    #[arg(long, value_name = "NAME")]
    isolation: Vec<String>,
    /// Play this scenario only, and show its steps; may be repeated
    #[arg(long, value_name = "NAME", value_parser = scenario)]
    scenario: Vec<&'static Scenario>,
    /// Show the steps of all scenarios
    #[arg(long)]
    steps: bool,
    /// Who does not answer for this long is taken to wait for somebody
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "300ms")]
    patience: Duration,
    /// Print one JSON object per isolation and scenario, a line each
    #[arg(long)]
    json: bool,
}

fn after_help() -> String {
    let scenarios: String = SCENARIOS
        .iter()
        .map(|scenario| format!("  {:30} {:26} {}\n", scenario.name, scenario.alias, scenario.ruled_out_by))
        .collect();
    format!(
        "Each scenario is a short play of two to four sessions with a fixed interleaving. An anomaly `shows` if what the sessions saw violates the
level that rules it out; else the database prevented it. The tables that isonomy uses are emptied before each.

Scenarios, what they are also called, and the weakest level that rules them out:
{scenarios}
Examples:
  isonomy card --db mock:read-committed
  isonomy card --db postgres://postgres@localhost/test
  isonomy card --db cluster:mariadb
  isonomy card --db mysql://root@localhost/test --isolation 'repeatable read' --scenario lost-update

Exit codes: 0 done; 1 an anomaly showed that the isolation asked for should rule out by its documentation; 2 could not run."
    )
}

fn scenario(name: &str) -> Result<&'static Scenario, String> {
    SCENARIOS.iter().find(|scenario| scenario.name == name || scenario.alias == name).ok_or_else(|| {
        let known: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
        format!("no such scenario; known are {}", known.join(", "))
    })
}

/// Nobody waits longer than this for a lock that is never given free.
const LIMIT: Duration = Duration::from_secs(10);

/// What came of a scenario at an isolation.
#[derive(Serialize)]
struct Card {
    database: String,
    version: String,
    isolation: String,
    /// What the documentation promises.
    promises: Option<&'static str>,
    scenario: &'static str,
    alias: &'static str,
    ruled_out_by: &'static str,
    result: Outcome,
    /// The anomaly that the checker named.
    #[serde(skip_serializing_if = "Option::is_none")]
    anomaly: Option<&'static str>,
    /// Whether the documentation of the database rules this out, and it showed.
    broken_promise: bool,
    steps: Vec<Told>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    Shows,
    /// Somebody was aborted.
    Aborts,
    /// Somebody had to wait.
    Waits,
    /// Everybody went on, and saw nothing wrong.
    Prevented,
    /// Somebody waited until we gave up.
    Stuck,
    /// The database lacks what the scenario needs.
    NotPossible,
}

impl Outcome {
    fn cell(self) -> (String, Style) {
        let (text, style) = match self {
            Outcome::Shows => ("shows", Style::Bad),
            Outcome::Aborts => ("prevented: aborts", Style::Good),
            Outcome::Waits => ("prevented: waits", Style::Good),
            Outcome::Prevented => ("prevented", Style::Good),
            Outcome::Stuck => ("stuck", Style::Doubtful),
            Outcome::NotPossible => ("-", Style::Faint),
        };
        (text.into(), style)
    }
}

#[derive(Serialize)]
struct Told {
    session: u32,
    step: String,
    answer: String,
    waited: bool,
}

impl Told {
    fn of(step: &PlayedStep) -> Self {
        let answer = match &step.answer {
            Answer::Done => "ok".into(),
            Answer::Wrote(value) => format!("wrote {value}"),
            Answer::Saw(None) => "nothing".into(),
            Answer::Saw(Some(value)) => format!("saw {value}"),
            Answer::Rows(rows) if rows.is_empty() => "no rows".into(),
            Answer::Rows(rows) => {
                let rows: Vec<String> = rows.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                format!("saw {}", rows.join(", "))
            }
            Answer::Aborted(why) => format!("aborted: {why}"),
            Answer::Skipped => "skipped: the transaction is over".into(),
            Answer::Never => "no answer".into(),
        };
        Told { session: step.session, step: step.step.to_string(), answer, waited: step.waited }
    }
}

pub(crate) fn run(args: &CardArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let urls: Vec<&str> = args.db.iter().map(String::as_str).collect();
    let mut cards: Vec<Vec<Card>> = Vec::new();
    let mut out = Output::new();
    let system = System::new(&urls, &[])?;
    let isolations = match &args.isolation[..] {
        [] => system.isolations(),
        some => some.iter().cloned().map(Some).collect(),
    };
    for isolation in isolations {
        let database = system.open(isolation.as_deref())?;
        let mut column = Vec::new();
        for scenario in
            SCENARIOS.iter().filter(|s| args.scenario.is_empty() || args.scenario.iter().any(|a| a.name == s.name))
        {
            let card = one(&*database, scenario, args)?;
            if args.json {
                out.print(&(serde_json::to_string(&card).expect("it has only strings for keys") + "\n"))?;
            } else if args.steps || !args.scenario.is_empty() {
                out.print(&(told(&card, terminal) + "\n"))?;
            }
            column.push(card);
        }
        cards.push(column);
    }
    if !args.json {
        out.print(&table(&cards, terminal))?;
    }
    let broken = cards.iter().flatten().filter(|card| card.broken_promise).count();
    if broken > 0 && !args.json {
        out.print("\nWhat is marked with ! the documentation of the database rules out at this isolation.\n")?;
    }
    Ok(if broken > 0 { Exit::Violated } else { Exit::Fine })
}

fn one(database: &dyn Database, scenario: &'static Scenario, args: &CardArgs) -> Result<Card, Failure> {
    let described = database.describe().map_err(Failure::new)?;
    let level: IsolationLevel = scenario.ruled_out_by.parse().expect("scenarios name levels");
    let mut card = Card {
        database: described.product,
        version: described.version,
        isolation: described.isolation.name,
        promises: described.isolation.promises,
        scenario: scenario.name,
        alias: scenario.alias,
        ruled_out_by: scenario.ruled_out_by,
        result: Outcome::NotPossible,
        anomaly: None,
        broken_promise: false,
        steps: Vec::new(),
    };
    if scenario.needs.is_some_and(|ability| !database.can(ability)) {
        return Ok(card);
    }
    let played = play(database, scenario, args.patience, LIMIT).map_err(Failure::new)?;
    card.result = outcome(&played);
    if let Verdict::Violated(counterexample) = check(&played.history, level, &Options::default()) {
        card.result = Outcome::Shows;
        card.anomaly = Some(counterexample.anomaly.name());
        let promised = card.promises.and_then(|promised| promised.parse::<IsolationLevel>().ok());
        card.broken_promise = promised.is_some_and(|promised| promised.implies(level));
    }
    card.steps = played.steps.iter().map(Told::of).collect();
    Ok(card)
}

/// What came of it if nothing is wrong.
fn outcome(played: &Played) -> Outcome {
    let any = |test: &dyn Fn(&PlayedStep) -> bool| played.steps.iter().any(test);
    if any(&|step| step.answer == Answer::Never) {
        Outcome::Stuck
    } else if any(&|step| matches!(step.answer, Answer::Aborted(_))) {
        Outcome::Aborts
    } else if any(&|step| step.waited) {
        Outcome::Waits
    } else {
        Outcome::Prevented
    }
}

/// The steps of one scenario.
fn told(card: &Card, terminal: Terminal) -> String {
    let (result, style) = card.result.cell();
    let mut text = format!(
        "{} ({}) at {}: {}\n",
        terminal.out.style(Style::Strong, card.scenario),
        card.alias,
        card.isolation,
        terminal.out.style(style, &result)
    );
    let mut table = Table::default();
    for step in &card.steps {
        let waited = if step.waited { "waited, then " } else { "" };
        table.plain([format!("  {}", step.session), step.step.clone(), format!("{waited}{}", step.answer)]);
    }
    text += &table.render(terminal.out);
    text
}

/// All scenarios, a column for each isolation.
fn table(cards: &[Vec<Card>], terminal: Terminal) -> String {
    let Some(first) = cards.first().and_then(|column| column.first()) else { return String::new() };
    let mut rows = vec![vec![
        ("scenario".to_string(), Style::Strong),
        ("also called".to_string(), Style::Strong),
        ("ruled out by".to_string(), Style::Strong),
    ]];
    rows[0]
        .extend(cards.iter().filter_map(|column| column.first()).map(|card| (card.isolation.clone(), Style::Strong)));
    for (at, card) in cards[0].iter().enumerate() {
        let mut row = vec![
            (card.scenario.to_string(), Style::Plain),
            (card.alias.to_string(), Style::Faint),
            (card.ruled_out_by.to_string(), Style::Plain),
        ];
        row.extend(cards.iter().map(|column| {
            let (text, style) = column[at].result.cell();
            (if column[at].broken_promise { format!("{text} !") } else { text }, style)
        }));
        rows.push(row);
    }
    format!("{} {}\n\n{}", first.database, first.version, Table::of(rows).render(terminal.out))
}
