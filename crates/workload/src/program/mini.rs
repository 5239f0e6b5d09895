//! Mini-transactions: the twenty shapes there are, and mixes of them.
//!
//! One or two reads, at most two writes, and every write after a read of its key (MTC, Definition 8). Up to the names of
//! keys that leaves twenty programs. MTC's own generator makes fourteen of them, among which none can show
//! not-my-last-write; its Jepsen experiments use eleven.

use std::str::FromStr;

use super::Operation;
use crate::rng::Rng;

/// A mini-transaction up to the names of its keys: `R1W1R2` reads the first key, writes it and reads the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MiniShape(&'static str);

impl MiniShape {
    /// All of them.
    pub const ALL: [MiniShape; 20] = [
        MiniShape("R1"),
        MiniShape("R1R1"),
        MiniShape("R1R2"),
        MiniShape("R1W1"),
        MiniShape("R1R1W1"),
        MiniShape("R1R2W1"),
        MiniShape("R1R2W2"),
        MiniShape("R1W1R1"),
        MiniShape("R1W1R2"),
        MiniShape("R1W1W1"),
        MiniShape("R1R1W1W1"),
        MiniShape("R1R2W1W1"),
        MiniShape("R1R2W1W2"),
        MiniShape("R1R2W2W1"),
        MiniShape("R1R2W2W2"),
        MiniShape("R1W1R1W1"),
        MiniShape("R1W1R2W1"),
        MiniShape("R1W1R2W2"),
        MiniShape("R1W1W1R1"),
        MiniShape("R1W1W1R2"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// How many keys it is about: one or two.
    pub fn keys(self) -> u64 {
        if self.0.contains('2') { 2 } else { 1 }
    }

    /// The program on these keys.
    pub fn operations(self, keys: [u64; 2]) -> impl Iterator<Item = Operation> {
        self.0.as_bytes().chunks_exact(2).map(move |letters| {
            let key = keys[usize::from(letters[1] == b'2')];
            if letters[0] == b'R' { Operation::Read(key) } else { Operation::Write(key) }
        })
    }
}

/// How often each of the shapes in [`MiniShape::ALL`] occurs, relative to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MiniMix {
    /// A weight for each shape, in the order of [`MiniShape::ALL`].
    pub weights: [u32; 20],
}

impl MiniMix {
    /// All twenty, equally often.
    pub const ALL: MiniMix = MiniMix { weights: [1; 20] };
    /// Those that MTC's own generator makes.
    pub const REFERENCE: MiniMix = MiniMix { weights: [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0] };
    /// Those of MTC's Jepsen experiments. There `R1R2W1` is `r2r1w2`, `R1W1R2` is `r2w2r1` and `R1W1R1` is `r2w2r2`.
    pub const JEPSEN: MiniMix = MiniMix { weights: [1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0] };
    /// Those with at most one read and one write per key and no read after an own write.
    pub const SINGLE_ACCESS: MiniMix =
        MiniMix { weights: [1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0] };

    /// The mixes that have names.
    pub const NAMED: [(&'static str, MiniMix); 4] = [
        ("all", MiniMix::ALL),
        ("reference", MiniMix::REFERENCE),
        ("jepsen", MiniMix::JEPSEN),
        ("single-access", MiniMix::SINGLE_ACCESS),
    ];

    /// How many keys its shapes need; `None` if it has no shape.
    pub(super) fn keys(&self) -> Option<u64> {
        MiniShape::ALL.iter().zip(self.weights).filter(|&(_, weight)| weight > 0).map(|(shape, _)| shape.keys()).max()
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> MiniShape {
        let total: u64 = self.weights.iter().map(|&weight| u64::from(weight)).sum();
        let mut left = rng.below(total);
        for (shape, weight) in MiniShape::ALL.into_iter().zip(self.weights) {
            if left < u64::from(weight) {
                return shape;
            }
            left -= u64::from(weight);
        }
        unreachable!("the number is below the sum of the weights")
    }
}

impl FromStr for MiniMix {
    type Err = InvalidMix;

    /// The name of a mix, or shapes with their weights: `R1W1=3,R1=1`. The others do not occur; a weight of 1 may be left out.
    fn from_str(text: &str) -> Result<Self, InvalidMix> {
        if let Some((_, mix)) = MiniMix::NAMED.into_iter().find(|(name, _)| *name == text) {
            return Ok(mix);
        }
        let mut given: [Option<u32>; 20] = [None; 20];
        for item in text.split(',') {
            let (name, weight) = item.split_once('=').unwrap_or((item, "1"));
            let at = MiniShape::ALL.iter().position(|shape| shape.name().eq_ignore_ascii_case(name.trim()));
            let at = at.ok_or_else(|| InvalidMix::UnknownShape(name.trim().into()))?;
            let weight = weight.trim().parse().map_err(|_| InvalidMix::Weight(item.into()))?;
            if given[at].replace(weight).is_some() {
                return Err(InvalidMix::Repeated(MiniShape::ALL[at].name()));
            }
        }
        let weights = given.map(Option::unwrap_or_default);
        if weights.iter().all(|&weight| weight == 0) { Err(InvalidMix::NoWeight) } else { Ok(MiniMix { weights }) }
    }
}

/// There is no such mix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidMix {
    /// It is neither a mix nor a shape.
    #[error(
        "unknown shape `{0}`; known are {shapes}, and the mixes {mixes}",
        shapes = MiniShape::ALL.map(MiniShape::name).join(", "),
        mixes = MiniMix::NAMED.map(|(name, _)| name).join(", ")
    )]
    UnknownShape(Box<str>),
    /// A weight is no whole number.
    #[error("the weight in `{0}` is none; expected a whole number, such as R1W1=3")]
    Weight(Box<str>),
    /// A shape has two weights.
    #[error("the shape {0} has two weights")]
    Repeated(&'static str),
    /// Nothing has any weight.
    #[error("no shape has any weight")]
    NoWeight,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds every program of at most four operations by the definition, and compares.
    #[test]
    fn the_shapes_are_all_and_only_those_of_the_definition() {
        let letters = ["R1", "R2", "W1", "W2"];
        let mut found = Vec::new();
        for code in 0..5usize.pow(4) {
            let digits = [code / 125, code / 25 % 5, code / 5 % 5, code % 5];
            let used = digits.iter().take_while(|&&d| d > 0).count();
            if digits[used..].iter().any(|&d| d > 0) {
                continue;
            }
            let program: Vec<&str> = digits[..used].iter().map(|&d| letters[d - 1]).collect();
            let reads = program.iter().filter(|o| o.starts_with('R')).count();
            let read_before = |at: usize| program[..at].contains(&["R1", "R2"][usize::from(program[at] == "W2")]);
            let writes: Vec<usize> = (0..used).filter(|&at| program[at].starts_with('W')).collect();
            if (1..=2).contains(&reads)
                && writes.len() <= 2
                && writes.into_iter().all(read_before)
                && program[0].ends_with('1')
            {
                found.push(program.concat());
            }
        }
        let mut known: Vec<&str> = MiniShape::ALL.iter().map(|shape| shape.name()).collect();
        known.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, known);
    }

    #[test]
    fn every_shape_occurs() {
        let mut rng = Rng::new(1);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..20_000 {
            *seen.entry(MiniMix::ALL.draw(&mut rng).name()).or_insert(0) += 1;
        }
        assert!(seen.len() == 20 && seen.values().all(|n| (850..1150).contains(n)), "{seen:?}");
        let sizes =
            [MiniMix::REFERENCE, MiniMix::JEPSEN, MiniMix::SINGLE_ACCESS].map(|m| m.weights.iter().sum::<u32>());
        assert_eq!(sizes, [14, 11, 9]);
    }
    #[test]
    fn mixes_are_understood() {
        for (name, mix) in MiniMix::NAMED {
            assert_eq!(name.parse(), Ok(mix));
        }
        let mut weights = [0; 20];
        (weights[3], weights[0]) = (3, 1);
        for text in ["R1W1=3,R1=1", "R1, r1w1=3", "R1W1=3,R1,R1R2=0"] {
            assert_eq!(text.parse(), Ok(MiniMix { weights }), "{text}");
        }
        let error = |text: &str| text.parse::<MiniMix>().unwrap_err();
        assert_eq!(error("R1,R2W2"), InvalidMix::UnknownShape("R2W2".into()));
        assert_eq!(error(""), InvalidMix::UnknownShape("".into()));
        assert_eq!(error("R1=x"), InvalidMix::Weight("R1=x".into()));
        assert_eq!(error("R1=1,r1=2"), InvalidMix::Repeated("R1"));
        assert_eq!(error("R1=0"), InvalidMix::NoWeight);
        assert!(error("All").to_string().contains("R1W1W1R2, and the mixes all, reference"));
    }
}
