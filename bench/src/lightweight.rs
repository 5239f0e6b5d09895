//! Histories of lightweight transactions: clients that compare and set one register, many at a time.
//!
//! The register is made with 0, and then goes from each number to the next, once. The operations of a batch all overlap: all are
//! asked for, in any order, before the first is answered, and they are answered in any order.

use std::io;
use std::iter;

use isonomy_history::{Datum, Name, NamedEvent, Outcome, Record, Sink, Times};
use isonomy_workload::Rng;

/// What such a history is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lightweight {
    pub(crate) sessions: u64,
    /// How many of them ask at a time: the size of a batch.
    pub(crate) concurrent: u64,
    /// How many steps the register makes.
    pub(crate) transactions: u64,
    pub(crate) fault: Option<Fault>,
}

/// Why such a history is not linearizable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nobody made one step of this batch, from 0.
    Missing { batch: usize },
    /// A step of this batch was made in the next one, and the other way round.
    Late { batch: usize },
}

/// An operation: from this number to the next.
#[derive(Clone, Copy)]
struct Step {
    session: u64,
    from: u64,
    start: i64,
}

impl Lightweight {
    /// Makes the history, in the order of the answers; how many transactions it has. Times are counted in what happens.
    pub(crate) fn generate(&self, sink: &mut dyn Sink) -> io::Result<u64> {
        let mut rng = Rng::new(0);
        let mut clock = 0..;
        let mut tick = || clock.next().expect("time does not end");
        let mut made = 1;
        let insert = NamedEvent::Insert(KEY, Datum::Int(0));
        sink.take(&record(1, tick(), tick(), insert))?;
        for (number, mut batch) in self.batches(&mut rng).into_iter().enumerate() {
            if self.fault == Some(Fault::Missing { batch: number }) {
                batch.swap_remove(below(&mut rng, batch.len()));
            }
            shuffle(&mut rng, &mut batch);
            for step in &mut batch {
                step.start = tick();
            }
            shuffle(&mut rng, &mut batch);
            for Step { session, from, start } in batch {
                let (expected, new) = (Datum::Int(from as i64), Datum::Int(from as i64 + 1));
                let event = NamedEvent::CompareAndSet { key: KEY, expected, new, succeeded: true };
                sink.take(&record(session, start, tick(), event))?;
                made += 1;
            }
        }
        sink.end()?;
        Ok(made)
    }

    /// The steps of each batch, with sessions that take turns.
    fn batches(&self, rng: &mut Rng) -> Vec<Vec<Step>> {
        let steps = (0..self.transactions).map(|from| Step { session: 1 + from % self.sessions, from, start: 0 });
        let mut steps = steps.peekable();
        let size = self.concurrent.min(self.sessions) as usize;
        let next = || steps.peek().is_some().then(|| steps.by_ref().take(size).collect());
        let mut batches: Vec<Vec<Step>> = iter::from_fn(next).collect();
        if let Some(Fault::Late { batch }) = self.fault {
            let [early, late] = [batch, batch + 1].map(|batch| (batch, below(rng, batches[batch].len())));
            let froms = [early, late].map(|(batch, index)| batches[batch][index].from);
            batches[early.0][early.1].from = froms[1];
            batches[late.0][late.1].from = froms[0];
        }
        batches
    }
}

const KEY: Name<'static> = Name::Int(0);

fn record(session: u64, start: i64, finish: i64, event: NamedEvent<'static>) -> Record<'static> {
    let times = Times { start: Some(start), finish: Some(finish), ..Times::default() };
    Record { session: Name::Int(session as i64), outcome: Outcome::Committed, times, events: vec![event] }
}

fn below(rng: &mut Rng, length: usize) -> usize {
    rng.below(length as u64) as usize
}

fn shuffle<T>(rng: &mut Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last + 1));
    }
}

#[cfg(test)]
mod tests {
    use isonomy_history::{Event, History, HistoryBuilder};

    use super::*;

    fn made(fault: Option<Fault>) -> (u64, History) {
        let mut builder = HistoryBuilder::new();
        let spec = Lightweight { sessions: 10, concurrent: 5, transactions: 23, fault };
        let made = spec.generate(&mut builder).unwrap();
        (made, builder.finish().unwrap())
    }

    #[test]
    fn a_batch_ends_before_the_next_begins_and_overlaps_by_itself() {
        let (made, history) = made(None);
        assert_eq!((made, history.transaction_count(), history.sessions().len()), (24, 24, 10));
        let times = history.transactions_as_given().iter().map(|&txn| history.times(txn));
        let times: Vec<(i64, i64)> = times.map(|times| (times.start.unwrap(), times.finish.unwrap())).collect();
        let mut before = times[0].1;
        for batch in times[1..].chunks(5) {
            let starts = || batch.iter().map(|times| times.0);
            assert!(starts().min() > Some(before) && starts().max() < Some(batch[0].1), "{times:?}");
            before = batch[batch.len() - 1].1;
        }
        assert_eq!(before, 2 * 24 - 1);
    }

    #[test]
    fn faults_are_where_they_should_be() {
        let steps = |history: &History| history.transactions().map(|txn| history.events(txn).count()).sum::<usize>();
        let (count, history) = made(Some(Fault::Missing { batch: 4 }));
        assert_eq!((count, steps(&history)), (23, 23));
        let (count, history) = made(Some(Fault::Late { batch: 0 }));
        assert_eq!(count, 24);
        // One step of the first batch goes beyond it.
        let late = history.transactions_as_given()[1..6].iter().filter(|&&txn| {
            let Some(Event::CompareAndSet { new, .. }) = history.events(txn).next() else { panic!("not a step") };
            !matches!(history.datum(new), Datum::Int(1..=5))
        });
        assert_eq!(late.count(), 1);
    }
}
