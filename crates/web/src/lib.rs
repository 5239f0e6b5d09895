//! The local web application of Isonomy: what is there, what holds, why not, and what happens when a workload runs.
//!
//! A [`Server`] shows the histories and run folders below given folders, checks them, starts runs, and shows what came of it. It is made for
//! one user on one machine: it listens to the loopback interface unless told otherwise, and knows nothing that the user could not read.
//!
//! - Long work happens in processes of the command `isonomy` itself ([`Config::program`]): it can be stopped, and takes nobody down with it.
//! - Nothing is addressed by a path. What was listed has an opaque id, and what was not listed has none.
//! - Pages are plain functions from data to text, in `view`; `routes` is all that knows HTTP. Scripts and style sheets are files of their own,
//!   so that the policy of the pages can forbid everything else.

mod assets;
mod config;
mod events;
mod evidence;
mod findings;
mod form;
mod gate;
mod jobs;
mod library;
mod problem;
mod routes;
mod secret;
mod server;
mod shelf;
mod slice;
mod statistics;
mod upload;
mod view;

pub use config::{Choices, Config, Database, Limits};
pub use secret::{Token, without_password};
pub use server::{Server, StartError};
