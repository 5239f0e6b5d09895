//! Packets: three bytes of length, a number that counts them, and the payload. What is longer is in several.

use std::io;

use crate::stream::Stream;

/// The longest payload. A packet of this length is continued by the next one, even if that is empty.
const FULL: usize = 0xff_ffff;

/// A payload, or that it was too long and was skipped.
pub(super) type Payload = Result<Vec<u8>, TooLarge>;

/// How long a payload was at least.
pub(super) struct TooLarge(pub(super) usize);

/// The two directions of a connection.
#[derive(Debug)]
pub(super) struct Packets {
    stream: Stream,
    /// The number of the next packet, of either side.
    number: u8,
}

impl Packets {
    pub(super) fn new(stream: Stream) -> Self {
        Packets { stream, number: 0 }
    }

    pub(super) fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// Reads a command, with which the numbers begin anew.
    pub(super) fn command(&mut self, limit: usize) -> io::Result<Option<Payload>> {
        self.number = 0;
        self.read(limit)
    }

    /// Reads a payload of at most so many bytes; `None` if the client is gone.
    pub(super) fn read(&mut self, limit: usize) -> io::Result<Option<Payload>> {
        let mut payload = Vec::new();
        // What is skipped counts, too.
        let mut total = 0;
        loop {
            let Some([a, b, c, number]) = self.stream.head::<4>()? else {
                return if total == 0 { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            };
            if number != self.number {
                return Err(io::ErrorKind::InvalidData.into());
            }
            self.number = number.wrapping_add(1);
            let length = usize::try_from(u32::from_le_bytes([a, b, c, 0])).expect("it has 24 bits");
            total += length;
            if total > limit {
                payload = Vec::new();
                self.stream.skip(length)?;
            } else {
                self.stream.take(length, &mut payload)?;
            }
            if length < FULL {
                return Ok(Some(if total > limit { Err(TooLarge(total)) } else { Ok(payload) }));
            }
        }
    }

    /// Writes a payload.
    pub(super) fn write(&mut self, payload: &[u8]) {
        let mut rest = payload;
        loop {
            let (part, after) = rest.split_at(rest.len().min(FULL));
            let [a, b, c, _] = u32::try_from(part.len()).expect("it has 24 bits").to_le_bytes();
            let out = self.stream.output();
            out.extend([a, b, c, self.number]);
            out.extend(part);
            self.number = self.number.wrapping_add(1);
            rest = after;
            if part.len() < FULL {
                return;
            }
        }
    }

    /// Sends what has gathered, if it is much.
    pub(super) fn relieve(&mut self) -> io::Result<()> {
        self.stream.relieve()
    }

    /// Sends all that has gathered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
