//! Values, interned per key: the pair of a key and what it held becomes one `u32`.
//!
//! Interning the pair, not the datum, makes write-read resolution an array look-up and needs 12 bytes a value. The table is the
//! hot spot of every load, so it is our own: look-ups come in batches whose cache misses overlap, and growing
//! rebuilds from the columns instead of holding two tables.

use crate::names::{Datum, Texts};
use crate::slots::Slots;

/// How a value's `raw` column is to be read; kept in the two top bits of the `owner` column.
const INT: u32 = 0;
const TEXT: u32 = 1 << 30;
const INITIAL: u32 = 2 << 30;
const KEY_BITS: u32 = (1 << 30) - 1;

/// The most keys a history may have: two bits of a key's id are taken.
pub(crate) const MAX_KEYS: usize = KEY_BITS as usize;

/// A slot holds a value's id plus one below, and above it the upper half of its hash, so that most look-ups that fail touch no
/// column. Zero is empty, because memory comes zeroed.
const EMPTY: u64 = 0;
const BATCH: usize = 64;

#[inline]
fn slot(hash: u64, value: u32) -> u64 {
    (hash & !u64::from(u32::MAX)) | u64::from(value + 1)
}

#[inline]
fn same_hash(slot: u64, hash: u64) -> bool {
    (slot ^ hash) >> 32 == 0
}

/// A value to be interned, and where its id goes.
#[derive(Clone, Copy, Default)]
struct Pending {
    raw: i64,
    owner: u32,
    target: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    raw: Vec<i64>,
    owner: Vec<u32>,
}

impl Values {
    pub(crate) fn len(&self) -> usize {
        self.raw.len()
    }

    #[inline]
    pub(crate) fn key(&self, value: u32) -> u32 {
        self.owner[value as usize] & KEY_BITS
    }

    pub(crate) fn datum<'a>(&self, value: u32, texts: &'a Texts) -> Datum<'a> {
        let raw = self.raw[value as usize];
        match self.owner[value as usize] & !KEY_BITS {
            INT => Datum::Int(raw),
            TEXT => Datum::Text(texts.get(raw as u32)),
            _ => Datum::Initial,
        }
    }

    pub(crate) fn is_initial(&self, value: u32) -> bool {
        self.owner[value as usize] & !KEY_BITS == INITIAL
    }

    pub(crate) fn is_int(&self, value: u32, i: i64) -> bool {
        self.owner[value as usize] & !KEY_BITS == INT && self.raw[value as usize] == i
    }
}

/// [`Values`] under construction.
pub(crate) struct Interner {
    values: Values,
    slots: Slots,
    pending: [Pending; BATCH],
    waiting: usize,
}

impl Interner {
    pub(crate) fn new() -> Self {
        Interner {
            values: Values::default(),
            slots: Slots::zeroed(1 << 10),
            pending: [Pending::default(); BATCH],
            waiting: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn key(&self, value: u32) -> u32 {
        self.values.key(value)
    }

    /// The values from an id on, as columns.
    pub(crate) fn columns_from(&self, first: usize) -> (&[i64], &[u32]) {
        (&self.values.raw[first..], &self.values.owner[first..])
    }

    /// Adds values from columns, without making them known for look-ups. Whether all are possible ones.
    pub(crate) fn extend_columns(
        &mut self,
        raw: impl Iterator<Item = i64> + Clone,
        owner: impl Iterator<Item = u32> + Clone,
        keys: usize,
        texts: usize,
    ) -> bool {
        let possible = raw.clone().zip(owner.clone()).all(|(raw, owner)| {
            (owner & KEY_BITS) < keys as u32
                && match owner & !KEY_BITS {
                    INT => true,
                    TEXT => usize::try_from(raw).is_ok_and(|raw| raw < texts),
                    tag => tag == INITIAL,
                }
        });
        self.values.raw.extend(raw);
        self.values.owner.extend(owner);
        possible
    }

    pub(crate) fn bytes(&self) -> usize {
        self.values.len() * 12 + self.slots.len() * 8
    }

    /// Makes room for about this many values at once.
    pub(crate) fn expect(&mut self, values: usize) {
        assert!(self.values.len() == 0, "room is made before the first value");
        self.slots = Slots::zeroed((values + values / 2).next_power_of_two().max(1 << 10));
    }

    /// Interns a value soon: by the next [`flush`](Self::flush), `targets[target]` holds its id.
    #[inline]
    pub(crate) fn later(&mut self, key: u32, datum: Datum<'_>, texts: &mut Texts, target: u32, targets: &mut [u32]) {
        let (raw, owner) = encode(key, datum, texts);
        self.pending[self.waiting] = Pending { raw, owner, target };
        self.waiting += 1;
        if self.waiting == BATCH {
            self.flush(targets);
        }
    }

    /// Interns a value at once.
    pub(crate) fn now(&mut self, key: u32, datum: Datum<'_>, texts: &mut Texts) -> u32 {
        let (raw, owner) = encode(key, datum, texts);
        self.reserve(1);
        self.find_or_insert(raw, owner, hash(raw, owner))
    }

    pub(crate) fn flush(&mut self, targets: &mut [u32]) {
        // Values added as columns are in no table; there is nothing to look up then.
        if self.waiting == 0 {
            return;
        }
        self.reserve(self.waiting);
        let mask = self.slots.len() - 1;
        // Two loops instead of one, so that the misses of a whole batch are under way at once.
        let slots = self.slots.as_slice();
        let mut hashes = [0; BATCH];
        let mut touched = 0;
        for (p, h) in self.pending[..self.waiting].iter().zip(&mut hashes) {
            *h = hash(p.raw, p.owner);
            touched |= slots[*h as usize & mask];
        }
        std::hint::black_box(touched);
        for (i, hash) in hashes.into_iter().enumerate().take(self.waiting) {
            let p = self.pending[i];
            targets[p.target as usize] = self.find_or_insert(p.raw, p.owner, hash);
        }
        self.waiting = 0;
    }

    #[inline]
    fn find_or_insert(&mut self, raw: i64, owner: u32, hash: u64) -> u32 {
        let slots = self.slots.as_mut_slice();
        let mask = slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let found = slots[at];
            if found == EMPTY {
                let new = self.values.len() as u32;
                assert!(new < u32::MAX, "a history holds fewer than 2^32 - 1 values");
                self.values.raw.push(raw);
                self.values.owner.push(owner);
                slots[at] = slot(hash, new);
                return new;
            }
            let value = found as u32 as usize - 1;
            if same_hash(found, hash) && self.values.raw[value] == raw && self.values.owner[value] == owner {
                return value as u32;
            }
            at = (at + 1) & mask;
        }
    }

    /// Makes room for more values, so that the table is never more than three quarters full.
    fn reserve(&mut self, more: usize) {
        if self.values.len() + more <= self.slots.len() / 4 * 3 {
            return;
        }
        let size = self.slots.len() * 2;
        self.slots = Slots::zeroed(0);
        self.slots = Slots::zeroed(size);
        let slots = self.slots.as_mut_slice();
        let mask = size - 1;
        for (value, (&raw, &owner)) in self.values.raw.iter().zip(&self.values.owner).enumerate() {
            let hash = hash(raw, owner);
            let mut at = hash as usize & mask;
            while slots[at] != EMPTY {
                at = (at + 1) & mask;
            }
            slots[at] = slot(hash, value as u32);
        }
    }

    /// The finished columns. Nothing may be pending.
    pub(crate) fn finish(self) -> Values {
        assert_eq!(self.waiting, 0, "the last batch is flushed before the end");
        self.values
    }
}

fn encode(key: u32, datum: Datum<'_>, texts: &mut Texts) -> (i64, u32) {
    match datum {
        Datum::Int(i) => (i, key | INT),
        Datum::Text(s) => (i64::from(texts.intern(s)), key | TEXT),
        Datum::Initial => (0, key | INITIAL),
    }
}

/// A folded multiplication: one instruction or two, and every input bit reaches the low bits.
#[inline]
fn hash(raw: i64, owner: u32) -> u64 {
    let a = raw as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let b = u64::from(owner) ^ 0xd1b5_4a32_d192_ed03;
    let product = u128::from(a.wrapping_mul(0xff51_afd7_ed55_8ccd)) * u128::from(b.wrapping_mul(0xc4ce_b9fe_1a85_ec53));
    (product as u64) ^ ((product >> 64) as u64)
}
