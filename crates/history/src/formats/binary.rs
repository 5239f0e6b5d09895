//! `binary` (`.ison`): the columns of a history as they are in memory, in blocks with checksums.
//!
//! Values come interned, so that loading is copying: no hashing, no parsing. Blocks make the file streamable: a writer needs no end to be
//! known, and all blocks that a killed writer completed are whole. Little endian throughout; `docs/formats.md` has the layout.
//!
//! The checksum guards against damage, not against a forger: that no value stands twice in the tables is taken from the writer.

use std::io::{self, Read, Write};

use super::ReadError;
use crate::builder::HistoryBuilder;
use crate::error::Place;
use crate::event::{Compound, Kind, Outcome, Times};
use crate::history::{History, Value};
use crate::names::Names;
use crate::record::{Record, Sink};

const MAGIC: [u8; 8] = *b"\x89ISON\r\n\x1a";
const VERSION: u32 = 1;
const BLOCK: u32 = u32::from_le_bytes(*b"BLCK");
const END: u32 = u32::from_le_bytes(*b"DONE");
/// A block is closed when it has this many events.
const BLOCK_EVENTS: usize = 1 << 18;
/// No writer makes larger blocks; a length beyond it is damage, and nothing is allocated for it.
const MOST_BYTES: u32 = 1 << 30;
const NO_TIME: i64 = i64::MIN;

pub(super) fn detect(head: &[u8]) -> bool {
    head.starts_with(&MAGIC[..head.len().clamp(4, MAGIC.len())])
}

/// Writes `binary`, a block at a time.
pub struct BinaryWriter<W> {
    out: W,
    /// Interns names and values; holds the events of the current block only.
    builder: HistoryBuilder,
    written: Written,
    begun: bool,
}

/// How much of what the builder has interned is in blocks already.
#[derive(Default)]
struct Written {
    texts: usize,
    keys: usize,
    sessions: usize,
    bounds: usize,
    values: usize,
    transactions: u64,
    events: u64,
}

impl<W: Write> BinaryWriter<W> {
    /// Writes to `out`, which should be buffered.
    pub fn new(out: W) -> Self {
        BinaryWriter { out, builder: HistoryBuilder::new(), written: Written::default(), begun: false }
    }

    fn begin(&mut self) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            self.out.write_all(&MAGIC)?;
            self.out.write_all(&VERSION.to_le_bytes())?;
        }
        Ok(())
    }

    fn block(&mut self) -> io::Result<()> {
        self.begin()?;
        let builder = &mut self.builder;
        builder.interner.flush(&mut builder.columns);
        let mut bytes = Vec::with_capacity(builder.kinds.len() * 16);
        let written = &mut self.written;

        let texts = &builder.texts;
        count(&mut bytes, texts.len() - written.texts);
        for id in written.texts..texts.len() {
            let text = texts.get(id as u32);
            count(&mut bytes, text.len());
            bytes.extend_from_slice(text.as_bytes());
        }
        written.texts = texts.len();
        for (names, done) in [
            (&builder.keys, &mut written.keys),
            (&builder.session_names, &mut written.sessions),
            (&builder.bounds, &mut written.bounds),
        ] {
            count(&mut bytes, names.len() - *done);
            let (raw, is_text) = names.columns_from(*done);
            bytes.extend(raw.iter().flat_map(|raw| raw.to_le_bytes()));
            bytes.extend(is_text.map(u8::from));
            *done = names.len();
        }
        let (raw, owner) = builder.interner.columns_from(written.values);
        count(&mut bytes, raw.len());
        bytes.extend(raw.iter().flat_map(|raw| raw.to_le_bytes()));
        bytes.extend(owner.iter().flat_map(|owner| owner.to_le_bytes()));
        written.values += raw.len();

        count(&mut bytes, builder.events_of.len());
        bytes.extend(builder.session_of.iter().flat_map(|session| session.to_le_bytes()));
        bytes.extend(builder.events_of.iter().flat_map(|events| (events.end - events.start).to_le_bytes()));
        bytes.extend(builder.outcomes.iter().map(|&outcome| outcome as u8));
        bytes.push(u8::from(!builder.times.is_empty()));
        if !builder.times.is_empty() {
            builder.times.resize(builder.events_of.len(), Times::default());
            let times = builder.times.iter().flat_map(|times| times.in_order());
            bytes.extend(times.flat_map(|time| time.unwrap_or(NO_TIME).to_le_bytes()));
        }

        count(&mut bytes, builder.kinds.len());
        bytes.extend(builder.kinds.iter().map(|&kind| kind as u8));
        bytes.extend(builder.columns.iter().flat_map(|column| column.to_le_bytes()));
        count(&mut bytes, builder.compounds.len());
        let compounds = builder.compounds.iter().flat_map(|c| [c.key, c.lo, c.hi, c.end - c.start]);
        bytes.extend(compounds.flat_map(u32::to_le_bytes));
        bytes.extend(builder.compound_values.iter().flat_map(|value| value.0.to_le_bytes()));

        written.transactions += builder.events_of.len() as u64;
        written.events += builder.kinds.len() as u64;
        builder.forget_events();
        self.section(BLOCK, &bytes)
    }

    fn section(&mut self, tag: u32, bytes: &[u8]) -> io::Result<()> {
        let length = u32::try_from(bytes.len()).ok().filter(|&length| length <= MOST_BYTES);
        let length = length
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a transaction is too large for a block"))?;
        self.out.write_all(&tag.to_le_bytes())?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(bytes)?;
        self.out.write_all(&crc32fast::hash(bytes).to_le_bytes())
    }
}

impl<W: Write> Sink for BinaryWriter<W> {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.builder.take(record)?;
        if self.builder.kinds.len() >= BLOCK_EVENTS { self.block() } else { Ok(()) }
    }

    fn end(&mut self) -> io::Result<()> {
        self.block()?;
        let totals = [self.written.transactions, self.written.events];
        let totals: Vec<u8> = totals.into_iter().flat_map(u64::to_le_bytes).collect();
        self.section(END, &totals)?;
        self.out.flush()
    }
}

fn count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend_from_slice(&(count as u32).to_le_bytes());
}

pub(super) fn read(mut input: impl Read, mut builder: HistoryBuilder) -> Result<History, ReadError> {
    let mut at = Reader { offset: 0, block: 0 };
    let magic: [u8; 8] = at.array(&mut input, "the first bytes of an .ison file")?;
    if magic != MAGIC {
        return Err(at.wrong("the first bytes of an .ison file", "something else"));
    }
    let version = u32::from_le_bytes(at.array(&mut input, "the version")?);
    if version != VERSION {
        return Err(at.wrong(&format!("version {VERSION} of the format"), &format!("version {version}")));
    }
    let mut totals = [0u64; 2];
    let mut bytes = Vec::new();
    loop {
        at.block += 1;
        let tag = u32::from_le_bytes(at.array(&mut input, "a block, or the end mark")?);
        let length = u32::from_le_bytes(at.array(&mut input, "the length of a block")?);
        if !matches!(tag, BLOCK | END) || length > MOST_BYTES {
            return Err(at.wrong("a block, or the end mark", "something else"));
        }
        bytes.clear();
        let read = input.by_ref().take(u64::from(length)).read_to_end(&mut bytes)?;
        at.offset += read as u64;
        if read < length as usize {
            return Err(at.wrong(&format!("{length} bytes of a block"), &format!("the end of the file after {read}")));
        }
        let checksum = u32::from_le_bytes(at.array(&mut input, "a checksum")?);
        if checksum != crc32fast::hash(&bytes) {
            return Err(at.wrong("a block that agrees with its checksum", "a damaged one"));
        }
        if tag == END {
            let expected = totals.into_iter().flat_map(u64::to_le_bytes);
            if !expected.eq(bytes.iter().copied()) {
                return Err(at.wrong("the totals of the blocks before", "others"));
            }
            break;
        }
        let [transactions, events] = Block { bytes: &bytes }
            .append_to(&mut builder)
            .ok_or_else(|| at.wrong("a block whose tables agree with each other", "one whose tables do not"))?;
        totals[0] += transactions;
        totals[1] += events;
        builder.check_limits();
        builder.status()?;
    }
    if input.read(&mut [0])? != 0 {
        return Err(at.wrong("the end of the file after the end mark", "more bytes"));
    }
    drop(bytes);
    Ok(builder.finish()?)
}

struct Reader {
    offset: u64,
    block: u64,
}

impl Reader {
    fn array<const N: usize>(&mut self, input: &mut impl Read, expected: &str) -> Result<[u8; N], ReadError> {
        let mut array = [0; N];
        let mut filled = 0;
        while filled < N {
            match input.read(&mut array[filled..]) {
                Ok(0) => return Err(self.wrong(expected, "the end of the file (was its writer interrupted?)")),
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.offset += N as u64;
        Ok(array)
    }

    fn wrong(&self, expected: &str, found: &str) -> ReadError {
        let place = Place { file: Some(format!("block {}, byte {}", self.block, self.offset).into()), line: 0 };
        ReadError::malformed(place, expected, found)
    }
}

/// What is left of a block.
struct Block<'b> {
    bytes: &'b [u8],
}

impl<'b> Block<'b> {
    fn take(&mut self, bytes: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(bytes)?;
        self.bytes = rest;
        Some(taken)
    }

    fn count(&mut self) -> Option<usize> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?) as usize)
    }

    fn column<const N: usize>(&mut self, count: usize) -> Option<&'b [[u8; N]]> {
        Some(self.take(count.checked_mul(N)?)?.as_chunks().0)
    }

    fn u32s(&mut self, count: usize) -> Option<impl Iterator<Item = u32> + Clone + 'b> {
        Some(self.column(count)?.iter().map(|bytes| u32::from_le_bytes(*bytes)))
    }

    fn i64s(&mut self, count: usize) -> Option<impl Iterator<Item = i64> + Clone + 'b> {
        Some(self.column(count)?.iter().map(|bytes| i64::from_le_bytes(*bytes)))
    }

    /// Appends the block to a history. `None` if its tables do not fit together. Returns its transactions and events.
    fn append_to(mut self, builder: &mut HistoryBuilder) -> Option<[u64; 2]> {
        for _ in 0..self.count()? {
            let length = self.count()?;
            let text = std::str::from_utf8(self.take(length)?).ok()?;
            let fresh = builder.texts.len();
            (builder.texts.intern(text) as usize == fresh).then_some(())?;
        }
        for which in 0..3 {
            let names = self.count()?;
            let raw = self.i64s(names)?;
            let is_text = self.take(names)?;
            let into: &mut Names = match which {
                0 => &mut builder.keys,
                1 => &mut builder.session_names,
                _ => &mut builder.bounds,
            };
            for (raw, &is_text) in raw.zip(is_text) {
                into.push_column(raw, is_text == 1, builder.texts.len()).then_some(())?;
            }
        }
        builder.session_files.resize(builder.session_names.len(), None);
        self.values(builder)?;
        let transactions = self.transactions(builder)?;
        let events = self.events(builder)?;
        self.bytes.is_empty().then_some([transactions, events])
    }

    fn values(&mut self, builder: &mut HistoryBuilder) -> Option<()> {
        let values = self.count()?;
        let raw = self.i64s(values)?;
        let owner = self.u32s(values)?;
        builder.interner.extend_columns(raw, owner, builder.keys.len(), builder.texts.len()).then_some(())
    }

    fn transactions(&mut self, builder: &mut HistoryBuilder) -> Option<u64> {
        let transactions = self.count()?;
        let sessions = self.u32s(transactions)?;
        sessions.clone().all(|s| (s as usize) < builder.session_names.len()).then_some(())?;
        builder.session_of.extend(sessions);
        let lengths = self.u32s(transactions)?;
        let before = builder.events_of.len();
        let mut end = builder.kinds.len() as u32;
        for length in lengths {
            let start = end;
            end = end.checked_add(length)?;
            builder.events_of.push(start..end);
        }
        for &outcome in self.take(transactions)? {
            builder.outcomes.push(match outcome {
                0 => Outcome::Committed,
                1 => Outcome::Aborted,
                2 => Outcome::Indeterminate,
                _ => return None,
            });
        }
        if self.take(1)?[0] == 1 {
            builder.times.resize(before, Times::default());
            let times: Vec<i64> = self.i64s(transactions.checked_mul(4)?)?.collect();
            let some = |time: i64| (time != NO_TIME).then_some(time);
            builder.times.extend(times.as_chunks().0.iter().map(|&[start, began, committing, finish]| Times {
                start: some(start),
                began: some(began),
                committing: some(committing),
                finish: some(finish),
            }));
        }
        Some(transactions as u64)
    }

    fn events(&mut self, builder: &mut HistoryBuilder) -> Option<u64> {
        let events = self.count()?;
        let end = builder.events_of.last().map_or(builder.kinds.len(), |events| events.end as usize);
        (builder.kinds.len() + events == end).then_some(())?;
        let kinds = self.take(events)?;
        let columns = self.u32s(events)?;
        let compounds = self.count()?;
        let parts: Vec<u32> = self.u32s(compounds.checked_mul(4)?)?.collect();
        let values = builder.interner.len() as u32;

        let first_compound = builder.compounds.len() as u32;
        for (&kind, column) in kinds.iter().zip(columns) {
            let kind = *KINDS.get(kind as usize)?;
            let limit = if kind.is_compound() { compounds as u32 } else { values };
            (column < limit).then_some(())?;
            builder.kinds.push(kind);
            builder.columns.push(if kind.is_compound() { column + first_compound } else { column });
        }
        let mut start = builder.compound_values.len() as u32;
        let mut more = 0usize;
        for &[key, lo, hi, length] in parts.as_chunks().0 {
            // A key or bound is looked at only by the kinds that have one, but must be in range whatever the kind.
            let known = |id: u32, names: &Names| (id as usize) < names.len().max(1);
            (known(key, &builder.keys) && known(lo, &builder.bounds) && known(hi, &builder.bounds)).then_some(())?;
            let end = start.checked_add(length)?;
            builder.compounds.push(Compound { key, lo, hi, start, end });
            more += length as usize;
            start = end;
        }
        let compound_values = self.u32s(more)?;
        compound_values.clone().all(|value| value < values).then_some(())?;
        builder.compound_values.extend(compound_values.map(Value));
        self.check_compounds(builder, first_compound as usize)?;
        Some(events as u64)
    }

    /// Each compound event has the number and the keys of values that its kind needs.
    fn check_compounds(&self, builder: &HistoryBuilder, first: usize) -> Option<()> {
        if builder.compounds.len() == first {
            return Some(());
        }
        let events = builder.kinds.iter().zip(&builder.columns).rev();
        for (kind, &column) in events.filter(|(kind, _)| kind.is_compound()) {
            if (column as usize) < first {
                break;
            }
            let compound = builder.compounds[column as usize];
            let values = &builder.compound_values[compound.start as usize..compound.end as usize];
            let same_key = values.iter().all(|value| builder.interner.key(value.0) == compound.key);
            let fits = match kind {
                Kind::Range => !builder.bounds.is_empty(),
                Kind::ReadList => same_key && !builder.keys.is_empty(),
                _ => same_key && values.len() == 2,
            };
            fits.then_some(())?;
        }
        Some(())
    }
}

const KINDS: [Kind; 9] = [
    Kind::Read,
    Kind::Write,
    Kind::Append,
    Kind::Insert,
    Kind::Delete,
    Kind::ReadList,
    Kind::Range,
    Kind::CasSucceeded,
    Kind::CasFailed,
];
