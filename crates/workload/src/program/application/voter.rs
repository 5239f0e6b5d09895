//! Voter: viewers of a television show vote for contestants by telephone.
//!
//! The one transaction checks that the contestant exists and that the telephone has votes left, finds the state by area code, and
//! records the vote; the votes of each telephone, and of each contestant in each state, are counted in rows of their own, as the views of
//! the original are. Six contestants in fifty states, as in H-Store's and OLTP-Bench's version ("Japanese Idol"). The thesis on MonkeyDB asserts that no telephone votes too
//! often. Left out: the limit, so that all votes count.

use super::script::Script;
use super::tables::{Table, Tables};
use super::{Benchmark, Transaction, transaction};

const CONTESTANTS: u64 = 6;
const STATES: u64 = 50;
/// About as many as there were in the United States.
const AREA_CODES: u64 = 305;

#[derive(Clone, Debug)]
pub(super) struct Voter {
    contestants: Table,
    area_codes: Table,
    votes_by_telephone: Table,
    votes_by_contestant_and_state: Table,
}

impl Benchmark for Voter {
    const MIX: &'static [Transaction<Self>] = &[transaction("vote", 100, Voter::vote)];

    fn new(tables: &mut Tables, scale: u64) -> Self {
        Voter {
            contestants: tables.table(CONTESTANTS),
            area_codes: tables.table(AREA_CODES),
            votes_by_telephone: tables.table(scale),
            votes_by_contestant_and_state: tables.table(CONTESTANTS * STATES),
        }
    }
}

impl Voter {
    fn vote(&mut self, txn: &mut Script<'_>) {
        let (telephone, contestant) = (txn.popular(), txn.below(CONTESTANTS));
        let area_code = telephone % AREA_CODES;
        txn.read(self.contestants.row(contestant));
        txn.read(self.votes_by_telephone.row(telephone));
        txn.read(self.area_codes.row(area_code));
        txn.insert();
        txn.write(self.votes_by_telephone.row(telephone));
        txn.update(self.votes_by_contestant_and_state.row(contestant * STATES + area_code % STATES));
    }
}
