//! What a transaction read, as a record that can be followed again.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A transaction that has ended, with the choices that its reads made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Its session; they are numbered from 1 as they begin their first transaction.
    pub session: u32,
    /// Its number in the session, from 1.
    pub number: u32,
    /// The level it ran at.
    pub level: String,
    /// Whether it committed.
    pub committed: bool,
    /// What it read from others, in order.
    pub reads: Vec<ReadChoice>,
}

/// What a read returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadChoice {
    /// The key.
    pub key: String,
    /// What it held.
    pub value: Option<String>,
    /// The session and the number of the transaction that wrote it; none if it is the initial state.
    pub from: Option<(u32, u32)>,
    /// How many values could have been returned.
    pub allowed: u64,
    /// What was committed last, if that is something else: then the read is *stale*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<Newest>,
}

impl ReadChoice {
    /// Whether something else was committed last.
    pub fn is_stale(&self) -> bool {
        self.newest.is_some()
    }
}

/// What a stale read missed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Newest {
    /// The session and the number of the transaction that wrote it.
    pub from: (u32, u32),
    /// What it wrote.
    pub value: Option<String>,
}

/// What a store is to do again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The sessions whose turn it is, one after the other.
    pub turns: Vec<u32>,
    choices: FxHashMap<(u32, u32), Vec<Scripted>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Scripted {
    key: Box<str>,
    from: Option<(u32, u32)>,
    newest: bool,
}

/// What a script says of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cue {
    /// To return what this transaction wrote, or the initial state.
    From(Option<(u32, u32)>),
    /// To return the newest that is allowed.
    Newest,
    /// Nothing: the program did something else this time.
    Unknown,
}

impl Script {
    /// What a run did.
    pub fn new(run: &[Ended]) -> Self {
        let mut script = Script::default();
        for ended in run {
            script.turns.push(ended.session);
            let reads = ended.reads.iter();
            let reads = reads.map(|read| Scripted { key: read.key.as_str().into(), from: read.from, newest: false });
            script.choices.insert((ended.session, ended.number), reads.collect());
        }
        script
    }

    /// Makes a read return what is newest; it is given by session, transaction and its place among the transaction's reads.
    pub fn make_newest(&mut self, session: u32, number: u32, read: usize) {
        if let Some(read) = self.choices.get_mut(&(session, number)).and_then(|reads| reads.get_mut(read)) {
            read.newest = true;
        }
    }

    pub(crate) fn cue(&self, session: u32, number: u32, read: usize, key: &str) -> Cue {
        let reads = self.choices.get(&(session, number));
        // A program that was given other values may read other keys: those it has read before have the same cue wherever they come.
        let found = reads.and_then(|reads| {
            reads
                .get(read)
                .filter(|scripted| &*scripted.key == key)
                .or_else(|| reads.iter().find(|scripted| &*scripted.key == key))
        });
        match found {
            Some(scripted) if scripted.newest => Cue::Newest,
            Some(scripted) => Cue::From(scripted.from),
            None => Cue::Unknown,
        }
    }
}
