//! Histories of replicated data types with explanations that were written by hand.

use isonomy_crdt::{Arrow, ArrowKind, DataType, Explanation, History, OpId, Sentence, read};

/// An arrow in short: from, kind, to.
pub(crate) type Short = (u32, ArrowKind, u32);

pub(crate) fn history(data_type: DataType, text: &str) -> History {
    read(text.as_bytes(), Some(data_type), None).expect("the history is well formed")
}

fn arrow((from, kind, to): Short) -> Arrow {
    Arrow { from: OpId(from), to: OpId(to), kind }
}

pub(crate) fn sentence(depth: usize, text: &str, arrows: &[Short], operations: &[u32]) -> Sentence {
    Sentence {
        depth,
        text: text.into(),
        arrows: arrows.iter().copied().map(arrow).collect(),
        operations: operations.iter().copied().map(OpId).collect(),
    }
}

pub(crate) fn explanation(headline: &str, operations: &[u32], sentences: Vec<Sentence>) -> Explanation {
    Explanation {
        headline: headline.into(),
        promise: "A read returns the increments minus the decrements that it saw, and what a replica saw it does not forget.",
        cause: "A replica that merges the state of another loses updates of its own.",
        operations: operations.iter().copied().map(OpId).collect(),
        sentences,
    }
}

/// One replica misses its own increment after it has heard of another.
pub(crate) fn lost_increment() -> (History, Explanation) {
    use ArrowKind::{Missed, Saw};
    let history = history(DataType::Counter, "a: inc(x) read(x)=1 read(y)=0 read(x)=1\nb: inc(x) read(x)=2\n");
    let sentences = vec![
        sentence(0, "b:2 returned 2, so it saw both increments, a:1 and b:1.", &[(0, Saw, 5), (4, Saw, 5)], &[5]),
        sentence(0, "a:4 returned 1, so it missed a:1 or b:1.", &[], &[3, 0, 4]),
        sentence(0, "a:4 saw a:1, which is earlier at its replica.", &[(0, Saw, 3)], &[]),
        sentence(0, "So a:4 missed b:1.", &[(4, Missed, 3)], &[]),
    ];
    let headline = "read(x)=1 of a:4 cannot be: an increment is lost.";
    (history, explanation(headline, &[0, 3, 4, 5], sentences))
}

/// Two lists have two elements in different order: each was added later than the other.
pub(crate) fn circle_of_timestamps() -> (History, Explanation) {
    use ArrowKind::{Later, Saw};
    let text = "a: addAfter(_,x) read()=[x] read()=[x,y]\nb: addAfter(_,y) read()=[y,x]\n";
    let sentences = vec![
        sentence(0, "a:3 lists x before y, so x was added later.", &[(3, Later, 0), (3, Saw, 2), (0, Saw, 2)], &[2]),
        sentence(0, "b:2 lists y before x, so y was added later.", &[(0, Later, 3), (0, Saw, 4), (3, Saw, 4)], &[4]),
        sentence(0, "Neither can be later than the other.", &[(3, Later, 0), (0, Later, 3)], &[]),
    ];
    (history(DataType::Rga, text), explanation("x and y are in no order.", &[0, 2, 3, 4], sentences))
}

/// Twelve operations of five replicas, with suppositions, contradictory arrows, and operations between them that are left out.
pub(crate) fn five_replicas() -> (History, Explanation) {
    use ArrowKind::{Missed, Saw};
    let text = "a: add(z) add(x) contains(x)=true remove(x) contains(x)=false\n\
                b: add(x) contains(z)=true contains(x)=true\n\
                paris-3: remove(x) contains(x)=false add(z)\n\
                d: add(x) contains(x)=true remove(x) contains(z)=false\n\
                e: contains(x)=true contains(x)=false add(x) contains(x)=false\n";
    let operations = [1, 2, 3, 5, 7, 8, 9, 11, 13, 15, 16, 18];
    let sentences = vec![
        sentence(0, "e:1 returned true, so it saw some addition that it saw no removal of.", &[], &[15]),
        sentence(0, "a:3 saw a:2, which is earlier at its replica.", &[(1, Saw, 2)], &[]),
        sentence(1, "Suppose that e:1 saw a:2.", &[(1, Saw, 15)], &[15, 1]),
        sentence(1, "Then e:2 saw it, and some removal that saw it: a:4.", &[(3, Saw, 16), (1, Saw, 3)], &[16]),
        sentence(1, "e:4 saw what e:2 saw.", &[(3, Saw, 18)], &[]),
        sentence(1, "paris-3:2 missed b:1, or it would return true.", &[(5, Missed, 9)], &[9]),
        sentence(1, "Suppose that it did not. Then e:1 saw d:1.", &[(1, Missed, 15), (11, Saw, 15)], &[15]),
        sentence(2, "Suppose that e:2 saw d:3.", &[(13, Saw, 16)], &[16]),
        sentence(2, "d:3 saw b:1, which b:3 saw.", &[(5, Saw, 13), (5, Saw, 7)], &[13, 7]),
        sentence(2, "Suppose that it saw paris-3:1.", &[(8, Saw, 16), (2, Saw, 8), (16, Saw, 2)], &[16]),
        sentence(2, "That is a circle.", &[(8, Saw, 16), (2, Saw, 8), (16, Saw, 2)], &[]),
    ];
    (history(DataType::OrSet, text), explanation("contains(x)=false of e:4 cannot be.", &operations, sentences))
}

/// Sixty operations of six replicas, each of which saw the one before it and one far away.
pub(crate) fn sixty() -> (History, Explanation) {
    use ArrowKind::{Later, Missed, Saw};
    let line = |replica: u32| format!("r{replica}: {}\n", "inc(x) read(x)=7 ".repeat(5));
    let text: String = (0..6).map(line).collect();
    let mut sentences = Vec::new();
    for op in 0..60 {
        let (near, far) = ((op + 11) % 60, (op * 7 + 23) % 60);
        let kind = [Saw, Missed, Later][op as usize % 3];
        let text = format!("Operation {op} is before {near} and {far}.");
        sentences.push(sentence(op as usize % 4, &text, &[(op, Saw, near), (op, kind, far)], &[op]));
    }
    let all: Vec<u32> = (0..60).collect();
    (history(DataType::Counter, &text), explanation("sixty operations", &all, sentences))
}
