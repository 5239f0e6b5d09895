//! `--html`: a plain page of all runs, with the drawing of what was violated.

use std::fmt::Write;

use isonomy::{Drawing, Verdict};

use super::Job;
use super::report::Ran;
use crate::check::draw::weakest;
use crate::check::judge::Judged;
use crate::check::text;
use crate::markup::escaped;
use crate::output::time;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;margin:1rem 0}td,th{text-align:left;padding:.2rem 1rem .2rem 0;border-bottom:1px solid #ccc}\
pre{overflow:auto;background:#f6f6f6;padding:1rem}.holds{color:#176f2c}.violated{color:#b3261e;font-weight:bold}\
.undecided{color:#8a5a00}svg{max-width:100%;height:auto}";

/// The page so far.
#[derive(Default)]
pub(super) struct Page(String);

impl Page {
    pub(super) fn add(&mut self, job: &Job<'_>, ran: &Ran) {
        let page = &mut self.0;
        let _ = writeln!(page, "<h2>Run {}, seed {}</h2>\n<p>{}</p>", ran.number, ran.seed, escaped(&ran.numbers()));
        if !ran.summary.reasons.is_empty() {
            *page += "<table>\n<tr><th>aborted</th><th>reason</th></tr>\n";
            for (reason, times) in &ran.summary.reasons {
                let _ = writeln!(page, "<tr><td>{times}</td><td>{}</td></tr>", escaped(reason));
            }
            *page += "</table>\n";
        }
        *page += "<table>\n<tr><th>level</th><th>verdict</th><th>anomaly</th><th>time</th></tr>\n";
        for Judged { level, verdict, took, .. } in ran.judged.iter().chain(&ran.others) {
            let anomaly = match verdict {
                Verdict::Violated(found) => found.anomaly.to_string(),
                Verdict::Undecided(reason) => reason.to_string(),
                Verdict::Holds(_) => String::new(),
            };
            let (word, anomaly, asked) = (verdict.name(), escaped(&anomaly), job.asked.contains(level));
            let level = if asked { format!("<strong>{level}</strong>") } else { level.to_string() };
            let _ = writeln!(
                page,
                "<tr><td>{level}</td><td class=\"{word}\">{word}</td><td>{anomaly}</td><td>{}</td></tr>",
                time(*took)
            );
        }
        let _ = writeln!(page, "</table>\n<p>It got: {}</p>", escaped(&ran.got()));
        if let Some(found) = weakest(ran.judged.iter().chain(&ran.others)) {
            let history = &ran.loaded.history;
            let _ = writeln!(page, "<h3>{}</h3>\n{}", found.anomaly, Drawing::new(history, found).svg());
            let _ = writeln!(page, "<pre>{}</pre>", escaped(&text::story(history, found)));
        }
    }

    pub(super) fn finish(self, job: &Job<'_>) -> String {
        let name = escaped(&job.urls.join(" and "));
        let about = escaped(&job.introduction()).replace('\n', "<br>\n");
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>isonomy run: {name}</title>\n\
             <style>{STYLE}</style>\n<h1>isonomy run: {name}</h1>\n<p>{about}</p>\n{}</html>\n",
            self.0
        )
    }
}
