//! Rows of some objects only: what is not kept is dropped while a file is read.
//!
//! Rows of one object are kept or dropped together, and where operations name no object, those of
//! one key. So a history that does not fit into memory is read and judged in several passes.

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Read},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use clewline_core::{Datum, Value, Values};

use crate::text::{Sink, blocks::BYTE_ORDER_MARK, json::Json};

/// Which rows are kept, by a hash of their object or key.
#[derive(Clone)]
pub struct RowFilter(Arc<Rows>);

struct Rows {
    keeps: Box<dyn Fn(u64) -> bool + Send + Sync>,
    kept: Mutex<Vec<u64>>,
    has_dropped: AtomicBool,
}

impl RowFilter {
    /// Keeps the rows of which `keeps` says so, given their hash.
    pub fn new(keeps: impl Fn(u64) -> bool + Send + Sync + 'static) -> RowFilter {
        RowFilter(Arc::new(Rows {
            keeps: Box::new(keeps),
            kept: Mutex::default(),
            has_dropped: AtomicBool::new(false),
        }))
    }

    /// Whether the next row is kept, an operation with this argument on this object.
    pub fn keeps(&self, values: &Values, object: Value, arg: Value) -> bool {
        let hash = hash_of(values, if object.is_absent() { arg } else { object });
        let keeps = (self.0.keeps)(hash);
        if keeps {
            self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).push(hash);
        } else {
            self.0.has_dropped.store(true, Ordering::Relaxed);
        }
        keeps
    }

    /// Whether there were rows, and none was kept.
    #[must_use]
    pub fn has_dropped_all(&self) -> bool {
        let is_none_kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        is_none_kept && self.0.has_dropped.load(Ordering::Relaxed)
    }

    /// The hashes of the rows that were kept, in their order. They are forgotten.
    #[must_use]
    pub fn take_hashes(&self) -> Vec<u64> {
        std::mem::take(&mut *self.0.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for RowFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RowFilter")
    }
}

/// The hash of a name or an argument. Of a list it is that of its first element: a key comes first,
/// before a value or alone, whatever it is.
fn hash_of(values: &Values, value: Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    match values.get(value) {
        Datum::List(items) => return items.first().map_or(0, |it| hash_of(values, *it)),
        Datum::Absent => return 0,
        Datum::Nil => 1_u8.hash(&mut hasher),
        Datum::Bool(truth) => (2, truth).hash(&mut hasher),
        Datum::Int(int) => (3, int).hash(&mut hasher),
        Datum::Text(text) => (4, text).hash(&mut hasher),
        Datum::Symbol(text) => (5, text).hash(&mut hasher),
        Datum::Other(text) => (6, text).hash(&mut hasher),
    }
    hasher.finish()
}

// How much is read at a time.
const READ_BYTES: usize = 1 << 18;

/// JSON lines in which those that are not kept are empty, so that the others have their numbers.
pub(crate) struct FilteredLines<'a> {
    input: &'a mut dyn Read,
    filter: &'a RowFilter,
    // What was read, and how much of it is whole lines that were looked at, and was passed on.
    buffer: Vec<u8>,
    ready: Vec<u8>,
    passed: usize,
    lines: usize,
    is_done: bool,
}

impl<'a> FilteredLines<'a> {
    pub(crate) fn new(input: &'a mut dyn Read, filter: &'a RowFilter) -> Self {
        let (buffer, ready) = (Vec::new(), Vec::new());
        FilteredLines { input, filter, buffer, ready, passed: 0, lines: 0, is_done: false }
    }

    /// Reads on, and looks at the lines that are complete.
    fn advance(&mut self) -> io::Result<()> {
        let read = Read::take(&mut *self.input, READ_BYTES as u64).read_to_end(&mut self.buffer)?;
        self.is_done = read < READ_BYTES;
        self.passed = 0;
        self.ready.clear();
        let end = memchr::memrchr(b'\n', &self.buffer).map_or(0, |it| it + 1);
        let end = if self.is_done { self.buffer.len() } else { end };
        for line in self.buffer[..end].split_inclusive(|it| *it == b'\n') {
            self.lines += 1;
            let line =
                if self.lines == 1 { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
            let is_kept = is_kept(line, self.filter)
                .map_err(|why| io::Error::other(format!("line {}: {why}", self.lines)))?;
            self.ready.extend_from_slice(if is_kept { line } else { b"\n" });
        }
        self.buffer.drain(..end);
        Ok(())
    }
}

impl Read for FilteredLines<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.passed == self.ready.len() && !self.is_done {
            self.advance()?;
        }
        let read = (&self.ready[self.passed..]).read(out)?;
        self.passed += read;
        Ok(read)
    }
}

const NOT_A_LINE: &str = "expected one operation a line, where rows are left out";
const EVENT: &str = "expected an operation with its times, where rows are left out, found an event";

/// Whether a line is kept; what is no operation is.
fn is_kept(line: &[u8], filter: &RowFilter) -> Result<bool, &'static str> {
    let text = str::from_utf8(line).map_err(|_| NOT_A_LINE)?;
    let mut json = Json::new(text);
    if json.peek().is_none() {
        return Ok(true);
    }
    if !json.take(b'{') {
        return Err(NOT_A_LINE);
    }
    let mut sink = Sink::default();
    let (mut object, mut arg, mut is_operation) = (Value::ABSENT, Value::ABSENT, false);
    let mut read = 0;
    while let Some(name) = json.member(read).map_err(|_| NOT_A_LINE)? {
        read += 1;
        let passed = match &*name {
            "object" => json.value(&mut sink).map(|it| object = it),
            "arg" => json.value(&mut sink).map(|it| arg = it),
            "event" => return Err(EVENT),
            other => {
                is_operation |= other == "op";
                json.skip()
            }
        };
        passed.map_err(|_| NOT_A_LINE)?;
    }
    match json.peek() {
        None => Ok(!is_operation || filter.keeps(&sink.values, object, arg)),
        Some(_) => Err(NOT_A_LINE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(text: &str, keeps: fn(u64) -> bool) -> Result<(String, usize), String> {
        let filter = RowFilter::new(keeps);
        let mut out = String::new();
        let mut input = text.as_bytes();
        FilteredLines::new(&mut input, &filter).read_to_string(&mut out).map_err(|it| it.to_string())?;
        Ok((out, filter.take_hashes().len()))
    }

    #[test]
    fn lines_keep_their_numbers_and_keys_stay_together() {
        let text = "{\"op\":\"put\",\"arg\":[1,5]}\n\n{\"op\":\"get\",\"arg\":1}\n{\"op\":\"get\",\"arg\":[[1]]}\n{\"note\":\"x\"}";
        assert_eq!(filtered(text, |_| true), Ok((text.to_owned(), 3)));
        assert_eq!(filtered(text, |_| false), Ok(("\n\n\n\n{\"note\":\"x\"}".to_owned(), 0)));
        let hashes = RowFilter::new(|_| true);
        let mut input = text.as_bytes();
        io::copy(&mut FilteredLines::new(&mut input, &hashes), &mut io::sink()).expect("lines");
        let [put, get, nested] = hashes.take_hashes()[..] else { panic!("three rows") };
        assert_eq!((put, get), (get, nested));
        let mut values = Values::new();
        let (one, two) = (values.int(1), values.int(2));
        assert_ne!(hash_of(&values, one), hash_of(&values, two));
    }

    #[test]
    fn what_cannot_be_divided_is_refused() {
        for (text, expected) in [
            ("\n[{\"op\":\"get\"}]", "line 2: expected one operation a line"),
            ("{\"op\":\n\"get\"}", "line 1: expected one operation a line"),
            ("{\"op\":\"get\"} {\"op\":\"get\"}", "expected one operation a line"),
            ("{\"event\":\"call\",\"op\":\"get\"}", "found an event"),
        ] {
            let error = filtered(text, |_| true).expect_err(text);
            assert!(error.contains(expected), "{error}");
        }
    }
}
