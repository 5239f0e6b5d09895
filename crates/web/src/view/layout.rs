//! What all pages have: the head, the way to the others, the scripts.

use super::escaped;

/// A whole page.
pub(super) fn page(title: &str, content: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title} · Isonomy</title>\n\
         <link rel=\"icon\" href=\"/assets/icon.svg\">\n<link rel=\"stylesheet\" href=\"/assets/isonomy.css\">\n\
         <script src=\"/assets/exhibit.js\" defer></script>\n<script src=\"/assets/app.js\" defer></script>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the content</a>\n\
         <nav class=\"site\" aria-label=\"Isonomy\"><a class=\"brand\" href=\"/\">Isonomy</a><a href=\"/\">Histories</a>\
         <a href=\"/runs/new\">New run</a></nav>\n\
         <header class=\"top\">\n<h1>{title}</h1>\n\
         <button type=\"button\" class=\"theme control\" aria-label=\"Dark colours\" aria-pressed=\"false\">◐</button>\n</header>\n\
         <main id=\"main\" tabindex=\"-1\">\n{content}</main>\n</body>\n</html>\n"
    )
}

/// A part of a page that needs a history, and comes when that is read.
pub(super) fn later(address: &str) -> String {
    format!(
        "<div data-load=\"{address}\"><p class=\"hint\">Reading the history…</p>\
         <noscript><p class=\"hint\">This part needs scripts.</p></noscript></div>\n"
    )
}

/// What went wrong.
pub(crate) fn problem(message: &str) -> String {
    let mut letters = message.chars();
    let message =
        letters.next().map_or(String::new(), |first| format!("{}{}.", first.to_uppercase(), letters.as_str()));
    page(
        "That did not work",
        &format!(
            "<p class=\"lead\" role=\"alert\">{}</p>\n<p><a href=\"/\">To the list of histories</a></p>\n",
            escaped(&message)
        ),
    )
}

/// Asks for the token.
pub(crate) fn login(wrong: bool) -> String {
    let note = if wrong { "<p class=\"violated\" role=\"alert\">That is not the token.</p>\n" } else { "" };
    let form = "<form method=\"post\" action=\"/login\" class=\"box\">\n<label for=\"token\">The token that the server was \
                started with</label>\n<input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"current-password\" \
                required>\n<button class=\"action\">Log in</button>\n</form>\n";
    page("Log in", &format!("{note}{form}"))
}
