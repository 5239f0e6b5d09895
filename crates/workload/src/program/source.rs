//! What programs are drawn with.

use super::Operation;
use crate::distribution::KeySampler;
use crate::rng::Rng;

/// Random numbers, popular keys and keys that nobody has used.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) rng: Rng,
    keys: KeySampler,
    next_key: u64,
}

impl Source {
    pub(super) fn new(seed: u64, keys: KeySampler, first_fresh: u64) -> Self {
        Source { rng: Rng::stream(seed, 1), keys, next_key: first_fresh }
    }

    /// A key, popular ones more often.
    #[inline]
    pub(super) fn key(&mut self) -> u64 {
        self.keys.draw(&mut self.rng)
    }

    pub(super) fn key_other_than(&mut self, other: u64) -> u64 {
        self.key_where(|key| key != other)
    }

    /// A key that the program does not read yet, or does not read or write yet.
    pub(super) fn unused_key(&mut self, program: &[Operation], is_read: bool) -> u64 {
        self.key_where(|key| !program.iter().any(|o| o.key() == Some(key) && (is_read || o.is_write())))
    }

    /// Popular keys are met again and again, so after a few draws take the next key that will do.
    fn key_where(&mut self, fine: impl Fn(u64) -> bool) -> u64 {
        let mut key = self.key();
        for _ in 0..16 {
            if fine(key) {
                return key;
            }
            key = self.key();
        }
        while !fine(key) {
            key = (key + 1) % self.keys.keys();
        }
        key
    }

    /// A key that no program has used.
    pub(super) fn fresh_key(&mut self) -> u64 {
        self.next_key += 1;
        self.next_key - 1
    }

    /// The place of one of these weights, heavy ones more often. One of them is not 0.
    pub(super) fn choose(&mut self, weights: impl Iterator<Item = u32> + Clone) -> usize {
        let mut left = self.rng.below(weights.clone().map(u64::from).sum());
        for (at, weight) in weights.map(u64::from).enumerate() {
            if left < weight {
                return at;
            }
            left -= weight;
        }
        unreachable!("the number is below the sum of the weights")
    }
}
