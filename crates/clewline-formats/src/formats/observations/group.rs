//! One observation: the calls and results of the threads, and the serial histories that produce
//! them.

use std::collections::{HashMap, HashSet};

use clewline_core::{Names, RawCall, Recording, Skipped, Value, Values};

use crate::{
    ReadError,
    event_reader::{EventHistory, OperationOutcome},
    text::{TextError, shown_in_one_line},
};

/// The text inside an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct ElementText<'a> {
    /// The byte of the file at which it begins.
    pub(super) at: usize,
    /// As it stands in the file.
    pub(super) text: &'a str,
}

impl<'a> ElementText<'a> {
    /// The words of the text, and where in the file each begins.
    fn words(self) -> impl Iterator<Item = (&'a str, usize)> {
        let start = self.text.as_ptr().addr();
        self.text.split_ascii_whitespace().map(move |word| (word, self.at + (word.as_ptr().addr() - start)))
    }
}

/// The contents of an `<observation>`.
#[derive(Debug, Default)]
pub(super) struct Group {
    threads: Vec<Value>,
    known: HashSet<Value>,
    // By operation: the thread, and whether it is marked as blocked.
    owners: HashMap<u64, (usize, EventMark)>,
    operations: HashMap<u64, Declared>,
    // Where the text of each lies in the file.
    histories: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventMark {
    Returns,
    Blocks,
}

#[derive(Clone, Copy, Debug)]
struct Declared {
    call: RawCall,
    result: Value,
}

impl Group {
    /// A thread, and the operations it calls.
    pub(super) fn thread(
        &mut self,
        name: Value,
        at: usize,
        content: &ElementText<'_>,
    ) -> Result<(), TextError> {
        if !self.known.insert(name) {
            return Err(TextError { at, message: "this thread is given twice".to_owned() });
        }
        for (word, at) in content.words() {
            let (number, mark) = match word.strip_suffix('B') {
                Some(number) => (number, EventMark::Blocks),
                None => (word, EventMark::Returns),
            };
            let operation = integer(number).ok_or_else(|| wrong("the number of an operation", word, at))?;
            if self.owners.insert(operation, (self.threads.len(), mark)).is_some() {
                return Err(TextError { at, message: format!("operation {operation} is called twice") });
            }
        }
        self.threads.push(name);
        Ok(())
    }

    /// An operation: its method, and its argument and result from the text.
    pub(super) fn operation(
        &mut self,
        id: u64,
        method: Value,
        at: usize,
        content: &ElementText<'_>,
        values: &mut Values,
    ) -> Result<(), TextError> {
        let (mut arg, mut result) = (None, None);
        for pair in AttributePairs(*content) {
            let (key, value, at) = pair?;
            let value = read_value(values, &value);
            let twice = match key {
                "value" => arg.replace(value).is_some(),
                "result" => result.replace(value).is_some(),
                _ => return Err(wrong("`value` or `result`", key, at)),
            };
            if twice {
                return Err(TextError { at, message: format!("`{key}` is given twice") });
            }
        }
        let call = RawCall { method, arg: arg.unwrap_or(Value::ABSENT) };
        let declared = Declared { call, result: result.unwrap_or(Value::ABSENT) };
        if self.operations.insert(id, declared).is_some() {
            return Err(TextError { at, message: format!("operation {id} is given twice") });
        }
        Ok(())
    }

    /// A history; it is interpreted when the threads and operations are known.
    pub(super) fn history(&mut self, content: &ElementText<'_>) {
        self.histories.push((content.at, content.text.len()));
    }
}

/// An integer, a truth value or nothing if it is written as one, otherwise a text.
fn read_value(values: &mut Values, written: &str) -> Value {
    match (written, written.parse::<i64>()) {
        ("true" | "True", _) => Value::TRUE,
        ("false" | "False", _) => Value::FALSE,
        ("null", _) => Value::NIL,
        (_, Ok(int)) if int.to_string() == written => values.int(int),
        (_, Ok(_) | Err(_)) => values.text(written),
    }
}

/// Pairs `key="value"`, and where each begins.
struct AttributePairs<'a>(ElementText<'a>);

impl<'a> Iterator for AttributePairs<'a> {
    type Item = Result<(&'a str, String, usize), TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        let ElementText { at, text } = self.0;
        let trimmed = text.trim_ascii_start();
        let at = at + (text.len() - trimmed.len());
        if trimmed.is_empty() {
            return None;
        }
        let fault = |expected, offset| Some(Err(TextError::expected(expected, trimmed, offset, "element")));
        let located = |it: Option<Self::Item>| {
            it.map(|it| it.map_err(|fault: TextError| TextError { at: at + fault.at, ..fault }))
        };
        let key = trimmed.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(trimmed.len());
        if key == 0 {
            return located(fault("`value=` or `result=`", 0));
        }
        let Some(quoted) = trimmed[key..].strip_prefix('=') else {
            return located(fault("`=`", key));
        };
        let Some(quote @ ('"' | '\'')) = quoted.chars().next() else {
            return located(fault("a quoted value", key + 1));
        };
        let Some(length) = quoted[1..].find(quote) else {
            return located(fault("a quote at the end of the value", trimmed.len()));
        };
        self.0 = ElementText { at: at + key + length + 3, text: &quoted[length + 2..] };
        Some(match quick_xml::escape::unescape(&quoted[1..=length]) {
            Ok(value) => Ok((&trimmed[..key], value.into_owned(), at)),
            Err(error) => Err(TextError {
                at,
                message: format!("expected a value, found this: {}", shown_in_one_line(&error.to_string())),
            }),
        })
    }
}

/// The observations so far, laid out one after the other.
#[derive(Debug)]
pub(super) struct Groups<'a> {
    text: &'a str,
    log: EventHistory,
    values: Values,
    processes: Vec<Value>,
    objects: Vec<Value>,
    // A byte of the file, and its line.
    line: (usize, usize),
    skipped: Skipped,
}

// The state of one history so far.
#[derive(Default)]
struct HistoryProgress {
    // By thread.
    processes: HashMap<usize, u32>,
    // By operation: whether it has returned.
    returned: HashMap<u64, bool>,
    stuck: bool,
}

impl<'a> Groups<'a> {
    /// No observations of the file `text`.
    pub(super) fn new(text: &'a str) -> Self {
        Groups {
            text,
            log: EventHistory::default(),
            values: Values::new(),
            processes: Vec::new(),
            objects: Vec::new(),
            line: (0, 1),
            skipped: Skipped::default(),
        }
    }

    /// There is `text` outside of all elements, from `line` on.
    pub(super) fn skip(&mut self, line: usize, text: &str) {
        let lines = text.lines().zip(line..).filter(|(it, _)| !it.trim().is_empty());
        lines.for_each(|(text, line)| self.skipped.add(line, text));
    }

    /// Where values live.
    pub(super) fn values(&mut self) -> &mut Values {
        &mut self.values
    }

    /// How many events there are.
    pub(super) fn len(&self) -> usize {
        self.log.len()
    }

    /// Appends the histories of `group`, which is the observation of that number, or has none
    /// around it.
    pub(super) fn take(&mut self, group: Group, observation: Option<usize>) -> Result<(), TextError> {
        for (place, &(at, length)) in group.histories.iter().enumerate() {
            let history = place + 1;
            let name = match observation {
                Some(observation) => format!("observation {observation}, history {history}"),
                None => format!("history {history}"),
            };
            let object = self.objects.len() as u32;
            let name = self.values.text(&name);
            self.objects.push(name);
            let mut progress = HistoryProgress::default();
            for (word, at) in (ElementText { at, text: &self.text[at..at + length] }).words() {
                self.event(&group, object, &mut progress, word, at)?;
            }
        }
        Ok(())
    }

    /// One word of a history: `1[`, `]1` or `#`.
    fn event(
        &mut self,
        group: &Group,
        object: u32,
        progress: &mut HistoryProgress,
        word: &str,
        at: usize,
    ) -> Result<(), TextError> {
        let fault = |message: String| TextError { at, message };
        if progress.stuck {
            return Err(wrong("nothing after `#`", word, at));
        }
        if word == "#" {
            progress.stuck = true;
            return Ok(());
        }
        let (number, is_call) = match (word.strip_suffix('['), word.strip_prefix(']')) {
            (Some(number), None) => (number, true),
            (None, Some(number)) => (number, false),
            _ => return Err(wrong("a call such as `1[`, a return such as `]1`, or `#`", word, at)),
        };
        let id = integer(number).ok_or_else(|| wrong("the number of an operation", word, at))?;
        let Some(&(thread, mark)) = group.owners.get(&id) else {
            return Err(fault(format!("expected an operation of one of the threads, found {id}")));
        };
        let Some(&Declared { call, result }) = group.operations.get(&id) else {
            return Err(fault(format!("expected an operation that an `<op>` describes, found {id}")));
        };
        let line = self.line_of(at);
        let processes = &mut self.processes;
        let process = *progress.processes.entry(thread).or_insert_with(|| {
            processes.push(group.threads[thread]);
            processes.len() as u32 - 1
        });
        let pushed = match (is_call, progress.returned.get(&id)) {
            (true, None) => {
                progress.returned.insert(id, false);
                self.log.call(line, process, object, call)
            }
            (true, Some(_)) => return Err(fault(format!("operation {id} is called twice"))),
            (false, Some(false)) if mark == EventMark::Blocks => {
                return Err(fault(format!(
                    "operation {id} returns, but its thread says that it blocks ({id}B)"
                )));
            }
            (false, Some(false)) => {
                progress.returned.insert(id, true);
                self.log.end(line, process, None, OperationOutcome::Return(result), &self.values)
            }
            (false, None | Some(true)) => {
                return Err(fault(format!("operation {id} returns, but is not open")));
            }
        };
        pushed.map_err(|ReadError { message, .. }| fault(message))
    }

    /// The line of a byte of the file. Continuing from the last request is cheap.
    fn line_of(&mut self, at: usize) -> usize {
        let (mut from, mut line) = self.line;
        if at < from {
            (from, line) = (0, 1);
        }
        line += memchr::memchr_iter(b'\n', &self.text.as_bytes()[from..at]).count();
        self.line = (at, line);
        line
    }

    /// The recording of them all.
    pub(super) fn finish(self) -> Recording {
        let Groups { log, values, processes, objects, skipped, .. } = self;
        let (history, lines) = log.finish();
        Recording::new(history, values, Names { processes, objects, lines, skipped, ..Names::default() })
    }
}

fn integer(number: &str) -> Option<u64> {
    number.bytes().all(|it| it.is_ascii_digit()).then(|| number.parse().ok())?
}

#[cold]
fn wrong(expected: &str, found: &str, at: usize) -> TextError {
    TextError { at, message: format!("expected {expected}, found `{}`", shown_in_one_line(found)) }
}
