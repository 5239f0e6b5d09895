//! Transactions at random, each drawn without regard to those before.

use super::source::Source;
use super::{Operation, Shape};

pub(super) fn draw(shape: &Shape, source: &mut Source, program: &mut Vec<Operation>) {
    match *shape {
        Shape::General { length, read_share, single_access } => {
            for _ in 0..length.draw(&mut source.rng) {
                let is_read = source.rng.chance(read_share);
                let key = if single_access { source.unused_key(program, is_read) } else { source.key() };
                program.push(if is_read { Operation::Read(key) } else { Operation::Write(key) });
            }
        }
        Shape::Mixed { length, read_only, write_only } => {
            let kind = source.rng.unit();
            let length = length.draw(&mut source.rng) as usize;
            if kind < read_only {
                program.extend((0..length).map(|_| Operation::Read(source.key())));
            } else if kind < read_only + write_only {
                program.extend((0..length).map(|_| Operation::Write(source.key())));
            } else {
                while program.len() < length {
                    let key = source.key();
                    program.extend([Operation::Read(key), Operation::Write(key)]);
                }
                // An odd length ends with a read alone; a length of 1 would not be a read-modify-write.
                program.truncate(length.max(2));
            }
        }
        Shape::Blind { length, read_only } => {
            let is_read = source.rng.chance(read_only);
            let length = length.draw(&mut source.rng);
            program.extend((0..length).map(|_| {
                let key = source.key();
                if is_read { Operation::Read(key) } else { Operation::Write(key) }
            }));
        }
        Shape::Mini(ref mix) => {
            let shape = mix.draw(&mut source.rng);
            let first = source.key();
            let second = if shape.keys() == 2 { source.key_other_than(first) } else { first };
            program.extend(shape.operations([first, second]));
        }
        Shape::CasRegister { reads, writes } => {
            let kind = source.rng.unit();
            let key = source.key();
            program.push(if kind < reads {
                Operation::Read(key)
            } else if kind < reads + writes {
                Operation::Write(key)
            } else {
                Operation::CompareAndSet(key)
            });
        }
        Shape::ListAppend { .. } | Shape::RwRegister { .. } | Shape::Ranges { .. } | Shape::Application(_) => {
            unreachable!("programs of this shape depend on those before")
        }
    }
}
