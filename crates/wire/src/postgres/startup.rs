//! The beginning of a connection: no encryption, perhaps a password, and what client and server say of themselves.

use super::message::{Fields, read, read_first};
use super::scram::Verifier;
use super::{Stop, VERSION, problem, reply};
use crate::random;
use crate::stream::Stream;

const ENCRYPTION: [i32; 2] = [80_877_103, 80_877_104];
const CANCEL: i32 = 80_877_102;

/// While a client is not let in it may not send much.
const MOST: usize = 8 << 10;

/// The mechanism, and the end of the list of mechanisms.
const MECHANISM: &str = "SCRAM-SHA-256";
const MECHANISMS: &[u8] = b"SCRAM-SHA-256\0\0";

/// What a client wants to be set, by name.
pub(super) type Settings = Vec<(String, String)>;

/// Lets a client in; `None` if it did not want to come in.
pub(super) fn greet(stream: &mut Stream, verifier: Option<&Verifier>) -> Result<Option<Settings>, Stop> {
    let mut encryptions = 0;
    let parameters = loop {
        let Some((code, body)) = read_first(stream)? else { return Ok(None) };
        match code {
            // Each kind once; the client then goes on in plain text, or leaves.
            code if ENCRYPTION.contains(&code) && encryptions < 2 => {
                encryptions += 1;
                stream.output().push(b'N');
                stream.flush()?;
            }
            CANCEL => return Ok(None),
            code if code >> 16 == 3 => {
                let parameters = parameters(&body)?;
                negotiate(stream.output(), code, &parameters);
                break parameters;
            }
            _ => {
                let (major, minor) = (code >> 16, code & 0xffff);
                return Err(
                    problem("0A000", format!("version {major}.{minor} of the protocol is not spoken; 3.0 is")).into()
                );
            }
        }
    };
    let Some(user) = value(&parameters, "user").map(str::to_owned) else {
        return Err(problem("28000", "the client does not say who it is").into());
    };
    if let Some(verifier) = verifier {
        authenticate(stream, verifier, &user)?;
    }
    welcome(stream, &user, &parameters);
    Ok(Some(wanted(&parameters)?))
}

/// Clients of newer versions are told which one is spoken, and which of their wishes are not understood.
fn negotiate(out: &mut Vec<u8>, code: i32, parameters: &Settings) {
    let unknown: Vec<&str> =
        parameters.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with("_pq_.")).collect();
    if code & 0xffff == 0 && unknown.is_empty() {
        return;
    }
    reply::message(out, b'v', |out| {
        out.extend(0_i32.to_be_bytes());
        out.extend(u32::try_from(unknown.len()).expect("the message was small").to_be_bytes());
        unknown.iter().for_each(|name| reply::text(out, name));
    });
}

fn parameters(body: &[u8]) -> Result<Settings, Stop> {
    let mut fields = Fields(body);
    let mut parameters = Vec::new();
    loop {
        let name = fields.text()?;
        if name.is_empty() {
            return Ok(parameters);
        }
        parameters.push((name.to_owned(), fields.text()?.to_owned()));
    }
}

fn value<'p>(parameters: &'p Settings, name: &str) -> Option<&'p str> {
    parameters.iter().find(|parameter| parameter.0 == name).map(|(_, value)| value.as_str())
}

fn authenticate(stream: &mut Stream, verifier: &Verifier, user: &str) -> Result<(), Stop> {
    let refused = || problem("28P01", format!("password authentication failed for user \"{user}\""));
    reply::authentication(stream.output(), 10, MECHANISMS);
    let first = answer(stream)?;
    let mut fields = Fields(&first);
    if fields.text()? != MECHANISM {
        return Err(problem("28000", format!("passwords are checked by {MECHANISM} only")).into());
    }
    let client_first = fields.value()?.and_then(|bytes| str::from_utf8(bytes).ok()).ok_or_else(refused)?;
    let challenge = verifier.challenge(client_first).ok_or_else(refused)?;
    reply::authentication(stream.output(), 11, challenge.server_first.as_bytes());
    let client_final = answer(stream)?;
    let proof = str::from_utf8(&client_final).ok().and_then(|text| challenge.verify(text)).ok_or_else(refused)?;
    reply::authentication(stream.output(), 12, proof.as_bytes());
    Ok(())
}

/// Sends what was asked and reads the answer.
fn answer(stream: &mut Stream) -> Result<Vec<u8>, Stop> {
    stream.flush()?;
    match read(stream, MOST)? {
        Some(message) if message.kind == b'p' => Ok(message.body?),
        Some(_) => Err(problem("08P01", "expected the answer to an authentication").into()),
        None => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
    }
}

/// Tells the client that it is in, and what clients want to know.
fn welcome(stream: &mut Stream, user: &str, parameters: &Settings) {
    let out = stream.output();
    reply::authentication(out, 0, &[]);
    for (name, value) in [
        ("server_version", VERSION),
        ("server_encoding", "UTF8"),
        ("client_encoding", "UTF8"),
        ("application_name", value(parameters, "application_name").unwrap_or_default()),
        ("DateStyle", "ISO, MDY"),
        ("IntervalStyle", "postgres"),
        ("TimeZone", "UTC"),
        ("integer_datetimes", "on"),
        ("standard_conforming_strings", "on"),
        ("is_superuser", "on"),
        ("session_authorization", user),
        ("default_transaction_read_only", "off"),
        ("in_hot_standby", "off"),
    ] {
        reply::setting(out, name, value);
    }
    // What a client would cancel its statements with.
    reply::message(out, b'K', |out| out.extend(random::bytes::<8>()));
}

/// What the client wants to be set: `options=-c default_transaction_isolation=serializable`, or the name itself.
fn wanted(parameters: &Settings) -> Result<Settings, Stop> {
    let mut wanted = Vec::new();
    for (name, value) in parameters {
        if name == "default_transaction_isolation" {
            wanted.push((name.clone(), value.clone()));
        } else if name == "options" {
            wanted.extend(
                options(value).ok_or_else(|| problem("42601", format!("the option `{value}` is not understood")))?,
            );
        }
    }
    Ok(wanted)
}

/// Reads `-c name=value`, `-cname=value` and `--name=value`, in which a backslash keeps the character that follows.
fn options(text: &str) -> Option<Settings> {
    let mut words = vec![String::new()];
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => words.last_mut()?.extend(characters.next()),
            ' ' | '\t' | '\n' => words.push(String::new()),
            other => words.last_mut()?.push(other),
        }
    }
    let mut settings = Vec::new();
    let mut words = words.into_iter().filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let assignment = match word.strip_prefix("--").or_else(|| word.strip_prefix("-c")) {
            Some("") => words.next()?,
            Some(assignment) => assignment.to_owned(),
            None => return None,
        };
        let (name, value) = assignment.split_once('=')?;
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Some(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_settings() {
        let read = |text| {
            options(text).map(|all| all.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>())
        };
        assert_eq!(read("").unwrap(), Vec::<String>::new());
        assert_eq!(read("-c a=1 --b-c=2  -cd=x\\ y").unwrap(), ["a=1", "b_c=2", "d=x y"]);
        for bad in ["-c", "-c a", "x", "-d a=1"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
