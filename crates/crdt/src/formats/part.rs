//! Operations of arrays as part of a few others: what lists show of elements that do not matter there is left out.

use rustc_hash::FxHashSet;

use super::notation::Name;
use crate::history::{History, LabelId, OpId, Operation};

impl History {
    /// An operation as one of a few, in the notation: elements of a list that were added, but by none of the few, are `…`.
    pub fn show_among(&self, op: OpId, few: &[OpId]) -> String {
        let Operation::List(elements) = self.operation(op) else { return self.show(op).to_string() };
        let added = |ops: &mut dyn Iterator<Item = OpId>| -> FxHashSet<LabelId> {
            let element = |op| match self.operation(op) {
                Operation::Insert(_, element) => Some(element),
                _ => None,
            };
            ops.filter_map(element).collect()
        };
        let (kept, all) = (added(&mut few.iter().copied()), added(&mut self.operations()));
        let left_out = |element: &LabelId| all.contains(element) && !kept.contains(element);
        let mut shown: Vec<String> = Vec::new();
        for element in elements {
            if !left_out(element) {
                shown.push(Name(self.label(*element)).to_string());
            } else if shown.last().is_none_or(|last| last != "…") {
                shown.push("…".into());
            }
        }
        format!("{}()=[{}]", self.data_type().methods().query, shown.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_show_what_matters() {
        let text = "type: rga / a: addAfter(_,x) addAfter(x,y) addAfter(y,z) read()=[x,y,z,w] / b: remove(x)";
        let history = crate::read(text.as_bytes(), None, None).unwrap();
        assert_eq!(history.show_among(OpId(3), &[OpId(2), OpId(3)]), "read()=[…,z,w]");
        assert_eq!(history.show_among(OpId(4), &[]), "remove(x)");
    }
}
