//! RUBiS: an auction site modelled after eBay.
//!
//! Users register, put up items, buy them, and comment on each other, which changes the rating of the one commented on; or they
//! browse. Types and weights are those of Cobra (Tan et al., "Cobra: Making Transactional Key-Value Stores Verifiably
//! Serializable", OSDI 2020), whose histories PolySI, Viper and C4 use: 20,000 users with ten items each (Viper says four), and popular users are
//! commented on and looked at. Left out, as there: bids, searches, and the 26 web pages of the original. Beyond that, nicknames are
//! not looked up before a user registers.

use super::script::Script;
use super::tables::{Table, Tables};
use super::{Benchmark, Transaction, transaction};

const ITEMS_PER_USER: u64 = 10;
const REGIONS: u64 = 62;
const ITEMS_BROWSED: u64 = 5;
const USERS_BROWSED: u64 = 3;

#[derive(Clone, Debug)]
pub(super) struct Rubis {
    regions: Table,
    users: Table,
    ratings: Table,
    items: Table,
}

impl Benchmark for Rubis {
    const MIX: &'static [Transaction<Self>] = &[
        transaction("register-user", 10, Rubis::register_user),
        transaction("register-item", 15, Rubis::register_item),
        transaction("buy-now", 15, Rubis::buy_now),
        transaction("comment", 20, Rubis::comment),
        transaction("browse", 40, Rubis::browse),
    ];

    fn new(tables: &mut Tables, scale: u64) -> Self {
        Rubis {
            regions: tables.table(REGIONS),
            users: tables.table(scale),
            ratings: tables.table(scale),
            items: tables.table(scale * ITEMS_PER_USER),
        }
    }
}

impl Rubis {
    fn register_user(&mut self, txn: &mut Script<'_>) {
        let region = any(self.regions, txn);
        txn.read(region);
        // The user and the rating.
        txn.insert();
        txn.insert();
    }

    fn register_item(&mut self, txn: &mut Script<'_>) {
        let seller = any(self.users, txn);
        txn.read(seller);
        txn.insert();
    }

    fn buy_now(&mut self, txn: &mut Script<'_>) {
        let item = any(self.items, txn);
        txn.update(item);
        txn.insert();
    }

    fn comment(&mut self, txn: &mut Script<'_>) {
        let to = txn.popular();
        txn.insert();
        txn.read(self.users.row(to));
        txn.update(self.ratings.row(to));
    }

    fn browse(&mut self, txn: &mut Script<'_>) {
        for _ in 0..ITEMS_BROWSED {
            let item = any(self.items, txn);
            txn.read(item);
        }
        for _ in 0..USERS_BROWSED {
            let user = txn.popular();
            txn.read(self.ratings.row(user));
        }
    }
}

fn any(table: Table, txn: &mut Script<'_>) -> u64 {
    table.row(txn.below(table.rows()))
}
