//! Entering an order (clause 2.4).
//!
//! Inserting a row that is there already does nothing, as in the SQL of the thesis (figure 4.7). If it failed, the order would be taken back: weak
//! isolation would then cost orders, and rarely break a condition. Serializable orders never meet a row that is there already.

use super::WAREHOUSE;
use crate::relational::client::{Database, numbers};
use crate::script::Failure;

/// An order that is to be entered.
#[derive(Clone, Debug)]
pub(crate) struct NewOrder {
    pub(super) district: i64,
    pub(super) customer: i64,
    pub(super) lines: Vec<Line>,
}

/// So many of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(super) item: i64,
    pub(super) quantity: i64,
}

const GET_CUSTOMER: &str = "SELECT c_discount, w_tax FROM customer JOIN warehouse ON w_id = c_w_id
    WHERE w_id = $1 AND c_d_id = $2 AND c_id = $3";
const GET_DISTRICT: &str = "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = $1 AND d_id = $2";
const COUNT_ORDER: &str = "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2";
const INSERT_ORDER: &str = "INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_ol_cnt) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT DO NOTHING";
const INSERT_NEW_ORDER: &str = "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING";
const GET_ITEM: &str = "SELECT i_price FROM item WHERE i_id = $1";
const GET_STOCK: &str = "SELECT s_quantity FROM stock WHERE s_w_id = $1 AND s_i_id = $2";
const TAKE_STOCK: &str = "UPDATE stock SET s_quantity = $1, s_ytd = s_ytd + $2, s_order_cnt = s_order_cnt + 1
    WHERE s_w_id = $3 AND s_i_id = $4";
const INSERT_LINE: &str =
    "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_quantity, ol_amount)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";

impl NewOrder {
    /// Answers the order's number.
    pub(super) fn enter(&self, database: &mut Database) -> Result<Vec<i64>, Failure> {
        let (w, d) = (WAREHOUSE, self.district);
        database.row(GET_CUSTOMER, &numbers([w, d, self.customer]))?;
        let order = database.row(GET_DISTRICT, &numbers([w, d]))?.number(0)?;
        database.change(COUNT_ORDER, &numbers([w, d]))?;
        let lines = self.lines.len() as i64;
        database.change(INSERT_ORDER, &numbers([w, d, order, self.customer, lines]))?;
        database.change(INSERT_NEW_ORDER, &numbers([w, d, order]))?;
        for (number, line) in (1..).zip(&self.lines) {
            let price = database.row(GET_ITEM, &numbers([line.item]))?.number(0)?;
            let there = database.row(GET_STOCK, &numbers([w, line.item]))?.number(0)?;
            // What is left never goes below 10: more is ordered in time.
            let left = if there >= line.quantity + 10 { there - line.quantity } else { there - line.quantity + 91 };
            database.change(TAKE_STOCK, &numbers([left, line.quantity, w, line.item]))?;
            let row = [w, d, order, number, line.item, line.quantity, price * line.quantity];
            database.change(INSERT_LINE, &numbers(row))?;
        }
        Ok(vec![order])
    }
}
