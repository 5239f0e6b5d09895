//! From many stale reads that a failure came with to few that it needs.
//!
//! Delta debugging (Zeller and Hildebrandt, *Simplifying and Isolating Failure-Inducing Input*, 2002): parts are left out as long as the rest
//! still fails, first large ones, then smaller ones, at last single reads.

/// What is left.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shrunk<T> {
    /// These are needed.
    pub(super) kept: Vec<T>,
    /// Whether each of them alone was tried: without it, there is no failure.
    pub(super) is_minimal: bool,
}

/// Leaves out as many as possible with which it `fails` still. At most so many tries; `None` stops as well.
pub(super) fn shrink<T: Clone>(
    all: Vec<T>,
    mut tries: usize,
    mut fails: impl FnMut(&[T]) -> Option<bool>,
) -> Shrunk<T> {
    let mut kept = all;
    let mut parts = 2;
    while !kept.is_empty() {
        let size = kept.len().div_ceil(parts);
        let mut smaller = None;
        for start in (0..kept.len()).step_by(size) {
            if tries == 0 {
                return Shrunk { kept, is_minimal: false };
            }
            tries -= 1;
            let end = (start + size).min(kept.len());
            let without: Vec<T> = kept[..start].iter().chain(&kept[end..]).cloned().collect();
            match fails(&without) {
                None => return Shrunk { kept, is_minimal: false },
                Some(true) => {
                    smaller = Some(without);
                    break;
                }
                Some(false) => {}
            }
        }
        match smaller {
            Some(without) => {
                kept = without;
                parts = (parts - 1).max(2);
            }
            None if size == 1 => break,
            None => parts = (2 * parts).min(kept.len()),
        }
    }
    Shrunk { kept, is_minimal: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_is_kept() {
        for needed in [&[][..], &[3], &[0, 99], &[10, 11, 57, 98]] {
            let fails = |tried: &[u32]| Some(needed.iter().all(|one| tried.contains(one)));
            assert_eq!(shrink((0..100).collect(), 1_000, fails), Shrunk { kept: needed.to_vec(), is_minimal: true });
        }
    }

    #[test]
    fn it_can_be_stopped() {
        let mut tries = 0;
        let shrunk = shrink((0..100).collect(), 3, |tried: &[u32]| {
            tries += 1;
            Some(tried.contains(&7))
        });
        assert_eq!((tries, shrunk.is_minimal), (3, false));
        assert!(shrunk.kept.contains(&7) && shrunk.kept.len() < 100);
        assert_eq!(shrink(vec![1, 2], 9, |_| None), Shrunk { kept: vec![1, 2], is_minimal: false });
    }
}
