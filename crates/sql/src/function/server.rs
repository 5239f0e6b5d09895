//! Functions that ask or tell the server something.

use super::{Function, Nulls, Ty, at, function, integer, words};
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::{Kind, Result};
use crate::run::Run;
use crate::settings::{MYSQL_VERSION, POSTGRESQL_VERSION};

const TEXT: Ty = Ty::Is(Type::Text);
const TRUTH: Ty = Ty::Is(Type::Boolean);
const LONG: Ty = Ty::Is(Type::BigInt);
const T: Option<Type> = Some(Type::Text);

pub(super) const FUNCTIONS: &[Function] = &[
    function("version", (0, 0), TEXT, None, Nulls::Spread, |run, _| {
        Ok(Datum::from_text(match run.dialect {
            Dialect::PostgreSql => format!("PostgreSQL {POSTGRESQL_VERSION} (Isonomy {})", env!("CARGO_PKG_VERSION")),
            Dialect::MySql => MYSQL_VERSION.to_owned(),
        }))
    }),
    function("current_database", (0, 0), TEXT, None, Nulls::Spread, database),
    function("current_catalog", (0, 0), TEXT, None, Nulls::Spread, database),
    function("database", (0, 0), TEXT, None, Nulls::Spread, database),
    function("schema", (0, 0), TEXT, None, Nulls::Spread, database),
    function("current_schema", (0, 0), TEXT, None, Nulls::Spread, |_, _| Ok(Datum::from_text("public"))),
    function("current_user", (0, 0), TEXT, None, Nulls::Spread, user),
    function("session_user", (0, 0), TEXT, None, Nulls::Spread, user),
    function("user", (0, 0), TEXT, None, Nulls::Spread, user),
    function("pg_backend_pid", (0, 0), Ty::Is(Type::Integer), None, Nulls::Spread, |_, _| Ok(Datum::Integer(1))),
    function("connection_id", (0, 0), LONG, None, Nulls::Spread, |_, _| Ok(Datum::Integer(1))),
    function("pg_is_in_recovery", (0, 0), TRUTH, None, Nulls::Spread, |_, _| Ok(Datum::Boolean(false))),
    function("pg_table_is_visible", (1, 1), TRUTH, None, Nulls::Spread, |_, _| Ok(Datum::Boolean(true))),
    function("pg_type_is_visible", (1, 1), TRUTH, None, Nulls::Spread, |_, _| Ok(Datum::Boolean(true))),
    function("has_schema_privilege", (2, 3), TRUTH, None, Nulls::Spread, |_, _| Ok(Datum::Boolean(true))),
    function("has_table_privilege", (2, 3), TRUTH, None, Nulls::Spread, |_, _| Ok(Datum::Boolean(true))),
    function("pg_get_userbyid", (1, 1), TEXT, None, Nulls::Spread, user),
    function("obj_description", (1, 2), TEXT, None, Nulls::Spread, |_, _| Ok(Datum::Null)),
    function("col_description", (2, 2), TEXT, None, Nulls::Spread, |_, _| Ok(Datum::Null)),
    function("pg_get_expr", (2, 3), TEXT, None, Nulls::Spread, |_, a| Ok(at(&a, 0).clone())),
    function("format_type", (2, 2), TEXT, None, Nulls::Seen, |run, a| {
        Ok(crate::system::type_name(integer(run, at(&a, 0))?).map_or(Datum::Null, Datum::from_text))
    }),
    function("pg_advisory_lock", (1, 2), TEXT, None, Nulls::Spread, |_, _| Ok(Datum::from_text(""))),
    function("pg_advisory_unlock", (1, 2), TRUTH, None, Nulls::Spread, |_, _| Ok(Datum::Boolean(true))),
    function("current_setting", (1, 2), TEXT, T, Nulls::Spread, |run, a| {
        let name = words(run, at(&a, 0)).to_lowercase();
        let missing_ok = matches!(at(&a, 1), Datum::Boolean(true));
        match setting(run, &name) {
            Some(value) => Ok(Datum::from_text(value)),
            None if missing_ok => Ok(Datum::Null),
            None => Err(Kind::UndefinedObject.error(format!("unrecognized configuration parameter \"{name}\""))),
        }
    }),
    function("set_config", (3, 3), TEXT, None, Nulls::Spread, |run, a| {
        let (name, value) = (words(run, at(&a, 0)).to_lowercase(), words(run, at(&a, 1)));
        run.settings.variables.insert(name, value.clone());
        Ok(Datum::from_text(value))
    }),
    function("mysql_variable", (1, 1), TEXT, T, Nulls::Spread, |run, a| {
        let name = words(run, at(&a, 0)).to_lowercase();
        let unknown = || Kind::UndefinedObject.error(format!("Unknown system variable '{name}'"));
        let value = setting(run, &name).ok_or_else(unknown)?;
        Ok(value.parse().map_or_else(|_| Datum::from_text(&value), Datum::Integer))
    }),
    function("nextval", (1, 1), LONG, T, Nulls::Spread, |run, a| {
        let name = sequence_name(run, at(&a, 0));
        let value = with_sequence(run, &name, |sequence| sequence.take())?;
        run.settings.sequence_values.insert(name.clone(), value);
        run.settings.last_sequence = Some(name);
        run.settings.last_insert_id = u64::try_from(value).unwrap_or(0);
        Ok(Datum::Integer(value))
    }),
    function("currval", (1, 1), LONG, T, Nulls::Spread, |run, a| {
        let name = sequence_name(run, at(&a, 0));
        last_value(run, &name)
    }),
    function("lastval", (0, 0), LONG, None, Nulls::Spread, |run, _| {
        let name = run.settings.last_sequence.clone().unwrap_or_default();
        last_value(run, &name)
    }),
    function("setval", (2, 3), LONG, None, Nulls::Spread, |run, a| {
        let name = sequence_name(run, at(&a, 0));
        let value = integer(run, at(&a, 1))?;
        let called = !matches!(a.get(2), Some(Datum::Boolean(false)));
        with_sequence(run, &name, |sequence| {
            sequence.restart(if called { value.saturating_add(sequence.increment) } else { value });
            value
        })?;
        run.settings.sequence_values.insert(name, value);
        Ok(Datum::Integer(value))
    }),
    function("pg_get_serial_sequence", (2, 2), TEXT, T, Nulls::Spread, |run, a| {
        let table = sequence_name(run, at(&a, 0));
        let column = words(run, at(&a, 1));
        let catalog = run.engine.catalog();
        let found = catalog.table(&table).and_then(|table| table.columns[table.column(&column)?].sequence.clone());
        Ok(found.map_or(Datum::Null, |name| Datum::from_text(format!("public.{name}"))))
    }),
    function("last_insert_id", (0, 0), LONG, None, Nulls::Spread, |run, _| {
        Ok(Datum::Integer(i64::try_from(run.settings.last_insert_id).unwrap_or(i64::MAX)))
    }),
    function("row_count", (0, 0), LONG, None, Nulls::Spread, |_, _| Ok(Datum::Integer(-1))),
    // From now on every session sees all that is committed so far.
    function("isonomy_settle", (0, 0), TEXT, None, Nulls::Spread, |run, _| {
        run.engine.store().settle();
        Ok(Datum::from_text("settled"))
    }),
];

fn database(run: &mut Run<'_>, _: Vec<Datum>) -> Result<Datum> {
    Ok(Datum::from_text(&run.settings.database))
}

fn user(run: &mut Run<'_>, _: Vec<Datum>) -> Result<Datum> {
    Ok(Datum::from_text(match run.dialect {
        Dialect::PostgreSql => "isonomy",
        Dialect::MySql => "isonomy@localhost",
    }))
}

fn setting(run: &Run<'_>, name: &str) -> Option<String> {
    let options = run.engine.store().options();
    run.settings.get(name, run.dialect, (options.level, options.choice))
}

/// `public."accounts_id_seq"` is `accounts_id_seq`.
fn sequence_name(run: &Run<'_>, value: &Datum) -> String {
    let name = words(run, value);
    name.rsplit('.').next().unwrap_or(&name).trim_matches('"').to_owned()
}

fn with_sequence(run: &Run<'_>, name: &str, act: impl FnOnce(&crate::catalog::Sequence) -> i64) -> Result<i64> {
    let catalog = run.engine.catalog();
    let sequence = catalog.sequences.get(name);
    let missing = || Kind::UndefinedTable.error(format!("relation \"{name}\" does not exist"));
    sequence.map(|sequence| act(sequence)).ok_or_else(missing)
}

fn last_value(run: &Run<'_>, name: &str) -> Result<Datum> {
    let value = run.settings.sequence_values.get(name).copied();
    let missing = || Kind::NoSequenceValue.error("this session has not taken a value from the sequence yet");
    value.map(Datum::Integer).ok_or_else(missing)
}
