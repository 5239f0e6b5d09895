//! The tables, and what is in them at first (clauses 1.3 and 4.3.3).

use isonomy_sql::Datum;

use super::{CUSTOMERS, DISTRICTS, ITEMS, WAREHOUSE};
use crate::relational::client::{Database, numbers, text};
use crate::script::Failure;

/// The history of payments has no key in the specification; here each payment has a number.
pub(super) const SCHEMA: &str = "
    CREATE TABLE warehouse (w_id integer PRIMARY KEY, w_name varchar(10), w_tax integer, w_ytd integer);
    CREATE TABLE district (d_w_id integer, d_id integer, d_tax integer, d_ytd integer, d_next_o_id integer,
        PRIMARY KEY (d_w_id, d_id));
    CREATE TABLE customer (c_w_id integer, c_d_id integer, c_id integer, c_last varchar(16), c_discount integer,
        c_balance integer, c_ytd_payment integer, c_payment_cnt integer, c_delivery_cnt integer,
        PRIMARY KEY (c_w_id, c_d_id, c_id));
    CREATE TABLE history (h_id integer PRIMARY KEY, h_c_w_id integer, h_c_d_id integer, h_c_id integer,
        h_w_id integer, h_d_id integer, h_amount integer);
    CREATE TABLE new_order (no_w_id integer, no_d_id integer, no_o_id integer, PRIMARY KEY (no_w_id, no_d_id, no_o_id));
    CREATE TABLE orders (o_w_id integer, o_d_id integer, o_id integer, o_c_id integer, o_carrier_id integer,
        o_ol_cnt integer, PRIMARY KEY (o_w_id, o_d_id, o_id));
    CREATE TABLE order_line (ol_w_id integer, ol_d_id integer, ol_o_id integer, ol_number integer, ol_i_id integer,
        ol_delivery_d integer, ol_quantity integer, ol_amount integer, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));
    CREATE TABLE item (i_id integer PRIMARY KEY, i_name varchar(24), i_price integer);
    CREATE TABLE stock (s_w_id integer, s_i_id integer, s_quantity integer, s_ytd integer, s_order_cnt integer,
        PRIMARY KEY (s_w_id, s_i_id))";

/// What each customer has paid at first.
const PAID: i64 = 10;
/// How many lines each of the first orders has.
const LINES: i64 = 2;
/// The first orders up to this one are delivered.
const DELIVERED: i64 = 2;

/// The name that a customer is known by: two in a district share one.
pub(super) fn last_name(customer: i64) -> &'static str {
    if customer % 2 == 0 { "BARBAR" } else { "OUGHT" }
}

pub(super) fn load(database: &mut Database) -> Result<(), Failure> {
    let [warehouse, tax, ytd] = numbers([WAREHOUSE, 10, DISTRICTS * CUSTOMERS * PAID]);
    database.change("INSERT INTO warehouse VALUES ($1, $2, $3, $4)", &[warehouse, text("main"), tax, ytd])?;
    for item in 1..=ITEMS {
        let [id, price] = numbers([item, 10 * item]);
        database.change("INSERT INTO item VALUES ($1, $2, $3)", &[id, text(&format!("item {item}")), price])?;
        database.change("INSERT INTO stock VALUES ($1, $2, $3, 0, 0)", &numbers([WAREHOUSE, item, 50]))?;
    }
    (1..=DISTRICTS).try_for_each(|district| load_district(district, database))
}

/// Each customer has one order, with the customer's number. Lines that were delivered at first cost nothing, so that balances come out.
fn load_district(district: i64, database: &mut Database) -> Result<(), Failure> {
    let row = [WAREHOUSE, district, 5, CUSTOMERS * PAID, CUSTOMERS + 1];
    database.change("INSERT INTO district VALUES ($1, $2, $3, $4, $5)", &numbers(row))?;
    for customer in 1..=CUSTOMERS {
        let [w, d, c, paid, owed] = numbers([WAREHOUSE, district, customer, PAID, -PAID]);
        let name = text(last_name(customer));
        let customers = "INSERT INTO customer VALUES ($1, $2, $3, $4, 1, $5, $6, 1, 0)";
        database.change(customers, &[w.clone(), d.clone(), c.clone(), name, owed, paid.clone()])?;
        // Numbers below 0 are nobody else's.
        let history = "INSERT INTO history VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let number = Datum::Integer(-(district * CUSTOMERS + customer));
        database.change(history, &[number, w.clone(), d.clone(), c, w, d, paid])?;
        load_order(district, customer, database)?;
    }
    Ok(())
}

fn load_order(district: i64, order: i64, database: &mut Database) -> Result<(), Failure> {
    let is_delivered = order <= DELIVERED;
    let when_delivered = |number: i64| if is_delivered { Datum::Integer(number) } else { Datum::Null };
    let [w, d, o, customer, lines] = numbers([WAREHOUSE, district, order, order, LINES]);
    let orders = "INSERT INTO orders VALUES ($1, $2, $3, $4, $5, $6)";
    database.change(orders, &[w.clone(), d.clone(), o.clone(), customer, when_delivered(1), lines])?;
    if !is_delivered {
        database.change("INSERT INTO new_order VALUES ($1, $2, $3)", &[w.clone(), d.clone(), o.clone()])?;
    }
    for line in 1..=LINES {
        let [number, item, quantity, amount] = numbers([line, line, 5, if is_delivered { 0 } else { 7 * line }]);
        let lines = "INSERT INTO order_line VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let date = when_delivered(0);
        database.change(lines, &[w.clone(), d.clone(), o.clone(), number, item, date, quantity, amount])?;
    }
    Ok(())
}
