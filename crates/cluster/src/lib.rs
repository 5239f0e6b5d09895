//! Throw-away database servers.
//!
//! [`Server::start`] starts the servers of a [`Kind`] from the binaries that the system has installed, on free ports of the loopback
//! address, with their files in a temporary folder. Each [`Node`] can be killed, paused and restarted, which is what tests of a cluster
//! need. Dropping the server ends all of its processes and removes the folder; if the process that started it is killed, its servers are
//! killed by the kernel.
//!
//! Servers are set up for speed: nothing is forced to disk, since what is thrown away need not outlive the machine. What a killed server
//! wrote is still there when it is restarted.
//!
//! A new kind is a variant in `kind.rs` and a module with a function that starts its nodes.

mod error;
mod etcd;
mod folder;
mod galera;
mod h2;
mod kind;
mod launch;
mod mariadb;
mod node;
mod ports;
mod postgres;
mod process;
mod programs;
mod redis;
mod server;

pub use error::Error;
pub use kind::Kind;
pub use node::Node;
pub use server::Server;
