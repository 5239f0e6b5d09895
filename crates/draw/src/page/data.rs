//! What the script of a page must know: which arrows, events and transactions belong to each other.

use serde_json::{Map, Value, json};

use super::exhibit::{Exhibit, Step};
use super::names::Names;

/// As JSON that can stand in an HTML element.
pub(super) fn json(exhibit: &Exhibit) -> String {
    let names = &exhibit.names;
    let mut edges = Map::new();
    for (number, (scene, told)) in exhibit.scenes.iter().zip(&exhibit.told).enumerate() {
        for (index, (arrow, told)) in scene.panel.arrows.iter().zip(told).enumerate() {
            let end = |end: usize| names.party(scene.panel.boxes[end].party());
            let mut events = arrow.events.clone();
            events.sort_unstable();
            events.dedup();
            let edge = json!({
                "scene": number,
                "from": end(arrow.from),
                "to": end(arrow.to),
                "label": arrow.label,
                "why": told,
                "events": events.into_iter().map(|event| names.event(event)).collect::<Vec<_>>(),
            });
            edges.insert(Names::arrow(number, index), edge);
        }
    }
    let step = |step: &Step| {
        let arrows = |arrows: &[usize]| -> Vec<String> {
            let Some(scene) = step.scene else { return Vec::new() };
            arrows.iter().map(|&arrow| Names::arrow(scene, arrow)).collect()
        };
        json!({
            "scene": step.scene,
            "edges": arrows(&step.arrows),
            "reasons": arrows(&step.reasons),
            "events": step.events.iter().map(|&event| names.event(event)).collect::<Vec<_>>(),
            "txns": step.txns.iter().map(|&txn| names.party(Some(txn))).collect::<Vec<_>>(),
        })
    };
    let steps: Vec<Value> = exhibit.steps.iter().map(step).collect();
    in_element(&json!({ "edges": edges, "steps": steps }))
}

/// JSON that can stand in an HTML element.
pub(super) fn in_element(data: &Value) -> String {
    let mut text = String::new();
    for c in data.to_string().chars() {
        // Nothing in it can end the element or be taken for markup, and HTML has no such letters as the last two.
        match c {
            '<' | '&' | '\u{fffe}' | '\u{ffff}' => text += &format!("\\u{:04x}", u32::from(c)),
            c => text.push(c),
        }
    }
    text
}
