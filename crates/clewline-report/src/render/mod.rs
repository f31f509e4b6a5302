//! Reports: a verdict with its evidence, for people ([`text`], [`timeline`], [`trace`](trace()))
//! and for programs ([`json`]), as a page ([`html`]) and as a picture ([`svg`]); many of them as a
//! [`summary`]; and figures, as a [`table`].
//!
//! Everything here turns values into text. Nothing is printed, and nothing is decided.

pub mod block;
mod cause;
mod criteria;
mod explain;
pub mod grid;
#[cfg(feature = "html")]
pub mod html;
#[cfg(feature = "html")]
pub mod json;
mod judged;
mod notes;
pub mod present;
#[cfg(feature = "html")]
pub mod publish;
#[cfg(feature = "html")]
pub mod summary;
#[cfg(feature = "html")]
pub mod svg;
#[cfg(feature = "html")]
pub mod table;
pub mod text;
pub mod timeline;
mod trace;
mod width;

use std::time::Duration;

use clewline_core::{
    Datum, ErasedHistory, ObjectId, OperationId, Value, Values, Verdict, Violation, visible,
};

pub use cause::Cause;
pub use criteria::LINEARIZATION;
pub use explain::explanation;
pub use present::{Present, Proposal};
#[cfg(feature = "html")]
pub use publish::Publish;
pub use trace::trace;

/// A verdict on a history, and the contents of its report.
#[derive(Clone, Copy, Debug)]
pub struct CheckedHistory<'a> {
    /// The name of the history: its file.
    pub name: &'a str,
    /// The source of its operations.
    pub source: Source,
    /// The name of the specification.
    pub spec: &'a str,
    /// The history and its specification.
    pub case: &'a dyn ErasedHistory,
    /// The verdict.
    pub verdict: &'a Verdict,
    /// The counterexamples of further violated parts.
    pub others: &'a [Violation],
    /// How many independent parts are violated, if they were counted.
    pub violated: usize,
    /// The checker that decided.
    pub algorithm: &'a str,
    /// How many independent parts (objects, and keys of each) were checked separately.
    pub parts: usize,
    /// How many configurations were visited.
    pub configurations: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// For a stream, and for passes: the counts of operations that are not all in `case`.
    pub stream: Option<Stream>,
    /// Commands to type next, best first.
    pub next: &'a [String],
}

/// The counts of a history of which only the operations that matter were held: it was checked as a
/// stream, or in several passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// How many operations came in all.
    pub operations: u64,
    /// How many objects they are about.
    pub objects: usize,
    /// The most operations of a stream that were held at a time.
    pub most_held: Option<usize>,
    /// The line after which a violation was certain, if there is one.
    pub line: Option<usize>,
}

impl CheckedHistory<'_> {
    /// How many operations there are, without those that stand for the initial state.
    #[must_use]
    pub fn operations(&self) -> usize {
        let recorded = || self.case.spans().len() - self.case.names().initial_operations();
        self.stream.map_or_else(recorded, |it| it.operations as usize)
    }

    /// How many of `operations` are of the source, and do not stand for the initial state.
    fn recorded(&self, operations: &[OperationId]) -> usize {
        let initial = self.case.names().initial_operations();
        operations.iter().filter(|it| initial <= self.case.source(**it)).count()
    }

    /// Whether some of the operations before those in `case` were forgotten.
    fn has_forgotten(&self) -> bool {
        let is_stream = self.stream.is_some_and(|it| it.most_held.is_some());
        is_stream && self.case.spans().len() < self.operations()
    }

    /// How many objects they are about.
    #[must_use]
    pub fn objects(&self) -> usize {
        if let Some(stream) = self.stream {
            return stream.objects;
        }
        let mut seen: Vec<bool> = Vec::new();
        for at in 0..self.case.spans().len() {
            let ObjectId(object) = self.case.object(OperationId::from_index(at));
            if seen.len() <= object as usize {
                seen.resize(object as usize + 1, false);
            }
            seen[object as usize] = true;
        }
        seen.into_iter().filter(|&it| it).count()
    }

    /// The id of `operation` in the source.
    #[must_use]
    pub fn id(&self, operation: OperationId) -> Value {
        self.case.names().id(self.case.source(operation))
    }

    /// The name of the process of `operation`.
    #[must_use]
    pub fn process(&self, operation: OperationId) -> String {
        let process = self.case.process(operation);
        let name = self.case.names().processes.get(process.index());
        name.map_or_else(|| process.0.to_string(), |&it| plain(self.case.values(), it))
    }

    /// The name of the object of `operation`, if it has one.
    #[must_use]
    pub fn object(&self, operation: OperationId) -> Option<Value> {
        let object = self.case.object(operation);
        self.case.names().objects.get(object.index()).copied().filter(|it| !it.is_absent())
    }
}

/// Where a history came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file with lines.
    File,
    /// A program that made it.
    Program,
    /// Threads that were recorded: each is a process.
    Run,
}

impl Source {
    /// The word for a place in a growing history: files have lines.
    pub(crate) fn place(self) -> &'static str {
        match self {
            Source::File => "line",
            Source::Program | Source::Run => "event",
        }
    }

    /// The word for a process there.
    pub(crate) fn caller(self) -> &'static str {
        match self {
            Source::File | Source::Program => "process",
            Source::Run => "thread",
        }
    }
}

/// Which operations of a witness to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessShown {
    /// All of them, in order.
    Whole,
    /// None.
    Not,
}

/// A name as people write it: a text without its quotes, in one line.
fn plain(values: &Values, value: Value) -> String {
    match values.get(value) {
        Datum::Text(text) | Datum::Symbol(text) => visible(text).into_owned(),
        Datum::Absent | Datum::Nil | Datum::Bool(_) | Datum::Int(_) | Datum::List(_) | Datum::Other(_) => {
            values.show(value).to_string()
        }
    }
}

/// `one` or `many`, with their number before them: `1 object`, `12,345 objects`.
#[must_use]
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A number with its thousands separated: `12,345`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place != 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
