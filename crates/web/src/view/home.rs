//! What there is: jobs, run folders, histories.

use std::sync::Arc;

use super::layout::page;
use super::numbers::{moment, size};
use super::{escaped, table, verdicts};
use crate::jobs::Job;
use crate::library::{Entry, Kind, Listing, Told};

/// The list. `last` tells what the last check of an entry found.
pub(crate) fn home(listing: &Listing, jobs: &[Arc<Job>], last: impl Fn(&Entry) -> Vec<Told>) -> String {
    let mut out = String::from(
        "<div class=\"boxes\">\n<form class=\"box\" data-upload>\n<label for=\"file\">Look at a history from this computer</label>\n\
         <input type=\"file\" id=\"file\" name=\"file\" required>\n<button class=\"action\">Upload</button>\n\
         <p class=\"hint\" role=\"status\" data-said></p>\n</form>\n\
         <div class=\"box\"><p>Run a workload against a database, and see what its isolation is worth.</p>\n\
         <a class=\"action\" href=\"/runs/new\">New run</a></div>\n</div>\n",
    );
    if !jobs.is_empty() {
        out += "<h2>Jobs</h2>\n";
        let row = |job: &Arc<Job>| {
            let link = format!("<a href=\"/jobs/{}\">{}</a>", job.number(), escaped(&job.task().title()));
            vec![link, super::job::state(job), moment(job.started)]
        };
        out += &table("Jobs", &["job", "state", "started"], &jobs.iter().take(10).map(row).collect::<Vec<_>>());
    }
    out += "<h2>Runs and histories</h2>\n";
    if listing.entries.is_empty() {
        out += "<p>There are none below the folders that the server was given. Upload one, or start a run.</p>\n";
        return page("Histories", &out);
    }
    let row = |entry: &Entry| {
        let name = escaped(&entry.name);
        let told = last(entry);
        vec![
            format!("<input type=\"checkbox\" name=\"id\" value=\"{}\" aria-label=\"Compare {name}\">", entry.id),
            format!("<a href=\"/histories/{}\">{name}</a>", entry.id),
            kind(entry),
            size(entry.size),
            moment(entry.modified),
            verdicts::summary(if told.is_empty() { &entry.verdicts } else { &told }),
        ]
    };
    let rows: Vec<Vec<String>> = listing.entries.iter().map(row).collect();
    out += "<form action=\"/compare\" data-compare>\n";
    out += &table("Runs and histories", &["", "name", "format", "size", "when", "verdicts"], &rows);
    out += "<button class=\"action\">Compare the two that are marked</button>\n</form>\n";
    if listing.cut {
        out += "<p class=\"hint\">There are more than are listed here. Serve a folder with fewer of them.</p>\n";
    }
    page("Histories", &out)
}

/// What it is and how it is written.
pub(super) fn kind(entry: &Entry) -> String {
    let format = entry.format.map_or("unknown", |format| format.name());
    match entry.kind {
        Kind::Run => "run".to_owned(),
        Kind::History => escaped(format),
    }
}
