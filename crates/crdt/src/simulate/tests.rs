use super::*;
use crate::formats::{Format, write};
use crate::oracle;

fn text(history: &History) -> String {
    let mut out = Vec::new();
    write(history, Format::Notation, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A history that is small enough for the oracle, of a shape that changes with the seed.
fn small(data_type: DataType, seed: u64) -> Simulation {
    let replicas = 2 + (seed % 2) as usize;
    Simulation {
        replicas,
        objects: 1 + (seed / 2 % 2) as usize,
        query_share: 0.5,
        delivery: [0.3, 0.6, 0.9][(seed % 3) as usize],
        unique_values: !seed.is_multiple_of(5),
        ..Simulation::new(data_type, if replicas == 2 { 7 } else { 6 }, seed)
    }
}

#[test]
fn what_correct_replicas_do_is_admitted() {
    for data_type in DataType::ALL {
        for seed in 0..300 {
            let history = small(data_type, seed).run();
            assert!(oracle::admits(&history), "seed {seed}\n{}", text(&history));
        }
    }
}

#[test]
fn every_bug_shows() {
    for data_type in DataType::ALL {
        for bug in Bug::ALL {
            // Two replicas and two objects are where most bugs show.
            let caught = (0..if bug.applies_to(data_type) { 50_000 } else { 100 }).find(|&seed| {
                let small =
                    Simulation { replicas: 2, objects: 2, operations: 7, delivery: 0.7, ..small(data_type, seed) };
                !oracle::admits(&Simulation { bug: Some(bug), ..small }.run())
            });
            assert_eq!(caught.is_some(), bug.applies_to(data_type), "{bug} in {data_type}");
        }
    }
}

#[test]
fn the_seed_decides() {
    for data_type in DataType::ALL {
        let simulation = Simulation::new(data_type, 1000, 5);
        let history = simulation.run();
        assert_eq!(history.len(), 1000);
        assert_eq!(text(&history), text(&simulation.run()));
        assert_ne!(text(&history), text(&Simulation { seed: 6, ..simulation }.run()));
    }
}

#[test]
fn what_is_written_is_read_back() {
    for data_type in DataType::ALL {
        let history = Simulation { unique_values: false, ..Simulation::new(data_type, 3000, 5) }.run();
        let expected = text(&history);
        for format in Format::ALL {
            let mut out = Vec::new();
            write(&history, format, &mut out).unwrap();
            let again = crate::read(&out[..], Some(data_type), None).unwrap();
            assert_eq!(text(&again), expected, "{data_type} in {format}");
        }
    }
}

#[test]
fn arrays_stay_short() {
    let history = Simulation::new(DataType::Rga, 20_000, 1).run();
    let lengths = history.operations().filter_map(|op| match history.operation(op) {
        crate::Operation::List(elements) => Some(elements.len()),
        _ => None,
    });
    let longest = lengths.max().unwrap();
    assert!((LONG / 2..2 * LONG).contains(&longest), "{longest}");
}

#[test]
fn strange_parameters_are_understood() {
    for data_type in DataType::ALL {
        let empty = Simulation { replicas: 0, objects: 0, ..Simulation::new(data_type, 5, 0) };
        assert_eq!(empty.run().replicas().len(), 1);
        assert!(Simulation::new(data_type, 0, 0).run().is_empty());
        let deaf = Simulation { delivery: f64::NAN, query_share: 7.0, ..empty };
        assert_eq!(deaf.run().len(), 5);
    }
}
