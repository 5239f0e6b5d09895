//! Text in drawings: how wide it is, how it is cut, wrapped and escaped.

/// The width of a character in the fonts of boxes and labels, for a size of 12. They are monospaced, so that widths can be known without a font.
pub(crate) const MONO: f64 = 7.3;
/// The usual width of a character in running text of size 13, rather too much than too little.
pub(crate) const PROSE: f64 = 6.7;

/// The same in captions, which are bold.
pub(crate) const BOLD_PROSE: f64 = 7.6;

/// The width of monospaced text.
pub(crate) fn mono(text: &str) -> f64 {
    columns(text) as f64 * MONO
}

/// How many columns a terminal would need.
fn columns(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

/// Whether a character takes two columns: the scripts of East Asia, and pictures.
fn is_wide(c: char) -> bool {
    matches!(c as u32, 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0x1f300..=0x3fffd)
}

/// Text of at most so many characters, cut in the middle, since names often begin alike and lists end with what is new.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_string();
    }
    let front = most / 2;
    let back = most - front - 1;
    let head: String = text.chars().take(front).collect();
    let tail: String = text.chars().skip(length - back).collect();
    format!("{head}…{tail}")
}

/// Text in which no word is longer than so many characters.
pub(crate) fn with_short_words(text: &str, most: usize) -> String {
    text.split(' ').map(|word| shortened(word, most)).collect::<Vec<_>>().join(" ")
}

/// Lines of at most so many characters, broken between words where possible.
pub(crate) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// Text for SVG. What XML cannot hold, and what would break a line, becomes a replacement character.
pub(crate) fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push('\n'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Text for a quoted string of DOT, in which a backslash begins an escape.
pub(crate) fn dot(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_in_the_middle() {
        assert_eq!(shortened("abcdefgh", 8), "abcdefgh");
        assert_eq!(shortened("abcdefghi", 8), "abcd…ghi");
        assert_eq!(with_short_words("abcdefghi  b", 8), "abcd…ghi  b");
        assert_eq!(wrapped("one two  three", 8), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 3), ["unbreakable"]);
    }

    #[test]
    fn nothing_escapes() {
        assert_eq!(xml("<a b=\"'&'\">\u{1b}"), "&lt;a b=&quot;&#39;&amp;&#39;&quot;&gt;\u{fffd}");
        assert_eq!(dot("a\"b\\n\n"), "a\\\"b\\\\n\u{fffd}");
        assert_eq!(mono("日本"), 4.0 * MONO);
    }
}
