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
//! In a keyed history each value is a pair `[key value]`, and each key is an object of its own. EDN
//! does not distinguish such a pair from any other, so the user has to.

mod meaning;
mod write;

use std::io::{Read, Write};

use clewline_core::{Datum, Names, RawCall, Recording, Value, Values};

use self::meaning::meaning;
use crate::{
    Carries, Format, Objects, ReadError, ReadOptions, WriteError,
    event_reader::{EventHistory, Numbering, OperationOutcome},
    formats::porcupine_kv,
    jepsen_events::{ClientEvent, ClientEvents, EventKind, is_map_of_keywords},
    text::brief,
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
        is_map_of_keywords(head) && !porcupine_kv::ENTRY.recognises(head)
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut maps = ClientEvents::new(input, options);
        let (mut log, mut objects) = (EventHistory::default(), Numbering::default());
        let fill = |maps: &mut ClientEvents<'_>, log: &mut EventHistory, objects: &mut Numbering| {
            while let Some(map) = maps.next()? {
                let map = if options.keyed { Keyed::split(map, maps.values())? } else { Keyed::whole(map) };
                push(log, objects, &map, maps.values())?;
            }
            Ok(())
        };
        fill(&mut maps, &mut log, &mut objects).map_err(|error| ReadError { read: log.len(), ..error })?;
        let (history, lines) = log.finish();
        let (values, names) = maps.into_names();
        let Ok(history) = history.try_map(|_, call: RawCall, ret| {
            let (arg, ret) = meaning(&values, call.method, call.arg, ret);
            Ok::<_, std::convert::Infallible>((RawCall { arg, ..call }, ret))
        });
        let names = Names { objects: objects.into_names(), lines, ..names };
        Ok(Recording::new(history, values, names))
    }

    fn write(&self, recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
        write::write(recording, out)
    }
}

/// An event with its object, which an ending may leave out.
struct Keyed {
    map: ClientEvent,
    key: Option<Value>,
}

impl Keyed {
    fn whole(map: ClientEvent) -> Keyed {
        let key = (map.kind == EventKind::Invoke).then_some(Value::ABSENT);
        Keyed { map, key }
    }

    fn split(map: ClientEvent, values: &Values) -> Result<Keyed, ReadError> {
        match (map.kind, values.get(map.value)) {
            (EventKind::Fail | EventKind::Info, _) => Ok(Keyed { map, key: None }),
            (EventKind::Invoke | EventKind::Ok, Datum::List(&[key, value])) => {
                Ok(Keyed { map: ClientEvent { value, ..map }, key: Some(key) })
            }
            (EventKind::Invoke | EventKind::Ok, _) => {
                let found = match map.value {
                    Value::ABSENT => "no `:value`".to_owned(),
                    value => brief(values, value),
                };
                let message = format!("expected a pair [key value], the history being keyed, found {found}");
                Err(ReadError { line: map.line, column: 0, message, read: 0 })
            }
        }
    }
}

fn push(
    log: &mut EventHistory,
    objects: &mut Numbering,
    keyed: &Keyed,
    values: &Values,
) -> Result<(), ReadError> {
    let ClientEvent { line, process, kind, method, value, .. } = keyed.map;
    let object = keyed.key.map(|key| objects.number(key));
    let outcome = match kind {
        EventKind::Invoke => {
            return log.call(line, process, object.unwrap_or(0), RawCall { method, arg: value });
        }
        EventKind::Ok => OperationOutcome::Return(value),
        EventKind::Fail => OperationOutcome::Fail,
        EventKind::Info => OperationOutcome::Info,
    };
    if let (Some(object), Some(open)) = (object, log.open(process))
        && object != open.object
    {
        let name = |object: u32| brief(values, objects.names()[object as usize]);
        let (expected, found, called) = (name(open.object), name(object), open.line);
        let message = format!("expected the key {expected}, as in the call on line {called}, found {found}");
        return Err(ReadError { line, column: 0, message, read: 0 });
    }
    log.end(line, process, Some(method), outcome, values)
}
