//! Input that is read within a budget, up to its end or to the end of a line.

use std::io::{self, Read};

use clewline_core::{Budget, Reason, Recording};

// A format is recognised by this number of bytes.
pub(super) const FORMAT_DETECTION_BYTES: u64 = 8 << 10;

/// The result of reading.
pub(super) enum ReadResult {
    Whole(Box<Recording>),
    Stopped(Reason),
}

/// The beginning of `input`, up to the end of a line at least, as a live system may pause after it;
/// and up to what `is_known` recognises, as bytes of formats that have no lines may look like one.
pub(super) fn first_line(
    input: &mut impl Read,
    is_known: impl Fn(&[u8]) -> bool,
    budget: &Budget,
) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut piece = [0; FORMAT_DETECTION_BYTES as usize];
    let mut input = WaitingReader { input, budget };
    while head.len() < FORMAT_DETECTION_BYTES as usize && !(head.contains(&b'\n') && is_known(&head)) {
        match input.read(&mut piece)? {
            0 => break,
            read => head.extend_from_slice(&piece[..read]),
        }
    }
    Ok(head)
}

/// An input that retries, within its budget, while the inner one reports a time-out.
pub(super) struct WaitingReader<'b, R> {
    pub(super) input: R,
    pub(super) budget: &'b Budget,
}

impl<R: Read> Read for WaitingReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let outcome = self.input.read(buffer);
            let is_passing = match outcome.as_ref().map_err(io::Error::kind) {
                Err(io::ErrorKind::TimedOut) => self.budget.stopped().is_none(),
                Err(kind) => kind == io::ErrorKind::Interrupted,
                Ok(_) => false,
            };
            if !is_passing {
                return outcome;
            }
        }
    }
}
