//! Bytes over a socket, for what no client would send.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A connection that speaks PostgreSQL's protocol as far as it is told to.
pub(crate) struct Raw(pub(crate) TcpStream);

/// A message of the server: its kind and the rest.
pub(crate) type Message = (char, Vec<u8>);

impl Raw {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).expect("the server listens");
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Raw(socket)
    }

    /// A connection that was let in.
    pub(crate) fn start(address: SocketAddr) -> Self {
        let mut raw = Raw::connect(address);
        raw.0.write_all(&startup(196_608, b"user\0tester\0\0")).unwrap();
        raw.until_ready();
        raw
    }

    pub(crate) fn send(&mut self, kind: u8, body: &[u8]) {
        self.0.write_all(&message(kind, body)).unwrap();
    }

    pub(crate) fn query(&mut self, sql: &str) -> Vec<Message> {
        self.send(b'Q', &[sql.as_bytes(), &[0]].concat());
        self.until_ready()
    }

    /// The next message; `None` at the end.
    pub(crate) fn receive(&mut self) -> Option<Message> {
        let mut head = [0; 5];
        match self.0.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => return None,
            Err(error) => panic!("no answer: {error}"),
        }
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut body = vec![0; length - 4];
        self.0.read_exact(&mut body).unwrap();
        Some((head[0].into(), body))
    }

    /// All messages up to the one that says that the server is ready.
    pub(crate) fn until_ready(&mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        loop {
            let message = self.receive().unwrap_or_else(|| panic!("the end after {messages:?}"));
            messages.push(message);
            if messages.last().is_some_and(|message| message.0 == 'Z') {
                return messages;
            }
        }
    }
}

/// The kinds of messages.
pub(crate) fn kinds(messages: &[Message]) -> String {
    messages.iter().map(|message| message.0).collect()
}

pub(crate) fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], &u32::try_from(body.len() + 4).unwrap().to_be_bytes()[..], body].concat()
}

pub(crate) fn startup(code: i32, body: &[u8]) -> Vec<u8> {
    [&u32::try_from(body.len() + 8).unwrap().to_be_bytes()[..], &code.to_be_bytes(), body].concat()
}

/// Sends bytes, and reads whatever comes until the server closes the connection.
pub(crate) fn exchange(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut socket = TcpStream::connect(address).expect("the server listens");
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The server may have closed it before all is sent.
    let _ = socket.write_all(bytes);
    let _ = socket.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer);
    answer
}
