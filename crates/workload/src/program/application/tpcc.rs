//! TPC-C: a wholesale supplier takes orders, payments and deliveries.
//!
//! Five transaction types with the usual mix (TPC-C, revision 5.11, clause 5.2.3; 45 % new orders as in Viper), tables of
//! the specified sizes: per warehouse ten districts, 3,000 customers in each and a stock of 100,000 items. Customers and items are drawn by the
//! specification's `NURand`; one in a hundred order lines is supplied by another warehouse and 15 % of the payments are for a
//! customer of another one. A row is one key, so transactions that change different columns of a row conflict, as with locks on rows.
//!
//! Left out: customers by last name (an index), new orders that are taken back (one in a hundred), the orders that
//! exist at the beginning, and think times. Which order is the oldest undelivered one, which is a customer's last, and which are a district's
//! last twenty is what the generator has drawn so far; deliveries read the row before they delete it, so they meet as they should.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::script::Script;
use super::tables::{Table, Tables};
use super::{Benchmark, Transaction, transaction};

const DISTRICTS: u64 = 10;
const CUSTOMERS: u64 = 3_000;
const ITEMS: u64 = 100_000;
/// How many orders of a district wait for a delivery; 900 in the specification. An order that has just been drawn may not be
/// there yet, and its insert would fail if it were delivered before.
const WAITING: usize = 5;
/// How many of a district's last orders a stock level looks at.
const RECENT: usize = 20;

#[derive(Clone, Debug)]
pub(super) struct TpcC {
    warehouses: Table,
    districts: Table,
    customers: Table,
    items: Table,
    stock: Table,
    /// What each district knows of orders.
    orders: Vec<Orders>,
    /// The last order of each customer that has one.
    last_order: FxHashMap<u64, Order>,
}

#[derive(Clone, Debug, Default)]
struct Orders {
    undelivered: VecDeque<Order>,
    recent: VecDeque<Order>,
}

#[derive(Clone, Debug)]
struct Order {
    row: u64,
    new_order: u64,
    customer: u64,
    /// Each with the stock that it was taken from.
    lines: Vec<(u64, u64)>,
}

impl Benchmark for TpcC {
    const MIX: &'static [Transaction<Self>] = &[
        transaction("new-order", 45, TpcC::new_order),
        transaction("payment", 43, TpcC::payment),
        transaction("order-status", 4, TpcC::order_status),
        transaction("delivery", 4, TpcC::delivery),
        transaction("stock-level", 4, TpcC::stock_level),
    ];

    fn new(tables: &mut Tables, scale: u64) -> Self {
        TpcC {
            warehouses: tables.table(scale),
            districts: tables.table(scale * DISTRICTS),
            customers: tables.table(scale * DISTRICTS * CUSTOMERS),
            items: tables.table(ITEMS),
            stock: tables.table(scale * ITEMS),
            orders: vec![Orders::default(); (scale * DISTRICTS) as usize],
            last_order: FxHashMap::default(),
        }
    }
}

impl TpcC {
    fn new_order(&mut self, txn: &mut Script<'_>) {
        let (warehouse, district) = self.terminal(txn);
        let customer = self.customer(district, txn);
        txn.read(self.warehouses.row(warehouse));
        txn.update(self.districts.row(district));
        txn.read(customer);
        let (row, new_order) = (txn.insert(), txn.insert());
        let mut lines = Vec::new();
        for _ in 0..5 + txn.below(11) {
            let item = nurand(8_191, ITEMS, txn);
            let supplier = if txn.chance(0.01) { self.remote(warehouse, txn) } else { warehouse };
            let stock = self.stock.row(supplier * ITEMS + item);
            txn.read(self.items.row(item));
            txn.update(stock);
            lines.push((txn.insert(), stock));
        }
        let order = Order { row, new_order, customer, lines };
        self.last_order.insert(customer, order.clone());
        let orders = &mut self.orders[district as usize];
        orders.undelivered.push_back(order.clone());
        orders.recent.push_back(order);
        if orders.recent.len() > RECENT {
            orders.recent.pop_front();
        }
    }

    fn payment(&mut self, txn: &mut Script<'_>) {
        let (warehouse, district) = self.terminal(txn);
        let home =
            if txn.chance(0.15) { self.remote(warehouse, txn) * DISTRICTS + txn.below(DISTRICTS) } else { district };
        txn.update(self.warehouses.row(warehouse));
        txn.update(self.districts.row(district));
        let customer = self.customer(home, txn);
        txn.update(customer);
        // The history of payments.
        txn.insert();
    }

    fn order_status(&mut self, txn: &mut Script<'_>) {
        let (_, district) = self.terminal(txn);
        let customer = self.customer(district, txn);
        txn.read(customer);
        if let Some(order) = self.last_order.get(&customer) {
            txn.read(order.row);
            order.lines.iter().for_each(|line| txn.read(line.0));
        }
    }

    /// Delivers the oldest order of each district.
    fn delivery(&mut self, txn: &mut Script<'_>) {
        let (warehouse, _) = self.terminal(txn);
        for district in warehouse * DISTRICTS..(warehouse + 1) * DISTRICTS {
            let undelivered = &mut self.orders[district as usize].undelivered;
            if undelivered.len() <= WAITING {
                continue;
            }
            let Some(order) = undelivered.pop_front() else { continue };
            txn.read(order.new_order);
            txn.delete(order.new_order);
            txn.update(order.row);
            order.lines.iter().for_each(|line| txn.update(line.0));
            txn.update(order.customer);
        }
    }

    /// Counts what is running low among the items of a district's last orders.
    fn stock_level(&mut self, txn: &mut Script<'_>) {
        let (_, district) = self.terminal(txn);
        txn.read(self.districts.row(district));
        let lines = || self.orders[district as usize].recent.iter().flat_map(|order| &order.lines);
        lines().for_each(|line| txn.read(line.0));
        let mut stock: Vec<u64> = lines().map(|line| line.1).collect();
        stock.sort_unstable();
        stock.dedup();
        stock.into_iter().for_each(|row| txn.read(row));
    }

    /// A warehouse and one of its districts, by its number among those of all.
    fn terminal(&self, txn: &mut Script<'_>) -> (u64, u64) {
        let warehouse = txn.popular();
        (warehouse, warehouse * DISTRICTS + txn.below(DISTRICTS))
    }

    fn customer(&self, district: u64, txn: &mut Script<'_>) -> u64 {
        self.customers.row(district * CUSTOMERS + nurand(1_023, CUSTOMERS, txn))
    }

    /// Another warehouse, if there is one.
    fn remote(&self, warehouse: u64, txn: &mut Script<'_>) -> u64 {
        if self.warehouses.rows() > 1 { txn.popular_other_than(warehouse) } else { warehouse }
    }
}

/// Some numbers below `bound` more often than others (clause 2.1.6, with 0 for its constant).
fn nurand(a: u64, bound: u64, txn: &mut Script<'_>) -> u64 {
    (txn.below(a + 1) | txn.below(bound)) % bound
}

#[cfg(test)]
mod tests {
    use crate::distribution::Distribution;
    use crate::program::{Application, Operation, Shape, Workload};

    /// What one transaction type leaves behind is what another finds.
    #[test]
    fn orders_are_delivered_once() {
        let shape = Shape::Application(Application::TpcC);
        let workload = Workload { keys: 2, distribution: Distribution::Uniform, shape };
        let mut programs = workload.programs(1).expect("the workload is one");
        let (mut inserted, mut deleted, mut program) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..5_000 {
            programs.draw(&mut program);
            for &operation in &program {
                match operation {
                    Operation::Insert(key) => inserted.push(key),
                    Operation::Delete(key) => deleted.push(key),
                    _ => {}
                }
            }
        }
        deleted.sort_unstable();
        assert!(deleted.len() > 1_500, "{}", deleted.len());
        assert!(deleted.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(deleted.iter().all(|key| inserted.binary_search(key).is_ok()));
    }
}
