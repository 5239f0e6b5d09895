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
/// Larger rings stay as they come: every order is tried against every pair of arrows.
const MOST_TO_UNTANGLE: usize = 20;

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
    let loops = graph.arrows.iter().filter(|arrow| arrow.from == arrow.to).count();
    let layout = match order[..] {
        [_] => alone(&graph),
        [left, right] if loops == 0 => pair(&graph, left, right),
        _ => around(&graph, &order),
    };
    Some((graph, layout))
}

/// Three boxes or more. A larger ring is taken only if a smaller one will not do.
fn around(panel: &Panel, order: &[usize]) -> Layout {
    let (mut best, mut least) = placed(panel, order, 1.0);
    for room in [1.2, 1.5, 2.0] {
        if least < FORBIDDEN || order.len() > MOST_TO_UNTANGLE {
            break;
        }
        let (layout, price) = placed(panel, order, room);
        if price < least {
            (best, least) = (layout, price);
        }
    }
    best
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
    let circle = order.clone();
    let mut left: Vec<usize> = (0..panel.boxes.len()).filter(|index| !order.contains(index)).collect();
    if panel.boxes.len() > MOST_TO_UNTANGLE {
        order.extend(left);
        return order;
    }
    while !left.is_empty() {
        let is_joined = |&&one: &&usize| {
            let ends = |arrow: &Arrow| [(arrow.from, arrow.to), (arrow.to, arrow.from)];
            panel.arrows.iter().flat_map(ends).any(|(end, other)| end == one && order.contains(&other))
        };
        let next = *left.iter().find(is_joined).unwrap_or(&left[0]);
        left.retain(|&index| index != next);
        let with = |place: usize| {
            let mut with = order.clone();
            with.insert(place, next);
            with
        };
        let places = 1..=order.len();
        order = places.map(with).min_by_key(|order| tangle(panel, order)).unwrap_or_else(|| vec![next]);
    }
    untangled(panel, order, &circle)
}

/// Moves boxes forward and turns stretches around, as long as that makes it better and the circle goes round as it did.
fn untangled(panel: &Panel, mut order: Vec<usize>, circle: &[usize]) -> Vec<usize> {
    let mut best = tangle(panel, &order);
    loop {
        let mut better = None;
        // The first stays at the top.
        for (from, to) in (1..order.len()).flat_map(|from| (1..order.len()).map(move |to| (from, to))) {
            let mut moved = order.clone();
            if from < to {
                moved[from..=to].reverse();
            } else {
                moved[to..=from].rotate_right(1);
            }
            let price = tangle(panel, &moved);
            if price < best && moved.iter().filter(|index| circle.contains(index)).eq(circle) {
                best = price;
                better = Some(moved);
            }
        }
        match better {
            Some(moved) => order = moved,
            None => return order,
        }
    }
}

/// How bad an order is: how many arrows cross, and how far around they go.
fn tangle(panel: &Panel, order: &[usize]) -> usize {
    let place = |index: usize| order.iter().position(|&other| other == index);
    let chord = |arrow: &Arrow| {
        let (from, to) = (place(arrow.from)?, place(arrow.to)?);
        Some((from.min(to), from.max(to)))
    };
    let chords: Vec<(usize, usize)> = panel.arrows.iter().filter_map(chord).collect();
    let mut price = 0;
    for (index, &(from, to)) in chords.iter().enumerate() {
        price += (to - from).min(order.len() - (to - from));
        let crosses = |&&(other, end): &&(usize, usize)| {
            (from < other && other < to && to < end) || (other < from && from < end && end < to)
        };
        price += 4 * chords[..index].iter().filter(crosses).count();
    }
    price
}

/// A box whose arrows return to it.
fn alone(panel: &Panel) -> Layout {
    let (width, height) = size(&panel.boxes[0]);
    let only = Rect { x: 0.0, y: 0.0, width, height };
    let routes = panel.arrows.iter().enumerate().map(|(index, arrow)| {
        let far = width + (index as f64 + 1.0) * (mono(&arrow.label) + GAP);
        let point = |x: f64, y: f64| Point { x, y: y * height };
        Route::along(Curve([point(width, 0.25), point(far, -0.3), point(far, 1.3), point(width, 0.75)]), &arrow.label)
    });
    let routes = routes.collect();
    Layout {
        width,
        height,
        caption: Vec::new(),
        lanes: Vec::new(),
        boxes: vec![only],
        gaps: Vec::new(),
        routes,
        ticks: Vec::new(),
    }
}

/// Two boxes beside each other. Arrows to the right go above, those to the left below, further out the more there are.
fn pair(panel: &Panel, left: usize, right: usize) -> Layout {
    let sizes: Vec<(f64, f64)> = panel.boxes.iter().map(size).collect();
    let label = panel.arrows.iter().map(|arrow| mono(&arrow.label)).fold(0.0, f64::max);
    let mut boxes: Vec<Rect> = sizes.iter().map(|&(width, height)| Rect { x: 0.0, y: 0.0, width, height }).collect();
    let single = panel.arrows.len() == 1;
    boxes[right].x = sizes[left].0 + label.max(GAP) + if single { 48.0 } else { 8.0 };
    // How many go to the left, and to the right.
    let mut arcs = [0.0; 2];
    let mut routes = Vec::new();
    for arrow in &panel.arrows {
        let (from, to) = (boxes[arrow.from], boxes[arrow.to]);
        let is_right = arrow.from == left;
        let nth = &mut arcs[usize::from(is_right)];
        *nth += 1.0;
        let (up, ahead) = if is_right { (-1.0, 1.0) } else { (1.0, -1.0) };
        let height = 14.0 + 30.0 * *nth;
        // They leave and arrive beside the middle, where they lean to.
        let end = |b: Rect, lean: f64| {
            let y = if is_right { b.y } else { b.bottom() };
            Point { x: b.center().x + lean * ahead * b.width / 5.0, y }
        };
        let leaning = |end: Point, lean: f64| Point { x: end.x + 0.3 * lean * ahead * height, y: end.y + up * height };
        let (start, stop) = (end(from, 1.0), end(to, -1.0));
        let curve = if single {
            let side = |b: Rect, lean: f64| b.center().moved(Point { x: lean * ahead, y: 0.0 }, b.width / 2.0);
            let (start, stop) = (side(from, 1.0), side(to, -1.0));
            let third = Point { x: (stop.x - start.x) / 3.0, y: 0.0 };
            Curve([start, start.moved(third, 1.0), stop.moved(third, -1.0), stop])
        } else {
            Curve([start, leaning(start, 1.0), leaning(stop, -1.0), stop])
        };
        routes.push(Route::along(curve, &arrow.label));
    }
    let (width, height) = (boxes[right].right(), boxes[right].height);
    Layout { width, height, caption: Vec::new(), lanes: Vec::new(), boxes, gaps: Vec::new(), routes, ticks: Vec::new() }
}

fn placed(panel: &Panel, order: &[usize], room: f64) -> (Layout, f64) {
    let sizes: Vec<(f64, f64)> = panel.boxes.iter().map(size).collect();
    let widest = sizes.iter().map(|size| size.0).fold(0.0, f64::max);
    let label = panel.arrows.iter().map(|arrow| mono(&arrow.label)).fold(0.0, f64::max);
    let count = order.len() as f64;
    // What two neighbours on a circle of radius 1 are apart.
    let chord = 2.0 * (PI / count).sin();
    let (across, down) = (room * (widest + label + GAP) / chord, room * STEEP / chord);
    let mut boxes = vec![Rect { x: 0.0, y: 0.0, width: 0.0, height: 0.0 }; panel.boxes.len()];
    for (place, &index) in order.iter().enumerate() {
        // The first is at the top.
        let angle = -PI / 2.0 + 2.0 * PI * place as f64 / count;
        let center = Point { x: across * angle.cos(), y: down * angle.sin() };
        boxes[index] = Rect::around(center, sizes[index].0, sizes[index].1);
    }
    let corners: Vec<Point> =
        boxes.iter().flat_map(|b| [Point { x: b.x, y: b.y }, Point { x: b.right(), y: b.bottom() }]).collect();
    // Arrows and their labels may go around the outermost boxes.
    let bounds = Rect::of(&corners).grown(MARGIN);
    for b in &mut boxes {
        (b.x, b.y) = (b.x - bounds.x, b.y - bounds.y);
    }
    let (width, height) = (bounds.width, bounds.height);
    let area = Rect { x: 0.0, y: 0.0, width, height };
    let lines = vec![Vec::new(); boxes.len()];
    let routed = route(&Ground { area, boxes: &boxes, lines: &lines }, &panel.arrows);
    let (caption, lanes, ticks) = (Vec::new(), Vec::new(), Vec::new());
    (Layout { width, height, caption, lanes, boxes, gaps: Vec::new(), routes: routed.routes, ticks }, routed.price)
}

/// What of a ring is drawn upon: its arrows seldom need all the room that they are given.
pub(super) fn extent(layout: &Layout) -> Rect {
    let rects = layout.boxes.iter().chain(layout.routes.iter().map(|route| &route.label));
    let corners = rects.flat_map(|rect| [Point { x: rect.x, y: rect.y }, Point { x: rect.right(), y: rect.bottom() }]);
    let lines = layout.routes.iter().flat_map(|route| route.curve.samples());
    Rect::of(&corners.chain(lines).collect::<Vec<_>>())
}
