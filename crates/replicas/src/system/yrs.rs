//! Replicas as Yrs documents.

use isonomy_crdt::DataType;
use yrs::updates::decoder::Decode;
use yrs::{Any, Array, ArrayRef, Doc, Map, MapRef, Options, Out, ReadTxn, StateVector, Transact};

use super::{Answer, Delivery, Error, Library, System, Trial, Update, failed};

pub(super) struct Documents {
    data_type: DataType,
    delivery: Delivery,
    documents: Vec<Document>,
    keys: Vec<String>,
}

struct Document {
    doc: Doc,
    map: MapRef,
    list: ArrayRef,
}

impl Documents {
    pub(super) fn new(trial: &Trial, ids: &[u32]) -> Self {
        let documents = ids.iter().map(|&id| Document::new(id)).collect();
        let keys = (0..trial.objects).map(|object| format!("x{object}")).collect();
        Documents { data_type: trial.data_type, delivery: trial.delivery, documents, keys }
    }
}

impl Document {
    fn new(id: u32) -> Self {
        // All replicas are one document; its id would otherwise be drawn at random.
        let options = Options::with_guid_and_client_id("isonomy".into(), yrs::block::ClientID::new(id.into()));
        let doc = Doc::with_options(options);
        let (map, list) = (doc.get_or_insert_map("map"), doc.get_or_insert_array("list"));
        Document { doc, map, list }
    }
}

fn number(out: Out) -> i64 {
    match out {
        Out::Any(Any::BigInt(number)) => number,
        // Small integers come back as floating-point numbers after they have been sent.
        Out::Any(Any::Number(number)) => number as i64,
        other => unreachable!("only numbers are written, not {other:?}"),
    }
}

impl System for Documents {
    fn update(&mut self, replica: usize, update: Update) -> Result<(), Error> {
        let Document { doc, map, list } = &self.documents[replica];
        let mut txn = doc.transact_mut();
        match update {
            Update::Write { object, value } => {
                map.insert(&mut txn, self.keys[object].as_str(), Any::BigInt(value));
            }
            Update::Insert { index, element } => {
                list.insert(&mut txn, index as u32, Any::BigInt(element));
            }
            Update::Delete { index } => list.remove(&mut txn, index as u32),
            Update::Mark { .. } | Update::Count { .. } => unreachable!("not offered"),
        }
        Ok(())
    }

    fn ask(&mut self, replica: usize, object: usize) -> Result<Answer, Error> {
        let Document { doc, map, list } = &self.documents[replica];
        let txn = doc.transact();
        Ok(match self.data_type {
            DataType::Rga => Answer::List(list.iter(&txn).map(number).collect()),
            _ => Answer::Values(map.get(&txn, &self.keys[object]).into_iter().map(number).collect()),
        })
    }

    fn deliver(&mut self, from: usize, to: usize) -> Result<(), Error> {
        let (from, to) = (&self.documents[from].doc, &self.documents[to].doc);
        let known = match self.delivery {
            Delivery::States => StateVector::default(),
            Delivery::Operations => to.transact().state_vector(),
        };
        let update = from.transact().encode_state_as_update_v1(&known);
        let update = yrs::Update::decode_v1(&update).map_err(|e| failed(Library::Yrs, e))?;
        to.transact_mut().apply_update(update).map_err(|e| failed(Library::Yrs, e))
    }
}
