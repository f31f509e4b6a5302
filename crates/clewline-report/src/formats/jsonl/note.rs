//! Lines that are notes on the history: `{"note": "partition", "time": 120, "until": 180}`, or
//! events, `{"event": "begin", "note": "partition"}`.
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoteKind {
    // From one time until another; `None` if it does not end.
    Timed(i64, Option<i64>),
    // In a file of events.
    Moment,
    Begin,
    End,
}

impl NoteLine {
    /// The same note, after `rows` rows more.
    pub(super) fn after(self, rows: usize) -> NoteLine {
        NoteLine { rows: self.rows + rows, ..self }
    }

    /// Whether it has a time, and is no event.
    pub(super) fn is_timed(&self) -> bool {
        matches!(self.kind, NoteKind::Timed(..))
    }

    /// Reads `text`, which is an object on line `line`, after `rows` rows.
    pub(super) fn read(text: &str, line: usize, rows: usize) -> Result<NoteLine, TextError> {
        let mut json = Json::new(text);
        let (mut note, mut time, mut until, mut event) = (None, None, None, None);
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
        Ok(NoteLine { line, rows, kind, text })
    }
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
        let NoteKind::Timed(from, until) = note.kind else { return Err(note.line) };
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
    for NoteLine { line, rows, kind, text } in lines {
        let from = u32::try_from(rows).unwrap_or(u32::MAX);
        match kind {
            NoteKind::Timed(..) => return Err(NoteError::Timed(line)),
            NoteKind::Moment => notes.push(Note { text, from, until: Some(from) }),
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
