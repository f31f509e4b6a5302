//! A map, checked key by key.
//!
//! A key that was never written reads as null, or as the value that the recording specifies
//! (`missing`; a key-value store may return the empty text). Null and that value are equivalent
//! everywhere: a key that holds it is absent.
//!
//! `append` makes texts that need not occur in the recording, so a key holds a value of the
//! recording or a text of its own. It is a value of the recording whenever possible, so that equal
//! contents compare equal.
//!
//! A text that is not a prefix of any text of the recording can never become one by further
//! appends, so no result in the recording distinguishes it from another such text. All of them are
//! one state, [`Unread`], so that a search does not try every order of appends after a wrong one.

use std::{
    collections::BTreeMap,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use clewline_core::{
    CallSampler, Codec, CodecError, Datum, Deterministic, Elements, Encoded, Footprint, ObjectKind, RawCall,
    Role, Undo, Value, Values,
};

use crate::{
    copies::tree_bytes,
    entry::{SpecificationEntry, Visitor},
    operation::{RawValue, ResultKind},
    operations, parameter,
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "map",
    about: "a map, each key judged by itself: get, put, insert, remove, erase, contains, append, cas, get-or-insert",
    operations: &Call::OPERATIONS,
    parameter: None,
    is_keyed: true,
    build: |parameter| parameter::without_parameter(Map::new(), parameter),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("map", Map::new());
}

/// The specification.
#[derive(Clone, Debug)]
pub struct Map {
    values: Arc<Values>,
    missing: Value,
    // The texts of the recording in ascending order, if it may contain appends.
    texts: Option<Arc<[Value]>>,
}

impl Map {
    /// A map, initially without keys.
    #[must_use]
    pub fn new() -> Map {
        Map::default()
    }
}

impl Default for Map {
    fn default() -> Self {
        Map { values: Arc::default(), missing: Value::NIL, texts: None }
    }
}

operations! {
    /// A call on a map; its key comes first.
    enum Call, key first;
    Get(key: element "key") = "get" => Value, "returns the key's value, null if it is absent";
    Put(key, value: list "[key, value]") = "put" => Nothing, "writes the key's value";
    Insert(key, value: list "[key, value]") = "insert" => Value,
        "writes the key's value; returns the previous one, null if it was absent";
    Remove(key: element "key") = "remove" | "delete" => Value,
        "makes the key absent; returns its value, null if it was absent";
    Erase(key: element "key") = "erase" => Nothing, "makes the key absent; returns nothing";
    Contains(key: element "key") = "contains" => Truth, "returns whether the key has a value";
    Append(key, text: list "[key, text]") = "append" => Nothing,
        "appends to the key's text, which is empty if the key is absent";
    Cas(key, old_value, value: list "[key, old, new]") = "cas" => Truth,
        "replaces the value by new if it is old (null: absent); returns whether it was";
    GetOrInsert(key, value: list "[key, value]") = "get-or-insert" | "get_or_insert" => Value,
        "writes the value if the key is absent; returns what is there then";
}

/// What a key holds, and the result of a call.
#[derive(Clone)]
pub enum Content {
    /// A value.
    Is(Value),
    /// A text that does not occur in the recording but is a prefix of one that does.
    Text(Arc<str>),
    /// Any other text.
    Unread(Unread),
}

clewline_core::from_all_that_make_values!(Content, Content::Is);

impl Content {
    /// The text, unless it is in the table of a recording.
    fn text(&self) -> Option<&str> {
        match self {
            Content::Is(value) if value.is_shared() => value.as_text(),
            Content::Text(text) => Some(text),
            Content::Is(_) | Content::Unread(_) => None,
        }
    }
}

/// A text that was made by appending is equal to a value of the program with that text.
impl PartialEq for Content {
    fn eq(&self, other: &Content) -> bool {
        match (self, other) {
            (Content::Is(one), Content::Is(other)) => one == other,
            (Content::Unread(_), Content::Unread(_)) => true,
            _ => self.text().is_some_and(|it| other.text() == Some(it)),
        }
    }
}

impl Eq for Content {}

impl Hash for Content {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        match (self, self.text()) {
            (_, Some(text)) => text.hash(hasher),
            (Content::Is(value), None) => value.hash(hasher),
            (Content::Text(_) | Content::Unread(_), None) => (),
        }
    }
}

/// The format of a state in reports.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Is(value) => value.fmt(f),
            Content::Text(text) | Content::Unread(Unread(text)) => text.fmt(f),
        }
    }
}

/// A text that no operation of the recording can have read, whatever is appended to it. All such
/// texts are equal.
#[derive(Clone, Debug)]
pub struct Unread(Arc<str>);

// A key that holds the value of a missing key is not in this map.
type State = BTreeMap<Value, Content>;

impl Deterministic for Map {
    type State = State;
    type Call = Call;
    type Return = Content;

    fn initial(&self) -> State {
        State::new()
    }

    fn apply(&self, state: &mut State, call: &Call) -> Option<Content> {
        let truth = |it| Some(Content::Is(Value::bool(it)));
        match *call {
            Call::Get(key) => Some(self.read(state, key)),
            Call::Put(key, value) => {
                self.write(state, key, self.content(value));
                truth(true)
            }
            Call::Insert(key, value) => Some(self.write(state, key, self.content(value))),
            Call::Remove(key) => Some(self.write(state, key, self.content(Value::NIL))),
            Call::Erase(key) => {
                self.write(state, key, self.content(Value::NIL));
                truth(true)
            }
            Call::Contains(key) => truth(state.contains_key(&key)),
            Call::Append(key, text) => {
                let content = self.concatenation(&self.read(state, key), text)?;
                self.write(state, key, content);
                truth(true)
            }
            Call::Cas(key, old, new) => {
                let swaps = self.read(state, key) == self.content(old);
                if swaps {
                    self.write(state, key, self.content(new));
                }
                truth(swaps)
            }
            Call::GetOrInsert(key, value) => {
                if !state.contains_key(&key) {
                    self.write(state, key, self.content(value));
                }
                Some(self.read(state, key))
            }
        }
    }

    fn apply_undoable(&self, state: &mut State, call: &Call) -> (Option<Content>, Undo<State>) {
        let key = key(call);
        let before = state.get(&key).cloned();
        let ret = self.apply(state, call);
        let undo = match before {
            before if state.get(&key) == before.as_ref() => Undo::Nothing,
            Some(before) => Undo::change(move |state: &mut State| {
                state.insert(key, before);
            }),
            None => Undo::change(move |state: &mut State| {
                state.remove(&key);
            }),
        };
        (ret, undo)
    }

    fn canonical_return<'r>(&self, call: &Call, ret: &'r Content) -> &'r Content {
        static DONE: Content = Content::Is(Value::TRUE);
        let is_nothing = matches!(ret, Content::Is(Value::ABSENT | Value::NIL));
        if is_nothing && call.result_kind() == ResultKind::Nothing { &DONE } else { ret }
    }

    fn part(&self, call: &Call) -> Option<u64> {
        Some(key(call).word())
    }

    // Elements are the possible contents of a key, and absence is one of them. An operation that
    // finds a content touches it, and so does the operation that wrote it. So after linked elements
    // are left out, the remaining operations find the same contents as before. An append depends on
    // a content that may be anything, and makes another one of it; where there is one, even a
    // pending one, nothing is left out. An append blocks if the key holds a value that is not a
    // text.
    fn may_block(&self, call: &Call) -> bool {
        matches!(call, Call::Append(..))
    }

    fn is_opaque(&self, ret: &Content) -> bool {
        matches!(ret, Content::Unread(_))
    }

    fn footprint(&self, call: &Call, ret: Option<&Content>) -> Footprint {
        let word = |value| self.normal(value).word();
        let absent = word(Value::NIL);
        let found = |content: &Content| match content {
            Content::Is(value) => Elements::One(value.word()),
            Content::Text(_) | Content::Unread(_) => Elements::Any,
        };
        let elements = match (*call, ret) {
            (Call::Get(_) | Call::Contains(_), None) => return Footprint::Reads(Elements::None),
            (Call::Get(_), Some(ret)) => return Footprint::Reads(found(ret)),
            (Call::Contains(_), Some(Content::Is(Value::FALSE))) => {
                return Footprint::Reads(Elements::One(absent));
            }
            // It found an unknown value: any, or any except the expected one.
            (Call::Contains(_), Some(_)) | (Call::Cas(..), Some(Content::Is(Value::FALSE))) => {
                return Footprint::Reads(Elements::Any);
            }
            (Call::Remove(_), Some(ret)) if *ret == self.content(Value::NIL) => {
                return Footprint::Reads(found(ret));
            }
            (Call::GetOrInsert(_, value), Some(ret)) if *ret != self.content(value) => {
                return Footprint::Reads(found(ret));
            }
            (Call::Put(_, value), _) | (Call::Insert(_, value), None) => Elements::One(word(value)),
            (Call::Insert(_, value), Some(Content::Is(old))) => Elements::Two(word(*old), word(value)),
            (Call::Remove(_), None) | (Call::Erase(_), _) => Elements::One(absent),
            (Call::Remove(_), Some(Content::Is(old))) => Elements::Two(word(*old), absent),
            (Call::Cas(_, old, new), _) => Elements::Two(word(old), word(new)),
            (Call::GetOrInsert(_, value), _) => Elements::Two(absent, word(value)),
            (Call::Insert(..) | Call::Remove(_), Some(Content::Text(_) | Content::Unread(_))) => {
                Elements::Any
            }
            (Call::Append(..), _) => Elements::Every,
        };
        Footprint::Changes(if self.texts.is_some() { Elements::Every } else { elements })
    }

    // Also where texts are appended, and no role describes the operation.
    fn resets(&self, call: &Call, ret: &Content) -> bool {
        matches!(call, Call::Put(..) | Call::Erase(_)) && *ret == Content::Is(Value::TRUE)
    }

    // A key is a register, unless texts are appended to what it holds.
    fn kind(&self) -> Option<ObjectKind> {
        let initial = self.missing.word();
        self.texts.is_none().then_some(ObjectKind::Register { initial })
    }

    fn role(&self, call: &Call, ret: Option<&Content>) -> Option<Role> {
        let word = |value| self.normal(value).word();
        let absent = word(Value::NIL);
        let ret = match ret {
            None => None,
            Some(Content::Is(value)) => Some(*value),
            Some(Content::Text(_) | Content::Unread(_)) => return None,
        };
        Some(match (*call, ret) {
            (Call::Get(_) | Call::Contains(_), None) => Role::NoEffect,
            (Call::Get(_), Some(value)) => Role::Observe(value.word()),
            (Call::Put(_, value), Some(Value::TRUE) | None) | (Call::Insert(_, value), None) => {
                Role::Add(word(value))
            }
            (Call::Insert(_, value), Some(old)) => Role::Replace(old.word(), word(value)),
            (Call::Remove(_), None) | (Call::Erase(_), Some(Value::TRUE) | None) => Role::Add(absent),
            (Call::Remove(_), Some(old)) if old.word() == absent => Role::Observe(absent),
            (Call::Remove(_), Some(old)) => Role::Replace(old.word(), absent),
            (Call::Contains(_), Some(Value::TRUE)) => Role::Absent(absent),
            (Call::Contains(_), Some(Value::FALSE)) => Role::Observe(absent),
            (Call::Cas(_, old, new), Some(Value::TRUE) | None) => Role::Replace(word(old), word(new)),
            (Call::Cas(_, old, _), Some(Value::FALSE)) => Role::Absent(word(old)),
            (Call::GetOrInsert(_, value), Some(found))
                if found.word() != word(value) && found.word() != absent =>
            {
                Role::Observe(found.word())
            }
            // It may have found the value or written it; the key is never absent afterwards.
            (Call::GetOrInsert(..), _)
            | (Call::Put(..) | Call::Erase(_) | Call::Contains(_) | Call::Cas(..), Some(_))
            | (Call::Append(..), _) => return None,
        })
    }

    fn state_bytes(&self, state: &State) -> usize {
        let texts = state.values().map(|it| match it {
            Content::Is(_) => 0,
            // Two counters precede the text.
            Content::Text(text) | Content::Unread(Unread(text)) => text.len() + 2 * size_of::<usize>(),
        });
        size_of_val(state) + tree_bytes::<(Value, Content)>(state.len()) + texts.sum::<usize>()
    }
}

impl Map {
    /// Maps null to the value of a missing key.
    fn normal(&self, value: Value) -> Value {
        if value == Value::NIL { self.missing } else { value }
    }

    fn content(&self, value: Value) -> Content {
        Content::Is(self.normal(value))
    }

    fn read(&self, state: &State, key: Value) -> Content {
        state.get(&key).cloned().unwrap_or(Content::Is(self.missing))
    }

    /// Replaces the content of `key` and returns the previous one.
    fn write(&self, state: &mut State, key: Value, content: Content) -> Content {
        let missing = Content::Is(self.missing);
        let old = if content == missing { state.remove(&key) } else { state.insert(key, content) };
        old.unwrap_or(missing)
    }

    /// `content` followed by `text`; `None` if one of them is not a text.
    fn concatenation(&self, content: &Content, text: Value) -> Option<Content> {
        let start = match content {
            Content::Text(start) | Content::Unread(Unread(start)) => start,
            Content::Is(value) => match self.values.get(*value) {
                Datum::Text(start) => start,
                _ if *value == self.missing => "",
                _ => return None,
            },
        };
        let Datum::Text(end) = self.values.get(text) else { return None };
        let whole: Arc<str> = [start, end].concat().into();
        Some(match self.values.find_text(&whole) {
            Some(value) => Content::Is(value),
            None if self.is_beginning(&whole) => Content::Text(whole),
            None => Content::Unread(Unread(whole)),
        })
    }

    /// Whether a text of the recording begins with `text`.
    fn is_beginning(&self, text: &str) -> bool {
        let Some(texts) = &self.texts else { return true };
        let content = |&value: &Value| match self.values.get(value) {
            Datum::Text(text) => text,
            _ => "",
        };
        // If any does, it is the first one that is not less than `text`.
        let first = texts.partition_point(|it| content(it) < text);
        texts.get(first).is_some_and(|it| content(it).starts_with(text))
    }
}

impl Codec for Map {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, CodecError> {
        match Call::read(values, method, arg)? {
            Call::Append(_, text) if !matches!(values.get(text), Datum::Text(_)) => {
                RawValue::argument(values, method, arg).error("[key, text]")
            }
            call => Ok(call),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Content, CodecError> {
        let ret = call.result_kind().read(values, call.name(), ret)?;
        Ok(self.content(ret))
    }

    fn write_call(&self, call: &Call) -> (&'static str, Encoded) {
        call.write()
    }

    fn initial_calls(&self, values: &mut Values, initial: Value) -> Result<Vec<RawCall>, CodecError> {
        crate::operation::initial::elements(values, "put", initial)
    }

    fn write_return(&self, call: &Call, ret: &Content) -> Encoded {
        match ret {
            Content::Is(value) => call.result_kind().write(*value),
            Content::Text(text) | Content::Unread(Unread(text)) => Encoded::Text((**text).into()),
        }
    }

    fn name(&self) -> Option<String> {
        Some(ENTRY.name.to_owned())
    }

    // Appends are not drawn: the sampler draws integers.
    fn sample(&self, sampler: &mut CallSampler) -> Call {
        Call::sample(sampler)
    }

    // A text that is not read yet may be read later.
    fn is_stable_under_new_values(&self, values: &Values) -> bool {
        values.find_text("append").is_none()
    }

    fn bind(&mut self, values: &Arc<Values>, missing: Value) {
        self.values = Arc::clone(values);
        self.missing = missing;
        // Method names are texts of the recording, too.
        self.texts = values.find_text("append").map(|_| {
            let mut texts: Vec<(&str, Value)> = values.texts().map(|(value, text)| (text, value)).collect();
            texts.sort_unstable();
            texts.into_iter().map(|(_, value)| value).collect()
        });
    }
}

fn key(call: &Call) -> Value {
    match *call {
        Call::Get(key) | Call::Remove(key) | Call::Erase(key) | Call::Contains(key) => key,
        Call::Put(key, _) | Call::Insert(key, _) | Call::Append(key, _) | Call::GetOrInsert(key, _) => key,
        Call::Cas(key, ..) => key,
    }
}
