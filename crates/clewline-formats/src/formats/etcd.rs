//! The reports of the clients of etcd's robustness tests (`client-N/operations.json`), as
//! operations of a map.
//!
//! ```json
//! {"ClientId":9,"Input":{"Type":"range","Range":{"Start":"k","End":""}},"Call":12,
//!  "Output":{"Range":{"KVs":[{"Key":"k","Value":{"Value":"4"},"ModRevision":5}]}},"Return":15}
//! ```
//!
//! All clients of a run make one history, so their files are to be concatenated. What a map cannot
//! express is read as something weaker, so that a violation is one of etcd:
//!
//! | request | read as |
//! |---|---|
//! | a range of one key | `get`; of several keys, or of an old revision: skipped |
//! | a transaction | its operations, each on its own, at any moment within it: `put`, `erase`, `get` |
//! | a `put` on the condition that its key was not modified since a revision | `cas` from the value of that revision, if it is known |
//! | the end of a lease | an `erase` of each key with this lease, which may have happened |
//! | other requests | skipped: they change no key |
//!
//! A request that returned an error may have been executed, or not.

mod requests;

use std::io::{Read, Write};

use clewline_core::{Names, Recording, visible};

use self::requests::Requests;
use crate::{
    Carries, Format, Objects, ReadError, ReadOptions, WriteError,
    event_reader::SourceLines,
    text::{
        objects::{begins_with_object, for_each_object, member_names},
        tree::tree,
    },
};

/// The entry in the table of formats.
pub const ENTRY: &dyn Format = &Etcd;

struct Etcd;

impl Format for Etcd {
    fn name(&self) -> &'static str {
        "etcd"
    }

    fn about(&self) -> &'static str {
        "client reports of etcd's robustness tests, as a map (reading only)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: false, pending: true, objects: Objects::One, ids: false, times: true }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        let names = if begins_with_object(head) { member_names(head) } else { Vec::new() };
        names.contains(&"ClientId") && names.contains(&"Input")
    }

    fn has_clock(&self) -> bool {
        true
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut requests = Requests::new(options.times);
        let outcome = for_each_object(input, options.progress, |object| {
            let tree = tree(object)?;
            requests
                .push(object.line, &tree)
                .map_err(|message| ReadError::in_line(object.line, visible(&message).to_string()))
        });
        outcome.map_err(|error| ReadError { read: requests.len(), ..error })?;
        let read = requests.len();
        let (rows, values, mut names) = requests.finish();
        let (columns, lines, own_times) = rows.into_columns(options.circumstances.skew, &mut names.processes);
        let lines: SourceLines = lines.into_iter().collect();
        let history = columns.finish().map_err(|malformed| ReadError {
            read,
            ..lines.locate(&malformed, lines.get(malformed.index()))
        })?;
        Ok(Recording::new(history, values, Names { lines: lines.into_lines(), own_times, ..names }))
    }

    fn write(&self, _recording: &Recording, _out: &mut dyn Write) -> Result<(), WriteError> {
        Err(WriteError::CannotHold("reports of etcd's tests are only read".to_owned()))
    }
}
