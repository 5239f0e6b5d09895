//! `--sarif`: violations in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS Standard, 2020; errata 01, 2023).
//!
//! Rules are the anomalies of the table, results are counterexamples. A result points at the transaction that stands last in the input; the
//! others are related locations. Its fingerprint is made of what happened, not of where that is written, so that the same violation is
//! recognized when lines move.

use std::path::{Path, PathBuf};

use isonomy::{ANOMALIES, AnomalyInfo, Explanation, NamedEvent, Participant};
use serde_json::{Value, json};

use super::{Finding, Subject, place};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The whole file.
pub(super) fn log(results: Vec<Value>, notifications: Vec<Value>) -> Value {
    let successful = notifications.iter().all(|notification| notification["level"] != "error");
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "isonomy",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": ANOMALIES.iter().map(rule).collect::<Vec<_>>(),
            }},
            "invocations": [{
                "executionSuccessful": successful,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    })
}

fn rule(info: &AnomalyInfo) -> Value {
    let aliases: Vec<String> = info.aliases.iter().map(|(whose, name)| format!("{name} ({whose})")).collect();
    let others = if aliases.is_empty() { String::new() } else { format!(" Also known as {}.", aliases.join(", ")) };
    let levels: Vec<&str> = info.rules_out.iter().map(|level| level.name()).collect();
    let help = format!(
        "{} Usual cause: {}. The weakest levels that forbid it: {}.{others} See: {}.",
        info.meaning,
        info.cause,
        levels.join(", "),
        info.citation
    );
    json!({
        "id": info.name,
        "name": pascal_case(info.name),
        "shortDescription": { "text": info.name.replace('-', " ") },
        "fullDescription": { "text": info.meaning },
        "help": { "text": help },
        "defaultConfiguration": { "level": "error" },
        "properties": { "tags": ["isolation", "database"] },
    })
}

fn pascal_case(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('-').map(word).collect()
}

/// A counterexample.
pub(super) fn result(subject: &Subject<'_>, finding: &Finding<'_>) -> Value {
    let anomaly = finding.explanation.anomaly;
    let levels: Vec<&str> = finding.levels.iter().map(|level| level.name()).collect();
    let related: Vec<Value> = finding
        .explanation
        .transactions
        .iter()
        .map(|party| location(subject.path, party, Some(&deeds(party))))
        .collect();
    json!({
        "ruleId": anomaly.name(),
        "ruleIndex": anomaly as usize,
        "level": "error",
        "message": { "text": finding.message() },
        "locations": finding.last().map(|party| location(subject.path, party, None)).into_iter().collect::<Vec<_>>(),
        "relatedLocations": related,
        "partialFingerprints": { "counterexample/v1": fingerprint(&finding.explanation) },
        "properties": { "history": subject.name, "levels": levels },
    })
}

/// `T2: r(x,4) w(x,5)`.
fn deeds(party: &Participant<'_>) -> String {
    let events: Vec<String> = party.events.iter().map(NamedEvent::to_string).collect();
    format!("{}: {}", party.name, events.join(" "))
}

fn location(path: Option<&Path>, party: &Participant<'_>, message: Option<&str>) -> Value {
    let name = format!("session {}, transaction {}", party.session, party.name);
    let mut location = json!({ "logicalLocations": [{ "name": party.name, "fullyQualifiedName": name }] });
    if let (Some(file), line) = place(path, party) {
        location["physicalLocation"] = json!({ "artifactLocation": { "uri": uri(&file) } });
        if let Some(line) = line {
            location["physicalLocation"]["region"] = json!({ "startLine": line });
        }
    }
    if let Some(message) = message {
        location["message"] = json!({ "text": message });
    }
    location
}

/// What could not be checked.
pub(super) fn notification(level: &str, path: Option<&Path>, told: &str) -> Value {
    let mut notification = json!({ "level": level, "message": { "text": told } });
    if let Some(path) = path {
        notification["locations"] = json!([{ "physicalLocation": { "artifactLocation": { "uri": uri(path) } } }]);
    }
    notification
}

/// A path as a URI: relative if it is.
fn uri(path: &Path) -> String {
    let mut text = String::from(if path.is_absolute() { "file://" } else { "" });
    let path: PathBuf = path.components().filter(|part| !matches!(part, std::path::Component::CurDir)).collect();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => text.push(char::from(byte)),
            b'\\' if cfg!(windows) => text.push('/'),
            byte => text += &format!("%{byte:02X}"),
        }
    }
    text
}

/// The same for the same transactions doing the same. FNV-1a: what is written to files must not change with a library.
fn fingerprint(explanation: &Explanation<'_>) -> String {
    let mut parties: Vec<&Participant<'_>> = explanation.transactions.iter().collect();
    parties.sort_by_key(|party| party.txn);
    let told = parties.iter().map(|party| format!("{}/{}/{}", party.session, party.position, deeds(party)));
    let text: String = std::iter::once(explanation.anomaly.to_string()).chain(told).collect::<Vec<_>>().join("\n");
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri(Path::new("./runs/a b.jsonl")), "runs/a%20b.jsonl");
        assert_eq!(uri(Path::new("/tmp/ä")), "file:///tmp/%C3%A4");
    }

    #[test]
    fn rules_are_in_the_order_of_the_table() {
        let log = log(Vec::new(), Vec::new());
        for info in &ANOMALIES {
            let rule = &log["runs"][0]["tool"]["driver"]["rules"][info.anomaly as usize];
            assert_eq!(rule["id"], info.name);
        }
        assert_eq!(pascal_case("lost-update"), "LostUpdate");
    }
}
