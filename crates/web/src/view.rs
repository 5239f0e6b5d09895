//! Pages: plain functions from data to HTML. Whatever comes from outside goes through [`escaped`].

mod compare;
mod history;
mod home;
mod job;
mod layout;
mod numbers;
mod plot;
mod run;
mod transactions;
mod verdicts;

pub(crate) use compare::{Side, compare};
pub(crate) use history::{history, statistics};
pub(crate) use home::home;
pub(crate) use job::{FILES, job};
pub(crate) use layout::{login, problem};
pub(crate) use run::run;
pub(crate) use transactions::transactions;

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

/// A table of rows whose cells are marked up already.
fn table(label: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let mut out = format!("<div class=\"table\">\n<table aria-label=\"{}\">\n<thead><tr>", escaped(label));
    for title in head {
        out += &format!("<th scope=\"col\">{}</th>", escaped(title));
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in rows {
        let cells: String = row.iter().map(|cell| format!("<td>{cell}</td>")).collect();
        out += &format!("<tr>{cells}</tr>\n");
    }
    out + "</tbody>\n</table>\n</div>\n"
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
        assert!(!table("<b>", &["<i>"], &[]).contains("<i>"));
    }
}
