//! The dependency graph of a panel as a ring: the circle in its order, clockwise, and between its transactions those that are only reasons.

use std::f64::consts::PI;

use crate::geometry::{Curve, Point, Rect};
use crate::layout::{Layout, size};
use crate::model::{Arrow, Panel, Transaction};
use crate::route::{FORBIDDEN, Ground, Route, route};
use crate::text::mono;

/// Between two neighbours, beside the label of the arrow that joins them.
const GAP: f64 = 44.0;
/// From the middle of one box to that of the next, where they stand above each other.
const STEEP: f64 = 104.0;
/// Around all boxes.
const MARGIN: f64 = 26.0;

/// The panel as a graph, without events, and its places. `None` if there is nothing to join.
pub(super) fn ring(panel: &Panel) -> Option<(Panel, Layout)> {
    if panel.arrows.is_empty() {
        return None;
    }
    let boxes: Vec<Transaction> =
        panel.boxes.iter().map(|b| Transaction { lines: Vec::new(), folded: 0, ..b.clone() }).collect();
    let arrows: Vec<Arrow> = panel
        .arrows
        .iter()
        .map(|arrow| Arrow { from_line: None, to_line: None, ends: None, ..arrow.clone() })
        .collect();
    let graph = Panel { caption: None, lanes: Vec::new(), boxes, arrows, clock: None };
    let order = order(&graph);
    if order.len() == 2 && graph.arrows.iter().all(|arrow| arrow.from != arrow.to) {
        let layout = pair(&graph, &order);
        return Some((graph, layout));
    }
    let mut best: Option<(Layout, f64)> = None;
    // A larger ring is taken only if a smaller one will not do.
    for room in [1.0, 1.2, 1.5, 2.0] {
        let (layout, price) = placed(&graph, &order, room);
        let is_good = price < FORBIDDEN;
        if best.as_ref().is_none_or(|best| price < best.1) {
            best = Some((layout, price));
        }
        if is_good {
            break;
        }
    }
    best.map(|(layout, _)| (graph, layout))
}

/// The boxes around the ring: those of the circle as it goes, and each of the others where it is nearest to those it is joined with.
fn order(panel: &Panel) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    for arrow in panel.arrows.iter().filter(|arrow| arrow.main) {
        for end in [arrow.from, arrow.to] {
            if !order.contains(&end) {
                order.push(end);
            }
        }
    }
    let mut left: Vec<usize> = (0..panel.boxes.len()).filter(|index| !order.contains(index)).collect();
    while !left.is_empty() {
        let joined = |one: usize, other: usize| {
            panel.arrows.iter().filter(|a| [(a.from, a.to), (a.to, a.from)].contains(&(one, other))).count()
        };
        let is_joined = |&&one: &&usize| order.iter().any(|&other| joined(one, other) > 0);
        let next = *left.iter().find(is_joined).unwrap_or(&left[0]);
        left.retain(|&index| index != next);
        let length = |gap: usize| {
            let steps = |at: usize| {
                // Behind the gap, everything moves on by one.
                let away = if at >= gap { at + 1 - gap } else { gap - at };
                away.min(order.len() + 1 - away)
            };
            order.iter().enumerate().map(|(at, &other)| joined(next, other) * steps(at)).sum::<usize>()
        };
        let gap = (1..=order.len()).min_by_key(|&gap| length(gap)).unwrap_or(0);
        order.insert(gap, next);
    }
    order
}

/// Two boxes beside each other. Arrows to the right go above, those to the left below, further out the more there are.
fn pair(panel: &Panel, order: &[usize]) -> Layout {
    let sizes: Vec<(f64, f64)> = panel.boxes.iter().map(size).collect();
    let label = panel.arrows.iter().map(|arrow| mono(&arrow.label)).fold(0.0, f64::max);
    let mut boxes: Vec<Rect> = sizes.iter().map(|&(width, height)| Rect { x: 0.0, y: 0.0, width, height }).collect();
    boxes[order[1]].x = sizes[order[0]].0 + label.max(GAP) + 8.0;
    let mut arcs = [0.0; 2];
    let routes = panel.arrows.iter().map(|arrow| {
        let (from, to) = (boxes[arrow.from], boxes[arrow.to]);
        let is_right = from.x < to.x;
        arcs[usize::from(is_right)] += 1.0;
        let (up, rightwards) = if is_right { (-1.0, 1.0) } else { (1.0, -1.0) };
        let height = up * (14.0 + 30.0 * arcs[usize::from(is_right)]);
        // They leave and arrive beside the middle, where they lean to.
        let end = |b: Rect, lean: f64| {
            let y = if is_right { b.y } else { b.bottom() };
            Point { x: b.center().x + lean * rightwards * b.width / 5.0, y }
        };
        let (from, to) = (end(from, 1.0), end(to, -1.0));
        let lean = |end: Point, by: f64| Point { x: end.x + by, y: end.y + height };
        let aside = 0.3 * rightwards * height.abs();
        Route::along(Curve([from, lean(from, aside), lean(to, -aside), to]), &arrow.label)
    });
    let routes = routes.collect();
    let (width, height) = (boxes[order[1]].right(), boxes[order[1]].height);
    Layout { width, height, caption: Vec::new(), lanes: Vec::new(), boxes, routes, ticks: Vec::new() }
}

fn placed(panel: &Panel, order: &[usize], room: f64) -> (Layout, f64) {
    let sizes: Vec<(f64, f64)> = panel.boxes.iter().map(size).collect();
    let widest = sizes.iter().map(|size| size.0).fold(0.0, f64::max);
    let label = panel.arrows.iter().map(|arrow| mono(&arrow.label)).fold(0.0, f64::max);
    let count = order.len() as f64;
    // What two neighbours on a circle of radius 1 are apart.
    let chord = 2.0 * (PI / count.max(2.0)).sin();
    let across = room * (widest + label + GAP) / chord;
    let down = if order.len() == 2 { 0.0 } else { room * STEEP / chord };
    // Two stand beside each other; of more the first is at the top.
    let first = if order.len() == 2 { PI } else { -PI / 2.0 };
    let mut boxes = vec![Rect { x: 0.0, y: 0.0, width: 0.0, height: 0.0 }; panel.boxes.len()];
    for (place, &index) in order.iter().enumerate() {
        let angle = first + 2.0 * PI * place as f64 / count;
        let center = Point { x: across * angle.cos(), y: down * angle.sin() };
        boxes[index] = Rect::around(center, sizes[index].0, sizes[index].1);
    }
    let corners: Vec<Point> =
        boxes.iter().flat_map(|b| [Point { x: b.x, y: b.y }, Point { x: b.right(), y: b.bottom() }]).collect();
    // Arrows and their labels may go around the outermost boxes.
    let bounds = Rect::of(&corners).grown(MARGIN);
    // Two boxes in a row leave no height for that by themselves.
    let low = if order.len() <= 2 { 20.0 } else { 0.0 };
    for b in &mut boxes {
        (b.x, b.y) = (b.x - bounds.x, b.y - bounds.y + low);
    }
    let (width, height) = (bounds.width, bounds.height + 2.0 * low);
    let area = Rect { x: 0.0, y: 0.0, width, height };
    let lines = vec![Vec::new(); boxes.len()];
    let routed = route(&Ground { area, boxes: &boxes, lines: &lines }, &panel.arrows);
    let (caption, lanes, ticks) = (Vec::new(), Vec::new(), Vec::new());
    (Layout { width, height, caption, lanes, boxes, routes: routed.routes, ticks }, routed.price)
}

/// What of a ring is drawn upon: its arrows seldom need all the room that they are given.
pub(super) fn extent(layout: &Layout) -> Rect {
    let rects = layout.boxes.iter().chain(layout.routes.iter().map(|route| &route.label));
    let corners = rects.flat_map(|rect| [Point { x: rect.x, y: rect.y }, Point { x: rect.right(), y: rect.bottom() }]);
    let lines = layout.routes.iter().flat_map(|route| route.curve.samples());
    Rect::of(&corners.chain(lines).collect::<Vec<_>>())
}
