//! Small plots as SVG. Everything is in attributes and classes: the policy of the pages forbids styles of elements.

use std::fmt::Write;

use super::escaped;
use super::numbers::time;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 58.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 24.0;

/// How far the axes go. Plots that are to be compared have the same.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) seconds: f64,
    pub(super) most: f64,
}

/// A plot that would show nothing, and what it would show.
pub(super) fn nothing(title: &str, text: &str) -> String {
    format!(
        "<figure class=\"plot\">\n<figcaption>{}</figcaption>\n<p class=\"hint\">{}</p>\n</figure>\n",
        escaped(title),
        escaped(text)
    )
}

/// Values over so many seconds, as bars.
pub(super) fn over_time(
    title: &str,
    values: &[f64],
    seconds: f64,
    scale: Scale,
    tell: impl Fn(f64) -> String,
) -> String {
    let own = values.iter().copied().fold(0.0, f64::max);
    let most = scale.most;
    let (width, height) = (WIDTH - LEFT - 8.0, HEIGHT - TOP - BOTTOM);
    let step = width * (seconds / scale.seconds).min(1.0) / values.len().max(1) as f64;
    let mut out = begin(title, &format!("{title}, over {}: at most {}", time(seconds), tell(own)), HEIGHT);
    let _ = writeln!(out, "<path class=\"axis\" d=\"M{LEFT} {TOP}V{y}H{x}\"/>", y = TOP + height, x = LEFT + width);
    for (index, value) in values.iter().enumerate() {
        let tall = if most > 0.0 { height * value / most } else { 0.0 };
        let (x, y) = (LEFT + step * index as f64, TOP + height - tall);
        let at = time(seconds * (index as f64 + 0.5) / values.len() as f64);
        let _ = writeln!(
            out,
            "<rect class=\"bar\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"><title>{} at {at}</title></rect>",
            x + 0.5,
            (step - 1.0).max(0.5),
            escaped(&tell(*value)),
        );
    }
    let (right, low) = (LEFT + width, HEIGHT - 7.0);
    let _ = writeln!(
        out,
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>",
        LEFT - 6.0,
        TOP + 8.0,
        escaped(&tell(most))
    );
    let _ = writeln!(out, "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">0</text>", LEFT - 6.0, TOP + height);
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{low}\">0</text><text x=\"{right:.0}\" y=\"{low}\" text-anchor=\"end\">{}</text>",
        time(scale.seconds)
    );
    end(out)
}

/// Named values, each a row that may consist of parts.
pub(super) fn rows(title: &str, parts: &[&str], rows: &[(String, Vec<f64>)], tell: impl Fn(f64) -> String) -> String {
    const ROW: f64 = 24.0;
    const NAMES: f64 = 150.0;
    const NUMBERS: f64 = 76.0;
    let total = |values: &[f64]| values.iter().sum::<f64>();
    let most = rows.iter().map(|(_, values)| total(values)).fold(0.0, f64::max);
    let legend = if parts.len() > 1 { ROW } else { 0.0 };
    let told: Vec<String> = rows.iter().map(|(name, values)| format!("{name} {}", tell(total(values)))).collect();
    let mut out = begin(title, &format!("{title}: {}", told.join(", ")), rows.len() as f64 * ROW + legend + 4.0);
    for (index, (name, values)) in rows.iter().enumerate() {
        let y = index as f64 * ROW + 4.0;
        let _ = writeln!(
            out,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>",
            NAMES - 8.0,
            y + 13.0,
            escaped(name)
        );
        let mut x = NAMES;
        for (part, value) in values.iter().enumerate() {
            let wide = if most > 0.0 { (WIDTH - NAMES - NUMBERS) * value / most } else { 0.0 };
            let of = parts.get(part).map_or(String::new(), |part| format!("{part}: "));
            let _ = writeln!(
                out,
                "<rect class=\"bar part{}\" x=\"{x:.1}\" y=\"{y:.0}\" width=\"{wide:.1}\" height=\"17\"><title>{}{}</title></rect>",
                part % 6,
                escaped(&of),
                escaped(&tell(*value)),
            );
            x += wide;
        }
        let _ =
            writeln!(out, "<text x=\"{:.1}\" y=\"{:.0}\">{}</text>", x + 6.0, y + 13.0, escaped(&tell(total(values))));
    }
    if legend > 0.0 {
        let y = rows.len() as f64 * ROW + 6.0;
        let step = WIDTH / parts.len() as f64;
        for (part, name) in parts.iter().enumerate() {
            let x = step * part as f64;
            let _ = writeln!(
                out,
                "<rect class=\"bar part{}\" x=\"{x:.0}\" y=\"{y:.0}\" width=\"10\" height=\"10\"/><text x=\"{:.0}\" y=\"{:.0}\">{}</text>",
                part % 6,
                x + 14.0,
                y + 9.0,
                escaped(name),
            );
        }
    }
    end(out)
}

fn begin(title: &str, description: &str, height: f64) -> String {
    format!(
        "<figure class=\"plot\">\n<figcaption>{}</figcaption>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">\n\
         <svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n",
        escaped(title),
        escaped(title),
        escaped(description),
    )
}

fn end(out: String) -> String {
    out + "</svg>\n</div>\n</figure>\n"
}

#[cfg(test)]
mod tests {
    use super::super::numbers::short;
    use super::*;

    #[test]
    fn plots_are_finite_whatever_comes() {
        for values in [vec![], vec![0.0], vec![1.0, 3.0, 2.0]] {
            let text = over_time("rate", &values, 2.0, Scale { seconds: 2.0, most: 3.0 }, short);
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
        let text = rows("<times>", &["a", "b"], &[("x".into(), vec![0.0, 0.0]), ("y".into(), vec![1.0])], time);
        assert!(!text.contains("NaN") && !text.contains("<times>"), "{text}");
    }

    #[test]
    fn the_same_axes_make_the_same_bars() {
        let plot = |seconds| over_time("rate", &[1.0], seconds, Scale { seconds: 4.0, most: 2.0 }, short);
        let (half, whole) = (plot(2.0), plot(4.0));
        assert!(half.contains("width=\"246.0\"") && whole.contains("width=\"493.0\""), "{half}{whole}");
        assert!(half.contains("at most 1.00") && half.contains(">2.00</text>") && half.contains(">4.00 s</text>"));
    }
}
