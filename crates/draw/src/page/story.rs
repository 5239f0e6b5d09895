//! The story as a numbered list. Below a distinction of cases it has lists of their own, which can be folded.

use std::fmt::Write;

use super::exhibit::{Exhibit, Step};
use crate::text::xml;

pub(super) fn render(out: &mut String, exhibit: &Exhibit, number: usize) {
    if exhibit.scenes.len() > 1 {
        out.push_str(
            "<p class=\"hint\">Nobody saw which of some writes came first. Whichever it was, there is a circle.</p>\n",
        );
    }
    out.push_str("<ol class=\"story\">\n");
    let mut open = 0;
    for (index, step) in exhibit.steps.iter().enumerate() {
        for _ in depth(step)..open {
            out.push_str("</ol>\n</li>\n");
        }
        open = depth(step);
        item(out, step, number, index);
        // What comes below a step is in a list inside of it, and ends its item only then.
        if exhibit.steps.get(index + 1).is_some_and(|next| depth(next) > open) {
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

/// How many distinctions of cases a step is below of.
fn depth(step: &Step) -> usize {
    step.number.matches('.').count()
}
