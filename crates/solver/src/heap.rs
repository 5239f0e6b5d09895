//! Choices by how often they took part in recent conflicts.
//!
//! The usual decaying activity of MiniSat (Eén and Sörensson, SAT 2003) over a binary heap that knows where each choice is.
//! Among equals the earlier choice comes first: callers number choices so that neighbours belong together.

#[derive(Clone, Debug, Default)]
pub(crate) struct Heap {
    activity: Vec<f64>,
    increment: f64,
    heap: Vec<u32>,
    /// Where a choice is in the heap, or `ABSENT`.
    place: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;
const DECAY: f64 = 0.95;
const TOO_LARGE: f64 = 1e100;

impl Heap {
    /// Makes room for one more choice.
    pub(crate) fn grow(&mut self) {
        if self.activity.is_empty() {
            self.increment = 1.0;
        }
        self.activity.push(0.0);
        self.place.push(ABSENT);
    }

    fn before(&self, a: u32, b: u32) -> bool {
        let (x, y) = (self.activity[a as usize], self.activity[b as usize]);
        x > y || (x == y && a < b)
    }

    pub(crate) fn push(&mut self, choice: u32) {
        if self.place[choice as usize] == ABSENT {
            self.place[choice as usize] = self.heap.len() as u32;
            self.heap.push(choice);
            self.rise(self.heap.len() - 1);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<u32> {
        let first = *self.heap.first()?;
        let last = self.heap.pop().expect("the heap has a first element");
        self.place[first as usize] = ABSENT;
        if last != first {
            self.heap[0] = last;
            self.place[last as usize] = 0;
            self.sink(0);
        }
        Some(first)
    }

    pub(crate) fn bump(&mut self, choice: u32) {
        self.activity[choice as usize] += self.increment;
        if self.activity[choice as usize] > TOO_LARGE {
            for activity in &mut self.activity {
                *activity /= TOO_LARGE;
            }
            self.increment /= TOO_LARGE;
            // Small activities may have become equal, and among equals the number decides.
            for at in (0..self.heap.len() / 2).rev() {
                self.sink(at);
            }
        }
        if self.place[choice as usize] != ABSENT {
            self.rise(self.place[choice as usize] as usize);
        }
    }

    pub(crate) fn decay(&mut self) {
        self.increment /= DECAY;
    }

    fn rise(&mut self, mut at: usize) {
        let choice = self.heap[at];
        while at > 0 {
            let above = (at - 1) / 2;
            if !self.before(choice, self.heap[above]) {
                break;
            }
            self.put(at, self.heap[above]);
            at = above;
        }
        self.put(at, choice);
    }

    fn sink(&mut self, mut at: usize) {
        let choice = self.heap[at];
        loop {
            let mut below = 2 * at + 1;
            if below >= self.heap.len() {
                break;
            }
            if below + 1 < self.heap.len() && self.before(self.heap[below + 1], self.heap[below]) {
                below += 1;
            }
            if !self.before(self.heap[below], choice) {
                break;
            }
            self.put(at, self.heap[below]);
            at = below;
        }
        self.put(at, choice);
    }

    fn put(&mut self, at: usize, choice: u32) {
        self.heap[at] = choice;
        self.place[choice as usize] = at as u32;
    }
}
