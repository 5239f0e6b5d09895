//! Decimal numbers, eight digits at a time.

/// A number, the byte after it, and the rest.
#[inline(always)]
pub(super) fn number(rest: &mut &[u8], end: u8) -> Option<i64> {
    // Eight digits at once, without a branch for each: numbers are short, and of unpredictable length.
    let (number, length) = match digits(rest)? {
        (high, 8) => {
            let (low, length) = digits(&rest[8..])?;
            if length == 8 {
                return long_number(rest, end);
            }
            (high * POWERS[length] + low, 8 + length)
        }
        short => short,
    };
    if length == 0 || rest[length] != end {
        return long_number(rest, end);
    }
    *rest = &rest[length + 1..];
    Some(number as i64)
}

const POWERS: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];

/// The number that the first up to eight bytes begin with, and how many digits it has. The input is padded with zeros.
#[inline(always)]
fn digits(bytes: &[u8]) -> Option<(u64, usize)> {
    let word = match bytes.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        }
    };
    let digits = word ^ 0x3030_3030_3030_3030;
    let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
    let length = others.trailing_zeros() as usize / 8;
    if length == bytes.len() {
        return None;
    }
    let mut number = if length == 0 { 0 } else { digits << (64 - 8 * length) };
    number = (number.wrapping_mul(10) + (number >> 8)) & 0x00ff_00ff_00ff_00ff;
    number = (number.wrapping_mul(100) + (number >> 16)) & 0x0000_ffff_0000_ffff;
    number = number.wrapping_mul(10_000).wrapping_add(number >> 32);
    Some((number & 0xffff_ffff, length))
}

/// A number with a sign, or of more than fifteen digits.
fn long_number(rest: &mut &[u8], end: u8) -> Option<i64> {
    let bytes = *rest;
    let first = usize::from(bytes.first() == Some(&b'-'));
    let length = bytes[first..].iter().take_while(|b| b.is_ascii_digit()).count();
    if length == 0 || bytes.get(first + length) != Some(&end) {
        return None;
    }
    *rest = &bytes[first + length + 1..];
    std::str::from_utf8(&bytes[..first + length]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_are_read() {
        for i in [
            0,
            7,
            10,
            12,
            99,
            100,
            123,
            1234,
            12_345,
            123_456,
            1_234_567,
            12_345_678,
            123_456_789,
            i64::MAX,
            -1,
            i64::MIN,
        ] {
            for tail in ["", "w(1,", "1234567890"] {
                let text = format!("{i},{tail}");
                let mut rest = text.as_bytes();
                assert_eq!(number(&mut rest, b','), Some(i), "{text}");
                assert_eq!(rest, tail.as_bytes());
            }
        }
        for bad in ["", ",", "-,", "1", "1)", "12345678", "x1,", "1x,", "9223372036854775808,", "1 ,"] {
            assert_eq!(number(&mut bad.as_bytes(), b','), None, "{bad}");
        }
    }
}
