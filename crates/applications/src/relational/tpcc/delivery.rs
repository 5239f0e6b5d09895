//! Delivering the oldest order of each district (clause 2.7).

use super::{DISTRICTS, WAREHOUSE};
use crate::relational::client::{Database, numbers};
use crate::script::Failure;

const OLDEST: &str = "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id ASC LIMIT 1";
const TAKE: &str = "DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3";
const GET_CUSTOMER: &str = "SELECT o_c_id FROM orders WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3";
const SET_CARRIER: &str = "UPDATE orders SET o_carrier_id = $1 WHERE o_w_id = $2 AND o_d_id = $3 AND o_id = $4";
const SET_DATE: &str = "UPDATE order_line SET ol_delivery_d = $1 WHERE ol_w_id = $2 AND ol_d_id = $3 AND ol_o_id = $4";
const GET_TOTAL: &str = "SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3";
const CHARGE: &str = "UPDATE customer SET c_balance = c_balance + $1, c_delivery_cnt = c_delivery_cnt + 1
    WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4";

/// Answers the order of each district, or 0 where there is none.
pub(super) fn deliver(carrier: i64, date: i64, database: &mut Database) -> Result<Vec<i64>, Failure> {
    let mut delivered = Vec::new();
    for district in 1..=DISTRICTS {
        let (w, d) = (WAREHOUSE, district);
        let Some(oldest) = database.rows(OLDEST, &numbers([w, d]))?.into_iter().next() else {
            delivered.push(0);
            continue;
        };
        let order = oldest.number(0)?;
        database.change(TAKE, &numbers([w, d, order]))?;
        let customer = database.row(GET_CUSTOMER, &numbers([w, d, order]))?.number(0)?;
        database.change(SET_CARRIER, &numbers([carrier, w, d, order]))?;
        database.change(SET_DATE, &numbers([date, w, d, order]))?;
        let total = database.number(GET_TOTAL, &numbers([w, d, order]))?;
        database.change(CHARGE, &numbers([total, w, d, customer]))?;
        delivered.push(order);
    }
    Ok(delivered)
}
