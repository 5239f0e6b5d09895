//! Who wrote each value, which values are initial, and which transactions count.

use super::pass::{Pass, UNTOUCHED};
use super::{INITIAL, NOBODY, OVERWRITTEN, Writer};
use crate::builder::InitialRule;
use crate::error::HistoryError;
use crate::event::{Kind, Outcome};
use crate::history::{Key, TxnId, Value};

impl<'h> Pass<'h> {
    pub(super) fn resolve_writers(&mut self) -> Result<(), HistoryError> {
        let history = self.history;
        for &txn in &history.as_given {
            for event in history.events_of[txn.index()].clone() {
                if history.kinds[event as usize] == Kind::Read {
                    continue;
                }
                let Some(value) = self.written(event as usize) else { continue };
                if self.out.writer[value as usize] != NOBODY || history.values.is_initial(value) {
                    return Err(self.repeated(Value(value), txn));
                }
                self.out.writer[value as usize] = txn.0;
                let own = &mut self.own[history.values.key(value) as usize];
                if own.write_stamp == txn.0 {
                    self.out.writer[own.write as usize] |= OVERWRITTEN;
                }
                own.write_stamp = txn.0;
                own.write = value;
            }
        }
        self.own.fill(UNTOUCHED);
        self.separate_lists()
    }

    pub(super) fn repeated(&self, value: Value, second: TxnId) -> HistoryError {
        let history = self.history;
        let key = history.key_name(history.key_of(value)).to_string().into();
        let write = history.write_at(second);
        match self.out.writer(value) {
            Writer::Txn(first) => {
                let value = history.datum(value).to_string().into();
                HistoryError::RepeatedValue { key, value, first: history.write_at(first).into(), second: write.into() }
            }
            _ => {
                let value = match history.initial {
                    InitialRule::Declared(initial) => initial.to_string(),
                    _ => "null".to_string(),
                };
                HistoryError::RepeatedInitial { key, value: value.into(), write }
            }
        }
    }

    /// A key is a list or a plain value, not both.
    pub(super) fn separate_lists(&mut self) -> Result<(), HistoryError> {
        let history = self.history;
        if !history.kinds.iter().any(|k| matches!(k, Kind::Append | Kind::ReadList)) {
            return Ok(());
        }
        let mut used = vec![(false, None); history.key_count()];
        for txn in history.transactions() {
            for event in history.events_of[txn.index()].clone() {
                let column = history.columns[event as usize];
                match history.kinds[event as usize] {
                    Kind::Append => used[history.values.key(column) as usize].1 = Some(txn),
                    Kind::ReadList => used[history.compound(column).0.key as usize].1 = Some(txn),
                    Kind::Range => {
                        history.compound(column).1.iter().for_each(|&row| used[history.key_of(row).index()].0 = true);
                    }
                    Kind::CasSucceeded | Kind::CasFailed => used[history.compound(column).0.key as usize].0 = true,
                    Kind::Read | Kind::Write | Kind::Insert | Kind::Delete => {
                        used[history.values.key(column) as usize].0 = true;
                    }
                }
            }
        }
        for (key, &(plain, list)) in used.iter().enumerate() {
            if let (true, Some(txn)) = (plain, list) {
                let key = history.key_name(Key(key as u32)).to_string().into();
                return Err(HistoryError::MixedKey { key, at: history.write_at(txn) });
            }
        }
        self.lists = used.into_iter().map(|(_, list)| list.is_some()).collect();
        Ok(())
    }

    pub(super) fn resolve_initial(&mut self) {
        let history = self.history;
        for value in 0..history.value_count() as u32 {
            let initial = match history.initial {
                InitialRule::UnlessWritten(initial) => history.values.is_int(value, initial),
                _ => false,
            };
            if self.out.writer[value as usize] == NOBODY && (initial || history.values.is_initial(value)) {
                self.out.writer[value as usize] = INITIAL;
            }
        }
        if history.initial == InitialRule::Unwritten {
            let mut read: Vec<Value> = history
                .transactions()
                .flat_map(|txn| history.events_of[txn.index()].clone())
                .flat_map(|event| self.seen(event as usize))
                .filter(|value| self.out.writer[value.index()] == NOBODY)
                .collect();
            read.sort_unstable();
            let mut has_initial = vec![false; history.key_count()];
            let absent = (0..history.value_count() as u32).filter(|&value| history.values.is_initial(value));
            absent.for_each(|value| has_initial[history.values.key(value) as usize] = true);
            for value in read {
                if !std::mem::replace(&mut has_initial[history.key_of(value).index()], true) {
                    self.out.writer[value.index()] = INITIAL;
                }
            }
        }
    }

    /// What an aborted transaction was refused to set is its own, unless somebody else wrote it: clients that contend for a key often
    /// ask for the same value, and one of them gets it. Claimed last, so that no two writes clash because of it.
    pub(super) fn resolve_refused(&mut self) {
        let history = self.history;
        if !history.kinds.contains(&Kind::CasFailed) {
            return;
        }
        for &txn in history.as_given.iter().filter(|&&txn| history.outcome(txn) == Outcome::Aborted) {
            for event in history.events_of[txn.index()].clone() {
                if history.kinds[event as usize] == Kind::CasFailed {
                    let new = history.compound(history.columns[event as usize]).1[1];
                    let writer = &mut self.out.writer[new.index()];
                    if *writer == NOBODY {
                        *writer = txn.0;
                    }
                }
            }
        }
    }

    /// An indeterminate transaction counts if one that counts read what it wrote.
    pub(super) fn resolve_outcomes(&mut self) {
        let history = self.history;
        self.out.counts = history.outcomes.iter().map(|&o| o == Outcome::Committed).collect();
        if !history.outcomes.contains(&Outcome::Indeterminate) {
            return;
        }
        let mut stack: Vec<TxnId> = history.transactions().filter(|&t| self.out.counts(t)).collect();
        while let Some(txn) = stack.pop() {
            for event in history.events_of[txn.index()].clone() {
                for value in self.seen(event as usize) {
                    if let Writer::Txn(writer) = self.out.writer(value)
                        && history.outcome(writer) == Outcome::Indeterminate
                        && !self.out.counts(writer)
                    {
                        self.out.counts[writer.index()] = true;
                        stack.push(writer);
                    }
                }
            }
        }
    }
}
