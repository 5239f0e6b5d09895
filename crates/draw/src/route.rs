//! The way of each arrow, and the place of its label.
//!
//! Every arrow has some hundreds of possible curves, from the sides of one box to the sides of another. The best one is short, crosses no box and few arrows, keeps
//! a distance from others, and leaves room for the label on it. Arrows are routed one after the other, and then each again, now that the others are known.

use isonomy_checker::End;

use crate::geometry::{Curve, Point, Rect, SAMPLES, cross};
use crate::model::Arrow;
use crate::text::mono;

/// An arrow on paper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) curve: Curve,
    /// Where the label stands.
    pub(crate) label: Rect,
    points: [Point; SAMPLES],
    /// What holds all points.
    bounds: Rect,
    /// Its price, apart from other arrows.
    price: f64,
}

impl Route {
    /// An arrow along a curve of the caller's, with its label in the middle.
    pub(crate) fn along(curve: Curve, label: &str) -> Self {
        let points = curve.samples();
        let label = Rect::around(curve.at(0.5), mono(label) + 8.0, LABEL_HEIGHT);
        Route { curve, label, points, bounds: Rect::of(&points), price: 0.0 }
    }
}

/// What arrows go around.
pub(crate) struct Ground<'a> {
    /// The area they must stay in.
    pub(crate) area: Rect,
    /// The boxes of the panel, and what else is in the way.
    pub(crate) boxes: &'a [Rect],
    /// For each box of the panel the heights of its lines.
    pub(crate) lines: &'a [Vec<f64>],
}

pub(crate) struct Routed {
    pub(crate) routes: Vec<Route>,
    /// How bad it is all in all.
    pub(crate) price: f64,
}

/// What no drawing should have: a label or an arrow upon a box, two labels upon each other.
pub(crate) const FORBIDDEN: f64 = 3_000.0;
const CROSSING: f64 = 70.0;
const TOO_NEAR: f64 = 12.0;
const SAME_END: f64 = 140.0;
const LABEL_ON_ARROW: f64 = 45.0;
/// For each quarter of a turn.
const BEND: f64 = 28.0;
/// For each end of an arrow that is not at its event: less where it stands upright instead.
const BESIDE_THE_EVENT: f64 = 68.0;
const ABOVE_THE_EVENT: f64 = 14.0;

/// How many curves of each arrow are compared with other arrows; fewer where there are many, for every two arrows are compared.
const KEPT: usize = 160;
const FEWEST_KEPT: usize = 12;
const MANY: usize = 30;
const ROUNDS: usize = 3;
const LABEL_HEIGHT: f64 = 17.0;

/// Routes all arrows.
pub(crate) fn route(ground: &Ground<'_>, arrows: &[Arrow]) -> Routed {
    let kept = (KEPT * MANY * MANY / arrows.len().max(MANY).pow(2)).max(FEWEST_KEPT);
    let choices: Vec<Vec<Route>> = arrows.iter().map(|arrow| choices(ground, arrow, kept)).collect();
    let mut order: Vec<usize> = (0..arrows.len()).collect();
    // Short arrows have the least choice.
    order.sort_by(|&a, &b| choices[a][0].price.total_cmp(&choices[b][0].price));
    let mut routes: Vec<Option<Route>> = vec![None; arrows.len()];
    let mut price = 0.0;
    for _ in 0..ROUNDS {
        price = 0.0;
        for &index in &order {
            routes[index] = None;
            let (best, cost) = best(ground, &choices[index], &routes);
            routes[index] = Some(best);
            price += cost;
        }
    }
    Routed { routes: routes.into_iter().flatten().collect(), price }
}

/// The curve and label with the least price beside other arrows.
fn best(ground: &Ground<'_>, choices: &[Route], others: &[Option<Route>]) -> (Route, f64) {
    let mut best: Option<(Route, f64)> = None;
    for choice in choices {
        let so_far = best.as_ref().map_or(f64::INFINITY, |best| best.1);
        if choice.price >= so_far {
            break;
        }
        let mut price = choice.price;
        for other in others.iter().flatten() {
            // It only gets dearer.
            if price >= so_far {
                break;
            }
            price += between(choice, other);
            if choice.points.iter().any(|&point| other.label.contains(point)) {
                price += LABEL_ON_ARROW;
            }
        }
        if price >= so_far {
            continue;
        }
        let (label, cost) = label(ground, choice, others);
        if price + cost < so_far {
            best = Some((Route { label, ..*choice }, price + cost));
        }
    }
    best.expect("every arrow has a curve")
}

/// The price of two arrows beside each other.
fn between(one: &Route, other: &Route) -> f64 {
    let mut price = 0.0;
    if !one.bounds.grown(10.0).overlaps(&other.bounds) {
        return price;
    }
    for (a, end) in [(0, 0), (0, SAMPLES - 1), (SAMPLES - 1, 0), (SAMPLES - 1, SAMPLES - 1)] {
        if one.points[a].distance(other.points[end]) < 5.5 {
            price += SAME_END;
        }
    }
    for a in one.points.windows(2) {
        if !Rect::of(a).grown(1.0).overlaps(&other.bounds) {
            continue;
        }
        for b in other.points.windows(2) {
            if cross([a[0], a[1]], [b[0], b[1]]) {
                price += CROSSING;
            }
        }
    }
    let middle = 3..SAMPLES - 3;
    let around = other.bounds.grown(10.0);
    for a in one.points[middle.clone()].iter().filter(|a| around.contains(**a)) {
        if other.points[middle.clone()].iter().any(|b| a.distance(*b) < 9.0) {
            price += TOO_NEAR;
        }
    }
    price
}

/// The best place for a label on a curve.
fn label(ground: &Ground<'_>, route: &Route, others: &[Option<Route>]) -> (Rect, f64) {
    const PLACES: [f64; 13] = [0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65, 0.3, 0.7, 0.25, 0.75, 0.2, 0.8];
    let mut best = (route.label, f64::INFINITY);
    for place in PLACES {
        let rect = label_at(&route.curve, place, route.label.width);
        let mut price = (place - 0.5).abs() * 40.0;
        // Both ends stay in sight.
        if [1, 2, SAMPLES - 3, SAMPLES - 2].iter().any(|&end| rect.contains(route.points[end])) {
            price += LABEL_ON_ARROW;
        }
        if !ground.area.holds(&rect) || ground.boxes.iter().any(|b| b.grown(2.0).overlaps(&rect)) {
            price += FORBIDDEN;
        }
        for other in others.iter().flatten() {
            if other.label.grown(1.0).overlaps(&rect) {
                price += FORBIDDEN;
            }
            if other.points.iter().any(|&point| rect.contains(point)) {
                price += LABEL_ON_ARROW;
            }
        }
        if price < best.1 {
            best = (rect, price);
        }
    }
    best
}

/// The label upon a curve, or beside one that returns to where it came from, which it would cover.
fn label_at(curve: &Curve, place: f64, width: f64) -> Rect {
    let [from, .., to] = curve.0;
    let returns = from.x == to.x && curve.0[1].x == curve.0[2].x && curve.0[1].x > from.x;
    let aside = if returns { width / 2.0 + 2.0 } else { 0.0 };
    Rect::around(curve.at(place).moved(Point { x: 1.0, y: 0.0 }, aside), width, LABEL_HEIGHT)
}

/// A place where an arrow leaves or arrives, the way out of the box there, and its price.
type Port = (Point, Point, f64);

/// The cheapest curves of an arrow, best first.
fn choices(ground: &Ground<'_>, arrow: &Arrow, kept: usize) -> Vec<Route> {
    let leaves = arrow.ends.map(|ends| ends.0);
    let arrives = arrow.ends.map(|ends| ends.1);
    let mut from = ports(ground, [arrow.from, arrow.to], arrow.from_line, leaves);
    let mut to = ports(ground, [arrow.to, arrow.from], arrow.to_line, arrives);
    if arrow.from == arrow.to {
        // A loop from event to event, beside the box.
        from.retain(|port| port.1.x > 0.0);
        to.retain(|port| port.1.x > 0.0);
    }
    let mut routes = Vec::new();
    for from in &from {
        for to in &to {
            for bend in [0.35, 0.6, 1.0] {
                let far = if arrow.from == arrow.to {
                    60.0 * bend
                } else {
                    let distance = from.0.distance(to.0);
                    (distance * bend).clamp(28.0_f64.min(0.4 * distance), 180.0)
                };
                let curve = Curve([from.0, from.0.moved(from.1, far), to.0.moved(to.1, far), to.0]);
                routes.push(priced(ground, arrow, curve, from.2 + to.2));
            }
        }
    }
    routes.sort_by(|a, b| a.price.total_cmp(&b.price));
    routes.truncate(kept);
    routes
}

fn priced(ground: &Ground<'_>, arrow: &Arrow, curve: Curve, ports: f64) -> Route {
    let points = curve.samples();
    let bounds = Rect::of(&points);
    let mut price = ports + points.windows(2).map(|pair| pair[0].distance(pair[1])).sum::<f64>();
    // Bends are tiring.
    price += BEND * curve.turns();
    for (index, b) in ground.boxes.iter().enumerate() {
        let own = index == arrow.from || index == arrow.to;
        let keep_off = if own { b.grown(-1.0) } else { b.grown(7.0) };
        if !keep_off.overlaps(&bounds) {
            continue;
        }
        let inside = points.iter().filter(|&&point| keep_off.contains(point)).count();
        if inside > 0 {
            price += FORBIDDEN / 2.0 + 100.0 * inside as f64;
        }
    }
    price += 200.0 * points.iter().filter(|&&point| !ground.area.contains(point)).count() as f64;
    let label = label_at(&curve, 0.5, mono(&arrow.label) + 8.0);
    Route { curve, label, points, bounds, price }
}

/// Where an arrow may touch a box: at its event on both sides, and above and below.
fn ports(ground: &Ground<'_>, [index, other]: [usize; 2], line: Option<usize>, end: Option<End>) -> Vec<Port> {
    let (b, other) = (ground.boxes[index], ground.boxes[other]);
    let mut ports = Vec::new();
    let heights: Vec<f64> = match line {
        Some(line) => [0.0, -6.0, 6.0].map(|by| ground.lines[index][line] + by).to_vec(),
        None => [0.5, 0.3, 0.7].map(|share| b.y + share * b.height).to_vec(),
    };
    for (rank, &y) in heights.iter().enumerate() {
        let price = 4.0 * rank as f64;
        if end != Some(End::Begin) {
            ports.push((Point { x: b.right(), y }, Point { x: 1.0, y: 0.0 }, price));
        }
        if end != Some(End::Commit) {
            ports.push((Point { x: b.x, y }, Point { x: -1.0, y: 0.0 }, price));
        }
    }
    if end.is_none() {
        // Boxes above each other are joined by upright arrows.
        let common = (b.x.max(other.x), b.right().min(other.right()));
        let (left, right, beside) = match common {
            (left, right) if right - left > 30.0 => (left, right, ABOVE_THE_EVENT),
            _ => (b.x, b.right(), BESIDE_THE_EVENT),
        };
        for (rank, share) in [0.5, 0.3, 0.7, 0.15, 0.85].into_iter().enumerate() {
            let x = left + share * (right - left);
            let price = if line.is_some() { beside } else { 0.0 } + 3.0 * rank as f64;
            ports.push((Point { x, y: b.y }, Point { x: 0.0, y: -1.0 }, price));
            ports.push((Point { x, y: b.bottom() }, Point { x: 0.0, y: 1.0 }, price));
        }
    }
    ports
}
