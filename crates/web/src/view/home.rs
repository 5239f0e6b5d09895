//! What there is: jobs, run folders, histories.

use std::sync::Arc;

use super::layout::page;
use super::numbers::{moment, size};
use super::table::{Column, stacked, table};
use super::{escaped, verdicts};
use crate::jobs::Job;
use crate::library::{Entry, Kind, Listing, Told};

/// How many of the last jobs are listed.
const JOBS: usize = 10;

const COLUMNS: [Column; 6] = [
    Column::plain("mark"),
    Column::name("name"),
    Column::aside("format"),
    Column::aside("size"),
    Column::aside("changed"),
    Column::plain("verdicts"),
];

/// The list. `known` tells what is known of the levels of an entry.
pub(crate) fn home(listing: &Listing, jobs: &[Arc<Job>], known: impl Fn(&Entry) -> Vec<Told>) -> String {
    let mut out = String::from(
        "<div class=\"boxes\">\n<form class=\"box\" data-upload>\n<label for=\"file\">Upload a history from this computer, in any format that isonomy reads</label>\n\
         <input type=\"file\" id=\"file\" name=\"file\" required>\n<button class=\"action\">Upload</button>\n\
         <p class=\"hint\" role=\"status\" data-said></p>\n</form>\n\
         <div class=\"box\"><p>Run a workload against a database, and check what its clients saw.</p>\n\
         <a class=\"action\" href=\"/runs/new\">New run</a></div>\n</div>\n",
    );
    if !jobs.is_empty() {
        out += "<h2>Jobs</h2>\n";
        let row = |job: &Arc<Job>| {
            let link = format!("<a href=\"/jobs/{}\">{}</a>", job.number(), escaped(&job.task().title()));
            vec![link, super::job::state(job), moment(job.started)]
        };
        let columns = [Column::name("job"), Column::plain("state"), Column::aside("started")];
        out += &table("Jobs", &columns, &jobs.iter().take(JOBS).map(row).collect::<Vec<_>>());
        if jobs.len() > JOBS {
            out += &format!("<p class=\"hint\">The last {JOBS} of {}.</p>\n", jobs.len());
        }
    }
    out += "<h2>Runs and histories</h2>\n";
    if listing.entries.is_empty() {
        out += "<p>There are none in the folders that the server was given. Upload a history, or start a run.</p>\n";
        return page("Histories", &out);
    }
    let row = |entry: &Entry| {
        let name = escaped(&entry.name);
        vec![
            format!("<input type=\"checkbox\" name=\"id\" value=\"{}\" aria-label=\"Compare {name}\">", entry.id),
            format!("<a href=\"/histories/{}\">{name}</a>", entry.id),
            kind(entry),
            size(entry.size),
            moment(entry.modified),
            verdicts::summary(&known(entry)),
        ]
    };
    let rows: Vec<Vec<String>> = listing.entries.iter().map(row).collect();
    out += "<form action=\"/compare\" data-compare>\n";
    out += &stacked("Runs and histories", &COLUMNS, &rows);
    out += "<p class=\"row\"><button class=\"action\">Compare</button><span class=\"hint\">Mark two of them.</span></p>\n</form>\n";
    if listing.cut {
        out += "<p class=\"hint\">There are more than are listed here. To see others, serve a folder that has fewer.</p>\n";
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
