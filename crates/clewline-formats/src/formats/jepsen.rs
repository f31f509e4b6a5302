//! Jepsen's histories in EDN, as Jepsen (`history.edn`) and knossos write them.
//!
//! ```clojure
//! {:process 0, :type :invoke, :f :write, :value 3}
//! {:process 0, :type :ok, :f :write, :value 3}
//! ```
//!
//! `:fail` says that the operation had no effect: it is removed from the history. `:info` says that
//! its outcome is unknown: it stays pending, and its process may continue. The meaning of `:value`
//! depends on the method:
//!
//! | methods | argument | result |
//! |---|---|---|
//! | `read`, `get`, `peek`, `poll`, `pop`, `take`, `deq`, `dequeue`, `pop-front`, `pop-back` | none if nil, or if the completion repeats it | that of the completion |
//! | `cas` | that of the call | true, or false if the completion says so |
//! | `acquire`, `dec`, `inc`, `lock`, `release`, `unlock` | none if nil | as the others |
//! | all others | that of the call, also if nil | none if the completion repeats the argument, else that of the completion |
//!
//! In a keyed history, as `jepsen.independent` makes them, each value is a pair `[key value]`, and
//! each key is an object of its own. EDN does not distinguish such a pair from any other. A history
//! is taken for a keyed one if a reading method is invoked with a pair of a key and nil before any
//! value is no pair (`keys.rs`); for any other, the user has to say so.
//!
//! A `drain` that returned a list is read as one `dequeue` for each element, all of them between
//! its invocation and its completion (`drain.rs`).

mod drain;
mod keys;
mod meaning;
mod reader;
mod write;

use std::io::{Read, Write};

use clewline_core::Recording;

pub(super) use self::reader::{HistoryReader, TIMED_OUT};
use crate::{
    Carries, Format, Objects, ReadError, ReadOptions, WriteError,
    formats::porcupine_kv,
    jepsen_events::{ClientEvents, is_map_of_keywords, is_vector_event},
};

/// The entry in the table of formats.
pub const ENTRY: &dyn Format = &Jepsen;

struct Jepsen;

impl Format for Jepsen {
    fn name(&self) -> &'static str {
        "jepsen"
    }

    fn about(&self) -> &'static str {
        "Jepsen and knossos histories in EDN"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["edn"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: true, pending: true, objects: Objects::Keys, ids: false, times: true }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        (is_map_of_keywords(head) || is_vector_event(head)) && !porcupine_kv::ENTRY.recognises(head)
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut events = ClientEvents::new(input, options);
        let mut reader = HistoryReader::new(options.keyed);
        let fill = |events: &mut ClientEvents<'_>, reader: &mut HistoryReader| {
            while let Some(event) = events.next()? {
                reader.push(event, events.values())?;
            }
            reader.flush(events.values())
        };
        fill(&mut events, &mut reader).map_err(|error| ReadError { read: reader.len(), ..error })?;
        let (values, names) = events.into_names();
        reader.finish(values, names)
    }

    fn write(&self, recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
        write::write(recording, out)
    }
}
