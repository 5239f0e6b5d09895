//! Panels as SVG elements: lanes, boxes, arrows, labels and the clock. Their colours are for a style sheet to say.

use std::fmt::Write;

use crate::geometry::{Curve, Point, Rect};
use crate::kind::Kind;
use crate::layout::{LINE, Layout, PADDING, line_at};
use crate::model::{Panel, Subject, Transaction};
use crate::text::{mono, xml};

/// Attributes by which a page finds the parts of a panel. Each part is then an element of its own.
pub(crate) struct Marks {
    /// For each box, without its events.
    pub(crate) boxes: Vec<String>,
    /// For each box, for each of its events.
    pub(crate) lines: Vec<Vec<String>>,
    /// For each box, what stands for events that are not shown.
    pub(crate) more: Vec<String>,
    /// For each arrow, its line.
    pub(crate) arrows: Vec<String>,
    /// For each arrow, its label.
    pub(crate) labels: Vec<String>,
}

impl Marks {
    fn line(&self, b: usize, line: usize) -> &str {
        &self.lines[b][line]
    }
}

/// Draws a panel, with its corner at the origin.
pub(crate) fn panel(out: &mut String, panel: &Panel, layout: &Layout, marks: Option<&Marks>) {
    for (line, words) in layout.caption.iter().enumerate() {
        text(out, "caption", 0.0, 13.0 + 18.0 * line as f64, words);
    }
    for (index, (rect, name)) in layout.lanes.iter().zip(&panel.lanes).enumerate() {
        let class = if index % 2 == 0 { "lane" } else { "lane odd" };
        self::rect(out, class, rect, 6.0);
        text(out, "session", 12.0, rect.center().y + 4.0, name);
    }
    axis(out, layout);
    // Reasons lie below what they are reasons of. An arrow that cannot avoid a box goes behind it.
    for main in [false, true] {
        let arrows = layout.routes.iter().zip(&panel.arrows).enumerate();
        for (index, (route, arrow)) in arrows.filter(|(_, (_, arrow))| arrow.main == main) {
            marked(out, marks.map(|marks| &*marks.arrows[index]), |out| {
                if marks.is_some() {
                    // Thin lines are hard to hit.
                    let _ = writeln!(out, "<path class=\"hit\" d=\"{}\"/>", path(route.curve.0));
                }
                self::arrow(out, &route.curve, arrow.kind, main);
            });
        }
    }
    for (rect, skipped) in &layout.gaps {
        let meaning = if *skipped == 1 { "1 operation".into() } else { format!("{skipped} operations") };
        let _ = writeln!(out, "<g><title>{meaning} left out</title>");
        text(out, "gap", rect.x, rect.center().y + 2.0, "…");
        out.push_str("</g>\n");
    }
    for (index, (rect, b)) in layout.boxes.iter().zip(&panel.boxes).enumerate() {
        if let Some(tip) = &b.tip {
            let _ = writeln!(out, "<g><title>{}</title>", xml(tip));
        }
        transaction(out, rect, index, b, marks);
        if b.tip.is_some() {
            out.push_str("</g>\n");
        }
    }
    for (index, (route, arrow)) in layout.routes.iter().zip(&panel.arrows).enumerate() {
        marked(out, marks.map(|marks| &*marks.labels[index]), |out| {
            self::rect(out, "label", &route.label, 4.0);
            let class = format!("word {}", arrow.kind.class());
            text(out, &class, route.label.x + 4.0, route.label.y + 12.5, &arrow.label);
        });
    }
}

/// What is drawn is an element of its own, if it has a mark.
fn marked(out: &mut String, mark: Option<&str>, draw: impl FnOnce(&mut String)) {
    if let Some(mark) = mark {
        let _ = writeln!(out, "<g {mark}>");
    }
    draw(out);
    if mark.is_some() {
        out.push_str("</g>\n");
    }
}

fn transaction(out: &mut String, rect: &Rect, index: usize, b: &Transaction, marks: Option<&Marks>) {
    let class = match b.subject {
        Subject::InitialState => "box initial-state",
        Subject::Update => "box update",
        Subject::Transaction(..) | Subject::Query if b.mark().is_empty() => "box",
        Subject::Transaction(..) | Subject::Query => "box doubtful",
    };
    let x = rect.x + PADDING;
    marked(out, marks.map(|marks| &*marks.boxes[index]), |out| {
        self::rect(out, class, rect, 7.0);
        let y = rect.y + PADDING - 2.0 + LINE / 2.0 + 4.0;
        text(out, "name", x, y, &b.name);
        if !b.mark().is_empty() {
            text(out, "mark", x + mono(&b.name) + mono(" "), y, b.mark().trim_start());
        }
    });
    for (number, line) in b.lines.iter().enumerate() {
        let middle = line_at(rect, number);
        let behind =
            Rect { x: rect.x + 4.0, y: middle - LINE / 2.0 + 0.5, width: rect.width - 8.0, height: LINE - 1.0 };
        marked(out, marks.map(|marks| marks.line(index, number)), |out| {
            if line.bad {
                self::rect(out, "wrong", &behind, 3.0);
            } else if marks.is_some() {
                self::rect(out, "row", &behind, 3.0);
            }
            text(out, if line.bad { "event bad" } else { "event" }, x, middle + 4.0, &line.text);
        });
    }
    if let Some(more) = b.more() {
        marked(out, marks.map(|marks| &*marks.more[index]), |out| {
            text(out, "more", x, line_at(rect, b.lines.len()) + 4.0, &more);
        });
    }
}

/// The clock below the lanes.
fn axis(out: &mut String, layout: &Layout) {
    let (Some(first), Some(last)) = (layout.lanes.first(), layout.lanes.last()) else { return };
    if layout.ticks.is_empty() {
        return;
    }
    let bottom = last.bottom();
    text(out, "tick", 12.0, bottom + 19.0, "time");
    let mut free = 60.0;
    for (x, time) in &layout.ticks {
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{0} {1}V{2}\"/>",
            number(*x),
            number(first.y),
            number(bottom + 5.0)
        );
        let half = mono(time) / 2.0;
        if x - half >= free && x + half <= layout.width {
            text(out, "tick", x - half, bottom + 19.0, time);
            free = x + half + 8.0;
        }
    }
}

/// Draws an arrow along a curve.
pub(crate) fn arrow(out: &mut String, curve: &Curve, kind: Kind, main: bool) {
    let [a, b, c, d] = curve.0;
    // The head begins where the line ends, and points the way the line came.
    let length = c.distance(d).max(1.0);
    let back = Point { x: (c.x - d.x) / length, y: (c.y - d.y) / length };
    let (long, wide) = if main { (10.0, 4.5) } else { (8.0, 3.5) };
    let neck = d.moved(back, long);
    let across = Point { x: -back.y, y: back.x };
    let class = format!("{}{}", kind.class(), if main { " main" } else { "" });
    let line = path([a, b, c, d.moved(back, long - 2.0)]);
    let head = if kind.is_stopped() {
        // A bar across, before it gets there.
        let (near, far) = (d.moved(back, long / 2.0), d.moved(back, long - 1.0));
        let ends = |at: Point, side: f64| [at.moved(across, side * 1.6 * wide), at.moved(across, -side * 1.6 * wide)];
        [ends(near, 1.0), ends(far, -1.0)].concat()
    } else {
        vec![d, neck.moved(across, wide), neck.moved(across, -wide)]
    };
    let head: Vec<String> = head.iter().map(|point| format!("{} {}", number(point.x), number(point.y))).collect();
    let _ = writeln!(
        out,
        "<path class=\"line {class}\" d=\"{line}\"/><path class=\"head {class}\" d=\"M{}Z\"/>",
        head.join("L")
    );
}

/// A cubic curve as SVG has it.
fn path(points: [Point; 4]) -> String {
    let [a, b, c, d] = points.map(|point| format!("{} {}", number(point.x), number(point.y)));
    format!("M{a}C{b} {c} {d}")
}

/// Draws a rectangle with round corners.
pub(crate) fn rect(out: &mut String, class: &str, rect: &Rect, radius: f64) {
    let _ = writeln!(
        out,
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
        number(rect.x),
        number(rect.y),
        number(rect.width),
        number(rect.height),
        number(radius)
    );
}

/// Writes words, if there are any.
pub(crate) fn text(out: &mut String, class: &str, x: f64, y: f64, words: &str) {
    if !words.is_empty() {
        let _ = writeln!(out, "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>", number(x), number(y), xml(words));
    }
}

/// A length with at most one digit after the point.
pub(crate) fn number(length: f64) -> String {
    let tenths = (length * 10.0).round();
    // Not `-0`.
    let tenths = if tenths == 0.0 { 0.0 } else { tenths };
    format!("{}", tenths / 10.0)
}
