//! Numbers, sizes and times for people.

use std::time::SystemTime;

/// `12 345`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// `3.1 MB`.
pub(super) fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["bytes", "KB", "MB", "GB"] {
        if value < 1024.0 {
            return if unit == "bytes" { format!("{bytes} bytes") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TB")
}

/// `3.2 ms`.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.2} s"),
        s => format!("{:.1} min", s / 60.0),
    }
}

/// A number with about three digits that count.
pub(super) fn short(number: f64) -> String {
    match number {
        n if n >= 100.0 => grouped(n.round() as u64),
        n if n >= 10.0 => format!("{n:.1}"),
        n => format!("{n:.2}"),
    }
}

/// How many times a number is another one.
pub(super) fn ratio(of: f64, to: f64) -> String {
    match of / to {
        r if !r.is_finite() => "–".into(),
        r if r >= 0.1 || r == 0.0 => short(r),
        r if r >= 0.001 => format!("{r:.3}"),
        _ => "below 0.001".into(),
    }
}

/// A share in per cent.
pub(super) fn share(value: f64) -> String {
    format!("{} %", short(100.0 * value))
}

/// A moment, for people and for programs.
pub(super) fn moment(time: SystemTime) -> String {
    let Ok(time) = jiff::Timestamp::try_from(time) else { return String::new() };
    let text = time.strftime("%Y-%m-%d %H:%M:%S").to_string();
    format!("<time datetime=\"{}Z\">{text} UTC</time>", text.replace(' ', "T"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!([size(3), size(2048), size(3 << 20)], ["3 bytes", "2.0 KB", "3.0 MB"]);
        assert_eq!([time(2e-5), time(0.0032), time(3.0), time(600.0)], ["20 µs", "3.2 ms", "3.00 s", "10.0 min"]);
        assert_eq!(share(0.25), "25.0 %");
        assert_eq!([ratio(3.0, 2.0), ratio(1.0, 80.0), ratio(1.0, 1e6)], ["1.50", "0.013", "below 0.001"]);
        assert_eq!([ratio(0.0, 2.0), ratio(2.0, 0.0), ratio(0.0, 0.0)], ["0.00", "–", "–"]);
        assert!(moment(SystemTime::UNIX_EPOCH).contains("1970-01-01 00:00:00 UTC"));
    }
}
