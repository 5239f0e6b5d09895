//! A drawing as an SVG document that needs nothing else.

use std::fmt::Write;

use crate::geometry::{Curve, Point, Rect};
use crate::layout::{Layout, arrange};
use crate::model::Drawing;
use crate::paint::{self, arrow, number, text};
use crate::text::{PROSE, mono, wrapped, xml};

const MARGIN: f64 = 20.0;
/// Between two panels.
const BETWEEN: f64 = 22.0;
/// Drawings of one small box have room for their title and legend, too.
const NARROWEST: f64 = 480.0;
/// Panels stand beside each other up to this width.
const WIDEST_ROW: f64 = 1_000.0;
const LEGEND_LINE: f64 = 20.0;

pub(crate) fn render(drawing: &Drawing) -> String {
    let (main, cases) = drawing.panels.split_first().expect("there is always a main panel");
    let cases: Vec<Layout> = cases.iter().map(|panel| arrange(panel, 0.0)).collect();
    // The main panel is as wide as the cases below it.
    let least = in_rows(&cases).1.max(NARROWEST);
    let main = arrange(main, least);
    let (corners, inner, cases_height) = in_rows(&cases);
    let inner = inner.max(main.width);
    let below = main.height + BETWEEN;
    let panels_height = if cases.is_empty() { main.height } else { below + cases_height };
    let corners = corners.iter().map(|corner| Point { y: corner.y + below, ..*corner });
    let corners: Vec<Point> = [Point { x: 0.0, y: 0.0 }].into_iter().chain(corners).collect();
    let layouts: Vec<Layout> = [main].into_iter().chain(cases).collect();
    let subtitle: Vec<String> =
        drawing.subtitle.iter().flat_map(|text| wrapped(text, (inner / PROSE) as usize)).collect();
    let panels_top = MARGIN + 30.0 + 19.0 * subtitle.len() as f64 + 10.0;
    let legend = legend(drawing, inner);
    let legend_top = panels_top + panels_height + if legend.1 == 0 { 10.0 } else { 24.0 };
    let width = inner + 2.0 * MARGIN;
    let height = legend_top + LEGEND_LINE * legend.1 as f64 + MARGIN - 10.0;

    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">",
        number(width.ceil()),
        number(height.ceil())
    );
    let _ = writeln!(out, "<title>{}</title>\n<desc>{}</desc>", xml(&drawing.title), xml(drawing.story.trim_end()));
    style(&mut out, drawing);
    let _ = writeln!(
        out,
        "<rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>",
        number(width.ceil() - 1.0),
        number(height.ceil() - 1.0)
    );
    text(&mut out, "title", MARGIN, MARGIN + 16.0, &drawing.title);
    for (line, words) in subtitle.iter().enumerate() {
        text(&mut out, "prose", MARGIN, MARGIN + 38.0 + 19.0 * line as f64, words);
    }
    for ((panel, layout), corner) in drawing.panels.iter().zip(&layouts).zip(&corners) {
        let _ = writeln!(
            out,
            "<g transform=\"translate({} {})\">",
            number(MARGIN + corner.x),
            number(panels_top + corner.y)
        );
        paint::panel(&mut out, panel, layout, None);
        out.push_str("</g>\n");
    }
    let _ = writeln!(out, "<g transform=\"translate({} {})\">\n{}</g>", number(MARGIN), number(legend_top), legend.0);
    out.push_str("</svg>\n");
    out
}

/// The corners of panels that stand beside each other, in several rows if need be, and the size of all.
fn in_rows(layouts: &[Layout]) -> (Vec<Point>, f64, f64) {
    let widest = layouts.iter().map(|layout| layout.width).fold(WIDEST_ROW, f64::max);
    let mut corners = Vec::new();
    let (mut x, mut y, mut tallest, mut width) = (0.0, 0.0, 0.0_f64, 0.0_f64);
    for layout in layouts {
        if x > 0.0 && x + layout.width > widest {
            y += tallest + BETWEEN;
            (x, tallest) = (0.0, 0.0);
        }
        corners.push(Point { x, y });
        x += layout.width + BETWEEN;
        tallest = tallest.max(layout.height);
        width = width.max(x - BETWEEN);
    }
    (corners, width, y + tallest)
}

/// The kinds that occur, each with a piece of its line; and how many lines that takes.
fn legend(drawing: &Drawing, width: f64) -> (String, usize) {
    const SAMPLE: f64 = 44.0;
    let mut out = String::new();
    let mut line = 0;
    let kinds = drawing.kinds();
    let words = kinds.iter().map(|kind| mono(kind.look().word)).fold(0.0, f64::max);
    for kind in kinds {
        let y = line as f64 * LEGEND_LINE;
        let middle = |x: f64| Point { x, y };
        let main = drawing.panels.iter().flat_map(|panel| &panel.arrows).any(|arrow| arrow.kind == kind && arrow.main);
        let curve = Curve([middle(0.0), middle(SAMPLE / 3.0), middle(SAMPLE * 2.0 / 3.0), middle(SAMPLE)]);
        arrow(&mut out, &curve, kind, main);
        text(&mut out, &format!("word {}", kind.class()), SAMPLE + 10.0, y + 4.0, kind.look().word);
        let x = SAMPLE + 10.0 + words + 10.0;
        for meaning in wrapped(kind.look().meaning, ((width - x) / (PROSE * 12.0 / 13.0)) as usize) {
            text(&mut out, "faint", x, line as f64 * LEGEND_LINE + 4.0, &meaning);
            line += 1;
        }
    }
    if drawing.has_reasons() {
        let y = line as f64 * LEGEND_LINE + 4.0;
        text(&mut out, "faint", 0.0, y, drawing.thin);
        line += 1;
    }
    if drawing.has_operations() {
        let y = line as f64 * LEGEND_LINE;
        for (x, class, meaning) in [(0.0, "box update", "update: changes something"), (240.0, "box", "query: asks")] {
            paint::rect(&mut out, class, &Rect { x, y: y - 6.0, width: 22.0, height: 12.0 }, 3.0);
            text(&mut out, "faint", x + 30.0, y + 4.0, meaning);
        }
        line += 1;
    }
    (out, line)
}

fn style(out: &mut String, drawing: &Drawing) {
    let kinds = drawing.kinds();
    out.push_str("<style>\n");
    out.push_str(
        "text{font:12px ui-monospace,SFMono-Regular,Menlo,'DejaVu Sans Mono',Consolas,monospace;fill:#1f2328;white-space:pre}\n\
         .title,.prose,.caption,.faint{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n\
         .title{font-size:18px;font-weight:600}.prose,.caption{font-size:13px}.caption{font-weight:600}\n\
         .faint{font-size:12px}.faint,.more,.tick,.session{fill:#57606a}.name,.session{font-weight:600}.tick{font-size:11px}\n\
         .mark,.bad{fill:#b3151f}.bad{font-weight:600}\n\
         .card{fill:#fff;stroke:#d0d7de}.lane{fill:#f6f8fa}.odd{fill:#f0f3f6}.grid{stroke:#c3cad1;stroke-dasharray:2 3}\n\
         .box{fill:#fff;stroke:#424a53;stroke-width:1.2}.doubtful{stroke:#b3151f;stroke-dasharray:5 3}.initial-state{stroke:#8c959f;fill:#eaeef2}\n\
         .wrong{fill:#ffdcd9;stroke:#b3151f}.label{fill:#f6f8fa;fill-opacity:.92}\n\
         .line{fill:none;stroke-width:1.2}.head{stroke:none}.line.main{stroke-width:2.4}\n",
    );
    if drawing.has_operations() {
        out.push_str(".gap{font-size:16px;font-weight:700;fill:#57606a}.update{fill:#dcebfb}\n");
    }
    for kind in &kinds {
        let (class, look) = (kind.class(), kind.look());
        let dashes = if look.dashes.is_empty() { String::new() } else { format!(";stroke-dasharray:{}", look.dashes) };
        let _ = writeln!(out, ".line.{class}{{stroke:{0}{dashes}}}.head.{class},.word.{class}{{fill:{0}}}", look.light);
    }
    out.push_str(
        "@media (prefers-color-scheme:dark){\n\
         text{fill:#e6edf3}.faint,.more,.tick,.session{fill:#9da7b3}.mark,.bad{fill:#ff9790}\n\
         .card{fill:#0d1117;stroke:#30363d}.lane{fill:#161b22}.odd{fill:#1c222b}.grid{stroke:#444c56}\n\
         .box{fill:#0d1117;stroke:#adb8c4}.doubtful{stroke:#ff7b72}.initial-state{stroke:#768390;fill:#272e38}\n\
         .wrong{fill:#5c1a1b;stroke:#ff7b72}.label{fill:#161b22}\n",
    );
    if drawing.has_operations() {
        out.push_str(".gap{fill:#9da7b3}.update{fill:#173253}\n");
    }
    for kind in &kinds {
        let (class, look) = (kind.class(), kind.look());
        let _ = writeln!(out, ".line.{class}{{stroke:{0}}}.head.{class},.word.{class}{{fill:{0}}}", look.dark);
    }
    out.push_str("}\n</style>\n");
}
