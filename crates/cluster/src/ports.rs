//! Ports that nobody uses.

use std::net::{Ipv4Addr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the ports that systems give to clients: a client that happened to get the port of a killed server would keep it from coming
/// back.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A port of the loopback address that is free now. Another one each time.
pub(crate) fn free_port() -> u16 {
    // Processes start at different places, so that tests which run at the same time rarely look at the same port.
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = (process::id() % 600) as u16 * 20;
    (0..COUNT)
        .map(|_| FIRST + (start + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT) % COUNT)
        .find(|&port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok())
        .expect("the loopback address has a free port")
}
