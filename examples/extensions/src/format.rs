//! Transcripts: one event per line, `A: is-set` for a call and `A = true` for its result.

use std::io::{Read, Write};

use clewline_core::{Event, EventLog, Names, RawCall, Recording, Value, Values, read_label};
use clewline_formats::{Carries, Follow, Format, Objects, ReadError, ReadOptions, Row, RowKind, WriteError};

/// The entry in the table.
pub const ENTRY: &dyn Format = &Transcript;

// The first line of such a file.
const TITLE: &str = "transcript";

struct Transcript;

impl Format for Transcript {
    fn name(&self) -> &'static str {
        "transcript"
    }

    fn about(&self) -> &'static str {
        "an event a line, `A: is-set` and `A = true`, below a line `transcript`"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["transcript"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: false, pending: true, objects: Objects::One, ids: false, times: false }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        head.starts_with(TITLE.as_bytes())
    }

    fn read(&self, input: &mut dyn Read, _options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut text = Vec::new();
        input.read_to_end(&mut text).map_err(|it| ReadError::in_line(1, it.to_string()))?;
        let (mut reader, mut rows) = (Reader::default(), Vec::new());
        reader.take(&text, &mut |it| rows.push(*it))?;
        reader.finish(&mut |it| rows.push(*it))?;
        let mut log = EventLog::new();
        for row in &rows {
            let event = match row.kind {
                RowKind::Call => Event::call(row.process, RawCall { method: row.method, arg: row.arg }),
                _ => Event::ret(row.process, row.ret),
            };
            log.push(event).map_err(|it| ReadError::in_line(row.line, it.reason().to_owned()))?;
        }
        let Reader { values, processes, .. } = reader;
        let lines = Some(rows.iter().map(|it| it.line as u32).collect());
        let names = Names { processes, objects: ONE_OBJECT.to_vec(), lines, ..Names::default() };
        Ok(Recording::new(log.finish(), values, names))
    }

    fn follow(&self) -> Option<Box<dyn Follow>> {
        Some(Box::<Reader>::default())
    }

    fn write(&self, _recording: &Recording, _out: &mut dyn Write) -> Result<(), WriteError> {
        Err(WriteError::CannotHold("transcripts are only read".to_owned()))
    }
}

const ONE_OBJECT: [Value; 1] = [Value::ABSENT];

/// Reads line by line, so that a transcript that still grows can be checked.
#[derive(Debug, Default)]
struct Reader {
    values: Values,
    processes: Vec<Value>,
    // How many lines are over, and the beginning of the next.
    lines: usize,
    rest: Vec<u8>,
}

impl Reader {
    /// The event of a line, if there is one.
    fn row(&mut self, line: &[u8]) -> Result<Option<Row>, ReadError> {
        self.lines += 1;
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if self.lines == 1 || line.is_empty() {
            return Ok(None);
        }
        let number = self.lines;
        let error = |message: &str| ReadError::in_line(number, format!("expected {message}, found `{line}`"));
        let (name, event) = line.split_once([':', '=']).ok_or_else(|| error("`A: is-set` or `A = true`"))?;
        let name = self.values.text(name.trim());
        let process = self.processes.iter().position(|it| *it == name).unwrap_or(self.processes.len());
        if process == self.processes.len() {
            self.processes.push(name);
        }
        let (kind, method, arg, ret) = if line.contains(':') {
            let (method, arg) =
                read_label(event.trim(), &mut self.values).map_err(|it| error(&it.to_string()))?;
            (RowKind::Call, self.values.text(method), arg, Value::ABSENT)
        } else {
            let ret = result(event.trim()).ok_or_else(|| error("true, false or ok"))?;
            (RowKind::Return, Value::ABSENT, Value::ABSENT, ret)
        };
        let (process, id) = (process as u32, Value::ABSENT);
        Ok(Some(Row { line: number, kind, process, object: 0, id, method, arg, ret, order: None }))
    }
}

impl Follow for Reader {
    fn take(&mut self, bytes: &[u8], each: &mut dyn FnMut(&Row)) -> Result<(), ReadError> {
        for piece in bytes.split_inclusive(|it| *it == b'\n') {
            self.rest.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.finish(each)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, each: &mut dyn FnMut(&Row)) -> Result<(), ReadError> {
        let line = std::mem::take(&mut self.rest);
        if let Some(row) = self.row(&line)? {
            each(&row);
        }
        Ok(())
    }

    fn values(&self) -> &Values {
        &self.values
    }

    fn processes(&self) -> &[Value] {
        &self.processes
    }

    fn objects(&self) -> &[Value] {
        &ONE_OBJECT
    }
}

fn result(text: &str) -> Option<Value> {
    match text {
        "ok" => Some(Value::ABSENT),
        "true" => Some(Value::TRUE),
        "false" => Some(Value::FALSE),
        _ => None,
    }
}
