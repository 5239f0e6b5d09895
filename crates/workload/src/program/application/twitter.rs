//! Twitter: users tweet, follow each other and read.
//!
//! Each user has a list of those followed and a reference to the last tweet. Following somebody, or ceasing to, writes the edge in
//! both directions and changes the list; a timeline reads the list and the last tweet of up to twenty on it. Types and weights are
//! those of Cobra (OSDI 2020), with 1,000 users. Cobra's active users are less skewed than those followed; here one distribution does for both. The list is a
//! register, as there; who is on it when a timeline is read is what the generator has drawn so far.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::script::Script;
use super::tables::{Table, Tables};
use super::{Benchmark, Transaction, transaction};

/// How many of those followed a timeline reads, and how many tweets of a user are shown.
const SHOWN: usize = 20;

#[derive(Clone, Debug)]
pub(super) struct Twitter {
    /// Whom a user follows.
    lists: Table,
    /// The last tweet of a user.
    last: Table,
    /// The latest tweets of each user, and whom each followed last.
    users: Vec<User>,
    /// The rows of each edge, one for either direction.
    edges: FxHashMap<(u64, u64), [u64; 2]>,
}

#[derive(Clone, Debug, Default)]
struct User {
    tweets: VecDeque<u64>,
    follows: VecDeque<u64>,
}

impl Benchmark for Twitter {
    const MIX: &'static [Transaction<Self>] = &[
        transaction("tweet", 20, Twitter::tweet),
        transaction("follow", 40, Twitter::follow),
        transaction("timeline", 10, Twitter::timeline),
        transaction("show-follows", 10, Twitter::show_follows),
        transaction("show-tweets", 20, Twitter::show_tweets),
    ];
    const LEAST_SCALE: u64 = 2;

    fn new(tables: &mut Tables, scale: u64) -> Self {
        let users = vec![User::default(); scale as usize];
        Twitter { lists: tables.table(scale), last: tables.table(scale), users, edges: FxHashMap::default() }
    }
}

impl Twitter {
    fn tweet(&mut self, txn: &mut Script<'_>) {
        let user = txn.popular();
        let tweet = txn.insert();
        txn.write(self.last.row(user));
        remember(&mut self.users[user as usize].tweets, tweet);
    }

    /// Follows, or no longer follows.
    fn follow(&mut self, txn: &mut Script<'_>) {
        let user = txn.popular();
        let whom = txn.popular_other_than(user);
        match self.edges.get(&(user, whom)) {
            Some(rows) => rows.iter().for_each(|&row| txn.write(row)),
            None => {
                let rows = [txn.insert(), txn.insert()];
                self.edges.insert((user, whom), rows);
            }
        }
        txn.update(self.lists.row(user));
        let follows = &mut self.users[user as usize].follows;
        match follows.iter().position(|&other| other == whom) {
            Some(at) => drop(follows.remove(at)),
            None => remember(follows, whom),
        }
    }

    fn timeline(&mut self, txn: &mut Script<'_>) {
        let user = txn.popular();
        txn.read(self.lists.row(user));
        for &whom in &self.users[user as usize].follows {
            txn.read(self.last.row(whom));
            if let Some(&tweet) = self.users[whom as usize].tweets.back() {
                txn.read(tweet);
            }
        }
    }

    fn show_follows(&mut self, txn: &mut Script<'_>) {
        let user = txn.popular();
        txn.read(self.lists.row(user));
        for &whom in &self.users[user as usize].follows {
            txn.read(self.edges[&(user, whom)][0]);
        }
    }

    fn show_tweets(&mut self, txn: &mut Script<'_>) {
        let user = txn.popular();
        txn.read(self.last.row(user));
        for &tweet in &self.users[user as usize].tweets {
            txn.read(tweet);
        }
    }
}

/// Adds to the latest ones, and forgets what is too old to be shown.
fn remember(latest: &mut VecDeque<u64>, new: u64) {
    latest.push_back(new);
    if latest.len() > SHOWN {
        latest.pop_front();
    }
}
