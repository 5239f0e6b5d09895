//! Which keys the operations of a workload meet, and how often.
//!
//! Key 0 is the most popular one. Every draw takes constant time, however many keys there are. Zipfian keys are drawn from an
//! alias table (Walker 1977; Vose 1991) if there are few, and else by rejection-inversion (Hörmann and Derflinger,
//! "Rejection-inversion to generate variates from monotone discrete distributions", 1996), which needs no table. With
//! that alone, drawing keys was half of the work of generating a history; the table is several times as fast.

use std::fmt;
use std::str::FromStr;

use crate::math::{exp, ln};
use crate::rng::Rng;

/// How popular each of the keys is.
///
/// As text: `uniform`, `zipfian`, `zipfian:1.2`, `hotspot`, `hotspot:0.2/0.8`, `hotspot:one/0.2`, `exponential`, `exponential:0.1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// All the same.
    Uniform,
    /// The key of rank `i`, from 1, in proportion to 1 / `i`^`exponent`.
    Zipfian {
        /// 0.99 in YCSB and most papers; 2.0 in MTC.
        exponent: f64,
    },
    /// A share of the operations goes to a share of the keys, the rest to the rest.
    Hotspot {
        /// The share of the keys that is hot, rounded up to a whole key; 0.2 in PolySI and C4.
        keys: f64,
        /// The share of the operations that goes there; 0.8 in PolySI and C4.
        operations: f64,
    },
    /// A share of the operations goes to one key, the rest to the others (MTC's hotspot).
    HotKey {
        /// The share of the operations that goes to the one key; 0.2 in MTC.
        operations: f64,
    },
    /// Key `⌊-ln(1 - u) / rate⌋` for a random `u`, or the last key if there are fewer (MTC).
    Exponential {
        /// 0.1 in MTC.
        rate: f64,
    },
}

impl Distribution {
    /// Zipfian with the usual exponent.
    pub const ZIPFIAN: Distribution = Distribution::Zipfian { exponent: 0.99 };
    /// 80 % of the operations on 20 % of the keys.
    pub const HOTSPOT: Distribution = Distribution::Hotspot { keys: 0.2, operations: 0.8 };
    /// Exponential with the usual rate.
    pub const EXPONENTIAL: Distribution = Distribution::Exponential { rate: 0.1 };

    /// Draws keys below `keys`, of which there must be one.
    pub fn over(self, keys: u64) -> Result<KeySampler, InvalidDistribution> {
        assert!(keys > 0, "there is a key to draw");
        self.validate()?;
        let method = match self {
            Distribution::Uniform => Method::Uniform,
            Distribution::Zipfian { exponent } if keys <= MOST_IN_TABLE => {
                Method::Table((1..=keys).map(|rank| exp(-exponent * ln(rank as f64))).collect())
            }
            Distribution::Zipfian { exponent } => Method::Zipfian(Zipfian::new(keys, exponent)),
            Distribution::Hotspot { keys: share, operations } => {
                Method::Hotspot { hot: ((keys as f64 * share).ceil() as u64).clamp(1, keys), operations }
            }
            Distribution::HotKey { operations } => Method::Hotspot { hot: 1, operations },
            Distribution::Exponential { rate } => Method::Exponential { rate },
        };
        Ok(KeySampler { keys, method })
    }

    fn validate(self) -> Result<(), InvalidDistribution> {
        let share = |value: f64| value > 0.0 && value <= 1.0;
        let fine = match self {
            Distribution::Uniform => true,
            Distribution::Zipfian { exponent } => exponent > 0.0 && exponent <= 10.0,
            Distribution::Hotspot { keys, operations } => share(keys) && share(operations),
            Distribution::HotKey { operations } => share(operations),
            Distribution::Exponential { rate } => rate > 0.0 && rate.is_finite(),
        };
        if fine { Ok(()) } else { Err(InvalidDistribution(self.to_string().into())) }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Distribution::Uniform => f.write_str("uniform"),
            Distribution::ZIPFIAN => f.write_str("zipfian"),
            Distribution::Zipfian { exponent } => write!(f, "zipfian:{exponent}"),
            Distribution::HOTSPOT => f.write_str("hotspot"),
            Distribution::Hotspot { keys, operations } => write!(f, "hotspot:{keys}/{operations}"),
            Distribution::HotKey { operations } => write!(f, "hotspot:one/{operations}"),
            Distribution::EXPONENTIAL => f.write_str("exponential"),
            Distribution::Exponential { rate } => write!(f, "exponential:{rate}"),
        }
    }
}

impl FromStr for Distribution {
    type Err = InvalidDistribution;

    fn from_str(text: &str) -> Result<Self, InvalidDistribution> {
        let invalid = || InvalidDistribution(text.into());
        let number = |text: &str| text.parse::<f64>().map_err(|_| invalid());
        let distribution = match text.split_once(':') {
            None => match text {
                "uniform" => Distribution::Uniform,
                "zipfian" => Distribution::ZIPFIAN,
                "hotspot" => Distribution::HOTSPOT,
                "exponential" => Distribution::EXPONENTIAL,
                _ => return Err(invalid()),
            },
            Some(("zipfian", exponent)) => Distribution::Zipfian { exponent: number(exponent)? },
            Some(("hotspot", shares)) => {
                let (keys, operations) = shares.split_once('/').ok_or_else(invalid)?;
                let operations = number(operations)?;
                match keys {
                    "one" => Distribution::HotKey { operations },
                    keys => Distribution::Hotspot { keys: number(keys)?, operations },
                }
            }
            Some(("exponential", rate)) => Distribution::Exponential { rate: number(rate)? },
            Some(_) => return Err(invalid()),
        };
        distribution.validate().map_err(|_| invalid())?;
        Ok(distribution)
    }
}

/// There is no such distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown distribution `{0}`; known are uniform, zipfian[:EXPONENT up to 10], hotspot[:KEYS/OPERATIONS, as shares; KEYS may \
     be `one`], exponential[:RATE]"
)]
pub struct InvalidDistribution(pub Box<str>);

/// Draws keys; see [`Distribution::over`].
#[derive(Clone, Debug)]
pub struct KeySampler {
    keys: u64,
    method: Method,
}

#[derive(Clone, Debug)]
enum Method {
    Uniform,
    Table(AliasTable),
    Zipfian(Zipfian),
    Hotspot { hot: u64, operations: f64 },
    Exponential { rate: f64 },
}

impl KeySampler {
    /// How many keys there are.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// A key, from 0.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        match self.method {
            Method::Uniform => rng.below(self.keys),
            Method::Table(ref table) => table.draw(rng),
            Method::Zipfian(ref zipfian) => zipfian.draw(rng) - 1,
            Method::Hotspot { hot, operations } => {
                if hot == self.keys || rng.chance(operations) {
                    rng.below(hot)
                } else {
                    hot + rng.below(self.keys - hot)
                }
            }
            Method::Exponential { rate } => ((-ln(1.0 - rng.unit()) / rate) as u64).min(self.keys - 1),
        }
    }
}

/// With more keys the table would not stay in the cache.
const MOST_IN_TABLE: u64 = 1 << 16;

/// Each slot stands for itself up to its threshold, of 2⁶⁴, and for another beyond.
#[derive(Clone, Debug)]
struct AliasTable {
    slots: Vec<(u64, u32)>,
}

impl FromIterator<f64> for AliasTable {
    /// From weights, which need not add up to anything.
    fn from_iter<I: IntoIterator<Item = f64>>(weights: I) -> Self {
        let mut left: Vec<f64> = weights.into_iter().collect();
        let scale = left.len() as f64 / left.iter().sum::<f64>();
        left.iter_mut().for_each(|weight| *weight *= scale);
        let (mut poor, mut rich): (Vec<u32>, Vec<u32>) = (0..left.len() as u32).partition(|&i| left[i as usize] < 1.0);
        // What rounding leaves over stands for itself alone.
        let mut slots: Vec<(u64, u32)> = (0..left.len() as u32).map(|i| (u64::MAX, i)).collect();
        while let (Some(&giver), Some(taker)) = (rich.last(), poor.pop()) {
            slots[taker as usize] = ((left[taker as usize] * (1u128 << 64) as f64) as u64, giver);
            left[giver as usize] -= 1.0 - left[taker as usize];
            if left[giver as usize] < 1.0 {
                rich.pop();
                poor.push(giver);
            }
        }
        AliasTable { slots }
    }
}

impl AliasTable {
    #[inline]
    fn draw(&self, rng: &mut Rng) -> u64 {
        let product = u128::from(rng.bits()) * self.slots.len() as u128;
        let slot = (product >> 64) as u64;
        let (threshold, alias) = self.slots[slot as usize];
        if (product as u64) < threshold { slot } else { u64::from(alias) }
    }
}

/// Ranks from 1, by rejection-inversion. `h` is the unscaled density, `area` its integral.
#[derive(Clone, Debug)]
struct Zipfian {
    ranks: u64,
    exponent: f64,
    lowest: f64,
    highest: f64,
    shortcut: f64,
}

impl Zipfian {
    fn new(ranks: u64, exponent: f64) -> Self {
        let mut zipfian = Zipfian { ranks, exponent, lowest: 0.0, highest: 0.0, shortcut: 0.0 };
        zipfian.lowest = zipfian.area(1.5) - 1.0;
        zipfian.highest = zipfian.area(ranks as f64 + 0.5);
        zipfian.shortcut = 2.0 - zipfian.area_inverse(zipfian.area(2.5) - zipfian.h(2.0));
        zipfian
    }

    #[inline]
    fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let area = self.highest + rng.unit() * (self.lowest - self.highest);
            let x = self.area_inverse(area);
            let rank = ((x + 0.5) as u64).clamp(1, self.ranks);
            let r = rank as f64;
            if r - x <= self.shortcut || area >= self.area(r + 0.5) - self.h(r) {
                return rank;
            }
        }
    }

    fn h(&self, x: f64) -> f64 {
        exp(-self.exponent * ln(x))
    }

    fn area(&self, x: f64) -> f64 {
        let log = ln(x);
        expm1_over((1.0 - self.exponent) * log) * log
    }

    #[inline]
    fn area_inverse(&self, area: f64) -> f64 {
        // Rounding may take it below -1, where there is no logarithm.
        let t = (area * (1.0 - self.exponent)).max(-1.0);
        exp(ln1p_over(t) * area)
    }
}

/// `ln(1 + x) / x`, also where `x` is 0.
fn ln1p_over(x: f64) -> f64 {
    if x.abs() > 1e-4 { ln(1.0 + x) / x } else { 1.0 - x * (0.5 - x * (1.0 / 3.0 - x * 0.25)) }
}

/// `(exp(x) - 1) / x`, also where `x` is 0.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-4 { (exp(x) - 1.0) / x } else { 1.0 + x * 0.5 * (1.0 + x / 3.0 * (1.0 + x * 0.25)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(distribution: Distribution, keys: u64, draws: u32) -> Vec<f64> {
        let sampler = distribution.over(keys).expect("the distribution is valid");
        let mut rng = Rng::new(1);
        let mut counts = vec![0.0; keys as usize];
        for _ in 0..draws {
            counts[sampler.draw(&mut rng) as usize] += 1.0 / f64::from(draws);
        }
        counts
    }

    #[test]
    fn texts_come_back() {
        for text in [
            "uniform",
            "zipfian",
            "zipfian:1.2",
            "hotspot",
            "hotspot:0.1/0.5",
            "hotspot:one/0.2",
            "exponential",
            "exponential:2",
        ] {
            assert_eq!(text.parse::<Distribution>().map(|d| d.to_string()), Ok(text.to_string()));
        }
        assert_eq!("zipfian:0.99".parse(), Ok(Distribution::ZIPFIAN));
        for text in [
            "",
            "zipf",
            "zipfian:",
            "zipfian:-1",
            "zipfian:nan",
            "hotspot:0.2",
            "hotspot:0/1",
            "hotspot:one/2",
            "hotspot:one",
            "uniform:1",
        ] {
            assert!(text.parse::<Distribution>().is_err(), "{text}");
        }
    }

    #[test]
    fn zipfian_keys_follow_the_law() {
        for exponent in [0.5, 0.99, 1.0, 1.2, 2.0] {
            let keys = 100;
            let weight = |key: usize| (key as f64 + 1.0).powf(-exponent);
            let total: f64 = (0..keys).map(weight).sum();
            let with_table = counts(Distribution::Zipfian { exponent }, keys as u64, 200_000);
            let zipfian = Zipfian::new(keys as u64, exponent);
            let mut rng = Rng::new(2);
            let mut without = vec![0.0; keys];
            (0..200_000).for_each(|_| without[zipfian.draw(&mut rng) as usize - 1] += 1.0 / 200_000.0);
            for key in 0..keys {
                let expected = weight(key) / total;
                for got in [with_table[key], without[key]] {
                    assert!((got - expected).abs() < 0.0005 + 0.05 * expected, "{exponent}: {key} {got} {expected}");
                }
            }
        }
    }

    #[test]
    fn other_keys_follow_their_laws() {
        assert!(counts(Distribution::Uniform, 10, 100_000).iter().all(|&got| (got - 0.1).abs() < 0.01));
        let hot = counts(Distribution::HOTSPOT, 100, 100_000);
        assert!((hot[..20].iter().sum::<f64>() - 0.8).abs() < 0.01);
        assert!(hot[..20].iter().all(|&got| (got - 0.04).abs() < 0.01));
        let one = counts(Distribution::HotKey { operations: 0.2 }, 100, 100_000);
        assert!((one[0] - 0.2).abs() < 0.01 && one[1..].iter().all(|&got| (got - 0.8 / 99.0).abs() < 0.002));
        let exponential = counts(Distribution::EXPONENTIAL, 50, 100_000);
        assert!((exponential[0] - (1.0 - (-0.1f64).exp())).abs() < 0.01);
        assert!((exponential[49] - (-4.9f64).exp()).abs() < 0.005, "the last key takes what is beyond");
    }

    #[test]
    fn few_and_many_keys() {
        let mut rng = Rng::new(3);
        for distribution in [
            Distribution::Uniform,
            Distribution::ZIPFIAN,
            Distribution::HOTSPOT,
            Distribution::HotKey { operations: 0.2 },
            Distribution::EXPONENTIAL,
        ] {
            for keys in [1, 2, 1_000_000_000] {
                let sampler = distribution.over(keys).expect("the distribution is valid");
                assert!((0..1000).all(|_| sampler.draw(&mut rng) < keys), "{distribution} over {keys}");
            }
        }
    }
}
