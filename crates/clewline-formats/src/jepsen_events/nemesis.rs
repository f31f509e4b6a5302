//! What Jepsen's nemesis did, as notes on the history.
//!
//! The nemesis logs each of its operations twice, when it begins and when it is done, both times as
//! `:info`. Many of them come in pairs that begin and end a fault, such as `:start-partition` and
//! `:stop-partition`; the time between is one interval. Any other operation is an interval by
//! itself.

use clewline_core::{Datum, Note, Value, Values};

use crate::text::brief;

/// The operations of the nemesis so far.
#[derive(Debug, Default)]
pub(super) struct Nemesis {
    notes: Vec<Note>,
    // The operation that has begun and is not done: its `:f`, and its note, if it begins one.
    running: Option<(String, Option<usize>)>,
    // Faults that have not ended.
    faults: Vec<Fault>,
}

#[derive(Debug)]
struct Fault {
    name: String,
    value: Value,
    note: usize,
}

/// The role of an operation.
enum Role {
    // It begins the fault of that name.
    Begins(String),
    // It ends it.
    Ends(String),
    Alone,
}

// Operations of Jepsen's nemeses that end faults, and the operations that began them.
const PAIRS: &[(&str, &str)] =
    &[("kill", "start"), ("pause", "resume"), ("bump-clock", "reset-clock"), ("strobe-clock", "reset-clock")];

impl Nemesis {
    /// The nemesis logs `method` with `value`, after `events` events of clients.
    pub(super) fn log(&mut self, method: &str, value: Value, events: usize, values: &Values) {
        let at = u32::try_from(events).unwrap_or(u32::MAX);
        match self.running.take() {
            // It is done.
            Some((running, note)) if running == method => match self.role(method) {
                Role::Ends(fault) => self.end(&fault, value, at),
                Role::Alone => {
                    let note = note.expect("an operation by itself has a note");
                    self.notes[note].until = Some(at);
                }
                Role::Begins(_) => (),
            },
            _ => {
                let role = self.role(method);
                let name = match &role {
                    Role::Begins(fault) => Some(fault.as_str()),
                    Role::Alone => Some(method),
                    Role::Ends(_) => None,
                };
                let note = name.map(|name| {
                    let until = matches!(role, Role::Alone).then_some(at);
                    self.notes.push(Note { text: text(name, value, values), from: at, until });
                    self.notes.len() - 1
                });
                if let (Role::Begins(name), Some(note)) = (role, note) {
                    self.faults.push(Fault { name, value, note });
                }
                self.running = Some((method.to_owned(), note));
            }
        }
    }

    /// All of them. An operation that ends a fault and is not done has not ended it.
    pub(super) fn into_notes(self) -> Vec<Note> {
        self.notes
    }

    fn role(&self, method: &str) -> Role {
        let is_open = |fault: &str| self.faults.iter().any(|it| it.name == fault);
        if let Some(pair) = PAIRS.iter().find(|it| it.1 == method && is_open(it.0)) {
            return Role::Ends(pair.0.to_owned());
        }
        if PAIRS.iter().any(|it| it.0 == method) {
            return Role::Begins(method.to_owned());
        }
        let affix = |word: &str| {
            let rest = method.strip_prefix(word).and_then(|it| it.strip_prefix('-'));
            rest.or_else(|| method.strip_suffix(word)?.strip_suffix('-')).or((method == word).then_some(""))
        };
        match (affix("start"), affix("stop")) {
            (Some(fault), _) => Role::Begins(fault.to_owned()),
            (None, Some(fault)) if is_open(fault) => Role::Ends(fault.to_owned()),
            (None, _) => Role::Alone,
        }
    }

    /// The faults of that name and value end; if there is none, all of that name.
    fn end(&mut self, name: &str, value: Value, at: u32) {
        let Nemesis { notes, faults, .. } = self;
        let is_one = faults.iter().any(|it| it.name == name && it.value == value);
        faults.retain(|it| {
            let ends = it.name == name && (!is_one || it.value == value);
            if ends {
                notes[it.note].until = Some(at);
            }
            !ends
        });
    }
}

/// `partition: majority`; `partition`, if there is no value; a text by itself, if it needs no name.
fn text(name: &str, value: Value, values: &Values) -> String {
    let value = match values.get(value) {
        Datum::Absent | Datum::Nil => String::new(),
        Datum::Text(text) | Datum::Symbol(text) => text.to_owned(),
        Datum::Bool(_) | Datum::Int(_) | Datum::List(_) | Datum::Other(_) => brief(values, value),
    };
    match (name, value.as_str()) {
        ("", "") => "nemesis".to_owned(),
        ("" | "note", text) if !text.is_empty() => text.to_owned(),
        (name, "") => name.to_owned(),
        (name, value) => format!("{name}: {value}"),
    }
}
