//! Names of keys, sessions and values, and their interning to small integers.

use std::cmp::Ordering;
use std::fmt;

use rustc_hash::FxHashMap;

/// What a file calls a key or a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name<'a> {
    /// A number, as most tools use.
    Int(i64),
    /// Any text.
    Text(&'a str),
}

/// What a file says a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Datum<'a> {
    /// The initial state: `null`, `nil`, `_`; the key was never written.
    Initial,
    /// A number.
    Int(i64),
    /// Any text.
    Text(&'a str),
}

/// Numbers come before texts; ranges of keys follow this order.
impl Ord for Name<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Name::Int(a), Name::Int(b)) => a.cmp(b),
            (Name::Int(_), Name::Text(_)) => Ordering::Less,
            (Name::Text(_), Name::Int(_)) => Ordering::Greater,
            (Name::Text(a), Name::Text(b)) => a.cmp(b),
        }
    }
}

impl PartialOrd for Name<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Int(i) => write!(f, "{i}"),
            Name::Text(s) => f.write_str(s),
        }
    }
}

impl fmt::Display for Datum<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Datum::Initial => f.write_str("_"),
            Datum::Int(i) => write!(f, "{i}"),
            Datum::Text(s) => f.write_str(s),
        }
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Name<'_> {
            fn from(i: $integer) -> Self { Name::Int(i64::from(i)) }
        }
        impl From<$integer> for Datum<'_> {
            fn from(i: $integer) -> Self { Datum::Int(i64::from(i)) }
        }
    )*};
}
from_integers!(i32, i64, u32);

impl<'a> From<&'a str> for Name<'a> {
    fn from(s: &'a str) -> Self {
        Name::Text(s)
    }
}

impl<'a> From<&'a str> for Datum<'a> {
    fn from(s: &'a str) -> Self {
        Datum::Text(s)
    }
}

/// `None` is the initial state.
impl<'a, T: Into<Datum<'a>>> From<Option<T>> for Datum<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Datum::Initial, Into::into)
    }
}

/// Texts seen in a history, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    ids: FxHashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
    bytes: usize,
}

impl Texts {
    pub(crate) fn intern(&mut self, text: &str) -> u32 {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = u32::try_from(self.texts.len()).expect("fewer than 2^32 texts fit in memory");
        self.texts.push(text.into());
        self.ids.insert(text.into(), id);
        self.bytes += 2 * text.len() + 64;
        id
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(crate) fn get(&self, id: u32) -> &str {
        &self.texts[id as usize]
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Small non-negative numbers are looked up in an array: most files number their keys densely.
const DIRECT: usize = 1 << 20;
const ABSENT: u32 = u32::MAX;

/// Interns [`Name`]s, numbering them by first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    direct: Vec<u32>,
    ints: FxHashMap<i64, u32>,
    texts: FxHashMap<u32, u32>,
    /// The number, or for a text its id in [`Texts`].
    raw: Vec<i64>,
    /// Ids of the names that are texts, ascending.
    text_ids: Vec<u32>,
}

impl Names {
    pub(crate) fn len(&self) -> usize {
        self.raw.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// The names from an id on, as columns: the raw numbers, and whether each is a text.
    pub(crate) fn columns_from(&self, first: usize) -> (&[i64], impl Iterator<Item = bool>) {
        let is_text = (first as u32..self.raw.len() as u32).map(|id| self.text_ids.binary_search(&id).is_ok());
        (&self.raw[first..], is_text)
    }

    /// Adds a name from columns, without making it known for look-ups. Whether it is a possible one.
    pub(crate) fn push_column(&mut self, raw: i64, is_text: bool, texts: usize) -> bool {
        if is_text {
            self.text_ids.push(self.raw.len() as u32);
        }
        self.raw.push(raw);
        !is_text || usize::try_from(raw).is_ok_and(|raw| raw < texts)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.direct.len() * 4 + (self.ints.len() + self.texts.len()) * 24 + self.raw.len() * 8
    }

    #[inline]
    pub(crate) fn intern(&mut self, name: Name<'_>, texts: &mut Texts) -> u32 {
        if let Name::Int(i) = name
            && let Ok(index) = usize::try_from(i)
            && let Some(&id) = self.direct.get(index)
            && id != ABSENT
        {
            return id;
        }
        self.intern_slowly(name, texts)
    }

    fn intern_slowly(&mut self, name: Name<'_>, texts: &mut Texts) -> u32 {
        let next = u32::try_from(self.raw.len()).expect("fewer than 2^32 names fit in memory");
        let (slot, raw) = match name {
            Name::Int(i) => match usize::try_from(i) {
                Ok(index) if index < DIRECT => {
                    if index >= self.direct.len() {
                        self.direct.resize((index + 1).next_power_of_two(), ABSENT);
                    }
                    (&mut self.direct[index], i)
                }
                _ => (self.ints.entry(i).or_insert(ABSENT), i),
            },
            Name::Text(s) => {
                let text = texts.intern(s);
                (self.texts.entry(text).or_insert(ABSENT), i64::from(text))
            }
        };
        if *slot != ABSENT {
            return *slot;
        }
        *slot = next;
        self.raw.push(raw);
        if matches!(name, Name::Text(_)) {
            self.text_ids.push(next);
        }
        next
    }

    pub(crate) fn get<'a>(&self, id: u32, texts: &'a Texts) -> Name<'a> {
        let raw = self.raw[id as usize];
        if self.text_ids.binary_search(&id).is_ok() { Name::Text(texts.get(raw as u32)) } else { Name::Int(raw) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_were_given() {
        let mut texts = Texts::default();
        let mut names = Names::default();
        let given = [Name::Int(7), Name::Text("7"), Name::Int(-1), Name::Int(i64::MAX), Name::Text("x"), Name::Int(0)];
        let ids: Vec<u32> = given.iter().map(|&n| names.intern(n, &mut texts)).collect();
        assert_eq!(ids, [0, 1, 2, 3, 4, 5]);
        for (&id, &name) in ids.iter().zip(&given) {
            assert_eq!(names.get(id, &texts), name);
            assert_eq!(names.intern(name, &mut texts), id);
        }
    }
}
