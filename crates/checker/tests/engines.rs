//! Two engines, and every ingredient of the first left out: all give the same verdicts, and all verdicts pass the certifier.

mod support;

use isonomy_checker::certify::certify;
use isonomy_checker::{Ablation, Engine, IsolationLevel as L, Options, Terms, Verdict, check};
use isonomy_history::{History, HistoryBuilder};
use isonomy_workload::{HistorySpec, Preset, TimeDetail};

const ALL: Ablation = Ablation { guess: true, prune: true, coalesce: true, rmw_inference: true };
const CONSTRAINTS: Ablation = Ablation { guess: false, ..ALL };

fn variants() -> [Options<'static>; 8] {
    let ablated = |ablation| Options { ablation, ..Options::default() };
    [
        Options::default(),
        Options { engine: Engine::Frontier, ..Options::default() },
        ablated(Ablation { prune: false, ..ALL }),
        ablated(CONSTRAINTS),
        ablated(Ablation { prune: false, ..CONSTRAINTS }),
        ablated(Ablation { coalesce: false, ..CONSTRAINTS }),
        ablated(Ablation { rmw_inference: false, ..CONSTRAINTS }),
        ablated(Ablation { prune: false, coalesce: false, rmw_inference: false, ..CONSTRAINTS }),
    ]
}

/// Whether a level holds, by all variants.
fn agreed(history: &History, level: L, session_order: bool, name: &str) -> Option<bool> {
    let mut found = None;
    for (which, options) in variants().iter().enumerate() {
        let verdict = check(history, level, &Options { session_order, ..*options });
        let holds = match verdict {
            Verdict::Holds(_) => true,
            Verdict::Violated(_) => false,
            Verdict::Undecided(_) => continue,
        };
        let terms = Terms { session_order, ..Terms::default() };
        if let Err(flaw) = certify(history, level, terms, &verdict) {
            panic!("{name}: {level}, variant {which}: {flaw}");
        }
        let before = *found.get_or_insert(holds);
        assert_eq!(before, holds, "{name}: {level}, session order {session_order}, variant {which}");
    }
    found
}

const STRONG: [L; 8] = [
    L::Prefix,
    L::SnapshotIsolation,
    L::AdyaSi,
    L::GeneralizedSi,
    L::StrongSessionSi,
    L::StrongSi,
    L::Serializable,
    L::StrictSerializable,
];

#[test]
fn all_agree_on_random_histories() {
    let mut at = 0;
    support::for_each_random_history(|history, name| {
        at += 1;
        if at % 4 == 0 {
            for level in STRONG {
                agreed(history, level, at % 8 == 0, name);
            }
        }
    });
}

fn generate(spec: &HistorySpec) -> History {
    let mut builder = HistoryBuilder::new();
    spec.generate(&mut builder).expect("the specification is sound");
    builder.finish().expect("no value is written twice")
}

/// Stores weaker than what is asked for: some histories hold, some do not.
#[test]
fn all_agree_on_histories_of_stores() {
    let mut outcomes = [0; 2];
    let presets = [Preset::A, Preset::C, Preset::D, Preset::BlindRw, Preset::ListAppend, Preset::Cobra, Preset::Mini];
    for seed in 1..=280 {
        let preset = presets[seed as usize % presets.len()];
        let store = ["causal", "prefix", "snapshot-isolation", "serializable", "strong-si"][seed as usize % 5];
        let mut spec = HistorySpec {
            transactions: 30 + seed % 50,
            sessions: 3 + seed as u32 % 4,
            level: store.parse().expect("it is a store"),
            times: TimeDetail::Bounds,
            seed,
            ..preset.spec()
        };
        spec.workload.keys = 20 + seed % 60;
        let history = generate(&spec);
        for level in STRONG {
            let holds = agreed(&history, level, seed % 2 == 0, &format!("{preset} of {store}, seed {seed}"));
            outcomes[usize::from(holds.expect("one of them decides it"))] += 1;
        }
    }
    assert!(outcomes[0] > 200 && outcomes[1] > 200, "both outcomes occur: {outcomes:?}");
}

#[test]
fn formulas_are_satisfiable_iff_their_histories_hold() {
    use support::hardness::{history_of, random_cnf, satisfiable};
    let mut outcomes = [0; 2];
    for seed in 0..60 {
        let formula = random_cnf(4, 8, 3, seed);
        let expected = satisfiable(&formula);
        outcomes[usize::from(expected)] += 1;
        let history = history_of(&formula);
        for level in [L::Prefix, L::SnapshotIsolation, L::Serializable] {
            let found = agreed(&history, level, true, &format!("formula {seed}"));
            assert_eq!(found, Some(expected), "formula {seed} at {level}: {formula:?}");
        }
    }
    assert!(outcomes[0] > 5 && outcomes[1] > 5, "both outcomes occur: {outcomes:?}");
}
