//! Drawings are well formed, complete and legible: for every violation of every level of every history in `corpus/`, and for names that try to break out.

use std::fs;
use std::path::{Path, PathBuf};

use isonomy_checker::{
    Anomaly, Case, Counterexample, Edge, Evidence, IsolationLevel, Options, Refutation, Verdict, Why, check,
};
use isonomy_draw::Drawing;
use isonomy_history::formats::{self, Format, ReadOptions, Source};
use isonomy_history::{History, HistoryBuilder, Key, TxnId};
use roxmltree::{Document, Node};

fn read(text: &str) -> History {
    let options = ReadOptions { format: Some(Format::Hist), ..ReadOptions::default() };
    formats::read(Source::Stream(Box::new(text.as_bytes())), options).expect("the history is well formed")
}

fn violations(history: &History) -> Vec<Counterexample> {
    let mut found = Vec::new();
    for level in IsolationLevel::ALL {
        if let Verdict::Violated(counterexample) = check(history, level, &Options::default())
            && !found.contains(&counterexample)
        {
            found.push(counterexample);
        }
    }
    found
}

/// Left, top, right, bottom.
type Rect = [f64; 4];

fn rect(node: Node<'_, '_>) -> Rect {
    let number = |name| node.attribute(name).expect("it is there").parse::<f64>().expect("it is a number");
    let (x, y) = (number("x"), number("y"));
    [x, y, x + number("width"), y + number("height")]
}

fn overlap(a: Rect, b: Rect) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

fn rects<'a>(panel: Node<'a, 'a>, class: &'a str) -> Vec<Rect> {
    let is_it = |node: &Node<'_, '_>| {
        let classes = node.attribute("class").unwrap_or_default();
        node.has_tag_name("rect") && classes.split(' ').next() == Some(class)
    };
    panel.children().filter(is_it).map(rect).collect()
}

/// What is wrong with a drawing.
fn flaws(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
    let root = document.root_element();
    let size = |name| root.attribute(name).expect("it is there").parse::<f64>().expect("it is a number");
    let mut flaws = Vec::new();
    for panel in root.children().filter(|node| node.has_tag_name("g")) {
        let corner = panel.attribute("transform").expect("panels are moved");
        let corner: Vec<f64> = corner
            .trim_start_matches("translate(")
            .trim_end_matches(')')
            .split(' ')
            .map(|number| number.parse().expect("it is a number"))
            .collect();
        let (boxes, labels) = (rects(panel, "box"), rects(panel, "label"));
        for (kind, all, others) in [("box", &boxes, &[][..]), ("label", &labels, &boxes)] {
            for (index, one) in all.iter().enumerate() {
                if all[..index].iter().chain(others).any(|other| overlap(*one, *other)) {
                    flaws.push(format!("a {kind} lies upon something: {one:?}"));
                }
                let [left, top, right, bottom] = *one;
                let inside = left + corner[0] >= 0.0 && right + corner[0] <= size("width");
                if !inside || top + corner[1] < 0.0 || bottom + corner[1] > size("height") {
                    flaws.push(format!("a {kind} lies outside: {one:?}"));
                }
            }
        }
    }
    flaws
}

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let entries = fs::read_dir(folder).expect("the corpus is part of the repository");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    paths
}

#[test]
fn nothing_lies_upon_anything_in_the_whole_corpus() {
    let (mut drawn, mut wrong) = (0, String::new());
    for path in corpus() {
        let history = read(&fs::read_to_string(&path).expect("it is text"));
        for counterexample in violations(&history) {
            let svg = Drawing::new(&history, &counterexample).svg();
            drawn += 1;
            for flaw in flaws(&svg) {
                wrong += &format!("{}: {}: {flaw}\n", path.display(), counterexample.anomaly);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(drawn > 100, "only {drawn} drawings");
}

#[test]
fn a_drawing_is_always_the_same() {
    let text = "a: [w(x,1)]\nb: [w(x,2)]\nc: [r(x,1)] [r(x,2)]\nd: [r(x,2)] [r(x,1)]\n";
    let draw = || {
        let history = read(text);
        let counterexample = violations(&history).remove(0);
        let drawing = Drawing::new(&history, &counterexample);
        (drawing.svg(), drawing.dot())
    };
    assert!(draw() == draw());
}

#[test]
fn names_cannot_break_out() {
    let nasty = "</text><script>alert('1')</script>&\"\\\u{1b}\u{0}\u{ffff}";
    let long = "k".repeat(10_000);
    for (key, value) in [(nasty, nasty), (&long, "1"), ("x", &long), ("鍵", "値")] {
        let mut history = HistoryBuilder::new();
        history.transaction(key).write(key, value).abort();
        history.transaction("reader").read(key, value).commit();
        let history = history.finish().expect("the history is well formed");
        let drawing = Drawing::new(&history, &violations(&history)[0]);
        let (svg, dot) = (drawing.svg(), drawing.dot());
        let document = Document::parse(&svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
        assert!(!document.descendants().any(|node| node.has_tag_name("script")), "{svg}");
        assert!(
            document
                .descendants()
                .filter(|node| node.has_tag_name("text"))
                .all(|node| node.children().all(|c| c.is_text()))
        );
        assert_eq!(flaws(&svg), [""; 0], "{svg}");
        // Outside of escapes, quotes come in pairs and nothing is left open.
        let plain = dot.replace("\\\\", "").replace("\\\"", "");
        assert!(plain.lines().all(|line| line.matches('"').count() % 2 == 0), "{dot}");
        assert!(svg.len() < 60_000 && dot.len() < 3_000, "{} {}", svg.len(), dot.len());
    }
}

#[test]
fn outcomes_and_what_is_left_out_are_seen() {
    let history = read("alice: [w(x,1) w(z,1)]!\nbob: [r(x,1) r(a,_) r(b,_)]\n");
    let drawing = Drawing::new(&history, &violations(&history)[0]);
    for text in [drawing.svg(), drawing.dot()] {
        assert!(text.contains("✗ aborted") && text.contains("… 1 more") && text.contains("… 2 more"), "{text}");
        assert!(text.contains("aborted-read") && text.contains("wr x"), "{text}");
    }
}

#[test]
fn many_cases_are_not_all_drawn() {
    let history = read("a: [w(x,1)]\nb: [w(x,2)]\nc: [w(x,3)]\nd: [w(x,4)]\ne: [w(x,5)]\nf: [w(x,6)]\n");
    let txns: Vec<TxnId> = history.transactions().collect();
    // A row of splits: each closes one side, and the last one both. Nobody needs to believe it.
    let drawn = |splits: usize| {
        let closed = |i: usize| {
            let edge =
                |from: usize, to: usize| Edge { from: Some(txns[from]), to: Some(txns[to]), why: Why::Assumed(Key(0)) };
            Case::Closed(vec![edge(i, i + 1), edge(i + 1, i)])
        };
        let mut cases = Vec::new();
        for i in 0..splits {
            let (first, second) = (txns[i], txns[i + 1]);
            cases.push(Case::Split { key: Key(0), first, second, before: 2 * i + 1, after: 2 * i + 2 });
            cases.push(closed(i));
        }
        cases.push(closed(splits - 1));
        let evidence = Evidence::Refutation(Refutation { cases });
        Drawing::new(&history, &Counterexample { anomaly: Anomaly::SerializationCycle, evidence }).svg()
    };
    let (few, many) = (drawn(3), drawn(4));
    assert!(few.contains(">Case 4, on x: ") && !few.contains("not drawn"), "{few}");
    assert!(many.contains(">Case 1 of 5, ") && !many.contains("Case 2"), "{many}");
    assert_eq!((flaws(&few), flaws(&many)), (vec![], vec![]));
}

#[test]
fn boxes_follow_the_clock() {
    let at = |text: &str| {
        let history = read(text);
        let svg = Drawing::new(&history, &violations(&history)[0]).svg();
        let document = Document::parse(&svg).expect("it is XML");
        let panel = document.root_element().children().find(|node| node.has_tag_name("g")).expect("there is a panel");
        (rects(panel, "box"), svg.contains(">time</text>"))
    };
    let (boxes, has_axis) = at("alice: [w(x,1)]@0..10\nbob: [r(x,_)]@20..30\n");
    assert!(has_axis && boxes[0][2] < boxes[1][0], "{boxes:?}");
    let (boxes, has_axis) = at("alice: [w(x,1)]@0..30\nbob: [r(x,1)]@5..10\n");
    assert!(has_axis && boxes[0][0] < boxes[1][0] && boxes[1][2] < boxes[0][2], "{boxes:?}");
    // A session that does not wait has rows.
    let (boxes, _) = at("alice: [w(x,1)]@0..30 [r(x,_)]@10..40\n");
    assert!(boxes[1..].windows(2).all(|pair| pair[0][3] < pair[1][1]), "{boxes:?}");
}
