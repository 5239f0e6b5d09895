//! Replicas as Automerge documents.
//!
//! They are `Automerge`, not `AutoCommit`, because of a bug of this version and later ones: after a write that changes
//! nothing, an `AutoCommit` panics at the next merge, for the log of patches that it keeps (automerge#1390).

use automerge::transaction::Transactable;
use automerge::{ActorId, Automerge, AutomergeError, ObjId, ObjType, ROOT, ReadDoc, ScalarValue, Value};
use isonomy_crdt::DataType;

use super::{Answer, Delivery, Error, Library, System, Trial, Update, answer, failed};

pub(super) struct Documents {
    data_type: DataType,
    delivery: Delivery,
    documents: Vec<Automerge>,
    keys: Vec<String>,
    list: ObjId,
}

fn error(error: AutomergeError) -> Error {
    failed(Library::Automerge, error)
}

impl Documents {
    pub(super) fn new(trial: &Trial, ids: &[u32]) -> Result<Self, Error> {
        let keys: Vec<String> = (0..trial.objects).map(|object| format!("x{object}")).collect();
        let mut origin = Automerge::new().with_actor(actor(0, 0));
        let list = prepare(&mut origin, trial.data_type, &keys).map_err(error)?;
        let documents = ids.iter().map(|&id| origin.fork().with_actor(actor(1, id))).collect();
        Ok(Documents { data_type: trial.data_type, delivery: trial.delivery, documents, keys, list })
    }

    fn values(&self, replica: usize, object: usize) -> Result<Vec<i64>, AutomergeError> {
        let (document, key) = (&self.documents[replica], self.keys[object].as_str());
        if matches!(self.data_type, DataType::LwwRegister | DataType::Counter) {
            return Ok(document.get(ROOT, key)?.iter().map(|(value, _)| number(value)).collect());
        }
        Ok(document.get_all(ROOT, key)?.iter().map(|(value, _)| number(value)).collect())
    }

    fn elements(&self, replica: usize) -> Result<Vec<i64>, AutomergeError> {
        let document = &self.documents[replica];
        let element = |index| document.get(&self.list, index).map(|found| found.map(|(value, _)| number(&value)));
        let elements: Result<Vec<Option<i64>>, _> = (0..document.length(&self.list)).map(element).collect();
        Ok(elements?.into_iter().flatten().collect())
    }
}

/// Makes what replicas must share. Lists or counters that two of them make at the same key are two of them.
fn prepare(origin: &mut Automerge, data_type: DataType, keys: &[String]) -> Result<ObjId, AutomergeError> {
    let mut transaction = origin.transaction();
    let mut list = ROOT;
    match data_type {
        DataType::Rga => list = transaction.put_object(ROOT, "list", ObjType::List)?,
        DataType::Counter => {
            keys.iter().try_for_each(|key| transaction.put(ROOT, key.as_str(), ScalarValue::counter(0)))?;
        }
        _ => {}
    }
    transaction.commit();
    Ok(list)
}

fn actor(kind: u8, id: u32) -> ActorId {
    let mut bytes = id.to_be_bytes().to_vec();
    bytes.push(kind);
    ActorId::from(bytes)
}

fn number(value: &Value<'_>) -> i64 {
    value.to_i64().expect("only numbers are written")
}

impl System for Documents {
    fn update(&mut self, replica: usize, update: Update) -> Result<(), Error> {
        let keys = &self.keys;
        let mut transaction = self.documents[replica].transaction();
        match update {
            // In the other sets and in flags a removal must be able to win, and leave something that does.
            Update::Mark { object, stamp } if self.data_type == DataType::OrSet && stamp % 2 == 0 => {
                transaction.delete(ROOT, keys[object].as_str())
            }
            Update::Mark { object, stamp } => transaction.put(ROOT, keys[object].as_str(), stamp),
            Update::Write { object, value } => transaction.put(ROOT, keys[object].as_str(), value),
            Update::Count { object, by } => transaction.increment(ROOT, keys[object].as_str(), by),
            Update::Insert { index, element } => transaction.insert(&self.list, index, element),
            Update::Delete { index } => transaction.delete(&self.list, index),
        }
        .map_err(error)?;
        transaction.commit();
        Ok(())
    }

    fn ask(&mut self, replica: usize, object: usize) -> Result<Answer, Error> {
        if self.data_type == DataType::Rga {
            return Ok(Answer::List(self.elements(replica).map_err(error)?));
        }
        let values = self.values(replica, object).map_err(error)?;
        Ok(match self.data_type {
            DataType::Counter => Answer::Count(*values.first().expect("counters are made at the start")),
            _ => answer(self.data_type, values),
        })
    }

    fn deliver(&mut self, from: usize, to: usize) -> Result<(), Error> {
        let [from, to] = self.documents.get_disjoint_mut([from, to]).expect("a replica does not send to itself");
        match self.delivery {
            Delivery::States => to.load_incremental(&from.save()).map(|_| ()),
            Delivery::Operations => to.merge(from).map(|_| ()),
        }
        .map_err(error)
    }
}
