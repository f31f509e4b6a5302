//! Lines that are notes on the history: `{"note": "partition", "time": 120, "until": 180}`, or
//! events, `{"event": "begin", "note": "partition"}`. A crash is a note as well: `{"event":
//! "crash", "time": 120}`.
//!
//! They are rare, so a line is read a second time once it turns out to be a note, and lines of
//! operations cost nothing.

use clewline_core::{Note, RawCall, TimedColumns, Value};

use super::field::Field;
use crate::{
    ReadError,
    text::{
        TextError,
        json::{Json, Scalar},
        shown_in_one_line,
    },
};

/// A note, as its line has it.
#[derive(Clone, Debug)]
pub(super) struct NoteLine {
    // From 1.
    line: usize,
    // The number of rows before it.
    rows: usize,
    kind: NoteKind,
    text: String,
    crash: Option<CrashLine>,
}

/// The processes that crashed, as a line has them.
#[derive(Clone, Debug)]
pub(super) struct CrashLine {
    /// `None`: all of them.
    pub(super) processes: Option<Vec<ProcessName>>,
    pub(super) node: Option<String>,
}

/// The name of a process, as a line has it.
#[derive(Clone, Debug)]
pub(super) enum ProcessName {
    Int(i64),
    Text(String),
}

impl CrashLine {
    /// `crash of n2`.
    fn text(&self) -> String {
        let show = |it: &ProcessName| match it {
            ProcessName::Int(int) => int.to_string(),
            ProcessName::Text(text) => text.clone(),
        };
        match (&self.node, &self.processes) {
            (Some(node), _) => format!("crash of {node}"),
            (None, Some(all)) => format!("crash of {}", all.iter().map(show).collect::<Vec<_>>().join(", ")),
            (None, None) => "crash".to_owned(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoteKind {
    // From one time until another; `None` if it does not end.
    Timed(i64, Option<i64>),
    // In a file of events.
    Moment,
    Begin,
    End,
    // With a time in a file of operations, and at its place in a file of events.
    Crash(Option<i64>),
}

impl NoteLine {
    /// The same note, after `rows` rows more.
    pub(super) fn after(self, rows: usize) -> NoteLine {
        NoteLine { rows: self.rows + rows, ..self }
    }

    /// Whether it has a time, and is no event.
    pub(super) fn is_timed(&self) -> bool {
        matches!(self.kind, NoteKind::Timed(..) | NoteKind::Crash(Some(_)))
    }

    /// Its line, from 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// The number of rows before it.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The crash, if it is one.
    pub(super) fn crash(&self) -> Option<&CrashLine> {
        self.crash.as_ref()
    }

    /// The time of a crash, if it has one.
    pub(super) fn crash_time(&self) -> Option<i64> {
        match self.kind {
            NoteKind::Crash(time) => time,
            NoteKind::Timed(..) | NoteKind::Moment | NoteKind::Begin | NoteKind::End => None,
        }
    }

    /// Reads `text`, which is an object on line `line`, after `rows` rows.
    pub(super) fn read(text: &str, line: usize, rows: usize) -> Result<NoteLine, TextError> {
        let mut json = Json::new(text);
        let (mut note, mut time, mut until, mut event) = (None, None, None, None);
        let (mut processes, mut node) = (None, None);
        json.take(b'{');
        let mut members = 0;
        while let Some(name) = json.member(members)? {
            members += 1;
            json.peek();
            let at = json.at();
            let field = Field::find(&name);
            let twice = match field {
                Field::Note => note.replace(note_text(&mut json)?).is_some(),
                Field::Time => time.replace(json.integer("an integer")?).is_some(),
                Field::Until => {
                    let end = if json.null()? { None } else { Some(json.integer("an integer")?) };
                    until.replace((end, at)).is_some()
                }
                Field::Event => event.replace(event_kind(&mut json)?).is_some(),
                Field::Process => processes.replace(process_names(&mut json)?).is_some(),
                _ if name == "node" => {
                    // Of any other note it is the user's own.
                    node = Some((node_name(&mut json.clone()), at));
                    json.skip()?;
                    false
                }
                _ => {
                    json.skip()?;
                    false
                }
            };
            if twice {
                return Err(fault(at, format!("`{}` is given twice", field.name())));
            }
        }
        let missing = |what: &str| fault(json.at() - 1, format!("expected {what}, found `}}`"));
        if event == Some(NoteKind::Crash(None)) {
            if let (Some((_, at)), None) = (&node, &processes) {
                let message = "expected `process` beside `node`: the processes that crashed with it";
                return Err(fault(*at, message.to_owned()));
            }
            if processes.as_ref().is_some_and(Vec::is_empty) {
                return Err(missing("a process that crashed, or no `process`: then all of them crashed"));
            }
            let crash = CrashLine { processes, node: node.map(|it| it.0).transpose()? };
            let (kind, text) = (NoteKind::Crash(time), crash.text());
            return Ok(NoteLine { line, rows, kind, text, crash: Some(crash) });
        }
        let text = note.ok_or_else(|| missing("`note`, the text of the note"))?;
        let kind = match (event, time, until) {
            (Some(_), _, Some((_, at))) => {
                let message = "expected a note without `until`: in a file of events, `begin` and `end` mark an interval";
                return Err(fault(at, message.to_owned()));
            }
            (Some(kind), ..) => kind,
            (None, None, _) => return Err(missing("`time`, the time of the note, or `event`")),
            (None, Some(time), None) => NoteKind::Timed(time, Some(time)),
            (None, Some(time), Some((Some(end), at))) if end < time => {
                return Err(fault(at, format!("expected a time from {time} on, found {end}")));
            }
            (None, Some(time), Some((end, _))) => NoteKind::Timed(time, end),
        };
        Ok(NoteLine { line, rows, kind, text, crash: None })
    }
}

/// The processes of a crash: a name, or a list of names. In other notes `process` may be anything.
fn process_names(json: &mut Json<'_>) -> Result<Vec<ProcessName>, TextError> {
    const EXPECTED: &str = "an integer or a text";
    let name = |json: &mut Json<'_>| {
        Ok(match json.scalar(EXPECTED)? {
            Scalar::Int(int) => ProcessName::Int(int),
            Scalar::Text(text) => ProcessName::Text(text.into_owned()),
        })
    };
    if !json.take(b'[') {
        return Ok(vec![name(json)?]);
    }
    let mut names = Vec::new();
    while json.peek() != Some(b']') {
        if !names.is_empty() && !json.take(b',') {
            return Err(json.error("`,` or `]`"));
        }
        json.peek();
        names.push(name(json)?);
    }
    json.take(b']');
    Ok(names)
}

/// The name of a node.
fn node_name(json: &mut Json<'_>) -> Result<String, TextError> {
    Ok(match json.scalar("an integer or a text")? {
        Scalar::Int(int) => int.to_string(),
        Scalar::Text(text) => text.into_owned(),
    })
}

fn note_text(json: &mut Json<'_>) -> Result<String, TextError> {
    let at = json.at();
    match json.scalar("a text")? {
        Scalar::Text(text) => Ok(text.into_owned()),
        Scalar::Int(int) => Err(fault(at, format!("expected a text, found `{int}`"))),
    }
}

fn event_kind(json: &mut Json<'_>) -> Result<NoteKind, TextError> {
    let at = json.at();
    match json.scalar("`note`, `begin` or `end`")? {
        Scalar::Text(text) if text == "note" => Ok(NoteKind::Moment),
        Scalar::Text(text) if text == "begin" => Ok(NoteKind::Begin),
        Scalar::Text(text) if text == "end" => Ok(NoteKind::End),
        Scalar::Text(text) if text == "crash" => Ok(NoteKind::Crash(None)),
        Scalar::Text(other) => {
            let found = shown_in_one_line(&other);
            Err(fault(at, format!("expected `note`, `begin` or `end`, found `{found}`")))
        }
        Scalar::Int(int) => Err(fault(at, format!("expected `note`, `begin` or `end`, found `{int}`"))),
    }
}

#[cold]
fn fault(at: usize, message: String) -> TextError {
    TextError { at, message }
}

/// The notes of a file of operations, in which each has a time.
///
/// # Errors
///
/// The line of the first note that is an event.
pub(super) fn by_time(
    lines: Vec<NoteLine>,
    columns: &TimedColumns<RawCall, Value>,
) -> Result<Vec<Note>, usize> {
    let mut times = Vec::with_capacity(2 * lines.len());
    for note in &lines {
        let (from, until) = match note.kind {
            NoteKind::Timed(from, until) => (from, until),
            NoteKind::Crash(Some(time)) => (time, Some(time)),
            NoteKind::Crash(None) | NoteKind::Moment | NoteKind::Begin | NoteKind::End => {
                return Err(note.line);
            }
        };
        times.extend([from, until.unwrap_or(i64::MAX)]);
    }
    let before = columns.events_before(&times);
    let note = |(line, ends): (NoteLine, &[u32])| Note {
        text: line.text,
        from: ends[0],
        until: (!matches!(line.kind, NoteKind::Timed(_, None))).then_some(ends[1]),
    };
    Ok(lines.into_iter().zip(before.chunks_exact(2)).map(note).collect())
}

/// The notes of a file of events, in which the order of the lines is that of the events.
///
/// Of several open notes of one text the last that began ends first.
pub(super) fn by_event(lines: Vec<NoteLine>) -> Result<Vec<Note>, NoteError> {
    let mut notes: Vec<Note> = Vec::new();
    // The notes that have not ended, in the order in which they began.
    let mut open: Vec<usize> = Vec::new();
    for NoteLine { line, rows, kind, text, .. } in lines {
        let from = u32::try_from(rows).unwrap_or(u32::MAX);
        match kind {
            NoteKind::Timed(..) => return Err(NoteError::Timed(line)),
            NoteKind::Moment | NoteKind::Crash(_) => notes.push(Note { text, from, until: Some(from) }),
            NoteKind::Begin => {
                open.push(notes.len());
                notes.push(Note { text, from, until: None });
            }
            NoteKind::End => {
                let Some(last) = open.iter().rposition(|&at| notes[at].text == text) else {
                    let message = format!("the interval {text:?} ends, and has not begun");
                    return Err(NoteError::Read(at_line(line, message)));
                };
                notes[open.remove(last)].until = Some(from);
            }
        }
    }
    Ok(notes)
}

/// An error in the notes of a file of events.
pub(super) enum NoteError {
    /// The note on this line has a time, and is no event.
    Timed(usize),
    /// An interval does not begin or end.
    Read(ReadError),
}

#[cold]
fn at_line(line: usize, message: String) -> ReadError {
    ReadError { line, column: 0, message, read: 0 }
}
