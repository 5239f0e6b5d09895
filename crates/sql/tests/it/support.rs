//! Databases to try things on, and answers as short texts.

use isonomy_sql::{Answer, Connection, Dialect, Engine, Options};
use isonomy_store::{Choice, Options as StoreOptions, Store};

/// A database whose clock stands still and whose reads return what was committed last.
pub(crate) fn engine(options: Options) -> Engine {
    let store = Store::new(StoreOptions { choice: Choice::Newest, ..StoreOptions::default() });
    Engine::with_clock(store, options, || "2024-02-29T12:30:45Z".parse().expect("a time"))
}

/// A database whose reads return anything that was ever committed and may be seen.
pub(crate) fn weird_engine(options: Options) -> Engine {
    Engine::new(Store::new(StoreOptions { choice: Choice::Uniform, ..StoreOptions::default() }), options)
}

/// A client of a new PostgreSQL.
pub(crate) fn postgres() -> Connection {
    engine(Options::default()).connect(Dialect::PostgreSql)
}

/// A client of a new MySQL.
pub(crate) fn mysql() -> Connection {
    engine(Options::default()).connect(Dialect::MySql)
}

/// Runs statements that must succeed.
pub(crate) fn run(client: &mut Connection, sql: &str) {
    let (_, error) = client.execute(sql);
    assert_eq!(error, None, "{sql}");
}

/// The last answer: rows separated by slashes and columns by blanks, a number of changed rows, a tag, or the code of the error.
pub(crate) fn ask(client: &mut Connection, sql: &str) -> String {
    let (answers, error) = client.execute(sql);
    match (error, answers.last()) {
        (Some(error), _) => error.code.to_owned(),
        (None, Some(answer)) => shown(answer),
        (None, None) => String::new(),
    }
}

pub(crate) fn shown(answer: &Answer) -> String {
    match answer {
        Answer::Rows { rows, .. } => {
            let row = |row: &Vec<isonomy_sql::Datum>| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            rows.iter().map(row).collect::<Vec<_>>().join(" / ")
        }
        Answer::Done { affected: Some(affected), .. } => affected.to_string(),
        Answer::Done { tag, .. } => (*tag).to_owned(),
        Answer::Empty => String::new(),
    }
}

/// Each statement has its answer.
pub(crate) fn check(client: &mut Connection, cases: &[(&str, &str)]) {
    for (sql, expected) in cases {
        let (answers, error) = client.execute(sql);
        let found = match (&error, answers.last()) {
            (Some(error), _) => error.code.to_owned(),
            (None, answer) => answer.map(shown).unwrap_or_default(),
        };
        let why = error.map(|error| error.message).unwrap_or_default();
        assert_eq!(found, *expected, "{sql}\n{why}");
    }
}
