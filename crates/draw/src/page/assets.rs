//! The style sheet and the script of all pages, which are the same for all of them.

use std::fmt::Write;

use crate::kind::Kind;

/// The files share one scope, which nothing outside of it sees.
pub(super) const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("assets/exhibit.js"),
    include_str!("assets/story.js"),
    include_str!("assets/folds.js"),
    include_str!("assets/theme.js"),
    include_str!("assets/main.js"),
    "})();\n"
);

/// The widest drawing that has a rule of its own for how small it may get, in hundreds.
const WIDEST: usize = 40;

/// The style sheet: what is the same for all, the kinds of arrows, and the least widths of drawings.
pub(super) fn style() -> String {
    let mut style = String::from(concat!(
        "\n",
        include_str!("assets/page.css"),
        include_str!("assets/exhibit.css"),
        include_str!("assets/drawing.css")
    ));
    for kind in Kind::ALL {
        let (class, look) = (kind.class(), kind.look());
        let dashes = if look.dashes.is_empty() { String::new() } else { format!(";stroke-dasharray:{}", look.dashes) };
        let _ = writeln!(
            style,
            ".{class}{{--kind:light-dark({},{})}}.line.{class}{{stroke:var(--kind){dashes}}}.head.{class},.word.{class}{{fill:var(--kind)}}",
            look.light, look.dark
        );
    }
    // Attributes cannot say it: the policy of the page forbids styles in them.
    for hundreds in 3..=WIDEST {
        let _ = writeln!(style, ".least{hundreds}{{min-width:{hundreds}00px}}");
    }
    // Last, to win over all of the above.
    style + include_str!("assets/print.css")
}

/// The class of a drawing that says how small it may be shown: its letters must stay legible.
pub(super) fn least_width(width: f64) -> String {
    let hundreds = (0.8 * width / 100.0) as usize;
    if hundreds < 3 { String::new() } else { format!("least{}", hundreds.min(WIDEST)) }
}
