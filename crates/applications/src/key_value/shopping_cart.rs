//! A shopping cart that is open in several windows.
//!
//! Whatever a client does, it is shown the cart. One key holds a user's cart: a list of units, each of some item. After Sivaramakrishnan, Kaki and Jagannathan, *Declarative Programming over
//! Eventually Consistent Data Stores*, PLDI 2015, and figure 1.4 of the thesis. There a cart is a multi-set of items; here each unit has a number, so that
//! one that comes back can be told from one that was added again.

use isonomy_store::{Session, Store};
use isonomy_workload::Rng;

use super::{List, read, weighted, write};
use crate::application::Assertion;
use crate::script::{Failure, Logged, Script, Step, Turn};

/// A shopping cart.
pub(crate) struct ShoppingCart;

/// Items in the shop.
const ITEMS: i64 = 2;

/// The unit of item 0 that is in the cart at first.
const FIRST: i64 = 0;

/// More than there are units of an item.
const UNITS: i64 = 1_000;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Add {
        unit: i64,
    },
    /// Removes all units of an item.
    Remove {
        item: i64,
    },
    /// Sets how many units of an item there are, if there is one; those that are missing have numbers from `unit` on.
    ChangeQuantity {
        item: i64,
        quantity: usize,
        unit: i64,
    },
    View,
}

impl Script for ShoppingCart {
    const NAME: &'static str = "shopping-cart";
    const ABOUT: &'static str = "a cart in one key, changed from several windows";
    const ASSERTIONS: &'static [Assertion] =
        &[Assertion { name: "item-reappears", about: "a unit that was gone is seen again, in one session" }];
    const OPERATIONS: usize = 3;
    const IS_SMALL: bool = true;

    type Place = Store<List>;
    type Operation = Operation;

    fn load(session: &mut Session<List>) -> Result<(), Failure> {
        write(session, "cart", [FIRST])
    }

    fn draw(rng: &mut Rng, turn: Turn) -> Operation {
        let item = rng.below(ITEMS as u64) as i64;
        // Each operation may need two units.
        let unit = item * UNITS + 2 * turn.unique();
        let quantity = 1 + rng.below(2) as usize;
        let add = Operation::Add { unit };
        let change = Operation::ChangeQuantity { item, quantity, unit };
        weighted(rng, &[(2, add), (2, Operation::Remove { item }), (1, change), (4, Operation::View)])
    }

    fn step(operation: &mut Operation, session: &mut Session<List>) -> Result<Step, Failure> {
        let mut cart = read(session, "cart")?;
        match *operation {
            Operation::View => return Ok(Step::Done(cart)),
            Operation::Add { unit } => cart.push(unit),
            Operation::Remove { item } => cart.retain(|unit| unit / UNITS != item),
            Operation::ChangeQuantity { item, quantity, unit } => change_quantity(&mut cart, item, quantity, unit),
        }
        write(session, "cart", cart.clone())?;
        Ok(Step::Done(cart))
    }

    fn broken(log: &[Logged<Operation>], _: &mut Session<List>) -> Result<Vec<bool>, Failure> {
        let sessions = log.iter().map(|entry| entry.session + 1).max().unwrap_or(0);
        Ok(vec![(0..sessions).any(|session| reappears(log.iter().filter(|entry| entry.session == session)))])
    }
}

fn change_quantity(cart: &mut Vec<i64>, item: i64, quantity: usize, unit: i64) {
    let has = cart.iter().filter(|unit| *unit / UNITS == item).count();
    if has == 0 {
        return;
    }
    let mut kept = 0;
    cart.retain(|unit| {
        let of_item = unit / UNITS == item;
        kept += usize::from(of_item);
        !of_item || kept <= quantity
    });
    cart.extend((has..quantity).zip(unit..).map(|(_, unit)| unit));
}

/// Whether a session sees a unit again that was in the cart before and then was not.
fn reappears<'l>(entries: impl Iterator<Item = &'l Logged<Operation>>) -> bool {
    let (mut known, mut gone) = (vec![FIRST], Vec::new());
    for cart in entries.filter_map(|entry| entry.answer.as_ref()) {
        if cart.iter().any(|unit| gone.contains(unit)) {
            return true;
        }
        gone.extend(known.iter().filter(|unit| !cart.contains(unit)));
        known.clone_from(cart);
    }
    false
}
