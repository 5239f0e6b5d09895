//! Taking a payment (clause 2.5).

use super::WAREHOUSE;
use crate::relational::client::{Database, numbers, text};
use crate::script::Failure;

/// A payment that is to be taken.
#[derive(Clone, Debug)]
pub(crate) struct Payment {
    /// No other payment has it.
    pub(super) number: i64,
    pub(super) district: i64,
    pub(super) who: Customer,
    pub(super) amount: i64,
}

/// What is known of a customer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Customer {
    Id(i64),
    Name(&'static str),
}

const PAY_WAREHOUSE: &str = "UPDATE warehouse SET w_ytd = w_ytd + $1 WHERE w_id = $2";
const PAY_DISTRICT: &str = "UPDATE district SET d_ytd = d_ytd + $1 WHERE d_w_id = $2 AND d_id = $3";
const BY_NAME: &str = "SELECT c_id FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_id";
const GET_CUSTOMER: &str = "SELECT c_balance, c_ytd_payment, c_payment_cnt FROM customer
    WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
const PAY_CUSTOMER: &str = "UPDATE customer SET c_balance = $1, c_ytd_payment = $2, c_payment_cnt = $3
    WHERE c_w_id = $4 AND c_d_id = $5 AND c_id = $6";
const INSERT_HISTORY: &str = "INSERT INTO history (h_id, h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_amount)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

impl Payment {
    /// Answers the customer's new balance.
    pub(super) fn take(&self, database: &mut Database) -> Result<Vec<i64>, Failure> {
        let (w, d, amount) = (WAREHOUSE, self.district, self.amount);
        database.change(PAY_WAREHOUSE, &numbers([amount, w]))?;
        database.change(PAY_DISTRICT, &numbers([amount, w, d]))?;
        let customer = self.customer(database)?;
        let row = database.row(GET_CUSTOMER, &numbers([w, d, customer]))?;
        let (balance, paid, payments) = (row.number(0)? - amount, row.number(1)? + amount, row.number(2)? + 1);
        database.change(PAY_CUSTOMER, &numbers([balance, paid, payments, w, d, customer]))?;
        database.change(INSERT_HISTORY, &numbers([self.number, w, d, customer, w, d, amount]))?;
        Ok(vec![balance])
    }

    /// Of several with a name it is the one in the middle.
    fn customer(&self, database: &mut Database) -> Result<i64, Failure> {
        match self.who {
            Customer::Id(customer) => Ok(customer),
            Customer::Name(name) => {
                let [w, d] = numbers([WAREHOUSE, self.district]);
                let rows = database.rows(BY_NAME, &[w, d, text(name)])?;
                rows.get(rows.len().saturating_sub(1) / 2).ok_or(Failure::Refused)?.number(0)
            }
        }
    }
}
