//! stub
use super::ReadError;
use crate::builder::HistoryBuilder;
use crate::history::History;
use std::io::Read;

pub(super) fn read(files: Vec<(String, Box<dyn Read + '_>)>, builder: HistoryBuilder) -> Result<History, ReadError> {
    let _ = (files, builder);
    Err(ReadError::Unrecognized)
}
