//! The forms of a file one after the other, holding little more than one at a time.

use std::io::Read;

use super::{
    FORM_BYTES_MAX,
    blocks::not_utf8,
    edn::{Edn, FormEnd, Tail},
};
use crate::ReadError;

// How much is read at a time, at least.
const READ_BYTES_MIN: usize = 1 << 18;

/// A window that moves over a file.
pub(crate) struct FormStream<'a> {
    input: &'a mut dyn Read,
    progress: &'a (dyn Fn(u64) + Sync),
    read: u64,
    window: String,
    // The bytes of the window before this one have been processed.
    start: usize,
    // The place of that byte, from 1.
    line: usize,
    column: usize,
    // Bytes after the window: the beginning of a character, or invalid bytes.
    rest: Vec<u8>,
    end: WindowEnd,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WindowEnd {
    // The file goes on after the window.
    Later,
    // The file ends with the window.
    Here,
    // The bytes after the window are not text.
    Garbage,
}

impl<'a> FormStream<'a> {
    /// The forms of `input`.
    pub(crate) fn new(input: &'a mut dyn Read, progress: &'a (dyn Fn(u64) + Sync)) -> Self {
        FormStream {
            input,
            progress,
            read: 0,
            window: String::new(),
            start: 0,
            line: 1,
            column: 1,
            rest: Vec::new(),
            end: WindowEnd::Later,
        }
    }

    /// The result of `parse` on the next form. It may be called several times, with ever larger
    /// windows.
    ///
    /// # Errors
    ///
    /// If `parse` finds an error, or reading fails, or a form is longer than the maximum.
    pub(crate) fn next<T>(
        &mut self,
        mut parse: impl FnMut(&mut Edn<'_>) -> Result<T, FormEnd>,
    ) -> Result<T, ReadError> {
        loop {
            let text = &self.window[self.start..];
            let tail = if self.end == WindowEnd::Here { Tail::End } else { Tail::More };
            let mut edn = Edn::new(text, tail);
            match parse(&mut edn) {
                Ok(parsed) => {
                    let passed = edn.at();
                    (self.line, self.column) = self.place(passed);
                    self.start += passed;
                    return Ok(parsed);
                }
                Err(FormEnd::Fault(fault)) => {
                    let (line, column) = self.place(fault.at);
                    return Err(ReadError { line, column, message: fault.message, read: 0 });
                }
                Err(FormEnd::More) => self.more()?,
            }
        }
    }

    /// The line at which a byte of the text that `next` was last given lies.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// Line and column of the byte that is `passed` bytes further on.
    fn place(&self, passed: usize) -> (usize, usize) {
        let text = &self.window[self.start..self.start + passed];
        match memchr::memrchr(b'\n', text.as_bytes()) {
            None => (self.line, self.column + text.chars().count()),
            Some(last) => {
                let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
                (self.line + lines, 1 + text[last + 1..].chars().count())
            }
        }
    }

    /// Extends the window by at least half, so that re-reading a form costs no more than reading
    /// it.
    fn more(&mut self) -> Result<(), ReadError> {
        let length = self.window.len() - self.start;
        if self.end != WindowEnd::Later {
            let (line, column) = self.place(length);
            return Err(not_utf8(line, column));
        }
        if FORM_BYTES_MAX < length {
            let message = format!("what begins here is longer than {} MiB", FORM_BYTES_MAX >> 20);
            return Err(ReadError { line: self.line, column: self.column, message, read: 0 });
        }
        self.window.drain(..self.start);
        self.start = 0;
        let wanted = length.max(READ_BYTES_MIN);
        let read = Read::take(&mut *self.input, wanted as u64).read_to_end(&mut self.rest);
        let read = read.map_err(|error| ReadError {
            line: self.line,
            column: self.column,
            message: format!("cannot be read: {error}"),
            read: 0,
        })?;
        self.read += read as u64;
        (self.progress)(self.read);
        let is_first = self.window.is_empty() && self.read == read as u64;
        let (valid, end) = match std::str::from_utf8(&self.rest) {
            Ok(text) => (text.len(), if read < wanted { WindowEnd::Here } else { WindowEnd::Later }),
            Err(error) if error.error_len().is_none() && read == wanted => {
                (error.valid_up_to(), WindowEnd::Later)
            }
            Err(error) => (error.valid_up_to(), WindowEnd::Garbage),
        };
        let rest = self.rest.split_off(valid);
        let text = String::from_utf8(std::mem::replace(&mut self.rest, rest)).unwrap_or_default();
        self.window.push_str(if is_first { text.trim_start_matches('\u{feff}') } else { &text });
        self.end = end;
        Ok(())
    }
}
