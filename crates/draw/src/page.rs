//! Pages for browsers: complete in themselves, interactive, and safe to open whatever the names in a history are.
//!
//! A page is one file without any outside resource. It says so to the browser in a Content-Security-Policy that allows the style sheet and the script
//! by their hashes, inline and without a nonce, and nothing else: no other script, no image, no connection. So even a name that got through unescaped
//! could do nothing. Data is JSON in a `<script type="application/json">`, which browsers do not run. Without the script, and on paper, everything is
//! there and unfolded.
//!
//! The same input always gives the same bytes.

use std::fmt::Write;

use crate::text::xml;

mod assets;
mod cards;
mod data;
mod digest;
mod drawings;
mod exhibit;
mod names;
mod replicas;
mod ring;
mod scenes;
mod section;
mod story;
mod view;

pub use exhibit::Exhibit;
pub(crate) use replicas::ReplicasExhibit;
pub use section::{Section, VerdictRow};

/// A page in the making.
///
/// ```
/// use isonomy_checker::{IsolationLevel, Options, Verdict, check};
/// use isonomy_draw::{Exhibit, Page, Section, VerdictRow};
/// use isonomy_history::HistoryBuilder;
///
/// let mut history = HistoryBuilder::new();
/// history.transaction("alice").read("x", None::<i64>).write("x", 1).commit();
/// history.transaction("bob").read("x", None::<i64>).write("x", 2).commit();
/// let history = history.finish()?;
///
/// let level = IsolationLevel::SnapshotIsolation;
/// let verdict = check(&history, level, &Options::default());
/// let Verdict::Violated(counterexample) = &verdict else { panic!("one of the updates is lost") };
/// let section = Section::new("my history")
///     .verdicts(&[VerdictRow { level, verdict: &verdict, asked: true, took: None }])
///     .exhibit(Exhibit::new(&history, counterexample).violating(level));
/// let html = Page::new("What happened").section(section).html();
/// assert!(html.starts_with("<!doctype html>") && html.contains("lost-update"));
/// assert!(Exhibit::in_page(&html).is_some_and(|exhibit| exhibit.contains("lost-update") && exhibit.starts_with("<article")));
/// # Ok::<(), isonomy_history::HistoryError>(())
/// ```
pub struct Page {
    title: String,
    introduction: Vec<String>,
    sections: Vec<Section>,
}

impl Page {
    /// A page of this title, which is any text.
    pub fn new(title: impl Into<String>) -> Self {
        Page { title: title.into(), introduction: Vec::new(), sections: Vec::new() }
    }

    /// Adds a paragraph below the title.
    pub fn paragraph(mut self, text: impl Into<String>) -> Self {
        self.introduction.push(text.into());
        self
    }

    /// Adds a section.
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// The style sheet that all pages share, for a server that shows their parts in pages of its own.
    pub fn style() -> String {
        assets::style()
    }

    /// The script that all pages share. It looks for exhibits once, when it is run, and needs a button of class `theme`.
    pub fn script() -> &'static str {
        assets::SCRIPT
    }

    /// As an HTML document.
    pub fn html(&self) -> String {
        let style = assets::style();
        let title = xml(&self.title);
        let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        let _ = writeln!(
            out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; \
             base-uri 'none'; form-action 'none'\">",
            digest::base64(&digest::sha256(style.as_bytes())),
            digest::base64(&digest::sha256(assets::SCRIPT.as_bytes())),
        );
        out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
        let _ = writeln!(out, "<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>");
        let _ = writeln!(
            out,
            "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header class=\"top\">\n<h1>{title}</h1>"
        );
        out += "<button type=\"button\" class=\"theme control\" aria-label=\"Dark colours\" aria-pressed=\"false\">◐</button>\n</header>\n";
        out += "<main id=\"main\" tabindex=\"-1\">\n";
        for text in &self.introduction {
            let _ = writeln!(out, "<p class=\"lead\">{}</p>", xml(text));
        }
        self.contents(&mut out);
        let mut exhibits = 0;
        for (index, section) in self.sections.iter().enumerate() {
            section.render(&mut out, index + 1, &mut exhibits);
        }
        let _ = writeln!(out, "</main>\n<script>{}</script>\n</body>\n</html>", assets::SCRIPT);
        out
    }

    /// What is on the page, if that is more than one thing.
    fn contents(&self, out: &mut String) {
        if self.sections.len() < 2 {
            return;
        }
        *out += "<nav class=\"contents\" aria-label=\"Contents\">\n<ul>\n";
        for (index, section) in self.sections.iter().enumerate() {
            let _ = writeln!(out, "<li><a href=\"#section{}\">{}</a></li>", index + 1, xml(&section.title));
        }
        *out += "</ul>\n</nav>\n";
    }
}
