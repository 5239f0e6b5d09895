//! Functions: what they are called, what types they have, what they do.

mod conditional;
mod math;
mod server;
mod text;
mod time;

use crate::datum::{Datum, Type};
use crate::error::Result;
use crate::run::Run;

/// A function of SQL.
#[derive(Debug)]
pub(crate) struct Function {
    name: &'static str,
    /// How many arguments it takes, at least and at most.
    arity: (usize, usize),
    ty: Ty,
    /// The type that a parameter or an unadorned text has as an argument.
    argument: Option<Type>,
    nulls: Nulls,
    body: fn(&mut Run<'_>, Vec<Datum>) -> Result<Datum>,
}

/// The type of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ty {
    Is(Type),
    /// That of the arguments, which all become one.
    Common,
    /// That of the first argument.
    First,
    /// That of the first argument if that is a number, and floating point otherwise.
    Number,
}

/// What `NULL` does among the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nulls {
    /// The result is `NULL`.
    Spread,
    /// The first argument that is not `NULL` is the result, and the others are not evaluated.
    Skip,
    /// The function sees it.
    Seen,
}

/// Two calls are the same if they are of the same name.
impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && !self.is_volatile()
    }
}

/// More than any function takes.
const MANY: usize = usize::MAX;

/// The function of a name that takes so many arguments.
pub(crate) fn find(name: &str, arguments: usize) -> Option<&'static Function> {
    let all = [conditional::FUNCTIONS, math::FUNCTIONS, server::FUNCTIONS, text::FUNCTIONS, time::FUNCTIONS];
    let fits =
        |function: &&Function| function.name == name && (function.arity.0..=function.arity.1).contains(&arguments);
    all.into_iter().flatten().find(fits)
}

impl Function {
    /// Whether its value may be another one each time.
    pub(crate) fn is_volatile(&self) -> bool {
        matches!(self.name, "random" | "rand" | "nextval" | "setval" | "isonomy_settle" | "gen_random_uuid" | "uuid")
    }

    /// Whether its arguments become one type.
    pub(crate) fn unifies(&self) -> bool {
        self.ty == Ty::Common
    }

    /// What is known of the type of an argument.
    pub(crate) fn argument(&self, _: usize) -> Option<Type> {
        self.argument
    }

    /// The type of its value.
    pub(crate) fn result(&self, arguments: &[Option<Type>]) -> Option<Type> {
        match self.ty {
            Ty::Is(ty) => Some(ty),
            Ty::Common => arguments.iter().flatten().next().copied(),
            Ty::First => arguments.first().copied().flatten(),
            Ty::Number => match arguments.first().copied().flatten() {
                Some(ty) if ty.is_number() => Some(ty),
                _ => Some(Type::Double),
            },
        }
    }

    /// Whether an argument decides, so that the others need not be evaluated.
    pub(crate) fn stops_at(&self, argument: &Datum) -> bool {
        match self.nulls {
            Nulls::Spread => argument.is_null(),
            Nulls::Skip => !argument.is_null(),
            Nulls::Seen => false,
        }
    }

    /// Calls it.
    pub(crate) fn call(&self, arguments: Vec<Datum>, run: &mut Run<'_>) -> Result<Datum> {
        (self.body)(run, arguments)
    }
}

const fn function(
    name: &'static str,
    arity: (usize, usize),
    ty: Ty,
    argument: Option<Type>,
    nulls: Nulls,
    body: fn(&mut Run<'_>, Vec<Datum>) -> Result<Datum>,
) -> Function {
    Function { name, arity, ty, argument, nulls, body }
}

/// An argument that may be missing.
fn at(arguments: &[Datum], index: usize) -> &Datum {
    arguments.get(index).unwrap_or(&Datum::Null)
}

fn integer(run: &Run<'_>, value: &Datum) -> Result<i64> {
    match crate::cast::cast(value.clone(), Type::BigInt, run.dialect)? {
        Datum::Integer(value) => Ok(value),
        _ => Ok(0),
    }
}

fn words(run: &Run<'_>, value: &Datum) -> String {
    match value {
        Datum::Null => String::new(),
        Datum::Boolean(_) if run.dialect == crate::engine::Dialect::PostgreSql => value.text(run.dialect),
        Datum::Boolean(_) | Datum::Bytes(_) => value.text(run.dialect),
        other => other.to_string(),
    }
}
