//! Jepsen's histories in JSON, as elle-cli and exporters of histories write them.
//!
//! ```json
//! {"process": 0, "type": "invoke", "f": "write", "value": 3}
//! {"process": 0, "type": "ok", "f": "write", "value": 3}
//! ```
//!
//! The objects are in an array, one a line, or in any other layout. Everything else is as in
//! [`jepsen`](super::jepsen); a name may have the colon of a keyword.

use std::io::{Read, Write};

use clewline_core::Recording;

use crate::{
    Carries, Format, Objects, ReadError, ReadOptions, WriteError,
    formats::jepsen::HistoryReader,
    jepsen_events::EventTable,
    text::objects::{begins_with_object, for_each_object, member_names},
};

/// The entry in the table of formats.
pub const ENTRY: &dyn Format = &JepsenJson;

struct JepsenJson;

impl Format for JepsenJson {
    fn name(&self) -> &'static str {
        "jepsen-json"
    }

    fn about(&self) -> &'static str {
        "Jepsen histories in JSON: process, type, f and value (reading only)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: false, pending: true, objects: Objects::Keys, ids: false, times: true }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        if !begins_with_object(head) {
            return false;
        }
        let names = member_names(head);
        let has = |it: &str| names.contains(&it);
        has("type") && (has("process") || has("f")) && !has("op") && !has("event")
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut table = EventTable::new(options);
        let mut reader = HistoryReader::new(options.keyed);
        let outcome = for_each_object(input, options.progress, |object| match table.object(object)? {
            Some(event) => reader.push(event, table.values()),
            None => Ok(()),
        });
        let outcome = outcome.and_then(|()| reader.flush(table.values()));
        outcome.map_err(|error| ReadError { read: reader.len(), ..error })?;
        let (values, names) = table.into_names();
        reader.finish(values, names)
    }

    fn write(&self, _recording: &Recording, _out: &mut dyn Write) -> Result<(), WriteError> {
        Err(WriteError::CannotHold("Jepsen histories are written in EDN (`jepsen`), not in JSON".to_owned()))
    }
}
