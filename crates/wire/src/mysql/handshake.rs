//! The beginning of a connection: the server introduces itself, the client answers, and perhaps proves that it knows the password.

use sha1::{Digest, Sha1};

use super::fields::Fields;
use super::packet::Packets;
use super::reply::{State, done};
use super::{Stop, VERSION, problem};
use crate::password::{Password, same};
use crate::random;

/// While a client is not let in it may not send much.
const MOST: usize = 64 << 10;

const PLUGIN: &str = "mysql_native_password";

/// What a client proves its knowledge of the password for.
pub(super) type Salt = [u8; 20];

mod capability {
    pub(super) const LONG_PASSWORD: u32 = 1;
    pub(super) const FOUND_ROWS: u32 = 1 << 1;
    pub(super) const LONG_FLAG: u32 = 1 << 2;
    pub(super) const CONNECT_WITH_DB: u32 = 1 << 3;
    pub(super) const IGNORE_SPACE: u32 = 1 << 8;
    pub(super) const PROTOCOL_41: u32 = 1 << 9;
    pub(super) const SSL: u32 = 1 << 11;
    pub(super) const TRANSACTIONS: u32 = 1 << 13;
    pub(super) const SECURE_CONNECTION: u32 = 1 << 15;
    pub(super) const MULTI_STATEMENTS: u32 = 1 << 16;
    pub(super) const MULTI_RESULTS: u32 = 1 << 17;
    pub(super) const PS_MULTI_RESULTS: u32 = 1 << 18;
    pub(super) const PLUGIN_AUTH: u32 = 1 << 19;
    pub(super) const CONNECT_ATTRS: u32 = 1 << 20;
    pub(super) const COUNTED_AUTH: u32 = 1 << 21;

    pub(super) const OURS: u32 = LONG_PASSWORD
        | FOUND_ROWS
        | LONG_FLAG
        | CONNECT_WITH_DB
        | IGNORE_SPACE
        | PROTOCOL_41
        | TRANSACTIONS
        | SECURE_CONNECTION
        | MULTI_STATEMENTS
        | MULTI_RESULTS
        | PS_MULTI_RESULTS
        | PLUGIN_AUTH
        | CONNECT_ATTRS
        | COUNTED_AUTH;
}

/// UTF-8 of up to four bytes, `utf8mb4_general_ci`.
pub(super) const UTF8: u8 = 45;

/// Lets a client in.
pub(super) fn greet(packets: &mut Packets, password: Option<&Password>) -> Result<(), Stop> {
    let salt: Salt = random::printable();
    packets.write(&introduction(&salt));
    packets.flush()?;
    let answer = receive(packets)?;
    let client = Client::parse(&answer)?;
    if let Some(password) = password {
        let proved = if client.plugin.is_some_and(|plugin| plugin != PLUGIN.as_bytes()) {
            prove_anew(packets, password)?
        } else {
            knows(password, &salt, client.proof)
        };
        if !proved {
            return Err(refused(client.user).into());
        }
    }
    packets.write(&done(0, 0, State::NEW));
    Ok(packets.flush()?)
}

/// That somebody does not know the password.
pub(super) fn refused(user: &[u8]) -> isonomy_sql::Error {
    problem(1045, "28000", format!("access denied for user '{}': wrong password", String::from_utf8_lossy(user)))
}

/// Reads an answer of a client that is not let in.
fn receive(packets: &mut Packets) -> Result<Vec<u8>, Stop> {
    match packets.read(MOST)? {
        Some(Ok(payload)) => Ok(payload),
        Some(Err(_)) => Err(problem(1153, "08S01", "the packet is too large for a handshake").into()),
        None => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
    }
}

/// Asks for a proof with our plugin and a new salt. Whether it is right.
pub(super) fn prove_anew(packets: &mut Packets, password: &Password) -> Result<bool, Stop> {
    let salt: Salt = random::printable();
    packets.write(&[&[0xfe], PLUGIN.as_bytes(), &[0], &salt, &[0]].concat());
    packets.flush()?;
    Ok(knows(password, &salt, &receive(packets)?))
}

fn introduction(salt: &Salt) -> Vec<u8> {
    let mut out = vec![10];
    out.extend(VERSION.as_bytes());
    out.push(0);
    // A number for the connection, which nobody can use.
    out.extend(random::bytes::<4>());
    out.extend(&salt[..8]);
    out.push(0);
    let capabilities = capability::OURS.to_le_bytes();
    out.extend(&capabilities[..2]);
    out.push(UTF8);
    out.extend([2, 0]);
    out.extend(&capabilities[2..]);
    out.push(21);
    out.extend([0; 10]);
    out.extend(&salt[8..]);
    out.push(0);
    out.extend(PLUGIN.as_bytes());
    out.push(0);
    out
}

/// What a client says of itself, as far as it matters.
struct Client<'p> {
    user: &'p [u8],
    proof: &'p [u8],
    plugin: Option<&'p [u8]>,
}

impl<'p> Client<'p> {
    fn parse(payload: &'p [u8]) -> Result<Self, Stop> {
        let mut fields = Fields(payload);
        let capabilities = fields.long()?;
        let can = |capability| capabilities & capability != 0;
        if !can(capability::PROTOCOL_41) {
            return Err(problem(1043, "08S01", "the client is too old: it speaks the protocol before 4.1").into());
        }
        if can(capability::SSL) {
            return Err(problem(1043, "08S01", "connections are not encrypted here").into());
        }
        // The largest packet, the character set, and zeros.
        fields.bytes(4 + 1 + 23)?;
        let user = fields.until_zero()?;
        let proof = if can(capability::COUNTED_AUTH) {
            fields.counted()?
        } else if can(capability::SECURE_CONNECTION) {
            let length = fields.byte()?;
            fields.bytes(length.into())?
        } else {
            fields.until_zero()?
        };
        if can(capability::CONNECT_WITH_DB) && !fields.0.is_empty() {
            fields.until_zero()?;
        }
        let plugin = if can(capability::PLUGIN_AUTH) { fields.until_zero().ok() } else { None };
        Ok(Client { user, proof, plugin })
    }
}

/// Whether a proof is `SHA1(password) XOR SHA1(salt + SHA1(SHA1(password)))`.
fn knows(password: &Password, salt: &Salt, proof: &[u8]) -> bool {
    let once = Sha1::digest(password.secret());
    let twice = Sha1::digest(once);
    let mask = Sha1::new().chain_update(salt).chain_update(twice).finalize();
    let expected: Vec<u8> = once.iter().zip(mask).map(|(a, b)| a ^ b).collect();
    same(&expected, proof)
}
