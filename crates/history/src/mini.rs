//! Mini-transactions, recognized.

use crate::event::Event;
use crate::history::{History, TxnId};

impl History {
    /// Whether a transaction is a mini-transaction: one or two reads, at most two writes, each of a key that was read before (Wei et al.,
    /// ICDE 2025). A compare-and-set that succeeded is a read and a write; one that failed is neither.
    pub fn is_mini(&self, txn: TxnId) -> bool {
        let mut read = [None; 2];
        let (mut reads, mut writes) = (0, 0);
        for event in self.events(txn) {
            let (value, reading, writing) = match event {
                Event::Read(value) => (value, true, false),
                Event::Write(value) => (value, false, true),
                Event::CompareAndSet { new, succeeded: true, .. } => (new, true, true),
                _ => return false,
            };
            let key = self.key_of(value);
            if reading {
                match read.get_mut(reads) {
                    Some(place) => *place = Some(key),
                    None => return false,
                }
                reads += 1;
            }
            writes += usize::from(writing);
            if writes > 2 || writing && !read.contains(&Some(key)) {
                return false;
            }
        }
        reads > 0
    }
}

#[cfg(test)]
mod tests {
    use crate::builder::HistoryBuilder;

    #[test]
    fn mini_transactions_are_recognized() {
        let mut history = HistoryBuilder::new();
        let nothing = None::<i64>;
        history.transaction(0).read("x", nothing).commit();
        history.transaction(0).read("x", nothing).write("x", 1).write("x", 2).read("x", 2).commit();
        history.transaction(0).read("x", 2).read("y", nothing).write("y", 1).write("x", 3).commit();
        history.transaction(0).compare_and_set("x", 3, 4, true).commit();
        // Too many reads, too many writes, blind ones, none at all, something else.
        history.transaction(1).read("x", 4).read("y", 1).read("z", nothing).commit();
        history.transaction(1).read("z", nothing).write("z", 1).write("z", 2).write("z", 3).commit();
        history.transaction(1).write("x", 5).read("x", 5).commit();
        history.transaction(1).read("y", 1).write("z", 4).commit();
        history.transaction(1).compare_and_set("x", 7, 8, false).commit();
        history.transaction(1).append("l", 1).commit();
        let history = history.finish().expect("no value is written twice");
        let found: Vec<bool> = history.transactions().map(|txn| history.is_mini(txn)).collect();
        assert_eq!(found, [true, true, true, true, false, false, false, false, false, false]);
    }
}
