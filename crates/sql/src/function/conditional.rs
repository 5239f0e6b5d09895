//! Functions that choose among their arguments.

use super::{Function, MANY, Nulls, Ty, at, function};
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::order::{compare, order};
use crate::run::Run;

pub(super) const FUNCTIONS: &[Function] = &[
    function("coalesce", (1, MANY), Ty::Common, None, Nulls::Skip, |_, _| Ok(Datum::Null)),
    function("ifnull", (2, 2), Ty::Common, None, Nulls::Skip, |_, _| Ok(Datum::Null)),
    function("nullif", (2, 2), Ty::Common, None, Nulls::Seen, |_, arguments| {
        let same = compare(at(&arguments, 0), at(&arguments, 1)).is_some_and(std::cmp::Ordering::is_eq);
        Ok(if same { Datum::Null } else { at(&arguments, 0).clone() })
    }),
    function("greatest", (1, MANY), Ty::Common, None, Nulls::Seen, |run, arguments| Ok(extreme(run, arguments, true))),
    function("least", (1, MANY), Ty::Common, None, Nulls::Seen, |run, arguments| Ok(extreme(run, arguments, false))),
    function("isnull", (1, 1), Ty::Is(Type::Boolean), None, Nulls::Seen, |_, arguments| {
        Ok(Datum::Boolean(at(&arguments, 0).is_null()))
    }),
];

/// PostgreSQL looks at what is not `NULL`; in MySQL one `NULL` is enough.
fn extreme(run: &Run<'_>, arguments: Vec<Datum>, greatest: bool) -> Datum {
    if run.dialect == Dialect::MySql && arguments.iter().any(Datum::is_null) {
        return Datum::Null;
    }
    let known = arguments.into_iter().filter(|value| !value.is_null());
    let found = if greatest { known.max_by(order) } else { known.min_by(order) };
    found.unwrap_or(Datum::Null)
}
