//! Everything of a panel gets its place.

use crate::clock::timeline;
use crate::columns::{Ranking, columns, places};
use crate::geometry::{Point, Rect};
use crate::model::{Panel, Transaction};
use crate::route::{FORBIDDEN, Ground, Route, route};
use crate::text::{BOLD_PROSE, mono, wrapped};

pub(crate) const LINE: f64 = 17.0;
pub(crate) const PADDING: f64 = 9.0;
const CAPTION: f64 = 26.0;
const AXIS: f64 = 30.0;
/// Above and below the boxes of a lane.
const LANE_PADDING: f64 = 27.0;
/// Between two rows of a lane.
const ROW_GAP: f64 = 30.0;
/// From the names of lanes to what is in them.
const NAME_GAP: f64 = 26.0;

/// Panels with more arrows are arranged only once.
const LARGE: usize = 30;

/// A panel on paper. Its corner is the origin.
pub(crate) struct Layout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Lines of the caption.
    pub(crate) caption: Vec<String>,
    pub(crate) lanes: Vec<Rect>,
    pub(crate) boxes: Vec<Rect>,
    /// Where something in a lane is left out, and how much.
    pub(crate) gaps: Vec<(Rect, usize)>,
    pub(crate) routes: Vec<Route>,
    /// Where times are: moments from left to right.
    pub(crate) ticks: Vec<(f64, String)>,
}

/// The left and right edge of each box, and the moments if there is a clock.
type Across = (Vec<(f64, f64)>, Vec<(f64, String)>);

/// Arranges a panel, in the best of a few ways. It is at least so wide.
pub(crate) fn arrange(panel: &Panel, least: f64) -> Layout {
    let label = panel.arrows.iter().map(|arrow| mono(&arrow.label)).fold(0.0, f64::max);
    let mut best: Option<(Layout, f64)> = None;
    // More room is taken only if less will not do.
    for room in [1.0, 1.5, 2.2] {
        let [one, other] = [Ranking::Dependencies, Ranking::AllArrows].map(|ranking| across(panel, ranking, room));
        let other = (one != other).then_some(other);
        for across in [Some(one), other].into_iter().flatten() {
            let (layout, price) = placed(panel, across, label, room, least);
            if best.as_ref().is_none_or(|best| price < best.1) {
                best = Some((layout, price));
            }
        }
        // In a large drawing something always collides, and the sum of small prices alone is above one collision.
        if panel.arrows.len() > LARGE || best.as_ref().is_some_and(|best| best.1 < FORBIDDEN) {
            break;
        }
    }
    best.expect("there is at least one way").0
}

fn across(panel: &Panel, ranking: Ranking, room: f64) -> Across {
    let widths: Vec<f64> = panel.boxes.iter().map(|b| size(b).0).collect();
    if let Some(timeline) = timeline(panel, &widths, 84.0 * room) {
        return (timeline.spans, timeline.ticks);
    }
    let left = places(panel, &columns(panel, ranking), &widths, room);
    (left.iter().zip(&widths).map(|(left, width)| (*left, left + width)).collect(), Vec::new())
}

/// Places a panel, and says how bad it is.
fn placed(panel: &Panel, (spans, mut ticks): Across, label: f64, room: f64, least: f64) -> (Layout, f64) {
    let names = panel.lanes.iter().map(|name| mono(name)).fold(0.0, f64::max);
    // Arrows may go around the outermost boxes.
    let needed = spans.iter().map(|span| span.1).fold(0.0, f64::max);
    let margin = (label / 2.0 + 30.0).max((least - names - NAME_GAP - needed) / 2.0);
    let left = names + NAME_GAP + margin;
    let width = left + needed + margin;
    let caption = panel.caption.as_ref().map_or(Vec::new(), |text| wrapped(text, (width / BOLD_PROSE) as usize));
    let top = if caption.is_empty() { 0.0 } else { 8.0 + (CAPTION - 8.0) * caption.len() as f64 };

    let rows = rows(panel, &spans);
    let mut lanes = Vec::new();
    let mut boxes = vec![Rect { x: 0.0, y: 0.0, width: 0.0, height: 0.0 }; panel.boxes.len()];
    let mut y = top;
    for lane in 0..panel.lanes.len() {
        let of_lane = || (0..panel.boxes.len()).filter(|&index| panel.boxes[index].lane == lane);
        let lane_top = y;
        y += LANE_PADDING * room;
        for row in 0..of_lane().map(|index| rows[index] + 1).max().unwrap_or(1) {
            let of_row = || of_lane().filter(|&index| rows[index] == row);
            let tallest = of_row().map(|index| size(&panel.boxes[index]).1).fold(LINE, f64::max);
            y += if row > 0 { ROW_GAP } else { 0.0 };
            for index in of_row() {
                let (from, to) = spans[index];
                let height = size(&panel.boxes[index]).1;
                boxes[index] = Rect { x: left + from, y: y + (tallest - height) / 2.0, width: to - from, height };
            }
            y += tallest;
        }
        y += LANE_PADDING * room;
        lanes.push(Rect { x: 0.0, y: lane_top, width, height: y - lane_top });
    }
    let area = Rect { x: names + NAME_GAP, y: top + 2.0, width: width - names - NAME_GAP - 4.0, height: y - top - 4.0 };
    let lines: Vec<Vec<f64>> = boxes
        .iter()
        .zip(&panel.boxes)
        .map(|(rect, b)| (0..b.lines.len()).map(|line| line_at(rect, line)).collect())
        .collect();
    let gaps = gaps(panel, &boxes);
    let obstacles: Vec<Rect> = boxes.iter().copied().chain(gaps.iter().map(|gap| gap.0)).collect();
    let routed = route(&Ground { area, boxes: &obstacles, lines: &lines }, &panel.arrows);
    ticks.iter_mut().for_each(|tick| tick.0 += left);
    let height = y + if ticks.is_empty() { 0.0 } else { AXIS };
    let price = routed.price + 0.4 * width + 0.4 * height;
    (Layout { width, height, caption, lanes, boxes, gaps, routes: routed.routes, ticks }, price)
}

/// The width and height that a box needs.
pub(crate) fn size(b: &Transaction) -> (f64, f64) {
    let texts = b.lines.iter().map(|line| mono(&line.text)).chain(b.more().map(|more| mono(&more)));
    let widest = texts.fold(mono(&b.name) + mono(b.mark()), f64::max);
    let lines = 1 + b.lines.len() + usize::from(b.more().is_some());
    (widest + 2.0 * PADDING, lines as f64 * LINE + 2.0 * PADDING - 4.0)
}

/// The middle of a line of a box. The name comes before the lines.
pub(crate) fn line_at(rect: &Rect, line: usize) -> f64 {
    rect.y + PADDING - 2.0 + LINE * (line as f64 + 1.5)
}

/// The places of the marks for what is left out: before the box that comes after it.
fn gaps(panel: &Panel, boxes: &[Rect]) -> Vec<(Rect, usize)> {
    let before = |rect: &Rect| Rect::around(Point { x: rect.x - 14.0, y: rect.center().y }, mono("…") + 4.0, 4.0);
    let skipped = panel.boxes.iter().map(|b| b.skipped);
    boxes.iter().map(before).zip(skipped).filter(|(_, skipped)| *skipped > 0).collect()
}

/// Transactions of a session that overlap in time stand in rows below each other.
fn rows(panel: &Panel, spans: &[(f64, f64)]) -> Vec<usize> {
    let mut rows: Vec<usize> = Vec::new();
    for (index, b) in panel.boxes.iter().enumerate() {
        let is_free = |row: &usize| {
            let mut others = (0..index).filter(|&other| panel.boxes[other].lane == b.lane && rows[other] == *row);
            others.all(|other| spans[other].1 < spans[index].0 || spans[index].1 < spans[other].0)
        };
        let row = (0..).find(is_free).expect("some row is free");
        rows.push(row);
    }
    rows
}
