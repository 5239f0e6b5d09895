//! SmallBank: customers with a savings and a checking account each.
//!
//! After Alomari, Cahill, Fekete and Röhm, *The Cost of Serializability on Platforms That Use Snapshot Isolation*, ICDE 2008, with the
//! payments and the weights of OLTP-Bench. Five customers, as in the thesis. Amounts are whole numbers.

use isonomy_sql::Engine;
use isonomy_workload::Rng;

use super::client::{Database, numbers, text};
use crate::application::Assertion;
use crate::script::{Failure, Logged, Script, Step, Turn};

/// SmallBank.
pub(crate) struct SmallBank;

const CUSTOMERS: i64 = 5;
/// In each account at first.
const BALANCE: i64 = 100;
/// For a check that is not covered.
const PENALTY: i64 = 1;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Amalgamate { from: i64, to: i64 },
    Balance { customer: i64 },
    DepositChecking { customer: i64, amount: i64 },
    SendPayment { from: i64, to: i64, amount: i64 },
    TransactSavings { customer: i64, amount: i64 },
    WriteCheck { customer: i64, amount: i64 },
}

const SCHEMA: &str = "
    CREATE TABLE accounts (custid integer PRIMARY KEY, name varchar(64));
    CREATE TABLE savings (custid integer PRIMARY KEY, bal integer);
    CREATE TABLE checking (custid integer PRIMARY KEY, bal integer)";

const GET_ACCOUNT: &str = "SELECT custid FROM accounts WHERE name = $1";
const GET_SAVINGS: &str = "SELECT bal FROM savings WHERE custid = $1";
const GET_CHECKING: &str = "SELECT bal FROM checking WHERE custid = $1";
const ADD_SAVINGS: &str = "UPDATE savings SET bal = bal + $1 WHERE custid = $2";
const ADD_CHECKING: &str = "UPDATE checking SET bal = bal + $1 WHERE custid = $2";
const CLEAR_CHECKING: &str = "UPDATE checking SET bal = 0 WHERE custid = $1";
const GET_TOTAL: &str = "SELECT SUM(s.bal + c.bal) FROM savings s JOIN checking c ON s.custid = c.custid";

impl Script for SmallBank {
    const NAME: &'static str = "smallbank";
    const ABOUT: &'static str = "customers with savings and checking accounts";
    const ASSERTIONS: &'static [Assertion] =
        &[Assertion { name: "A13", about: "the bank has what was there at first and what came in since" }];
    const OPERATIONS: usize = 10;
    const IS_SMALL: bool = false;

    type Place = Engine;
    type Operation = Operation;

    fn create(database: &mut Database) -> Result<(), Failure> {
        database.execute(SCHEMA)
    }

    fn load(database: &mut Database) -> Result<(), Failure> {
        for customer in 0..CUSTOMERS {
            let [id, balance] = numbers([customer, BALANCE]);
            database.change("INSERT INTO accounts VALUES ($1, $2)", &[id.clone(), text(&name(customer))])?;
            database.change("INSERT INTO savings VALUES ($1, $2)", &[id.clone(), balance.clone()])?;
            database.change("INSERT INTO checking VALUES ($1, $2)", &[id, balance])?;
        }
        Ok(())
    }

    fn draw(rng: &mut Rng, _: Turn) -> Operation {
        let customer = rng.below(CUSTOMERS as u64) as i64;
        let to = (customer + 1 + rng.below(CUSTOMERS as u64 - 1) as i64) % CUSTOMERS;
        let amount = 1 + rng.below(50) as i64;
        match rng.below(100) {
            0..15 => Operation::Amalgamate { from: customer, to },
            15..30 => Operation::Balance { customer },
            30..45 => Operation::DepositChecking { customer, amount },
            45..70 => Operation::SendPayment { from: customer, to, amount },
            70..85 => Operation::TransactSavings { customer, amount: amount - 25 },
            _ => Operation::WriteCheck { customer, amount },
        }
    }

    /// Answers what the bank has more now, as far as its clerk knows; a balance, that too.
    fn step(operation: &mut Operation, database: &mut Database) -> Result<Step, Failure> {
        let mut answer = vec![0];
        match *operation {
            Operation::Amalgamate { from, to } => amalgamate(from, to, database)?,
            Operation::Balance { customer } => {
                let id = account(customer, database)?;
                answer.push(savings(id, database)? + checking(id, database)?);
            }
            Operation::DepositChecking { customer, amount } => {
                let id = account(customer, database)?;
                database.change(ADD_CHECKING, &numbers([amount, id]))?;
                answer[0] = amount;
            }
            Operation::SendPayment { from, to, amount } => send_payment(from, to, amount, database)?,
            Operation::TransactSavings { customer, amount } => {
                let id = account(customer, database)?;
                if savings(id, database)? + amount < 0 {
                    return Err(Failure::Refused);
                }
                database.change(ADD_SAVINGS, &numbers([amount, id]))?;
                answer[0] = amount;
            }
            Operation::WriteCheck { customer, amount } => {
                let id = account(customer, database)?;
                let is_covered = savings(id, database)? + checking(id, database)? >= amount;
                let paid = if is_covered { amount } else { amount + PENALTY };
                database.change(ADD_CHECKING, &numbers([-paid, id]))?;
                answer[0] = -paid;
            }
        }
        Ok(Step::Done(answer))
    }

    fn broken(log: &[Logged<Operation>], database: &mut Database) -> Result<Vec<bool>, Failure> {
        let came_in: i64 = log.iter().filter_map(|entry| entry.answer.as_ref()?.first()).sum();
        let total = database.number(GET_TOTAL, &[])?;
        Ok(vec![total != 2 * CUSTOMERS * BALANCE + came_in])
    }
}

fn name(customer: i64) -> String {
    format!("customer {customer}")
}

fn account(customer: i64, database: &mut Database) -> Result<i64, Failure> {
    database.row(GET_ACCOUNT, &[text(&name(customer))])?.number(0)
}

fn savings(id: i64, database: &mut Database) -> Result<i64, Failure> {
    database.row(GET_SAVINGS, &numbers([id]))?.number(0)
}

fn checking(id: i64, database: &mut Database) -> Result<i64, Failure> {
    database.row(GET_CHECKING, &numbers([id]))?.number(0)
}

/// Moves all that one customer has to another one's checking account.
fn amalgamate(from: i64, to: i64, database: &mut Database) -> Result<(), Failure> {
    let (from, to) = (account(from, database)?, account(to, database)?);
    let (saved, checked) = (savings(from, database)?, checking(from, database)?);
    database.change(CLEAR_CHECKING, &numbers([from]))?;
    database.change(ADD_SAVINGS, &numbers([-saved, from]))?;
    database.change(ADD_CHECKING, &numbers([saved + checked, to]))?;
    Ok(())
}

fn send_payment(from: i64, to: i64, amount: i64, database: &mut Database) -> Result<(), Failure> {
    let (from, to) = (account(from, database)?, account(to, database)?);
    if checking(from, database)? < amount {
        return Err(Failure::Refused);
    }
    database.change(ADD_CHECKING, &numbers([-amount, from]))?;
    database.change(ADD_CHECKING, &numbers([amount, to]))?;
    Ok(())
}
