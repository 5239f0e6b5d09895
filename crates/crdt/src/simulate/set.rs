//! Sets and flags with tags.
//!
//! Every update is a tag, and replaces the tags of its object that its origin held. In an add-wins set only additions
//! leave their tag behind, and an element is there while it has one. In a remove-wins set removals do too, and an
//! element is there if all its tags are additions.

use super::{Context, Message, Stamp, Update};

pub(super) struct Set {
    /// By object.
    tags: Vec<Vec<Tag>>,
    additions_win: bool,
    /// The bug: an update that should lose replaces all tags, seen by its origin or not.
    wrong: bool,
    /// The object of a removal that will be taken back, its tag, and what it replaced.
    loose: Option<(usize, Stamp, Vec<Tag>)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Tag {
    stamp: Stamp,
    adds: bool,
}

impl Set {
    pub(super) fn new(objects: usize, additions_win: bool, wrong: bool) -> Self {
        Set { tags: vec![Vec::new(); objects], additions_win, wrong, loose: None }
    }

    pub(super) fn contains(&self, object: usize) -> bool {
        let tags = &self.tags[object];
        !tags.is_empty() && tags.iter().all(|tag| tag.adds)
    }

    pub(super) fn context(&self, update: Update) -> Context {
        let (object, _) = change(update);
        Context::Tags(self.tags[object].iter().map(|tag| tag.stamp).collect())
    }

    pub(super) fn apply(&mut self, message: &Message) {
        let (object, adds) = change(message.update);
        let Context::Tags(replaced) = &message.context else { unreachable!("updates of sets carry tags") };
        let loses = adds != self.additions_win;
        let tags = &mut self.tags[object];
        tags.retain(|tag| !(self.wrong && loses || replaced.contains(&tag.stamp)));
        if adds || !self.additions_win {
            tags.push(Tag { stamp: message.stamp, adds });
        }
    }

    pub(super) fn apply_loosely(&mut self, message: &Message) {
        let (object, adds) = change(message.update);
        if !adds {
            self.loose = Some((object, message.stamp, self.tags[object].clone()));
        }
        self.apply(message);
    }

    pub(super) fn revive(&mut self) {
        let Some((object, stamp, before)) = self.loose.take() else { return };
        let tags = &mut self.tags[object];
        tags.retain(|tag| tag.stamp != stamp && !before.contains(tag));
        tags.extend(before);
    }
}

/// The object, and whether it is added.
fn change(update: Update) -> (usize, bool) {
    match update {
        Update::Add(object) => (object, true),
        Update::Remove(object) => (object, false),
        _ => unreachable!("sets are added to and removed from"),
    }
}
