//! A note on the machine and the moment, for kept results.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::arguments::Arguments;
use crate::peers::Peer;

/// What a reader of the table should know, in Markdown.
pub(crate) fn note(isonomy: &Path, peers: &[Peer], arguments: &Arguments) -> String {
    let unknown = || "unknown".to_owned();
    let mut note = format!("# Comparison of {}\n\n", date());
    let mut line = |what: &str, value: &str| {
        let _ = writeln!(note, "- {what}: {value}"); // Into a string, so it cannot fail.
    };
    line("CPU", &field("/proc/cpuinfo", "model name").unwrap_or_else(unknown));
    line("cores", &std::thread::available_parallelism().map_or_else(|_| unknown(), |cores| cores.to_string()));
    line("memory", &field("/proc/meminfo", "MemTotal").as_deref().and_then(gibibytes).unwrap_or_else(unknown));
    line("system", &first_line("uname", &["-srm"]).unwrap_or_else(unknown));
    line("load average at the start", &load());
    line("git revision", &first_line("git", &["describe", "--always", "--dirty"]).unwrap_or_else(unknown));
    line("isonomy", &isonomy.to_str().and_then(|path| first_line(path, &["--version"])).unwrap_or_else(unknown));
    for peer in peers {
        line(&peer.name, &format!("`{}`", peer.template()));
    }
    line("runs of each", &arguments.repeats.to_string());
    line("limit", &format!("{} s of CPU time, twice as much wall time", arguments.timeout().as_secs()));
    if let Some(remark) = &arguments.note {
        line("note", remark);
    }
    note
}

/// Today, in UTC: `2026-01-31`.
pub(crate) fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    civil(seconds / 86_400)
}

/// How busy the machine is: runnable processes, averaged over 1, 5 and 15 minutes.
pub(crate) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let averages: Vec<&str> = text.split_whitespace().take(3).collect();
    if averages.is_empty() { "unknown".to_owned() } else { averages.join(", ") }
}

/// The date of a day since 1970-01-01, by counting years and months.
fn civil(mut day: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", day + 1)
}

/// The value of the first line `name : value`.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        (found.trim() == name).then(|| value.trim().to_owned())
    })
}

fn gibibytes(kibibytes: &str) -> Option<String> {
    let number: f64 = kibibytes.strip_suffix(" kB")?.parse().ok()?;
    Some(format!("{:.1} GiB", number / f64::from(1 << 20)))
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(str::to_owned).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        for (day, date) in [
            (0, "1970-01-01"),
            (31 + 28, "1970-03-01"),
            (365, "1971-01-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_453, "2025-12-31"),
            (20_454, "2026-01-01"),
        ] {
            assert_eq!(civil(day), date);
        }
    }

    #[test]
    fn memory_is_told_in_gibibytes() {
        assert_eq!(gibibytes("25165824 kB").as_deref(), Some("24.0 GiB"));
        assert_eq!(gibibytes("much"), None);
    }
}
