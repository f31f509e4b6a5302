//! One line of the native format.

use std::borrow::Cow;

use clewline_core::{Value, Values};

use super::{field::Field, key_cache::KeyCache, note::NoteLine};
use crate::{
    ReadError, Row, RowKind,
    event_reader::Numbering,
    text::{
        Sink, TextError,
        blocks::Lines,
        json::{Json, Scalar},
        objects::{Object, member_names, misspelt},
        shown_in_one_line,
    },
};

const EXAMPLE: &str = r#"{"process": 1, "op": "enq", "arg": 3, "ret": true, "call": 12, "return": 15}"#;

/// Reads lines, and keeps the tables of their names.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    sink: Sink,
    pub(super) processes: Numbering,
    pub(super) objects: Numbering,
    cache: KeyCache,
    /// The rows since this was last emptied.
    pub(super) rows: Vec<Row>,
    /// The notes since this was last emptied.
    pub(super) notes: Vec<NoteLine>,
    /// The `time` of each row, if they are kept.
    pub(super) times: Vec<Option<i64>>,
    keeps_times: bool,
    /// The initial state, and its line.
    pub(super) initial: Option<(Value, usize)>,
}

impl Scanner {
    /// One that has read nothing yet.
    pub(super) fn new(keeps_times: bool) -> Scanner {
        Scanner { keeps_times, ..Scanner::default() }
    }

    /// The values of the lines.
    pub(super) fn values(&self) -> &Values {
        &self.sink.values
    }

    /// The values of the lines.
    pub(super) fn values_mut(&mut self) -> &mut Values {
        &mut self.sink.values
    }

    /// The values, and the names of objects.
    pub(super) fn into_names(self) -> (Values, Vec<Value>) {
        (self.sink.values, self.objects.into_names())
    }

    /// Reads the lines of `block`, the first of which has the number `first`. Rows before an error
    /// remain.
    pub(super) fn block(&mut self, block: &[u8], first: usize) -> Result<(), ReadError> {
        let mut lines = Lines::new(block, first);
        loop {
            let number = lines.line;
            let Some(text) = lines.next()? else {
                return Ok(());
            };
            if let Some(row) = self.line(text, number).map_err(|fault| fault.in_line(text, number))? {
                self.rows.push(row);
            }
        }
    }

    /// Reads an object.
    pub(super) fn object(&mut self, object: Object<'_>) -> Result<(), ReadError> {
        let row = self.line(object.text, object.line).map_err(|fault| object.locate(fault))?;
        self.rows.extend(row);
        Ok(())
    }

    /// The member that comes next, of which the name is passed; `None` at the end of the object.
    #[inline]
    fn next_field(&mut self, json: &mut Json<'_>, last: Field) -> Result<Option<Field>, TextError> {
        if let Some((field, length)) = self.cache.expect(last, json.rest()) {
            json.pass(length);
            return Ok(Some(field));
        }
        let before = json.rest();
        let Some(name) = json.member(usize::from(last != Field::None))? else { return Ok(None) };
        let field = Field::find(&name);
        json.peek();
        self.cache.learn(last, &before[..before.len() - json.rest().len()], field);
        Ok(Some(field))
    }

    fn line(&mut self, text: &str, line: usize) -> Result<Option<Row>, TextError> {
        let mut json = Json::new(text);
        if !json.take(b'{') {
            return match json.peek() {
                None => Ok(None),
                Some(_) => Err(json.error("`{`")),
            };
        }
        let mut fields = Fields::default();
        let mut last = Field::None;
        while let Some(field) = self.next_field(&mut json, last)? {
            if self.keeps_times && field == Field::Time {
                fields.time = whole_number(&mut json)?;
            } else {
                fields.member(field, &mut json, &mut self.sink, &mut self.cache)?;
            }
            last = field;
        }
        let end = json.at();
        if json.peek().is_some() {
            return Err(json.error("the end of the line"));
        }
        if let Some((state, at)) = fields.initial_state() {
            if self.initial.replace((state, line)).is_some() || !self.rows.is_empty() {
                return Err(TextError {
                    at,
                    message: "expected the initial state once, and first".to_owned(),
                });
            }
            return Ok(None);
        }
        if fields.is_note() {
            self.notes.push(NoteLine::read(text, line, self.rows.len())?);
            return Ok(None);
        }
        let missing = |expected: &str, names: &[&str]| missing(text, expected, names, end - 1);
        if let Some(at) = fields.processes {
            return Err(wrong("an integer or a text", "[", at));
        }
        let process = fields.process.ok_or_else(|| missing("`process`, the caller", &["process"]))?;
        let kind = fields.kind().map_err(|wrong| match wrong {
            LineError::Missing(expected) => missing(expected, &["call", "event"]),
            LineError::Fault(fault) => fault,
        })?;
        if fields.op.is_none() && matches!(kind, RowKind::Operation(..) | RowKind::Call) {
            return Err(missing("`op`: what is called", &["op"]));
        }
        if self.keeps_times {
            self.times.push(fields.time);
        }
        Ok(Some(Row {
            line,
            kind,
            process: self.processes.number(process),
            object: match kind {
                RowKind::Operation(..) | RowKind::Call => {
                    self.objects.number(fields.object.unwrap_or(Value::ABSENT))
                }
                RowKind::Return | RowKind::Fail | RowKind::Info => 0,
            },
            id: fields.id.unwrap_or(Value::ABSENT),
            method: fields.op.unwrap_or(Value::ABSENT),
            arg: fields.arg.unwrap_or(Value::ABSENT),
            ret: fields.ret.map_or(Value::ABSENT, |(ret, _)| ret),
            order: fields.order,
        }))
    }
}

// The known members of a line; for each whose place matters, its byte.
#[derive(Default)]
struct Fields {
    process: Option<Value>,
    // A list of processes.
    processes: Option<usize>,
    op: Option<Value>,
    arg: Option<Value>,
    ret: Option<(Value, usize)>,
    call: Option<(i64, usize)>,
    returned: Option<(Option<i64>, usize)>,
    id: Option<Value>,
    object: Option<Value>,
    event: Option<RowKind>,
    time: Option<i64>,
    // Whether there is a text, and whether the event is one of a note.
    has_note: bool,
    is_note_event: bool,
    // The initial state.
    initial: Option<(Value, usize)>,
    order: Option<i64>,
}

enum LineError {
    // This is expected before the line ends.
    Missing(&'static str),
    Fault(TextError),
}

impl Fields {
    fn member(
        &mut self,
        field: Field,
        json: &mut Json<'_>,
        sink: &mut Sink,
        cache: &mut KeyCache,
    ) -> Result<(), TextError> {
        json.peek();
        let at = json.at();
        let twice = match field {
            // The line of a crash is read again.
            Field::Process if json.peek() == Some(b'[') => {
                json.skip()?;
                self.processes.replace(at).is_some()
            }
            Field::Process => self.process.replace(named(json, sink)?).is_some(),
            Field::Op => self.op.replace(operation(json, sink, cache)?).is_some(),
            Field::Arg => self.arg.replace(json.value(sink)?).is_some(),
            Field::Ret => self.ret.replace((json.value(sink)?, at)).is_some(),
            Field::Call => self.call.replace((json.integer("an integer")?, at)).is_some(),
            Field::Return => {
                let time = if json.null()? { None } else { Some(json.integer("an integer")?) };
                self.returned.replace((time, at)).is_some()
            }
            Field::Id => self.id.replace(named(json, sink)?).is_some(),
            Field::Object => self.object.replace(named(json, sink)?).is_some(),
            Field::Event => match event(json)? {
                Some(kind) => self.event.replace(kind).is_some(),
                None => std::mem::replace(&mut self.is_note_event, true),
            },
            Field::Initial => self.initial.replace((json.state(sink)?, at)).is_some(),
            // Any other value is the user's own.
            Field::Order => match whole_number(json)? {
                Some(order) => self.order.replace(order).is_some(),
                None => false,
            },
            Field::Note | Field::Time | Field::Until | Field::Unknown | Field::None => {
                self.has_note |= field == Field::Note;
                json.skip()?;
                false
            }
        };
        if twice {
            return Err(TextError { at, message: format!("`{}` is given twice", field.name()) });
        }
        Ok(())
    }

    /// The initial state, if the line gives it. An `initial` in any other line is the user's own.
    fn initial_state(&self) -> Option<(Value, usize)> {
        let is_other = self.op.is_some() || self.call.is_some() || self.event.is_some() || self.has_note;
        self.initial.filter(|_| !is_other)
    }

    /// Whether the line is a note. A `note` in any other line is the user's own.
    fn is_note(&self) -> bool {
        let is_operation = self.op.is_some() || self.call.is_some() || self.event.is_some();
        self.is_note_event || (self.has_note && !is_operation)
    }

    fn kind(&self) -> Result<RowKind, LineError> {
        let fault = |at, message: &str| Err(LineError::Fault(TextError { at, message: message.to_owned() }));
        let result = self.ret.filter(|&(ret, _)| ret != Value::NIL);
        let Some(event) = self.event else {
            let Some((called, _)) = self.call else {
                return Err(LineError::Missing("`call`, the time of the call, or `event`"));
            };
            let returned = self.returned.and_then(|(time, _)| time);
            return match (returned, result) {
                (None, Some((_, at))) => {
                    fault(at, "expected `return`, the time of the return, where there is a result (`ret`)")
                }
                _ => Ok(RowKind::Operation(called, returned)),
            };
        };
        if let Some(at) = self.call.map(|(_, at)| at).or(self.returned.map(|(_, at)| at)) {
            return fault(
                at,
                "expected an event without times: the order of the lines is the order of events",
            );
        }
        match (event, result) {
            (RowKind::Return, _) | (_, None) => Ok(event),
            (_, Some((_, at))) => fault(at, "expected a result (`ret`) only in a `return`"),
        }
    }
}

/// The error that a member is missing from the object `text`, which ends at `end`: one of `names`,
/// of which one may be misspelt.
#[cold]
fn missing(text: &str, expected: &str, names: &[&str], end: usize) -> TextError {
    let is_known = |it: &str| Field::find(it) != Field::Unknown;
    if let Some((at, found)) = misspelt(text, names, is_known) {
        return wrong(expected, found, at);
    }
    if member_names(text.as_bytes()).into_iter().any(is_known) {
        return wrong(expected, "}", end);
    }
    wrong(&format!("{expected}, as in {EXAMPLE}"), "}", end)
}

/// An integer, if one comes next; skips any other value.
fn whole_number(json: &mut Json<'_>) -> Result<Option<i64>, TextError> {
    json.peek();
    let mut ahead = json.clone();
    if let Ok(number) = ahead.integer("an integer") {
        *json = ahead;
        return Ok(Some(number));
    }
    json.skip()?;
    Ok(None)
}

/// The name of a process, an object or an operation.
fn named(json: &mut Json<'_>, sink: &mut Sink) -> Result<Value, TextError> {
    Ok(match json.scalar("an integer or a text")? {
        Scalar::Int(int) => sink.values.int(int),
        Scalar::Text(text) => sink.values.text(&text),
    })
}

/// The name of an operation; this is at its first byte.
#[inline]
fn operation(json: &mut Json<'_>, sink: &mut Sink, cache: &mut KeyCache) -> Result<Value, TextError> {
    let before = json.rest();
    if let Some((op, length)) = cache.operation(before) {
        json.pass(length);
        return Ok(op);
    }
    let at = json.at();
    match json.scalar("a text")? {
        Scalar::Text(text) => {
            let op = sink.values.text(&text);
            cache.learn_operation(&before[..json.at() - at], op);
            Ok(op)
        }
        Scalar::Int(int) => Err(wrong("a text", &int.to_string(), at)),
    }
}

/// The kind of event; `None` if it is one of a note.
fn event(json: &mut Json<'_>) -> Result<Option<RowKind>, TextError> {
    const EXPECTED: &str = "`call`, `return`, `fail`, `info`, `crash`, `note`, `begin` or `end`";
    const NAMES: [&str; 8] = ["call", "return", "fail", "info", "crash", "note", "begin", "end"];
    json.peek();
    let at = json.at();
    let found = match json.scalar(EXPECTED)? {
        Scalar::Text(text) => text,
        Scalar::Int(int) => Cow::Owned(int.to_string()),
    };
    Ok(match &*found {
        "call" => Some(RowKind::Call),
        "return" => Some(RowKind::Return),
        "fail" => Some(RowKind::Fail),
        "info" => Some(RowKind::Info),
        "crash" | "note" | "begin" | "end" => None,
        other => return Err(wrong(EXPECTED, other, at).suggesting(other, &NAMES)),
    })
}

#[cold]
fn wrong(expected: &str, found: &str, at: usize) -> TextError {
    TextError { at, message: format!("expected {expected}, found `{}`", shown_in_one_line(found)) }
}
