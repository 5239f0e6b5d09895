//! Runs of many transactions: whatever the options, the history holds at the level of its store.

use std::time::Duration;

use isonomy_checker::{IsolationLevel, Verdict, check};
use isonomy_history::{History, HistoryBuilder};
use isonomy_store::{Choice, Options, Script, Session, Store, StoreError, StoreLevel};
use isonomy_workload::Rng;

const CHOICES: [Choice; 5] =
    [Choice::Uniform, Choice::Latest, Choice::Newest, Choice::Weirdness(0.9), Choice::Weirdness(0.2)];

fn checked(level: StoreLevel) -> IsolationLevel {
    level.name().parse().unwrap()
}

fn history(store: &Store<u64>) -> History {
    let mut builder = HistoryBuilder::new();
    store.write_history(&mut builder).unwrap();
    builder.finish().unwrap()
}

#[track_caller]
fn holds(store: &Store<u64>, level: StoreLevel) {
    let options = isonomy_checker::Options { session_order: store.options().session_order, ..Default::default() };
    let verdict = check(&history(store), checked(level), &options);
    assert!(matches!(verdict, Verdict::Holds(_)), "{level}: {verdict:?} of a run with {:?}", store.options());
}

/// What a run is made of.
struct Mix {
    sessions: usize,
    keys: u64,
    transactions: usize,
    /// The probability that a client leaves and another one comes.
    turnover: f64,
    settles: f64,
}

const MIX: Mix = Mix { sessions: 4, keys: 4, transactions: 150, turnover: 0.0, settles: 0.0 };

/// Transactions of a few reads and writes; several are open at a time if the store lets them overlap.
fn run(store: &Store<u64>, mix: &Mix, level_of: impl Fn(&mut Rng) -> StoreLevel) {
    let mut rng = Rng::stream(store.options().seed, 77);
    let mut clients: Vec<Session<u64>> = (0..mix.sessions).map(|_| store.session()).collect();
    let mut left = vec![0; mix.sessions];
    let mut ended = 0;
    let mut value = 0;
    while ended < mix.transactions {
        let open = clients.iter().position(Session::is_open).filter(|_| !store.options().concurrent);
        let at = open.unwrap_or_else(|| rng.below(mix.sessions as u64) as usize);
        let client = &mut clients[at];
        if !client.is_open() {
            if rng.chance(mix.turnover) {
                *client = store.session();
            }
            if rng.chance(mix.settles) {
                store.settle();
            }
            client.begin_with(level_of(&mut rng), store.options().choice).unwrap();
            left[at] = 1 + rng.below(5);
        } else if left[at] == 0 {
            ended += 1;
            match rng.below(12) {
                0 => client.rollback(),
                _ => drop(client.commit()),
            }
        } else {
            left[at] -= 1;
            let key = rng.below(mix.keys).to_string();
            value += 1;
            let result = if rng.chance(0.5) { client.read(&key).map(drop) } else { client.write(&key, Some(value)) };
            if let Err(error) = result {
                assert!(matches!(error, StoreError::Conflict(_)), "{error}");
                assert!(!client.is_open(), "a conflict ends the transaction");
                ended += 1;
            }
        }
    }
}

#[test]
fn every_run_holds_at_its_level() {
    let mut stale = 0;
    for level in StoreLevel::ALL {
        for (seed, choice) in (0..40).zip(CHOICES.iter().cycle()) {
            for (session_order, concurrent) in [(true, false), (true, true), (false, false), (false, true)] {
                let options = Options { level, choice: *choice, seed, session_order, concurrent, ..Options::default() };
                let store = Store::new(options);
                let rare = if seed % 2 == 0 { 0.0 } else { 0.05 };
                run(&store, &Mix { turnover: rare, settles: rare, ..MIX }, |_| level);
                // Real time is not what levels without session order speak of.
                if session_order || !checked(level).needs_times() {
                    holds(&store, level);
                }
                stale += store.counts().stale;
            }
        }
    }
    assert!(stale > 10_000, "runs are not all serial: {stale}");
}

#[test]
fn so_do_long_runs_that_forget_their_oldest_choices() {
    for level in [StoreLevel::ReadCommitted, StoreLevel::ReadAtomic, StoreLevel::Causal] {
        for (seed, (sessions, keys)) in [(3, 3), (12, 40), (40, 200)].into_iter().enumerate() {
            let store = Store::new(Options { level, seed: seed as u64, ..Options::default() });
            run(&store, &Mix { sessions, keys, transactions: 12_000, ..MIX }, |_| level);
            holds(&store, level);
        }
    }
}

#[test]
fn transactions_of_several_levels_share_a_store() {
    for seed in 0..60 {
        for (lowest, weakest) in StoreLevel::ALL.into_iter().enumerate().take(5) {
            let options = Options { level: weakest, seed, concurrent: seed % 2 == 0, ..Options::default() };
            let store = Store::new(options);
            let levels = &StoreLevel::ALL[lowest..];
            run(&store, &MIX, |rng| levels[rng.below(levels.len() as u64) as usize]);
            // Snapshot isolation is not weaker than serializability with session order alone: either kind of anomaly is there.
            if weakest != StoreLevel::SnapshotIsolation {
                holds(&store, weakest);
            }
        }
    }
}

#[test]
fn a_run_repeats_from_its_seed_and_from_its_record() {
    for level in StoreLevel::ALL {
        for seed in 0..10 {
            let options = Options { level, seed, ..Options::default() };
            let [first, second] = [(); 2].map(|()| {
                let store = Store::new(options.clone());
                run(&store, &MIX, |_| level);
                store.run()
            });
            assert_eq!(first, second);
            // Another seed, but the record says what to do.
            let other = Store::following(Options { seed, choice: Choice::Latest, ..options }, Script::new(&first));
            run(&other, &MIX, |_| level);
            assert_eq!(other.run(), first);
            assert_eq!(other.counts().strayed, 0);
        }
    }
}

#[test]
fn a_read_can_be_made_newest_in_a_script() {
    let options = Options { seed: 5, ..Options::default() };
    let store = Store::new(options.clone());
    run(&store, &MIX, |_| StoreLevel::Causal);
    let first = store.run();
    let mut script = Script::new(&first);
    for ended in &first {
        for read in 0..ended.reads.len() {
            script.make_newest(ended.session, ended.number, read);
        }
    }
    let store = Store::following(options, script);
    run(&store, &MIX, |_| StoreLevel::Causal);
    assert_eq!(store.counts().stale, 0);
    holds(&store, StoreLevel::Serializable);
}

#[test]
fn savepoints_take_writes_back() {
    let store = Store::new(Options::default());
    let mut client = store.session();
    client.begin().unwrap();
    client.write("x", Some(1)).unwrap();
    let first = client.savepoint();
    client.write("x", Some(2)).unwrap();
    client.write("y", Some(3)).unwrap();
    assert_eq!(client.read("x"), Ok(Some(2)));
    client.rollback_to(first);
    assert_eq!(client.read("x"), Ok(Some(1)));
    assert_eq!(client.read("y"), Ok(None));
    client.commit().unwrap();
    client.begin().unwrap();
    assert_eq!((client.read("x"), client.read("y")), (Ok(Some(1)), Ok(None)));
    client.commit().unwrap();
    holds(&store, StoreLevel::Serializable);
}

#[test]
fn transactions_wait_for_their_turn_but_not_for_ever() {
    let store = Store::new(Options { patience: Duration::from_millis(50), ..Options::default() });
    let (mut first, mut second) = (store.session(), store.session());
    first.begin().unwrap();
    let Err(StoreError::Busy(message)) = second.begin() else { panic!("one at a time") };
    assert!(message.contains("session 1"), "{message}");
    assert!(!second.is_open());
    drop(first);
    second.begin().unwrap();
    second.write("x", Some(1)).unwrap();
    second.commit().unwrap();
    assert_eq!(second.commit(), Err(StoreError::NotOpen));
    assert_eq!(second.read("x"), Err(StoreError::NotOpen));
}

#[test]
fn threads_take_turns() {
    let store =
        Store::new(Options { level: StoreLevel::Serializable, delay: Duration::from_micros(50), ..Options::default() });
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut client = store.session();
                for _ in 0..100 {
                    client.begin().unwrap();
                    let count = client.read("count").unwrap().unwrap_or(0);
                    client.write("count", Some(count + 1)).unwrap();
                    client.commit().unwrap();
                }
            });
        }
    });
    assert_eq!(store.session().newest("count"), Some(800));
    holds(&store, StoreLevel::StrictSerializable);
}
