//! What a client knows of keys: what a compare-and-set expects.

use rustc_hash::FxHashMap;

/// What a client saw of keys last. A value that it never saw counts as never written.
///
/// A transaction that is under way knows what it has read and written itself. Only when it has committed does the client know
/// that from then on.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    known: FxHashMap<u64, Option<i64>>,
    /// What the transaction that is under way saw.
    new: Vec<(u64, Option<i64>)>,
}

impl Knowledge {
    /// What a compare-and-set of a key expects: `None` that it was never written.
    pub fn expected(&self, key: u64) -> Option<i64> {
        let new = self.new.iter().rev().find(|seen| seen.0 == key).map(|seen| seen.1);
        new.or_else(|| self.known.get(&key).copied()).flatten()
    }

    /// The transaction has read this, or set the key to it. A compare-and-set that failed teaches nothing.
    pub fn saw(&mut self, key: u64, value: Option<i64>) {
        self.new.push((key, value));
    }

    /// The transaction is over. If it did not commit for sure, what it saw is forgotten.
    pub fn end(&mut self, committed: bool) {
        for (key, value) in self.new.drain(..) {
            if committed {
                self.known.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_commit_is_forgotten() {
        let mut client = Knowledge::default();
        assert_eq!(client.expected(1), None);
        client.saw(1, Some(5));
        client.saw(1, Some(6));
        assert_eq!(client.expected(1), Some(6));
        client.end(false);
        assert_eq!(client.expected(1), None);
        client.saw(1, Some(7));
        client.end(true);
        client.saw(1, None);
        assert_eq!((client.expected(1), client.expected(2)), (None, None));
        client.end(false);
        assert_eq!(client.expected(1), Some(7));
    }
}
