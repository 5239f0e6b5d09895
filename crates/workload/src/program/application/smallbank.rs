//! SmallBank: a bank whose programs are not serializable under snapshot isolation.
//!
//! A customer has a name, a savings and a checking account. Writing a check reads both accounts and writes one, and depositing
//! into savings writes the other: a balance between the two sees an order that no serial execution has. After Alomari et al.,
//! "The Cost of Serializability on Platforms That Use Snapshot Isolation", ICDE 2008 (18,000 customers, 90 % of the operations on
//! 1,000), with the payments between customers and the weights of OLTP-Bench. Left out: amounts, and so the penalty for an
//! overdraft and payments that are refused.

use super::script::Script;
use super::tables::{Table, Tables};
use super::{Benchmark, Transaction, transaction};

#[derive(Clone, Debug)]
pub(super) struct SmallBank {
    names: Table,
    savings: Table,
    checking: Table,
}

impl Benchmark for SmallBank {
    const MIX: &'static [Transaction<Self>] = &[
        transaction("amalgamate", 15, SmallBank::amalgamate),
        transaction("balance", 15, SmallBank::balance),
        transaction("deposit-checking", 15, SmallBank::deposit_checking),
        transaction("send-payment", 25, SmallBank::send_payment),
        transaction("transact-savings", 15, SmallBank::transact_savings),
        transaction("write-check", 15, SmallBank::write_check),
    ];
    const HAS_ROWS: bool = false;
    const LEAST_SCALE: u64 = 2;

    fn new(tables: &mut Tables, scale: u64) -> Self {
        SmallBank { names: tables.table(scale), savings: tables.table(scale), checking: tables.table(scale) }
    }
}

impl SmallBank {
    /// Every transaction looks its customers up by name first.
    fn customer(&self, txn: &mut Script<'_>) -> u64 {
        let customer = txn.popular();
        txn.read(self.names.row(customer));
        customer
    }

    fn two_customers(&self, txn: &mut Script<'_>) -> (u64, u64) {
        let first = self.customer(txn);
        let second = txn.popular_other_than(first);
        txn.read(self.names.row(second));
        (first, second)
    }

    /// Moves all that one has to the other.
    fn amalgamate(&mut self, txn: &mut Script<'_>) {
        let (from, to) = self.two_customers(txn);
        txn.update(self.savings.row(from));
        txn.update(self.checking.row(from));
        txn.update(self.checking.row(to));
    }

    fn balance(&mut self, txn: &mut Script<'_>) {
        let customer = self.customer(txn);
        txn.read(self.savings.row(customer));
        txn.read(self.checking.row(customer));
    }

    fn deposit_checking(&mut self, txn: &mut Script<'_>) {
        let customer = self.customer(txn);
        txn.update(self.checking.row(customer));
    }

    fn send_payment(&mut self, txn: &mut Script<'_>) {
        let (from, to) = self.two_customers(txn);
        txn.update(self.checking.row(from));
        txn.update(self.checking.row(to));
    }

    fn transact_savings(&mut self, txn: &mut Script<'_>) {
        let customer = self.customer(txn);
        txn.update(self.savings.row(customer));
    }

    fn write_check(&mut self, txn: &mut Script<'_>) {
        let customer = self.customer(txn);
        txn.read(self.savings.row(customer));
        txn.update(self.checking.row(customer));
    }
}
