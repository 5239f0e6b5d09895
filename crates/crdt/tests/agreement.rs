//! The search agrees with brute force on all small histories of every type.
//!
//! Up to 4 operations, sets up to 5; on up to 3 replicas, with up to 2 objects and 3 values or elements. Flags are sets
//! under another name. `random.rs` has larger ones.

use isonomy_crdt::enumerate::{Bounds, histories};
use isonomy_crdt::{Budget, DataType, Effort, Format, History, Verdict, certify, check, oracle, write};

fn show(history: &History) -> String {
    let mut text = Vec::new();
    write(history, Format::Notation, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// How many histories there are of a size, and how many of them are admitted.
fn agree(bounds: Bounds) -> (u64, u64) {
    let (mut all, mut admitted) = (0, 0);
    histories(&bounds, |history| {
        let expected = oracle::admits(history);
        let verdict = check(history, &mut Budget::unlimited(), &mut Effort::default());
        assert_eq!(matches!(verdict, Verdict::Holds(_)), expected, "{}", show(history));
        certify(history, &verdict).unwrap_or_else(|fault| panic!("{fault}: {verdict:?}\n{}", show(history)));
        all += 1;
        admitted += u64::from(expected);
    });
    (all, admitted)
}

fn agree_up_to(data_type: DataType, operations: usize) {
    for operations in 1..=operations {
        let bounds = Bounds { data_type, operations, replicas: 3, objects: 2, values: 3 };
        let (all, admitted) = agree(bounds);
        assert!(admitted > 0 && admitted < all || operations == 1, "{admitted} of {all}");
    }
}

#[test]
fn or_set() {
    agree_up_to(DataType::OrSet, 5);
}

#[test]
fn rw_set() {
    agree_up_to(DataType::RwSet, 5);
}

#[test]
fn ew_flag() {
    agree_up_to(DataType::EwFlag, 4);
}

#[test]
fn dw_flag() {
    agree_up_to(DataType::DwFlag, 4);
}

#[test]
fn mv_register() {
    agree_up_to(DataType::MvRegister, 4);
}

#[test]
fn lww_register() {
    agree_up_to(DataType::LwwRegister, 4);
}

#[test]
fn counter() {
    agree_up_to(DataType::Counter, 4);
}

#[test]
fn rga() {
    agree_up_to(DataType::Rga, 4);
}
