//! Histories whose verdict is known, with evidence.

mod common;

use common::{decide, history};
use isonomy_crdt::{Budget, DataType, Effort, Simulation, Verdict, certify, check, prefix, read};

fn expect(data_type: DataType, text: &str, admitted: bool) {
    let verdict = decide(&history(data_type, text));
    assert_eq!(matches!(verdict, Verdict::Holds(_)), admitted, "{data_type}: {text}: {}", verdict.name());
}

fn holds(data_type: DataType, text: &str) {
    expect(data_type, text, true);
}

fn violated(data_type: DataType, text: &str) {
    expect(data_type, text, false);
}

/// How many operations are needed to show a violation.
fn needed(data_type: DataType, text: &str) -> usize {
    match decide(&history(data_type, text)) {
        Verdict::Violated(counterexample) => counterexample.operations.len(),
        other => panic!("{data_type}: {text}: {}", other.name()),
    }
}

const SETS: [DataType; 2] = [DataType::OrSet, DataType::RwSet];
const FLAGS: [DataType; 2] = [DataType::EwFlag, DataType::DwFlag];
const REGISTERS: [DataType; 2] = [DataType::MvRegister, DataType::LwwRegister];

/// An old prefix of a replica may arrive after the replica went on: the algorithms of the thesis that only merge what is
/// known now reject these two (its correction, section 2.3.4).
#[test]
fn old_prefixes_arrive_late() {
    holds(DataType::Counter, "p: inc(a) inc(a) read(a)=2 read(a)=3 / q: inc(a) inc(a) read(a)=2 read(a)=3");
    let flags =
        "p: enable(p) disable(p) read(q)=false read(q)=true / q: enable(q) disable(q) read(p)=false read(p)=true";
    holds(DataType::EwFlag, flags);
    let sets = "p: add(p) remove(p) contains(q)=false contains(q)=true / q: add(q) remove(q) contains(p)=false contains(p)=true";
    holds(DataType::OrSet, sets);
}

#[test]
fn the_order_of_replicas_is_nothing() {
    holds(DataType::Counter, "p: read(a)=1 / q: inc(a)");
    holds(DataType::Counter, "q: inc(a) / p: read(a)=1");
}

#[test]
fn all_that_is_seen_counts() {
    violated(DataType::Counter, "p: inc(x) read(x)=0");
    assert_eq!(needed(DataType::Counter, "p: inc(x) inc(y) read(y)=1 read(x)=0 / q: read(y)=0"), 2);
    violated(DataType::Counter, "p: inc(x) read(x)=3 / q: inc(x) inc(x) read(x)=4");
    holds(DataType::Counter, "p: inc(x) read(x)=3 / q: inc(x) inc(x) read(x)=3");
    // The sum went by, and is behind what was seen.
    violated(DataType::Counter, "p: inc(x) dec(x) read(x)=1");
    violated(DataType::Counter, "p: inc(x) dec(x) inc(y) / q: read(y)=1 read(x)=1");
    holds(DataType::Counter, "p: inc(x) dec(x) inc(y) / q: read(x)=1 read(y)=1");
    // Negative sums, and some that are never reached.
    holds(DataType::Counter, "p: dec(x) dec(x) inc(x) / q: read(x)=0 read(x)=-2 read(x)=-1");
    violated(DataType::Counter, "p: dec(x) dec(x) inc(x) / q: read(x)=-2 read(x)=-1 read(x)=-2");
    violated(DataType::Counter, "p: read(x)=1");
    // Answers that are farther off than there are numbers.
    for far in [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX] {
        violated(DataType::Counter, &format!("p: inc(x) read(x)={far} dec(x) / q: dec(x) inc(x) read(x)={far}"));
        violated(DataType::Counter, &format!("p: read(x)={far}"));
    }
}

#[test]
fn stale_reads() {
    violated(DataType::MvRegister, "p: write(x,1) write(x,2) read(x)={1}");
    violated(DataType::LwwRegister, "p: write(x,1) write(x,2) read(x)=1");
    // The missing sibling: the write of 1 did not see that of 2, since what came after it did not see `z`.
    let sibling = "p: write(x,1) read(z)={} read(y)={1} read(x)={A} / q: write(z,1) write(x,2) write(y,1)";
    violated(DataType::MvRegister, &sibling.replace('A', "1"));
    holds(DataType::MvRegister, &sibling.replace('A', "2"));
    holds(DataType::MvRegister, &sibling.replace('A', "1,2"));
    for data_type in REGISTERS {
        let brackets = data_type == DataType::MvRegister;
        let value = |text: &str| if brackets { format!("{{{text}}}") } else { text.to_owned() };
        violated(data_type, &format!("p: read(x)={}", value("7")));
        violated(data_type, &format!("p: write(x,1) read(x)={}", value(if brackets { "" } else { "_" })));
    }
}

/// `read(y)` sees the write of `y`, and with it the write of 1 to `x`. The other write of `x` may have seen that.
#[test]
fn a_write_of_another_replica_covers() {
    holds(DataType::MvRegister, "r1: write(x,1) write(y,1) / r2: write(x,2) / r3: read(y)={1} read(x)={2}");
    holds(DataType::LwwRegister, "r1: write(x,1) write(y,1) / r2: write(x,2) / r3: read(y)=1 read(x)=2");
    // Unless its replica says that it had seen nothing.
    violated(
        DataType::MvRegister,
        "r1: write(x,1) write(y,1) / r2: write(x,2) read(y)={} read(x)={2} / r3: read(y)={1} read(x)={2} read(x)={1,2}",
    );
    violated(
        DataType::MvRegister,
        "r1: write(x,1) write(y,1) / r2: read(x)={} write(x,2) read(x)={2} / r3: read(y)={1} read(x)={2} \
         / r4: read(x)={1,2}",
    );
}

#[test]
fn timestamps_are_one_order() {
    violated(DataType::LwwRegister, "p: write(x,1) read(x)=2 / q: write(x,2) read(x)=1");
    holds(DataType::LwwRegister, "p: write(x,1) read(x)=2 / q: write(x,2) read(x)=2");
    // Both registers are written crosswise: each choice is possible, both are a circle.
    violated(DataType::LwwRegister, "p: write(x,1) write(y,1) read(y)=2 / q: write(y,2) write(x,2) read(x)=1");
    // Values written twice leave a choice.
    holds(DataType::LwwRegister, "p: write(x,1) write(x,2) read(x)=1 / q: write(x,1)");
    violated(
        DataType::LwwRegister,
        "p: write(x,1) write(x,2) read(x)=1 / q: write(x,1) write(x,3) read(y)=1 / p: write(y,1) \
        / q: read(x)=1",
    );
}

/// Neither update of `x` can have seen the other, the last query sees both, and the type decides.
#[test]
fn conflicts_are_decided_by_the_type() {
    let both = "a: add(p) add(x) contains(q)=false contains(s)=true contains(x)=A \
                / b: add(q) remove(x) contains(p)=false add(s)";
    for (data_type, answer) in [(DataType::OrSet, true), (DataType::RwSet, false)] {
        expect(data_type, &both.replace('A', &answer.to_string()), true);
        expect(data_type, &both.replace('A', &(!answer).to_string()), false);
    }
}

/// The addition on `q` covers the removal on `p`, so the second query owes its answer to a removal on `r`. Nothing that it
/// saw can have seen the last of those, and so the third query cannot be right.
#[test]
fn removals_of_one_replica_are_covered_together() {
    let text =
        "r: remove(x) remove(x) / p: add(x) remove(x) contains(x)=true contains(x)=false contains(x)=true / q: add(x)";
    violated(DataType::RwSet, text);
    assert_eq!(needed(DataType::RwSet, text), 8);
}

#[test]
fn nothing_is_there_at_first() {
    for data_type in SETS {
        violated(data_type, "p: contains(x)=true");
        violated(data_type, "p: remove(x) contains(x)=true");
        holds(data_type, "p: contains(x)=false remove(x) contains(x)=false add(x) contains(x)=true");
        violated(data_type, "p: add(x) contains(x)=false");
        violated(data_type, "p: add(x) add(y) contains(y)=true / q: contains(y)=true contains(x)=false");
    }
    for data_type in FLAGS {
        violated(data_type, "p: read(x)=true");
        holds(data_type, "p: read(x)=false disable(x) read(x)=false enable(x) read(x)=true");
    }
}

#[test]
fn siblings_of_an_array() {
    let adds = "p: addAfter(_,a) addAfter(a,b) / q: addAfter(a,c) read()=";
    holds(DataType::Rga, &format!("{adds}[a,c,b]"));
    holds(DataType::Rga, &format!("{adds}[a,b,c]"));
    violated(DataType::Rga, &format!("{adds}[a,c,b] read()=[a,b,c]"));
    // `b` was before `c`, and still is when only what hangs below it is left.
    let gone = "p: addAfter(_,a) addAfter(a,b) addAfter(b,d) remove(b) / q: addAfter(a,c) read()=[a,c,b]";
    holds(DataType::Rga, &format!("{gone} / r: read()=[a,c,d]"));
    violated(DataType::Rga, &format!("{gone} / r: read()=[a,d,c]"));
    // The later of two stands first.
    holds(DataType::Rga, "p: addAfter(_,a) addAfter(_,b) read()=[b,a]");
    violated(DataType::Rga, "p: addAfter(_,a) addAfter(_,b) read()=[a,b]");
    // What hangs below a sibling is not torn apart.
    violated(DataType::Rga, "p: addAfter(_,a) addAfter(a,b) / q: addAfter(_,c) read()=[a,c,b]");
}

#[test]
fn what_lists_cannot_be() {
    // A child before its parent, an element twice.
    violated(DataType::Rga, "p: addAfter(_,a) addAfter(a,b) read()=[b,a]");
    violated(DataType::Rga, "p: addAfter(_,a) read()=[a,a]");
    // The removal was seen; or what was seen is not there.
    violated(DataType::Rga, "p: addAfter(_,a) remove(a) read()=[a]");
    violated(DataType::Rga, "p: addAfter(_,a) read()=[]");
    violated(DataType::Rga, "p: addAfter(_,a) remove(a) addAfter(_,b) / q: read()=[b,a]");
    // Nobody added it.
    violated(DataType::Rga, "p: read()=[z]");
    violated(DataType::Rga, "p: remove(z)");
    violated(DataType::Rga, "p: addAfter(z,a)");
    // Additions that wait for each other.
    violated(DataType::Rga, "p: addAfter(b,a) / q: addAfter(a,b)");
    violated(DataType::Rga, "p: addAfter(c,a) read()=[a] / q: addAfter(a,b) / r: addAfter(b,c)");
    violated(DataType::Rga, "p: remove(a) / p: addAfter(_,a)");
}

/// Of two removals of one element, only one can have been seen.
#[test]
fn one_removal_of_two() {
    let removed = "p: addAfter(_,a) remove(a) addAfter(_,b) / q: remove(a) / r: read()=[a] read()=[]";
    holds(DataType::Rga, &format!("{removed} read()=[b]"));
    // The one on `q` comes after what shows that `b` was seen.
    let second = "p: addAfter(_,a) remove(a) / q: addAfter(a,b) remove(a) addAfter(_,c) / r: read()=";
    holds(DataType::Rga, &format!("{second}[b]"));
    holds(DataType::Rga, &format!("{second}[c,b] read()=[c,b]"));
    // Who made the first removal had seen `b`, so the reader of `[]` saw the second removal.
    let only = "p: addAfter(_,a) / q: addAfter(_,b) read()=[b,a] remove(a) / s: remove(a) / r: read()=";
    holds(DataType::Rga, &format!("{only}[a] read()=[] read()=[b]"));
    let none = "p: addAfter(_,a) / q: addAfter(_,b) read()=[b,a] remove(a) / s: read()=[b,a] remove(a) / r: read()=";
    violated(DataType::Rga, &format!("{none}[a] read()=[] read()=[b]"));
    holds(DataType::Rga, &format!("{none}[a] read()=[b]"));
}

#[test]
fn what_the_search_by_prefixes_accepts_holds_and_it_misses_some() {
    // Each replica must hear of the first increment of the other after that replica has gone on to its second.
    let text = "type: counter\na: inc(x) inc(x) read(x)=2 read(x)=3 / b: inc(x) inc(x) read(x)=2 read(x)=3";
    let history = read(text.as_bytes(), None, None).unwrap();
    assert!(prefix::accepts(&history, &mut Budget::unlimited()).is_none());
    assert_eq!(check(&history, &mut Budget::unlimited(), &mut Effort::default()).name(), "holds");
    let mut accepted = 0;
    for data_type in [DataType::OrSet, DataType::RwSet, DataType::MvRegister, DataType::Counter] {
        for seed in 0..50 {
            let history = Simulation::new(data_type, 20, seed).run();
            if let Some(witness) = prefix::accepts(&history, &mut Budget::new(20_000)) {
                certify(&history, &Verdict::Holds(witness)).unwrap();
                accepted += 1;
            }
        }
    }
    assert!(accepted > 50, "{accepted}");
}
