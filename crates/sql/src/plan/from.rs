//! `FROM` and `WHERE`: in which order are the tables visited, and where is each condition tested?
//!
//! Conditions are tested as soon as the slots they need are filled. Tables of inner joins are visited in the order that lets most of them be
//! found by their keys: first one whose key is pinned by constants, then one whose key the rows so far give, and so on; where nothing is
//! gained, in the order of the text.

use std::sync::Arc;

use sqlparser::ast::{self, JoinConstraint, JoinOperator, TableFactor, TableWithJoins};

use super::access::{find_access, sources_of};
use super::scope::{Named, fold, last, parts};
use super::{Binder, Comparison, Expr, JoinKind, Node, Query, Source};
use crate::datum::Type;
use crate::error::{Error, Kind, Result};
use crate::system::SystemTable;

/// Bits of a word stand for tables; MySQL has a similar limit.
const MOST_TABLES: usize = 60;

/// The `FROM` clause as it was written.
pub(super) enum Raw {
    Leaf(usize),
    Join { left: Box<Raw>, right: Box<Raw>, kind: JoinKind, on: Vec<Expr> },
}

impl Raw {
    fn mask(&self) -> u64 {
        match self {
            Raw::Leaf(source) => 1 << source,
            Raw::Join { left, right, .. } => left.mask() | right.mask(),
        }
    }
}

impl Binder<'_> {
    /// Binds the tables of a `FROM` clause into the current scope.
    pub(super) fn from(&mut self, tables: &[TableWithJoins], sources: &mut Vec<Source>) -> Result<Option<Raw>> {
        let mut whole: Option<Raw> = None;
        for table in tables {
            let raw = self.joined(table, sources)?;
            whole = Some(match whole {
                None => raw,
                Some(left) => {
                    Raw::Join { left: Box::new(left), right: Box::new(raw), kind: JoinKind::Inner, on: vec![] }
                }
            });
        }
        Ok(whole)
    }

    fn joined(&mut self, table: &TableWithJoins, sources: &mut Vec<Source>) -> Result<Raw> {
        let start = sources.len();
        let mut raw = self.factor(&table.relation, sources)?;
        for join in &table.joins {
            let middle = sources.len();
            let right = self.factor(&join.relation, sources)?;
            use JoinOperator as J;
            let (constraint, kind, swapped) = match &join.join_operator {
                J::Join(constraint) | J::Inner(constraint) | J::CrossJoin(constraint) | J::StraightJoin(constraint) => {
                    (constraint, JoinKind::Inner, false)
                }
                J::Left(constraint) | J::LeftOuter(constraint) => (constraint, JoinKind::Left, false),
                J::Right(constraint) | J::RightOuter(constraint) => (constraint, JoinKind::Left, true),
                J::FullOuter(constraint) => (constraint, JoinKind::Full, false),
                _ => return Err(Error::unsupported(format!("the join {join}"))),
            };
            let on = self.constraint(constraint, kind, swapped, start, middle)?;
            // A right join is a left join seen from the other side; slots keep their places.
            let (left, right) = if swapped { (right, raw) } else { (raw, right) };
            raw = Raw::Join { left: Box::new(left), right: Box::new(right), kind, on };
        }
        Ok(raw)
    }

    fn constraint(
        &mut self,
        constraint: &JoinConstraint,
        kind: JoinKind,
        swapped: bool,
        start: usize,
        middle: usize,
    ) -> Result<Vec<Expr>> {
        let names: Vec<String> = match constraint {
            JoinConstraint::None => return Ok(vec![]),
            JoinConstraint::On(condition) => return Ok(conjuncts(self.bind_condition(condition)?)),
            JoinConstraint::Using(columns) => columns.iter().map(last).collect::<Result<_>>()?,
            JoinConstraint::Natural => {
                let scope = self.scope();
                let left: Vec<&str> = scope.sources[start..middle].iter().flat_map(column_names).collect();
                let right = scope.sources[middle..].iter().flat_map(column_names);
                right.filter(|name| left.contains(name)).map(str::to_owned).collect()
            }
        };
        let mut on = Vec::new();
        for name in names {
            let left = self.find_between(&name, start, middle)?;
            let right = self.find_between(&name, middle, usize::MAX)?;
            let ty = super::operator::wider(left.1, right.1);
            on.push(Expr::Compare {
                op: Comparison::Equal,
                left: Box::new(left.0.clone()),
                right: Box::new(right.0.clone()),
            });
            let merged = match (kind, swapped) {
                (JoinKind::Full, _) => self.call_bound("coalesce", vec![left, right])?,
                (_, true) => right,
                (_, false) => left,
            };
            let scope = self.scope();
            scope.merged.retain(|(known, _)| *known != name);
            scope.merged.push((name, (merged.0, ty)));
        }
        Ok(on)
    }

    /// A column of some of the sources, for `USING`.
    fn find_between(&mut self, name: &str, start: usize, end: usize) -> Result<super::scope::Typed> {
        let scope = self.scope();
        if start < end
            && end != usize::MAX
            && let Some((_, typed)) = scope.merged.iter().find(|(known, _)| known == name)
        {
            return Ok(typed.clone());
        }
        let end = end.min(scope.sources.len());
        let mut found = Vec::new();
        for source in start..end {
            for (column, (known, ty)) in scope.sources[source].columns.iter().enumerate() {
                if known == name {
                    found.push((Expr::Column { depth: 0, source, column }, Some(*ty)));
                }
            }
        }
        match found.len() {
            0 => {
                Err(Kind::UndefinedColumn.error(format!("column \"{name}\" specified in USING clause does not exist")))
            }
            1 => Ok(found.remove(0)),
            _ => Err(Kind::AmbiguousColumn.error(format!("common column name \"{name}\" appears more than once"))),
        }
    }

    fn factor(&mut self, factor: &TableFactor, sources: &mut Vec<Source>) -> Result<Raw> {
        match factor {
            TableFactor::Table { name, alias, args, .. } => match args {
                None => self.table(name, alias.as_ref(), sources),
                Some(args) => self.series(name, &args.args, alias.as_ref(), sources),
            },
            TableFactor::Function { name, args, alias, .. } => self.series(name, args, alias.as_ref(), sources),
            TableFactor::Derived { lateral, subquery, alias, .. } => {
                let query = if *lateral { self.query(subquery)? } else { self.query_beside(subquery)? };
                let name = alias.as_ref().map_or_else(|| format!("?{}", sources.len()), |alias| fold(&alias.name));
                let columns = query.columns.iter().map(|column| (column.name.clone(), column.ty)).collect();
                let source = Source::Query { query: Arc::new(query), lateral: *lateral };
                self.add_source(source, name, columns, vec![], alias.as_ref(), sources)
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => self.joined(table_with_joins, sources),
            other => Err(Error::unsupported(format!("the table {}", crate::parse::shorten(&other.to_string())))),
        }
    }

    fn table(
        &mut self,
        name: &ast::ObjectName,
        alias: Option<&ast::TableAlias>,
        sources: &mut Vec<Source>,
    ) -> Result<Raw> {
        let path = parts(name)?;
        let bare = path.last().cloned().unwrap_or_default();
        let label = alias.map_or_else(|| bare.clone(), |alias| fold(&alias.name));
        if path.len() == 1
            && let Some(query) = self.cte(&bare).cloned()
        {
            let columns = query.columns.iter().map(|column| (column.name.clone(), column.ty)).collect();
            return self.add_source(Source::Query { query, lateral: false }, label, columns, vec![], alias, sources);
        }
        if let Some(table) = self.catalog.table(&bare).filter(|_| !is_system_path(&path)).cloned() {
            let columns = table.columns.iter().map(|column| (column.name.clone(), column.spec.ty)).collect();
            let key = table.key.clone();
            return self.add_source(Source::Table(table), label, columns, key, alias, sources);
        }
        let Some(system) = SystemTable::find(&path) else {
            return Err(Kind::UndefinedTable.error(format!("relation \"{}\" does not exist", path.join("."))));
        };
        let columns = system.columns();
        self.add_source(Source::System(system), label, columns, vec![], alias, sources)
    }

    fn series(
        &mut self,
        name: &ast::ObjectName,
        arguments: &[ast::FunctionArg],
        alias: Option<&ast::TableAlias>,
        sources: &mut Vec<Source>,
    ) -> Result<Raw> {
        let function = last(name)?;
        if function != "generate_series" || !(2..=3).contains(&arguments.len()) {
            return Err(Error::unsupported(format!("the table function {function}")));
        }
        let mut bounds = Vec::new();
        for argument in arguments {
            let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) = argument else {
                return Err(Error::unsupported(format!("the argument {argument}")));
            };
            let mut typed = self.bind(expr)?;
            self.settle(&mut typed, Some(Type::BigInt))?;
            bounds.push(typed.0);
        }
        let label = alias.map_or(function, |alias| fold(&alias.name));
        let columns = vec![(label.clone(), Type::BigInt)];
        self.add_source(Source::Series(bounds), label, columns, vec![], alias, sources)
    }

    fn add_source(
        &mut self,
        source: Source,
        name: String,
        mut columns: Vec<(String, Type)>,
        key: Vec<usize>,
        alias: Option<&ast::TableAlias>,
        sources: &mut Vec<Source>,
    ) -> Result<Raw> {
        for (column, renamed) in columns.iter_mut().zip(alias.iter().flat_map(|alias| &alias.columns)) {
            column.0 = fold(&renamed.name);
        }
        let scope = self.scope();
        if scope.sources.iter().any(|known| known.name == name) {
            return Err(Kind::DuplicateAlias.error(format!("table name \"{name}\" specified more than once")));
        }
        if scope.sources.len() >= MOST_TABLES {
            return Err(Kind::TooComplex.error(format!("more than {MOST_TABLES} tables in one FROM clause")));
        }
        debug_assert_eq!(scope.sources.len(), sources.len(), "a slot has a name");
        scope.sources.push(Named { name, columns, key, qualified_only: false });
        sources.push(source);
        Ok(Raw::Leaf(sources.len() - 1))
    }

    /// A query that does not see the tables beside it.
    fn query_beside(&mut self, syntax: &ast::Query) -> Result<Query> {
        let own = self.scopes.pop();
        // Common table expressions of this query stay in sight.
        let mut window = super::scope::Scope::default();
        window.ctes.clone_from(&own.as_ref().map(|scope| scope.ctes.clone()).unwrap_or_default());
        self.scopes.push(window);
        let query = self.query(syntax);
        self.scopes.pop();
        if let Some(mut own) = own {
            if let Ok(query) = &query {
                own.uses.resize(own.uses.len().max(query.uses.len()), 0);
                query.uses.iter().zip(&mut own.uses).for_each(|(&more, mask)| *mask |= more);
            }
            self.scopes.push(own);
        }
        query
    }
}

fn is_system_path(path: &[String]) -> bool {
    matches!(path, [schema, _] if schema == "pg_catalog" || schema == "information_schema")
}

fn column_names(named: &Named) -> impl Iterator<Item = &str> {
    named.columns.iter().map(|(name, _)| name.as_str())
}

/// The parts of a condition that must all hold.
pub(super) fn conjuncts(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::And(all) => all.into_iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

/// Decides how the slots are filled. Conditions that cannot be tested on the way are returned.
pub(super) fn place(raw: Raw, conditions: Vec<Expr>, sources: &[Source]) -> (Node, Vec<Expr>) {
    match raw {
        Raw::Leaf(source) => (scan(source, conditions, 0, sources), vec![]),
        Raw::Join { kind: JoinKind::Inner, .. } => {
            let mut items = Vec::new();
            let mut pool = conditions;
            flatten(raw, &mut items, &mut pool);
            place_inner(items, pool, sources)
        }
        Raw::Join { left, right, kind: JoinKind::Left, on } => {
            let (left_mask, right_mask) = (left.mask(), right.mask());
            let (early, late) = split(conditions, left_mask);
            let (inside, on) = split(on, right_mask);
            let (left, mut rest) = place(*left, early, sources);
            rest.extend(late);
            (join(left, left_mask, *right, JoinKind::Left, inside, on, sources), rest)
        }
        Raw::Join { left, right, kind: JoinKind::Full, on } => {
            let left_mask = left.mask();
            let (left, left_rest) = place(*left, vec![], sources);
            debug_assert!(left_rest.is_empty(), "nothing was given, nothing is left");
            (join(left, left_mask, *right, JoinKind::Full, vec![], on, sources), conditions)
        }
    }
}

fn flatten(raw: Raw, items: &mut Vec<Raw>, pool: &mut Vec<Expr>) {
    match raw {
        Raw::Join { left, right, kind: JoinKind::Inner, on } => {
            flatten(*left, items, pool);
            flatten(*right, items, pool);
            pool.extend(on);
        }
        other => items.push(other),
    }
}

fn split(conditions: Vec<Expr>, mask: u64) -> (Vec<Expr>, Vec<Expr>) {
    conditions.into_iter().partition(|condition| sources_of(condition) & !mask == 0)
}

fn place_inner(mut items: Vec<Raw>, mut pool: Vec<Expr>, sources: &[Source]) -> (Node, Vec<Expr>) {
    let mut available = 0;
    let mut whole: Option<Node> = None;
    let mut rest = Vec::new();
    while !items.is_empty() {
        let scores = items.iter().map(|item| score(item, &pool, available, sources));
        // The first of the best, so that the order of the text decides between equals.
        let best =
            scores.enumerate().max_by_key(|&(index, score)| (score, usize::MAX - index)).map_or(0, |(index, _)| index);
        let item = items.remove(best);
        let mask = item.mask();
        let (inside, others) = split(std::mem::take(&mut pool), mask);
        let (on, others) = split(others, mask | available);
        pool = others;
        whole = Some(match whole {
            None => {
                let (node, leftover) = place(item, inside, sources);
                rest.extend(leftover);
                node
            }
            Some(left) => {
                let is_leaf = matches!(item, Raw::Leaf(_));
                let (inside, beside) = if is_leaf { (inside, vec![]) } else { (vec![], inside) };
                let on = on.into_iter().chain(beside).collect();
                join(left, available, item, JoinKind::Inner, inside, on, sources)
            }
        });
        available |= mask;
    }
    rest.extend(pool);
    match whole {
        Some(node) => (node, rest),
        None => unreachable!("an inner join has two sides"),
    }
}

fn score(item: &Raw, pool: &[Expr], available: u64, sources: &[Source]) -> usize {
    let Raw::Leaf(source) = item else { return 1 };
    match &sources[*source] {
        Source::Table(table) => {
            let applicable: Vec<&Expr> =
                pool.iter().filter(|condition| sources_of(condition) & !(available | 1 << source) == 0).collect();
            let access = find_access(table, *source, &applicable, available);
            let joined = applicable.iter().any(|condition| sources_of(condition) & available != 0);
            access.map_or(if joined { 10 } else { 1 }, |access| access.score(table))
        }
        // What is beside it may be needed first.
        Source::Query { lateral: true, .. } | Source::Series(_) if available == 0 => 0,
        _ => 1,
    }
}

fn scan(source: usize, filter: Vec<Expr>, available: u64, sources: &[Source]) -> Node {
    let access = match &sources[source] {
        Source::Table(table) => find_access(table, source, &filter.iter().collect::<Vec<_>>(), available),
        _ => None,
    };
    Node::Scan { source, access, filter }
}

fn join(
    left: Node,
    left_mask: u64,
    right: Raw,
    kind: JoinKind,
    inside: Vec<Expr>,
    mut on: Vec<Expr>,
    sources: &[Source],
) -> Node {
    let right_mask = right.mask();
    let filled = (0..u64::BITS as usize).filter(|slot| right_mask & (1 << slot) != 0).collect();
    let lateral = |source: usize| matches!(sources[source], Source::Query { lateral: true, .. } | Source::Series(_));
    if let Raw::Leaf(source) = right
        && kind != JoinKind::Full
    {
        let mut all = inside.clone();
        all.extend(on.iter().cloned());
        let keyed = match &sources[source] {
            Source::Table(table) => find_access(table, source, &all.iter().collect::<Vec<_>>(), left_mask),
            _ => None,
        };
        if let Some(access) = keyed {
            // The key may come from the row on the left, so the scan is made anew for each.
            let right = Box::new(Node::Scan { source, access: Some(access), filter: inside });
            return Node::Join { left: Box::new(left), right, kind, on, equal: vec![], keyed: true, filled };
        }
        if lateral(source) {
            let right = Box::new(Node::Scan { source, access: None, filter: inside });
            return Node::Join { left: Box::new(left), right, kind, on, equal: vec![], keyed: true, filled };
        }
    }
    let (right, leftover) = place(right, inside, sources);
    on.extend(leftover);
    let equal = on.iter().filter_map(|condition| equality(condition, left_mask, right_mask)).collect();
    Node::Join { left: Box::new(left), right: Box::new(right), kind, on, equal, keyed: false, filled }
}

/// The sides of `left = right`, if one is known on the left and the other on the right.
fn equality(condition: &Expr, left_mask: u64, right_mask: u64) -> Option<(Expr, Expr)> {
    let Expr::Compare { op: Comparison::Equal, left, right } = condition else { return None };
    let (a, b) = (sources_of(left), sources_of(right));
    let inside = |mask: u64, of: u64| mask != 0 && mask & !of == 0;
    if inside(a, left_mask) && inside(b, right_mask) {
        Some(((**left).clone(), (**right).clone()))
    } else if inside(b, left_mask) && inside(a, right_mask) {
        Some(((**right).clone(), (**left).clone()))
    } else {
        None
    }
}
