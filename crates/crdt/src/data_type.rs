//! The replicated data types, and what their operations are called.

use std::fmt;
use std::str::FromStr;

/// A replicated data type. Histories of one type may use any number of its objects, except that an array is alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DataType {
    /// Add-wins set (OR-set): of an addition and a removal that did not see each other, the addition counts.
    OrSet,
    /// Remove-wins set: of an addition and a removal that did not see each other, the removal counts.
    RwSet,
    /// Enable-wins flag: the add-wins set of flags.
    EwFlag,
    /// Disable-wins flag: the remove-wins set of flags.
    DwFlag,
    /// Multi-value register: a read returns the values of all latest writes that it saw.
    MvRegister,
    /// Last-writer-wins register: a read returns the value of the write with the highest timestamp that it saw.
    LwwRegister,
    /// Counter: a read returns increments minus decrements that it saw.
    Counter,
    /// Replicated growable array: a list in which elements are put after others; later ones stand closer.
    Rga,
}

/// What an operation is called, for updates and queries of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Methods {
    /// Adds, enables, writes, increments, or puts an element after another.
    pub first: &'static str,
    /// Removes, disables or decrements; registers have none.
    pub second: Option<&'static str>,
    /// Asks.
    pub query: &'static str,
}

struct Row {
    data_type: DataType,
    name: &'static str,
    others: &'static [&'static str],
    about: &'static str,
    methods: Methods,
}

const SET: Methods = Methods { first: "add", second: Some("remove"), query: "contains" };
const FLAG: Methods = Methods { first: "enable", second: Some("disable"), query: "read" };
const REGISTER: Methods = Methods { first: "write", second: None, query: "read" };

/// The only place where names live.
const TABLE: [Row; 8] = [
    Row {
        data_type: DataType::OrSet,
        name: "or-set",
        others: &["add-wins-set", "aw-set"],
        about: "set; of an addition and a removal that did not see each other, the addition counts",
        methods: SET,
    },
    Row {
        data_type: DataType::RwSet,
        name: "rw-set",
        others: &["remove-wins-set"],
        about: "set; of an addition and a removal that did not see each other, the removal counts",
        methods: SET,
    },
    Row {
        data_type: DataType::EwFlag,
        name: "ew-flag",
        others: &["enable-wins-flag"],
        about: "flag; enabling wins",
        methods: FLAG,
    },
    Row {
        data_type: DataType::DwFlag,
        name: "dw-flag",
        others: &["disable-wins-flag"],
        about: "flag; disabling wins",
        methods: FLAG,
    },
    Row {
        data_type: DataType::MvRegister,
        name: "mv-register",
        others: &["mvr", "multi-value-register"],
        about: "register; a read returns the values of all latest writes it saw",
        methods: REGISTER,
    },
    Row {
        data_type: DataType::LwwRegister,
        name: "lww-register",
        others: &["lww", "last-writer-wins-register"],
        about: "register; a read returns the write with the highest timestamp it saw",
        methods: REGISTER,
    },
    Row {
        data_type: DataType::Counter,
        name: "counter",
        others: &["pn-counter"],
        about: "counter; a read returns increments minus decrements it saw",
        methods: Methods { first: "inc", second: Some("dec"), query: "read" },
    },
    Row {
        data_type: DataType::Rga,
        name: "rga",
        others: &["replicated-growable-array", "list"],
        about: "list; elements are put after others, of those put after the same one the later stands first",
        methods: Methods { first: "addAfter", second: Some("remove"), query: "read" },
    },
];

impl DataType {
    /// All types, in the order in which they are listed.
    pub const ALL: [DataType; 8] = [
        DataType::OrSet,
        DataType::RwSet,
        DataType::EwFlag,
        DataType::DwFlag,
        DataType::MvRegister,
        DataType::LwwRegister,
        DataType::Counter,
        DataType::Rga,
    ];

    fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.data_type == self).expect("every type has a row")
    }

    /// The name, for arguments and files.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Other names that are understood.
    pub fn other_names(self) -> &'static [&'static str] {
        self.row().others
    }

    /// One line on what it is.
    pub fn about(self) -> &'static str {
        self.row().about
    }

    /// What its operations are called.
    pub fn methods(self) -> Methods {
        self.row().methods
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No type has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no data type is called `{0}`; there are or-set, rw-set, ew-flag, dw-flag, mv-register, lww-register, counter, rga"
)]
pub struct UnknownType(pub Box<str>);

impl FromStr for DataType {
    type Err = UnknownType;

    fn from_str(name: &str) -> Result<Self, UnknownType> {
        let row = TABLE.iter().find(|row| row.name == name || row.others.contains(&name));
        row.map(|row| row.data_type).ok_or_else(|| UnknownType(name.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for data_type in DataType::ALL {
            for name in data_type.other_names().iter().chain([&data_type.name()]) {
                assert_eq!(name.parse(), Ok(data_type));
            }
        }
        assert!("set".parse::<DataType>().unwrap_err().to_string().contains("or-set"));
    }
}
