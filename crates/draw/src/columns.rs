//! Where boxes stand from left to right if there are no times: in columns, so that most arrows point to the right.

use crate::model::{Arrow, Panel};
use crate::text::mono;

/// Which arrows have a say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ranking {
    /// Those that usually follow time: transactions that only missed each other stand side by side.
    Dependencies,
    /// All of them.
    AllArrows,
}

/// The column of each box, from 0. Session order is always kept.
pub(crate) fn columns(panel: &Panel, ranking: Ranking) -> Vec<usize> {
    let count = panel.boxes.len();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (index, pair) in panel.boxes.windows(2).enumerate() {
        if pair[0].lane == pair[1].lane {
            after[index].push(index + 1);
        }
    }
    let (sure, others): (Vec<&Arrow>, Vec<&Arrow>) = panel.arrows.iter().partition(|arrow| arrow.kind.points_right());
    let others = others.into_iter().filter(|_| ranking == Ranking::AllArrows);
    for arrow in sure.into_iter().chain(others) {
        // A circle cannot point to the right all around.
        if arrow.from != arrow.to && !reaches(&after, arrow.to, arrow.from) {
            after[arrow.from].push(arrow.to);
        }
    }
    ranks(&after)
}

fn reaches(after: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut met = vec![false; after.len()];
    let mut todo = vec![from];
    while let Some(at) = todo.pop() {
        if at == to {
            return true;
        }
        if !std::mem::replace(&mut met[at], true) {
            todo.extend(&after[at]);
        }
    }
    false
}

/// For each node the length of the longest path to it.
fn ranks(after: &[Vec<usize>]) -> Vec<usize> {
    let mut waiting = vec![0; after.len()];
    after.iter().flatten().for_each(|&to| waiting[to] += 1);
    let mut ranks = vec![0; after.len()];
    let mut ready: Vec<usize> = (0..after.len()).filter(|&node| waiting[node] == 0).collect();
    while let Some(node) = ready.pop() {
        for &to in &after[node] {
            ranks[to] = ranks[to].max(ranks[node] + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
                ready.push(to);
            }
        }
    }
    ranks
}

/// From columns to places: the left edge of each box, centred in its column. Arrows between neighbouring columns have room for their labels.
pub(crate) fn places(panel: &Panel, columns: &[usize], widths: &[f64], room: f64) -> Vec<f64> {
    let count = columns.iter().max().map_or(0, |last| last + 1);
    let mut widest = vec![0.0_f64; count];
    for (&column, &width) in columns.iter().zip(widths) {
        widest[column] = widest[column].max(width);
    }
    let mut gaps = vec![84.0_f64; count];
    for arrow in &panel.arrows {
        let (from, to) = (columns[arrow.from], columns[arrow.to]);
        if from.abs_diff(to) == 1 {
            let gap = &mut gaps[from.min(to)];
            *gap = gap.max(mono(&arrow.label) + 56.0);
        }
    }
    let mut left = Vec::with_capacity(count);
    let mut at = 0.0;
    for (width, gap) in widest.iter().zip(&gaps) {
        left.push(at);
        at += width + gap * room;
    }
    columns.iter().zip(widths).map(|(&column, &width)| left[column] + (widest[column] - width) / 2.0).collect()
}
