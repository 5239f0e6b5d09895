//! stub
use super::ReadError;
use crate::builder::HistoryBuilder;
use crate::history::History;
use crate::record::{Record, Sink};
use std::io::{self, Read, Write};
pub(super) fn detect(_: &[u8]) -> bool {
    false
}
pub(super) fn read(_: impl Read, _: HistoryBuilder) -> Result<History, ReadError> {
    Err(ReadError::Unrecognized)
}
/// stub
pub struct HistWriter<W>(W);
impl<W: Write> HistWriter<W> {
    /// stub
    pub fn new(out: W) -> Self {
        HistWriter(out)
    }
}
impl<W: Write> Sink for HistWriter<W> {
    fn take(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }
    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}
