//! Redis, one node.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use crate::error::Error;
use crate::folder::Folder;
use crate::launch::Launch;
use crate::node::{Node, Plan};
use crate::ports::free_port;
use crate::programs::find;

pub(crate) fn start(folder: &Folder) -> Result<Vec<Node>, Error> {
    let program = find("redis-server", "redis-server")?;
    let port = free_port();
    let data = folder.make("data")?;
    let launch = Launch::new(program)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"])
        .arg(data)
        // What was acknowledged is in the system's hands, so it outlives the server.
        .args(["--appendonly", "yes", "--appendfsync", "no"]);
    let node = Plan {
        name: "redis".into(),
        url: format!("redis://127.0.0.1:{port}"),
        first: None,
        launch,
        ready: Box::new(move || answers(port).unwrap_or(false)),
    };
    Ok(vec![node.start(folder)?])
}

/// Whether it takes commands: while it reads its files, it listens but says no.
fn answers(port: u16) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    stream.write_all(b"PING\r\n")?;
    let mut answer = [0; 5];
    stream.read_exact(&mut answer)?;
    Ok(&answer == b"+PONG")
}
