//! Values: the arguments and results of recorded operations, each as one 32-bit word.
//!
//! A history of ten million operations names tens of millions of values, nearly all of them small
//! integers. A [`Value`] holds those in place; everything else (texts, lists, large integers) lives
//! once in a table and the word is its number. Equal contents therefore have equal words, a value
//! is hashed and compared as an integer, and nothing is allocated per operation.
//!
//! There are two kinds of tables. A recording that is read from a file has a [`Values`] of its own,
//! which needs no lock and is dropped with it. A value that a program makes with `From` is in the
//! one table of the process, so it needs no [`Values`]. A history has values of one kind only:
//!
//! * Typed histories hold values that programs made. [`Values::share`] makes them of the arguments
//!   in a text such as `put("x", 1)`.
//! * A [`Recording`](crate::Recording) holds values of its own table. What is written to one passes
//!   [`Values::adopt`], and so does all that is left when it is loaded.

mod convert;
#[cfg(feature = "serde")]
mod serde;
mod word;
mod written;

use std::{fmt, rc::Rc, sync::Arc};

use hashbrown::HashTable;

pub use convert::ValueError;
pub use word::{Datum, Value};
pub use written::Written;

use word::{hash, show, with_debug};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Int,
    Text,
    Symbol,
    List,
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    kind: Kind,
    len: u32,
    // Offset into `bytes`, or into `items` for a list; the integer itself for an `Int`.
    start: i64,
}

// A value of another table: a word that was never one of this table's.
const UNKNOWN: Datum<'static> = Datum::Other("a value of another table");

/// The table behind the values of a recording: every text, list and large integer once.
#[derive(Clone, Default)]
pub struct Values {
    entries: Vec<Entry>,
    bytes: String,
    items: Vec<Value>,
    // Indices of `entries`, by content. Not an `Interner`: texts and lists are parts of `bytes` and
    // `items`, which spares an allocation for each.
    index: HashTable<u32>,
}

impl Values {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Values::default()
    }

    /// The value of an integer.
    pub fn int(&mut self, int: i64) -> Value {
        Value::in_place(int).unwrap_or_else(|| self.intern(Datum::Int(int)))
    }

    /// The value of a text.
    pub fn text(&mut self, text: &str) -> Value {
        self.intern(Datum::Text(text))
    }

    /// The value of a symbol, given without its colon.
    pub fn symbol(&mut self, name: &str) -> Value {
        self.intern(Datum::Symbol(name))
    }

    /// The value of a list of values of this table, or of values that need no table.
    pub fn list(&mut self, items: &[Value]) -> Value {
        if items.iter().any(|it| it.is_shared()) {
            let items: Vec<Value> = items.iter().map(|it| self.adopt(*it)).collect();
            return self.intern(Datum::List(&items));
        }
        self.intern(Datum::List(items))
    }

    /// The value of something that is only compared, by its text.
    pub fn other(&mut self, written: &str) -> Value {
        self.intern(Datum::Other(written))
    }

    /// The value that holds `datum`; the items of a list must be values of this table.
    pub fn value(&mut self, datum: Datum<'_>) -> Value {
        match datum {
            Datum::Absent => Value::ABSENT,
            Datum::Nil => Value::NIL,
            Datum::Bool(truth) => Value::bool(truth),
            Datum::Int(int) => self.int(int),
            Datum::List(items) => self.list(items),
            Datum::Text(_) | Datum::Symbol(_) | Datum::Other(_) => self.intern(datum),
        }
    }

    /// The value of `text`, if it is in the table.
    #[must_use]
    pub fn find_text(&self, text: &str) -> Option<Value> {
        self.find_datum(Datum::Text(text))
    }

    /// The value of the symbol `name`, given without its colon, if it is in the table.
    #[must_use]
    pub fn find_symbol(&self, name: &str) -> Option<Value> {
        self.find_datum(Datum::Symbol(name))
    }

    /// The value of this table with the contents of `value`, a value that needs no table.
    #[must_use]
    pub fn find(&self, value: Value) -> Option<Value> {
        match value.datum()? {
            _ if !value.is_shared() => Some(value),
            Datum::List(items) => {
                let items: Option<Vec<Value>> = items.iter().map(|it| self.find(*it)).collect();
                self.find_datum(Datum::List(&items?))
            }
            datum => self.find_datum(datum),
        }
    }

    fn find_datum(&self, datum: Datum<'_>) -> Option<Value> {
        let found = self.index.find(hash(datum), |&it| self.at(it as usize) == datum)?;
        Some(Value::from_index(*found as usize))
    }

    /// The value of this table with the contents of `value`, which is one of this table or needs no
    /// table.
    #[inline]
    pub fn adopt(&mut self, value: Value) -> Value {
        if !value.is_shared() {
            return value;
        }
        self.value(value.datum().unwrap_or(UNKNOWN))
    }

    /// The value that needs no table, with the contents of `value`.
    #[must_use]
    pub fn share(&self, value: Value) -> Value {
        match self.get(value) {
            _ if value.index().is_none() => value,
            Datum::List(items) => items.iter().map(|it| self.share(*it)).collect::<Vec<Value>>().into(),
            datum => Value::shared(datum),
        }
    }

    /// Every text in the table.
    pub fn texts(&self) -> impl Iterator<Item = (Value, &str)> {
        (0..self.entries.len()).filter_map(|index| match self.at(index) {
            Datum::Text(text) => Some((Value::from_index(index), text)),
            _ => None,
        })
    }

    /// Whether `value` is one of this table, or needs none.
    #[must_use]
    pub fn has(&self, value: Value) -> bool {
        match value.index() {
            Some(index) => index < self.entries.len(),
            None => value.datum().is_some(),
        }
    }

    /// What `value` holds.
    #[must_use]
    pub fn get(&self, value: Value) -> Datum<'_> {
        match value.index() {
            Some(index) if index < self.entries.len() => self.at(index),
            Some(_) => UNKNOWN,
            None => value.datum().unwrap_or(UNKNOWN),
        }
    }

    /// `value` as it is written in a report: `3`, `"x"`, `[1, 2]`.
    #[must_use]
    pub fn show(&self, value: Value) -> impl fmt::Display {
        show(value, |it| self.get(it))
    }

    /// Runs `write`, in which `Debug` writes values of this table as reports do: `"x"`, not `#12`,
    /// and `null`, not `nil`. So a state is shown of which nothing is known but its `Debug`.
    pub fn shown_by_debug<T>(self: &Arc<Self>, write: impl FnOnce() -> T) -> T {
        let values = Arc::clone(self);
        with_debug(Rc::new(move |it| values.has(it).then(|| values.show(it).to_string())), write)
    }

    /// Copies every value of `other` into this table. Returns a function that maps a value of
    /// `other` to the equal value here. Values that need no table stay as they are: see
    /// [`adopt`](Self::adopt).
    pub fn absorb(&mut self, other: &Values) -> impl Fn(Value) -> Value + use<> {
        let mut renamed: Vec<Value> = Vec::with_capacity(other.entries.len());
        for index in 0..other.entries.len() {
            // The items of a list were interned before it, so they have been renamed already.
            let value = match other.at(index) {
                Datum::List(items) => {
                    let items: Vec<Value> =
                        items.iter().map(|it| it.index().map_or(*it, |at| renamed[at])).collect();
                    self.list(&items)
                }
                datum => self.value(datum),
            };
            renamed.push(value);
        }
        move |value| value.index().map_or(value, |at| renamed[at])
    }

    /// How many bytes the table holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
            + self.bytes.capacity()
            + self.items.capacity() * size_of::<Value>()
            + self.index.capacity() * (size_of::<u32>() + 1)
    }

    fn at(&self, index: usize) -> Datum<'_> {
        let Entry { kind, len, start } = self.entries[index];
        let range = || start as usize..start as usize + len as usize;
        match kind {
            Kind::Int => Datum::Int(start),
            Kind::Text => Datum::Text(&self.bytes[range()]),
            Kind::Symbol => Datum::Symbol(&self.bytes[range()]),
            Kind::List => Datum::List(&self.items[range()]),
            Kind::Other => Datum::Other(&self.bytes[range()]),
        }
    }

    fn intern(&mut self, datum: Datum<'_>) -> Value {
        let key = hash(datum);
        if let Some(&found) = self.index.find(key, |&it| self.at(it as usize) == datum) {
            return Value::from_index(found as usize);
        }
        let (kind, start, len) = match datum {
            Datum::Int(int) => (Kind::Int, int, 0),
            Datum::Text(text) => (Kind::Text, self.bytes.len() as i64, text.len()),
            Datum::Symbol(name) => (Kind::Symbol, self.bytes.len() as i64, name.len()),
            Datum::Other(written) => (Kind::Other, self.bytes.len() as i64, written.len()),
            Datum::List(items) => (Kind::List, self.items.len() as i64, items.len()),
            Datum::Absent | Datum::Nil | Datum::Bool(_) => unreachable!("constants are not interned"),
        };
        match datum {
            Datum::Text(it) | Datum::Symbol(it) | Datum::Other(it) => self.bytes.push_str(it),
            Datum::List(items) => self.items.extend_from_slice(items),
            Datum::Int(_) | Datum::Absent | Datum::Nil | Datum::Bool(_) => (),
        }
        let value = Value::from_index(self.entries.len());
        let number = self.entries.len() as u32;
        let len = u32::try_from(len).expect("a value is shorter than 4 GiB");
        self.entries.push(Entry { kind, len, start });
        let Values { index, entries, bytes, items } = self;
        // Rehashing happens only when the table grows; the contents are still available then.
        index.insert_unique(key, number, |&it| {
            let Entry { kind, len, start } = entries[it as usize];
            let range = start as usize..start as usize + len as usize;
            hash(match kind {
                Kind::Int => Datum::Int(start),
                Kind::Text => Datum::Text(&bytes[range]),
                Kind::Symbol => Datum::Symbol(&bytes[range]),
                Kind::List => Datum::List(&items[range]),
                Kind::Other => Datum::Other(&bytes[range]),
            })
        });
        value
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("len", &self.entries.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
