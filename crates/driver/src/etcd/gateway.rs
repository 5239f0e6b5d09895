//! Requests to a member of etcd, as JSON over HTTP. Keys and values travel in Base64, numbers as text.

use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value as Json, json};

use crate::cell::foreign;
use crate::error::Error;

/// How long to wait for an answer. etcd itself gives a request up after seven seconds.
const PATIENCE: Duration = Duration::from_secs(15);

/// A connection to a member.
pub(super) struct Gateway {
    agent: ureq::Agent,
    address: String,
}

/// Which keys, and as of when.
pub(super) struct Range<'a> {
    pub(super) first: &'a str,
    /// The key after the last; only the first if it is absent.
    pub(super) end: Option<&'a str>,
    /// Whether what the member has is good enough.
    pub(super) local: bool,
    /// As of this revision instead of the newest.
    pub(super) revision: Option<i64>,
}

/// What was found.
pub(super) struct Found {
    /// The newest revision that the member had.
    pub(super) revision: i64,
    pub(super) rows: Vec<Row>,
}

pub(super) struct Row {
    pub(super) key: String,
    pub(super) value: String,
    /// When it was put.
    pub(super) modified: i64,
}

/// What must be so for a transaction to commit.
pub(super) enum Compare {
    /// The key was put at this revision; 0 if it is not there.
    Modified(String, i64),
    /// Nothing from the first key up to the second was put after this revision.
    NothingNew(String, String, i64),
}

/// Whether a request changes anything. If it does and no clear answer comes, it may have done so.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    None,
    Possible,
}

impl Gateway {
    /// Connects, and sees that somebody answers.
    pub(super) fn connect(address: &str) -> Result<Self, Error> {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .max_idle_connections(1)
            // The members are named; a proxy in the environment is meant for others.
            .proxy(None)
            .build()
            .into();
        let gateway = Gateway { agent, address: address.into() };
        gateway.version().map_err(|error| match error {
            Error::Lost(why) => {
                let help = "start one, for instance with `isonomy cluster etcd`";
                Error::Unreachable(format!("nobody answers at etcd://{address}: {why}; {help}"))
            }
            other => other,
        })?;
        Ok(gateway)
    }

    pub(super) fn version(&self) -> Result<String, Error> {
        let answer = self.agent.get(format!("http://{}/version", self.address)).call();
        let answer = read(answer, Effect::None)?;
        Ok(answer["etcdserver"].as_str().unwrap_or("unknown").into())
    }

    pub(super) fn range(&self, range: &Range<'_>) -> Result<Found, Error> {
        let mut request = json!({"key": encode(range.first), "serializable": range.local});
        if let Some(end) = range.end {
            request["range_end"] = encode(end).into();
        }
        if let Some(revision) = range.revision {
            request["revision"] = revision.to_string().into();
        }
        let answer = self.post("kv/range", &request, Effect::None)?;
        let rows = answer["kvs"].as_array().map_or(&[][..], Vec::as_slice);
        let rows = rows.iter().map(|row| {
            Ok(Row {
                key: decode(&row["key"])?,
                value: decode(&row["value"])?,
                modified: number(&row["mod_revision"])?,
            })
        });
        Ok(Found { revision: number(&answer["header"]["revision"])?, rows: rows.collect::<Result<_, Error>>()? })
    }

    /// Puts, if all is as expected. Whether it was.
    pub(super) fn commit<'a>(
        &self,
        compares: &[Compare],
        puts: impl Iterator<Item = (&'a String, &'a String)>,
    ) -> Result<bool, Error> {
        let compares = compares.iter().map(|compare| match compare {
            Compare::Modified(key, revision) => json!({
                "target": "MOD", "result": "EQUAL", "key": encode(key), "mod_revision": revision.to_string(),
            }),
            Compare::NothingNew(first, end, revision) => json!({
                "target": "MOD", "result": "LESS", "key": encode(first), "range_end": encode(end),
                "mod_revision": (revision + 1).to_string(),
            }),
        });
        let puts = puts.map(|(key, value)| json!({"request_put": {"key": encode(key), "value": encode(value)}}));
        let (compares, puts): (Vec<Json>, Vec<Json>) = (compares.collect(), puts.collect());
        let effect = if puts.is_empty() { Effect::None } else { Effect::Possible };
        let answer = self.post("kv/txn", &json!({"compare": compares, "success": puts}), effect)?;
        // What is false is left out.
        Ok(answer["succeeded"].as_bool().unwrap_or(false))
    }

    /// Removes all keys that begin so.
    pub(super) fn delete_all(&self, prefix: &str) -> Result<(), Error> {
        let request = json!({"key": encode(prefix), "range_end": encode(&after_all(prefix))});
        self.post("kv/deleterange", &request, Effect::Possible).map(|_| ())
    }

    /// Returns when the member knows of all that was done before.
    pub(super) fn wait_until_fresh(&self, prefix: &str) -> Result<(), Error> {
        self.range(&Range { first: prefix, end: None, local: false, revision: None }).map(|_| ())
    }

    fn post(&self, what: &str, request: &Json, effect: Effect) -> Result<Json, Error> {
        let url = format!("http://{}/v3/{what}", self.address);
        let sent = self.agent.post(url).header("content-type", "application/json").send(request.to_string());
        read(sent, effect)
    }
}

fn read(sent: Result<ureq::http::Response<ureq::Body>, ureq::Error>, effect: Effect) -> Result<Json, Error> {
    let lost = |error: ureq::Error| Error::Lost(error.to_string());
    let mut response = sent.map_err(lost)?;
    let text = response.body_mut().with_config().limit(u64::MAX).read_to_string().map_err(lost)?;
    let answer: Json = serde_json::from_str(&text).unwrap_or_default();
    if response.status().is_success() {
        return Ok(answer);
    }
    let message = answer["message"].as_str().or(answer["error"].as_str()).unwrap_or(&text);
    let message = format!("{} ({})", message.trim(), response.status());
    Err(match answer["code"].as_i64() {
        // What is wrong with the request itself is found before anything is done; so is a revision that is gone, and too great haste.
        Some(INVALID_ARGUMENT | FAILED_PRECONDITION | UNIMPLEMENTED | PERMISSION_DENIED | UNAUTHENTICATED) => {
            Error::Refused(message)
        }
        Some(OUT_OF_RANGE) => Error::Aborted(message),
        Some(RESOURCE_EXHAUSTED) if message.contains("too many requests") => Error::Aborted(message),
        Some(RESOURCE_EXHAUSTED) => Error::Refused(message),
        // No leader, a time-out, the member is going down: the leader may have got it nevertheless.
        _ if effect == Effect::Possible => Error::Lost(message),
        _ => Error::Aborted(message),
    })
}

// Codes of gRPC.
const INVALID_ARGUMENT: i64 = 3;
const PERMISSION_DENIED: i64 = 7;
const RESOURCE_EXHAUSTED: i64 = 8;
const FAILED_PRECONDITION: i64 = 9;
const OUT_OF_RANGE: i64 = 11;
const UNIMPLEMENTED: i64 = 12;
const UNAUTHENTICATED: i64 = 16;

fn encode(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

fn decode(text: &Json) -> Result<String, Error> {
    let bytes = BASE64_STANDARD.decode(text.as_str().unwrap_or_default());
    bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| foreign(&text.to_string()))
}

fn number(text: &Json) -> Result<i64, Error> {
    let number = text.as_str().and_then(|text| text.parse().ok()).or(text.as_i64());
    number.ok_or_else(|| Error::Refused(format!("etcd answered `{text}` where a revision was expected")))
}

/// The first key after all that begin so: the same with its last letter moved on.
fn after_all(prefix: &str) -> String {
    let mut bytes = prefix.as_bytes().to_vec();
    *bytes.last_mut().expect("a prefix is not empty") += 1;
    String::from_utf8(bytes).expect("prefixes are plain letters")
}
