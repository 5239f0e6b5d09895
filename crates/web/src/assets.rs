//! The style sheet and the scripts. The look is that of the pages that the command writes.

use isonomy::Page;

/// A file that pages load: its type and its content.
pub(crate) fn asset(name: &str) -> Option<(&'static str, String)> {
    Some(match name {
        "isonomy.css" => ("text/css; charset=utf-8", Page::style() + include_str!("assets/app.css")),
        "exhibit.js" => ("text/javascript; charset=utf-8", Page::script().to_owned()),
        "app.js" => ("text/javascript; charset=utf-8", include_str!("assets/app.js").to_owned()),
        "icon.svg" => ("image/svg+xml", include_str!("assets/icon.svg").to_owned()),
        _ => return None,
    })
}
