//! What requests say.

use isonomy_store::{Choice, StoreLevel};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::problem::Problem;

/// `{"level":"causal","choice":"latest"}`, or nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Begin {
    level: Option<String>,
    choice: Option<String>,
    /// A choice between the newest and the oldest, from 0 to 1.
    weirdness: Option<f64>,
}

impl Begin {
    pub(super) fn level(&self, default: StoreLevel) -> Result<StoreLevel, Problem> {
        self.level.as_deref().map_or(Ok(default), |name| {
            name.parse().map_err(|error: isonomy_store::UnknownStoreLevel| Problem::bad(error.to_string()))
        })
    }

    pub(super) fn choice(&self, default: Choice) -> Result<Choice, Problem> {
        match (self.choice.as_deref(), self.weirdness) {
            (None, None) => Ok(default),
            (None, Some(share)) if (0.0..=1.0).contains(&share) => Ok(Choice::Weirdness(share)),
            (None, Some(_)) => Err(Problem::bad("`weirdness` is from 0 to 1")),
            (Some("uniform"), None) => Ok(Choice::Uniform),
            (Some("latest"), None) => Ok(Choice::Latest),
            (Some("newest"), None) => Ok(Choice::Newest),
            (Some(other), None) => Err(Problem::bad(format!("there is no choice `{other}`: uniform, latest, newest"))),
            (Some(_), Some(_)) => Err(Problem::bad("either `choice` or `weirdness`, not both")),
        }
    }
}

/// `{"key":"x"}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    pub(super) key: String,
}

/// `{"key":"x","value":3}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    pub(super) key: String,
    pub(super) value: Box<RawValue>,
}

/// `{"session":"…","operations":[["read","x"],["write","y",3]]}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Transaction {
    /// Without it, it is the only transaction of a session of its own.
    pub(super) session: Option<String>,
    operations: Vec<Vec<Box<RawValue>>>,
    level: Option<String>,
    choice: Option<String>,
    weirdness: Option<f64>,
}

/// One of a transaction's.
#[derive(Debug)]
pub(super) enum Operation {
    Read(Read),
    Write(Write),
}

impl Transaction {
    pub(super) fn begin(&self) -> Begin {
        Begin { level: self.level.clone(), choice: self.choice.clone(), weirdness: self.weirdness }
    }

    pub(super) fn operations(&self) -> Result<Vec<Operation>, Problem> {
        self.operations.iter().enumerate().map(|(index, parts)| operation(index, parts)).collect()
    }
}

fn operation(index: usize, parts: &[Box<RawValue>]) -> Result<Operation, Problem> {
    let text = |part: &RawValue| serde_json::from_str::<String>(part.get()).ok();
    let found = match parts {
        [verb, key] if text(verb).as_deref() == Some("read") => text(key).map(|key| Operation::Read(Read { key })),
        [verb, key, value] if text(verb).as_deref() == Some("write") => {
            text(key).map(|key| Operation::Write(Write { key, value: value.clone() }))
        }
        _ => None,
    };
    let expected = r#"expected ["read", key] or ["write", key, value]"#;
    found.ok_or_else(|| Problem::bad(format!("operation {}: {expected}", index + 1)))
}

/// Reads a body.
pub(super) fn body<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes).map_err(|error| Problem::bad(format!("the body is not what it should be: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_lists() {
        let parse = |text: &str| body::<Transaction>(text.as_bytes()).and_then(|all| all.operations());
        let operations = parse(r#"{"operations":[["read","x"],["write","y",{"a": 1.0}]]}"#).unwrap();
        let [Operation::Read(read), Operation::Write(write)] = &operations[..] else { panic!("{operations:?}") };
        assert_eq!((&read.key[..], &write.key[..], write.value.get()), ("x", "y", r#"{"a": 1.0}"#));
        for bad in [
            "",
            "[]",
            "{}",
            r#"{"operations":[["read"]]}"#,
            r#"{"operations":[["write","x"]]}"#,
            r#"{"operations":[["read",1]]}"#,
            r#"{"operations":[[]],"other":1}"#,
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn levels_and_choices_have_names() {
        let parse = |text: &str| body::<Begin>(text.as_bytes()).unwrap();
        let level = parse(r#"{"level":"causal"}"#).level(StoreLevel::Serializable).unwrap();
        assert_eq!(level, StoreLevel::Causal);
        assert_eq!(parse("{}").choice(Choice::Latest).unwrap(), Choice::Latest);
        assert_eq!(parse(r#"{"weirdness":0.5}"#).choice(Choice::Latest).unwrap(), Choice::Weirdness(0.5));
        assert!(parse(r#"{"level":"x"}"#).level(StoreLevel::Causal).is_err());
        for bad in [r#"{"choice":"x"}"#, r#"{"weirdness":2}"#, r#"{"choice":"latest","weirdness":0.1}"#] {
            assert!(parse(bad).choice(Choice::Latest).is_err());
        }
    }
}
