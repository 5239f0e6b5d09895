//! The simulated store keeps the contract at each of its levels.

use isonomy_driver::{Mock, contract};
use isonomy_workload::StoreLevel;

#[test]
fn every_level_keeps_the_contract() {
    for level in StoreLevel::ALL {
        contract::stress(&Mock::new(level));
    }
    // At weaker levels a client need not see what another has committed.
    for level in [StoreLevel::StrongSi, StoreLevel::StrictSerializable] {
        contract::check(&Mock::new(level));
    }
}
