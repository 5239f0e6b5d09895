//! Registers: with version vectors where all latest values are kept, with Lamport timestamps where the last one is.

use super::{Context, Message, Stamp, Update, newer};

/// Keeps the values whose versions no other one includes.
pub(super) struct MultiValue {
    /// By object.
    siblings: Vec<Vec<Sibling>>,
    replicas: usize,
    /// The bug: only the last one is kept.
    wrong: bool,
}

struct Sibling {
    version: Vec<u32>,
    value: usize,
    stamp: Stamp,
}

impl MultiValue {
    pub(super) fn new(objects: usize, replicas: usize, wrong: bool) -> Self {
        MultiValue { siblings: (0..objects).map(|_| Vec::new()).collect(), replicas, wrong }
    }

    pub(super) fn values(&self, object: usize) -> impl Iterator<Item = usize> {
        self.siblings[object].iter().map(|sibling| sibling.value)
    }

    pub(super) fn context(&self, update: Update, replica: usize) -> Context {
        let (object, _) = write(update);
        let mut version = vec![0; self.replicas];
        for sibling in &self.siblings[object] {
            for (known, &other) in version.iter_mut().zip(&sibling.version) {
                *known = other.max(*known);
            }
        }
        version[replica] += 1;
        Context::Version(version)
    }

    pub(super) fn apply(&mut self, message: &Message) {
        let (object, value) = write(message.update);
        let Context::Version(version) = &message.context else { unreachable!("writes carry versions") };
        let siblings = &mut self.siblings[object];
        if siblings.iter().any(|sibling| includes(&sibling.version, version)) {
            return;
        }
        siblings.retain(|sibling| !includes(version, &sibling.version));
        siblings.push(Sibling { version: version.clone(), value, stamp: message.stamp });
        if self.wrong {
            let last = siblings.iter().map(|sibling| sibling.stamp).max();
            siblings.retain(|sibling| Some(sibling.stamp) == last);
        }
    }
}

fn includes(version: &[u32], other: &[u32]) -> bool {
    version.iter().zip(other).all(|(a, b)| a >= b)
}

/// Keeps the value with the highest timestamp.
pub(super) struct LastWriter {
    /// By object.
    last: Vec<Option<(Stamp, usize)>>,
    /// The bug: the lower replica wins where clocks are equal.
    wrong: bool,
}

impl LastWriter {
    pub(super) fn new(objects: usize, wrong: bool) -> Self {
        LastWriter { last: vec![None; objects], wrong }
    }

    pub(super) fn value(&self, object: usize) -> Option<usize> {
        self.last[object].map(|(_, value)| value)
    }

    pub(super) fn apply(&mut self, message: &Message) {
        let (object, value) = write(message.update);
        let last = &mut self.last[object];
        if last.is_none_or(|(stamp, _)| newer(message.stamp, stamp, self.wrong)) {
            *last = Some((message.stamp, value));
        }
    }
}

/// The object and the value.
fn write(update: Update) -> (usize, usize) {
    match update {
        Update::Write(object, value) => (object, value),
        _ => unreachable!("registers are written"),
    }
}
