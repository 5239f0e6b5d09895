//! The smallest program that answers as `isonomy check --json --level LEVEL [OPTIONS] FILE` does. The tests of the harness measure it,
//! for they cannot have the command itself built.

use std::error::Error;
use std::io::{Write, stdout};
use std::process::ExitCode;

use isonomy::{Engine, IsolationLevel, Options, Verdict};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [check, json, flag, level, options @ .., file] = arguments.as_slice() else {
        return Err("expected `check --json --level LEVEL [OPTIONS] FILE`".into());
    };
    assert_eq!([check.as_str(), json, flag], ["check", "--json", "--level"], "the harness calls it like this");
    let level: IsolationLevel = level.parse()?;
    let mut how = Options::default();
    let mut options = options.iter().map(String::as_str);
    while let Some(option) = options.next() {
        match option {
            "--engine" if options.next() == Some("frontier") => how.engine = Engine::Frontier,
            "--no-guess" => how.ablation.guess = false,
            "--no-rmw-inference" => how.ablation.rmw_inference = false,
            other => return Err(format!("unknown option `{other}`").into()),
        }
    }
    let history = isonomy::open(file)?;
    let (verdict, code) = match isonomy::check(&history, level, &how) {
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
