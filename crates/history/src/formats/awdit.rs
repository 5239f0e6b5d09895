//! stub
use super::ReadError;
use crate::builder::HistoryBuilder;
use crate::history::History;
use std::io::Read;

pub(super) fn detect(_head: &[u8]) -> bool {
    false
}

pub(super) fn read(input: impl Read, builder: HistoryBuilder) -> Result<History, ReadError> {
    let _ = (input, builder);
    Err(ReadError::Unrecognized)
}
