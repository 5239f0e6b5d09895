//! Answers: standard output, colours, tables, and numbers for people.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, StdoutLock, Write};
use std::time::Duration;

use crate::exit::{Failure, complain};
use crate::progress::in_lines;

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

/// What the user sees, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// No progress, no notes.
    pub(crate) quiet: bool,
    /// Colours of standard output.
    pub(crate) out: Paint,
    /// Colours of standard error.
    pub(crate) err: Paint,
}

impl Terminal {
    pub(crate) fn new(quiet: bool, color: When) -> Self {
        let out = Paint::new(color, io::stdout().is_terminal());
        let err = Paint::new(color, io::stderr().is_terminal());
        Terminal { quiet, out, err }
    }

    /// Tells something that is no answer.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            complain(&format!("{text}\n"));
        }
    }

    /// How many characters fit in a line of standard output: as many as the terminal has, and as many as terminals once had where there is none.
    pub(crate) fn width(&self) -> usize {
        const USUAL: usize = 80;
        const LEAST: usize = 40;
        console::Term::stdout().size_checked().map_or(USUAL, |(_, columns)| usize::from(columns).max(LEAST))
    }

    /// Whether progress may be shown.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && (io::stderr().is_terminal() || in_lines())
    }
}

/// Whether text is coloured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint(bool);

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Good,
    Bad,
    Doubtful,
    Strong,
    Faint,
}

impl Paint {
    /// No colours.
    pub(crate) const NONE: Paint = Paint(false);

    fn new(when: When, is_terminal: bool) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Paint(match when {
            When::Always => true,
            When::Never => false,
            When::Auto => is_terminal && !set("NO_COLOR") && !dumb,
        })
    }

    pub(crate) fn is_coloured(self) -> bool {
        self.0
    }

    pub(crate) fn style(self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Good => "32",
            Style::Bad => "1;31",
            Style::Doubtful => "33",
            Style::Strong => "1",
            Style::Faint => "2",
            Style::Plain => return text.to_string(),
        };
        if self.0 && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}

/// Standard output. Whoever reads it may go away at any time: then the rest is dropped, and nothing else changes.
pub(crate) struct Output {
    out: StdoutLock<'static>,
    closed: bool,
}

impl Output {
    pub(crate) fn new() -> Self {
        Output { out: io::stdout().lock(), closed: false }
    }

    /// Writes all of it, now.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Failure> {
        if self.closed {
            return Ok(());
        }
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            written => written.map_err(|error| Failure::new(format_args!("standard output: {error}"))),
        }
    }
}

/// A table for people: columns as wide as their widest cell.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Vec<(String, Style)>>,
    right: Vec<usize>,
}

impl Table {
    pub(crate) fn new<const N: usize>(head: [&str; N]) -> Self {
        let mut table = Table::default();
        table.row(head.map(|cell| (cell.to_string(), Style::Strong)));
        table
    }

    /// Rows whose number of columns is not known beforehand.
    pub(crate) fn of(rows: Vec<Vec<(String, Style)>>) -> Self {
        Table { rows, ..Table::default() }
    }

    /// Aligns a column to the right.
    pub(crate) fn right(mut self, column: usize) -> Self {
        self.right.push(column);
        self
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [(String, Style); N]) {
        self.rows.push(cells.into());
    }

    /// A row without style.
    pub(crate) fn plain<const N: usize>(&mut self, cells: [String; N]) {
        self.row(cells.map(|cell| (cell, Style::Plain)));
    }

    /// The rows as lines.
    pub(crate) fn lines(&self, paint: Paint) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.0.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let render = |row: &Vec<(String, Style)>| {
            let mut line = String::new();
            let last = row.iter().rposition(|cell| !cell.0.is_empty()).unwrap_or(0);
            for (column, (text, style)) in row.iter().enumerate().take(last + 1) {
                let padding = " ".repeat(widths[column] - text.chars().count());
                let (before, after) =
                    if self.right.contains(&column) { (&padding[..], "") } else { ("", &padding[..]) };
                let after = if column == last { "" } else { after };
                let _ = write!(line, "{before}{}{after}", paint.style(*style, text));
                if column != last {
                    line += "  ";
                }
            }
            line
        };
        self.rows.iter().map(render).collect()
    }

    pub(crate) fn render(&self, paint: Paint) -> String {
        self.lines(paint).into_iter().map(|line| line + "\n").collect()
    }
}

/// A time for people, with about three digits.
pub(crate) fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (value, unit) = match seconds {
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    if value < 10.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// `1 transaction`, `12,000 transactions`.
pub(crate) fn count(number: usize, one: &str) -> String {
    format!("{} {one}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Text with each line pushed to the right.
pub(crate) fn indented(text: &str, by: usize) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("{:by$}{line}\n", "") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_for_people() {
        assert_eq!(time(Duration::from_micros(1_234)), "1.2 ms");
        assert_eq!(time(Duration::from_secs(75)), "75 s");
        assert_eq!(count(1, "event"), "1 event");
        assert_eq!([999, 1_000, 1_234_567].map(grouped), ["999", "1,000", "1,234,567"]);
    }

    #[test]
    fn tables_are_aligned_and_have_no_trailing_space() {
        let mut table = Table::new(["name", "count", "note"]).right(1);
        table.plain(["a".into(), "12345".into(), String::new()]);
        table.plain(["longer".into(), "1".into(), "x".into()]);
        assert_eq!(table.render(Paint(false)), "name    count  note\na       12345\nlonger      1  x\n");
    }
}
