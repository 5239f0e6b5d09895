//! Prepared statements: kept by number, with what was sent of their parameters.

use isonomy_sql::{Column, Error, Prepared, Type};
use rustc_hash::FxHashMap;

use super::fields::Fields;
use super::parameters::{self, Declared};
use super::resultset::{self, Shape};
use super::session::{Session, utf8};
use super::{Stop, problem};

/// As many as MySQL lets clients keep if nobody changes its setting.
const MOST: usize = 16_382;

/// How much of a statement's parameters may be sent ahead.
const AHEAD: usize = 64 << 20;

/// The prepared statements of a client.
#[derive(Default)]
pub(super) struct Statements {
    all: FxHashMap<u32, Statement>,
    last: u32,
}

struct Statement {
    prepared: Prepared,
    /// The types of its parameters, which clients send with the first execution only.
    declared: Vec<Declared>,
    /// Parameters that were sent ahead, in pieces.
    ahead: FxHashMap<u16, Vec<u8>>,
    /// Whether more was sent ahead than is allowed. Pieces have no answer, so this is told with the execution.
    overflow: bool,
}

impl Statements {
    fn get(&mut self, number: u32) -> Result<&mut Statement, Error> {
        self.all
            .get_mut(&number)
            .ok_or_else(|| problem(1243, "HY000", format!("there is no prepared statement {number}")))
    }

    /// Takes a piece of a parameter.
    pub(super) fn append(&mut self, rest: &[u8]) {
        let mut fields = Fields(rest);
        let (Ok(number), Ok(parameter)) = (fields.long(), fields.short()) else { return };
        let Ok(statement) = self.get(number) else { return };
        let kept: usize = statement.ahead.values().map(Vec::len).sum();
        if kept + fields.0.len() > AHEAD || usize::from(parameter) >= statement.prepared.parameters().len() {
            statement.overflow = true;
            return;
        }
        statement.ahead.entry(parameter).or_default().extend(fields.0);
    }

    pub(super) fn close(&mut self, rest: &[u8]) {
        if let Ok(number) = Fields(rest).long() {
            self.all.remove(&number);
        }
    }

    /// Forgets what was sent ahead.
    pub(super) fn reset(&mut self, rest: &[u8]) -> Result<(), Error> {
        let statement = self.get(Fields(rest).long()?)?;
        statement.ahead.clear();
        statement.overflow = false;
        Ok(())
    }
}

impl Session {
    pub(super) fn prepare(&mut self, sql: &[u8]) -> Result<(), Stop> {
        if self.statements.all.len() >= MOST {
            return Err(problem(1461, "42000", format!("there are {MOST} prepared statements already")).into());
        }
        let prepared = self.guard.prepare(utf8(sql)?, &[])?;
        let parameters: Vec<Column> =
            prepared.parameters().iter().map(|_| Column { name: "?".into(), ty: Type::Text }).collect();
        let columns = prepared.columns().unwrap_or_default().to_vec();
        self.statements.last = self.statements.last.wrapping_add(1);
        let number = self.statements.last;
        let mut head = vec![0];
        head.extend(number.to_le_bytes());
        head.extend(count(columns.len())?);
        head.extend(count(parameters.len())?);
        head.extend([0; 3]);
        self.packets.write(&head);
        let state = self.state();
        for list in [&parameters, &columns] {
            if !list.is_empty() {
                resultset::definitions(&mut self.packets, list, state);
            }
        }
        let statement = Statement { prepared, declared: Vec::new(), ahead: FxHashMap::default(), overflow: false };
        self.statements.all.insert(number, statement);
        Ok(())
    }

    pub(super) fn execute(&mut self, rest: &[u8]) -> Result<(), Stop> {
        let mut fields = Fields(rest);
        let statement = self.statements.get(fields.long()?)?;
        // Whether a cursor is wanted, which we may ignore, and how often to run it, which is once.
        fields.bytes(5)?;
        let ahead = std::mem::take(&mut statement.ahead);
        if std::mem::take(&mut statement.overflow) {
            return Err(
                problem(1153, "08S01", format!("parameters sent ahead are over the limit of {AHEAD} bytes")).into()
            );
        }
        let types = statement.prepared.parameters();
        let parameters = parameters::read(&mut fields, types, &mut statement.declared, &ahead)?;
        let prepared = statement.prepared.clone();
        let answer = self.guard.run(&prepared, &parameters)?;
        let state = self.state();
        self.answer(&answer, Shape::Binary(prepared.columns().unwrap_or_default()), state)
    }
}

fn count(number: usize) -> Result<[u8; 2], Error> {
    let count = u16::try_from(number).map_err(|_| problem(1390, "HY000", "the statement has too many parameters"));
    count.map(u16::to_le_bytes)
}
