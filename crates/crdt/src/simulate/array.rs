//! The replicated growable array: a linked list with timestamps and tombstones.
//!
//! A new element goes right behind the one it is put after, but behind all elements there that are newer. These are its
//! newer siblings and what stands behind them, since what is put after an element is newer than it. Removed elements
//! stay as tombstones, for others may yet be put after them.

use super::{Message, Stamp, Update, newer};

/// The front; elements are numbered from 1.
const FRONT: usize = 0;
/// No element, and no place.
const NONE: u32 = u32::MAX;

pub(super) struct Array {
    /// By element, the front first. Reads walk through all tombstones, so links are kept small and apart from stamps.
    links: Vec<Link>,
    /// By element; those that are not there have none.
    stamps: Vec<Option<Stamp>>,
    /// The elements that are not removed, in no order, so that one can be picked at random.
    shown: Vec<usize>,
    /// The bug: the lower replica wins where clocks are equal.
    wrong: bool,
    /// The element of a removal that will be taken back.
    loose: Option<usize>,
}

#[derive(Clone, Copy)]
struct Link {
    next: u32,
    /// The place in `shown`.
    place: u32,
}

const ABSENT: Link = Link { next: NONE, place: NONE };

impl Array {
    pub(super) fn new(wrong: bool) -> Self {
        Array { links: vec![ABSENT], stamps: vec![None], shown: Vec::new(), wrong, loose: None }
    }

    pub(super) fn shown(&self) -> &[usize] {
        &self.shown
    }

    pub(super) fn list(&self) -> Vec<usize> {
        let mut list = Vec::with_capacity(self.shown.len());
        let mut at = self.links[FRONT].next;
        while at != NONE {
            let link = self.links[at as usize];
            if link.place != NONE {
                list.push(at as usize);
            }
            at = link.next;
        }
        list
    }

    pub(super) fn apply(&mut self, message: &Message) {
        match message.update {
            Update::Insert(after, element) => self.insert(after, element, message.stamp),
            Update::Delete(element) => self.delete(element),
            _ => unreachable!("arrays are inserted into and deleted from"),
        }
    }

    fn insert(&mut self, after: Option<usize>, element: usize, stamp: Stamp) {
        if self.links.len() <= element {
            self.links.resize(element + 1, ABSENT);
            self.stamps.resize(element + 1, None);
        }
        // Where delivery is not causal, the element it goes after may be unknown.
        let known = |&after: &usize| self.stamps.get(after).is_some_and(Option::is_some);
        let mut at = after.filter(known).unwrap_or(FRONT);
        while let Some(Some(next)) = self.stamps.get(self.links[at].next as usize) {
            if !newer(*next, stamp, self.wrong) {
                break;
            }
            at = self.links[at].next as usize;
        }
        self.stamps[element] = Some(stamp);
        self.links[element].next = self.links[at].next;
        self.links[at].next = element as u32;
        self.show(element);
    }

    fn show(&mut self, element: usize) {
        self.links[element].place = self.shown.len() as u32;
        self.shown.push(element);
    }

    fn delete(&mut self, element: usize) {
        let Some(link) = self.links.get_mut(element).filter(|link| link.place != NONE) else { return };
        let place = std::mem::replace(&mut link.place, NONE);
        self.shown.swap_remove(place as usize);
        if let Some(&moved) = self.shown.get(place as usize) {
            self.links[moved].place = place;
        }
    }

    pub(super) fn apply_loosely(&mut self, message: &Message) {
        self.apply(message);
        if let Update::Delete(element) = message.update {
            self.loose = Some(element);
        }
    }

    pub(super) fn revive(&mut self) {
        let Some(element) = self.loose.take() else { return };
        let there = self.stamps.get(element).is_some_and(Option::is_some);
        if there && self.links[element].place == NONE {
            self.show(element);
        }
    }
}
