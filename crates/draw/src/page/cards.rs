//! The transactions with all their events, and where they stand in the input.

use std::fmt::Write;

use isonomy_history::Outcome;

use super::exhibit::{Card, CardEvent, Exhibit};
use crate::text::xml;

pub(super) fn render(out: &mut String, exhibit: &Exhibit, number: usize) {
    let _ = writeln!(
        out,
        "<section class=\"transactions\" aria-labelledby=\"x{number}-txns\">\n<h4 id=\"x{number}-txns\">The transactions</h4>\n<ul class=\"cards\">"
    );
    for card in &exhibit.transactions {
        self::card(out, exhibit, card, number);
    }
    out.push_str("</ul>\n</section>\n");
}

fn card(out: &mut String, exhibit: &Exhibit, card: &Card, number: usize) {
    let party = Some(card.txn);
    let id = exhibit.names.party(party);
    let _ = writeln!(
        out,
        "<li class=\"card\" id=\"x{number}-{id}\" data-txn=\"{id}\" data-key=\"{}\">\n<p><button type=\"button\" class=\"name\" data-txn=\"{id}\">{}</button>{}</p>",
        exhibit.names.keys_of(party),
        xml(&card.name),
        match card.outcome {
            Outcome::Committed => "",
            Outcome::Aborted => " <span class=\"mark\">✗ aborted</span>",
            Outcome::Indeterminate => " <span class=\"mark\">? outcome unknown</span>",
        }
    );
    let _ = writeln!(out, "<p class=\"where\">{}</p>", xml(&whereabouts(exhibit, card)));
    out.push_str("<ul class=\"events\">\n");
    let folded = card.events.iter().filter(|event| !event.matters).count();
    for event in &card.events {
        self::event(out, exhibit, card, event);
    }
    if folded > 0 {
        let _ = writeln!(
            out,
            "<li class=\"control\"><button type=\"button\" class=\"unfold\" aria-expanded=\"true\" data-count=\"{folded}\">fold</button></li>"
        );
    }
    if card.left_out > 0 {
        let _ = writeln!(out, "<li class=\"hint\">and {} more, which are not on this page</li>", card.left_out);
    }
    out.push_str("</ul>\n</li>\n");
}

fn event(out: &mut String, exhibit: &Exhibit, card: &Card, event: &CardEvent) {
    let class = if event.matters { "" } else { " class=\"other\"" };
    let (id, keys) = (exhibit.names.event(event.event), exhibit.names.keys_of_event(event.event));
    let text = xml(&event.text);
    // What others do not rest on is text: hundreds of buttons would be in the way of the keyboard.
    let _ = if event.matters {
        writeln!(
            out,
            "<li{class}><button type=\"button\" class=\"event\" data-event=\"{id}\" data-key=\"{keys}\" aria-label=\"{text} of {}\">{text}</button></li>",
            xml(&card.name)
        )
    } else {
        writeln!(out, "<li{class}><span class=\"event\" data-event=\"{id}\" data-key=\"{keys}\">{text}</span></li>")
    };
}

/// Its session, its place in the input, its times.
fn whereabouts(exhibit: &Exhibit, card: &Card) -> String {
    let mut text = format!("session {}, no. {}", card.session, card.position);
    match (&exhibit.source, &card.place) {
        (Some(source), Some(place)) => text += &format!(" · {source}, {place}"),
        (None, Some(place)) => text += &format!(" · {place}"),
        (_, None) => {}
    }
    match card.times {
        Some((start, Some(finish))) => text += &format!(" · time {start} to {finish}"),
        Some((start, None)) => text += &format!(" · time {start}, end unknown"),
        None => {}
    }
    text
}
