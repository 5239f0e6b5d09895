//! Drawings and pages of replicated data types are well formed, complete and safe, however contradictory the arrows and whatever the names are.

use std::collections::BTreeSet;

use isonomy_crdt::{ArrowKind, DataType, Explanation, History, HistoryBuilder, NamedOperation};
use isonomy_draw::{ReplicasItem, replicas_page, replicas_svg};
use roxmltree::{Document, Node};
use serde_json::Value;

#[path = "replicas/fixtures.rs"]
mod fixtures;

use fixtures::{circle_of_timestamps, explanation, five_replicas, lost_increment, sentence, sixty};

fn golden(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("golden");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

fn page(history: &History, explanation: &Explanation) -> String {
    let item = ReplicasItem { title: "a file", history, verdict: "violated", explanation: Some(explanation) };
    replicas_page(&[item])
}

/// What is between the headers and the script, which is XML too.
fn main_of(html: &str) -> &str {
    let (from, to) = (html.find("<main").expect("it has a beginning"), html.find("</main>").expect("it has an end"));
    &html[from..to + "</main>".len()]
}

fn with_class<'a>(node: Node<'a, 'a>, class: &str) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node<'_, '_>| node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class));
    node.descendants().filter(has).collect()
}

/// The middle of the box whose text is given, and whether it is an update.
fn box_of(svg: &Document<'_>, name: &str) -> (f64, bool) {
    let text = svg.descendants().find(|node| node.attribute("class") == Some("name") && node.text() == Some(name));
    let rect = text.expect("it is drawn").prev_siblings().find(|node| node.has_tag_name("rect")).expect("in a box");
    let number = |name| rect.attribute(name).expect("it is there").parse::<f64>().expect("it is a number");
    (number("x") + number("width") / 2.0, rect.attribute("class") == Some("box update"))
}

/// Labels and boxes that lie upon each other.
fn overlaps(svg: &str) -> usize {
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
    let of = |class: &str| -> Vec<[f64; 4]> {
        let number =
            |node: Node<'_, '_>, name| node.attribute(name).and_then(|n| n.parse::<f64>().ok()).expect("a number");
        let panel = document.root_element().children().find(|node| node.has_tag_name("g")).expect("there is a panel");
        let corners = |node: Node<'_, '_>| {
            let (x, y) = (number(node, "x"), number(node, "y"));
            [x, y, x + number(node, "width"), y + number(node, "height")]
        };
        with_class(panel, class).into_iter().map(corners).collect()
    };
    let all: Vec<[f64; 4]> = of("box").into_iter().chain(of("label")).collect();
    let lies_upon = |a: &[f64; 4], b: &[f64; 4]| a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    all.iter().enumerate().map(|(index, a)| all[..index].iter().filter(|b| lies_upon(a, b)).count()).sum()
}

/// Checks that the story, the drawing, the operations and the data belong to each other.
fn is_joined(html: &str, told: &Explanation) {
    let document = Document::parse(main_of(html)).unwrap_or_else(|error| panic!("{error}\n{html}"));
    let root = document.root_element();
    let all = |nodes: &[Node<'_, '_>], attribute: &str| -> Vec<String> {
        let values = nodes.iter().flat_map(|node| node.descendants()).filter_map(|node| node.attribute(attribute));
        values.map(String::from).collect()
    };
    let ids = all(&[root], "id");
    assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "an id occurs twice");
    let data = root.descendants().find(|node| node.has_tag_name("script")).and_then(|node| node.text());
    let data: Value = serde_json::from_str(data.expect("there is data")).expect("it is JSON");
    let (drawing, cards) = (with_class(root, "timeline"), with_class(root, "cards"));
    let operations = all(&cards, "data-txn");
    assert_eq!(operations.iter().collect::<BTreeSet<_>>(), all(&drawing, "data-txn").iter().collect());
    let edges = data["edges"].as_object().expect("it has edges");
    for (name, edge) in edges {
        assert_eq!(all(&drawing, "data-edge").iter().filter(|other| *other == name).count(), 2, "line and label");
        let ends = [&edge["from"], &edge["to"]].map(|end| end.as_str().expect("it has ends").to_string());
        assert!(ends.iter().all(|end| operations.contains(end)));
    }
    let steps = data["steps"].as_array().expect("it has steps");
    assert_eq!((steps.len(), with_class(root, "step").len()), (told.sentences.len(), told.sentences.len()));
    for (step, sentence) in steps.iter().zip(&told.sentences) {
        let names = |list: &str| -> Vec<String> {
            let list = step[list].as_array().expect("it is a list");
            list.iter().map(|name| name.as_str().expect("it is a name").to_string()).collect()
        };
        assert!(names("edges").iter().all(|edge| edges.contains_key(edge)));
        assert!(names("edges").len() <= sentence.arrows.len());
        assert_eq!(names("txns").len(), sentence.operations.len());
        assert!(names("txns").iter().all(|operation| operations.contains(operation)));
    }
}

#[test]
fn a_lost_increment_is_drawn_as_always() {
    let (history, told) = lost_increment();
    golden("lost-increment.svg", &replicas_svg(&history, &told));
}

#[test]
fn a_page_has_the_verdict_the_story_and_the_operations() {
    let (history, told) = lost_increment();
    let html = page(&history, &told);
    let from = html.find("<section class=\"section\"").expect("there is a section");
    let drawing = html.find("<svg class").expect("there is a drawing");
    let operations = html.find("<section class=\"transactions\"").expect("there are operations");
    let end = html.find("</main>").expect("it ends");
    golden("lost-increment.page", &format!("{}…\n{}", &html[from..drawing], &html[operations..end]));
}

#[test]
fn what_was_seen_stands_left_of_who_saw_it() {
    let (history, told) = circle_of_timestamps();
    let text = replicas_svg(&history, &told);
    let svg = Document::parse(&text).expect("it is XML");
    assert!(box_of(&svg, "a:1").1 && !box_of(&svg, "a:3").1, "updates are filled, queries are not");
    for (seen, seer) in [("a:1", "a:3"), ("b:1", "b:2"), ("a:1", "b:2")] {
        assert!(box_of(&svg, seen).0 < box_of(&svg, seer).0, "{seen} {seer}");
    }
    assert!(text.contains("1 operation left out") && text.contains("higher timestamp"));
}

#[test]
fn everything_is_joined_and_nothing_lies_upon_anything() {
    for (history, told) in [lost_increment(), circle_of_timestamps(), five_replicas()] {
        let (svg, html) = (replicas_svg(&history, &told), page(&history, &told));
        assert_eq!(overlaps(&svg), 0, "{svg}");
        is_joined(&html, &told);
        assert!(svg == replicas_svg(&history, &told) && html == page(&history, &told), "the same bytes each time");
    }
}

#[test]
fn suppositions_are_lists_in_lists() {
    let (history, told) = five_replicas();
    let html = page(&history, &told);
    let document = Document::parse(main_of(&html)).expect("it is XML");
    let lists = |step: Node<'_, '_>| step.ancestors().filter(|node| node.has_tag_name("ol")).count();
    let depths: Vec<usize> = with_class(document.root_element(), "step").into_iter().map(lists).collect();
    assert_eq!(depths, told.sentences.iter().map(|sentence| sentence.depth + 1).collect::<Vec<_>>());
    assert!(html.contains("Thick arrows are certain"));
    // However it begins, and however far it jumps.
    let jumps = [7, 30, 3, 3].map(|depth| sentence(depth, "Suppose it.", &[], &[]));
    is_joined(&page(&history, &explanation("odd", &[1], jumps.to_vec())), &explanation("odd", &[1], jumps.to_vec()));
}

#[test]
fn many_operations_and_arrows_are_drawn_in_time() {
    let (history, mut told) = sixty();
    // Everybody saw everybody: most of that is told and not drawn.
    let all: Vec<_> = (0..60).flat_map(|a| (0..60).map(move |b| (a, ArrowKind::Saw, b))).collect();
    told.sentences.push(sentence(0, "Everybody saw everybody.", &all, &[]));
    let html = page(&history, &told);
    is_joined(&html, &told);
    assert!(html.len() < 300_000, "{}", html.len());
}

#[test]
fn names_stay_text() {
    let nasty = "</script></style>--><script>alert('1')</script>&amp;\"'<img src=x>\\\u{1b}\u{0}\u{ffff}\u{2028}";
    let long = "k".repeat(10_000);
    for name in [nasty, &long, "鍵", "", "<script>"] {
        let mut builder = HistoryBuilder::new(DataType::MvRegister);
        builder.push(name.into(), NamedOperation::Write(name.into(), name.into())).expect("it is a write");
        let values = (0..50).map(|value| format!("{name}{value}").as_str().into()).collect();
        builder.push("b".into(), NamedOperation::Read(name.into(), values)).expect("it is a read");
        let history = builder.finish();
        let told = explanation(name, &[0, 1], vec![sentence(0, name, &[(0, ArrowKind::Missed, 1)], &[0])]);
        let item = ReplicasItem { title: name, history: &history, verdict: name, explanation: Some(&told) };
        let (svg, html) = (replicas_svg(&history, &told), replicas_page(&[item, item]));
        assert_eq!(overlaps(&svg), 0, "{svg}");
        is_joined(&page(&history, &told), &told);
        assert_eq!((html.matches("<script").count(), html.matches("</script").count()), (3, 3), "{html}");
        assert!(!svg.contains("<script") && !html.contains("<img") && !html.contains('\u{0}'));
        assert!(svg.len() < 20_000 && html.len() < 150_000, "{} {}", svg.len(), html.len());
    }
}

#[test]
fn long_answers_are_cut_and_kept_in_titles() {
    let elements: Vec<String> = (0..40).map(|element| format!("e{element}")).collect();
    let history = fixtures::history(DataType::Rga, &format!("a: read()=[{}]", elements.join(",")));
    let svg = replicas_svg(&history, &explanation("out of nowhere", &[0], Vec::new()));
    let svg = Document::parse(&svg).expect("it is XML");
    let shown = with_class(svg.root_element(), "event")[0].text().expect("it has a text");
    assert!(shown.starts_with("read()=[e0,") && shown.contains('…'), "{shown}");
    let title = svg.descendants().filter(|node| node.has_tag_name("title")).nth(1).and_then(|node| node.text());
    assert!(title.is_some_and(|title| title.contains(&elements.join(",")) && title.ends_with("(line 1)")), "{title:?}");
}

#[test]
fn without_violations_there_is_a_table() {
    let (history, told) = lost_increment();
    let held = ReplicasItem { title: "one", history: &history, verdict: "holds", explanation: None };
    let violated = ReplicasItem { title: "two", verdict: "violated", explanation: Some(&told), ..held };
    let html = replicas_page(&[held]);
    assert!(html.contains("<td class=\"holds\">holds</td>") && !html.contains("<article"));
    let both = replicas_page(&[held, violated]);
    assert!(both.contains("<h2 id=\"title1\">Verdicts</h2>") && both.contains("<h2 id=\"title2\">two</h2>"));
    assert!(replicas_page(&[]).contains("Verdicts"));
}
