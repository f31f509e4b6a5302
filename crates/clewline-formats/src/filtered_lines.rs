//! JSON lines of which some are left out.

use std::io::{self, Read};

use clewline_core::{RowFilter, Value};

use crate::text::{Sink, blocks::BYTE_ORDER_MARK, json::Json};

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
