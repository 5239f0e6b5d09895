//! Sessions as lanes, transactions as boxes, from left to right as far as their order is known.
//!
//! Where there are times, a box stands right of all that ended before it began. Where there are none, it stands right of what it read and of
//! what came before it in its session; boxes in one column are in no known order. What does not fit beside each other goes on below.

use std::time::Duration;

use isonomy::{Datum, Explanation, Name, NamedEvent, Outcome, Participant};

use crate::output::{Paint, Style, time};

/// Names and events may be anything.
const MOST_OF_A_LABEL: usize = 14;
const MOST_OF_A_LINE: usize = 36;
/// Between boxes.
const GAP: usize = 2;

/// The timeline of an explanation, in lines of at most some width as long as a single box fits.
pub(super) fn timeline(explanation: &Explanation<'_>, width: usize, paint: Paint) -> String {
    // Transactions are numbered session by session: lanes are in the order of the input.
    let mut parties: Vec<&Participant<'_>> = explanation.transactions.iter().collect();
    parties.sort_by_key(|party| party.txn);
    let first = parties.iter().filter_map(|party| party.times.start).min();
    let mut boxes: Vec<Box> = Vec::new();
    let mut lanes: Vec<(Name<'_>, String)> = Vec::new();
    for (party, column) in parties.iter().zip(columns(&parties)) {
        if lanes.last().is_none_or(|(session, _)| *session != party.session) {
            lanes.push((party.session, label(party.session)));
        }
        boxes.push(Box::new(party, lanes.len() - 1, column, first, width));
    }
    let margin = lanes.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(margin + 3);
    let mut text = String::new();
    for (number, band) in bands(&boxes, room).into_iter().enumerate() {
        if number > 0 {
            text += &format!("{:margin$} {}\n", "", paint.style(Style::Faint, "⋮ later"));
        }
        for (lane, (_, label)) in lanes.iter().enumerate() {
            let of_lane = |column: usize| boxes.iter().find(|b| (b.lane, b.column) == (lane, column));
            let height = band.iter().filter_map(|&(column, _)| of_lane(column)).map(Box::height).max();
            for row in 0..height.unwrap_or(0) {
                let padding = margin - label.chars().count();
                let label = if row == 0 { paint.style(Style::Strong, label) } else { " ".repeat(margin - padding) };
                let mut line = format!("{label}{:padding$} {} ", "", paint.style(Style::Faint, "│"));
                let last = band.iter().rposition(|&(column, _)| of_lane(column).is_some_and(|b| row < b.height()));
                for &(column, wide) in &band[..last.map_or(0, |last| last + 1)] {
                    let is_last = Some(column) == last.map(|last| band[last].0);
                    let cell = of_lane(column).and_then(|b| b.row(row, paint));
                    let (cell, used) = cell.unwrap_or_default();
                    line += &cell;
                    if !is_last {
                        line += &" ".repeat(wide + GAP - used);
                    }
                }
                text += line.trim_end();
                text.push('\n');
            }
        }
    }
    text
}

fn label(session: Name<'_>) -> String {
    let name = match session {
        Name::Int(number) => format!("session {number}"),
        Name::Text(name) => name.to_string(),
    };
    cut(&name, MOST_OF_A_LABEL)
}

/// Text of one line that is not too long.
fn cut(text: &str, most: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { '·' } else { c }).collect();
    if clean.chars().count() <= most {
        return clean;
    }
    clean.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A transaction, drawn.
struct Box {
    lane: usize,
    column: usize,
    title: String,
    title_style: Style,
    lines: Vec<(String, Style)>,
}

impl Box {
    fn new(party: &Participant<'_>, lane: usize, column: usize, first: Option<i64>, width: usize) -> Self {
        let most = MOST_OF_A_LINE.min(width.saturating_sub(MOST_OF_A_LABEL + 8)).max(8);
        let (mark, title_style) = match party.outcome {
            Outcome::Committed => ("", Style::Strong),
            Outcome::Aborted => (" ✗ aborted", Style::Bad),
            Outcome::Indeterminate => (" ? unknown", Style::Doubtful),
        };
        let title = cut(&format!("{}{mark}", party.name), most);
        let mut lines: Vec<(String, Style)> = Vec::new();
        if let (Some(first), Some(start)) = (first, party.times.start) {
            let finish = party.times.finish.map_or("?".into(), |finish| since(first, finish));
            lines.push((format!("{} … {finish}", since(first, start)), Style::Faint));
        }
        lines.extend(party.events.iter().map(|event| (cut(&event.to_string(), most), Style::Plain)));
        match (party.folded, party.events.is_empty()) {
            (0, _) => {}
            (1, true) => lines.push(("… 1 event".into(), Style::Faint)),
            (folded, true) => lines.push((format!("… {folded} events"), Style::Faint)),
            (folded, false) => lines.push((format!("… {folded} more"), Style::Faint)),
        }
        Box { lane, column, title, title_style, lines }
    }

    /// How much fits inside.
    fn inner(&self) -> usize {
        let lines = self.lines.iter().map(|(line, _)| line.chars().count());
        lines.chain([self.title.chars().count()]).max().unwrap_or(0)
    }

    fn width(&self) -> usize {
        self.inner() + 4
    }

    fn height(&self) -> usize {
        self.lines.len() + 2
    }

    /// A row of it, and how wide that is.
    fn row(&self, row: usize, paint: Paint) -> Option<(String, usize)> {
        let inner = self.inner();
        let text = if row == 0 {
            let rule = "─".repeat(inner - self.title.chars().count());
            format!("┌ {} {rule}┐", paint.style(self.title_style, &self.title))
        } else if let Some((line, style)) = self.lines.get(row - 1) {
            let padding = " ".repeat(inner - line.chars().count());
            format!("│ {}{padding} │", paint.style(*style, line))
        } else if row + 1 == self.height() {
            format!("└{}┘", "─".repeat(inner + 2))
        } else {
            return None;
        };
        Some((text, self.width()))
    }
}

/// Columns with their widths, in groups that fit beside each other.
fn bands(boxes: &[Box], room: usize) -> Vec<Vec<(usize, usize)>> {
    let count = boxes.iter().map(|b| b.column + 1).max().unwrap_or(0);
    let mut bands: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut left = 0;
    for column in 0..count {
        let wide = boxes.iter().filter(|b| b.column == column).map(Box::width).max().unwrap_or(0);
        match bands.last_mut() {
            Some(band) if wide + GAP <= left => {
                band.push((column, wide));
                left -= wide + GAP;
            }
            _ => {
                bands.push(vec![(column, wide)]);
                left = room.saturating_sub(wide);
            }
        }
    }
    bands
}

/// A column for each transaction.
fn columns(parties: &[&Participant<'_>]) -> Vec<usize> {
    let precedes = |a: usize, b: usize| {
        let (earlier, later) = (parties[a], parties[b]);
        if earlier.session == later.session {
            return earlier.position < later.position;
        }
        match (earlier.times.finish, later.times.start) {
            (Some(finish), Some(start)) => finish < start,
            // One that never finished precedes nothing; else nothing but reads is known.
            _ if earlier.times.start.is_some() && later.times.start.is_some() => false,
            _ => reads_from(later, earlier),
        }
    };
    let mut columns: Vec<Option<usize>> = vec![None; parties.len()];
    for _ in 0..parties.len() {
        let open = || (0..parties.len()).filter(|&b| columns[b].is_none());
        let ready = open().find(|&b| open().all(|a| a == b || !precedes(a, b)));
        // Transactions that read from each other in a circle stand as they come; sessions stay in order.
        let in_session = |b: usize| open().all(|a| parties[a].session != parties[b].session || !precedes(a, b));
        let Some(next) = ready.or_else(|| open().find(|&b| in_session(b))) else { break };
        let behind = |&a: &usize| columns[a].is_some() && precedes(a, next);
        let column = (0..parties.len()).filter(behind).filter_map(|a| columns[a]).max().map_or(0, |last| last + 1);
        let taken = |column: usize| {
            (0..parties.len()).any(|a| columns[a] == Some(column) && parties[a].session == parties[next].session)
        };
        columns[next] = (column..).find(|&column| !taken(column));
    }
    columns.into_iter().map(Option::unwrap_or_default).collect()
}

/// Whether one transaction read what another wrote, by the events that are shown. Every value of a key is written once.
fn reads_from(reader: &Participant<'_>, writer: &Participant<'_>) -> bool {
    let wrote = |key: Name<'_>, value: Datum<'_>| {
        writer.events.iter().any(|event| match *event {
            NamedEvent::Write(k, v)
            | NamedEvent::Append(k, v)
            | NamedEvent::Insert(k, v)
            | NamedEvent::Delete(k, v) => (k, v) == (key, value),
            NamedEvent::CompareAndSet { key: k, new, succeeded, .. } => succeeded && (k, new) == (key, value),
            NamedEvent::Read(..) | NamedEvent::ReadList(..) | NamedEvent::Range { .. } => false,
        })
    };
    reader.events.iter().any(|event| match *event {
        NamedEvent::Read(key, value) => wrote(key, value),
        NamedEvent::ReadList(key, ref elements) => elements.iter().any(|&element| wrote(key, element)),
        NamedEvent::Range { ref rows, .. } => rows.iter().any(|&(key, value)| wrote(key, value)),
        NamedEvent::CompareAndSet { key, expected, .. } => wrote(key, expected),
        NamedEvent::Write(..) | NamedEvent::Append(..) | NamedEvent::Insert(..) | NamedEvent::Delete(..) => false,
    })
}

/// A moment after the first one, for people. Histories made by hand have times of a few nanoseconds.
fn since(first: i64, moment: i64) -> String {
    match u64::try_from(moment.saturating_sub(first)).unwrap_or(0) {
        0 => "0".into(),
        nanoseconds @ 1..1_000 => format!("{nanoseconds} ns"),
        nanoseconds => time(Duration::from_nanos(nanoseconds)),
    }
}
