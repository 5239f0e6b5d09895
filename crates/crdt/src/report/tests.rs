use super::*;
use crate::reduction::{Formula, history};
use crate::simulate::Random;
use crate::{Budget, Bug, DataType, Effort, Simulation, certify, check};

/// Of simulated replicas, half of them with a bug, and of formulas, whose refutations have steps.
fn histories() -> impl Iterator<Item = History> {
    let seeds = (0..6).flat_map(|seed| DataType::ALL.map(|data_type| (seed, data_type)));
    let simulated = seeds.map(|(seed, data_type)| {
        let bug = Some(Bug::LostUpdate).filter(|_| seed % 2 == 1);
        Simulation { bug, ..Simulation::new(data_type, 150, seed) }.run()
    });
    let formulas = (0..2).flat_map(|seed| DataType::ALL.map(|data_type| (seed, data_type)));
    simulated.chain(formulas.filter_map(|(seed, data_type)| history(&Formula::random(3, 4, true, seed), data_type)))
}

fn decided(history: &History) -> Verdict {
    check(history, &mut Budget::unlimited(), &mut Effort::default())
}

#[test]
fn certificates_come_back() {
    let (mut claims, mut steps) = ([0, 0], 0);
    for history in histories() {
        let verdict = decided(&history);
        let certificate = Certificate::new(&history, &verdict).unwrap();
        let text = serde_json::to_string(&certificate).unwrap();
        let read: Certificate = serde_json::from_str(&text).unwrap();
        assert_eq!(read, certificate);
        let again = read.verdict(&history).unwrap();
        assert_eq!(format!("{again:?}"), format!("{verdict:?}"));
        assert_eq!((certify(&history, &again), read.claim()), (Ok(()), verdict.name()));
        claims[usize::from(read.claim() == "violated")] += 1;
        steps += usize::from(matches!(&verdict, Verdict::Violated(evidence) if !evidence.steps.is_empty()));
    }
    assert!(claims.iter().all(|&count| count > 5) && steps > 3, "{claims:?}, {steps}");
    assert!(Certificate::new(&histories().next().unwrap(), &Verdict::Undecided).is_none());
}

#[test]
fn other_histories_are_recognized() {
    let all: Vec<History> = histories().collect();
    let certificate = Certificate::new(&all[0], &decided(&all[0])).unwrap();
    for other in &all[1..] {
        assert!(matches!(certificate.verdict(other), Err(CertificateError::OtherHistory { .. })));
    }
    let old = Certificate { version: 0, ..certificate };
    assert_eq!(old.verdict(&all[0]).unwrap_err(), CertificateError::Version(0));
}

/// Changes a number somewhere.
fn disturb(value: &mut Value, random: &mut Random) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let at = random.below(items.len());
            disturb(&mut items[at], random);
        }
        Value::Object(fields) => {
            let at = random.below(fields.len());
            if let Some(field) = fields.values_mut().nth(at) {
                disturb(field, random);
            }
        }
        Value::Number(_) => *value = json!([0, 1, 2, 7, u32::MAX][random.below(5)]),
        _ => {}
    }
}

/// Whatever a certificate says, it is certified or rejected: nothing panics, and no disturbed proof shows the opposite.
#[test]
fn disturbed_certificates_do_no_harm() {
    let mut random = Random::new(1);
    let mut rejected = 0;
    for history in histories() {
        let certificate = Certificate::new(&history, &decided(&history)).unwrap();
        for _ in 0..10 {
            let mut value = serde_json::to_value(&certificate).unwrap();
            disturb(&mut value["evidence"], &mut random);
            let Ok(changed) = serde_json::from_value::<Certificate>(value) else { continue };
            let certified = changed.verdict(&history).is_ok_and(|verdict| certify(&history, &verdict).is_ok());
            rejected += usize::from(!certified);
        }
    }
    assert!(rejected > 150, "{rejected}");
}
