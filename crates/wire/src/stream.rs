//! A connection as the SQL protocols use it: bounded reads with a deadline, writes that are gathered.

use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Answers are sent when so much has gathered.
const GATHER: usize = 64 << 10;

/// A connection to a client.
#[derive(Debug)]
pub(crate) struct Stream {
    input: BufReader<Input>,
    /// What is not sent yet.
    output: Vec<u8>,
}

/// The reading half. A deadline holds for all reads together: a client that sends a byte now and then does not move it.
#[derive(Debug)]
struct Input {
    socket: Arc<TcpStream>,
    deadline: Option<Instant>,
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(deadline) = self.deadline {
            let rest = deadline.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.socket.set_read_timeout(Some(rest))?;
        }
        (&*self.socket).read(buffer)
    }
}

impl Stream {
    /// Takes a connection. A client that does not read its answers for so long is given up.
    pub(crate) fn new(socket: Arc<TcpStream>, reading: Duration) -> io::Result<Self> {
        socket.set_write_timeout(Some(reading))?;
        Ok(Stream { input: BufReader::new(Input { socket, deadline: None }), output: Vec::new() })
    }

    /// Sets the time by which all must be read that is read from now on.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) -> io::Result<()> {
        let input = self.input.get_mut();
        input.deadline = deadline;
        if deadline.is_none() {
            input.socket.set_read_timeout(None)?;
        }
        Ok(())
    }

    /// The next bytes, or `None` if the client is gone and there are none at all.
    pub(crate) fn head<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        let mut bytes = [0; N];
        let mut filled = 0;
        while filled < N {
            match self.input.read(&mut bytes[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some(bytes))
    }

    /// Appends so many bytes to a buffer, which grows as they come and not as they are announced.
    pub(crate) fn take(&mut self, length: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
        let read = self.input.by_ref().take(length as u64).read_to_end(buffer)?;
        if read < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Skips so many bytes.
    pub(crate) fn skip(&mut self, length: usize) -> io::Result<()> {
        let read = io::copy(&mut self.input.by_ref().take(length as u64), &mut io::sink())?;
        if read < length as u64 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Where answers are gathered.
    pub(crate) fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Sends what has gathered, if it is much.
    pub(crate) fn relieve(&mut self) -> io::Result<()> {
        if self.output.len() >= GATHER { self.flush() } else { Ok(()) }
    }

    /// Sends all that has gathered.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let mut socket = &*self.input.get_ref().socket;
        socket.write_all(&self.output)?;
        self.output.clear();
        // One large answer is no reason to keep its memory for the rest of a connection.
        self.output.shrink_to(GATHER * 2);
        Ok(())
    }
}
