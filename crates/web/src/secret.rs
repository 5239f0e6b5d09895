//! Secrets: what clients must know, and names that nobody can guess.

use std::fmt;

/// What clients must know to be let in.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Takes a secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Token(secret.into())
    }

    /// Whether this is it.
    pub(crate) fn is(&self, given: &str) -> bool {
        same(self.0.as_bytes(), given.as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

/// Whether two texts are equal, in a time that does not tell where they differ.
fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// A name of 128 bits that nobody can guess.
pub(crate) fn name() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system has randomness");
    format!("{:032x}", u128::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_compared_and_not_shown() {
        let token = Token::new("secret");
        assert!(token.is("secret") && !token.is("secreT") && !token.is("secre") && !token.is(""));
        assert_eq!(format!("{token:?}"), "Token(***)");
        assert_ne!(name(), name());
    }
}
