//! What can be wrong with simulated replicas.

use std::fmt;
use std::str::FromStr;

use crate::data_type::DataType;

/// How often a bug of a receiver strikes.
pub(super) const RATE: f64 = 0.25;

/// A bug to plant. A history may still be one that the type allows, if no query happens to show it: answers of yes and
/// no show little, unless queries are many and most objects are changed only now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bug {
    /// One replica silently drops some updates of others, and applies later ones. An element of an array that is put
    /// after a lost one goes to the front; the removal of a lost one does nothing.
    LostUpdate,
    /// Updates arrive in any order: with the removal before the addition that it saw, or an update of one object before
    /// an earlier one of another.
    NonCausalDelivery,
    /// One replica decides conflicts the other way. Sets and flags: the update that should win is dropped if it is there
    /// when the other arrives. Multi-value registers: only the last of concurrent values is kept. Last-writer-wins
    /// registers and arrays: of equal clocks, the lower replica wins. Counters have no conflicts.
    WrongTieBreak,
    /// One replica forgets some removals of others when it next hears of an update, so that what was removed is back.
    /// Registers and counters remove nothing.
    TombstoneLoss,
}

impl Bug {
    /// All bugs.
    pub const ALL: [Bug; 4] = [Bug::LostUpdate, Bug::NonCausalDelivery, Bug::WrongTieBreak, Bug::TombstoneLoss];

    /// The name, for arguments.
    pub fn name(self) -> &'static str {
        match self {
            Bug::LostUpdate => "lost-update",
            Bug::NonCausalDelivery => "non-causal-delivery",
            Bug::WrongTieBreak => "wrong-tie-break",
            Bug::TombstoneLoss => "tombstone-loss",
        }
    }

    /// Whether a type can have it; planted elsewhere, it does nothing.
    pub fn applies_to(self, data_type: DataType) -> bool {
        match self {
            Bug::LostUpdate | Bug::NonCausalDelivery => true,
            Bug::WrongTieBreak => data_type != DataType::Counter,
            Bug::TombstoneLoss => {
                !matches!(data_type, DataType::MvRegister | DataType::LwwRegister | DataType::Counter)
            }
        }
    }
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No bug has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no bug is called `{0}`; there are lost-update, non-causal-delivery, wrong-tie-break, tombstone-loss")]
pub struct UnknownBug(pub Box<str>);

impl FromStr for Bug {
    type Err = UnknownBug;

    fn from_str(name: &str) -> Result<Self, UnknownBug> {
        Bug::ALL.into_iter().find(|bug| bug.name() == name).ok_or_else(|| UnknownBug(name.into()))
    }
}
