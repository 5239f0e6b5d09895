//! TPC-C: a wholesale supplier takes orders, payments and deliveries.
//!
//! The five transactions of the specification (revision 5.11, clause 2) and its twelve consistency conditions (clause 3.3.2), on tables with the columns
//! that these need. As in the thesis there is one warehouse with two districts of three customers each, and more than 85 % of the
//! transactions are updates. Further scaled down: ten items, two to four lines an order, one order of each customer at first.
//! Amounts are whole numbers; dates are numbers.

mod conditions;
mod delivery;
mod load;
mod new_order;
mod payment;
mod queries;

use isonomy_sql::Engine;
use isonomy_workload::Rng;

use super::client::Database;
use crate::application::Assertion;
use crate::script::{Failure, Logged, Script, Step, Turn};
use new_order::{Line, NewOrder};
use payment::{Customer, Payment};

/// TPC-C.
pub(crate) struct TpcC;

const DISTRICTS: i64 = 2;
const CUSTOMERS: i64 = 3;
const ITEMS: i64 = 10;
/// All orders come to this warehouse.
const WAREHOUSE: i64 = 1;

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus { district: i64, customer: i64 },
    Delivery { carrier: i64, date: i64 },
    StockLevel { district: i64, threshold: i64 },
}

impl Script for TpcC {
    const NAME: &'static str = "tpcc";
    const ABOUT: &'static str = "a wholesale supplier's orders, payments and deliveries";
    const ASSERTIONS: &'static [Assertion] = conditions::ASSERTIONS;
    const OPERATIONS: usize = 20;
    const IS_SMALL: bool = false;

    type Place = Engine;
    type Operation = Operation;

    fn create(database: &mut Database) -> Result<(), Failure> {
        database.execute(load::SCHEMA)
    }

    fn load(database: &mut Database) -> Result<(), Failure> {
        load::load(database)
    }

    fn draw(rng: &mut Rng, turn: Turn) -> Operation {
        let district = 1 + rng.below(DISTRICTS as u64) as i64;
        let customer = 1 + rng.below(CUSTOMERS as u64) as i64;
        match rng.below(100) {
            0..40 => Operation::NewOrder(NewOrder { district, customer, lines: draw_lines(rng) }),
            40..75 => {
                // Six in ten customers are known by name only (clause 2.5.1.2).
                let who =
                    if rng.chance(0.6) { Customer::Name(load::last_name(customer)) } else { Customer::Id(customer) };
                let amount = 1 + rng.below(500) as i64;
                Operation::Payment(Payment { number: turn.unique(), district, who, amount })
            }
            75..95 => Operation::Delivery { carrier: 1 + rng.below(10) as i64, date: turn.unique() },
            95..98 => Operation::OrderStatus { district, customer },
            _ => Operation::StockLevel { district, threshold: 10 + rng.below(11) as i64 },
        }
    }

    fn step(operation: &mut Operation, database: &mut Database) -> Result<Step, Failure> {
        let answer = match operation {
            Operation::NewOrder(order) => order.enter(database)?,
            Operation::Payment(payment) => payment.take(database)?,
            Operation::OrderStatus { district, customer } => queries::order_status(*district, *customer, database)?,
            Operation::Delivery { carrier, date } => delivery::deliver(*carrier, *date, database)?,
            Operation::StockLevel { district, threshold } => queries::stock_level(*district, *threshold, database)?,
        };
        Ok(Step::Done(answer))
    }

    fn broken(_: &[Logged<Operation>], database: &mut Database) -> Result<Vec<bool>, Failure> {
        conditions::broken(database)
    }
}

/// The lines of an order. One in a hundred orders has an item that does not exist, and is taken back (clause 2.4.1.4).
fn draw_lines(rng: &mut Rng) -> Vec<Line> {
    let count = 2 + rng.below(3);
    let draw = |rng: &mut Rng| Line { item: 1 + rng.below(ITEMS as u64) as i64, quantity: 1 + rng.below(10) as i64 };
    let mut lines: Vec<Line> = (0..count).map(|_| draw(rng)).collect();
    if rng.chance(0.01)
        && let Some(last) = lines.last_mut()
    {
        last.item = ITEMS + 1;
    }
    lines
}
