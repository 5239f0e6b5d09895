//! Pages: plain functions from data to HTML. Whatever comes from outside goes through [`escaped`].

mod compare;
mod history;
mod home;
mod job;
mod layout;
mod numbers;
mod plot;
mod report;
mod run;
mod statistics;
mod table;
mod transactions;
mod verdicts;
mod work;

pub(crate) use compare::{Side, compare, numbers};
pub(crate) use history::history;
pub(crate) use home::home;
pub(crate) use job::{FILES, Outcome, ended, running};
pub(crate) use layout::{login, problem};
pub(crate) use run::run;
pub(crate) use statistics::statistics;
pub(crate) use transactions::transactions;
pub(crate) use verdicts::strongest;

/// Text as it may stand in HTML, in attributes too.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A list of names with what they stand for, which is marked up already.
fn facts(facts: &[(&str, String)]) -> String {
    let fact = |(name, value): &(&str, String)| format!("<div><dt>{}</dt><dd>{value}</dd></div>\n", escaped(name));
    format!("<dl class=\"facts\">\n{}</dl>\n", facts.iter().map(fact).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_through_unescaped() {
        assert_eq!(escaped("<a href=\"x\" id='y'>&"), "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;");
    }
}
