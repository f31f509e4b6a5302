//! Transcripts: one event per line, `A: is-set` for a call and `A = true` for its result.

use std::io::{Read, Write};

use clewline_core::{Event, EventLog, Names, RawCall, Recording, Value, Values, read_label};
use clewline_report::{Carries, Format, Objects, ReadError, ReadOptions, WriteError};

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
        let mut text = String::new();
        let error = ReadError::in_line;
        input.read_to_string(&mut text).map_err(|it| error(1, it.to_string()))?;
        let (mut log, mut values) = (EventLog::new(), Values::new());
        let (mut processes, mut lines) = (Vec::new(), Vec::new());
        for (number, line) in (1..).zip(text.lines()).skip(1).filter(|it| !it.1.trim().is_empty()) {
            let error_here = |message: &str| error(number, format!("expected {message}, found `{line}`"));
            let (name, event) =
                line.split_once([':', '=']).ok_or_else(|| error_here("`A: is-set` or `A = true`"))?;
            let name = values.text(name.trim());
            let process = processes.iter().position(|it| *it == name).unwrap_or(processes.len());
            if process == processes.len() {
                processes.push(name);
            }
            let event = if line.contains(':') {
                let (method, arg) =
                    read_label(event.trim(), &mut values).map_err(|it| error_here(&it.to_string()))?;
                Event::call(process as u32, RawCall { method: values.text(method), arg })
            } else {
                Event::ret(
                    process as u32,
                    result(event.trim()).ok_or_else(|| error_here("true, false or ok"))?,
                )
            };
            lines.push(number as u32);
            log.push(event).map_err(|it| error(number, it.reason().to_owned()))?;
        }
        let names = Names { processes, objects: vec![Value::ABSENT], lines: Some(lines), ..Names::default() };
        Ok(Recording::new(log.finish(), values, names))
    }

    fn write(&self, _recording: &Recording, _out: &mut dyn Write) -> Result<(), WriteError> {
        Err(WriteError::CannotHold("transcripts are only read".to_owned()))
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
