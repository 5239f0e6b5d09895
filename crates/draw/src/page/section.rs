//! Sections of a page: headings, paragraphs, tables, verdicts, and exhibits.

use std::fmt::Write;

use isonomy_checker::{IsolationLevel, Verdict};

use super::exhibit::Exhibit;
use super::replicas::ReplicasExhibit;
use super::view;
use crate::text::xml;

/// A part of a page. All texts are escaped.
pub struct Section {
    pub(super) title: String,
    blocks: Vec<Block>,
}

/// What came of a level.
pub struct VerdictRow<'a> {
    /// The level.
    pub level: IsolationLevel,
    /// Its verdict.
    pub verdict: &'a Verdict,
    /// Whether it was asked for, and not only tried.
    pub asked: bool,
    /// How long it took, if that is to be told.
    pub took: Option<String>,
}

enum Block {
    Markup(String),
    Exhibit(Box<Exhibit>),
    Replicas(Box<ReplicasExhibit>),
}

impl Section {
    /// An empty section.
    pub fn new(title: impl Into<String>) -> Self {
        Section { title: title.into(), blocks: Vec::new() }
    }

    /// Adds a paragraph.
    pub fn paragraph(self, text: impl AsRef<str>) -> Self {
        self.markup(format!("<p>{}</p>\n", xml(text.as_ref())))
    }

    /// Adds a table. All rows are as long as the head.
    pub fn table(self, head: &[&str], rows: &[Vec<String>]) -> Self {
        let cells = |row: &[String]| -> String { row.iter().map(|cell| format!("<td>{}</td>", xml(cell))).collect() };
        let rows: Vec<String> = rows.iter().map(|row| cells(row)).collect();
        self.markup(table(head, &rows))
    }

    /// Adds a table of verdicts.
    pub fn verdicts(self, verdicts: &[VerdictRow<'_>]) -> Self {
        let timed = verdicts.iter().any(|row| row.took.is_some());
        let row = |VerdictRow { level, verdict, asked, took }: &VerdictRow<'_>| {
            let more = match verdict {
                Verdict::Violated(found) => found.anomaly.to_string(),
                Verdict::Undecided(reason) => reason.to_string(),
                Verdict::Holds(_) => String::new(),
            };
            let sign = match verdict {
                Verdict::Holds(_) => "✓",
                Verdict::Violated(_) => "✗",
                Verdict::Undecided(_) => "?",
            };
            let word = verdict.name();
            let level = if *asked { format!("<strong>{level}</strong>") } else { level.to_string() };
            let took = took.as_ref().map_or(String::new(), |took| format!("<td class=\"number\">{}</td>", xml(took)));
            format!(
                "<td>{level}</td><td class=\"{word}\"><span aria-hidden=\"true\">{sign}</span> {word}</td><td>{}</td>{took}",
                xml(&more)
            )
        };
        let head: &[&str] =
            if timed { &["level", "verdict", "anomaly", "time"] } else { &["level", "verdict", "anomaly"] };
        let rows: Vec<String> = verdicts.iter().map(row).collect();
        self.markup(table(head, &rows))
    }

    /// Adds a counterexample.
    pub fn exhibit(mut self, exhibit: Exhibit) -> Self {
        self.blocks.push(Block::Exhibit(Box::new(exhibit)));
        self
    }

    /// Adds a table whose last column is a verdict.
    pub(crate) fn judged(self, head: &[&str], rows: &[Vec<String>]) -> Self {
        let row = |row: &Vec<String>| -> String {
            let (verdict, others) = row.split_last().expect("a row has a verdict");
            let class = match &**verdict {
                known @ ("holds" | "violated" | "undecided") => format!(" class=\"{known}\""),
                _ => String::new(),
            };
            let others: String = others.iter().map(|cell| format!("<td>{}</td>", xml(cell))).collect();
            format!("{others}<td{class}>{}</td>", xml(verdict))
        };
        let rows: Vec<String> = rows.iter().map(row).collect();
        self.markup(table(head, &rows))
    }

    /// Adds a counterexample of a replicated data type.
    pub(crate) fn replicas(mut self, exhibit: ReplicasExhibit) -> Self {
        self.blocks.push(Block::Replicas(Box::new(exhibit)));
        self
    }

    fn markup(mut self, markup: String) -> Self {
        self.blocks.push(Block::Markup(markup));
        self
    }

    /// Writes it. Exhibits are numbered through the whole page.
    pub(super) fn render(&self, out: &mut String, number: usize, exhibits: &mut usize) {
        let title = xml(&self.title);
        let _ = writeln!(
            out,
            "<section class=\"section\" id=\"section{number}\" aria-labelledby=\"title{number}\">\n<h2 id=\"title{number}\">{title}</h2>"
        );
        for block in &self.blocks {
            match block {
                Block::Markup(markup) => out.push_str(markup),
                Block::Exhibit(exhibit) => {
                    *exhibits += 1;
                    view::render(out, exhibit, *exhibits);
                }
                Block::Replicas(exhibit) => {
                    *exhibits += 1;
                    exhibit.render(out, *exhibits);
                }
            }
        }
        out.push_str("</section>\n");
    }
}

/// A table of rows whose cells are marked up already. It scrolls by itself if the page is narrow.
fn table(head: &[&str], rows: &[String]) -> String {
    let mut out = String::from("<div class=\"table\">\n<table>\n<thead><tr>");
    for title in head {
        let _ = write!(out, "<th scope=\"col\">{}</th>", xml(title));
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in rows {
        let _ = writeln!(out, "<tr>{row}</tr>");
    }
    out + "</tbody>\n</table>\n</div>\n"
}
