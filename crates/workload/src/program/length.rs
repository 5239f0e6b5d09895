//! How many events transactions have.

use std::fmt;
use std::str::FromStr;

use crate::rng::Rng;

/// Events per transaction.
///
/// As text: `15`, `1..4` (both included), `15/150:0.1` (a tenth of the transactions has 150).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// Always so many.
    Fixed(u32),
    /// From the first to the second, both included.
    Between(u32, u32),
    /// Short ones and long ones (the scalability tests of PolySI and C4).
    ShortLong {
        /// Events of short transactions.
        short: u32,
        /// Events of long transactions.
        long: u32,
        /// The share of transactions that are long.
        long_share: f64,
    },
}

impl Length {
    /// The most events there can be.
    pub fn longest(self) -> u32 {
        match self {
            Length::Fixed(length) | Length::Between(_, length) => length,
            Length::ShortLong { short, long, .. } => short.max(long),
        }
    }

    pub(super) fn validate(self) -> Result<(), InvalidLength> {
        let fine = match self {
            Length::Fixed(length) => length > 0,
            Length::Between(least, most) => 0 < least && least <= most,
            Length::ShortLong { short, long, long_share } => short > 0 && long > 0 && (0.0..=1.0).contains(&long_share),
        };
        if fine { Ok(()) } else { Err(InvalidLength(self.to_string().into())) }
    }

    #[inline]
    pub(super) fn draw(self, rng: &mut Rng) -> u32 {
        match self {
            Length::Fixed(length) => length,
            Length::Between(least, most) => least + rng.below(u64::from(most - least) + 1) as u32,
            Length::ShortLong { short, long, long_share } => {
                if rng.chance(long_share) {
                    long
                } else {
                    short
                }
            }
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Length::Fixed(length) => write!(f, "{length}"),
            Length::Between(least, most) => write!(f, "{least}..{most}"),
            Length::ShortLong { short, long, long_share } => write!(f, "{short}/{long}:{long_share}"),
        }
    }
}

impl FromStr for Length {
    type Err = InvalidLength;

    fn from_str(text: &str) -> Result<Self, InvalidLength> {
        let invalid = || InvalidLength(text.into());
        let number = |text: &str| text.parse::<u32>().map_err(|_| invalid());
        let length = if let Some((least, most)) = text.split_once("..") {
            Length::Between(number(least)?, number(most)?)
        } else if let Some((short, rest)) = text.split_once('/') {
            let (long, share) = rest.split_once(':').ok_or_else(invalid)?;
            let long_share = share.parse().map_err(|_| invalid())?;
            Length::ShortLong { short: number(short)?, long: number(long)?, long_share }
        } else {
            Length::Fixed(number(text)?)
        };
        length.validate().map(|()| length)
    }
}

/// No transaction has such a length.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no number of events; expected one from 1, a range such as 1..4, or short/long:share such as 15/150:0.1"
)]
pub struct InvalidLength(pub Box<str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_and_draws_are_in_bounds() {
        let mut rng = Rng::new(1);
        for (text, least, most) in [("15", 15, 15), ("1..4", 1, 4), ("15/150:0.5", 15, 150)] {
            let length: Length = text.parse().expect("it is a length");
            assert_eq!(length.to_string(), text);
            let drawn: Vec<u32> = (0..200).map(|_| length.draw(&mut rng)).collect();
            assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&least), Some(&most)));
        }
        for text in ["", "0", "4..1", "0..3", "1/2", "1/2:3", "x"] {
            assert!(text.parse::<Length>().is_err(), "{text}");
        }
    }
}
