//! etcd, one member or three.
//!
//! A member of three does not get ready before another one is there, so at first it is enough that each listens. When all have
//! been started, and whenever one is started again, it must be healthy.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::folder::Folder;
use crate::launch::Launch;
use crate::node::{Node, Plan};
use crate::ports::free_port;
use crate::programs::find;

const MEMBERS: usize = 3;
/// How long members may take to agree on a leader once all are there.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn start(folder: &Folder) -> Result<Vec<Node>, Error> {
    start_members(folder, 1)
}

pub(crate) fn start_cluster(folder: &Folder) -> Result<Vec<Node>, Error> {
    start_members(folder, MEMBERS)
}

fn start_members(folder: &Folder, count: usize) -> Result<Vec<Node>, Error> {
    let program = find("etcd", "etcd-server")?;
    let ports: Vec<(u16, u16)> = (0..count).map(|_| (free_port(), free_port())).collect();
    let members: Vec<String> =
        ports.iter().enumerate().map(|(number, ports)| format!("{}={}", name(number), http(ports.1))).collect();
    let all_started = Arc::new(AtomicBool::new(false));
    let mut nodes = Vec::new();
    for (number, &(clients, peers)) in ports.iter().enumerate() {
        let launch = Launch::new(&program)
            .args(["--name", &name(number), "--data-dir"])
            .arg(folder.make(&name(number))?)
            .args(["--listen-client-urls", &http(clients), "--advertise-client-urls", &http(clients)])
            .args(["--listen-peer-urls", &http(peers), "--initial-advertise-peer-urls", &http(peers)])
            .args(["--initial-cluster", &members.join(","), "--initial-cluster-state", "new"])
            // The default, 128, is too few for a TPC-C delivery. The other: what is thrown away need not be on disk.
            .args(["--max-txn-ops", "10000", "--unsafe-no-fsync"])
            .args(["--logger", "zap", "--log-level", "warn"]);
        let all_started = Arc::clone(&all_started);
        let ready = move || if all_started.load(Ordering::Relaxed) { is_healthy(clients) } else { listens(clients) };
        let url = format!("etcd://127.0.0.1:{clients}");
        nodes.push(Plan { name: name(number), url, first: None, launch, ready: Box::new(ready) }.start(folder)?);
    }
    all_started.store(true, Ordering::Relaxed);
    let deadline = Instant::now() + PATIENCE;
    for (node, &(clients, _)) in nodes.iter().zip(&ports) {
        while !is_healthy(clients) {
            if Instant::now() > deadline {
                return Err(node.not_ready(format!("was not healthy after {} s", PATIENCE.as_secs())));
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
    Ok(nodes)
}

fn name(number: usize) -> String {
    format!("etcd{}", number + 1)
}

fn http(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

fn listens(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Whether it has a leader and takes requests.
fn is_healthy(port: u16) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(b"GET /health HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok::<_, std::io::Error>(answer)
    };
    ask().is_ok_and(|answer| answer.contains("\"health\":\"true\""))
}
