//! Replicas as values of the types of `crdts`.

use std::collections::BTreeSet;

use crdts::{CmRDT, CvRDT, LWWReg, List, MVReg, Orswot, PNCounter};
use isonomy_crdt::DataType;

use super::{Answer, Delivery, Error, Library, System, Trial, Update, answer, failed};

/// A value of a type of the library, as one replica has it.
trait Object: CmRDT<Op: Clone> + Clone + Default + 'static {
    /// Whether one value is all objects of a history.
    const SHARED: bool = false;

    /// The operation that an update is; some updates change nothing.
    fn operation(&self, actor: u32, time: u64, update: Update) -> Option<Self::Op>;

    fn answer(&self, data_type: DataType, object: usize) -> Answer;

    /// Merges the state of another replica.
    fn absorb(&mut self, other: Self);

    /// The Lamport time of the last update, if the type needs times.
    fn time(&self) -> u64 {
        0
    }
}

struct Site<T> {
    actor: u32,
    objects: Vec<T>,
    /// Operations that this replica has, in the order in which they came; that is a causal order.
    log: Vec<usize>,
    known: BTreeSet<usize>,
}

struct Sites<T: CmRDT> {
    data_type: DataType,
    delivery: Delivery,
    sites: Vec<Site<T>>,
    operations: Vec<(usize, T::Op)>,
}

pub(super) fn open(trial: &Trial, ids: &[u32]) -> Box<dyn System> {
    match trial.data_type {
        DataType::OrSet => Box::new(Sites::<Orswot<usize, u32>>::new(trial, trial.delivery, ids)),
        DataType::Counter => Box::new(Sites::<PNCounter<u32>>::new(trial, trial.delivery, ids)),
        DataType::LwwRegister => Box::new(Sites::<LWWReg<i64, (u64, u32)>>::new(trial, trial.delivery, ids)),
        // States of lists cannot be merged.
        DataType::Rga => Box::new(Sites::<List<i64, u32>>::new(trial, Delivery::Operations, ids)),
        _ => Box::new(Sites::<MVReg<i64, u32>>::new(trial, trial.delivery, ids)),
    }
}

impl<T: Object> Sites<T> {
    fn new(trial: &Trial, delivery: Delivery, ids: &[u32]) -> Self {
        let count = if T::SHARED { 1 } else { trial.objects as usize };
        let objects = vec![T::default(); count];
        let site = |&actor| Site { actor, objects: objects.clone(), log: Vec::new(), known: BTreeSet::new() };
        let sites = ids.iter().map(site).collect();
        Sites { data_type: trial.data_type, delivery, sites, operations: Vec::new() }
    }
}

impl<T: Object> System for Sites<T>
where
    <T as CmRDT>::Validation: std::fmt::Debug,
{
    fn update(&mut self, replica: usize, update: Update) -> Result<(), Error> {
        let site = &mut self.sites[replica];
        let time = site.objects.iter().map(T::time).max().unwrap_or(0) + 1;
        let place = if T::SHARED { 0 } else { update.object() };
        let object = &mut site.objects[place];
        let Some(operation) = object.operation(site.actor, time, update) else { return Ok(()) };
        object.validate_op(&operation).map_err(|e| failed(Library::Crdts, format!("{e:?}")))?;
        object.apply(operation.clone());
        site.log.push(self.operations.len());
        site.known.insert(self.operations.len());
        self.operations.push((place, operation));
        Ok(())
    }

    fn ask(&mut self, replica: usize, object: usize) -> Result<Answer, Error> {
        let place = if T::SHARED { 0 } else { object };
        Ok(self.sites[replica].objects[place].answer(self.data_type, object))
    }

    fn deliver(&mut self, from: usize, to: usize) -> Result<(), Error> {
        let [from, to] = self.sites.get_disjoint_mut([from, to]).expect("a replica does not send to itself");
        if self.delivery == Delivery::States {
            for (object, other) in to.objects.iter_mut().zip(&from.objects) {
                object.absorb(other.clone());
            }
            return Ok(());
        }
        for &number in &from.log {
            if to.known.insert(number) {
                to.log.push(number);
                let (place, operation) = &self.operations[number];
                to.objects[*place].apply(operation.clone());
            }
        }
        Ok(())
    }
}

impl Update {
    /// The object; a list is alone.
    fn object(self) -> usize {
        match self {
            Update::Mark { object, .. } | Update::Write { object, .. } | Update::Count { object, .. } => object,
            Update::Insert { .. } | Update::Delete { .. } => 0,
        }
    }
}

impl Object for Orswot<usize, u32> {
    const SHARED: bool = true;

    fn operation(&self, actor: u32, _time: u64, update: Update) -> Option<Self::Op> {
        let Update::Mark { object, stamp } = update else { unreachable!("sets are marked") };
        let seen = self.contains(&object);
        Some(match stamp % 2 {
            0 => self.rm(object, seen.derive_rm_ctx()),
            _ => self.add(object, seen.derive_add_ctx(actor)),
        })
    }

    fn answer(&self, _data_type: DataType, object: usize) -> Answer {
        Answer::Present(self.contains(&object).val)
    }

    fn absorb(&mut self, other: Self) {
        self.merge(other);
    }
}

impl Object for MVReg<i64, u32> {
    fn operation(&self, actor: u32, _time: u64, update: Update) -> Option<Self::Op> {
        let (Update::Mark { stamp: value, .. } | Update::Write { value, .. }) = update else {
            unreachable!("registers are written")
        };
        Some(self.write(value, self.read_ctx().derive_add_ctx(actor)))
    }

    fn answer(&self, data_type: DataType, _object: usize) -> Answer {
        answer(data_type, self.read().val)
    }

    fn absorb(&mut self, other: Self) {
        self.merge(other);
    }
}

impl Object for LWWReg<i64, (u64, u32)> {
    fn operation(&self, actor: u32, time: u64, update: Update) -> Option<Self::Op> {
        let Update::Write { value, .. } = update else { unreachable!("registers are written") };
        Some(LWWReg { val: value, marker: (time, actor) })
    }

    fn answer(&self, _data_type: DataType, _object: usize) -> Answer {
        // The first update has time 1.
        Answer::Values(if self.marker.0 == 0 { Vec::new() } else { vec![self.val] })
    }

    fn absorb(&mut self, other: Self) {
        self.merge(other);
    }

    fn time(&self) -> u64 {
        self.marker.0
    }
}

impl Object for PNCounter<u32> {
    fn operation(&self, actor: u32, _time: u64, update: Update) -> Option<Self::Op> {
        let Update::Count { by, .. } = update else { unreachable!("counters are counted") };
        Some(if by > 0 { self.inc(actor) } else { self.dec(actor) })
    }

    fn answer(&self, _data_type: DataType, _object: usize) -> Answer {
        Answer::Count(i64::try_from(self.read()).expect("fewer than 2^63 updates are made"))
    }

    fn absorb(&mut self, other: Self) {
        self.merge(other);
    }
}

impl Object for List<i64, u32> {
    const SHARED: bool = true;

    fn operation(&self, actor: u32, _time: u64, update: Update) -> Option<Self::Op> {
        match update {
            Update::Insert { index, element } => Some(self.insert_index(index, element, actor)),
            Update::Delete { index } => self.delete_index(index, actor),
            _ => unreachable!("lists are inserted into and deleted from"),
        }
    }

    fn answer(&self, _data_type: DataType, _object: usize) -> Answer {
        Answer::List(self.iter().copied().collect())
    }

    fn absorb(&mut self, _other: Self) {
        unreachable!("lists send operations");
    }
}
