//! A drawing for Graphviz, which finds places by itself.

use std::fmt::Write;

use crate::model::{Arrow, Drawing, Panel, Transaction};
use crate::text::dot;

pub(crate) fn render(drawing: &Drawing) -> String {
    let mut text = String::from("digraph counterexample {\n");
    let label: Vec<String> = [&drawing.title].into_iter().chain(&drawing.subtitle).map(|line| dot(line)).collect();
    let _ = writeln!(
        text,
        "  graph [rankdir=LR, newrank=true, labelloc=t, fontname=\"sans-serif\", label=\"{}\"];",
        label.join("\\n")
    );
    text += "  node [shape=box, style=rounded, fontname=\"monospace\", fontsize=11];\n";
    text += "  edge [fontname=\"monospace\", fontsize=10];\n";
    // From left to right, Graphviz stacks clusters from the bottom up.
    for (number, panel) in drawing.panels.iter().enumerate().rev() {
        self::panel(&mut text, panel, number);
    }
    text += "}\n";
    text
}

fn panel(text: &mut String, panel: &Panel, number: usize) {
    let _ = writeln!(text, "  subgraph cluster_{number} {{");
    let caption = panel.caption.as_deref().unwrap_or_default();
    let _ = writeln!(
        text,
        "    label=\"{}\"; color=\"{}\";",
        dot(caption),
        if caption.is_empty() { "none" } else { "gray" }
    );
    for (lane, name) in panel.lanes.iter().enumerate() {
        let _ = writeln!(text, "    subgraph cluster_{number}_{lane} {{");
        let _ = writeln!(text, "      label=\"{}\"; color=\"lightgray\";", dot(name));
        for (index, b) in panel.boxes.iter().enumerate().filter(|(_, b)| b.lane == lane) {
            let _ = writeln!(text, "      {};", node(b, number, index));
        }
        text.push_str("    }\n");
    }
    for arrow in &panel.arrows {
        let _ = writeln!(text, "    {};", edge(arrow, number));
    }
    text.push_str("  }\n");
}

fn node(b: &Transaction, panel: usize, index: usize) -> String {
    let mut label = format!("{}{}", dot(&b.name), b.mark());
    if !b.lines.is_empty() || b.folded > 0 {
        label += "\\l";
    }
    for line in &b.lines {
        let _ = write!(label, "{}{}\\l", dot(&line.text), if line.bad { "  ← wrong" } else { "" });
    }
    if let Some(more) = b.more() {
        label += &more;
        label += "\\l";
    }
    let bad = b.lines.iter().any(|line| line.bad);
    let more = match (b.mark().is_empty(), bad) {
        (_, true) => ", color=\"#cf222e\", penwidth=2",
        (false, false) => ", style=\"rounded,dashed\"",
        (true, false) => "",
    };
    format!("p{panel}_{index} [label=\"{label}\"{more}]")
}

fn edge(arrow: &Arrow, panel: usize) -> String {
    let look = arrow.kind.look();
    format!(
        "p{panel}_{} -> p{panel}_{} [label=\"{}\", style={}, color=\"{color}\", fontcolor=\"{color}\", penwidth={}]",
        arrow.from,
        arrow.to,
        dot(&arrow.label),
        look.dot_style,
        if arrow.main { "2.2" } else { "1" },
        color = look.light,
    )
}
