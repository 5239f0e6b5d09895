//! Secrets: what clients must know, and names that nobody can guess.

use std::fmt;

use sha2::{Digest, Sha256};

/// What clients must know to be let in. Only its digest is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

impl Token {
    /// Takes a secret.
    pub fn new(secret: impl AsRef<str>) -> Self {
        Token(digest(secret.as_ref()))
    }

    /// Whether this is it, in a time that tells neither where they differ nor how long the secret is.
    pub(crate) fn is(&self, given: &str) -> bool {
        self.0.iter().zip(digest(given)).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

/// A name of 128 bits that nobody can guess.
pub(crate) fn name() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system has randomness");
    format!("{:032x}", u128::from_be_bytes(bytes))
}

/// A URL as it may be shown and kept.
pub fn without_password(url: &str) -> String {
    let hidden = || {
        let (scheme, rest) = url.split_once("://")?;
        let (user, host) = rest.rsplit_once('@')?;
        let (user, _) = user.split_once(':')?;
        Some(format!("{scheme}://{user}:***@{host}"))
    };
    hidden().unwrap_or_else(|| url.to_string())
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

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(without_password("postgres://me:secret@host:5432/db"), "postgres://me:***@host:5432/db");
        assert_eq!(without_password("postgres://me@host/db"), "postgres://me@host/db");
        assert_eq!(without_password("mock:causal"), "mock:causal");
    }
}
