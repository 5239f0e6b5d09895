//! The smallest program that answers as `isonomy check --json --level LEVEL FILE` does. The tests of the harness measure it,
//! for they cannot have the command itself built.

use std::error::Error;
use std::io::{Write, stdout};
use std::process::ExitCode;

use isonomy::{IsolationLevel, Options, Verdict};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [check, json, flag, level, file] = arguments.as_slice() else {
        return Err("expected `check --json --level LEVEL FILE`".into());
    };
    assert_eq!([check.as_str(), json, flag], ["check", "--json", "--level"], "the harness calls it like this");
    let level: IsolationLevel = level.parse()?;
    let history = isonomy::open(file)?;
    let (verdict, code) = match isonomy::check(&history, level, &Options::default()) {
        Verdict::Holds(_) => ("holds", 0),
        Verdict::Violated(_) => ("violated", 1),
        Verdict::Undecided(_) => ("undecided", 3),
    };
    let transactions = history.transaction_count();
    writeln!(
        stdout(),
        "{}",
        serde_json::json!({"level": level.to_string(), "verdict": verdict, "stats": {"transactions": transactions}})
    )?;
    Ok(ExitCode::from(code))
}
