//! Where boxes stand from left to right if there are times: from start to finish.
//!
//! The axis keeps the order of all moments, and their distances only within bounds: transactions take microseconds and the pauses between them
//! may be hours, and still every box must have room for its text.

use std::collections::BTreeMap;

use crate::model::Panel;

/// The least and the most room between neighbouring moments.
const NEAREST: f64 = 34.0;
const FARTHEST: f64 = 120.0;

/// A moment: the time, and its place among those of the same time. The finish of a transaction that took no time comes after its start.
type Moment = (i64, u8);

/// Boxes along a clock.
pub(crate) struct Timeline {
    /// The left and right edge of each box.
    pub(crate) spans: Vec<(f64, f64)>,
    /// Moments and their times, from left to right.
    pub(crate) ticks: Vec<(f64, String)>,
}

/// Places boxes by their times; `None` if a transaction has none.
pub(crate) fn timeline(panel: &Panel, widths: &[f64], gap: f64) -> Option<Timeline> {
    let known = || panel.boxes.iter().filter(|b| b.party().is_some()).map(|b| b.times);
    let clock @ (_, last) = panel.clock?;
    if known().any(|times| times.is_none()) {
        return None;
    }
    let moments: Vec<Option<(Moment, Moment)>> = panel
        .boxes
        .iter()
        .map(|b| {
            let (start, finish) = b.times?;
            let finish = match finish {
                Some(finish) => (finish, u8::from(finish == start)),
                // Nobody knows when it ended: after all that is known.
                None => (last, 2),
            };
            Some(((start, 0), finish))
        })
        .collect();
    let mut at: BTreeMap<Moment, f64> = BTreeMap::new();
    moments.iter().flatten().for_each(|&(start, finish)| at.extend([(start, 0.0), (finish, 0.0)]));
    let all: Vec<Moment> = at.keys().copied().collect();
    let range = all.last()?.0.saturating_sub(all.first()?.0).max(1) as f64;
    let scale = FARTHEST * all.len() as f64 / range;
    // The initial state is before all times.
    let initial = panel.boxes.iter().zip(widths).filter(|(b, _)| b.party().is_none()).map(|(_, width)| width + gap);
    let origin = initial.fold(0.0, f64::max);
    for (index, &moment) in all.iter().enumerate() {
        let mut x = origin;
        if let Some(&before) = index.checked_sub(1).and_then(|before| all.get(before)) {
            let time = (moment.0.saturating_sub(before.0)) as f64;
            x = at[&before] + (time * scale).clamp(NEAREST, FARTHEST);
        }
        for (other, width) in moments.iter().zip(widths) {
            if let Some((start, finish)) = *other
                && finish == moment
            {
                x = x.max(at[&start] + width);
            }
        }
        // Between two transactions of a session there is room for an arrow.
        for (b, begins) in panel.boxes.iter().zip(&moments) {
            for (other, ends) in panel.boxes.iter().zip(&moments) {
                if let (Some((start, _)), Some((_, finish))) = (*begins, *ends)
                    && b.lane == other.lane
                    && start == moment
                    && finish < moment
                {
                    x = x.max(at[&finish] + gap);
                }
            }
        }
        at.insert(moment, x);
    }
    let spans = moments.iter().zip(widths).map(|(moments, width)| match moments {
        Some((start, finish)) => (at[start], at[finish]),
        None => (0.0, *width),
    });
    let spans = spans.collect();
    let ticks = all.iter().filter(|moment| moment.1 == 0).map(|moment| (at[moment], told(moment.0, clock))).collect();
    Some(Timeline { spans, ticks })
}

/// A time: as it is if numbers are small, else since the first.
fn told(time: i64, (first, last): (i64, i64)) -> String {
    const SMALL: i64 = 1_000_000;
    if first >= 0 && last < SMALL {
        return time.to_string();
    }
    let since = time.saturating_sub(first);
    let (unit, name) = match since {
        0 => return "0".into(),
        1..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    let value = since as f64 / unit as f64;
    if value < 100.0 && unit > 1 { format!("+{value:.1} {name}") } else { format!("+{value:.0} {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        let (first, last) = (1_700_000_000_000_000_000, 1_700_000_000_001_500_000);
        assert_eq!([first, last].map(|time| told(time, (first, last))), ["0", "+1.5 ms"]);
        assert_eq!(told(7, (0, 9)), "7");
    }
}
