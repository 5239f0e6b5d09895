//! Applications on keys and values.

mod courseware;
mod shopping_cart;
mod stack;
mod twitter;

use std::{fmt, io};

use isonomy_history::Sink;
use isonomy_store::{Options, Session, Store, StoreError, StoreLevel};
use isonomy_workload::Rng;

pub(crate) use courseware::Courseware;
pub(crate) use shopping_cart::ShoppingCart;
pub(crate) use stack::Stack;
pub(crate) use twitter::Twitter;

use crate::application::Control;
use crate::run::RunError;
use crate::script::{AT_THE_END, Client, Failure, Place};

/// What a key holds: a few numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct List(pub(crate) Vec<i64>);

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, number) in self.0.iter().enumerate() {
            write!(f, "{}{number}", if i > 0 { " " } else { "" })?;
        }
        f.write_str("]")
    }
}

impl Place for Store<List> {
    type Client = Session<List>;

    fn open(options: Options, control: Option<Control>) -> Self {
        open(options, control)
    }

    fn client(&self) -> Session<List> {
        self.session()
    }

    fn settle(&self) {
        Store::settle(self);
    }

    fn write_history(&self, sink: &mut dyn Sink) -> io::Result<()> {
        Store::write_history(self, sink)
    }
}

impl Client for Session<List> {
    fn begin(&mut self) -> Result<(), Failure> {
        Ok(Session::begin(self)?)
    }

    fn begin_latest(&mut self, level: StoreLevel) -> Result<(), Failure> {
        Ok(self.begin_with(level, AT_THE_END)?)
    }

    fn commit(&mut self) -> Result<(), Failure> {
        Ok(Session::commit(self)?)
    }

    fn rollback(&mut self) {
        Session::rollback(self);
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict(_) => Failure::Conflict,
            error => Failure::Broken(RunError::Store(error)),
        }
    }
}

/// An empty store.
pub(crate) fn open<V: Clone + fmt::Display>(options: Options, control: Option<Control>) -> Store<V> {
    match control {
        Some(Control { chooser, listener }) => {
            let store = Store::with_chooser(options, chooser);
            store.listen(listener);
            store
        }
        None => Store::new(options),
    }
}

/// The numbers that a key holds; none if it holds nothing.
fn read(session: &mut Session<List>, key: &str) -> Result<Vec<i64>, Failure> {
    Ok(session.read(key)?.unwrap_or_default().0)
}

fn write(session: &mut Session<List>, key: &str, numbers: impl Into<Vec<i64>>) -> Result<(), Failure> {
    Ok(session.write(key, Some(List(numbers.into())))?)
}

/// One of several, each with its weight.
fn weighted<T: Copy>(rng: &mut Rng, choices: &[(u64, T)]) -> T {
    let mut number = rng.below(choices.iter().map(|choice| choice.0).sum());
    for &(weight, choice) in choices {
        if number < weight {
            return choice;
        }
        number -= weight;
    }
    unreachable!("the number is below the sum of the weights")
}
