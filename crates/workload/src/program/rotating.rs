//! Elle's workloads: a few lists or registers at a time, each of which makes room for a new one after so many writes.
//!
//! Lists stay short that way, and few writes of a register leave few orders to choose among. After Kingsbury and Alvaro, "Elle:
//! Inferring Isolation Anomalies from Experimental Observations", VLDB 2020, and the generators that come with it.

use super::source::Source;
use super::{Length, Operation};

#[derive(Clone, Debug)]
pub(super) struct Rotating {
    lists: bool,
    length: Length,
    read_share: f64,
    writes_per_key: u32,
    /// The keys in use.
    slots: Vec<Slot>,
}

#[derive(Clone, Debug)]
struct Slot {
    key: u64,
    writes: u32,
}

impl Rotating {
    pub(super) fn lists(keys: u64, length: Length, read_share: f64, writes_per_key: u32) -> Self {
        let slots = (0..keys).map(|key| Slot { key, writes: 0 }).collect();
        Rotating { lists: true, length, read_share, writes_per_key, slots }
    }

    pub(super) fn registers(keys: u64, length: Length, read_share: f64, writes_per_key: u32) -> Self {
        Rotating { lists: false, ..Rotating::lists(keys, length, read_share, writes_per_key) }
    }

    pub(super) fn draw(&mut self, source: &mut Source, program: &mut Vec<Operation>) {
        for _ in 0..self.length.draw(&mut source.rng) {
            let slot = &mut self.slots[source.key() as usize];
            let key = slot.key;
            if source.rng.chance(self.read_share) {
                program.push(if self.lists { Operation::ReadList(key) } else { Operation::Read(key) });
                continue;
            }
            program.push(if self.lists { Operation::Append(key) } else { Operation::Write(key) });
            slot.writes += 1;
            if slot.writes == self.writes_per_key {
                *slot = Slot { key: source.fresh_key(), writes: 0 };
            }
        }
    }
}
