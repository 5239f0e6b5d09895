//! The fields of a payload, and how they are written.

use isonomy_sql::Error;

use super::problem;

/// The fields of a payload, from the front.
pub(super) struct Fields<'p>(pub(super) &'p [u8]);

impl<'p> Fields<'p> {
    pub(super) fn bytes(&mut self, length: usize) -> Result<&'p [u8], Error> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.bytes(N).map(|bytes| bytes.try_into().expect("it has this length"))
    }

    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn short(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn long(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_le_bytes)
    }

    /// Bytes up to a zero.
    pub(super) fn until_zero(&mut self) -> Result<&'p [u8], Error> {
        let end = self.0.iter().position(|&byte| byte == 0).ok_or_else(malformed)?;
        self.bytes(end + 1).map(|bytes| &bytes[..end])
    }

    /// A number of as many bytes as it needs.
    pub(super) fn number(&mut self) -> Result<u64, Error> {
        let mut bytes = [0; 8];
        let length = match self.byte()? {
            small @ ..=0xfa => return Ok(small.into()),
            0xfc => 2,
            0xfd => 3,
            0xfe => 8,
            _ => return Err(malformed()),
        };
        bytes[..length].copy_from_slice(self.bytes(length)?);
        Ok(u64::from_le_bytes(bytes))
    }

    /// Bytes with their length before them.
    pub(super) fn counted(&mut self) -> Result<&'p [u8], Error> {
        let length = self.number()?;
        self.bytes(usize::try_from(length).map_err(|_| malformed())?)
    }
}

/// What came is not what it should be.
pub(super) fn malformed() -> Error {
    problem(1835, "HY000", "the packet is malformed")
}

/// Writes a number in as many bytes as it needs.
pub(super) fn put_number(out: &mut Vec<u8>, number: u64) {
    let bytes = number.to_le_bytes();
    match number {
        0..0xfb => out.push(bytes[0]),
        0xfb..0x1_0000 => out.extend([&[0xfc], &bytes[..2]].concat()),
        0x1_0000..0x100_0000 => out.extend([&[0xfd], &bytes[..3]].concat()),
        _ => out.extend([&[0xfe], &bytes[..]].concat()),
    }
}

/// Writes bytes with their length before them.
pub(super) fn put_counted(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_through() {
        for number in [0, 250, 251, 65_535, 65_536, 0xff_ffff, 0x100_0000, u64::MAX] {
            let mut out = Vec::new();
            put_number(&mut out, number);
            assert_eq!(Fields(&out).number().unwrap(), number);
            assert!(Fields(&out[..out.len() - 1]).number().is_err());
        }
        assert!(Fields(&[0xfb]).number().is_err() && Fields(&[0xff]).number().is_err());
        assert!(Fields(&[0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 1]).counted().is_err());
    }
}
