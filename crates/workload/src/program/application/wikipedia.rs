//! Wikipedia: pages are read, and sometimes edited or watched.
//!
//! A page refers to its latest revision, and that to its text. An edit inserts both, moves the reference, adds a line to the recent changes and the log, counts the edit for its user, and marks the
//! page as changed for those who watch it. Types and weights are those of OLTP-Bench (Difallah et al., VLDB 2013), from the traces of
//! the real site: nine in ten only read. The thesis on MonkeyDB asserts that the counts of edits agree. Left out: groups,
//! blocked addresses, and pages that moved.

use super::script::Script;
use super::tables::{Table, Tables};
use super::{Benchmark, Transaction, transaction};

const USERS_PER_PAGE: u64 = 2;

#[derive(Clone, Debug)]
pub(super) struct Wikipedia {
    pages: Table,
    restrictions: Table,
    users: Table,
    /// The latest revision of each page and its text, if the page was edited.
    latest: Vec<Option<[u64; 2]>>,
    /// Who watches a page: the page and the row of the watch list.
    watched: Vec<(u64, u64)>,
}

impl Benchmark for Wikipedia {
    /// In millionths.
    const MIX: &'static [Transaction<Self>] = &[
        transaction("add-to-watch-list", 700, Wikipedia::add_to_watch_list),
        transaction("remove-from-watch-list", 700, Wikipedia::remove_from_watch_list),
        transaction("update-page", 76_719, Wikipedia::update_page),
        transaction("get-page-anonymous", 912_656, Wikipedia::get_page_anonymous),
        transaction("get-page-authenticated", 9_225, Wikipedia::get_page_authenticated),
    ];

    fn new(tables: &mut Tables, scale: u64) -> Self {
        Wikipedia {
            pages: tables.table(scale),
            restrictions: tables.table(scale),
            users: tables.table(scale * USERS_PER_PAGE),
            latest: vec![None; scale as usize],
            watched: Vec::new(),
        }
    }
}

impl Wikipedia {
    fn any_user(&self, txn: &mut Script<'_>) -> u64 {
        self.users.row(txn.below(self.users.rows()))
    }

    fn add_to_watch_list(&mut self, txn: &mut Script<'_>) {
        let (user, page) = (self.any_user(txn), txn.popular());
        self.watched.push((page, txn.insert()));
        txn.update(user);
    }

    fn remove_from_watch_list(&mut self, txn: &mut Script<'_>) {
        if self.watched.is_empty() {
            return;
        }
        let at = txn.below(self.watched.len() as u64) as usize;
        let (_, row) = self.watched.swap_remove(at);
        let user = self.any_user(txn);
        txn.delete(row);
        txn.update(user);
    }

    fn get_page_anonymous(&mut self, txn: &mut Script<'_>) {
        let page = txn.popular();
        self.get_page(page, txn);
    }

    fn get_page_authenticated(&mut self, txn: &mut Script<'_>) {
        let (user, page) = (self.any_user(txn), txn.popular());
        txn.read(user);
        self.get_page(page, txn);
    }

    fn get_page(&self, page: u64, txn: &mut Script<'_>) {
        txn.read(self.pages.row(page));
        txn.read(self.restrictions.row(page));
        for row in self.latest[page as usize].into_iter().flatten() {
            txn.read(row);
        }
    }

    fn update_page(&mut self, txn: &mut Script<'_>) {
        let (user, page) = (self.any_user(txn), txn.popular());
        self.get_page(page, txn);
        self.latest[page as usize] = Some([txn.insert(), txn.insert()]);
        txn.write(self.pages.row(page));
        // The recent change and the line of the log.
        txn.insert();
        txn.insert();
        for &(_, row) in self.watched.iter().filter(|watched| watched.0 == page) {
            txn.update(row);
        }
        txn.update(user);
    }
}
