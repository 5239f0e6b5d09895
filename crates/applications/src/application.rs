//! What an application is, and which there are.

use std::fmt;

use isonomy_store::{Chooser, Listener};

use crate::key_value::{Courseware, ShoppingCart, Stack, Twitter};
use crate::relational::{SmallBank, TpcC, Voter, Wikipedia};
use crate::run::{RunError, Setup};
use crate::stage::{Play, Stage};

/// Something that should hold after every run, and does if transactions are serializable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// Its name in reports: `A4`, `item-reappears`.
    pub name: &'static str,
    /// What must not happen, or what must hold, in a few words.
    pub about: &'static str,
}

/// An application whose runs can be set up.
pub trait Application: fmt::Debug + Send + Sync {
    /// Its name in commands and reports.
    fn name(&self) -> &'static str;

    /// What it is, in a few words.
    fn about(&self) -> &'static str;

    /// What should hold.
    fn assertions(&self) -> &'static [Assertion];

    /// How many operations a session has, if nothing else is said.
    fn operations(&self) -> usize;

    /// Whether it is small enough to explore all that can happen.
    fn is_small(&self) -> bool;

    /// Draws the operations, loads the store and settles it.
    fn stage(&self, setup: &Setup, control: Option<Control>) -> Result<Box<dyn Stage>, RunError>;
}

/// Somebody who decides what reads return, instead of the setup's seed, and watches what comes of it.
pub struct Control {
    /// Decides.
    pub chooser: Box<dyn Chooser>,
    /// Is told of every transaction.
    pub listener: Listener,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").finish_non_exhaustive()
    }
}

/// All applications: those on keys and values, then those on SQL.
pub fn all() -> &'static [&'static dyn Application] {
    &[
        &Play::<Stack>::NEW,
        &Play::<Courseware>::NEW,
        &Play::<ShoppingCart>::NEW,
        &Play::<Twitter>::NEW,
        &Play::<TpcC>::NEW,
        &Play::<SmallBank>::NEW,
        &Play::<Voter>::NEW,
        &Play::<Wikipedia>::NEW,
    ]
}

/// The application of this name.
pub fn find(name: &str) -> Option<&'static dyn Application> {
    all().iter().copied().find(|application| application.name() == name)
}
