//! The operations of a page, by column: numbers, and texts that are stored once.

use std::collections::HashMap;

use clewline_core::{Interner, OperationId, Times};
use serde_json::{Value as Json, json};

use super::super::timeline::shorten;

/// A history as a page holds it.
#[derive(Clone, Debug, Default)]
pub struct PageColumns {
    // From top to bottom.
    processes: Vec<String>,
    objects: Interner<String>,
    parts: Interner<String>,
    texts: Interner<String>,
    // Invariant: from here on all columns are of one length, and `start` ascends.
    process: Vec<u32>,
    object: Vec<u32>,
    part: Vec<u32>,
    call: Vec<u32>,
    // One more than the text's number; 0 if there is none.
    result_texts: Vec<u32>,
    id: Vec<u32>,
    start: Vec<u32>,
    // How many ranks later it ends; 0 while it is pending.
    length: Vec<u32>,
    // 0 if it is on none.
    line: Vec<u32>,
    // Empty if times are not known: when each was called, and its duration, or 0 while it is
    // pending.
    called: Vec<i64>,
    took: Vec<i64>,
}

/// An operation of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageOperation<'a> {
    /// Its process: one of those that the columns were made with.
    pub process: &'a str,
    /// Its object; empty if there is one object and it has no name.
    pub object: &'a str,
    /// The part of the object, if it is checked separately: a key. Empty if there are no parts.
    pub part: &'a str,
    /// The call.
    pub call: &'a str,
    /// Its result, if it has one. `?` while it is pending.
    pub result: Option<&'a str>,
    /// Its name in the source; empty if it has none.
    pub id: &'a str,
    /// The rank of its call among all events.
    pub start: u32,
    /// The rank of its return; none while it is pending.
    pub end: Option<u32>,
    /// Where it stands in its file, if it comes from one.
    pub line: Option<u32>,
}

// Greater integers are not exact in a script.
const EXACT_INTEGER_MAX: i64 = (1 << 53) - 1;

// Longer texts are shortened: a value may be a page of text.
const TEXT_CHARS_MAX: usize = 400;

impl PageColumns {
    /// No operations yet, of `processes`, which are drawn in this order.
    #[must_use]
    pub fn new(processes: Vec<String>) -> PageColumns {
        PageColumns { processes, ..PageColumns::default() }
    }

    /// Appends an operation. Operations come in the order of their calls.
    ///
    /// # Panics
    ///
    /// If the process is not one of those given, or the operation was called before the last one.
    pub fn push(&mut self, shown: &PageOperation<'_>) {
        let process = self.processes.iter().position(|it| it == shown.process);
        self.push_of(process.expect("processes are given first"), shown);
    }

    /// As [`push`](Self::push), with the process as a number.
    pub(super) fn push_of(&mut self, process: usize, shown: &PageOperation<'_>) {
        assert!(self.start.last().is_none_or(|&it| it < shown.start), "operations are in call order");
        self.process.push(process as u32);
        self.object.push(self.objects.intern_ref(shown.object));
        self.part.push(self.parts.intern_ref(shown.part));
        self.call.push(self.texts.intern(shorten(shown.call, TEXT_CHARS_MAX)));
        self.result_texts
            .push(shown.result.map_or(0, |it| self.texts.intern(shorten(it, TEXT_CHARS_MAX)) + 1));
        self.id.push(self.texts.intern_ref(shown.id));
        self.start.push(shown.start);
        self.length.push(shown.end.map_or(0, |it| it - shown.start));
        self.line.push(shown.line.unwrap_or(0));
    }

    /// Adds the times of the operations, which are found by their lines. If some are missing, or
    /// they are too far apart for exact numbers in a script, there are none.
    pub fn add_times(&mut self, times: &[Times]) {
        let by_line: HashMap<usize, &Times> = times.iter().map(|it| (it.line, it)).collect();
        let found: Option<Vec<&Times>> =
            self.line.iter().map(|it| by_line.get(&(*it as usize)).copied()).collect();
        let Some(found) = found else { return };
        let ends = |it: &&Times| [Some(it.called), it.returned];
        let all = || found.iter().flat_map(ends).flatten();
        let (Some(least), Some(most)) = (all().min(), all().max()) else { return };
        if most.checked_sub(least).is_none_or(|it| EXACT_INTEGER_MAX < it) {
            return;
        }
        self.called = found.iter().map(|it| it.called).collect();
        self.took = found.iter().map(|it| it.returned.map_or(0, |returned| returned - it.called)).collect();
    }

    /// How many operations there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Whether some operation is on a line of a file.
    pub(super) fn has_lines(&self) -> bool {
        self.line.iter().any(|&it| it != 0)
    }

    /// An operation.
    #[must_use]
    pub fn shown(&self, operation: OperationId) -> PageOperation<'_> {
        let at = operation.index();
        let result_texts = self.result_texts[at].checked_sub(1).map(|it| self.texts[it].as_str());
        let length = self.length[at];
        PageOperation {
            process: &self.processes[self.process[at] as usize],
            object: &self.objects[self.object[at]],
            part: &self.parts[self.part[at]],
            call: &self.texts[self.call[at]],
            result: result_texts,
            id: &self.texts[self.id[at]],
            start: self.start[at],
            end: (length != 0).then(|| self.start[at] + length),
            line: Some(self.line[at]).filter(|&it| it != 0),
        }
    }

    /// The columns as JSON. A column of zeros is empty; calls, lines and times are written as
    /// differences from the one before, which are mostly short.
    pub(super) fn json(&self) -> Json {
        let differences = |column: &[u32]| -> Vec<i64> {
            let before = std::iter::once(0).chain(column.iter().copied());
            column.iter().zip(before).map(|(&it, before)| i64::from(it) - i64::from(before)).collect()
        };
        let plain = |column: &[u32]| -> Vec<u32> {
            if column.iter().all(|&it| it == 0) { Vec::new() } else { column.to_vec() }
        };
        let first = self.called.first().copied();
        let waits: Vec<i64> = self
            .called
            .iter()
            .zip(first.iter().chain(&self.called))
            .map(|(it, before)| it - before)
            .collect();
        json!({
            "count": self.len(),
            "processes": self.processes,
            "objects": self.objects.values(),
            "parts": self.parts.values(),
            "texts": self.texts.values(),
            "process": plain(&self.process),
            "object": plain(&self.object),
            "part": plain(&self.part),
            "call": plain(&self.call),
            "result": plain(&self.result_texts),
            "id": plain(&self.id),
            "start": differences(&self.start),
            "length": plain(&self.length),
            // The first as a text: it may be too large for a number of a script.
            "clock": first.unwrap_or(0).to_string(),
            "called": waits,
            "took": self.took,
            "line": if self.has_lines() { differences(&self.line) } else { Vec::new() },
        })
    }
}
