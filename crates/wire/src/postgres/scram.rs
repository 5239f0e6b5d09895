//! SCRAM-SHA-256 (RFC 5802, RFC 7677), the server's side, without channel binding.
//!
//! Passwords are taken as they are. The RFC has them normalised first, which changes nothing for ASCII and for most of what keyboards
//! produce.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::password::{Password, same};
use crate::random;

const ROUNDS: u32 = 4096;

/// What proves that somebody knows the password, without the password.
pub(super) struct Verifier {
    salt: [u8; 16],
    stored_key: [u8; 32],
    server_key: [u8; 32],
}

/// A handshake under way: the client has introduced itself.
pub(super) struct Challenge<'v> {
    verifier: &'v Verifier,
    /// How the client began, up to the comma before its name: whether it knows channel binding.
    header: String,
    nonce: String,
    client_first: String,
    /// What the client is sent.
    pub(super) server_first: String,
}

impl Verifier {
    pub(super) fn new(password: &Password) -> Self {
        Verifier::with_salt(password.secret(), random::bytes())
    }

    fn with_salt(password: &str, salt: [u8; 16]) -> Self {
        let mut block = hmac(password.as_bytes(), &[&salt, &1_u32.to_be_bytes()]);
        let mut salted = block;
        for _ in 1..ROUNDS {
            block = hmac(password.as_bytes(), &[&block]);
            salted = xor(&salted, &block);
        }
        let stored_key = Sha256::digest(hmac(&salted, &[b"Client Key"])).into();
        Verifier { salt, stored_key, server_key: hmac(&salted, &[b"Server Key"]) }
    }

    /// Answers the client's first message; `None` if it is not one.
    pub(super) fn challenge(&self, client_first: &str) -> Option<Challenge<'_>> {
        self.challenge_with(client_first, &STANDARD.encode(random::bytes::<18>()))
    }

    fn challenge_with(&self, client_first: &str, server_nonce: &str) -> Option<Challenge<'_>> {
        let mut parts = client_first.splitn(3, ',');
        let (binding, identity, bare) = (parts.next()?, parts.next()?, parts.next()?);
        if !matches!(binding, "n" | "y") {
            return None;
        }
        // The name is the one of the connection; clients leave it empty here.
        let client_nonce = bare.split(',').find_map(|part| part.strip_prefix("r="))?;
        let nonce = format!("{client_nonce}{server_nonce}");
        let server_first = format!("r={nonce},s={},i={ROUNDS}", STANDARD.encode(self.salt));
        let header = format!("{binding},{identity},");
        Some(Challenge { verifier: self, header, nonce, client_first: bare.to_owned(), server_first })
    }
}

impl Challenge<'_> {
    /// Judges the client's proof, and proves in turn that we know the password; `None` if the client does not.
    pub(super) fn verify(&self, client_final: &str) -> Option<String> {
        let (without_proof, proof) = client_final.rsplit_once(",p=")?;
        let mut parts = without_proof.split(',');
        let (binding, nonce) = (parts.next()?.strip_prefix("c=")?, parts.next()?.strip_prefix("r=")?);
        if STANDARD.decode(binding).ok()? != self.header.as_bytes() || nonce != self.nonce {
            return None;
        }
        let proof: [u8; 32] = STANDARD.decode(proof).ok()?.try_into().ok()?;
        let all = format!("{},{},{without_proof}", self.client_first, self.server_first);
        let signature = hmac(&self.verifier.stored_key, &[all.as_bytes()]);
        let client_key = xor(&proof, &signature);
        let known = same(&Sha256::digest(client_key), &self.verifier.stored_key);
        known.then(|| format!("v={}", STANDARD.encode(hmac(&self.verifier.server_key, &[all.as_bytes()]))))
    }
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("keys may have any length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn xor(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
    std::array::from_fn(|i| left[i] ^ right[i])
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677.
    #[test]
    fn the_example_of_the_standard_is_right() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap().try_into().unwrap();
        let verifier = Verifier::with_salt("pencil", salt);
        let challenge =
            verifier.challenge_with("n,,n=user,r=rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0").unwrap();
        let nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        assert_eq!(challenge.server_first, format!("r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"));
        let client_final = format!("c=biws,r={nonce},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
        assert_eq!(challenge.verify(&client_final).unwrap(), "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        for wrong in [
            "",
            "c=biws",
            ",p=",
            "c=biws,r=x,p=dHzb",
            &client_final.replace("dHzb", "eHzb"),
            &client_final.replace("biws", "eSws"),
        ] {
            assert_eq!(challenge.verify(wrong), None, "{wrong}");
        }
        assert!(verifier.challenge("p=tls-unique,,n=,r=x").is_none() && verifier.challenge("n").is_none());
    }
}
