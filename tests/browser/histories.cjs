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
