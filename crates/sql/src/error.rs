//! What can go wrong with a statement.
//!
//! Every error has two codes, since clients of PostgreSQL and of MySQL look at different ones; the table of pairs is here and nowhere else.

use isonomy_store::StoreError;

/// A statement failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The SQLSTATE of PostgreSQL: `40001`, `23505`, `42P01`.
    pub code: &'static str,
    /// The error number of MySQL: 1213, 1062, 1146.
    pub mysql: u16,
    /// A sentence.
    pub message: String,
    /// What may help.
    pub hint: Option<String>,
}

/// What a fallible step of a statement returns.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// What went wrong, in the words of SQLSTATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Syntax,
    Unsupported,
    UndefinedTable,
    UndefinedColumn,
    UndefinedFunction,
    UndefinedObject,
    UndefinedParameter,
    AmbiguousColumn,
    DuplicateTable,
    DuplicateColumn,
    DuplicateAlias,
    Grouping,
    Datatype,
    InvalidColumnReference,
    InvalidDefinition,
    UniqueViolation,
    NotNullViolation,
    CheckViolation,
    OutOfRange,
    TooLong,
    DivisionByZero,
    InvalidText,
    InvalidDatetime,
    InvalidParameter,
    Cardinality,
    TooComplex,
    FailedTransaction,
    ActiveTransaction,
    NoTransaction,
    NoSavepoint,
    NoSequenceValue,
    Conflict,
    Busy,
    Escape,
    Regex,
}

impl Kind {
    fn codes(self) -> (&'static str, u16) {
        match self {
            Kind::Syntax => ("42601", 1064),
            Kind::Unsupported => ("0A000", 1235),
            Kind::UndefinedTable => ("42P01", 1146),
            Kind::UndefinedColumn => ("42703", 1054),
            Kind::UndefinedFunction => ("42883", 1305),
            Kind::UndefinedObject => ("42704", 1193),
            Kind::UndefinedParameter => ("42P02", 1210),
            Kind::AmbiguousColumn => ("42702", 1052),
            Kind::DuplicateTable => ("42P07", 1050),
            Kind::DuplicateColumn => ("42701", 1060),
            Kind::DuplicateAlias => ("42712", 1066),
            Kind::Grouping => ("42803", 1055),
            Kind::Datatype => ("42804", 1366),
            Kind::InvalidColumnReference => ("42P10", 1054),
            Kind::InvalidDefinition => ("42P16", 1068),
            Kind::UniqueViolation => ("23505", 1062),
            Kind::NotNullViolation => ("23502", 1048),
            Kind::CheckViolation => ("23514", 3819),
            Kind::OutOfRange => ("22003", 1264),
            Kind::TooLong => ("22001", 1406),
            Kind::DivisionByZero => ("22012", 1365),
            Kind::InvalidText => ("22P02", 1366),
            Kind::InvalidDatetime => ("22007", 1292),
            Kind::InvalidParameter => ("22023", 1231),
            Kind::Cardinality => ("21000", 1242),
            Kind::TooComplex => ("54001", 1436),
            Kind::FailedTransaction => ("25P02", 1568),
            Kind::ActiveTransaction => ("25001", 1568),
            Kind::NoTransaction => ("25P01", 1568),
            Kind::NoSavepoint => ("3B001", 1305),
            Kind::NoSequenceValue => ("55000", 1305),
            Kind::Conflict => ("40001", 1213),
            Kind::Busy => ("55P03", 1205),
            Kind::Escape => ("22025", 1210),
            Kind::Regex => ("2201B", 1139),
        }
    }

    /// An error of this kind.
    pub(crate) fn error(self, message: impl Into<String>) -> Error {
        let (code, mysql) = self.codes();
        Error { code, mysql, message: message.into(), hint: None }
    }
}

impl Error {
    /// SQL that is not understood here.
    pub(crate) fn unsupported(what: impl std::fmt::Display) -> Self {
        Kind::Unsupported.error(format!("{what} is not supported"))
    }

    /// The same error, with something that may help.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Whether the transaction is over, whatever the dialect says of errors.
    pub(crate) fn ends_transaction(&self) -> bool {
        matches!(self.code, "40001" | "55P03")
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict(why) => Kind::Conflict.error(why).hint("The transaction had no effect. Try it again."),
            StoreError::Busy(why) => Kind::Busy.error(format!("could not obtain a turn: {why}")),
            StoreError::NotOpen => Kind::NoTransaction.error("the transaction is over"),
        }
    }
}
