//! The history of a sequence of Jepsen's events.

use clewline_core::{Datum, Names, RawCall, Recording, Value, Values};

use super::{
    drain,
    keys::{KeyDetector, Keys},
    meaning::meaning,
};
use crate::{
    ReadError,
    event_reader::{EventHistory, Numbering, OperationOutcome},
    jepsen_events::{ClientEvent, EventKind},
    text::brief,
};

/// The value of a completion of unknown outcome in a log.
pub(in crate::formats) const TIMED_OUT: &str = "timed-out";

/// A history under construction.
pub(in crate::formats) struct HistoryReader {
    log: EventHistory,
    objects: Numbering,
    keys: KeyDetector,
    // Whether a completion with the value `:timed-out` says that the outcome is unknown.
    has_timeouts: bool,
    // Events that came before it was known whether the history is keyed.
    held: Vec<ClientEvent>,
}

impl HistoryReader {
    /// Without any event.
    pub(in crate::formats) fn new(is_keyed: bool) -> HistoryReader {
        let keys = if is_keyed { KeyDetector::keyed() } else { KeyDetector::default() };
        HistoryReader {
            log: EventHistory::default(),
            objects: Numbering::default(),
            keys,
            has_timeouts: false,
            held: Vec::new(),
        }
    }

    /// Without any event, of a log.
    pub(in crate::formats) fn of_log(is_keyed: bool) -> HistoryReader {
        HistoryReader { has_timeouts: true, ..HistoryReader::new(is_keyed) }
    }

    /// How many events there are.
    pub(in crate::formats) fn len(&self) -> usize {
        self.log.len() + self.held.len()
    }

    /// Takes the event that follows.
    pub(in crate::formats) fn push(&mut self, event: ClientEvent, values: &Values) -> Result<(), ReadError> {
        let keys = self.keys.see(event.kind, event.method, event.value, values);
        if keys == Keys::Unknown {
            self.held.push(event);
            return Ok(());
        }
        self.flush(values)?;
        self.take(event, values)
    }

    /// Takes the events that were held: if it is not known whether they are keyed, they are not.
    pub(in crate::formats) fn flush(&mut self, values: &Values) -> Result<(), ReadError> {
        let held = std::mem::take(&mut self.held);
        held.into_iter().try_for_each(|it| self.take(it, values))
    }

    fn take(&mut self, mut event: ClientEvent, values: &Values) -> Result<(), ReadError> {
        let said = match (self.keys.keys(), values.get(event.value)) {
            (Keys::InValues, Datum::List(&[_, said])) => said,
            _ => event.value,
        };
        let is_timeout = self.has_timeouts && values.get(said) == Datum::Symbol(TIMED_OUT);
        if is_timeout && event.kind != EventKind::Invoke {
            event.kind = EventKind::Info;
        }
        let keyed = match self.keys.keys() {
            Keys::InValues => Keyed::split(event, values)?,
            Keys::None | Keys::Unknown => Keyed::whole(event),
        };
        self.enter(&keyed, values)
    }

    /// The recording of all events.
    pub(in crate::formats) fn finish(self, values: Values, names: Names) -> Result<Recording, ReadError> {
        let read = self.len();
        let (history, lines) = self.log.finish();
        let Ok(history) = history.try_map(|_, call: RawCall, ret| {
            let (arg, ret) = meaning(&values, call.method, call.arg, ret);
            Ok::<_, std::convert::Infallible>((RawCall { arg, ..call }, ret))
        });
        let names = Names { objects: self.objects.into_names(), lines, ..names };
        drain::expand(Recording::new(history, values, names)).map_err(|error| ReadError { read, ..error })
    }

    fn enter(&mut self, keyed: &Keyed, values: &Values) -> Result<(), ReadError> {
        let HistoryReader { log, objects, .. } = self;
        let ClientEvent { line, process, kind, method, value, is_refusal, .. } = keyed.map;
        let object = keyed.key.map(|key| objects.number(key));
        let outcome = match kind {
            EventKind::Invoke => {
                return log.call(line, process, object.unwrap_or(0), RawCall { method, arg: value });
            }
            EventKind::Ok => OperationOutcome::Return(value),
            EventKind::Fail if is_refusal => OperationOutcome::Return(Value::FALSE),
            EventKind::Fail => OperationOutcome::Fail,
            EventKind::Info => OperationOutcome::Info,
        };
        if let (Some(object), Some(open)) = (object, log.open(process))
            && object != open.object
        {
            let name = |object: u32| brief(values, objects.names()[object as usize]);
            let (expected, found, called) = (name(open.object), name(object), open.line);
            let message =
                format!("expected the key {expected}, as in the call on line {called}, found {found}");
            return Err(ReadError { line, column: 0, message, read: 0 });
        }
        log.end(line, process, Some(method), outcome, values)
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
