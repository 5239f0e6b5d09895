//! What a key holds, where all that a database has is text.

use crate::{Error, Value};

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// It was written.
    Value(Value),
    /// It was deleted.
    Tombstone(Value),
}

impl Cell {
    pub(crate) fn value(self) -> Value {
        match self {
            Cell::Value(value) | Cell::Tombstone(value) => value,
        }
    }

    pub(crate) fn is_there(self) -> bool {
        matches!(self, Cell::Value(_))
    }

    /// `17`, or `x17` for a tombstone.
    pub(crate) fn text(self) -> String {
        match self {
            Cell::Value(value) => value.to_string(),
            Cell::Tombstone(value) => format!("x{value}"),
        }
    }

    pub(crate) fn of_text(text: &str) -> Result<Self, Error> {
        let cell = match text.strip_prefix('x') {
            Some(value) => value.parse().map(Cell::Tombstone),
            None => text.parse().map(Cell::Value),
        };
        cell.map_err(|_| foreign(text))
    }
}

/// Somebody else writes to our keys.
pub(crate) fn foreign(text: &str) -> Error {
    Error::Refused(format!("a key of isonomy holds `{text}`, which isonomy did not write"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        for cell in [Cell::Value(0), Cell::Value(i64::MIN), Cell::Tombstone(-5), Cell::Tombstone(5)] {
            assert_eq!(Cell::of_text(&cell.text()), Ok(cell));
        }
        assert!(Cell::of_text("").is_err() && Cell::of_text("x").is_err() && Cell::of_text("y5").is_err());
    }
}
