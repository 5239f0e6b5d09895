//! Names of isolation levels, as SQL writes them.

use crate::Error;

/// `repeatable read`, for any way to write it: in capitals, or with hyphens. Only letters come through, since the words become part of a
/// statement.
pub(crate) fn level_words(name: &str) -> Result<String, Error> {
    let words: Vec<String> =
        name.split([' ', '-', '_']).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let plain = words.iter().all(|word| word.chars().all(|letter| letter.is_ascii_alphabetic()));
    if words.is_empty() || !plain {
        return Err(Error::Refused(format!("`{name}` is not the name of an isolation level")));
    }
    Ok(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_come_through() {
        assert_eq!(level_words("REPEATABLE-READ").unwrap(), "repeatable read");
        assert_eq!(level_words(" read  committed").unwrap(), "read committed");
        assert!(level_words("serializable; DROP TABLE x").is_err());
        assert!(level_words("").is_err());
    }
}
