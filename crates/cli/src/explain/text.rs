//! An explanation for people.

use std::fmt::Write;
use std::path::Path;

use isonomy::{Explanation, IsolationLevel, Participant, Sentence, Standing, Verdict};

use super::timeline::timeline;
use crate::check::judge::Judged;
use crate::check::text::style;
use crate::load;
use crate::output::{Paint, Style, Terminal};

/// What was violated, who did what when, why that cannot be, and what it means.
pub(super) fn violated(
    name: &str,
    path: &Path,
    level: IsolationLevel,
    explanation: &Explanation<'_>,
    terminal: Terminal,
) -> String {
    let (paint, width) = (terminal.out, terminal.width());
    let info = explanation.anomaly.info();
    let strong = |word: &str| paint.style(Style::Strong, word);
    let mut text = format!("{name}: {level} {}: {}\n", paint.style(Style::Bad, "violated"), strong(info.name));
    text += &wrapped(info.meaning, width, 0);
    text.push('\n');
    text += &timeline(explanation, width, paint);
    text.push('\n');
    for Sentence { number, text: sentence, .. } in &explanation.steps {
        let head = format!("  {number}. ");
        let told = wrapped(sentence, width, head.chars().count());
        text += &head;
        text += told.trim_start();
    }
    text.push('\n');
    text += &headed("Usual cause: ", &format!("{}.", info.cause), width, paint);
    if let Some(standing) = &explanation.standing {
        text += &headed("Violated: ", &below(standing), width, paint);
        text += &headed("Still holds: ", &held(standing), width, paint);
    }
    text += &places(path, &explanation.transactions, paint);
    text
}

/// What there is to say where nothing is violated.
pub(super) fn nothing(name: &str, judged: &[Judged], standing: &Standing, paint: Paint) -> String {
    let mut text = String::new();
    let undecided = |judged: &&Judged| matches!(judged.verdict, Verdict::Undecided(_));
    for Judged { level, verdict, .. } in judged.iter().filter(undecided) {
        let Verdict::Undecided(reason) = verdict else { continue };
        let _ = writeln!(text, "{name}: {level} {}: {reason}", paint.style(style(verdict), verdict.name()));
    }
    if let [Judged { level, verdict: verdict @ Verdict::Holds(_), .. }] = judged {
        let _ = writeln!(text, "{name}: {level} {}: nothing to explain", paint.style(style(verdict), verdict.name()));
    } else if !standing.holds.is_empty() {
        let _ = writeln!(text, "{name}: no level is violated; it holds at {}", names(&standing.holds));
    }
    text
}

fn names(levels: &[IsolationLevel]) -> String {
    levels.iter().map(|level| level.name()).collect::<Vec<_>>().join(", ")
}

fn below(standing: &Standing) -> String {
    let stronger = |level: &IsolationLevel| {
        !standing.violated.contains(level) && standing.violated.iter().any(|&weak| level.implies(weak))
    };
    let stronger: Vec<IsolationLevel> = IsolationLevel::ALL.into_iter().filter(stronger).collect();
    let weakest = names(&standing.violated);
    if stronger.is_empty() { weakest } else { format!("{weakest}; and so {}", names(&stronger)) }
}

fn held(standing: &Standing) -> String {
    if standing.holds.is_empty() { "none of the levels asked".into() } else { names(&standing.holds) }
}

/// Where the transactions stand in the input, as editors read it.
fn places(path: &Path, transactions: &[Participant<'_>], paint: Paint) -> String {
    let width = transactions.iter().map(|t| t.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Participant { name, place, .. } in transactions {
        let file = match &place.file {
            Some(file) => path.join(&**file).display().to_string(),
            None if load::is_stdin(path) => "-".into(),
            None => path.display().to_string(),
        };
        match place.line {
            0 if place.file.is_none() => {}
            0 => drop(writeln!(text, "  {name:width$}  {file}")),
            line => drop(writeln!(text, "  {name:width$}  {file}:{line}")),
        }
    }
    if text.is_empty() { text } else { format!("{}\n{text}", paint.style(Style::Strong, "Where:")) }
}

/// A paragraph with a head.
fn headed(head: &str, text: &str, width: usize, paint: Paint) -> String {
    let told = wrapped(&format!("{head}{text}"), width, 2);
    // Coloured only now: colours have no width.
    told.trim_start().replacen(head.trim_end(), &paint.style(Style::Strong, head.trim_end()), 1)
}

/// Text in lines of some width, each pushed to the right. Words that are too long have lines of their own.
pub(crate) fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let fits = indent + line.chars().count() + 1 + word.chars().count() <= width;
        if !line.is_empty() && !fits {
            let _ = writeln!(lines, "{:indent$}{line}", "");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    let _ = writeln!(lines, "{:indent$}{line}", "");
    lines
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_have_a_width() {
        assert_eq!(wrapped("one two three", 9, 2), "  one two\n  three\n");
        assert_eq!(wrapped("averylongword b", 6, 0), "averylongword\nb\n");
        assert_eq!(wrapped("", 6, 0), "\n");
    }
}
