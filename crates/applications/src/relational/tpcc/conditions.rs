//! The consistency conditions (clause 3.3.2), after the number of each.
//!
//! Condition 11 counts what was delivered at first: orders less new orders. Since deliveries go on here, it counts what is delivered: orders
//! less new orders are as many as there are orders with a carrier. A delivery gives an order its carrier in the transaction in which it takes the new order away.

use super::{CUSTOMERS, DISTRICTS, WAREHOUSE};
use crate::application::Assertion;
use crate::relational::client::{Database, numbers};
use crate::script::Failure;

pub(super) const ASSERTIONS: &[Assertion] = &[
    Assertion { name: "A1", about: "the warehouse's payments are those of its districts" },
    Assertion { name: "A2", about: "a district's next order comes after its last order and its last new order" },
    Assertion { name: "A3", about: "a district's new orders have no gaps" },
    Assertion { name: "A4", about: "a district's orders have as many lines in all as they say in all" },
    Assertion { name: "A5", about: "an order has a carrier unless it is a new order" },
    Assertion { name: "A6", about: "each order has as many lines as it says" },
    Assertion { name: "A7", about: "a line has a date of delivery if its order has a carrier, and only then" },
    Assertion { name: "A8", about: "the warehouse's payments are those of its history" },
    Assertion { name: "A9", about: "a district's payments are those of its history" },
    Assertion { name: "A10", about: "a customer's balance is what was delivered less what was paid, by the history" },
    Assertion { name: "A11", about: "a district has as many orders with a carrier as orders that are no new orders" },
    Assertion {
        name: "A12",
        about: "a customer's balance is what was delivered less what was paid, by the customer's sum",
    },
];

const WAREHOUSE_YTD: &str = "SELECT w_ytd FROM warehouse WHERE w_id = $1";
const DISTRICTS_YTD: &str = "SELECT SUM(d_ytd) FROM district WHERE d_w_id = $1";
const WAREHOUSE_HISTORY: &str = "SELECT SUM(h_amount) FROM history WHERE h_w_id = $1";
const DISTRICT: &str = "SELECT d_next_o_id, d_ytd FROM district WHERE d_w_id = $1 AND d_id = $2";
const ORDERS: &str = "SELECT MAX(o_id), COUNT(*), SUM(o_ol_cnt), COUNT(o_carrier_id) FROM orders
    WHERE o_w_id = $1 AND o_d_id = $2";
const NEW_ORDERS: &str =
    "SELECT MAX(no_o_id), MIN(no_o_id), COUNT(*) FROM new_order WHERE no_w_id = $1 AND no_d_id = $2";
const LINES: &str = "SELECT COUNT(*) FROM order_line WHERE ol_w_id = $1 AND ol_d_id = $2";
const WRONG_CARRIERS: &str = "SELECT o_id FROM orders
    LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
    WHERE o_w_id = $1 AND o_d_id = $2 AND (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)";
const WRONG_COUNTS: &str = "SELECT o_id FROM orders
    LEFT JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    WHERE o_w_id = $1 AND o_d_id = $2 GROUP BY o_id, o_ol_cnt HAVING COUNT(ol_number) <> o_ol_cnt";
const WRONG_DATES: &str = "SELECT o_id FROM orders
    JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    WHERE o_w_id = $1 AND o_d_id = $2 AND (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)";
const DISTRICT_HISTORY: &str = "SELECT SUM(h_amount) FROM history WHERE h_w_id = $1 AND h_d_id = $2";
const CUSTOMER: &str = "SELECT c_balance, c_ytd_payment FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
const DELIVERED: &str = "SELECT SUM(ol_amount) FROM orders
    JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 AND ol_delivery_d IS NOT NULL";
const CUSTOMER_HISTORY: &str =
    "SELECT SUM(h_amount) FROM history WHERE h_c_w_id = $1 AND h_c_d_id = $2 AND h_c_id = $3";

/// Which conditions are broken, in their order.
pub(super) fn broken(database: &mut Database) -> Result<Vec<bool>, Failure> {
    let mut broken = Broken::default();
    let warehouse = numbers([WAREHOUSE]);
    let ytd = database.number(WAREHOUSE_YTD, &warehouse)?;
    broken.unless(1, ytd == database.number(DISTRICTS_YTD, &warehouse)?);
    broken.unless(8, ytd == database.number(WAREHOUSE_HISTORY, &warehouse)?);
    for district in 1..=DISTRICTS {
        of_district(district, &mut broken, database)?;
        for customer in 1..=CUSTOMERS {
            of_customer(district, customer, &mut broken, database)?;
        }
    }
    Ok(broken.0.to_vec())
}

fn of_district(district: i64, broken: &mut Broken, database: &mut Database) -> Result<(), Failure> {
    let key = numbers([WAREHOUSE, district]);
    let row = database.row(DISTRICT, &key)?;
    let (next, ytd) = (row.maybe(0).unwrap_or(0), row.maybe(1).unwrap_or(0));
    let row = database.row(ORDERS, &key)?;
    let number = |column| row.maybe(column).unwrap_or(0);
    let (last, orders, promised, delivered) = (number(0), number(1), number(2), number(3));
    broken.unless(2, next - 1 == last);
    let row = database.row(NEW_ORDERS, &key)?;
    let new_orders = row.maybe(2).unwrap_or(0);
    // With no new orders these conditions say nothing of them.
    if let (Some(last_new), Some(first_new)) = (row.maybe(0), row.maybe(1)) {
        broken.unless(2, last_new == next - 1);
        broken.unless(3, last_new - first_new + 1 == new_orders);
    }
    broken.unless(4, promised == database.number(LINES, &key)?);
    broken.unless(5, database.rows(WRONG_CARRIERS, &key)?.is_empty());
    broken.unless(6, database.rows(WRONG_COUNTS, &key)?.is_empty());
    broken.unless(7, database.rows(WRONG_DATES, &key)?.is_empty());
    broken.unless(9, ytd == database.number(DISTRICT_HISTORY, &key)?);
    broken.unless(11, orders - new_orders == delivered);
    Ok(())
}

fn of_customer(district: i64, customer: i64, broken: &mut Broken, database: &mut Database) -> Result<(), Failure> {
    let key = numbers([WAREHOUSE, district, customer]);
    let row = database.row(CUSTOMER, &key)?;
    let (balance, paid) = (row.maybe(0).unwrap_or(0), row.maybe(1).unwrap_or(0));
    let delivered = database.number(DELIVERED, &key)?;
    broken.unless(10, balance == delivered - database.number(CUSTOMER_HISTORY, &key)?);
    broken.unless(12, balance + paid == delivered);
    Ok(())
}

/// Which conditions are broken.
#[derive(Default)]
struct Broken([bool; 12]);

impl Broken {
    fn unless(&mut self, condition: usize, holds: bool) {
        self.0[condition - 1] |= !holds;
    }
}
