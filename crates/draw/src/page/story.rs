//! The story as a numbered list. Below a distinction of cases it has lists of their own, which can be folded.

use std::fmt::Write;

use super::exhibit::Step;
use crate::text::xml;

/// No step is more than one deeper than the one before it.
pub(super) fn render(out: &mut String, steps: &[Step], number: usize) {
    out.push_str("<ol class=\"story\">\n");
    let mut open = 0;
    for (index, step) in steps.iter().enumerate() {
        for _ in step.depth..open {
            out.push_str("</ol>\n</li>\n");
        }
        open = step.depth;
        item(out, step, number, index);
        // What comes below a step is in a list inside of it, and ends its item only then.
        if steps.get(index + 1).is_some_and(|next| next.depth > open) {
            open += 1;
            let _ = writeln!(
                out,
                "<button type=\"button\" class=\"fold control\" aria-expanded=\"true\" aria-controls=\"x{number}-below{index}\">fold</button>\n<ol id=\"x{number}-below{index}\">"
            );
        } else {
            out.push_str("</li>\n");
        }
    }
    for _ in 0..open {
        out.push_str("</ol>\n</li>\n");
    }
    out.push_str("</ol>\n");
}

fn item(out: &mut String, step: &Step, number: usize, index: usize) {
    let told = xml(&step.text);
    let left_out = if step.scene.is_none() { " <span class=\"hint\">(not drawn)</span>" } else { "" };
    let _ = writeln!(
        out,
        "<li id=\"x{number}-step{}\">\n<button type=\"button\" class=\"step\" data-step=\"{index}\"><span class=\"number\">{}</span> <span>{told}{left_out}</span></button>",
        index + 1,
        xml(&step.number)
    );
}
