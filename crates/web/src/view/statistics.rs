//! The statistics of a history, as a part of a page.

use super::facts;
use super::numbers::{grouped, share, short, time};
use super::plot::{self, Scale};
use crate::statistics::{Course, Statistics};

/// Numbers and plots of one history.
pub(crate) fn statistics(found: &Statistics) -> String {
    let number = |number: usize| grouped(number as u64);
    let mut known = vec![
        ("sessions", number(found.sessions)),
        ("transactions", number(found.transactions)),
        ("events", number(found.events)),
        ("keys", number(found.keys)),
        ("committed", number(found.committed)),
        ("aborted", number(found.aborted)),
        ("indeterminate", number(found.indeterminate)),
    ];
    if let Some((half, most)) = found.course.as_ref().and_then(|course| course.latency) {
        known.push(("latency", format!("half within {}, 99 % within {}", time(half), time(most))));
    }
    let mut out = facts(&known);
    match &found.course {
        Some(course) => out += &format!("<div class=\"plots\">\n{}</div>\n", plots(course, course)),
        None => out += "<p class=\"hint\">The history has no times, so there is nothing to plot over time.</p>\n",
    }
    out
}

/// The plots of a history, with axes that have room for another one, too.
pub(super) fn plots(course: &Course, other: &Course) -> String {
    let most = |values: fn(&Course) -> &[f64]| values(course).iter().chain(values(other)).copied().fold(0.0, f64::max);
    let seconds = course.seconds.max(other.seconds);
    let rate = Scale { seconds, most: most(|course| &course.rate) };
    let aborted = Scale { seconds, most: most(|course| &course.aborted) };
    let mut out = plot::over_time("Commits per second", &course.rate, course.seconds, rate, short);
    let title = "Share of transactions that aborted";
    out += &if course.aborted.iter().all(|share| *share == 0.0) {
        plot::nothing(title, "None aborted.")
    } else {
        plot::over_time(title, &course.aborted, course.seconds, aborted, share)
    };
    out
}
