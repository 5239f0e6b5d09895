//! `isonomy levels`: the isolation levels, and what this version can say of them.

use isonomy::{History, IsolationLevel};
use serde_json::json;

use crate::args::LevelsArgs;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Style, Table, Terminal};

pub(crate) fn run(args: &LevelsArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let mut text = String::new();
    if args.json {
        for level in IsolationLevel::ALL {
            let implies: Vec<&str> = implied(level).into_iter().map(IsolationLevel::name).collect();
            let line = json!({
                "level": level.name(),
                "aliases": level.aliases(),
                "needs_times": level.needs_times(),
                "session_order": level.has_session_order(),
                "implies": implies,
                "summary": level.summary(),
            });
            text += &format!("{line}\n");
        }
    } else {
        let mut table = Table::new(["level", "aliases", "needs", "implies", "what it promises"]);
        for level in IsolationLevel::ALL {
            table.row([
                (level.to_string(), Style::Plain),
                (level.aliases().join(", "), Style::Plain),
                (needs(level).into(), Style::Plain),
                (directly_implied(level).join(", "), Style::Plain),
                (level.summary().into(), Style::Plain),
            ]);
        }
        text = table.render(terminal.out);
        text += "\nA level implies those that its own imply, too.\n";
    }
    Output::new().print(&text)?;
    Ok(Exit::Fine)
}

/// What a history must have for a level to be decided.
fn needs(level: IsolationLevel) -> &'static str {
    match level {
        IsolationLevel::Linearizable => "times, single objects",
        level if level.needs_times() => "times",
        _ => "",
    }
}

/// All other levels that a level implies.
fn implied(level: IsolationLevel) -> Vec<IsolationLevel> {
    IsolationLevel::ALL.into_iter().filter(|&other| other != level && level.implies(other)).collect()
}

/// Those of them that no other of them implies.
fn directly_implied(level: IsolationLevel) -> Vec<&'static str> {
    let all = implied(level);
    let between = |weak: IsolationLevel| all.iter().any(|&middle| middle != weak && middle.implies(weak));
    all.iter().copied().filter(|&weak| !between(weak)).map(IsolationLevel::name).collect()
}

/// The levels to check if none is named: those that the history's data allows. Linearizability speaks of single objects.
pub(crate) fn by_default(history: &History) -> Vec<IsolationLevel> {
    let single = || history.transactions().all(|txn| history.events(txn).len() == 1);
    let allowed = |level: &IsolationLevel| {
        (history.has_times() || !level.needs_times()) && (*level != IsolationLevel::Linearizable || single())
    };
    IsolationLevel::ALL.into_iter().filter(allowed).collect()
}
