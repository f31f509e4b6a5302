//! Blocks of whole lines, so that a file is never held as a whole.

use std::io::Read;

use super::FORM_BYTES_MAX;
use crate::ReadError;

/// How much is read at a time.
pub(crate) const READ_BLOCK_BYTES: usize = 1 << 20;

/// Cuts the input into blocks that end with a line.
pub(crate) struct Blocks<'a> {
    input: &'a mut dyn Read,
    progress: &'a (dyn Fn(u64) + Sync),
    // The beginning of an incomplete line.
    rest: Vec<u8>,
    read: u64,
    lines: usize,
    done: bool,
}

impl<'a> Blocks<'a> {
    /// The lines of `input`.
    pub(crate) fn new(input: &'a mut dyn Read, progress: &'a (dyn Fn(u64) + Sync)) -> Self {
        Blocks { input, progress, rest: Vec::new(), read: 0, lines: 0, done: false }
    }

    /// Replaces the contents of `block` by the next lines, and returns the number of the first,
    /// from 1. An empty block is the end.
    ///
    /// # Errors
    ///
    /// If reading fails, or a line exceeds the maximum length.
    pub(crate) fn next(&mut self, block: &mut Vec<u8>) -> Result<usize, ReadError> {
        block.clear();
        block.append(&mut self.rest);
        while !self.done {
            let before = block.len();
            let read = Read::take(&mut *self.input, READ_BLOCK_BYTES as u64).read_to_end(block);
            let read = read.map_err(|error| self.error(format!("cannot be read: {error}")))?;
            self.done = read < READ_BLOCK_BYTES;
            if before == 0 && self.read == 0 && block.starts_with(BYTE_ORDER_MARK) {
                block.drain(..BYTE_ORDER_MARK.len());
            }
            self.read += read as u64;
            (self.progress)(self.read);
            if let Some(cut) = memchr::memrchr(b'\n', &block[before..]) {
                let cut = before + cut + 1;
                if !self.done {
                    self.rest.extend_from_slice(&block[cut..]);
                    block.truncate(cut);
                }
                break;
            }
            if FORM_BYTES_MAX < block.len() {
                return Err(self.error(format!("this line is longer than {} MiB", FORM_BYTES_MAX >> 20)));
            }
        }
        let first = self.lines + 1;
        self.lines += memchr::memchr_iter(b'\n', block).count();
        Ok(first)
    }

    /// Whether everything has been read.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    fn error(&self, message: String) -> ReadError {
        ReadError { line: self.lines + 1, column: 0, message, read: 0 }
    }
}

pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The valid lines of a block, and the first invalid one, if there is one.
pub(crate) struct Lines<'a> {
    text: &'a str,
    bad: Option<usize>,
    /// The number of the line that comes next, from 1.
    pub line: usize,
}

impl<'a> Lines<'a> {
    /// The lines of `block`, the first of which has the number `line`.
    pub(crate) fn new(block: &'a [u8], line: usize) -> Self {
        match std::str::from_utf8(block) {
            Ok(text) => Lines { text, bad: None, line },
            Err(error) => {
                let (readable, _) = block.split_at(error.valid_up_to());
                let text = std::str::from_utf8(readable).unwrap_or_default();
                // The invalid line is not returned, but its beginning gives the column.
                let whole = text.rfind('\n').map_or(0, |it| it + 1);
                let column = 1 + text[whole..].chars().count();
                Lines { text: &text[..whole], bad: Some(column), line }
            }
        }
    }

    /// The next line, without its end.
    pub(crate) fn next(&mut self) -> Result<Option<&'a str>, ReadError> {
        if self.text.is_empty() {
            return match self.bad {
                Some(column) => Err(not_utf8(self.line, column)),
                None => Ok(None),
            };
        }
        let end = memchr::memchr(b'\n', self.text.as_bytes());
        let (line, rest) = match end {
            Some(end) => (&self.text[..end], &self.text[end + 1..]),
            None => (self.text, ""),
        };
        self.text = rest;
        self.line += 1;
        Ok(Some(line))
    }
}

/// These bytes are not text.
pub(crate) fn not_utf8(line: usize, column: usize) -> ReadError {
    ReadError { line, column, message: "expected text in UTF-8, found other bytes".to_owned(), read: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(input: &[u8]) -> Vec<String> {
        let (mut input, mut block, mut lines) = (input, Vec::new(), Vec::new());
        let mut blocks = Blocks::new(&mut input, &|_| ());
        loop {
            blocks.next(&mut block).unwrap();
            if block.is_empty() {
                return lines;
            }
            let mut here = Lines::new(&block, 1);
            while let Some(line) = here.next().unwrap() {
                lines.push(line.to_owned());
            }
        }
    }

    #[test]
    fn lines_may_span_blocks() {
        for length in [
            1,
            2,
            79,
            80,
            81,
            READ_BLOCK_BYTES - 1,
            READ_BLOCK_BYTES,
            READ_BLOCK_BYTES + 1,
            3 * READ_BLOCK_BYTES,
        ] {
            let text = format!("{}\nshort\n\n{}", "é".repeat(length / 2), "x".repeat(length));
            let expected: Vec<&str> = text.lines().collect();
            assert_eq!(lines_of(text.as_bytes()), expected, "length {length}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        assert_eq!(lines_of("\u{feff}a\nb".as_bytes()), ["a", "b"]);
    }
}
