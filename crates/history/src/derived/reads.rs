//! Reads and writes of single keys, in program order.

use super::pass::{At, NOTHING, Pass};
use super::{ExternalRead, FaultKind, INITIAL, NOBODY, OVERWRITTEN, ReadFault, SAME_EVENT, Span};
use crate::event::{EventId, Kind};
use crate::history::{Key, TxnId, Value};

impl<'h> Pass<'h> {
    pub(super) fn resolve_reads(&mut self) {
        let history = self.history;
        let mut missing = Vec::new();
        self.out.spans = vec![Span::default(); history.transaction_count()];
        for &txn in &history.as_given {
            let first_read = self.out.reads.len() as u32;
            let first_write = self.out.writes.len() as u32;
            if self.out.counts(txn) {
                for event in history.events_of[txn.index()].clone() {
                    let column = history.columns[event as usize];
                    let at = At { txn, event: EventId(event) };
                    match history.kinds[event as usize] {
                        Kind::Read => self.read(at, column),
                        Kind::Write | Kind::Append | Kind::Insert | Kind::Delete => self.write(txn, column),
                        Kind::CasSucceeded => {
                            let values = history.compound(column).1;
                            self.read(at, values[0].0);
                            self.write(txn, values[1].0);
                        }
                        // It shows only that the key held something else: no version is known to be read.
                        Kind::CasFailed => {}
                        Kind::ReadList => self.read_list(at, column),
                        Kind::Range => {
                            let first = self.out.reads.len();
                            for row in history.compound(column).1 {
                                self.read(at, row.0);
                            }
                            self.keys_not_returned(column, &mut missing);
                            missing.iter().for_each(|&key| self.read_nothing(at, key));
                            self.join_reads(first);
                        }
                    }
                }
                self.out.writes[first_write as usize..].sort_unstable();
            }
            let reads = (first_read, self.out.reads.len() as u32);
            let writes = (first_write, self.out.writes.len() as u32);
            self.out.spans[txn.index()] = Span { reads, writes };
        }
        self.out.faults.sort_by_key(|fault| fault.txn);
    }

    #[inline]
    pub(super) fn write(&mut self, txn: TxnId, value: u32) {
        let key = self.history.values.key(value);
        let own = &mut self.own[key as usize];
        own.write_stamp = txn.0;
        own.write = value;
        if self.out.writer[value as usize] & OVERWRITTEN == 0 {
            self.out.writes.push(Key(key));
        }
    }

    #[inline]
    pub(super) fn read(&mut self, at: At, value: u32) {
        let key = self.history.values.key(value);
        let own = self.own[key as usize];
        let writer = self.out.writer[value as usize];
        if own.write_stamp == at.txn.0 {
            if own.write != value {
                let kind = if writer & !OVERWRITTEN == at.txn.0 {
                    if self.wrote_before(at, value) { FaultKind::NotMyLastWrite } else { FaultKind::Future }
                } else if writer == NOBODY {
                    FaultKind::ThinAir
                } else {
                    FaultKind::NotMyOwnWrite
                };
                self.fault(at, key, Some(value), kind);
            }
            return;
        }
        if own.read_stamp == at.txn.0 && !self.same_version(own.read, value) {
            self.fault(at, key, Some(value), FaultKind::NonRepeatable);
        }
        self.own[key as usize].read_stamp = at.txn.0;
        self.own[key as usize].read = value;
        let fault = if writer == INITIAL {
            None
        } else {
            self.external_fault(at, value).or((writer & OVERWRITTEN != 0).then_some(FaultKind::Intermediate))
        };
        match fault {
            Some(kind) => self.fault(at, key, Some(value), kind),
            None => self.out.reads.push(ExternalRead { key, from: writer }),
        }
    }

    /// What is wrong with seeing a value that the transaction at hand has not written so far.
    #[inline]
    pub(super) fn external_fault(&self, at: At, value: u32) -> Option<FaultKind> {
        match self.out.writer[value as usize] & !OVERWRITTEN {
            NOBODY => Some(FaultKind::ThinAir),
            txn if txn == at.txn.0 => Some(FaultKind::Future),
            INITIAL => None,
            txn if !self.out.counts[txn as usize] => Some(FaultKind::Aborted),
            _ => None,
        }
    }

    pub(super) fn same_version(&self, a: u32, b: u32) -> bool {
        let initial = |value: u32| value == NOTHING || self.out.writer[value as usize] == INITIAL;
        a == b || (initial(a) && initial(b))
    }

    /// The reads from `first` on are of one event.
    pub(super) fn join_reads(&mut self, first: usize) {
        for read in self.out.reads.iter_mut().skip(first + 1) {
            read.from |= SAME_EVENT;
        }
    }

    pub(super) fn fault(&mut self, at: At, key: u32, value: Option<u32>, kind: FaultKind) {
        let value = value.map(Value);
        self.out.faults.push(ReadFault { txn: at.txn, event: at.event, key: Key(key), value, kind });
    }
}
