//! The frontiers that were met, exactly.
//!
//! A frontier says of each chain how many of its parts are placed. It is packed into as few bits as the chains' lengths allow (one for a
//! chain of one part), and kept whole: a hash only says where to look, so that no collision can make an answer wrong.

/// No entry.
const FREE: u32 = u32::MAX;

/// A set of frontiers.
pub(super) struct Memo {
    /// For each chain the word its number is in, and by how many bits it is shifted there.
    places: Vec<(u32, u32)>,
    /// How many words a frontier has.
    words: usize,
    frontiers: Vec<u64>,
    /// Indices of frontiers, found by hash and then in the slots that follow; never full.
    slots: Vec<u32>,
    packed: Vec<u64>,
}

impl Memo {
    /// For chains of these numbers of parts.
    pub(super) fn new(lengths: impl Iterator<Item = u32>) -> Self {
        let (mut word, mut used) = (0, 0);
        let mut places = Vec::new();
        for length in lengths {
            let bits = 32 - length.leading_zeros();
            if used + bits > 64 {
                (word, used) = (word + 1, 0);
            }
            places.push((word, used));
            used += bits;
        }
        let words = word as usize + 1;
        Memo { places, words, frontiers: Vec::new(), slots: vec![FREE; 64], packed: vec![0; words] }
    }

    /// Bytes in use.
    pub(super) fn size(&self) -> usize {
        self.frontiers.capacity() * 8 + self.slots.capacity() * 4
    }

    /// Whether the frontier, a number for each chain, was not there before.
    pub(super) fn insert(&mut self, frontier: &[u32]) -> bool {
        self.packed.fill(0);
        for (&count, &(word, shift)) in frontier.iter().zip(&self.places) {
            self.packed[word as usize] |= u64::from(count) << shift;
        }
        let count = self.frontiers.len() / self.words;
        if (count + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let slot = self.find(&self.packed);
        if self.slots[slot] != FREE {
            return false;
        }
        self.slots[slot] = count as u32;
        self.frontiers.extend_from_slice(&self.packed);
        true
    }

    /// The slot that has the frontier, or the one it belongs in.
    fn find(&self, packed: &[u64]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash(packed) as usize & mask;
        loop {
            match self.slots[slot] {
                FREE => return slot,
                at if self.frontier(at) == packed => return slot,
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    fn frontier(&self, at: u32) -> &[u64] {
        &self.frontiers[at as usize * self.words..(at as usize + 1) * self.words]
    }

    fn grow(&mut self) {
        self.slots = vec![FREE; self.slots.len() * 2];
        for at in 0..(self.frontiers.len() / self.words) as u32 {
            let slot = self.find(self.frontier(at));
            self.slots[slot] = at;
        }
    }
}

fn hash(words: &[u64]) -> u64 {
    let mut hash = 0u64;
    for &word in words {
        hash = (hash.rotate_left(26) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 32;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frontiers_are_told_apart() {
        // More than one word, with a number that would cross the border.
        let lengths = [1, 1000, u32::MAX, 7, 0, u32::MAX >> 1, 3];
        let mut memo = Memo::new(lengths.into_iter());
        let mut all = Vec::new();
        for seed in 0..5000u32 {
            let mixed = |i: usize| seed.wrapping_mul(2_654_435_761).rotate_left(5 * i as u32);
            let number =
                |(i, &length): (usize, &u32)| if length == u32::MAX { mixed(i) } else { mixed(i) % (length + 1) };
            all.push(lengths.iter().enumerate().map(number).collect::<Vec<u32>>());
        }
        let mut distinct = all.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(all.iter().filter(|frontier| memo.insert(frontier)).count(), distinct.len());
        assert!(all.iter().all(|frontier| !memo.insert(frontier)));
    }
}
