//! Faults on purpose, by a schedule that follows from a seed.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use isonomy_workload::Rng;

/// Something that breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// All connections to a node are closed; new ones are welcome.
    Cut,
    /// All connections to a node are closed, and new ones too, for a while.
    Partition,
    /// Everything to and from a node takes longer, for a while.
    Delay,
    /// A node hears its clients and its answers are lost, for a while; then its connections are closed.
    Mute,
    /// A node is killed without warning, and started again after a while.
    Kill,
    /// A node stands still, for a while.
    Pause,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 6] = [Fault::Cut, Fault::Partition, Fault::Delay, Fault::Mute, Fault::Kill, Fault::Pause];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Cut => "cut",
            Fault::Partition => "partition",
            Fault::Delay => "delay",
            Fault::Mute => "mute",
            Fault::Kill => "kill",
            Fault::Pause => "pause",
        }
    }

    /// Whether it needs a server that can be killed, and not its connections alone.
    pub fn needs_server(self) -> bool {
        matches!(self, Fault::Kill | Fault::Pause)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(name: &str) -> Result<Self, UnknownFault> {
        Fault::ALL.into_iter().find(|fault| fault.name() == name).ok_or_else(|| UnknownFault(name.into()))
    }
}

/// There is no fault of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown fault `{0}`; known are {known}", known = Fault::ALL.map(Fault::name).join(", "))]
pub struct UnknownFault(pub Box<str>);

/// A node that can be broken, and made whole.
pub trait Breakable: Sync {
    /// Breaks it. What is over at once needs no mending.
    fn inject(&self, fault: Fault) -> Result<(), String>;

    /// Makes it whole again.
    fn heal(&self, fault: Fault) -> Result<(), String>;
}

/// Which faults, how often and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// One of these each time.
    pub faults: Vec<Fault>,
    /// The time from the end of one to the next, on average.
    pub every: Duration,
    /// How long each lasts.
    pub lasting: Duration,
    /// What the choices follow from.
    pub seed: u64,
}

/// A fault that there was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injected {
    /// Which.
    pub fault: Fault,
    /// The node, from 0.
    pub node: usize,
    /// When it began and when it was over, since the schedule began.
    pub from: Duration,
    /// See `from`.
    pub until: Duration,
    /// What went wrong with it, if it could not be done as it should.
    pub trouble: Option<String>,
}

impl Schedule {
    /// Breaks one node after the other until told to stop; then all are whole again. Returns what there was.
    pub fn run(&self, nodes: &[&dyn Breakable], stop: &AtomicBool) -> Vec<Injected> {
        let mut injected = Vec::new();
        if nodes.is_empty() || self.faults.is_empty() {
            return injected;
        }
        let mut rng = Rng::new(self.seed);
        let began = Instant::now();
        loop {
            // Between half and one and a half of the time.
            let wait = self.every / 2 + self.every.mul_f64(rng.unit());
            if !sleep(wait, stop) {
                return injected;
            }
            let fault = self.faults[rng.below(self.faults.len() as u64) as usize];
            let node = rng.below(nodes.len() as u64) as usize;
            let from = began.elapsed();
            let mut trouble = nodes[node].inject(fault).err();
            if trouble.is_none() && fault != Fault::Cut {
                sleep(self.lasting, stop);
                trouble = nodes[node].heal(fault).err();
            }
            injected.push(Injected { fault, node, from, until: began.elapsed(), trouble });
        }
    }
}

/// Whether the whole time passed before being told to stop.
fn sleep(time: Duration, stop: &AtomicBool) -> bool {
    let end = Instant::now() + time;
    while !stop.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        thread::sleep(left.min(Duration::from_millis(20)));
    }
    false
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    struct Node(Mutex<Vec<(Fault, bool)>>);

    impl Breakable for Node {
        fn inject(&self, fault: Fault) -> Result<(), String> {
            self.0.lock().unwrap().push((fault, true));
            if fault == Fault::Kill { Err("it does not die".into()) } else { Ok(()) }
        }

        fn heal(&self, fault: Fault) -> Result<(), String> {
            self.0.lock().unwrap().push((fault, false));
            Ok(())
        }
    }

    #[test]
    fn what_is_broken_is_mended_and_reported() {
        let nodes = [Node(Mutex::default()), Node(Mutex::default())];
        let schedule = Schedule {
            faults: vec![Fault::Cut, Fault::Pause, Fault::Kill],
            every: Duration::from_millis(4),
            lasting: Duration::from_millis(2),
            seed: 1,
        };
        let stop = AtomicBool::new(false);
        let injected = thread::scope(|scope| {
            let run = scope.spawn(|| schedule.run(&[&nodes[0], &nodes[1]], &stop));
            thread::sleep(Duration::from_millis(400));
            stop.store(true, Ordering::Relaxed);
            run.join().unwrap()
        });
        for fault in &schedule.faults {
            assert!(injected.iter().any(|one| one.fault == *fault), "{fault} never came");
        }
        assert!(injected.iter().all(|one| one.trouble.is_some() == (one.fault == Fault::Kill)));
        let done: usize = nodes.iter().map(|node| node.0.lock().unwrap().len()).sum();
        let healed = injected.iter().filter(|one| one.fault == Fault::Pause).count();
        assert_eq!(done, injected.len() + healed);
        assert_eq!("pause".parse(), Ok(Fault::Pause));
        assert!("burn".parse::<Fault>().unwrap_err().to_string().contains("kill"));
    }
}
