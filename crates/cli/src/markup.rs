//! Text inside of XML and HTML.

/// Text that means itself. Characters that XML cannot have are left out.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c if c.is_control() && !"\n\t".contains(c) => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_means_itself() {
        assert_eq!(super::escaped("a<b> & \"c\"\u{1b}[1m\n"), "a&lt;b&gt; &amp; &quot;c&quot;[1m\n");
    }
}
