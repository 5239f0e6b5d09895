//! Patterns: `LIKE`, where `%` stands for any text and `_` for any letter, and regular expressions.

use crate::error::{Kind, Result};

enum Part {
    Letter(char),
    Any,
    Many,
}

/// Whether some part of a text matches a regular expression, in time that grows with their lengths.
pub(crate) fn matches_regex(text: &str, pattern: &str, insensitive: bool) -> Result<bool> {
    let regex = regex_lite::RegexBuilder::new(pattern).case_insensitive(insensitive).build();
    let regex = regex.map_err(|error| Kind::Regex.error(format!("invalid regular expression: {error}")))?;
    Ok(regex.is_match(text))
}

/// Whether a text matches a pattern. Time grows with the product of their lengths at worst.
pub(crate) fn matches(text: &str, pattern: &str, escape: Option<char>) -> Result<bool> {
    let mut parts = Vec::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        parts.push(match letter {
            _ if Some(letter) == escape => match letters.next() {
                Some(next) => Part::Letter(next),
                None => return Err(Kind::Escape.error("LIKE pattern must not end with escape character")),
            },
            '%' => Part::Many,
            '_' => Part::Any,
            other => Part::Letter(other),
        });
    }
    let text: Vec<char> = text.chars().collect();
    // Where the last `%` was, and how much of the text it has eaten so far: the only place to come back to.
    let mut retry = None;
    let (mut at, mut part) = (0, 0);
    while at < text.len() {
        match parts.get(part) {
            Some(Part::Many) => {
                retry = Some((at, part));
                part += 1;
                continue;
            }
            Some(Part::Any) => {
                (at, part) = (at + 1, part + 1);
                continue;
            }
            Some(Part::Letter(letter)) if *letter == text[at] => {
                (at, part) = (at + 1, part + 1);
                continue;
            }
            _ => {}
        }
        match retry {
            Some((eaten, many)) => {
                retry = Some((eaten + 1, many));
                (at, part) = (eaten + 1, many + 1);
            }
            None => return Ok(false),
        }
    }
    Ok(parts[part..].iter().all(|part| matches!(part, Part::Many)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (text, pattern, expected) in [
            ("", "", true),
            ("", "%", true),
            ("abc", "a%", true),
            ("abc", "%b%", true),
            ("abc", "_b_", true),
            ("abc", "a_", false),
            ("a%c", "a\\%c", true),
            ("abc", "a\\%c", false),
            ("ääb", "_äb", true),
            ("mississippi", "%iss%pi", true),
            ("abc", "%d", false),
        ] {
            assert_eq!(matches(text, pattern, Some('\\')).unwrap(), expected, "{text} LIKE {pattern}");
        }
        assert!(matches("a", "a\\", Some('\\')).is_err());
        let long = "a".repeat(5000);
        assert!(!matches(&long, &("%a".repeat(50) + "b"), None).unwrap());
    }
}
