//! What a statement will do, with every name resolved: the program that [`crate::run`] carries out.
//!
//! A statement is planned once and can run many times. Columns are places, not names; a row is a list of slots, one for each table of the
//! `FROM` clause, so that a cell is read only when something asks for it.

mod access;
mod aggregate;
mod call;
mod change;
mod expression;
mod from;
mod operator;
mod scope;
mod select;
mod subquery;

pub(crate) use access::Access;
pub(crate) use aggregate::{Aggregate, AggregateKind};
pub(crate) use change::{Change, Check, Conflict, Delete, Insert, InsertRows, OnDuplicate, Update};
pub(crate) use scope::{Binder, fold, last, parts};

use std::sync::Arc;

use jiff::Span;

use crate::answer::Column;
use crate::catalog::Table;
use crate::datum::{Datum, Type};
use crate::function::Function;
use crate::system::SystemTable;

/// An expression whose names are resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Constant(Datum),
    Parameter(usize),
    /// A column of a slot: of this query's row, or of the row of a query around it.
    Column {
        depth: usize,
        source: usize,
        column: usize,
    },
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    Compare {
        op: Comparison,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Arithmetic {
        op: Operator,
        left: Box<Expr>,
        right: Box<Expr>,
        ty: Type,
    },
    Negate(Box<Expr>),
    IsNull {
        expr: Box<Expr>,
        negated: bool,
    },
    /// `IS TRUE`, `IS FALSE`, `IS UNKNOWN`.
    IsTruth {
        expr: Box<Expr>,
        truth: Option<bool>,
        negated: bool,
    },
    Distinct {
        left: Box<Expr>,
        right: Box<Expr>,
        negated: bool,
    },
    Between {
        expr: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
        negated: bool,
    },
    InList {
        expr: Box<Expr>,
        list: Vec<Expr>,
        negated: bool,
    },
    Like {
        expr: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<char>,
        insensitive: bool,
        negated: bool,
    },
    /// Whether a text matches a regular expression.
    Matches {
        expr: Box<Expr>,
        pattern: Box<Expr>,
        insensitive: bool,
        negated: bool,
    },
    Case {
        operand: Option<Box<Expr>>,
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Cast(Box<Expr>, crate::types::ColumnType),
    AddSpan {
        time: Box<Expr>,
        span: SpanOf,
        negated: bool,
    },
    Call(&'static Function, Vec<Expr>),
    Subquery(Subquery),
}

/// A span of time; two are equal if they have the same fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpanOf(pub(crate) Span);

impl PartialEq for SpanOf {
    fn eq(&self, other: &Self) -> bool {
        self.0.fieldwise() == other.0.fieldwise()
    }
}

/// A query inside an expression.
#[derive(Clone, Debug)]
pub(crate) struct Subquery {
    pub(crate) kind: SubqueryKind,
    pub(crate) query: Arc<Query>,
    /// The values that are looked for: of `IN`, `ANY` and `ALL`.
    pub(crate) left: Vec<Expr>,
    /// The slots of the query right around it that it uses, as bits.
    pub(crate) direct: u64,
}

impl PartialEq for Subquery {
    fn eq(&self, other: &Self) -> bool {
        self.query.id == other.query.id && self.kind == other.kind
    }
}

/// What becomes of the rows of a subquery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SubqueryKind {
    Scalar,
    Exists { negated: bool },
    In { negated: bool },
    Quantified { op: Comparison, all: bool },
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// The comparison that holds when the sides are swapped.
    pub(crate) fn mirrored(self) -> Self {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            same => same,
        }
    }
}

/// An operator on numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    /// MySQL's `DIV`.
    DivideWhole,
    Modulo,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Power,
}

/// A query.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// Unique in the plan; results of queries that depend on nothing are kept under it.
    pub(crate) id: usize,
    pub(crate) body: Body,
    /// Of set operations and `VALUES`; a `SELECT` sorts by itself.
    pub(crate) order: Vec<SortKey>,
    pub(crate) limit: Option<Expr>,
    pub(crate) offset: Option<Expr>,
    pub(crate) columns: Vec<Column>,
    /// Which slots of queries around it are used: by scope, outermost first.
    pub(crate) uses: Vec<u64>,
    /// `FOR UPDATE`.
    pub(crate) locks: bool,
}

impl Query {
    /// Whether it depends on a row of a query around it.
    pub(crate) fn is_correlated(&self) -> bool {
        self.uses.iter().any(|&mask| mask != 0)
    }
}

/// What makes the rows of a query.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Select(Box<Select>),
    Values(Vec<Vec<Expr>>),
    /// Set operations, from left to right.
    Set {
        first: Box<Query>,
        rest: Vec<(SetOperation, bool, Query)>,
    },
}

/// What two sets of rows become; the flag beside it says whether duplicates stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetOperation {
    Union,
    Intersect,
    Except,
}

/// A `SELECT`.
#[derive(Clone, Debug)]
pub(crate) struct Select {
    pub(crate) sources: Vec<Source>,
    /// Conditions that are the same for all rows; they are tested first.
    pub(crate) guard: Vec<Expr>,
    pub(crate) from: Option<Node>,
    /// Conditions that could not be tested earlier.
    pub(crate) filter: Vec<Expr>,
    pub(crate) group: Option<Group>,
    pub(crate) output: Vec<Expr>,
    pub(crate) distinct: Distinct,
    pub(crate) order: Vec<SortKey>,
}

/// `GROUP BY` and `HAVING`. A group's row has a slot more: its keys, then its aggregates.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) keys: Vec<Expr>,
    pub(crate) aggregates: Vec<Aggregate>,
    pub(crate) having: Option<Expr>,
}

/// Which rows are dropped as duplicates.
#[derive(Clone, Debug)]
pub(crate) enum Distinct {
    None,
    Rows,
    On(Vec<Expr>),
}

/// A column to sort by.
#[derive(Clone, Debug)]
pub(crate) struct SortKey {
    pub(crate) by: SortBy,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

/// What to sort by.
#[derive(Clone, Debug)]
pub(crate) enum SortBy {
    Output(usize),
    Expr(Expr),
}

/// Where the rows of a slot come from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Table(Arc<Table>),
    System(SystemTable),
    Query {
        query: Arc<Query>,
        lateral: bool,
    },
    /// `generate_series(a, b, step)`.
    Series(Vec<Expr>),
}

/// How the slots are filled.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Scan {
        source: usize,
        access: Option<Access>,
        filter: Vec<Expr>,
    },
    Join {
        left: Box<Node>,
        right: Box<Node>,
        kind: JoinKind,
        on: Vec<Expr>,
        equal: Vec<(Expr, Expr)>,
        keyed: bool,
        filled: Vec<usize>,
    },
}

/// What happens to rows that find no partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JoinKind {
    Inner,
    Left,
    Full,
}

/// A statement that reads or writes rows.
#[derive(Clone, Debug)]
pub(crate) enum Plan {
    Query(Box<Query>),
    Change(Box<Change>),
}

impl Plan {
    /// The columns of its answer, if it has rows.
    pub(crate) fn columns(&self) -> Option<&[Column]> {
        match self {
            Plan::Query(query) => Some(&query.columns),
            Plan::Change(change) => change.columns(),
        }
    }
}
