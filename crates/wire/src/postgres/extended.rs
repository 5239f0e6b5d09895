//! Extended queries: statements are parsed once, bound to parameters, described, and run.

use std::sync::Arc;

use isonomy_sql::{Answer, Column, Datum, Error, Prepared, Type};
use rustc_hash::FxHashMap;

use super::message::Fields;
use super::session::{Session, send_row};
use super::value::{Format, decode, type_number, type_of};
use super::{Stop, problem, reply};

/// The statements and portals of a client. The one without a name is replaced without a word.
#[derive(Default)]
pub(super) struct Extended {
    statements: FxHashMap<String, Arc<Statement>>,
    portals: FxHashMap<String, Portal>,
}

/// How many statements or portals a client may keep: one that never closes them is to notice before the server does.
const MOST: usize = 100_000;

struct Statement {
    prepared: Prepared,
    /// The types of its parameters, by the numbers that the client gave, or that we found.
    parameters: Vec<u32>,
}

/// A statement with its parameters.
struct Portal {
    statement: Arc<Statement>,
    parameters: Vec<Datum>,
    formats: Vec<Format>,
    /// What it answered, once it was run, and how many rows of it were sent.
    answer: Option<(Answer, usize)>,
}

impl Extended {
    pub(super) fn close_portals(&mut self) {
        self.portals.clear();
    }

    fn statement(&self, name: &str) -> Result<&Arc<Statement>, Error> {
        self.statements.get(name).ok_or_else(|| problem("26000", format!("there is no prepared statement \"{name}\"")))
    }

    fn portal(&mut self, name: &str) -> Result<&mut Portal, Error> {
        self.portals.get_mut(name).ok_or_else(|| problem("34000", format!("there is no portal \"{name}\"")))
    }
}

impl Session {
    pub(super) fn parse(&mut self, mut fields: Fields<'_>) -> Result<(), Stop> {
        let (name, sql) = (fields.text()?, fields.text()?);
        let mut numbers = Vec::new();
        for _ in 0..fields.count()? {
            numbers.push(fields.long()?.cast_unsigned());
        }
        let statements = &self.extended.statements;
        if !name.is_empty() && statements.contains_key(name) {
            return Err(problem("42P05", format!("there is a prepared statement \"{name}\" already")).into());
        }
        if statements.len() >= MOST {
            return Err(problem("53400", format!("there are {MOST} prepared statements already")).into());
        }
        let types: Vec<Option<Type>> = numbers.iter().map(|&number| type_of(number)).collect();
        let prepared = self.guard.prepare(sql, &types)?;
        let given = |index: usize| numbers.get(index).copied().filter(|&number| type_of(number).is_some());
        let known = prepared.parameters().iter().enumerate();
        let parameters = known.map(|(index, &ty)| given(index).unwrap_or_else(|| type_number(ty))).collect();
        self.extended.statements.insert(name.to_owned(), Arc::new(Statement { prepared, parameters }));
        reply::message(self.stream.output(), b'1', |_| ());
        Ok(())
    }

    pub(super) fn bind(&mut self, mut fields: Fields<'_>) -> Result<(), Stop> {
        let (name, statement) = (fields.text()?, fields.text()?);
        let statement = Arc::clone(self.extended.statement(statement)?);
        let formats = formats(&mut fields)?;
        let (given, expected) = (fields.count()?, statement.parameters.len());
        if given != expected {
            return Err(problem("08P01", format!("the statement has {expected} parameters, but {given} came")).into());
        }
        let formats = expand(&formats, given)?;
        let mut parameters = Vec::with_capacity(given);
        for (&number, format) in statement.parameters.iter().zip(formats) {
            let value = fields.value()?;
            parameters.push(value.map_or(Ok(Datum::Null), |bytes| decode(bytes, number, format))?);
        }
        let wanted = self::formats(&mut fields)?;
        let formats = expand(&wanted, statement.prepared.columns().map_or(0, <[Column]>::len))?;
        let portals = &self.extended.portals;
        if !name.is_empty() && portals.contains_key(name) {
            return Err(problem("42P03", format!("there is a portal \"{name}\" already")).into());
        }
        if portals.len() >= MOST {
            return Err(problem("53400", format!("there are {MOST} portals already")).into());
        }
        self.extended.portals.insert(name.to_owned(), Portal { statement, parameters, formats, answer: None });
        reply::message(self.stream.output(), b'2', |_| ());
        Ok(())
    }

    pub(super) fn describe(&mut self, mut fields: Fields<'_>) -> Result<(), Stop> {
        let out = self.stream.output();
        match (fields.byte()?, fields.text()?) {
            (b'S', name) => {
                let statement = self.extended.statement(name)?;
                reply::message(out, b't', |out| {
                    out.extend(reply::count(statement.parameters.len()));
                    out.extend(statement.parameters.iter().flat_map(|number| number.to_be_bytes()));
                });
                // Formats are not known before parameters are bound.
                let columns = statement.prepared.columns();
                describe_columns(out, columns, &vec![Format::Text; columns.map_or(0, <[Column]>::len)]);
            }
            (b'P', name) => {
                let portal = self.extended.portal(name)?;
                describe_columns(out, portal.statement.prepared.columns(), &portal.formats);
            }
            (kind, _) => return Err(not_a_kind(kind).into()),
        }
        Ok(())
    }

    pub(super) fn execute(&mut self, mut fields: Fields<'_>) -> Result<(), Stop> {
        let (name, most) = (fields.text()?, fields.long()?);
        // None, or nonsense, is no limit.
        let most = usize::try_from(most).ok().filter(|&most| most > 0).unwrap_or(usize::MAX);
        let portal = self.extended.portal(name)?;
        if portal.answer.is_none() {
            portal.answer = Some((self.guard.run(&portal.statement.prepared, &portal.parameters)?, 0));
        }
        let (answer, sent) = portal.answer.as_mut().expect("it was run");
        if let Answer::Rows { columns, rows, .. } = answer {
            // What was promised counts, should the answer differ.
            let columns =
                portal.statement.prepared.columns().filter(|all| all.len() == columns.len()).unwrap_or(columns);
            let formats = match portal.formats.len() {
                length if length == columns.len() => portal.formats.clone(),
                _ => vec![portal.formats.first().copied().unwrap_or(Format::Text); columns.len()],
            };
            let end = rows.len().min(sent.saturating_add(most));
            for row in &rows[*sent..end] {
                let values = row.iter().zip(columns).map(|(datum, column)| (datum, column.ty));
                send_row(&mut self.stream, values, &formats)?;
            }
            // As PostgreSQL does it: who asked for exactly as many as there are has to ask once more.
            let complete = end - *sent < most;
            *sent = end;
            if complete {
                reply::complete(self.stream.output(), answer);
            } else {
                reply::message(self.stream.output(), b's', |_| ());
            }
        } else {
            reply::complete(self.stream.output(), answer);
        }
        Ok(())
    }

    pub(super) fn close(&mut self, mut fields: Fields<'_>) -> Result<(), Stop> {
        match (fields.byte()?, fields.text()?) {
            (b'S', name) => drop(self.extended.statements.remove(name)),
            (b'P', name) => drop(self.extended.portals.remove(name)),
            (kind, _) => return Err(not_a_kind(kind).into()),
        }
        reply::message(self.stream.output(), b'3', |_| ());
        Ok(())
    }
}

fn not_a_kind(kind: u8) -> Error {
    problem("08P01", format!("expected a statement or a portal, found {kind:#04x}"))
}

fn describe_columns(out: &mut Vec<u8>, columns: Option<&[Column]>, formats: &[Format]) {
    match columns {
        Some(columns) => reply::columns(out, columns, formats),
        None => reply::message(out, b'n', |_| ()),
    }
}

fn formats(fields: &mut Fields<'_>) -> Result<Vec<Format>, Error> {
    let count = fields.count()?;
    (0..count).map(|_| Format::of(fields.short()?)).collect()
}

/// One format for each value: no formats are all text, and one is for all.
fn expand(formats: &[Format], count: usize) -> Result<Vec<Format>, Error> {
    match formats {
        [] => Ok(vec![Format::Text; count]),
        [one] => Ok(vec![*one; count]),
        all if all.len() == count => Ok(all.to_vec()),
        all => Err(problem("08P01", format!("{} formats came for {count} values", all.len()))),
    }
}
