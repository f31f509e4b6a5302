//! Whether the values of a history are pairs of a key and a value.

use clewline_core::{Datum, Value, Values};

use super::meaning::has_result;
use crate::jepsen_events::EventKind;

/// What the values of a history are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Keys {
    /// Not known yet: all values so far may be either.
    #[default]
    Unknown,
    /// Values.
    None,
    /// Pairs of a key and a value.
    InValues,
}

/// Decides by the first value that can only be one of both.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyDetector {
    keys: Keys,
}

impl KeyDetector {
    /// The history is said to be keyed.
    pub(super) fn keyed() -> KeyDetector {
        KeyDetector { keys: Keys::InValues }
    }

    /// What is known.
    pub(super) fn keys(self) -> Keys {
        self.keys
    }

    /// Takes an event into account.
    pub(super) fn see(&mut self, kind: EventKind, method: Value, value: Value, values: &Values) -> Keys {
        if self.keys == Keys::Unknown {
            self.keys = match (kind, values.get(value)) {
                // What they say is of no consequence.
                (EventKind::Fail | EventKind::Info, _) => Keys::Unknown,
                // A read of a key. A register is read without an argument.
                (EventKind::Invoke, Datum::List(&[_, Value::NIL])) if has_result(values, method) => {
                    Keys::InValues
                }
                (EventKind::Invoke | EventKind::Ok, Datum::List(&[_, _])) => Keys::Unknown,
                (EventKind::Invoke | EventKind::Ok, _) => Keys::None,
            };
        }
        self.keys
    }
}
