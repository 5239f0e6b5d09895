//! `--github`: violations as workflow commands, which GitHub Actions shows beside the files.

use std::path::Path;

use super::{Finding, Subject, place};

/// A line for each violation and for each level that stayed undecided.
pub(super) fn commands(subject: &Subject<'_>, findings: &[Finding<'_>], undecided: &[String]) -> String {
    let mut lines = String::new();
    for finding in findings {
        let (file, line) = finding.last().map_or((None, None), |party| place(subject.path, party));
        let title = format!("isonomy: {}", finding.explanation.anomaly);
        let message = match subject.path {
            Some(_) => finding.message(),
            None => format!("{}: {}", subject.name, finding.message()),
        };
        lines += &command("error", file.as_deref(), line, &title, &message);
    }
    for told in undecided {
        lines += &command("warning", subject.path, None, "isonomy: undecided", told);
    }
    lines
}

/// The line of a history that could not be read.
pub(super) fn unreadable(path: Option<&Path>, told: &str) -> String {
    command("error", path, None, "isonomy: unreadable", told)
}

fn command(kind: &str, file: Option<&Path>, line: Option<u64>, title: &str, message: &str) -> String {
    let mut properties = Vec::new();
    properties.extend(file.map(|file| format!("file={}", property(&file.display().to_string()))));
    properties.extend(line.map(|line| format!("line={line}")));
    properties.push(format!("title={}", property(title)));
    format!("::{kind} {}::{}\n", properties.join(","), data(message))
}

/// A message may have several lines, but a command is one.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Properties end at commas and colons besides.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_lines() {
        let told = command("error", Some(Path::new("a,b.jsonl")), Some(3), "isonomy: 50%", "T(a,1): first\nsecond");
        assert_eq!(told, "::error file=a%2Cb.jsonl,line=3,title=isonomy%3A 50%25::T(a,1): first%0Asecond\n");
        assert_eq!(command("warning", None, None, "t", "m"), "::warning title=t::m\n");
    }
}
