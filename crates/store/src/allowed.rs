//! The versions that a read may return, without listing them.

use crate::keys::{Key, Version};
use crate::order::Node;

/// Versions of a key, and perhaps its initial state.
#[derive(Debug)]
pub(crate) struct Allowed {
    pub(crate) initial: bool,
    pub(crate) spans: Vec<Span>,
}

/// Some consecutive versions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) place: Place,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Which list of versions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// Those of a chain, by its place in the key.
    Chain(u32),
    /// Those with a position. There is no other span then.
    Frozen,
}

impl Allowed {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        usize::from(self.initial) + self.spans.iter().map(|span| (span.end - span.start) as usize).sum::<usize>()
    }

    /// One of them; the numbers say nothing of their order. `None` is the initial state.
    pub(crate) fn get(&self, key: &Key, mut number: usize) -> Option<Version> {
        for span in &self.spans {
            let versions = span.versions(key);
            if let Some(&version) = versions.get(number) {
                return Some(version);
            }
            number -= versions.len();
        }
        None
    }

    /// One of them by age: 0 is the one that was committed last, the initial state comes at the end.
    pub(crate) fn by_age(&self, key: &Key, age: usize) -> Option<Version> {
        match self.spans.as_slice() {
            [] => None,
            [span] => span.versions(key).iter().rev().nth(age).copied(),
            spans => {
                if age >= self.len() - usize::from(self.initial) {
                    return None;
                }
                // How many were committed since some transaction, itself included.
                let since = |node: Node| -> usize {
                    let count = |span: &Span| {
                        let versions = span.versions(key);
                        versions.len() - versions.partition_point(|version| version.node < node)
                    };
                    spans.iter().map(count).sum()
                };
                let (mut low, mut high) = (0, Node::MAX);
                while high - low > 1 {
                    let middle = low + (high - low) / 2;
                    if since(middle) > age { low = middle } else { high = middle }
                }
                spans.iter().find_map(|span| {
                    let versions = span.versions(key);
                    versions.binary_search_by_key(&low, |version| version.node).ok().map(|at| versions[at])
                })
            }
        }
    }
}

impl Span {
    pub(crate) fn versions(self, key: &Key) -> &[Version] {
        let list = match self.place {
            Place::Chain(place) => &key.chains()[place as usize].1,
            Place::Frozen => key.frozen(),
        };
        &list[self.start as usize..self.end as usize]
    }
}
