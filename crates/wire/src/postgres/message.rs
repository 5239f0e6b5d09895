//! Messages of clients, and the fields they have.

use std::io;

use isonomy_sql::Error;

use super::{Stop, problem};
use crate::stream::Stream;

/// Larger messages than this are not even skipped: PostgreSQL itself takes none.
const MOST: usize = 1 << 30;

/// What a client sent.
pub(super) struct Message {
    /// Its first byte.
    pub(super) kind: u8,
    /// The rest, or why it was not read.
    pub(super) body: Result<Vec<u8>, Error>,
}

/// Reads a message; `None` if the client is gone. One that is larger than the limit is skipped.
pub(super) fn read(stream: &mut Stream, limit: usize) -> Result<Option<Message>, Stop> {
    let Some([kind, length @ ..]) = stream.head::<5>()? else { return Ok(None) };
    let announced = i32::from_be_bytes(length);
    let length = match usize::try_from(announced) {
        // The length counts itself.
        Ok(length @ 4..=MOST) => length - 4,
        _ => return Err(problem("08P01", format!("a message cannot have {announced} bytes")).into()),
    };
    if length > limit {
        stream.skip(length)?;
        let message = format!("a message of {length} bytes is over the limit of {limit}");
        return Ok(Some(Message { kind, body: Err(problem("54000", message)) }));
    }
    let mut body = Vec::new();
    stream.take(length, &mut body)?;
    Ok(Some(Message { kind, body: Ok(body) }))
}

/// Reads the first message of a connection, which has no kind: its code, and the rest. `None` if the client is gone.
pub(super) fn read_first(stream: &mut Stream) -> Result<Option<(i32, Vec<u8>)>, Stop> {
    /// As PostgreSQL has it.
    const MOST: usize = 10_000;
    let Some(head) = stream.head::<8>()? else { return Ok(None) };
    let [a, b, c, d, code @ ..] = head;
    let Some(length @ ..=MOST) =
        usize::try_from(i32::from_be_bytes([a, b, c, d])).ok().and_then(|length| length.checked_sub(8))
    else {
        // Whoever begins like this speaks some other protocol, and would not understand an answer.
        return Err(io::Error::from(io::ErrorKind::InvalidData).into());
    };
    let mut body = Vec::new();
    stream.take(length, &mut body)?;
    Ok(Some((i32::from_be_bytes(code), body)))
}

/// The fields of a message, from the front.
pub(super) struct Fields<'m>(pub(super) &'m [u8]);

impl<'m> Fields<'m> {
    pub(super) fn bytes(&mut self, length: usize) -> Result<&'m [u8], Error> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        Ok(self.bytes(1)?[0])
    }

    pub(super) fn short(&mut self) -> Result<i16, Error> {
        self.bytes(2).map(|bytes| i16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// How many fields follow.
    pub(super) fn count(&mut self) -> Result<usize, Error> {
        // Up to 65535, as PostgreSQL reads it.
        self.bytes(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]).into())
    }

    pub(super) fn long(&mut self) -> Result<i32, Error> {
        self.bytes(4).map(|bytes| i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Text that ends with a zero.
    pub(super) fn text(&mut self) -> Result<&'m str, Error> {
        let end = self.0.iter().position(|&byte| byte == 0).ok_or_else(malformed)?;
        let bytes = self.bytes(end + 1)?;
        str::from_utf8(&bytes[..end]).map_err(|_| problem("22021", "the text is not UTF-8"))
    }

    /// A value with its length before it; `None` for NULL.
    pub(super) fn value(&mut self) -> Result<Option<&'m [u8]>, Error> {
        match self.long()? {
            -1 => Ok(None),
            length => self.bytes(usize::try_from(length).map_err(|_| malformed())?).map(Some),
        }
    }
}

fn malformed() -> Error {
    problem("08P01", "the message is not what its kind should have")
}
