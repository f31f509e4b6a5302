//! Reading lines incrementally, without waiting for the end.

use clewline_core::{Value, Values};

use super::line::{Row, Scanner};
use crate::{
    ReadError,
    text::{FORM_BYTES_MAX, blocks::BYTE_ORDER_MARK},
};

/// Reads a file, or a live stream, incrementally. It keeps the names, and no line.
#[derive(Debug, Default)]
pub struct Follower {
    scanner: Scanner,
    // The beginning of an incomplete line.
    rest: Vec<u8>,
    // How many lines are over.
    lines: usize,
    has_begun: bool,
}

impl Follower {
    /// Nothing has been read.
    #[must_use]
    pub fn new() -> Follower {
        Follower::default()
    }

    /// Takes the next bytes, and passes on the rows of the lines that end in them.
    ///
    /// # Errors
    ///
    /// If a line is invalid; the rows before it have been passed on.
    pub fn take(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(&Row)) -> Result<(), ReadError> {
        if !self.has_begun && !bytes.is_empty() {
            self.has_begun = true;
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        let Some(end) = memchr::memrchr(b'\n', bytes) else {
            self.rest.extend_from_slice(bytes);
            if FORM_BYTES_MAX < self.rest.len() {
                let message = format!("this line is longer than {} MiB", FORM_BYTES_MAX >> 20);
                return Err(ReadError { line: self.lines + 1, column: 0, message, read: 0 });
            }
            return Ok(());
        };
        let (whole, rest) = bytes.split_at(end + 1);
        if self.rest.is_empty() {
            self.scan(whole, each)?;
        } else {
            let first = memchr::memchr(b'\n', whole).map_or(whole.len(), |it| it + 1);
            let mut line = std::mem::take(&mut self.rest);
            line.extend_from_slice(&whole[..first]);
            self.scan(&line, each)?;
            self.scan(&whole[first..], each)?;
        }
        self.rest.extend_from_slice(rest);
        Ok(())
    }

    /// There are no more bytes: the last line may have no line end.
    ///
    /// # Errors
    ///
    /// If it is not one of a history.
    pub fn finish(&mut self, each: &mut dyn FnMut(&Row)) -> Result<(), ReadError> {
        let line = std::mem::take(&mut self.rest);
        self.scan(&line, each)
    }

    fn scan(&mut self, block: &[u8], each: &mut dyn FnMut(&Row)) -> Result<(), ReadError> {
        let outcome = self.scanner.block(block, self.lines + 1);
        self.lines += memchr::memchr_iter(b'\n', block).count();
        self.scanner.rows.drain(..).for_each(|it| each(&it));
        // A stream keeps no notes: they say where in the whole history they stand.
        self.scanner.notes.clear();
        outcome
    }

    /// The values of the lines so far.
    #[must_use]
    pub fn values(&self) -> &Values {
        self.scanner.values()
    }

    /// The names of processes, by number.
    #[must_use]
    pub fn processes(&self) -> &[Value] {
        self.scanner.processes.names()
    }

    /// The names of objects, by number.
    #[must_use]
    pub fn objects(&self) -> &[Value] {
        self.scanner.objects.names()
    }
}
