//! H2, a database in Java that speaks the protocol of PostgreSQL.

use std::net::{Ipv4Addr, TcpStream};

use crate::error::Error;
use crate::folder::Folder;
use crate::launch::Launch;
use crate::node::{Node, Plan};
use crate::ports::free_port;
use crate::programs::{find, find_file};

pub(crate) fn start(folder: &Folder) -> Result<Vec<Node>, Error> {
    let java = find("java", "default-jre-headless")?;
    let library = find_file("/usr/share/java/h2.jar", "libh2-java")?;
    let port = free_port();
    let data = folder.make("data")?;
    let launch = Launch::new(java)
        .arg("-cp")
        .arg(library)
        .args(["org.h2.tools.Server", "-pg", "-pgPort", &port.to_string(), "-ifNotExists", "-baseDir"])
        .arg(data);
    let node = Plan {
        name: "h2".into(),
        // Whoever comes first makes the database and is its owner.
        url: format!("postgres://isonomy:isonomy@127.0.0.1:{port}/isonomy"),
        first: None,
        launch,
        ready: Box::new(move || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()),
    };
    Ok(vec![node.start(folder)?])
}
