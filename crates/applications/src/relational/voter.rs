//! Voter: viewers of a television show vote for contestants by telephone, a few times each.
//!
//! The one transaction of H-Store's and OLTP-Bench's benchmark ("Japanese Idol"). One viewer, as in the thesis; the votes of a
//! telephone are counted by a view in the original, and by the query of that view here.

use isonomy_sql::Engine;
use isonomy_workload::Rng;

use super::client::{Database, numbers, text};
use crate::application::Assertion;
use crate::script::{Failure, Logged, Script, Step, Turn};

/// Voter.
pub(crate) struct Voter;

const CONTESTANTS: i64 = 6;
/// The viewer's.
const TELEPHONE: i64 = 2_015_550_100;
const AREA_CODE: i64 = TELEPHONE / 10_000_000;
/// How often a telephone may vote.
const LIMIT: i64 = 5;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Vote {
    id: i64,
    contestant: i64,
}

const SCHEMA: &str = "
    CREATE TABLE contestants (contestant_number integer PRIMARY KEY, contestant_name varchar(50));
    CREATE TABLE area_code_state (area_code integer PRIMARY KEY, state varchar(2));
    CREATE TABLE votes (vote_id bigint PRIMARY KEY, phone_number bigint, state varchar(2), contestant_number integer)";

const GET_CONTESTANT: &str = "SELECT contestant_number FROM contestants WHERE contestant_number = $1";
const COUNT_VOTES: &str = "SELECT COUNT(*) FROM votes WHERE phone_number = $1";
const GET_STATE: &str = "SELECT state FROM area_code_state WHERE area_code = $1";
const VOTE: &str = "INSERT INTO votes (vote_id, phone_number, contestant_number, state) VALUES ($1, $2, $3, $4)";
const TOO_MANY: &str = "SELECT phone_number, COUNT(*) FROM votes GROUP BY phone_number HAVING COUNT(*) > $1";

impl Script for Voter {
    const NAME: &'static str = "voter";
    const ABOUT: &'static str = "votes by telephone, a few for each";
    const ASSERTIONS: &'static [Assertion] =
        &[Assertion { name: "A14", about: "no telephone has voted more often than it may" }];
    const OPERATIONS: usize = 10;
    const IS_SMALL: bool = false;

    type Place = Engine;
    type Operation = Vote;

    fn create(database: &mut Database) -> Result<(), Failure> {
        database.execute(SCHEMA)
    }

    fn load(database: &mut Database) -> Result<(), Failure> {
        for contestant in 1..=CONTESTANTS {
            let [number] = numbers([contestant]);
            let name = text(&format!("contestant {contestant}"));
            database.change("INSERT INTO contestants VALUES ($1, $2)", &[number, name])?;
        }
        let [area_code] = numbers([AREA_CODE]);
        database.change("INSERT INTO area_code_state VALUES ($1, $2)", &[area_code, text("NJ")])?;
        Ok(())
    }

    fn draw(rng: &mut Rng, turn: Turn) -> Vote {
        Vote { id: turn.unique(), contestant: 1 + rng.below(CONTESTANTS as u64) as i64 }
    }

    /// Answers whether the vote counts.
    fn step(vote: &mut Vote, database: &mut Database) -> Result<Step, Failure> {
        database.row(GET_CONTESTANT, &numbers([vote.contestant]))?;
        if database.number(COUNT_VOTES, &numbers([TELEPHONE]))? >= LIMIT {
            return Ok(Step::Done(vec![0]));
        }
        let state = database.row(GET_STATE, &numbers([AREA_CODE]))?.datum(0);
        let [id, telephone, contestant] = numbers([vote.id, TELEPHONE, vote.contestant]);
        database.change(VOTE, &[id, telephone, contestant, state])?;
        Ok(Step::Done(vec![1]))
    }

    fn broken(_: &[Logged<Vote>], database: &mut Database) -> Result<Vec<bool>, Failure> {
        Ok(vec![!database.rows(TOO_MANY, &numbers([LIMIT]))?.is_empty()])
    }
}
