//! A slice of transactions, as a part of a page.

use super::escaped;
use super::numbers::grouped;
use super::table::{Column, table};
use crate::slice::{Row, Slice};

const COLUMNS: [Column; 5] = [
    Column::name("transaction"),
    Column::plain("session"),
    Column::aside("outcome"),
    Column::aside("times"),
    Column::plain("events"),
];

/// The table, and what is needed to go on: `data-total` and `data-shown`.
pub(crate) fn transactions(slice: &Slice) -> String {
    let shown = slice.transactions.len();
    if shown == 0 {
        return format!("<p class=\"hint\" data-total=\"{}\">No transaction matches.</p>\n", slice.total);
    }
    let row = |row: &Row| {
        let mut events: Vec<String> =
            row.events.iter().map(|event| format!("<code>{}</code>", escaped(event))).collect();
        if row.more > 0 {
            events.push(format!("… {} more", grouped(row.more as u64)));
        }
        let took = match (row.start, row.finish) {
            (Some(start), Some(finish)) => format!("{start} – {finish}"),
            _ => String::new(),
        };
        vec![escaped(&row.name), escaped(&row.session), row.outcome.to_owned(), took, events.join(" ")]
    };
    let rows: Vec<Vec<String>> = slice.transactions.iter().map(row).collect();
    let (first, last, total) = (slice.offset + 1, slice.offset + shown, slice.total);
    format!(
        "<p class=\"row\"><span data-total=\"{total}\">{} to {} of {}</span>\n\
         <button type=\"button\" class=\"action\" data-to=\"{}\"{}>Previous</button>\n\
         <button type=\"button\" class=\"action\" data-to=\"{last}\"{}>Next</button></p>\n{}",
        grouped(first as u64),
        grouped(last as u64),
        grouped(total as u64),
        slice.offset.saturating_sub(50),
        if slice.offset == 0 { " disabled" } else { "" },
        if last >= total { " disabled" } else { "" },
        table("Transactions", &COLUMNS, &rows),
    )
}
