//! Courseware: students register, courses are offered, and students enrol for them as long as there are places.
//!
//! `student:<s>` and `course:<c>` say whether a student is registered and a course is active; `enrolled:<c>:<s>` whether a student
//! is enrolled. After Nair, Petri and Shapiro, *Proving the Safety of Highly-Available Distributed Objects*, ESOP 2020, as the thesis
//! uses it. A course that is deleted loses its students, and a student who de-registers leaves all courses.

use isonomy_store::{Session, Store};
use isonomy_workload::Rng;

use super::{List, read, weighted, write};
use crate::application::Assertion;
use crate::script::{Failure, Logged, Script, Step, Turn};

/// Courseware.
pub(crate) struct Courseware;

const STUDENTS: i64 = 3;
const COURSES: i64 = 1;
/// How many students a course takes.
const CAPACITY: usize = 1;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Register {
        student: i64,
    },
    Deregister {
        student: i64,
    },
    Create {
        course: i64,
    },
    Delete {
        course: i64,
    },
    Enrol {
        student: i64,
        course: i64,
    },
    /// Whether a course is active, and who is enrolled for it.
    View {
        course: i64,
    },
}

impl Script for Courseware {
    const NAME: &'static str = "courseware";
    const ABOUT: &'static str = "students enrol for courses that have few places";
    const ASSERTIONS: &'static [Assertion] = &[
        Assertion { name: "overflow", about: "more students are seen in a course than it has places" },
        Assertion { name: "removed-course", about: "students are seen in a course that is removed" },
    ];
    const OPERATIONS: usize = 3;
    const IS_SMALL: bool = true;

    type Place = Store<List>;
    type Operation = Operation;

    fn load(session: &mut Session<List>) -> Result<(), Failure> {
        for student in 0..STUDENTS {
            write(session, &student_key(student), [1])?;
        }
        for course in 0..COURSES {
            write(session, &course_key(course), [1])?;
        }
        Ok(())
    }

    fn draw(rng: &mut Rng, turn: Turn) -> Operation {
        // Each session is mostly about a student of its own.
        let student = if rng.chance(0.8) { turn.session as i64 % STUDENTS } else { rng.below(STUDENTS as u64) as i64 };
        let course = rng.below(COURSES as u64) as i64;
        let operations = [
            (1, Operation::Register { student }),
            (1, Operation::Deregister { student }),
            (1, Operation::Create { course }),
            (2, Operation::Delete { course }),
            (6, Operation::Enrol { student, course }),
            (2, Operation::View { course }),
        ];
        weighted(rng, &operations)
    }

    /// Answers whether it was possible; a view, what it saw.
    fn step(operation: &mut Operation, session: &mut Session<List>) -> Result<Step, Failure> {
        let possible = match *operation {
            Operation::Register { student } => set(session, &student_key(student), true)?,
            Operation::Deregister { student } => {
                let was = set(session, &student_key(student), false)?;
                if was {
                    (0..COURSES)
                        .try_for_each(|course| set(session, &enrolled_key(course, student), false).map(drop))?;
                }
                was
            }
            Operation::Create { course } => set(session, &course_key(course), true)?,
            Operation::Delete { course } => {
                let was = set(session, &course_key(course), false)?;
                if was {
                    (0..STUDENTS)
                        .try_for_each(|student| set(session, &enrolled_key(course, student), false).map(drop))?;
                }
                was
            }
            Operation::Enrol { student, course } => {
                let is_open = is_set(session, &student_key(student))? && is_set(session, &course_key(course))?;
                is_open
                    && enrolled(session, course)?.len() < CAPACITY
                    && set(session, &enrolled_key(course, student), true)?
            }
            Operation::View { course } => {
                let is_active = is_set(session, &course_key(course))?;
                let mut seen = enrolled(session, course)?;
                seen.insert(0, i64::from(is_active));
                return Ok(Step::Done(seen));
            }
        };
        Ok(Step::Done(vec![i64::from(possible)]))
    }

    fn broken(log: &[Logged<Operation>], session: &mut Session<List>) -> Result<Vec<bool>, Failure> {
        let mut views: Vec<Vec<i64>> = Vec::new();
        for course in 0..COURSES {
            if let Step::Done(view) = Courseware::step(&mut Operation::View { course }, session)? {
                views.push(view);
            }
        }
        let is_view = |entry: &&Logged<Operation>| matches!(entry.operation, Operation::View { .. });
        views.extend(log.iter().filter(is_view).filter_map(|view| view.answer.clone()));
        let overflow = views.iter().any(|view| view.len() > 1 + CAPACITY);
        let removed = views.iter().any(|view| view[0] == 0 && view.len() > 1);
        Ok(vec![overflow, removed])
    }
}

fn student_key(student: i64) -> String {
    format!("student:{student}")
}

fn course_key(course: i64) -> String {
    format!("course:{course}")
}

fn enrolled_key(course: i64, student: i64) -> String {
    format!("enrolled:{course}:{student}")
}

fn is_set(session: &mut Session<List>, key: &str) -> Result<bool, Failure> {
    Ok(read(session, key)? == [1])
}

/// Sets or unsets something; whether that changed it.
fn set(session: &mut Session<List>, key: &str, value: bool) -> Result<bool, Failure> {
    let changes = is_set(session, key)? != value;
    if changes {
        write(session, key, [i64::from(value)])?;
    }
    Ok(changes)
}

/// The students of a course.
fn enrolled(session: &mut Session<List>, course: i64) -> Result<Vec<i64>, Failure> {
    let mut students = Vec::new();
    for student in 0..STUDENTS {
        if is_set(session, &enrolled_key(course, student))? {
            students.push(student);
        }
    }
    Ok(students)
}
