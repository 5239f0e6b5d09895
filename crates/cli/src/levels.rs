//! `isonomy levels`: the isolation levels, and what this version can say of them.

use isonomy::{History, HistoryBuilder, IsolationLevel, Options, Reason, Verdict, check};
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
                "decided": is_decided(level),
                "summary": level.summary(),
            });
            text += &format!("{line}\n");
        }
    } else {
        let mut table = Table::new(["level", "aliases", "needs", "decided", "implies", "what it promises"]);
        for level in IsolationLevel::ALL {
            let decided = is_decided(level);
            table.row([
                (level.to_string(), Style::Plain),
                (level.aliases().join(", "), Style::Plain),
                ((if level.needs_times() { "times" } else { "" }).into(), Style::Plain),
                if decided { ("yes".into(), Style::Good) } else { ("not yet".into(), Style::Doubtful) },
                (directly_implied(level).join(", "), Style::Plain),
                (level.summary().into(), Style::Plain),
            ]);
        }
        text = table.render(terminal.out);
        text +=
            "\nA level implies those that its own imply, too. `decided`: whether this version has a checker for it.\n";
    }
    Output::new().print(&text)?;
    Ok(Exit::Fine)
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

/// Whether this version has a checker for a level: the checker itself is asked, about a history with all it may need.
pub(crate) fn is_decided(level: IsolationLevel) -> bool {
    let mut history = HistoryBuilder::new();
    history.transaction(1).write(1, 1).at(0, 1).commit();
    let history = history.finish().expect("one write is a history");
    !matches!(check(&history, level, &Options::default()), Verdict::Undecided(Reason::NotBuilt))
}

/// The levels to check if none is named: those that the history's data allows.
///
/// Linearizability speaks of single objects, so it is left out until its checker can say which histories it is about.
pub(crate) fn by_default(history: &History) -> Vec<IsolationLevel> {
    let allowed = |level: &IsolationLevel| {
        (history.has_times() || !level.needs_times()) && (*level != IsolationLevel::Linearizable || is_decided(*level))
    };
    IsolationLevel::ALL.into_iter().filter(allowed).collect()
}
