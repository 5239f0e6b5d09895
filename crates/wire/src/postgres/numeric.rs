//! Decimals in PostgreSQL's binary format: digits of base 10,000.
//!
//! Four 16-bit numbers (how many digits, the weight of the first, the sign, how many decimals are shown), then the digits.

const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xc000;

/// Decimals with more digits than this are not taken: PostgreSQL has 131,072 before the point and 16,383 after it.
const MOST: usize = 147_455;

/// From `-12.50`; `None` if it is no decimal.
pub(super) fn to_binary(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("nan") {
        return Some(fields(0, 0, NAN, 0, &[]));
    }
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let plain = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    if !plain || whole.len() + fraction.len() == 0 || whole.len() + fraction.len() > MOST {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let scale = u16::try_from(fraction.len()).ok()?;
    // Both sides are filled up to whole digits, away from the point.
    let before = format!("{}{whole}", "0".repeat(whole.len().next_multiple_of(4) - whole.len()));
    let after = format!("{fraction}{}", "0".repeat(fraction.len().next_multiple_of(4) - fraction.len()));
    let mut weight = i16::try_from(before.len() / 4).ok()? - 1;
    let digits: Vec<u8> = before.bytes().chain(after.bytes()).map(|byte| byte - b'0').collect();
    let digit = |four: &[u8]| four.iter().fold(0_u16, |sum, &digit| sum * 10 + u16::from(digit));
    let mut digits: Vec<u16> = digits.chunks(4).map(digit).collect();
    let leading = digits.iter().take_while(|&&digit| digit == 0).count();
    digits.drain(..leading);
    weight -= i16::try_from(leading).ok()?;
    while digits.last() == Some(&0) {
        digits.pop();
    }
    if digits.is_empty() {
        weight = 0;
    }
    let sign = if negative && !digits.is_empty() { NEGATIVE } else { 0 };
    Some(fields(u16::try_from(digits.len()).ok()?, weight, sign, scale, &digits))
}

fn fields(count: u16, weight: i16, sign: u16, scale: u16, digits: &[u16]) -> Vec<u8> {
    let head = [count, weight.cast_unsigned(), sign, scale];
    head.iter().chain(digits).flat_map(|number| number.to_be_bytes()).collect()
}

/// To `-12.50`; `None` if it is not in the format.
pub(super) fn from_binary(bytes: &[u8]) -> Option<String> {
    let numbers: Vec<u16> =
        bytes.chunks(2).map(|pair| Some(u16::from_be_bytes(pair.try_into().ok()?))).collect::<Option<_>>()?;
    let [count, weight, sign, scale, digits @ ..] = &numbers[..] else { return None };
    if digits.len() != usize::from(*count) || digits.iter().any(|&digit| digit > 9999) {
        return None;
    }
    match *sign {
        NAN => return Some("NaN".into()),
        0 | NEGATIVE => {}
        _ => return None,
    }
    let (weight, scale) = (i32::from(weight.cast_signed()), usize::from(*scale));
    let digit = |place: i32| {
        let index = usize::try_from(weight - place).ok();
        index.and_then(|index| digits.get(index)).copied().unwrap_or(0)
    };
    let whole: String = (0..=weight.max(0)).rev().map(|place| format!("{:04}", digit(place))).collect();
    let whole = whole.trim_start_matches('0');
    let fraction: String = (1..=scale.div_ceil(4)).map(|place| format!("{:04}", digit(-(place as i32)))).collect();
    let sign = if *sign == NEGATIVE { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{}", &fraction[..scale]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_come_through() {
        for text in [
            "0",
            "1",
            "-1",
            "10000",
            "123456789.0123",
            "0.00001",
            "-0.5",
            "99999999999999999999.10",
            "0.000",
            "NaN",
            "100000000",
        ] {
            assert_eq!(from_binary(&to_binary(text).unwrap()).as_deref(), Some(text), "{text}");
        }
        assert_eq!(to_binary("-12.50").unwrap(), [0, 2, 0, 0, 0x40, 0, 0, 2, 0, 12, 0x13, 0x88]);
        assert_eq!(to_binary("00.0").unwrap(), [0, 0, 0, 0, 0, 0, 0, 1]);
        for bad in ["", ".", "-", "1e5", "1.2.3", "x"] {
            assert_eq!(to_binary(bad), None, "{bad}");
        }
        for bad in [&[][..], &[0, 1], &[0, 1, 0, 0, 0, 0, 0, 0], &[0, 1, 0, 0, 0, 0, 0, 0, 0xff, 0xff], &[0; 9]] {
            assert_eq!(from_binary(bad), None, "{bad:?}");
        }
        // Large exponents are many zeros, but not more than a row may have.
        assert!(from_binary(&[0, 1, 0x7f, 0xff, 0, 0, 0x3f, 0xff, 0, 1]).unwrap().len() < 150_000);
    }
}
