//! Queries inside of expressions.

use std::sync::Arc;

use sqlparser::ast::{self, Expr as E};

use super::operator::{comparison, tuple};
use super::scope::Typed;
use super::{Binder, Comparison, Expr, Query, Subquery, SubqueryKind};
use crate::datum::Type;
use crate::error::{Error, Kind, Result};

impl Binder<'_> {
    fn subquery(&mut self, kind: SubqueryKind, query: Query, left: Vec<Expr>) -> Expr {
        let around = self.scopes.len().checked_sub(1);
        let direct = around.and_then(|around| query.uses.get(around)).copied().unwrap_or(0);
        Expr::Subquery(Subquery { kind, query: Arc::new(query), left, direct })
    }

    pub(super) fn scalar_subquery(&mut self, syntax: &ast::Query) -> Result<Typed> {
        let query = self.query(syntax)?;
        let [column] = query.columns.as_slice() else {
            return Err(Kind::Syntax.error("subquery must return only one column"));
        };
        let ty = column.ty;
        Ok((self.subquery(SubqueryKind::Scalar, query, vec![]), Some(ty)))
    }

    pub(super) fn exists(&mut self, syntax: &ast::Query, negated: bool) -> Result<Typed> {
        let query = self.query(syntax)?;
        Ok((self.subquery(SubqueryKind::Exists { negated }, query, vec![]), Some(Type::Boolean)))
    }

    pub(super) fn in_subquery(&mut self, left: &E, syntax: &ast::Query, negated: bool) -> Result<Typed> {
        let query = self.query(syntax)?;
        let left = self.left_side(left, &query)?;
        Ok((self.subquery(SubqueryKind::In { negated }, query, left), Some(Type::Boolean)))
    }

    fn left_side(&mut self, left: &E, query: &Query) -> Result<Vec<Expr>> {
        let entries = tuple(left).unwrap_or(std::slice::from_ref(left));
        if entries.len() != query.columns.len() {
            return Err(Kind::Syntax.error("subquery has another number of columns than what it is compared with"));
        }
        let mut bound = Vec::new();
        for (entry, column) in entries.iter().zip(&query.columns) {
            let mut typed = self.bind(entry)?;
            self.settle(&mut typed, Some(column.ty))?;
            self.comparable(&typed, &(Expr::Constant(crate::datum::Datum::Null), Some(column.ty)))?;
            bound.push(typed.0);
        }
        Ok(bound)
    }

    /// `left = ANY (SELECT …)`.
    pub(super) fn quantified(&mut self, left: &E, op: &ast::BinaryOperator, right: &E, all: bool) -> Result<Typed> {
        let op = comparison(op).ok_or_else(|| Error::unsupported(format!("the operator {op} with ANY or ALL")))?;
        let mut inner = right;
        while let E::Nested(nested) = inner {
            inner = nested;
        }
        if let E::Array(array) = inner {
            return self.quantified_array(left, op, &array.elem, all);
        }
        let E::Subquery(syntax) = inner else {
            return Err(Error::unsupported("ANY or ALL of something other than a query"));
        };
        let query = self.query(syntax)?;
        let left = self.left_side(left, &query)?;
        Ok((self.subquery(SubqueryKind::Quantified { op, all }, query, left), Some(Type::Boolean)))
    }

    /// `left = ANY (ARRAY[1, 2])`: the same as a comparison with each.
    fn quantified_array(&mut self, left: &E, op: Comparison, elements: &[E], all: bool) -> Result<Typed> {
        let mut comparisons = Vec::new();
        for element in elements {
            comparisons.push(self.compare(left, op, element)?.0);
        }
        let expr = if all { Expr::And(comparisons) } else { Expr::Or(comparisons) };
        Ok((expr, Some(Type::Boolean)))
    }
}
