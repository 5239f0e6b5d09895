//! All anomalous patterns of a history: for people and for programs.

use std::fmt::Write;

use isonomy::patterns::{Group, Instance, Patterns};
use isonomy::{History, TxnId};
use serde_json::{Value, json};

use crate::output::{Paint, Style, Table, grouped};

/// The groups as a table, with the instances told below each.
pub(crate) fn table(history: &History, patterns: &Patterns, paint: Paint) -> String {
    let note = if patterns.partial { "stale reads were not searched for: there are too many sessions\n" } else { "" };
    if patterns.is_empty() {
        return format!("\nno anomalous pattern of causal consistency\n{note}");
    }
    let letter = |letter: Option<char>| (letter.map_or("-".into(), String::from), Style::Plain);
    let mut table = Table::new(["anomaly", "C4", "Plume", "count"]).right(3);
    for group in &patterns.groups {
        let count = grouped(usize::try_from(group.count).unwrap_or(usize::MAX));
        table.row([
            (group.anomaly.to_string(), Style::Bad),
            letter(group.c4),
            letter(group.plume),
            (count, Style::Plain),
        ]);
    }
    let mut lines = table.lines(paint).into_iter();
    let mut text = String::from("\nall anomalous patterns of causal consistency:\n");
    text.extend(lines.next().map(|head| head + "\n"));
    for (group, line) in patterns.groups.iter().zip(lines) {
        let _ = writeln!(text, "{line}");
        for instance in &group.instances {
            let _ = writeln!(text, "    {}", instance.tell(history));
        }
        let more = group.count.saturating_sub(group.instances.len() as u64);
        if more > 0 {
            let more = format!("… and {} more (--max tells more of them)", grouped(more as usize));
            let _ = writeln!(text, "    {}", paint.style(Style::Faint, &more));
        }
    }
    text + note
}

/// The groups as an array.
pub(crate) fn json(history: &History, patterns: &Patterns) -> Value {
    let name = |txn: TxnId| history.transaction_name(txn).to_string();
    let instance = |instance: &Instance| {
        let mut value = json!({ "told": instance.tell(history) });
        match instance {
            Instance::Read(fault) => {
                value["reader"] = name(fault.txn).into();
                value["key"] = history.key_name(fault.key).to_string().into();
            }
            Instance::Cycle(txns) => value["transactions"] = txns.iter().map(|&txn| name(txn)).collect(),
            Instance::Stale { key, stale, missed, reader } => {
                value["reader"] = name(*reader).into();
                value["key"] = history.key_name(*key).to_string().into();
                value["stale"] = stale.map(name).into();
                value["missed"] = name(*missed).into();
            }
        }
        value
    };
    let group = |group: &Group| {
        json!({
            "anomaly": group.anomaly.name(),
            "c4": group.c4,
            "plume": group.plume,
            "count": group.count,
            "instances": group.instances.iter().map(instance).collect::<Vec<_>>(),
        })
    };
    patterns.groups.iter().map(group).collect()
}
