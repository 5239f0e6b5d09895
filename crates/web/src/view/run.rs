//! The form of a run.

use isonomy::IsolationLevel;

use super::escaped;
use super::layout::page;
use crate::config::Choices;

/// The page.
pub(crate) fn run(choices: &Choices) -> String {
    let option = |name: &str| format!("<option value=\"{0}\">{0}</option>", escaped(name));
    let databases: String = choices
        .databases
        .iter()
        .map(|database| {
            format!("<dt><code>{}</code></dt><dd>{}</dd>", escaped(&database.form), escaped(&database.what))
        })
        .map(|pair| format!("<div>{pair}</div>\n"))
        .collect();
    let workloads: String = choices.workloads.iter().map(|name| option(name)).collect();
    let levels: String = IsolationLevel::ALL.into_iter().map(|level| option(level.name())).collect();
    let number = |name: &str, label: &str, usual: &str| {
        format!("<label>{label} <input name=\"{name}\" type=\"number\" min=\"1\" placeholder=\"{usual}\"></label>\n")
    };
    let content = format!(
        "<form method=\"post\" action=\"/runs\" class=\"box wide\">\n\
         <label>URL of the database, as below <input name=\"db\" required value=\"mock:snapshot-isolation\" autocomplete=\"off\" spellcheck=\"false\"></label>\n\
         <label>Isolation to ask for, in the database's own words <input name=\"isolation\" placeholder=\"its default\" autocomplete=\"off\"></label>\n\
         <label>Workload <select name=\"workload\"><option value=\"\">small transactions on few keys</option>{workloads}</select></label>\n\
         <label>Level to check it against <select name=\"level\"><option value=\"\">what the database promises</option>{levels}</select></label>\n\
         {}{}{}{}<p class=\"hint\">A run ends with its transactions or with its time, whichever comes first. If only seconds are given, \
         there may be any number of transactions.</p>\n<button class=\"action\">Run</button>\n</form>\n\
         <h2>Databases</h2>\n<dl class=\"facts urls\">\n{databases}</dl>\n",
        number("sessions", "Sessions at a time", "8, or the workload's"),
        number("transactions", "Transactions to commit", "2000, or the workload's"),
        number("duration", "Seconds at most", "no limit"),
        number("seed", "Seed, from which the workload follows", "4"),
    );
    page("New run", &content)
}
