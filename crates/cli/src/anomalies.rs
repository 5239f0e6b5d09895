//! `isonomy anomalies`: names, aliases, and the levels that each rules out; and the gallery, in which each is to be seen.

mod examples;

use std::fmt::Write;

use isonomy::{ANOMALIES, AnomalyInfo, IsolationLevel, gallery};
use serde_json::json;

use crate::args::AnomaliesArgs;
use crate::check::html;
use crate::exit::{Exit, Failure};
use crate::load;
use crate::output::{Output, Paint, Style, Table, Terminal};

pub(crate) fn run(args: &AnomaliesArgs, terminal: Terminal) -> Result<Exit, Failure> {
    if let Some(path) = &args.html {
        if load::is_stdin(path) {
            return Err(Failure::new("--html needs a file"));
        }
        html::save(path, &gallery(|info| examples::of(info).into()))?;
        return Ok(Exit::Fine);
    }
    let found: Vec<&AnomalyInfo> = match &args.name {
        None => ANOMALIES.iter().collect(),
        Some(name) => named(name)?,
    };
    let text = if args.json {
        found.into_iter().map(json).collect()
    } else if args.name.is_some() {
        found.into_iter().map(|info| entry(info, terminal.out)).collect::<Vec<_>>().join("\n")
    } else {
        table(terminal.out)
    };
    Output::new().print(&text)?;
    Ok(Exit::Fine)
}

/// Those of this name; an alias may be that of several.
fn named(name: &str) -> Result<Vec<&'static AnomalyInfo>, Failure> {
    if let Some(info) = ANOMALIES.iter().find(|info| info.name == name) {
        return Ok(vec![info]);
    }
    let same = |alias: &str| alias.split(", ").any(|alias| alias.eq_ignore_ascii_case(name));
    let known =
        |info: &&AnomalyInfo| info.name.eq_ignore_ascii_case(name) || info.aliases.iter().any(|(_, alias)| same(alias));
    let found: Vec<&AnomalyInfo> = ANOMALIES.iter().filter(known).collect();
    if found.is_empty() {
        return Err(Failure::new(format_args!("unknown anomaly `{name}`")).hint("`isonomy anomalies` lists them"));
    }
    Ok(found)
}

fn names(levels: &[IsolationLevel]) -> Vec<&'static str> {
    levels.iter().map(|level| level.name()).collect()
}

/// All levels that forbid it.
fn ruled_out(info: &AnomalyInfo) -> Vec<&'static str> {
    IsolationLevel::ALL.into_iter().filter(|&level| info.anomaly.rules_out(level)).map(IsolationLevel::name).collect()
}

fn table(paint: Paint) -> String {
    let mut table = Table::new(["anomaly", "ruled out from", "others say"]);
    for info in &ANOMALIES {
        let aliases: Vec<String> = info.aliases.iter().map(|(who, alias)| format!("{alias} ({who})")).collect();
        table.plain([info.name.into(), names(info.rules_out).join(", "), aliases.join("; ")]);
    }
    table.render(paint) + "\n`isonomy anomalies NAME` tells what each is, and what causes it.\n"
}

fn entry(info: &AnomalyInfo, paint: Paint) -> String {
    let mut text = format!("{}\n", paint.style(Style::Strong, info.name));
    let _ = writeln!(text, "  {}", info.meaning);
    let _ = writeln!(text, "  usual cause:     {}", info.cause);
    let _ = writeln!(text, "  ruled out from:  {}", names(info.rules_out).join(", "));
    let _ = writeln!(text, "  ruled out by:    {}", ruled_out(info).join(", "));
    for (i, (who, alias)) in info.aliases.iter().enumerate() {
        let _ = writeln!(text, "  {:15}  {alias} ({who})", if i == 0 { "others say:" } else { "" });
    }
    let _ = writeln!(text, "  described in:    {}", info.citation);
    text
}

fn json(info: &AnomalyInfo) -> String {
    let aliases: Vec<_> = info.aliases.iter().map(|(who, alias)| json!({ "catalogue": who, "name": alias })).collect();
    let line = json!({
        "anomaly": info.name,
        "aliases": aliases,
        "weakest": names(info.rules_out),
        "rules_out": ruled_out(info),
        "meaning": info.meaning,
        "cause": info.cause,
        "citation": info.citation,
    });
    format!("{line}\n")
}
