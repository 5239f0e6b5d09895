//! Which rows of a table have to be looked at?
//!
//! A condition that pins the primary key, or the beginning of a composite one, or bounds it, leaves only some keys of the universe to be
//! read. Everything else that is known of a row is known only after reading it.

use super::{Comparison, Expr};
use crate::catalog::Table;

/// More combinations than this are not tried one by one.
const MOST_COMBINATIONS: usize = 4096;

/// The keys of a table that can satisfy the conditions.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// For each of the first columns of the key, the values it may have.
    pub(crate) equals: Vec<Vec<Expr>>,
    /// Bounds of the column after those, and whether they are included.
    pub(crate) lower: Option<(Expr, bool)>,
    pub(crate) upper: Option<(Expr, bool)>,
}

impl Access {
    /// How much better than reading everything it is; larger is better.
    pub(super) fn score(&self, table: &Table) -> usize {
        match self.equals.len() {
            0 => 20,
            pinned if pinned == table.key.len() => 100,
            pinned => 30 + pinned,
        }
    }
}

/// What the conditions say about the key of `table` in slot `source`, when the slots in `available` are filled.
pub(super) fn find_access(table: &Table, source: usize, conditions: &[&Expr], available: u64) -> Option<Access> {
    let mut access = Access { equals: Vec::new(), lower: None, upper: None };
    let mut combinations = 1;
    for &column in &table.key {
        let alternatives = conditions.iter().find_map(|condition| values_of(condition, source, column, available));
        match alternatives {
            Some(values) if combinations * values.len() <= MOST_COMBINATIONS => {
                combinations *= values.len().max(1);
                access.equals.push(values);
            }
            _ => {
                for condition in conditions {
                    add_bounds(condition, source, column, available, &mut access);
                }
                break;
            }
        }
    }
    let useful = !access.equals.is_empty() || access.lower.is_some() || access.upper.is_some();
    useful.then_some(access)
}

fn is_column(expr: &Expr, wanted: (usize, usize)) -> bool {
    matches!(expr, Expr::Column { depth: 0, source, column } if (*source, *column) == wanted)
}

fn is_known(expr: &Expr, available: u64) -> bool {
    sources_of(expr) & !available == 0
}

fn values_of(condition: &Expr, source: usize, column: usize, available: u64) -> Option<Vec<Expr>> {
    let wanted = (source, column);
    match condition {
        Expr::Compare { op: Comparison::Equal, left, right } => {
            if is_column(left, wanted) && is_known(right, available) {
                Some(vec![(**right).clone()])
            } else if is_column(right, wanted) && is_known(left, available) {
                Some(vec![(**left).clone()])
            } else {
                None
            }
        }
        Expr::InList { expr, list, negated: false } if is_column(expr, wanted) => {
            list.iter().all(|entry| is_known(entry, available)).then(|| list.clone())
        }
        // `id = 1 OR id = 2` is a list, too.
        Expr::Or(all) => {
            let each = all.iter().map(|part| values_of(part, source, column, available));
            Some(each.collect::<Option<Vec<_>>>()?.concat())
        }
        _ => None,
    }
}

fn add_bounds(condition: &Expr, source: usize, column: usize, available: u64, access: &mut Access) {
    let wanted = (source, column);
    let mut bound = |op: Comparison, value: &Expr| match op {
        Comparison::Less | Comparison::LessOrEqual => {
            access.upper.get_or_insert((value.clone(), op == Comparison::LessOrEqual));
        }
        Comparison::Greater | Comparison::GreaterOrEqual => {
            access.lower.get_or_insert((value.clone(), op == Comparison::GreaterOrEqual));
        }
        Comparison::Equal | Comparison::NotEqual => {}
    };
    match condition {
        Expr::Compare { op, left, right } if is_column(left, wanted) && is_known(right, available) => bound(*op, right),
        Expr::Compare { op, left, right } if is_column(right, wanted) && is_known(left, available) => {
            bound(op.mirrored(), left);
        }
        Expr::Between { expr, low, high, negated: false }
            if is_column(expr, wanted) && is_known(low, available) && is_known(high, available) =>
        {
            bound(Comparison::GreaterOrEqual, low);
            bound(Comparison::LessOrEqual, high);
        }
        _ => {}
    }
}

/// The slots of this query's row that an expression needs, as bits.
pub(super) fn sources_of(expr: &Expr) -> u64 {
    let mut mask = 0;
    walk(expr, &mut |part| match part {
        Expr::Column { depth: 0, source, .. } => mask |= 1_u64.checked_shl(*source as u32).unwrap_or(1 << 63),
        // The innermost scope around a subquery is the last of those it uses.
        Expr::Subquery(subquery) => mask |= subquery.direct,
        _ => {}
    });
    mask
}

/// The same expression, seen from a query that is `depth` levels deeper.
pub(super) fn deepened(expr: Expr, depth: usize) -> Expr {
    match expr {
        Expr::Column { depth: own, source, column } => Expr::Column { depth: own + depth, source, column },
        Expr::Call(function, arguments) => {
            Expr::Call(function, arguments.into_iter().map(|argument| deepened(argument, depth)).collect())
        }
        other => other,
    }
}

/// Visits an expression and its parts. Subqueries are visited as a whole.
pub(super) fn walk(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    match expr {
        Expr::Constant(_) | Expr::Parameter(_) | Expr::Column { .. } => {}
        Expr::And(all) | Expr::Or(all) | Expr::Call(_, all) => all.iter().for_each(|part| walk(part, visit)),
        Expr::Not(inner) | Expr::Negate(inner) | Expr::Cast(inner, _) => walk(inner, visit),
        Expr::IsNull { expr, .. } | Expr::IsTruth { expr, .. } | Expr::AddSpan { time: expr, .. } => walk(expr, visit),
        Expr::Compare { left, right, .. }
        | Expr::Arithmetic { left, right, .. }
        | Expr::Distinct { left, right, .. } => {
            walk(left, visit);
            walk(right, visit);
        }
        Expr::Between { expr, low, high, .. } => [expr, low, high].into_iter().for_each(|part| walk(part, visit)),
        Expr::InList { expr, list, .. } => {
            walk(expr, visit);
            list.iter().for_each(|part| walk(part, visit));
        }
        Expr::Like { expr, pattern, .. } | Expr::Matches { expr, pattern, .. } => {
            walk(expr, visit);
            walk(pattern, visit);
        }
        Expr::Case { operand, branches, otherwise } => {
            operand.iter().chain(otherwise).for_each(|part| walk(part, visit));
            branches.iter().for_each(|(test, result)| {
                walk(test, visit);
                walk(result, visit);
            });
        }
        Expr::Subquery(subquery) => subquery.left.iter().for_each(|part| walk(part, visit)),
    }
}
