//! One of the versions that a read may return.

use isonomy_workload::Rng;

use crate::allowed::{Allowed, Place};
use crate::keys::{Key, Version};
use crate::options::Choice;

/// So often something is drawn that turns out not to be allowed before all is tried in turn.
pub(crate) const ATTEMPTS: usize = 24;

/// Draws; `attempt` tells how many were refused already. The outer `None` says that there is nothing left to draw.
pub(crate) fn draw(
    choice: Choice,
    key: &Key,
    allowed: &mut Allowed,
    attempt: usize,
    rng: &mut Rng,
    session_of: impl Fn(Version) -> u32,
) -> Option<Option<Version>> {
    let count = allowed.len();
    if count == 0 || attempt >= ATTEMPTS {
        return None;
    }
    Some(match choice {
        Choice::Uniform => allowed.get(key, rng.below(count as u64) as usize),
        Choice::Newest if attempt >= count => return None,
        Choice::Newest => allowed.by_age(key, attempt),
        Choice::Weirdness(weirdness) => allowed.by_age(key, age(weirdness, count, rng)),
        Choice::Latest => latest(key, allowed, rng, session_of),
    })
}

/// All that may be returned, newest first.
pub(crate) fn all(key: &Key, allowed: &Allowed) -> Vec<Option<Version>> {
    (0..allowed.len()).map(|age| allowed.by_age(key, age)).collect()
}

/// An age below `count`. All ages are alike at 0.5; the exponent goes to infinity at 0, which leaves the newest, and to 0 at 1, which leaves
/// the oldest.
fn age(weirdness: f64, count: usize, rng: &mut Rng) -> usize {
    let weirdness = weirdness.clamp(0.0, 1.0);
    if weirdness == 0.0 {
        return 0;
    }
    let drawn = rng.unit().powf((1.0 - weirdness) / weirdness) * count as f64;
    (drawn as usize).min(count - 1)
}

/// One of the last versions of each session; the initial state if there is no other. What is drawn is taken out, so that the one before
/// comes next.
fn latest(key: &Key, allowed: &mut Allowed, rng: &mut Rng, session_of: impl Fn(Version) -> u32) -> Option<Version> {
    let mut last: Vec<(u32, Version, usize)> = Vec::new();
    for (place, span) in allowed.spans.iter().enumerate() {
        let versions = span.versions(key);
        // A chain is of one session; what has a position is of all of them.
        let ends = match span.place {
            Place::Chain(_) => &versions[versions.len() - 1..],
            Place::Frozen => versions,
        };
        for &version in ends.iter().rev() {
            let session = session_of(version);
            match last.iter_mut().find(|known| known.0 == session) {
                Some(known) if known.1.node < version.node => *known = (session, version, place),
                Some(_) => {}
                None => last.push((session, version, place)),
            }
        }
    }
    if last.is_empty() {
        return None;
    }
    let (_, version, place) = last[rng.below(last.len() as u64) as usize];
    if let Place::Chain(_) = allowed.spans[place].place {
        allowed.spans[place].end -= 1;
        allowed.spans.retain(|span| span.start < span.end);
    }
    Some(version)
}
