//! The tables about tables: what clients ask of `pg_catalog` and `information_schema`.
//!
//! They are made from the catalog when they are read, and have those columns that common clients look at.

use crate::catalog::Catalog;
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::run::Run;

/// A table about tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemTable {
    Classes,
    Namespaces,
    Types,
    Attributes,
    Tables,
    Columns,
    Schemata,
    Settings,
    /// One that is always empty, with the columns that clients name: indexes, constraints, descriptions.
    Empty(&'static str),
}

/// Tables with nothing in them, and their columns.
const EMPTY: &[(&str, &[(&str, Type)])] = &[
    ("pg_am", &[("oid", Type::BigInt), ("amname", Type::Text)]),
    (
        "pg_index",
        &[
            ("indexrelid", Type::BigInt),
            ("indrelid", Type::BigInt),
            ("indisunique", Type::Boolean),
            ("indisprimary", Type::Boolean),
            ("indkey", Type::Text),
        ],
    ),
    (
        "pg_constraint",
        &[
            ("oid", Type::BigInt),
            ("conname", Type::Text),
            ("conrelid", Type::BigInt),
            ("contype", Type::Text),
            ("connamespace", Type::BigInt),
            ("contypid", Type::BigInt),
            ("conkey", Type::Text),
            ("conbin", Type::Text),
        ],
    ),
    (
        "pg_description",
        &[
            ("objoid", Type::BigInt),
            ("classoid", Type::BigInt),
            ("objsubid", Type::Integer),
            ("description", Type::Text),
        ],
    ),
    (
        "pg_attrdef",
        &[("oid", Type::BigInt), ("adrelid", Type::BigInt), ("adnum", Type::Integer), ("adbin", Type::Text)],
    ),
    (
        "pg_enum",
        &[
            ("oid", Type::BigInt),
            ("enumtypid", Type::BigInt),
            ("enumsortorder", Type::Double),
            ("enumlabel", Type::Text),
        ],
    ),
    ("pg_range", &[("rngtypid", Type::BigInt), ("rngsubtype", Type::BigInt)]),
    ("pg_inherits", &[("inhrelid", Type::BigInt), ("inhparent", Type::BigInt)]),
    ("pg_views", &[("schemaname", Type::Text), ("viewname", Type::Text)]),
    ("pg_extension", &[("oid", Type::BigInt), ("extname", Type::Text), ("extversion", Type::Text)]),
    (
        "key_column_usage",
        &[
            ("table_schema", Type::Text),
            ("table_name", Type::Text),
            ("column_name", Type::Text),
            ("constraint_name", Type::Text),
            ("ordinal_position", Type::Integer),
        ],
    ),
    (
        "table_constraints",
        &[
            ("table_schema", Type::Text),
            ("table_name", Type::Text),
            ("constraint_name", Type::Text),
            ("constraint_type", Type::Text),
        ],
    ),
    ("views", &[("table_schema", Type::Text), ("table_name", Type::Text)]),
];

const NAMESPACES: [(i64, &str); 3] = [(11, "pg_catalog"), (2200, "public"), (13000, "information_schema")];

/// Numbers of types in PostgreSQL, their short names and their lengths.
const TYPES: [(i64, &str, Type, i64); 12] = [
    (16, "bool", Type::Boolean, 1),
    (17, "bytea", Type::Bytes, -1),
    (20, "int8", Type::BigInt, 8),
    (21, "int2", Type::SmallInt, 2),
    (23, "int4", Type::Integer, 4),
    (25, "text", Type::Text, -1),
    (701, "float8", Type::Double, 8),
    (1082, "date", Type::Date, 4),
    (1083, "time", Type::Time, 8),
    (1114, "timestamp", Type::Timestamp, 8),
    (1184, "timestamptz", Type::TimestampTz, 8),
    (1700, "numeric", Type::Numeric, -1),
];

/// What PostgreSQL calls the type of a number.
pub(crate) fn type_name(oid: i64) -> Option<&'static str> {
    TYPES.iter().find(|(known, ..)| *known == oid).map(|(_, _, ty, _)| ty.name())
}

fn type_oid(ty: Type) -> i64 {
    TYPES.iter().find(|(_, _, known, _)| *known == ty).map_or(25, |(oid, ..)| *oid)
}

/// Tables have numbers above those that PostgreSQL keeps for itself.
fn table_oid(id: u32) -> i64 {
    16384 + i64::from(id)
}

fn text(value: &str) -> Datum {
    Datum::from_text(value)
}

impl SystemTable {
    /// The table of this path: `pg_catalog.pg_class`, `pg_class`, `information_schema.tables`.
    pub(crate) fn find(path: &[String]) -> Option<Self> {
        let (schema, name) = match path {
            [name] => (None, name.as_str()),
            [schema, name] => (Some(schema.as_str()), name.as_str()),
            _ => return None,
        };
        let information = schema.is_some_and(|schema| schema.eq_ignore_ascii_case("information_schema"));
        if information {
            return match name.to_ascii_lowercase().as_str() {
                "tables" => Some(SystemTable::Tables),
                "columns" => Some(SystemTable::Columns),
                "schemata" => Some(SystemTable::Schemata),
                other => EMPTY.iter().find(|(known, _)| *known == other).map(|(known, _)| SystemTable::Empty(known)),
            };
        }
        if !matches!(schema, None | Some("pg_catalog")) {
            return None;
        }
        match name {
            "pg_class" => Some(SystemTable::Classes),
            "pg_namespace" => Some(SystemTable::Namespaces),
            "pg_type" => Some(SystemTable::Types),
            "pg_attribute" => Some(SystemTable::Attributes),
            "pg_settings" => Some(SystemTable::Settings),
            other if other.starts_with("pg_") => {
                EMPTY.iter().find(|(known, _)| *known == other).map(|(known, _)| SystemTable::Empty(known))
            }
            _ => None,
        }
    }

    /// Its columns.
    pub(crate) fn columns(self) -> Vec<(String, Type)> {
        use Type::{BigInt, Boolean, Integer, Text};
        let columns: &[(&str, Type)] = match self {
            SystemTable::Classes => &[
                ("oid", BigInt),
                ("relname", Text),
                ("relnamespace", BigInt),
                ("relkind", Text),
                ("relowner", BigInt),
                ("relpersistence", Text),
                ("relhasindex", Boolean),
                ("reltuples", BigInt),
                ("relispartition", Boolean),
                ("relam", BigInt),
            ],
            SystemTable::Namespaces => &[("oid", BigInt), ("nspname", Text), ("nspowner", BigInt)],
            SystemTable::Types => &[
                ("oid", BigInt),
                ("typname", Text),
                ("typnamespace", BigInt),
                ("typlen", Integer),
                ("typtype", Text),
                ("typcategory", Text),
                ("typrelid", BigInt),
                ("typelem", BigInt),
                ("typarray", BigInt),
                ("typbasetype", BigInt),
                ("typtypmod", Integer),
                ("typnotnull", Boolean),
                ("typdelim", Text),
                ("typdefault", Text),
            ],
            SystemTable::Attributes => &[
                ("attrelid", BigInt),
                ("attname", Text),
                ("atttypid", BigInt),
                ("attnum", Integer),
                ("attnotnull", Boolean),
                ("atthasdef", Boolean),
                ("attisdropped", Boolean),
                ("atttypmod", Integer),
                ("attlen", Integer),
                ("attidentity", Text),
                ("attgenerated", Text),
            ],
            SystemTable::Tables => {
                &[("table_catalog", Text), ("table_schema", Text), ("table_name", Text), ("table_type", Text)]
            }
            SystemTable::Columns => &[
                ("table_catalog", Text),
                ("table_schema", Text),
                ("table_name", Text),
                ("column_name", Text),
                ("ordinal_position", Integer),
                ("column_default", Text),
                ("is_nullable", Text),
                ("data_type", Text),
                ("character_maximum_length", Integer),
                ("numeric_precision", Integer),
                ("numeric_scale", Integer),
                ("column_key", Text),
            ],
            SystemTable::Schemata => &[("catalog_name", Text), ("schema_name", Text)],
            SystemTable::Settings => &[("name", Text), ("setting", Text)],
            SystemTable::Empty(name) => {
                EMPTY.iter().find(|(known, _)| *known == name).map_or(&[], |(_, columns)| columns)
            }
        };
        columns.iter().map(|(name, ty)| ((*name).to_owned(), *ty)).collect()
    }

    /// Its rows.
    pub(crate) fn rows(self, run: &Run<'_>) -> Vec<Vec<Datum>> {
        let catalog = run.engine.catalog();
        match self {
            SystemTable::Classes => classes(&catalog),
            SystemTable::Namespaces => NAMESPACES
                .iter()
                .map(|(oid, name)| vec![Datum::Integer(*oid), text(name), Datum::Integer(10)])
                .collect(),
            SystemTable::Types => {
                TYPES.iter().map(|(oid, name, ty, length)| type_row(*oid, name, *ty, *length)).collect()
            }
            SystemTable::Attributes => attributes(&catalog),
            SystemTable::Tables => {
                let schema = schema_name(run);
                let row =
                    |name: &String| vec![text(&run.settings.database), text(&schema), text(name), text("BASE TABLE")];
                catalog.tables.keys().map(row).collect()
            }
            SystemTable::Columns => columns(&catalog, run),
            SystemTable::Schemata => match run.dialect {
                Dialect::PostgreSql => {
                    NAMESPACES.iter().map(|(_, name)| vec![text(&run.settings.database), text(name)]).collect()
                }
                Dialect::MySql => vec![vec![text("def"), text(&run.settings.database)]],
            },
            SystemTable::Settings => {
                let options = run.engine.store().options();
                let all = run.settings.all(run.dialect, (options.level, options.choice));
                all.into_iter().map(|(name, value)| vec![text(&name), text(&value)]).collect()
            }
            SystemTable::Empty(_) => vec![],
        }
    }
}

fn schema_name(run: &Run<'_>) -> String {
    match run.dialect {
        Dialect::PostgreSql => "public".into(),
        Dialect::MySql => run.settings.database.clone(),
    }
}

fn classes(catalog: &Catalog) -> Vec<Vec<Datum>> {
    let row = |oid: i64, name: &str, kind: &str| {
        vec![
            Datum::Integer(oid),
            text(name),
            Datum::Integer(2200),
            text(kind),
            Datum::Integer(10),
            text("p"),
            Datum::Boolean(false),
            Datum::Integer(-1),
            Datum::Boolean(false),
            Datum::Integer(0),
        ]
    };
    let tables = catalog.tables.values().map(|table| row(table_oid(table.id), &table.name, "r"));
    let sequences = catalog.sequences.keys().zip(1_000_000_i64..).map(|(name, oid)| row(oid, name, "S"));
    tables.chain(sequences).collect()
}

fn type_row(oid: i64, name: &str, ty: Type, length: i64) -> Vec<Datum> {
    let category = match ty {
        Type::Boolean => "B",
        Type::Text => "S",
        ty if ty.is_number() => "N",
        Type::Bytes => "U",
        _ => "D",
    };
    let zero = Datum::Integer(0);
    vec![
        Datum::Integer(oid),
        text(name),
        Datum::Integer(11),
        Datum::Integer(length),
        text("b"),
        text(category),
        zero.clone(),
        zero.clone(),
        zero.clone(),
        zero,
        Datum::Integer(-1),
        Datum::Boolean(false),
        text(","),
        Datum::Null,
    ]
}

fn attributes(catalog: &Catalog) -> Vec<Vec<Datum>> {
    let mut rows = Vec::new();
    for table in catalog.tables.values() {
        for (number, column) in (1..).zip(&table.columns) {
            rows.push(vec![
                Datum::Integer(table_oid(table.id)),
                text(&column.name),
                Datum::Integer(type_oid(column.spec.ty)),
                Datum::Integer(number),
                Datum::Boolean(column.not_null),
                Datum::Boolean(column.default.is_some() || column.sequence.is_some()),
                Datum::Boolean(false),
                Datum::Integer(column.spec.length.map_or(-1, |length| i64::from(length) + 4)),
                Datum::Integer(-1),
                text(""),
                text(""),
            ]);
        }
    }
    rows
}

fn columns(catalog: &Catalog, run: &Run<'_>) -> Vec<Vec<Datum>> {
    let number = |value: Option<u32>| value.map_or(Datum::Null, |value| Datum::Integer(value.into()));
    let mut rows = Vec::new();
    for table in catalog.tables.values() {
        for (position, column) in table.columns.iter().enumerate() {
            let default = match (&column.default, &column.sequence) {
                (Some(default), _) => text(&default.to_string()),
                (None, Some(sequence)) if run.dialect == Dialect::PostgreSql => {
                    text(&format!("nextval('{sequence}'::regclass)"))
                }
                _ => Datum::Null,
            };
            rows.push(vec![
                text(&run.settings.database),
                text(&schema_name(run)),
                text(&table.name),
                text(&column.name),
                Datum::Integer(i64::try_from(position).unwrap_or(0) + 1),
                default,
                text(if column.not_null { "NO" } else { "YES" }),
                text(match run.dialect {
                    Dialect::PostgreSql => column.spec.ty.name(),
                    Dialect::MySql => column.spec.ty.mysql_name(),
                }),
                number(column.spec.length),
                number(column.spec.precision.map(|(precision, _)| precision)),
                number(column.spec.precision.map(|(_, scale)| scale)),
                text(if table.key.contains(&position) { "PRI" } else { "" }),
            ]);
        }
    }
    rows
}
