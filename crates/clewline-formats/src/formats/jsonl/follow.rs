//! Reading lines incrementally, without waiting for the end.

use clewline_core::{Value, Values};

use super::{line::Scanner, note::NoteLine};
use crate::{
    Follow, ReadError, Row,
    text::{
        FORM_BYTES_MAX,
        objects::{ObjectCutter, is_object_a_line, without_mark},
    },
};

/// Reads JSON lines incrementally.
#[derive(Debug, Default)]
pub(super) struct Follower {
    scanner: Scanner,
    // The beginning of an incomplete line.
    rest: Vec<u8>,
    // How many lines are over.
    lines: usize,
    layout: Layout,
    // The line of the first crash.
    crash: Option<usize>,
}

/// How objects are laid out.
#[derive(Debug, Default)]
enum Layout {
    // Not known yet: `rest` has what has come.
    #[default]
    Unknown,
    // One a line.
    Lines,
    // In an array, over several lines, or many on one.
    Objects(Box<ObjectCutter>),
}

impl Follower {
    /// Takes what has come, if that is enough to know the layout.
    fn begin(&mut self, is_whole: bool, each: &mut dyn FnMut(&Row)) -> Result<(), ReadError> {
        let is_whole = is_whole || FORM_BYTES_MAX < self.rest.len();
        let Some(is_lines) = is_object_a_line(&self.rest, is_whole) else { return Ok(()) };
        self.layout = if is_lines { Layout::Lines } else { Layout::Objects(Box::default()) };
        let rest = std::mem::take(&mut self.rest);
        self.take(without_mark(&rest), each)
    }

    fn take_lines(&mut self, bytes: &[u8], each: &mut dyn FnMut(&Row)) -> Result<(), ReadError> {
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

    fn scan(&mut self, block: &[u8], each: &mut dyn FnMut(&Row)) -> Result<(), ReadError> {
        let outcome = self.scanner.block(block, self.lines + 1);
        self.lines += memchr::memchr_iter(b'\n', block).count();
        self.pass_on(each);
        outcome
    }

    fn pass_on(&mut self, each: &mut dyn FnMut(&Row)) {
        self.scanner.rows.drain(..).for_each(|it| each(&it));
        let crash = || self.scanner.notes.iter().find(|it| it.crash().is_some()).map(NoteLine::line);
        self.crash = self.crash.or_else(crash);
        // A stream keeps no notes: they say where in the whole history they stand.
        self.scanner.notes.clear();
    }
}

impl Follow for Follower {
    fn take(&mut self, bytes: &[u8], each: &mut dyn FnMut(&Row)) -> Result<(), ReadError> {
        match &mut self.layout {
            Layout::Unknown => {
                self.rest.extend_from_slice(bytes);
                self.begin(false, each)
            }
            Layout::Lines => self.take_lines(bytes, each),
            Layout::Objects(cutter) => {
                let outcome = cutter.take(bytes, &mut |it| self.scanner.object(it));
                self.pass_on(each);
                outcome
            }
        }
    }

    fn finish(&mut self, each: &mut dyn FnMut(&Row)) -> Result<(), ReadError> {
        if matches!(self.layout, Layout::Unknown) {
            self.begin(true, each)?;
        }
        if let Layout::Objects(cutter) = &self.layout {
            return cutter.finish();
        }
        let line = std::mem::take(&mut self.rest);
        self.scan(&line, each)
    }

    fn has_initial_state(&self) -> bool {
        self.scanner.initial.is_some()
    }

    fn crash(&self) -> Option<usize> {
        self.crash
    }

    fn values(&self) -> &Values {
        self.scanner.values()
    }

    fn processes(&self) -> &[Value] {
        self.scanner.processes.names()
    }

    fn objects(&self) -> &[Value] {
        self.scanner.objects.names()
    }
}
