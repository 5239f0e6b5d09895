//! Named workloads: those of the papers, and those on which we measured other tools.

use std::fmt;
use std::str::FromStr;

use crate::distribution::Distribution;
use crate::generate::{HistorySpec, TimeDetail};
use crate::program::{Application, Length, MiniMix, RangeMix, Shape, Workload};
use crate::simulate::StoreLevel;

/// A named workload, with its sessions and transactions. All are at snapshot isolation with seed 0 until told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// 15 events, half of them reads, 10,000 zipfian keys, each read and written at most once (our comparison).
    A,
    /// As `a`, 95 % reads.
    B,
    /// As `a`, 100 uniform keys.
    C,
    /// Mini-transactions on 1,000 zipfian keys, each read and written at most once.
    D,
    /// PolySI's default: 20 sessions of 100 transactions of 15 events, 10,000 zipfian keys.
    PolySi,
    /// PolySI's GeneralRH: 25 sessions of 400 transactions of 8 events, 95 % reads.
    GeneralRh,
    /// GeneralRW: 50 % reads.
    GeneralRw,
    /// GeneralWH: 30 % reads.
    GeneralWh,
    /// C4's default: 25 sessions of 200 transactions of 20 events, 10,000 uniform keys.
    C4,
    /// MTC: mini-transactions of all shapes.
    Mini,
    /// MTC's general transactions, Cobra's mix: read-only, write-only and read-modify-write.
    Cobra,
    /// Viper's BlindW-RM: 90 % read-only and 10 % write-only transactions of 8 events, 2,000 keys.
    BlindRm,
    /// Viper's BlindW-RW: half read-only, half write-only.
    BlindRw,
    /// Elle's list-append: ten lists at a time, 32 appends each.
    ListAppend,
    /// Elle's rw-register: ten registers at a time, 32 writes each.
    RwRegister,
    /// Single reads, writes and compare-and-sets of ten registers.
    CasRegister,
    /// Viper's Range-B: reads, writes, inserts, deletes and ranges, 20 % each.
    RangeB,
    /// Viper's Range-RQH: 50 % ranges.
    RangeRqh,
    /// Viper's Range-IDH: 35 % inserts, 35 % deletes.
    RangeIdh,
    /// Bank transfers and audits: eight accounts.
    Bank,
    /// SmallBank: 18,000 customers, of whom 1,000 are hot.
    SmallBank,
    /// TPC-C: one warehouse.
    TpcC,
    /// RUBiS: 20,000 users and 200,000 items.
    Rubis,
    /// Twitter: 1,000 users.
    Twitter,
    /// Voter: 10,000 telephones.
    Voter,
    /// Wikipedia: 1,000 pages and 2,000 users.
    Wikipedia,
}

use Preset as P;

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 26] = [
        P::A,
        P::B,
        P::C,
        P::D,
        P::PolySi,
        P::GeneralRh,
        P::GeneralRw,
        P::GeneralWh,
        P::C4,
        P::Mini,
        P::Cobra,
        P::BlindRm,
        P::BlindRw,
        P::ListAppend,
        P::RwRegister,
        P::CasRegister,
        P::RangeB,
        P::RangeRqh,
        P::RangeIdh,
        P::Bank,
        P::SmallBank,
        P::TpcC,
        P::Rubis,
        P::Twitter,
        P::Voter,
        P::Wikipedia,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            P::A => "a",
            P::B => "b",
            P::C => "c",
            P::D => "d",
            P::PolySi => "polysi",
            P::GeneralRh => "general-rh",
            P::GeneralRw => "general-rw",
            P::GeneralWh => "general-wh",
            P::C4 => "c4",
            P::Mini => "mini",
            P::Cobra => "cobra",
            P::BlindRm => "blindw-rm",
            P::BlindRw => "blindw-rw",
            P::ListAppend => "list-append",
            P::RwRegister => "rw-register",
            P::CasRegister => "cas-register",
            P::RangeB => "range-b",
            P::RangeRqh => "range-rqh",
            P::RangeIdh => "range-idh",
            P::Bank => "bank",
            P::SmallBank => "smallbank",
            P::TpcC => "tpcc",
            P::Rubis => "rubis",
            P::Twitter => "twitter",
            P::Voter => "voter",
            P::Wikipedia => "wikipedia",
        }
    }

    /// What it is, in a few words.
    pub fn description(self) -> &'static str {
        match self {
            P::A => "15 events, 50 % reads, 10,000 zipfian keys, each read and written at most once",
            P::B => "as a, 95 % reads",
            P::C => "as a, 100 uniform keys",
            P::D => "mini-transactions on 1,000 zipfian keys, each read and written at most once",
            P::PolySi => "PolySI's default: 20 sessions x 100 transactions x 15 events, 10,000 zipfian keys",
            P::GeneralRh => "PolySI's GeneralRH: 25 sessions x 400 transactions x 8 events, 95 % reads",
            P::GeneralRw => "PolySI's GeneralRW: as general-rh, 50 % reads",
            P::GeneralWh => "PolySI's GeneralWH: as general-rh, 30 % reads",
            P::C4 => "C4's default: 25 sessions x 200 transactions x 20 events, 10,000 uniform keys",
            P::Mini => "mini-transactions of all twenty shapes on 1,000 uniform keys",
            P::Cobra => "20 % read-only, 40 % write-only, 40 % read-modify-write transactions of 20 events",
            P::BlindRm => "Viper's BlindW-RM: 90 % read-only, 10 % write-only transactions of 8 events",
            P::BlindRw => "Viper's BlindW-RW: 50 % read-only, 50 % write-only transactions of 8 events",
            P::ListAppend => "Elle's list-append: 1 to 4 events, ten lists at a time, 32 appends each",
            P::RwRegister => "Elle's rw-register: 1 to 4 events, ten registers at a time, 32 writes each",
            P::CasRegister => "one read, write or compare-and-set of one of ten registers",
            P::RangeB => "Viper's Range-B: 8 reads, writes, inserts, deletes or ranges, 20 % each",
            P::RangeRqh => "Viper's Range-RQH: as range-b, 50 % ranges",
            P::RangeIdh => "Viper's Range-IDH: as range-b, 35 % inserts and 35 % deletes",
            P::Bank => "transfers between two of eight accounts, and audits that read them all",
            P::SmallBank => "SmallBank: savings and checking accounts of 18,000 customers, 1,000 of them hot",
            P::TpcC => "TPC-C: orders, payments and deliveries of one warehouse",
            P::Rubis => "RUBiS as in Cobra: an auction site with 20,000 users and 200,000 items",
            P::Twitter => "Twitter as in Cobra: 1,000 users tweet, follow and read timelines",
            P::Voter => "Voter: votes for six contestants from 10,000 telephones",
            P::Wikipedia => "Wikipedia: 1,000 pages are read, 8 % edited, some watched",
        }
    }

    /// The specification that it stands for.
    pub fn spec(self) -> HistorySpec {
        let single = |read_share| Shape::General { length: Length::Fixed(15), read_share, single_access: true };
        let blind = |read_only| Shape::Blind { length: Length::Fixed(8), read_only };
        let (uniform, zipfian) = (Distribution::Uniform, Distribution::ZIPFIAN);
        let hot_customers = Distribution::Hotspot { keys: 1.0 / 18.0, operations: 0.9 };
        let (sessions, transactions, keys, distribution, shape) = match self {
            P::A => (20, 10_000, 10_000, zipfian, single(0.5)),
            P::B => (20, 10_000, 10_000, zipfian, single(0.95)),
            P::C => (20, 10_000, 100, uniform, single(0.5)),
            P::D => (20, 10_000, 1_000, zipfian, Shape::Mini(MiniMix::SINGLE_ACCESS)),
            P::PolySi => (20, 2_000, 10_000, zipfian, Shape::general(15, 0.5)),
            P::GeneralRh => (25, 10_000, 10_000, zipfian, Shape::general(8, 0.95)),
            P::GeneralRw => (25, 10_000, 10_000, zipfian, Shape::general(8, 0.5)),
            P::GeneralWh => (25, 10_000, 10_000, zipfian, Shape::general(8, 0.3)),
            P::C4 => (25, 5_000, 10_000, uniform, Shape::general(20, 0.5)),
            P::Mini => (10, 10_000, 1_000, uniform, Shape::Mini(MiniMix::ALL)),
            P::Cobra => (10, 10_000, 1_000, uniform, Shape::cobra(20)),
            P::BlindRm => (24, 10_000, 2_000, uniform, blind(0.9)),
            P::BlindRw => (24, 10_000, 2_000, uniform, blind(0.5)),
            P::ListAppend => (20, 10_000, 10, uniform, Shape::LIST_APPEND),
            P::RwRegister => (20, 10_000, 10, uniform, Shape::RW_REGISTER),
            P::CasRegister => (20, 10_000, 10, uniform, Shape::CAS_REGISTER),
            P::RangeB => (24, 10_000, 2_000, uniform, Shape::ranges(RangeMix::BALANCED)),
            P::RangeRqh => (24, 10_000, 2_000, uniform, Shape::ranges(RangeMix::RANGE_HEAVY)),
            P::RangeIdh => (24, 10_000, 2_000, uniform, Shape::ranges(RangeMix::INSERT_DELETE_HEAVY)),
            P::Bank => (20, 10_000, 8, uniform, Shape::Application(Application::Bank)),
            P::SmallBank => (20, 10_000, 18_000, hot_customers, Shape::Application(Application::SmallBank)),
            P::TpcC => (20, 10_000, 1, uniform, Shape::Application(Application::TpcC)),
            P::Rubis => (20, 10_000, 20_000, zipfian, Shape::Application(Application::Rubis)),
            P::Twitter => (20, 10_000, 1_000, zipfian, Shape::Application(Application::Twitter)),
            P::Voter => (20, 10_000, 10_000, uniform, Shape::Application(Application::Voter)),
            P::Wikipedia => (20, 10_000, 1_000, zipfian, Shape::Application(Application::Wikipedia)),
        };
        HistorySpec {
            sessions,
            transactions,
            workload: Workload { keys, distribution, shape },
            level: StoreLevel::SnapshotIsolation,
            concurrency: None,
            lag: 32,
            times: TimeDetail::None,
            clock_skew: 0,
            record_aborted: false,
            rollback_share: 0.0,
            indeterminate_share: 0.0,
            plant: None,
            seed: 0,
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        P::ALL.into_iter().find(|preset| preset.name() == name).ok_or_else(|| UnknownPreset(name.into()))
    }
}

/// There is no workload of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown workload `{0}`; known are {known}", known = P::ALL.map(P::name).join(", "))]
pub struct UnknownPreset(pub Box<str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_understood_and_workloads_valid() {
        for preset in P::ALL {
            assert_eq!(preset.name().parse(), Ok(preset));
            assert!(preset.spec().workload.programs(0).is_ok(), "{preset}");
        }
        assert!("e".parse::<Preset>().is_err());
    }
}
