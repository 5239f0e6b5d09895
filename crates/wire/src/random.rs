//! Randomness that nobody can guess: salts and the names of sessions. (What the store chooses follows from its seed instead.)

/// Bytes from the operating system.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system has randomness");
    bytes
}

/// A name of 128 bits.
pub(crate) fn name() -> String {
    format!("{:032x}", u128::from_be_bytes(bytes()))
}

/// Bytes that are printable, as salts are wherever they end with a zero.
pub(crate) fn printable<const N: usize>() -> [u8; N] {
    // 64 characters, so that each is as likely as any other; no `$`, at which some clients stop.
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    bytes::<N>().map(|byte| ALPHABET[usize::from(byte & 63)])
}
