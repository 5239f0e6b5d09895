//! Updates under way between replicas.
//!
//! Delivery is causal: a replica hears of an update only after all updates that its origin had heard of or made before.
//! Each update carries how many that were, per replica.

use std::collections::VecDeque;
use std::rc::Rc;

use super::{Message, Random};

/// An update, and how many updates of each replica its origin had applied before.
pub(super) struct Received {
    pub(super) message: Message,
    before: Vec<u32>,
}

pub(super) struct Network {
    /// What waits, by receiver and origin.
    queues: Vec<Vec<VecDeque<Rc<Received>>>>,
    /// How many updates of each other a replica has applied, its own among them.
    applied: Vec<Vec<u32>>,
    /// Whether the order of delivery is any.
    disorder: bool,
}

impl Network {
    pub(super) fn new(replicas: usize, disorder: bool) -> Self {
        Network {
            queues: (0..replicas).map(|_| (0..replicas).map(|_| VecDeque::new()).collect()).collect(),
            applied: vec![vec![0; replicas]; replicas],
            disorder,
        }
    }

    pub(super) fn send(&mut self, origin: usize, message: Message) {
        let sent = Rc::new(Received { message, before: self.applied[origin].clone() });
        self.applied[origin][origin] += 1;
        for (receiver, queues) in self.queues.iter_mut().enumerate() {
            if receiver != origin {
                queues[origin].push_back(Rc::clone(&sent));
            }
        }
    }

    pub(super) fn waiting(&self, receiver: usize, origin: usize) -> usize {
        self.queues[receiver][origin].len()
    }

    /// The next update of an origin, if the receiver has applied all that comes before it.
    pub(super) fn receive(&mut self, receiver: usize, origin: usize, random: &mut Random) -> Option<Rc<Received>> {
        let queue = &mut self.queues[receiver][origin];
        let at = if self.disorder && !queue.is_empty() { random.below(queue.len()) } else { 0 };
        let ready = |next: &Received| next.before.iter().zip(&self.applied[receiver]).all(|(need, have)| need <= have);
        if !self.disorder && !queue.front().is_some_and(|next| ready(next)) {
            return None;
        }
        let received = queue.remove(at)?;
        self.applied[receiver][origin] += 1;
        Some(received)
    }
}
