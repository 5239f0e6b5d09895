//! An exhibit as HTML: what it is, the story, the drawings, the transactions.

use std::fmt::Write;

use super::exhibit::Exhibit;
use super::{cards, data, drawings, story};
use crate::text::xml;

/// How an exhibit begins and how it ends.
pub(super) const BEGIN: &str = "<article class=\"exhibit\" ";
pub(super) const END: &str = "</article>\n";

/// Writes an exhibit. Its number makes the ids of its elements unique on the page.
pub(super) fn render(out: &mut String, exhibit: &Exhibit, number: usize) {
    let _ = writeln!(out, "{BEGIN}id=\"x{number}\" aria-labelledby=\"x{number}-title\">");
    header(out, exhibit, number);
    bar(out, exhibit.steps.len(), "an arrow, a transaction or an event", number);
    let _ = writeln!(out, "<div class=\"columns\">\n<section class=\"told\" aria-labelledby=\"x{number}-told\">");
    let _ = writeln!(out, "<h4 id=\"x{number}-told\">The story</h4>");
    if exhibit.scenes.len() > 1 {
        out.push_str(
            "<p class=\"hint\">Nobody saw which of some writes came first. Whichever it was, there is a circle.</p>\n",
        );
    }
    story::render(out, &exhibit.steps, number);
    out.push_str("</section>\n<div class=\"drawings\">\n");
    keys(out, exhibit);
    drawings::render(out, exhibit, number);
    out.push_str("</div>\n</div>\n");
    cards::render(out, exhibit, number);
    let _ = write!(out, "<script type=\"application/json\">{}</script>\n{END}", data::json(exhibit));
}

/// What it is called, what it is, and what it means for levels.
fn header(out: &mut String, exhibit: &Exhibit, number: usize) {
    let info = exhibit.info;
    // A name that the section has already is for those who go from exhibit to exhibit by ear.
    let class = if exhibit.titled { "" } else { " class=\"unseen\"" };
    let _ = writeln!(out, "<header>\n<div>\n<h3 id=\"x{number}-title\"{class}>{}</h3>", info.name);
    let _ = writeln!(out, "<p class=\"meaning\">{}</p>\n<dl class=\"facts\">", xml(info.meaning));
    for (name, text) in facts(exhibit) {
        let _ = writeln!(out, "<div><dt>{}</dt><dd>{text}</dd></div>", xml(&name));
    }
    out.push_str("</dl>\n</div>\n");
    if let Some((history, shows)) = &exhibit.example {
        let _ = writeln!(out, "<div class=\"example\">\n<pre>{}</pre>\n<p>{}</p>\n</div>", xml(history), xml(shows));
    }
    out.push_str("</header>\n");
}

/// Names, and what is to be said of each, marked up.
fn facts(exhibit: &Exhibit) -> Vec<(String, String)> {
    let info = exhibit.info;
    let mut facts: Vec<(String, String)> = Vec::new();
    if let Some(level) = exhibit.violated {
        facts.push(("Violates".into(), format!("<span class=\"violated\">{level}</span>, and what is stronger")));
    }
    facts.extend(exhibit.facts.iter().map(|(name, text)| (name.clone(), xml(text))));
    if !exhibit.holding.is_empty() {
        let names: Vec<&str> = exhibit.holding.iter().map(|level| level.name()).collect();
        facts.push(("Still holds".into(), format!("<span class=\"holds\">{}</span>", names.join(", "))));
    }
    facts.push(("Usual cause".into(), xml(info.cause)));
    let aliases: Vec<String> = info.aliases.iter().map(|(who, name)| format!("{} ({})", xml(name), xml(who))).collect();
    if !aliases.is_empty() {
        facts.push(("Also called".into(), aliases.join("; ")));
    }
    facts.push(("Described in".into(), xml(info.citation)));
    facts
}

/// The buttons that go through the story, and the place where what is chosen is told. It stays in sight.
pub(super) fn bar(out: &mut String, total: usize, parts: &str, number: usize) {
    let _ = writeln!(out, "<div class=\"bar control\" role=\"group\" aria-label=\"Step through the story\">");
    out.push_str("<div class=\"buttons\">\n");
    for (action, sign, name, key) in [
        ("first", "⇤", "First step", "Home"),
        ("back", "←", "Step back", "ArrowLeft"),
        ("next", "→", "Next step", "ArrowRight"),
        ("last", "⇥", "Last step", "End"),
    ] {
        let _ = writeln!(
            out,
            "<button type=\"button\" data-do=\"{action}\" aria-label=\"{name}\" aria-keyshortcuts=\"{key}\" title=\"{name} ({key})\">{sign}</button>"
        );
    }
    let _ = writeln!(
        out,
        "<span class=\"count\">0 / {total}</span>\n<button type=\"button\" data-do=\"clear\" aria-label=\"Clear the choice\" aria-keyshortcuts=\"Escape\" title=\"Clear (Escape)\" hidden=\"hidden\">×</button>\n</div>"
    );
    let _ = writeln!(
        out,
        "<p class=\"now\" id=\"x{number}-now\" role=\"status\">Step through with → and ←, or choose {parts}.</p>\n</div>"
    );
}

/// Chips to look at one key alone. With one key there is nothing to choose.
fn keys(out: &mut String, exhibit: &Exhibit) {
    if exhibit.keys.len() < 2 {
        return;
    }
    out.push_str("<div class=\"keys control\" role=\"group\" aria-label=\"Show one key\">\n<span>Only key</span>\n");
    for (index, key) in exhibit.keys.iter().enumerate() {
        let _ = writeln!(
            out,
            "<button type=\"button\" class=\"chip\" data-filter=\"k{index}\" aria-pressed=\"false\">{}</button>",
            xml(key)
        );
    }
    out.push_str("</div>\n");
}
