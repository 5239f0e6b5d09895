//! The libraries, and by what they offer which type.

use std::fmt;
use std::str::FromStr;

use isonomy_crdt::DataType;

/// A library of replicated data types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Library {
    /// Documents like JSON, whose operations are ordered by Lamport clocks.
    Automerge,
    /// The Rust port of Yjs: shared maps and arrays.
    Yrs,
    /// One Rust type per data type of the literature.
    Crdts,
}

/// A type that a library offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The type.
    pub data_type: DataType,
    /// What of the library it is, and how it is used.
    pub by: &'static str,
}

const fn offer(data_type: DataType, by: &'static str) -> Offer {
    Offer { data_type, by }
}

const AUTOMERGE: [Offer; 8] = [
    offer(DataType::OrSet, "keys of a map: put, delete, is there a value"),
    offer(DataType::RwSet, "numbers in a map, odd for added: contained if all conflicting ones are"),
    offer(DataType::EwFlag, "numbers in a map, odd for enabled: enabled if one of the conflicting ones is"),
    offer(DataType::DwFlag, "numbers in a map, odd for enabled: enabled if all conflicting ones are"),
    offer(DataType::MvRegister, "values in a map, all conflicting ones"),
    offer(DataType::LwwRegister, "values in a map, the one that wins"),
    offer(DataType::Counter, "counters in a map, made before the replicas part"),
    offer(DataType::Rga, "a list, made before the replicas part"),
];

const YRS: [Offer; 2] = [
    offer(DataType::LwwRegister, "values in a map"),
    offer(DataType::Rga, "an array; its order is that of YATA, which is not always one of an RGA"),
];

const CRDTS: [Offer; 8] = [
    offer(DataType::OrSet, "Orswot"),
    offer(DataType::RwSet, "MVReg of numbers, odd for added: contained if all conflicting ones are"),
    offer(DataType::EwFlag, "MVReg of numbers, odd for enabled: enabled if one of the conflicting ones is"),
    offer(DataType::DwFlag, "MVReg of numbers, odd for enabled: enabled if all conflicting ones are"),
    offer(DataType::MvRegister, "MVReg"),
    offer(DataType::LwwRegister, "LWWReg, marked with Lamport times of the replica"),
    offer(DataType::Counter, "PNCounter"),
    offer(DataType::Rga, "List; its elements have fractions as places, which is not always the order of an RGA"),
];

impl Library {
    /// All libraries.
    pub const ALL: [Library; 3] = [Library::Automerge, Library::Yrs, Library::Crdts];

    /// The name, for arguments and files.
    pub fn name(self) -> &'static str {
        match self {
            Library::Automerge => "automerge",
            Library::Yrs => "yrs",
            Library::Crdts => "crdts",
        }
    }

    /// The types that it offers.
    pub fn offers(self) -> &'static [Offer] {
        match self {
            Library::Automerge => &AUTOMERGE,
            Library::Yrs => &YRS,
            Library::Crdts => &CRDTS,
        }
    }

    /// By what it offers a type, if it does.
    pub fn offer(self, data_type: DataType) -> Option<Offer> {
        self.offers().iter().copied().find(|offer| offer.data_type == data_type)
    }
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No library has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no library is called `{0}`; there are automerge, yrs, crdts")]
pub struct UnknownLibrary(pub Box<str>);

impl FromStr for Library {
    type Err = UnknownLibrary;

    fn from_str(name: &str) -> Result<Self, UnknownLibrary> {
        let library = Library::ALL.into_iter().find(|library| library.name() == name);
        library.ok_or_else(|| UnknownLibrary(name.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for library in Library::ALL {
            assert_eq!(library.name().parse(), Ok(library));
        }
        assert!("loro".parse::<Library>().unwrap_err().to_string().contains("automerge"));
    }
}
