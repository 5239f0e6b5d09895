//! A secret that is not shown by accident.

use std::fmt;

/// What clients must know to be let in.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// Takes a secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Password(secret.into())
    }

    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(***)")
    }
}

/// Whether two texts are equal, in a time that does not tell where they differ.
pub(crate) fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_compared_and_not_shown() {
        assert!(same(b"secret", b"secret") && !same(b"secret", b"secreT") && !same(b"secret", b"secre"));
        assert_eq!(format!("{:?}", Password::new("secret")), "Password(***)");
    }
}
