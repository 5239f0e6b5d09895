//! Points, rectangles and curves.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl Point {
    pub(crate) fn distance(self, other: Point) -> f64 {
        ((self.x - other.x) * (self.x - other.x) + (self.y - other.y) * (self.y - other.y)).sqrt()
    }

    /// The point so far away in a direction.
    pub(crate) fn moved(self, direction: Point, by: f64) -> Point {
        Point { x: self.x + direction.x * by, y: self.y + direction.y * by }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn around(center: Point, width: f64, height: f64) -> Self {
        Rect { x: center.x - width / 2.0, y: center.y - height / 2.0, width, height }
    }

    /// The smallest one that holds all points.
    pub(crate) fn of(points: &[Point]) -> Self {
        let low = |of: fn(&Point) -> f64| points.iter().map(of).fold(f64::INFINITY, f64::min);
        let high = |of: fn(&Point) -> f64| points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        let (x, y) = (low(|p| p.x), low(|p| p.y));
        Rect { x, y, width: high(|p| p.x) - x, height: high(|p| p.y) - y }
    }

    pub(crate) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    pub(crate) fn center(&self) -> Point {
        Point { x: self.x + self.width / 2.0, y: self.y + self.height / 2.0 }
    }

    pub(crate) fn grown(&self, by: f64) -> Rect {
        Rect { x: self.x - by, y: self.y - by, width: self.width + 2.0 * by, height: self.height + 2.0 * by }
    }

    pub(crate) fn contains(&self, point: Point) -> bool {
        point.x > self.x && point.x < self.right() && point.y > self.y && point.y < self.bottom()
    }

    pub(crate) fn overlaps(&self, other: &Rect) -> bool {
        self.x < other.right() && other.x < self.right() && self.y < other.bottom() && other.y < self.bottom()
    }

    pub(crate) fn holds(&self, other: &Rect) -> bool {
        other.x >= self.x && other.right() <= self.right() && other.y >= self.y && other.bottom() <= self.bottom()
    }
}

/// How many points stand for a curve where it is compared with others.
pub(crate) const SAMPLES: usize = 25;

/// A cubic curve: the first and last point, and two that it leans to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve(pub(crate) [Point; 4]);

impl Curve {
    pub(crate) fn at(&self, t: f64) -> Point {
        let [a, b, c, d] = self.0;
        let s = 1.0 - t;
        let mix =
            |a: f64, b: f64, c: f64, d: f64| s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d;
        Point { x: mix(a.x, b.x, c.x, d.x), y: mix(a.y, b.y, c.y, d.y) }
    }

    /// How much it turns, in quarters of a turn, of the lines between its points.
    pub(crate) fn turns(&self) -> f64 {
        let step = |i: usize| (self.0[i + 1].x - self.0[i].x, self.0[i + 1].y - self.0[i].y);
        let turn = |(ax, ay): (f64, f64), (bx, by): (f64, f64)| {
            let lengths = ((ax * ax + ay * ay) * (bx * bx + by * by)).sqrt();
            if lengths > 0.0 { 1.0 - (ax * bx + ay * by) / lengths } else { 0.0 }
        };
        turn(step(0), step(1)) + turn(step(1), step(2))
    }

    pub(crate) fn samples(&self) -> [Point; SAMPLES] {
        std::array::from_fn(|i| self.at(i as f64 / (SAMPLES - 1) as f64))
    }
}

/// Whether two straight pieces cross.
pub(crate) fn cross(a: [Point; 2], b: [Point; 2]) -> bool {
    let side = |[p, q]: [Point; 2], r: Point| (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
    side(a, b[0]) * side(a, b[1]) < 0.0 && side(b, a[0]) * side(b, a[1]) < 0.0
}
