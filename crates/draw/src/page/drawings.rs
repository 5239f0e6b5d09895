//! The two drawings of each scene, with attributes by which the script finds their parts.

use std::fmt::Write;

use super::assets::least_width;
use super::exhibit::Exhibit;
use super::names::Names;
use super::ring::{extent, ring};
use super::scenes::Scene;
use crate::geometry::{Curve, Point, Rect};
use crate::kind::Kind;
use crate::layout::arrange;
use crate::model::{Arrow, Panel, THIN_REASONS, Transaction};
use crate::paint::{self, Marks, number};
use crate::text::xml;

/// Around a drawing: what is chosen has thick lines.
const MARGIN: f64 = 4.0;

pub(super) fn render(out: &mut String, exhibit: &Exhibit, exhibit_number: usize) {
    if exhibit.scenes.len() > 1 {
        out.push_str("<div class=\"scenes control\" role=\"group\" aria-label=\"Which circle is drawn\">\n");
        for (index, scene) in exhibit.scenes.iter().enumerate() {
            let name = if index == 0 { "Known".into() } else { format!("Circle {index}") };
            let caption = xml(scene.caption.as_deref().unwrap_or_default());
            let _ = writeln!(
                out,
                "<button type=\"button\" class=\"chip\" data-show=\"{index}\" aria-pressed=\"false\" title=\"{caption}\">{name}</button>"
            );
        }
        out.push_str("</div>\n");
    }
    for (index, scene) in exhibit.scenes.iter().enumerate() {
        let _ = writeln!(out, "<div class=\"scene\" id=\"x{exhibit_number}-scene{index}\" data-scene=\"{index}\">");
        if let Some(caption) = &scene.caption {
            let _ = writeln!(out, "<p class=\"caption\">{}</p>", xml(caption));
        }
        self::scene(out, exhibit, scene, index);
        out.push_str("</div>\n");
    }
    let panels: Vec<&Panel> = exhibit.scenes.iter().map(|scene| &scene.panel).collect();
    legend(out, &panels, THIN_REASONS);
}

fn scene(out: &mut String, exhibit: &Exhibit, scene: &Scene, index: usize) {
    let marks = marks(exhibit, &scene.panel, index);
    let clock = if scene.panel.clock.is_some() { "Sessions, from left to right in time" } else { "Sessions" };
    let layout = arrange(&scene.panel, 0.0);
    let all = Rect { x: 0.0, y: 0.0, width: layout.width, height: layout.height };
    figure(out, "timeline", clock, &all, |out| paint::panel(out, &scene.panel, &layout, Some(&marks)));
    if let Some((graph, layout)) = ring(&scene.panel) {
        let title = if exhibit.is_read { "Who read from whom" } else { "Who must come before whom" };
        figure(out, "ring", title, &extent(&layout), |out| paint::panel(out, &graph, &layout, Some(&marks)));
    }
}

/// A drawing with its caption. It is at least as large as its letters need.
pub(super) fn figure(out: &mut String, class: &str, title: &str, extent: &Rect, draw: impl FnOnce(&mut String)) {
    let extent = extent.grown(MARGIN);
    let [x, y, width, height] =
        [extent.x.floor(), extent.y.floor(), extent.width.ceil() + 1.0, extent.height.ceil() + 1.0].map(number);
    let _ = writeln!(
        out,
        "<figure class=\"{class}\">\n<figcaption>{title}</figcaption>\n<div class=\"scroll\">\n\
         <svg class=\"{}\" width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\" role=\"group\" aria-label=\"{title}\">",
        least_width(extent.width)
    );
    draw(out);
    out.push_str("</svg>\n</div>\n</figure>\n");
}

/// Both drawings call things by the same names.
fn marks(exhibit: &Exhibit, panel: &Panel, scene: usize) -> Marks {
    let names = &exhibit.names;
    let txn =
        |b: &Transaction| format!("data-txn=\"{}\" data-key=\"{}\"", names.party(b.party()), names.keys_of(b.party()));
    let boxes = panel.boxes.iter().map(|b| {
        let name = format!("{}{}", b.name, b.mark());
        format!("class=\"txn\" {} {}", txn(b), button(&name))
    });
    let lines = panel.boxes.iter().map(|b| {
        let line = b.lines.iter().map(|line| {
            let Some(event) = line.event else { return String::new() };
            let (event, keys) = (names.event(event), names.keys_of_event(event));
            let name = format!("{} of {}", line.text, b.name);
            format!("class=\"did\" data-event=\"{event}\" data-key=\"{keys}\" {}", button(&name))
        });
        line.collect()
    });
    let more = panel.boxes.iter().map(|b| {
        let name = format!("{} of {}", b.more().unwrap_or_default(), b.name);
        format!("class=\"unfolds\" data-unfold=\"{}\" {}", names.party(b.party()), button(&name))
    });
    let edge = |index: usize, arrow: &Arrow| {
        format!("data-edge=\"{}\" data-key=\"{}\"", Names::arrow(scene, index), names.keys(arrow.keys()))
    };
    let arrows = panel.arrows.iter().enumerate();
    let labels = arrows.clone().map(|(index, arrow)| {
        let told = &exhibit.told[scene][index];
        format!("class=\"edge-label\" {} {}", edge(index, arrow), button(&format!("{}. {told}", arrow.label)))
    });
    Marks {
        boxes: boxes.collect(),
        lines: lines.collect(),
        more: more.collect(),
        arrows: arrows.map(|(index, arrow)| format!("class=\"edge\" {}", edge(index, arrow))).collect(),
        labels: labels.collect(),
    }
}

/// What makes an element a button for keyboards and for those who cannot see it.
pub(super) fn button(name: &str) -> String {
    format!("role=\"button\" tabindex=\"0\" aria-label=\"{}\"", xml(name))
}

/// The kinds of arrows that occur, and what thin ones are.
pub(super) fn legend(out: &mut String, panels: &[&Panel], thin: &str) {
    let arrows = || panels.iter().flat_map(|panel| &panel.arrows);
    let has_operations = panels.iter().flat_map(|panel| &panel.boxes).any(Transaction::is_operation);
    if arrows().next().is_none() && !has_operations {
        return;
    }
    out.push_str("<ul class=\"legend\" aria-label=\"Kinds of arrows\">\n");
    for kind in Kind::ALL.into_iter().filter(|kind| arrows().any(|arrow| arrow.kind == *kind)) {
        let middle = |x: f64| Point { x, y: 6.0 };
        let curve = Curve([middle(0.0), middle(14.0), middle(28.0), middle(42.0)]);
        let main = arrows().any(|arrow| arrow.kind == kind && arrow.main);
        out.push_str("<li><svg width=\"44\" height=\"12\" viewBox=\"0 0 44 12\" aria-hidden=\"true\">");
        paint::arrow(out, &curve, kind, main);
        let look = kind.look();
        let _ =
            writeln!(out, "</svg><span><b class=\"{}\">{}</b> {}</span></li>", kind.class(), look.word, look.meaning);
    }
    if arrows().any(|arrow| arrow.main) && arrows().any(|arrow| !arrow.main) {
        let _ = writeln!(out, "<li class=\"hint\">{thin}</li>");
    }
    if has_operations {
        for (class, meaning) in [("box update", "update: changes something"), ("box", "query: asks")] {
            out.push_str("<li><svg width=\"44\" height=\"14\" viewBox=\"0 0 44 14\" aria-hidden=\"true\">");
            paint::rect(out, class, &Rect { x: 11.0, y: 1.0, width: 22.0, height: 12.0 }, 3.0);
            let _ = writeln!(out, "</svg><span>{meaning}</span></li>");
        }
    }
    out.push_str("</ul>\n");
}
