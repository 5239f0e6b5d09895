// Histories that pages are to survive, as JSON lines.
"use strict";

const lines = (records) => records.map((record) => JSON.stringify(record)).join("\n") + "\n";

// Names that would do harm if they were taken for markup, for a script, or for an attribute; and one that is too long for any line.
const evil = "</script><script>window.harmed=1</script>";
const quote = "\"' onmouseover=\"window.harmed=1\" <img src=x onerror=window.harmed=1>";
const endless = "k".repeat(5000);

// A lost update of one key, and a third transaction that saw the other keys.
exports.nasty = lines([
  { session: evil, ops: [["r", evil, null], ["w", evil, quote], ["w", quote, 1], ["w", endless, 1]] },
  { session: quote, ops: [["r", evil, null], ["w", evil, endless], ["r", quote, 1]] },
  { session: endless, ops: [["r", quote, 1], ["r", endless, null]] },
]);

// A lost update in transactions of four hundred events.
const many = (from) => Array.from({ length: 400 }, (_, index) => ["w", `other ${from + index}`, 1]);
exports.long = lines([
  { session: "alice", ops: [["r", "x", null], ...many(0), ["w", "x", 1]] },
  { session: "bob", ops: [["r", "x", null], ["w", "x", 2]] },
]);

// No order of the writes of x and of y is possible, and none is ruled out by itself: a proof with cases in cases.
exports.nested = `t1: [w(x,1) w(q1,1)]
t2: [w(x,2) w(q2,1)]
t3: [w(y,3) w(p3,1)]
t4: [w(y,4) w(p4,1)]
r1: [r(x,1) r(p3,1) r(p4,1)]
r2: [r(x,2) r(p3,1) r(p4,1)]
r3: [r(y,3) r(q1,1) r(q2,1)]
r4: [r(y,4) r(q1,1) r(q2,1)]
`;
