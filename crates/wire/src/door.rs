//! Lets clients of an SQL protocol in: one thread accepts, and each client gets one of its own.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

use crate::clients::{Clients, Place};
use crate::stream::Stream;

/// Deep expressions are taken apart recursively; memory is only used as far as they are deep.
const STACK: usize = 4 << 20;

/// How many clients may be told at a time that there are too many. Further ones just find the connection closed.
const REFUSALS: usize = 32;

/// What a protocol does with its clients.
pub(crate) trait Protocol: Send + Sync + 'static {
    /// Serves a client until it leaves. An error is one of the connection: nobody is there to be told.
    fn serve(&self, stream: Stream) -> io::Result<()>;

    /// What a client is told for whom there is no place.
    fn refusal(&self) -> Vec<u8>;

    /// How long an answer may wait for its client.
    fn reading(&self) -> Duration;
}

/// A listening socket with the thread that accepts.
#[derive(Debug)]
pub(crate) struct Door {
    address: SocketAddr,
    clients: Arc<Clients>,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Door {
    /// Opens it.
    pub(crate) fn open(address: SocketAddr, limit: usize, protocol: impl Protocol) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let (clients, closing) = (Clients::new(limit), Arc::new(AtomicBool::new(false)));
        let porter = Porter {
            listener,
            clients: Arc::clone(&clients),
            closing: Arc::clone(&closing),
            protocol: Arc::new(protocol),
            refusals: Arc::default(),
        };
        let thread = thread::Builder::new().name(format!("accept {address}")).spawn(move || porter.work())?;
        Ok(Door { address, clients, closing, thread: Some(thread) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn clients(&self) -> &Arc<Clients> {
        &self.clients
    }

    /// Closes it and ends all connections.
    pub(crate) fn close(&mut self, patience: Duration) {
        let Some(thread) = self.thread.take() else { return };
        self.closing.store(true, Ordering::SeqCst);
        // Whoever waits in `accept` is woken by a connection. If none can be made, the thread is left to its fate.
        let woken = TcpStream::connect_timeout(&reachable(self.address), Duration::from_secs(1)).is_ok();
        self.clients.close(patience);
        if woken {
            let _ = thread.join();
        }
    }
}

/// An address of this machine at which a listener can be reached.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// The thread that accepts.
struct Porter<P> {
    listener: TcpListener,
    clients: Arc<Clients>,
    closing: Arc<AtomicBool>,
    protocol: Arc<P>,
    refusals: Arc<AtomicUsize>,
}

impl<P: Protocol> Porter<P> {
    fn work(&self) {
        loop {
            let accepted = self.listener.accept();
            if self.closing.load(Ordering::SeqCst) {
                return;
            }
            match accepted {
                Ok((socket, _)) => self.admit(Arc::new(socket)),
                // No more files may be open, as a rule: that passes when clients leave.
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    fn admit(&self, socket: Arc<TcpStream>) {
        if prepare(&*socket).is_err() {
            return;
        }
        let Some(place) = self.clients.enter(&socket) else { return self.refuse(socket) };
        let protocol = Arc::clone(&self.protocol);
        // If there is no thread to be had, the connection is closed, and its place given back.
        let _ = thread::Builder::new()
            .name("connection".into())
            .stack_size(STACK)
            .spawn(move || serve(&*protocol, socket, place));
    }

    /// Tells a client that there are too many, without keeping others waiting.
    fn refuse(&self, socket: Arc<TcpStream>) {
        let refusals = Arc::clone(&self.refusals);
        if refusals.fetch_add(1, Ordering::SeqCst) >= REFUSALS {
            refusals.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        let message = self.protocol.refusal();
        let _ = thread::Builder::new().spawn(move || {
            let _ = farewell(&socket, &message);
            refusals.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

fn serve(protocol: &impl Protocol, socket: Arc<TcpStream>, place: Place) {
    if let Ok(stream) = Stream::new(socket, protocol.reading()) {
        // A client that went away, or that speaks another protocol, is no news.
        let _ = protocol.serve(stream);
    }
    // Last of all, so that whoever sees it gone knows that its transaction is, too.
    drop(place);
}

/// Sends a message and closes. Bytes that come and are not read would make the system reset the connection, and the client might never see
/// the message; so we wait for a moment until the client leaves.
fn farewell(mut socket: &TcpStream, message: &[u8]) -> io::Result<()> {
    socket.set_write_timeout(Some(Duration::from_secs(1)))?;
    socket.set_read_timeout(Some(Duration::from_millis(300)))?;
    socket.write_all(message)?;
    socket.shutdown(Shutdown::Write)?;
    let mut buffer = [0; 4096];
    for _ in 0..16 {
        if io::Read::read(&mut socket, &mut buffer)? == 0 {
            break;
        }
    }
    Ok(())
}

/// Answers are to leave at once, and a client that is gone without a word is to be noticed within half a minute.
pub(crate) fn prepare<'s>(socket: impl Into<SockRef<'s>>) -> io::Result<()> {
    let socket = socket.into();
    socket.set_tcp_nodelay(true)?;
    let keepalive =
        TcpKeepalive::new().with_time(Duration::from_secs(10)).with_interval(Duration::from_secs(5)).with_retries(3);
    socket.set_tcp_keepalive(&keepalive)
}
