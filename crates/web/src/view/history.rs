//! One history: what is known of it, a form to check it, its statistics and its transactions.

use isonomy::IsolationLevel;
use serde_json::Value;

use super::home::kind;
use super::job::address;
use super::layout::{later, page};
use super::numbers::{moment, size};
use super::verdicts::{self, Way};
use super::{escaped, facts, report};
use crate::findings::{Finding, told};
use crate::library::{Entry, Kind, Told};

/// The page.
pub(crate) fn history(entry: &Entry, of_run: Option<&Value>, findings: &[Finding]) -> String {
    let mut known = vec![
        ("format", kind(entry)),
        ("size", size(entry.size)),
        ("changed", moment(entry.modified)),
        ("where", escaped(&entry.path.display().to_string())),
    ];
    if entry.kind == Kind::Run || entry.path.is_file() {
        known.push(("file", format!("<a href=\"/histories/{}/file\" download>Save the history</a>", entry.id)));
    }
    let mut out = facts(&known);
    if !findings.is_empty() {
        out += "<section class=\"section\" aria-labelledby=\"verdicts\">\n<h2 id=\"verdicts\">Verdicts</h2>\n";
        out += &verdicts::rows(&told(findings), |told| way(entry, findings, told));
        out += "</section>\n";
    }
    out += &check_form(&entry.id);
    out += &of_run.map_or(String::new(), report::told);
    out += &format!(
        "<section class=\"section\" aria-labelledby=\"statistics\">\n<h2 id=\"statistics\">Statistics</h2>\n{}</section>\n\
         <section class=\"section\" aria-labelledby=\"transactions\">\n<h2 id=\"transactions\">Transactions</h2>\n\
         <form class=\"row\" data-slices=\"/histories/{id}/transactions\">\n\
         <label>Session <input name=\"session\" size=\"10\" placeholder=\"all\"></label>\n\
         <label>Key <input name=\"key\" size=\"10\" placeholder=\"all\"></label>\n\
         <label>Leave out the first <input name=\"offset\" type=\"number\" min=\"0\" value=\"0\"></label>\n\
         <button class=\"action\">Show</button>\n</form>\n\
         <p class=\"unseen\" role=\"status\" data-count></p>\n<div data-slice></div>\n</section>\n",
        later(&format!("/histories/{}/statistics", entry.id)),
        id = entry.id
    );
    page(&entry.name, &out)
}

/// A check that found it has it on its page; of what only the report of a run says, a check shows it.
fn way(entry: &Entry, findings: &[Finding], told: &Told) -> Way {
    let check = findings.iter().find(|finding| finding.told.level == told.level).and_then(|finding| finding.check);
    check.map_or_else(|| Way::Check(entry.id.clone()), |job| Way::Page(address(job, &told.level)))
}

fn check_form(id: &str) -> String {
    let level = |level: IsolationLevel| {
        format!(
            "<label class=\"pick\"><input type=\"checkbox\" name=\"level\" value=\"{level}\"> {level}<span class=\"hint\">{}</span></label>\n",
            escaped(level.summary())
        )
    };
    format!(
        "<section class=\"section\" aria-labelledby=\"check\">\n<h2 id=\"check\">Check</h2>\n\
         <form method=\"post\" action=\"/histories/{id}/check\">\n<fieldset>\n\
         <legend>Levels to check; with none marked, all that the history has the data for</legend>\n\
         <div class=\"picks\">\n{}</div>\n</fieldset>\n<div class=\"checks\">\n\
         <label class=\"pick\"><input type=\"checkbox\" name=\"constraints\" value=\"1\"> Count constraints\
         <span class=\"hint\">Writes down every order of versions that is open, instead of guessing one, and plots how many there are \
         before and after pruning. Slower; the verdicts are the same.</span></label>\n\
         <label>Seconds for each level <input name=\"timeout\" type=\"number\" min=\"1\" max=\"86400\" placeholder=\"no limit\"></label>\n\
         <button class=\"action\">Check</button>\n</div>\n</form>\n</section>\n",
        IsolationLevel::ALL.into_iter().map(level).collect::<String>()
    )
}
