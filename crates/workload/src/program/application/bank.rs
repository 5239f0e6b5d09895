//! Bank transfers: the textbook example, and Jepsen's bank test.
//!
//! A transfer reads two accounts and writes both; an audit reads all of them, and would find the total changed where transfers
//! are seen by halves. Both equally often, as in Jepsen, whose test has eight accounts. Left out: whether a balance is
//! enough, which would make a transfer read only.

use super::script::Script;
use super::tables::{Table, Tables};
use super::{Benchmark, Transaction, transaction};

#[derive(Clone, Debug)]
pub(super) struct Bank {
    accounts: Table,
}

impl Benchmark for Bank {
    const MIX: &'static [Transaction<Self>] =
        &[transaction("transfer", 50, Bank::transfer), transaction("audit", 50, Bank::audit)];
    const HAS_ROWS: bool = false;
    const LEAST_SCALE: u64 = 2;

    fn new(tables: &mut Tables, scale: u64) -> Self {
        Bank { accounts: tables.table(scale) }
    }
}

impl Bank {
    fn transfer(&mut self, txn: &mut Script<'_>) {
        let from = txn.popular();
        let to = txn.popular_other_than(from);
        let (from, to) = (self.accounts.row(from), self.accounts.row(to));
        txn.read(from);
        txn.read(to);
        txn.write(from);
        txn.write(to);
    }

    fn audit(&mut self, txn: &mut Script<'_>) {
        for account in self.accounts.all() {
            txn.read(account);
        }
    }
}
