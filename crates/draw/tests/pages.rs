//! Pages are complete and safe: every edge is in both drawings, every sentence speaks of what is there, names stay text, and pages stay small.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use isonomy_checker::{
    Anomaly, Case, Counterexample, Edge, Evidence, IsolationLevel, Options, Refutation, Topic, Verdict, Why, check,
    explain,
};
use isonomy_draw::{Exhibit, Page, Section, VerdictRow};
use isonomy_history::formats::{self, Format, ReadOptions, Source};
use isonomy_history::{History, HistoryBuilder, Key, TxnId};
use roxmltree::{Document, Node};
use serde_json::Value;

fn read(text: &str) -> History {
    let options = ReadOptions { format: Some(Format::Hist), ..ReadOptions::default() };
    formats::read(Source::Stream(Box::new(text.as_bytes())), options).expect("the history is well formed")
}

fn violations(history: &History) -> Vec<(IsolationLevel, Counterexample)> {
    let mut found: Vec<(IsolationLevel, Counterexample)> = Vec::new();
    for level in IsolationLevel::ALL {
        if let Verdict::Violated(counterexample) = check(history, level, &Options::default())
            && !found.iter().any(|(_, other)| *other == counterexample)
        {
            found.push((level, counterexample));
        }
    }
    found
}

fn corpus() -> Vec<(PathBuf, History)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let entries = fs::read_dir(folder).expect("the corpus is part of the repository");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), read(&fs::read_to_string(&path).expect("it is text")))).collect()
}

fn page(history: &History, (level, counterexample): &(IsolationLevel, Counterexample)) -> String {
    let exhibit = Exhibit::new(history, counterexample).violating(*level).source("a file");
    Page::new("a page").section(Section::new("a section").exhibit(exhibit)).html()
}

/// What is between the headers and the script. Ours is also XML, so that a second opinion is easy to have.
fn main_of(html: &str) -> &str {
    let (from, to) = (html.find("<main").expect("it has a beginning"), html.find("</main>").expect("it has an end"));
    &html[from..to + "</main>".len()]
}

fn has_class(node: Node<'_, '_>, class: &str) -> bool {
    node.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
}

fn inside<'a>(node: Node<'a, 'a>, class: &str) -> Vec<Node<'a, 'a>> {
    node.descendants().filter(|node| has_class(*node, class)).collect()
}

/// All values of an attribute below some nodes, each as often as it occurs.
fn values<'a>(nodes: &[Node<'a, 'a>], attribute: &str) -> Vec<&'a str> {
    nodes.iter().flat_map(|node| node.descendants()).filter_map(|node| node.attribute(attribute)).collect()
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().expect("it is a list").iter().map(|one| one.as_str().expect("it is a name")).collect()
}

/// Checks that drawings, story and data belong to each other.
fn is_joined(html: &str, history: &History, counterexample: &Counterexample) {
    let document = Document::parse(main_of(html)).unwrap_or_else(|error| panic!("{error}\n{html}"));
    let root = document.root_element();
    let ids: Vec<&str> = values(&[root], "id");
    assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "an id occurs twice");
    let data = root.descendants().find(|node| node.has_tag_name("script")).and_then(|node| node.text());
    let data: Value = serde_json::from_str(data.expect("there is data")).expect("it is JSON");

    let edges = data["edges"].as_object().expect("it has edges");
    let [timelines, rings, cards] = ["timeline", "ring", "cards"].map(|class| inside(root, class));
    for (name, edge) in edges {
        for drawing in [&timelines, &rings] {
            // Its line and its label.
            assert_eq!(values(drawing, "data-edge").iter().filter(|other| *other == name).count(), 2, "{name}");
            for end in ["from", "to"] {
                assert!(values(drawing, "data-txn").contains(&edge[end].as_str().expect("it has ends")), "{name}");
            }
        }
        for event in strings(&edge["events"]) {
            assert!(values(&timelines, "data-event").contains(&event), "{name} {event}");
            assert!(values(&cards, "data-event").contains(&event), "{name} {event}");
        }
        assert!(edge["why"].as_str().is_some_and(|why| why.ends_with('.')), "{edge}");
    }
    for ring in [&timelines, &rings] {
        assert!(values(ring, "data-edge").iter().all(|name| edges.contains_key(*name)));
    }

    let steps = data["steps"].as_array().expect("it has steps");
    assert_eq!(steps.len(), explain(history, counterexample).steps.len());
    assert_eq!(values(&[root], "data-step").len(), steps.len());
    for step in steps {
        for name in strings(&step["edges"]).into_iter().chain(strings(&step["reasons"])) {
            assert!(edges.contains_key(name), "{step}");
        }
        assert!(
            strings(&step["events"]).iter().all(|event| values(&timelines, "data-event").contains(event)),
            "{step}"
        );
        assert!(strings(&step["txns"]).iter().all(|txn| values(&timelines, "data-txn").contains(txn)), "{step}");
        let spoken_of = ["edges", "events", "txns"].iter().map(|list| strings(&step[list]).len()).sum::<usize>();
        assert!(spoken_of > 0, "a sentence speaks of nothing: {step}");
    }
    let told: BTreeSet<&str> = steps.iter().flat_map(|step| strings(&step["edges"])).collect();
    match &counterexample.evidence {
        Evidence::Cycle(circle) => {
            let story = explain(history, counterexample).steps;
            let observed = story.iter().filter(|step| matches!(step.topic, Topic::Observed { .. })).count();
            assert!(told.len() <= steps.len() && steps.len() == circle.len() + observed);
        }
        // In every case, all of its circle is told.
        Evidence::Refutation(_) => assert!(!told.is_empty()),
        Evidence::Read(_) => assert_eq!(told.len(), edges.len()),
    }
}

/// What lies upon something in the rings.
fn overlaps(html: &str) -> Vec<String> {
    let document = Document::parse(main_of(html)).expect("it is XML");
    let mut found = Vec::new();
    for ring in inside(document.root_element(), "ring") {
        let rects = |class: &str| -> Vec<[f64; 4]> {
            let number = |node: Node<'_, '_>, name| {
                node.attribute(name).expect("it is there").parse::<f64>().expect("it is a number")
            };
            let corners = |node: Node<'_, '_>| {
                let (x, y) = (number(node, "x"), number(node, "y"));
                [x, y, x + number(node, "width"), y + number(node, "height")]
            };
            inside(ring, class).into_iter().map(corners).collect()
        };
        let all: Vec<[f64; 4]> = rects("box").into_iter().chain(rects("label")).collect();
        for (index, a) in all.iter().enumerate() {
            if all[..index].iter().any(|b| a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]) {
                found.push(format!("{a:?}"));
            }
        }
    }
    found
}

#[test]
fn everything_is_joined_in_the_whole_corpus() {
    let (mut pages, mut wrong) = (0, String::new());
    for (path, history) in corpus() {
        for found in violations(&history) {
            let html = page(&history, &found);
            is_joined(&html, &history, &found.1);
            pages += 1;
            for overlap in overlaps(&html) {
                wrong += &format!("{}: {}: {overlap}\n", path.display(), found.1.anomaly);
            }
            assert!(html == page(&history, &found), "the same counterexample gives the same bytes");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(pages > 100, "only {pages} pages");
}

#[test]
fn cases_in_cases_are_lists_in_lists() {
    // No order of the writes of x and of y is possible, and none is ruled out by itself.
    let history = read(
        "t1: [w(x,1) w(q1,1)]\nt2: [w(x,2) w(q2,1)]\nt3: [w(y,3) w(p3,1)]\nt4: [w(y,4) w(p4,1)]\n\
         r1: [r(x,1) r(p3,1) r(p4,1)]\nr2: [r(x,2) r(p3,1) r(p4,1)]\n\
         r3: [r(y,3) r(q1,1) r(q2,1)]\nr4: [r(y,4) r(q1,1) r(q2,1)]\n",
    );
    let found = violations(&history).pop().expect("it is not serializable");
    assert!(matches!(found.1.evidence, Evidence::Refutation(_)));
    let html = page(&history, &found);
    is_joined(&html, &history, &found.1);
    assert!(overlaps(&html).is_empty(), "{:?}", overlaps(&html));
    let document = Document::parse(main_of(&html)).expect("it is XML");
    let story = inside(document.root_element(), "story")[0];
    let lists = |node: Node<'_, '_>| node.ancestors().filter(|node| node.has_tag_name("ol")).count();
    for step in inside(story, "step") {
        let number = inside(step, "number")[0].text().expect("it has a number");
        assert_eq!(lists(step), 1 + number.matches('.').count(), "{number}");
    }
    // What is known, and a circle for each way to order both.
    assert_eq!(inside(document.root_element(), "scene").len(), 5);
}

#[test]
fn of_many_cases_the_first_are_drawn() {
    let names: Vec<String> = (0..50).map(|number| format!("s{number}: [w(x,{number})]\n")).collect();
    let history = read(&names.concat());
    let txns: Vec<TxnId> = history.transactions().collect();
    // A row of splits: each closes one side, and the last one both. Nobody needs to believe it.
    let page_of = |splits: usize| {
        let edge =
            |from: usize, to: usize| Edge { from: Some(txns[from]), to: Some(txns[to]), why: Why::Assumed(Key(0)) };
        let closed = |i: usize| Case::Closed(vec![edge(i, i + 1), edge(i + 1, i)]);
        let mut cases = Vec::new();
        for i in 0..splits {
            let (first, second) = (txns[i], txns[i + 1]);
            cases.push(Case::Split { key: Key(0), first, second, before: 2 * i + 1, after: 2 * i + 2 });
            cases.push(closed(i));
        }
        cases.push(closed(splits));
        let evidence = Evidence::Refutation(Refutation { cases });
        let anomaly = Anomaly::SerializationCycle;
        page(&history, &(IsolationLevel::Serializable, Counterexample { anomaly, evidence }))
    };
    let (few, many) = (page_of(10), page_of(45));
    assert!(few.contains(">Circle 11<") && !few.contains("(not drawn)"), "{few}");
    assert!(many.contains(">Circle 24<") && !many.contains(">Circle 25<") && many.contains("(not drawn)"));
    assert!(many.len() < 400_000, "{}", many.len());
    // A circle of splits ends nowhere.
    let round = Case::Split { key: Key(0), first: txns[0], second: txns[1], before: 0, after: 0 };
    let evidence = Evidence::Refutation(Refutation { cases: vec![round] });
    let endless = Counterexample { anomaly: Anomaly::SerializationCycle, evidence };
    assert!(page(&history, &(IsolationLevel::Serializable, endless)).contains("either"));
}

#[test]
fn names_stay_text() {
    let nasty = "</script></style>--><script>alert('1')</script>&amp;\"'<img src=x>\\\u{1b}\u{0}\u{ffff}\u{2028}";
    let long = "k".repeat(10_000);
    for name in [nasty, &long, "鍵", ""] {
        let mut history = HistoryBuilder::new();
        history.transaction(name).read(name, None::<&str>).write(name, name).write("other", 1).commit();
        history.transaction("b").read(name, None::<&str>).write(name, "2").read("other", 1).commit();
        let history = history.finish().expect("the history is well formed");
        for found in violations(&history) {
            let exhibit = Exhibit::new(&history, &found.1).violating(found.0).source(name);
            let verdict = Verdict::Violated(found.1.clone());
            let row = VerdictRow { level: found.0, verdict: &verdict, asked: true, took: Some(name.into()) };
            let section = Section::new(name)
                .paragraph(name)
                .table(&[name], &[vec![name.into()]])
                .verdicts(&[row])
                .exhibit(exhibit);
            let html = Page::new(name).paragraph(name).section(section).html();
            is_joined(&html, &history, &found.1);
            assert_eq!(html.matches("<script").count(), 2, "{html}");
            assert_eq!(html.matches("</script").count(), 2, "{html}");
            assert!(!html.contains("<img") && !html.contains('\u{0}'), "{html}");
            assert!(html.len() < 300_000, "{}", html.len());
        }
    }
}

#[test]
fn a_page_says_what_may_run() {
    let html = Page::new("empty").html();
    assert!(html.contains("default-src 'none'; style-src 'sha256-"), "{html}");
    assert!(!html.contains(" style=") && !html.contains("onclick"), "the policy would refuse it");
    for outside in ["http://", "https://", "url(", "@import", "src="] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn pages_of_large_histories_are_small() {
    let mut history = HistoryBuilder::new();
    for number in 0..100_000_i64 {
        let key = format!("k{number}");
        history.transaction(number % 50).write(key.as_str(), 1).read(key.as_str(), 1).commit();
    }
    let mut lost = history.transaction("alice").read("x", None::<i64>);
    for number in 0..5_000_i64 {
        lost = lost.write(format!("many{number}").as_str(), 1);
    }
    lost.write("x", 1).commit();
    history.transaction("bob").read("x", None::<i64>).write("x", 2).commit();
    let history = history.finish().expect("the history is well formed");
    let level = IsolationLevel::SnapshotIsolation;
    let Verdict::Violated(found) = check(&history, level, &Options::default()) else { panic!("an update is lost") };
    let html = page(&history, &(level, found.clone()));
    is_joined(&html, &history, &found);
    assert!(html.len() < 100_000, "{}", html.len());
    assert!(html.contains("and 4700 more, which are not on this page"));
}
