//! A proxy between clients and a server, whose connections can be broken on purpose.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// What the proxy does with what it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Passes it on.
    Flows,
    /// Passes it on after some time.
    Lags(Duration),
    /// Passes on what clients send, and keeps what the server answers: work is done of which nobody hears.
    Unanswered,
    /// Closes all connections, and each new one.
    Refused,
}

/// A proxy on a free port of the loopback address. Dropped, it closes everything.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    server: SocketAddr,
    traffic: Mutex<Traffic>,
    /// Both ends of each connection.
    connections: Mutex<Vec<(TcpStream, TcpStream)>>,
    is_over: AtomicBool,
}

/// How often a connection on which nothing comes is asked whether it is over.
const BEAT: Duration = Duration::from_millis(20);

impl Proxy {
    /// Passes on to a server, until told otherwise.
    pub fn start(server: SocketAddr) -> io::Result<Proxy> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            server,
            traffic: Mutex::new(Traffic::Flows),
            connections: Mutex::new(Vec::new()),
            is_over: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &accepting));
        Ok(Proxy { address, shared })
    }

    /// Where clients connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes what becomes of what is sent, on connections that exist and on new ones.
    pub fn set(&self, traffic: Traffic) {
        *self.shared.traffic() = traffic;
        if traffic == Traffic::Refused {
            self.cut();
        }
    }

    /// Closes all connections. New ones are welcome.
    pub fn cut(&self) {
        for (client, server) in self.shared.connections().drain(..) {
            // Whoever has closed it already has done what was wanted.
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.cut();
        // Wakes whoever accepts.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn traffic(&self) -> MutexGuard<'_, Traffic> {
        self.traffic.lock().expect("nothing panics with the lock")
    }

    fn connections(&self) -> MutexGuard<'_, Vec<(TcpStream, TcpStream)>> {
        self.connections.lock().expect("nothing panics with the lock")
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        if shared.is_over.load(Ordering::Relaxed) {
            return;
        }
        // A connection that fails is one that the client sees fail.
        let Ok(client) = client else { continue };
        if *shared.traffic() != Traffic::Refused {
            let _ = connect(client, shared);
        }
    }
}

fn connect(client: TcpStream, shared: &Arc<Shared>) -> io::Result<()> {
    let server = TcpStream::connect_timeout(&shared.server, Duration::from_secs(5))?;
    for end in [&client, &server] {
        end.set_nodelay(true)?;
        end.set_read_timeout(Some(BEAT))?;
    }
    shared.connections().push((client.try_clone()?, server.try_clone()?));
    let (questions, answers) = (Arc::clone(shared), Arc::clone(shared));
    let (from_client, to_server) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || pass_on(from_client, to_server, &questions, false));
    thread::spawn(move || pass_on(server, client, &answers, true));
    Ok(())
}

/// Passes on in one direction until either end closes.
fn pass_on(mut from: TcpStream, mut to: TcpStream, shared: &Shared, answers: bool) {
    let mut buffer = vec![0; 1 << 16];
    while !shared.is_over.load(Ordering::Relaxed) {
        let length = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) =>
            {
                continue;
            }
            Err(_) => break,
        };
        // Answers wait here until they may go on, or the connection is closed.
        while answers && *shared.traffic() == Traffic::Unanswered && is_open(&to) {
            thread::sleep(BEAT);
        }
        let traffic = *shared.traffic();
        if let Traffic::Lags(time) = traffic {
            thread::sleep(time);
        }
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// Whether an end has not been closed from here.
fn is_open(stream: &TcpStream) -> bool {
    // Nothing is taken from the stream, and a reader that comes between loses nothing.
    !matches!(stream.peek(&mut [0]), Ok(0)) && stream.peer_addr().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers each byte with the next one.
    fn server() -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                thread::spawn(move || {
                    let mut byte = [0];
                    while stream.read_exact(&mut byte).is_ok() && stream.write_all(&[byte[0] + 1]).is_ok() {}
                });
            }
        });
        address
    }

    fn ask(client: &mut TcpStream, byte: u8) -> io::Result<u8> {
        client.write_all(&[byte])?;
        let mut answer = [0];
        client.read_exact(&mut answer)?;
        Ok(answer[0])
    }

    #[test]
    fn connections_flow_lag_and_break() {
        let proxy = Proxy::start(server()).unwrap();
        let connect = || {
            let client = TcpStream::connect(proxy.address()).unwrap();
            client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            client
        };
        let mut client = connect();
        assert_eq!(ask(&mut client, 1).unwrap(), 2);
        proxy.set(Traffic::Lags(Duration::from_millis(30)));
        let asked = std::time::Instant::now();
        assert_eq!(ask(&mut client, 5).unwrap(), 6);
        assert!(asked.elapsed() >= Duration::from_millis(60), "there and back");
        proxy.set(Traffic::Flows);
        proxy.cut();
        assert!(ask(&mut client, 1).is_err());
        assert_eq!(ask(&mut connect(), 7).unwrap(), 8);
        proxy.set(Traffic::Refused);
        assert!(ask(&mut connect(), 1).is_err());
        proxy.set(Traffic::Flows);
        assert_eq!(ask(&mut connect(), 9).unwrap(), 10);
    }

    #[test]
    fn answers_can_be_kept_and_come_late() {
        let proxy = Proxy::start(server()).unwrap();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        assert_eq!(ask(&mut client, 1).unwrap(), 2);
        proxy.set(Traffic::Unanswered);
        client.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        assert!(ask(&mut client, 3).is_err(), "nobody answers");
        proxy.set(Traffic::Flows);
        client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut answer = [0];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [4], "the answer was kept");
    }
}
