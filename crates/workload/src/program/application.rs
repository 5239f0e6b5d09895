//! Applications: the transaction types of well-known benchmarks, each with its weight, over tables of rows.
//!
//! A row is a key, so each table has a range of keys of its own; rows that are inserted get keys that nobody has used. Rows that
//! nobody has written are in their initial state: nothing is loaded first. Where a benchmark follows a reference from one row to
//! another, its generator remembers what the rows it has drawn so far refer to.

mod bank;
mod rubis;
mod script;
mod smallbank;
mod tables;
mod tpcc;
mod twitter;
mod voter;
mod wikipedia;

use super::Operation;
use super::source::Source;
use script::Script;
use tables::Tables;

/// What a benchmark is made of.
trait Benchmark: Sized + 'static {
    /// Its transaction types.
    const MIX: &'static [Transaction<Self>];

    /// Whether it inserts or deletes rows.
    const HAS_ROWS: bool = true;

    /// The smallest scale.
    const LEAST_SCALE: u64 = 1;

    /// Lays out its tables.
    fn new(tables: &mut Tables, scale: u64) -> Self;
}

/// A transaction type.
struct Transaction<B> {
    name: &'static str,
    /// How often it occurs, relative to the others.
    weight: u32,
    /// Draws a program. It may turn out empty, if there is nothing to do.
    draw: fn(&mut B, &mut Script<'_>),
}

const fn transaction<B>(name: &'static str, weight: u32, draw: fn(&mut B, &mut Script<'_>)) -> Transaction<B> {
    Transaction { name, weight, draw }
}

macro_rules! applications {
    ($($(#[$doc:meta])* $variant:ident $name:literal $benchmark:ty,)*) => {
        /// An application whose transactions are drawn. The first sentence of each says what its scale counts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Application {
            $($(#[$doc])* $variant,)*
        }

        impl Application {
            /// All of them.
            pub const ALL: &'static [Application] = &[$(Application::$variant),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Application::$variant => $name),* }
            }

            /// Its transaction types, and how often each occurs, relative to the others.
            pub fn mix(self) -> Vec<(&'static str, u32)> {
                match self { $(Application::$variant => names::<$benchmark>()),* }
            }

            /// Whether it inserts or deletes rows.
            pub fn has_rows(self) -> bool {
                match self { $(Application::$variant => <$benchmark>::HAS_ROWS),* }
            }

            /// The smallest scale that it can have.
            pub fn least_scale(self) -> u64 {
                match self { $(Application::$variant => <$benchmark>::LEAST_SCALE),* }
            }

            /// Makes it ready, and tells how many rows its tables have.
            pub(super) fn start(self, scale: u64) -> (Running, u64) {
                let mut tables = Tables::default();
                let running = match self {
                    $(Application::$variant => State::$variant(Box::new(<$benchmark>::new(&mut tables, scale)))),*
                };
                (Running(running), tables.rows())
            }
        }

        #[derive(Clone, Debug)]
        enum State {
            $($variant(Box<$benchmark>),)*
        }

        impl Running {
            /// Draws a program, and tells its transaction type.
            pub(super) fn draw(&mut self, source: &mut Source, program: &mut Vec<Operation>) -> &'static str {
                match &mut self.0 { $(State::$variant(benchmark) => draw(&mut **benchmark, source, program)),* }
            }
        }
    };
}

applications! {
    /// Accounts. Transfers between two, and audits that read them all.
    Bank "bank" bank::Bank,
    /// Customers. SmallBank: each has a savings and a checking account.
    SmallBank "smallbank" smallbank::SmallBank,
    /// Warehouses. TPC-C: orders of a wholesale supplier.
    TpcC "tpcc" tpcc::TpcC,
    /// Users, each with ten items. RUBiS: an auction site.
    Rubis "rubis" rubis::Rubis,
    /// Users. Twitter: tweets, followers and timelines.
    Twitter "twitter" twitter::Twitter,
    /// Telephones. Voter: votes for the contestants of a show.
    Voter "voter" voter::Voter,
    /// Pages, with two users each. Wikipedia: pages are read, edited and watched.
    Wikipedia "wikipedia" wikipedia::Wikipedia,
}

/// An application with what it remembers.
#[derive(Clone, Debug)]
pub(super) struct Running(State);

fn names<B: Benchmark>() -> Vec<(&'static str, u32)> {
    B::MIX.iter().map(|kind| (kind.name, kind.weight)).collect()
}

fn draw<B: Benchmark>(benchmark: &mut B, source: &mut Source, program: &mut Vec<Operation>) -> &'static str {
    loop {
        let kind = &B::MIX[source.choose(B::MIX.iter().map(|kind| kind.weight))];
        (kind.draw)(benchmark, &mut Script::new(source, program));
        // One that has nothing to do, such as a delivery without orders, makes room for another.
        if !program.is_empty() {
            return kind.name;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::distribution::Distribution;

    const DRAWS: u32 = 20_000;

    /// Draws programs and hands each on with its type.
    fn each(application: Application, scale: u64, mut take: impl FnMut(&'static str, &[Operation])) -> u64 {
        let (mut running, rows) = application.start(scale);
        let keys = Distribution::ZIPFIAN.over(scale).expect("the distribution is one");
        let mut source = Source::new(3, keys, rows);
        let mut program = Vec::new();
        for _ in 0..DRAWS {
            program.clear();
            let name = running.draw(&mut source, &mut program);
            take(name, &program);
        }
        rows
    }

    #[test]
    fn types_occur_as_often_as_they_weigh() {
        for &application in Application::ALL {
            let mut seen = BTreeMap::new();
            each(application, 5, |name, _| *seen.entry(name).or_insert(0) += 1);
            let mix = application.mix();
            let total: u32 = mix.iter().map(|kind| kind.1).sum();
            for (name, weight) in mix {
                let expected = f64::from(DRAWS) * f64::from(weight) / f64::from(total);
                let found = f64::from(seen.get(name).copied().unwrap_or(0));
                // Five standard deviations, and the few that had nothing to do.
                let off = 5.0 * expected.sqrt() + 0.002 * f64::from(DRAWS);
                assert!((found - expected).abs() < off, "{name} of {}: {found}, not {expected}", application.name());
            }
        }
    }

    #[test]
    fn rows_are_of_the_tables_or_were_inserted_once() {
        for &application in Application::ALL {
            for scale in [application.least_scale(), 7] {
                let rows = application.start(scale).1;
                let mut inserted = BTreeSet::new();
                let mut used = BTreeSet::new();
                each(application, scale, |name, program| {
                    for operation in program {
                        let key = operation.key().expect("applications read no ranges");
                        if matches!(operation, Operation::Insert(_)) {
                            assert!(key >= rows && inserted.insert(key), "{name} inserts {key} of {rows}");
                            assert!(application.has_rows());
                        } else {
                            assert!(key < rows || inserted.contains(&key), "{name} touches {key} of {rows}");
                        }
                        used.insert(key);
                    }
                });
                assert!(used.len() as u64 >= scale, "{}", application.name());
            }
        }
    }
}
