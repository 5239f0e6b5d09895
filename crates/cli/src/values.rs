//! Values on the command line: levels, durations, sizes.

use std::time::Duration;

use isonomy::{Engine, IsolationLevel};

/// One item of `--level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelChoice {
    All,
    One(IsolationLevel),
}

/// Reads an item of `--level`.
pub(crate) fn level_choice(text: &str) -> Result<LevelChoice, String> {
    match text {
        "all" => Ok(LevelChoice::All),
        name => name.parse().map(LevelChoice::One).map_err(|error: isonomy::UnknownLevel| error.to_string() + ", all"),
    }
}

/// Reads the name of one level.
pub(crate) fn level(text: &str) -> Result<IsolationLevel, String> {
    text.parse().map_err(|error: isonomy::UnknownLevel| error.to_string())
}

/// The levels that were asked for, each once.
pub(crate) fn chosen(choices: &[LevelChoice]) -> Vec<IsolationLevel> {
    let mut levels = Vec::new();
    for choice in choices {
        let these = match choice {
            LevelChoice::All => IsolationLevel::ALL.to_vec(),
            LevelChoice::One(level) => vec![*level],
        };
        for level in these {
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
    }
    levels
}

/// Splits a number, perhaps with a decimal point, from its unit.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, text[end..].trim()))
}

/// Reads the name of an engine.
pub(crate) fn engine(text: &str) -> Result<Engine, String> {
    match text {
        "polygraph" => Ok(Engine::Polygraph),
        "frontier" => Ok(Engine::Frontier),
        _ => Err("expected `polygraph` or `frontier`".to_string()),
    }
}

/// Reads a duration such as `500ms`, `60s`, `2m`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let expected = || "expected a duration such as 500ms, 60s or 2m (units: ns, us, ms, s, m, h)".to_string();
    let (number, unit) = number_and_unit(text).ok_or_else(expected)?;
    let unit = match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" if number == 0.0 => 1.0,
        _ => return Err(expected()),
    };
    let duration = Duration::try_from_secs_f64(number * unit).map_err(|_| expected())?;
    // More would not fit into nanoseconds of 64 bits.
    if duration > Duration::from_secs(9_000_000_000) { Err(expected()) } else { Ok(duration) }
}

/// Reads a size in bytes such as `500M`, `4G`.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let expected = || "expected a size such as 500M or 4G (units: K, M, G, T, powers of 1024)".to_string();
    let (number, unit) = number_and_unit(text).ok_or_else(expected)?;
    let power = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 1,
        "M" | "MB" | "MIB" => 2,
        "G" | "GB" | "GIB" => 3,
        "T" | "TB" | "TIB" => 4,
        _ => return Err(expected()),
    };
    let bytes = number * 1024f64.powi(power);
    if bytes < 1e18 { Ok(bytes as usize) } else { Err(expected()) }
}

/// Reads a share.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a share from 0 to 1, such as 0.5".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        for bad in ["", "5", "s", "-1s", "1y", "1e9s", "99999999999h", "1.2.3s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        assert_eq!([size("512"), size("2K"), size("1.5GiB")], [Ok(512), Ok(2048), Ok(3 << 29)]);
        for bad in ["", "G", "-1", "1X", "9999999999T"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn levels_are_taken_once() {
        let all = chosen(&[LevelChoice::One(IsolationLevel::Causal), LevelChoice::All]);
        assert_eq!(all.len(), IsolationLevel::ALL.len());
        assert_eq!(all[0], IsolationLevel::Causal);
    }
}
