//! Where the rows of tables are in the space of keys.

/// Tables, one after the other.
#[derive(Default)]
pub(super) struct Tables {
    next: u64,
}

impl Tables {
    /// A table with so many rows from the start.
    pub(super) fn table(&mut self, rows: u64) -> Table {
        let table = Table { first: self.next, rows };
        self.next += rows;
        table
    }

    /// How many rows all of them have.
    pub(super) fn rows(&self) -> u64 {
        self.next
    }
}

/// A table. Its rows are numbered from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    first: u64,
    rows: u64,
}

impl Table {
    /// The key of a row.
    pub(super) fn row(self, number: u64) -> u64 {
        assert!(number < self.rows, "the table has {} rows, and no row {number}", self.rows);
        self.first + number
    }

    /// The keys of all rows.
    pub(super) fn all(self) -> impl Iterator<Item = u64> {
        self.first..self.first + self.rows
    }

    /// How many rows there are.
    pub(super) fn rows(self) -> u64 {
        self.rows
    }
}
