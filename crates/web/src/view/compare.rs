//! Two histories or runs, side by side.

use isonomy::IsolationLevel;
use serde_json::Value;

use super::home::kind;
use super::layout::{later, page};
use super::numbers::{grouped, ratio, share, short, size, time};
use super::table::{Column, table};
use super::{escaped, statistics, verdicts, work};
use crate::library::{Entry, Told};
use crate::statistics::{Course, Statistics};

/// One of them.
pub(crate) struct Side {
    pub(crate) entry: Entry,
    pub(crate) report: Option<Value>,
    /// Of the last checks, or of the report.
    pub(crate) verdicts: Vec<Told>,
}

impl Side {
    fn of_report(&self, name: &str) -> Option<&Value> {
        self.report.as_ref().map(|report| &report[name]).filter(|value| !value.is_null())
    }

    fn told(&self, level: IsolationLevel) -> Option<&Told> {
        self.verdicts.iter().find(|told| told.level == level.name())
    }
}

/// The page. What needs the histories themselves comes later.
pub(crate) fn compare(left: &Side, right: &Side) -> String {
    let mut out = about(left, right);
    out += "<h2>Verdicts</h2>\n";
    out += &of_levels(left, right);
    out += &checks(left, right);
    out += &format!(
        "<h2>Numbers</h2>\n{}",
        later(&format!("/compare/numbers?id={}&amp;id={}", left.entry.id, right.entry.id))
    );
    page("Comparison", &out)
}

/// What they are.
fn about(left: &Side, right: &Side) -> String {
    let link = |side: &Side| format!("<a href=\"/histories/{}\">{}</a>", side.entry.id, escaped(&side.entry.name));
    let mut rows = vec![vec!["name".to_owned(), link(left), link(right)]];
    let mut add = |name: &str, tell: &dyn Fn(&Side) -> Option<String>| {
        let (a, b) = (tell(left), tell(right));
        if a.is_some() || b.is_some() {
            rows.push(vec![name.to_owned(), a.unwrap_or_default(), b.unwrap_or_default()]);
        }
    };
    let database = |side: &Side, name: &str| side.of_report("database")?[name].as_str().map(escaped);
    add("format", &|side| Some(kind(&side.entry)));
    add("size", &|side| Some(size(side.entry.size)));
    add("database", &|side| database(side, "product"));
    add("version", &|side| database(side, "version"));
    add("isolation", &|side| database(side, "isolation"));
    add("workload", &|side| side.of_report("workload")?.as_str().map(escaped));
    table("What is compared", &[Column::name("what"), Column::plain("left"), Column::plain("right")], &rows)
}

/// The verdicts of levels that at least one of them was checked at.
fn of_levels(left: &Side, right: &Side) -> String {
    let verdict = |side: &Side, level| side.told(level).map_or_else(|| "not checked".to_owned(), verdicts::words);
    let rows: Vec<Vec<String>> = IsolationLevel::ALL
        .into_iter()
        .filter(|level| left.told(*level).or(right.told(*level)).is_some())
        .map(|level| vec![level.to_string(), verdict(left, level), verdict(right, level)])
        .collect();
    if rows.is_empty() {
        return "<p class=\"hint\">Neither was checked yet. Open one to check it.</p>\n".into();
    }
    table("Verdicts", &[Column::name("level"), Column::plain("left"), Column::plain("right")], &rows)
}

const NUMBERS: [Column; 4] =
    [Column::name("what"), Column::number("left"), Column::number("right"), Column::number("right / left")];

/// A row of numbers with their ratio; `None` if neither is known.
fn row(name: &str, left: Option<f64>, right: Option<f64>, tell: impl Fn(f64) -> String) -> Option<Vec<String>> {
    left.or(right)?;
    let told = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), &tell);
    let ratio = left.zip(right).map_or_else(|| "–".to_owned(), |(left, right)| ratio(right, left));
    Some(vec![name.to_owned(), told(left), told(right), ratio])
}

/// What the checks took, at the levels that both were checked at.
fn checks(left: &Side, right: &Side) -> String {
    let both = IsolationLevel::ALL.into_iter().filter_map(|level| left.told(level).zip(right.told(level)));
    let (lefts, rights): (Vec<&Told>, Vec<&Told>) = both.unzip();
    if lefts.is_empty() {
        return String::new();
    }
    let all = |side: &[&Told]| side.iter().map(|told| told.seconds).sum();
    let mut rows: Vec<Vec<String>> = row("all levels", all(&lefts), all(&rights), time).into_iter().collect();
    let sum = |side: &[&Told], stage: &str| Some(side.iter().map(|told| work::took(told, stage)).sum());
    rows.extend(work::stages(lefts.iter().chain(&rights).copied()).into_iter().filter_map(|stage| {
        row(&format!("all levels, stage {}", escaped(stage)), sum(&lefts, stage), sum(&rights, stage), time)
    }));
    // One that follows from another level took no stages, and its time says nothing.
    let is_own = |(a, b): &(&&Told, &&Told)| !a.stages.is_empty() && !b.stages.is_empty();
    let own = lefts.iter().zip(&rights).filter(is_own);
    rows.extend(own.filter_map(|(a, b)| row(&escaped(&a.level), a.seconds, b.seconds, time)));
    format!(
        "<h2>Time of the checks</h2>\n<p class=\"hint\">Of the levels that both were checked at. Single levels are listed where neither \
         side could conclude the verdict from another level.</p>\n{}",
        table("Time of the checks", &NUMBERS, &rows)
    )
}

/// Numbers with their ratios, and plots with the same axes, as a part of the page.
pub(crate) fn numbers(left: (&Side, &Statistics), right: (&Side, &Statistics)) -> String {
    let mut rows = Vec::new();
    let mut add = |name: &str, of: &dyn Fn(&Side, &Statistics) -> Option<f64>, tell: fn(f64) -> String| {
        rows.extend(row(name, of(left.0, left.1), of(right.0, right.1), tell));
    };
    let count: fn(f64) -> String = |number| grouped(number as u64);
    add("sessions", &|_, found| Some(found.sessions as f64), count);
    add("transactions", &|_, found| Some(found.transactions as f64), count);
    add("events", &|_, found| Some(found.events as f64), count);
    add("keys", &|_, found| Some(found.keys as f64), count);
    add("committed", &|_, found| Some(found.committed as f64), count);
    add("aborted", &|_, found| Some(found.aborted as f64), count);
    add("indeterminate", &|_, found| Some(found.indeterminate as f64), count);
    add("abort rate", &|_, found| found.abort_rate(), share);
    // The history has them for both sides alike; the report of a run helps out where it has no times.
    let or_report = |side: &Side, name: &str, found: Option<f64>| found.or_else(|| side.of_report(name)?.as_f64());
    add(
        "duration",
        &|side, found| or_report(side, "seconds", found.course.as_ref().map(|course| course.seconds)),
        time,
    );
    add("commits per second", &|side, found| or_report(side, "commits_per_second", found.commits_per_second()), short);
    let latency = |side: &Side, name: &str, found: Option<f64>| {
        found.or_else(|| side.of_report("latency_seconds")?[name].as_f64())
    };
    add("latency, half within", &|side, found| latency(side, "p50", found.latency().map(|latency| latency.0)), time);
    add("latency, 99 % within", &|side, found| latency(side, "p99", found.latency().map(|latency| latency.1)), time);
    let mut out = table("Numbers", &NUMBERS, &rows);
    out += "<div class=\"sides\">\n";
    out += &plots(left.0, left.1.course.as_ref(), right.1.course.as_ref());
    out += &plots(right.0, right.1.course.as_ref(), left.1.course.as_ref());
    out + "</div>\n"
}

fn plots(side: &Side, own: Option<&Course>, other: Option<&Course>) -> String {
    let drawn = match own {
        Some(own) => statistics::plots(own, other.unwrap_or(own)),
        None => "<p class=\"hint\">The history has no times, so there is nothing to plot over time.</p>\n".to_owned(),
    };
    format!(
        "<section aria-label=\"{name}\">\n<h3>{name}</h3>\n<div class=\"plots\">\n{drawn}</div>\n</section>\n",
        name = escaped(&side.entry.name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_told_where_there_are_two_numbers() {
        assert_eq!(row("x", None, None, short), None);
        assert_eq!(row("x", Some(2.0), Some(3.0), short).unwrap(), ["x", "2.00", "3.00", "1.50"]);
        assert_eq!(row("x", None, Some(3.0), short).unwrap(), ["x", "unknown", "3.00", "–"]);
    }
}
