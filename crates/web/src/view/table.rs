//! Tables. On narrow windows they lose what matters least, and never the verdicts.

use super::escaped;

/// A column: its title, and how its cells are shown.
#[derive(Clone, Copy)]
pub(super) struct Column {
    title: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What a row is called by.
    Name,
    Plain,
    Number,
    /// Left out where there is little room.
    Aside,
}

impl Column {
    pub(super) const fn name(title: &'static str) -> Self {
        Column { title, kind: Kind::Name }
    }

    pub(super) const fn plain(title: &'static str) -> Self {
        Column { title, kind: Kind::Plain }
    }

    pub(super) const fn number(title: &'static str) -> Self {
        Column { title, kind: Kind::Number }
    }

    pub(super) const fn aside(title: &'static str) -> Self {
        Column { title, kind: Kind::Aside }
    }

    fn class(self) -> &'static str {
        match self.kind {
            Kind::Name | Kind::Plain => "",
            Kind::Number => " class=\"number\"",
            Kind::Aside => " class=\"aside\"",
        }
    }

    fn cell(self, content: &str) -> String {
        match self.kind {
            Kind::Name => format!("<th scope=\"row\">{content}</th>"),
            _ => format!("<td{}>{content}</td>", self.class()),
        }
    }
}

/// A table of rows whose cells are marked up already, one for each column.
pub(super) fn table(label: &str, columns: &[Column], rows: &[Vec<String>]) -> String {
    of_class("table", label, columns, rows)
}

/// A table whose last cells stand below the others where there is little room.
pub(super) fn stacked(label: &str, columns: &[Column], rows: &[Vec<String>]) -> String {
    of_class("table stacked", label, columns, rows)
}

fn of_class(class: &str, label: &str, columns: &[Column], rows: &[Vec<String>]) -> String {
    let mut out = format!("<div class=\"{class}\">\n<table aria-label=\"{}\">\n<thead><tr>", escaped(label));
    for column in columns {
        out += &format!("<th scope=\"col\"{}>{}</th>", column.class(), escaped(column.title));
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in rows {
        let cells: String = columns.iter().zip(row).map(|(column, content)| column.cell(content)).collect();
        out += &format!("<tr>{cells}</tr>\n");
    }
    out + "</tbody>\n</table>\n</div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_names() {
        let text = table("<b>", &[Column::name("<i>"), Column::aside("when")], &[vec!["x".into(), "now".into()]]);
        assert!(!text.contains("<i>") && !text.contains("<b>"), "{text}");
        assert!(text.contains("<th scope=\"row\">x</th><td class=\"aside\">now</td>"), "{text}");
    }
}
