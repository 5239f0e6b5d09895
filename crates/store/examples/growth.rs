//! How fast reads are as a run grows: reads a second in each part of it, for each level.
//!
//! `cargo run --release -p isonomy-store --example growth -- 100000 8 1000`: transactions, sessions, keys.

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::time::Instant;

use isonomy_store::{Options, Store, StoreLevel};
use isonomy_workload::Rng;

/// Parts that are told apart.
const PARTS: usize = 5;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let mut next = |default: u64| arguments.next().unwrap_or(default);
    let (transactions, sessions, keys) = (next(100_000), next(8), next(1_000));
    println!("{transactions} transactions of 4 reads and 4 writes, {sessions} sessions, {keys} keys: reads a second");
    for session_order in [true, false] {
        for level in StoreLevel::ALL {
            let store = Store::new(Options { level, session_order, ..Options::default() });
            let mut clients: Vec<_> = (0..sessions).map(|_| store.session()).collect();
            let mut rng = Rng::new(1);
            let mut rates = Vec::new();
            for _ in 0..PARTS {
                let (before, began) = (store.counts().reads, Instant::now());
                for _ in 0..transactions / PARTS as u64 {
                    let client = &mut clients[rng.below(sessions) as usize];
                    client.begin().expect("nobody else runs");
                    // A conflict ends a transaction early; the next one goes on.
                    for step in 0..8 {
                        let key = rng.below(keys).to_string();
                        let going = if step % 2 == 0 {
                            client.read(&key).is_ok()
                        } else {
                            client.write(&key, Some(rng.bits())).is_ok()
                        };
                        if !going {
                            break;
                        }
                    }
                    let _ = client.commit();
                }
                rates.push((store.counts().reads - before) as f64 / began.elapsed().as_secs_f64());
            }
            let order = if session_order { "" } else { ", no session order" };
            let rates: Vec<String> = rates.iter().map(|rate| format!("{rate:>9.0}")).collect();
            let stale = store.counts().stale * 100 / store.counts().reads.max(1);
            println!("{:<22}{}  {stale}% stale{order}", level.name(), rates.join(""));
        }
        if transactions > 20_000 {
            break;
        }
    }
}
