//! The transactions that only read: the state of a customer's last order, and what is running low (clauses 2.6 and 2.8).

use super::WAREHOUSE;
use crate::relational::client::{Database, numbers};
use crate::script::Failure;

const GET_CUSTOMER: &str = "SELECT c_balance FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
const LAST_ORDER: &str = "SELECT o_id, o_carrier_id FROM orders
    WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 ORDER BY o_id DESC LIMIT 1";
const LINES: &str = "SELECT ol_i_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
    WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3";
const NEXT_ORDER: &str = "SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2";
const RUNNING_LOW: &str =
    "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id < $3 AND ol_o_id >= $3 - 20 AND s_quantity < $4";

/// Answers the customer's balance, the number of the last order and how many lines it has.
pub(super) fn order_status(district: i64, customer: i64, database: &mut Database) -> Result<Vec<i64>, Failure> {
    let balance = database.row(GET_CUSTOMER, &numbers([WAREHOUSE, district, customer]))?.number(0)?;
    let order = database.row(LAST_ORDER, &numbers([WAREHOUSE, district, customer]))?.number(0)?;
    let lines = database.rows(LINES, &numbers([WAREHOUSE, district, order]))?;
    Ok(vec![balance, order, lines.len() as i64])
}

/// Answers how many items of the last twenty orders are running low.
pub(super) fn stock_level(district: i64, threshold: i64, database: &mut Database) -> Result<Vec<i64>, Failure> {
    let next = database.row(NEXT_ORDER, &numbers([WAREHOUSE, district]))?.number(0)?;
    Ok(vec![database.number(RUNNING_LOW, &numbers([WAREHOUSE, district, next, threshold]))?])
}
