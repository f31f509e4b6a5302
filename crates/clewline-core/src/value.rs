//! Values: the arguments and results of recorded operations, each as one 32-bit word.
//!
//! A history of ten million operations names tens of millions of values, nearly all of them small
//! integers. A [`Value`] holds those in place; everything else (texts, lists, large integers) lives
//! once in a [`Values`] table and the word is its number. Equal contents therefore have equal
//! words, a value is hashed and compared as an integer, and nothing is allocated per operation.

use std::{fmt, hash::Hasher, num::NonZeroU32};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::shown::visible;

/// A value of a recorded history. Its contents are in the [`Values`] table that it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
// An odd word is an integer, shifted left by one. An even word is twice an index into the table.
pub struct Value(NonZeroU32);

// Indices below this one are the constants of `Value`; index 0 is never used, so that
// `Option<Value>` is a word.
const FIRST_INDEX: u32 = 5;

impl Value {
    /// No value in the source: a call without argument, or a result that was omitted.
    pub const ABSENT: Value = Value::constant(1);
    /// `null`, `nil`: empty, or no such key.
    pub const NIL: Value = Value::constant(2);
    /// `false`.
    pub const FALSE: Value = Value::constant(3);
    /// `true`.
    pub const TRUE: Value = Value::constant(4);

    const fn constant(index: u32) -> Value {
        match NonZeroU32::new(index << 1) {
            Some(word) => Value(word),
            None => panic!("index 0 is not used"),
        }
    }

    /// The integer `int` if it fits a word: between -2^30 and 2^30 - 1.
    #[must_use]
    pub fn small(int: i64) -> Option<Value> {
        let fits = (-(1 << 30)..1 << 30).contains(&int);
        fits.then(|| Value(NonZeroU32::MIN | ((int as u32) << 1)))
    }

    /// `true` or `false`.
    #[must_use]
    pub fn bool(truth: bool) -> Value {
        if truth { Value::TRUE } else { Value::FALSE }
    }

    /// A number that differs from that of every other value of the same [`Values`].
    #[must_use]
    pub fn word(self) -> u64 {
        u64::from(self.0.get())
    }

    /// The value with this number, if there is one: undoes [`word`](Self::word).
    #[must_use]
    pub fn from_word(word: u64) -> Option<Value> {
        u32::try_from(word).ok().and_then(NonZeroU32::new).map(Value)
    }

    /// The integer, if it was made by [`small`](Self::small).
    #[must_use]
    pub fn as_small(self) -> Option<i64> {
        let word = self.0.get();
        (word & 1 == 1).then(|| i64::from(word.cast_signed() >> 1))
    }

    /// Whether there is no value in the source.
    #[must_use]
    pub fn is_absent(self) -> bool {
        self == Value::ABSENT
    }

    fn index(self) -> Option<usize> {
        let word = self.0.get();
        (word & 1 == 0 && FIRST_INDEX <= word >> 1).then(|| ((word >> 1) - FIRST_INDEX) as usize)
    }

    fn from_index(index: usize) -> Value {
        let word = u32::try_from(index).ok().and_then(|it| it.checked_add(FIRST_INDEX)?.checked_mul(2));
        Value(word.and_then(NonZeroU32::new).expect("fewer than 2^31 distinct values"))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::ABSENT => f.write_str("absent"),
            Value::NIL => f.write_str("nil"),
            Value::FALSE => f.write_str("false"),
            Value::TRUE => f.write_str("true"),
            Value(word) if word.get() & 1 == 1 => write!(f, "{}", word.get().cast_signed() >> 1),
            Value(word) => write!(f, "#{}", word.get() >> 1),
        }
    }
}

/// What a [`Value`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datum<'a> {
    /// No value in the source.
    Absent,
    /// `null`, `nil`.
    Nil,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A text.
    Text(&'a str),
    /// A symbolic name: an EDN keyword, without its colon.
    Symbol(&'a str),
    /// Several values.
    List(&'a [Value]),
    /// Anything else, compared by its text: a fraction, a nested map.
    Other(&'a str),
}

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
        Value::small(int).unwrap_or_else(|| self.intern(Datum::Int(int)))
    }

    /// The value of a text.
    pub fn text(&mut self, text: &str) -> Value {
        self.intern(Datum::Text(text))
    }

    /// The value of a symbol, given without its colon.
    pub fn symbol(&mut self, name: &str) -> Value {
        self.intern(Datum::Symbol(name))
    }

    /// The value of a list of values of this table.
    pub fn list(&mut self, items: &[Value]) -> Value {
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
            Datum::Text(_) | Datum::Symbol(_) | Datum::List(_) | Datum::Other(_) => self.intern(datum),
        }
    }

    /// The value of `text`, if it is in the table.
    #[must_use]
    pub fn find_text(&self, text: &str) -> Option<Value> {
        let datum = Datum::Text(text);
        let found = self.index.find(hash(datum), |&it| self.at(it as usize) == datum)?;
        Some(Value::from_index(*found as usize))
    }

    /// Every text in the table.
    pub fn texts(&self) -> impl Iterator<Item = (Value, &str)> {
        (0..self.entries.len()).filter_map(|index| match self.at(index) {
            Datum::Text(text) => Some((Value::from_index(index), text)),
            _ => None,
        })
    }

    /// Whether `value` is one of this table.
    #[must_use]
    pub fn has(&self, value: Value) -> bool {
        value.index().is_none_or(|it| it < self.entries.len())
    }

    /// What `value` holds.
    #[must_use]
    pub fn get(&self, value: Value) -> Datum<'_> {
        match value {
            Value::ABSENT => Datum::Absent,
            Value::NIL => Datum::Nil,
            Value::FALSE => Datum::Bool(false),
            Value::TRUE => Datum::Bool(true),
            Value(word) => match value.index() {
                Some(index) => self.at(index),
                None => Datum::Int(i64::from(word.get().cast_signed() >> 1)),
            },
        }
    }

    /// `value` as it is written in a report: `3`, `"x"`, `[1, 2]`.
    #[must_use]
    pub fn show(&self, value: Value) -> impl fmt::Display {
        ShownValue { values: self, value }
    }

    /// Copies every value of `other` into this table. Returns a function that maps a value of
    /// `other` to the equal value here.
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

fn hash(datum: Datum<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    match datum {
        Datum::Int(int) => hasher.write_i64(int),
        Datum::Text(it) | Datum::Symbol(it) | Datum::Other(it) => hasher.write(it.as_bytes()),
        Datum::List(items) => items.iter().for_each(|it| hasher.write_u32(it.0.get())),
        Datum::Absent | Datum::Nil | Datum::Bool(_) => (),
    }
    hasher.finish()
}

struct ShownValue<'a> {
    values: &'a Values,
    value: Value,
}

impl fmt::Display for ShownValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.values.get(self.value) {
            Datum::Absent => Ok(()),
            Datum::Nil => f.write_str("null"),
            Datum::Bool(truth) => write!(f, "{truth}"),
            Datum::Int(int) => write!(f, "{int}"),
            Datum::Text(text) => write!(f, "{text:?}"),
            Datum::Symbol(name) => write!(f, ":{}", visible(name)),
            Datum::Other(written) => f.write_str(&visible(written)),
            Datum::List(items) => {
                f.write_str("[")?;
                for (place, &item) in items.iter().enumerate() {
                    let comma = if place == 0 { "" } else { ", " };
                    write!(f, "{comma}{}", ShownValue { values: self.values, value: item })?;
                }
                f.write_str("]")
            }
        }
    }
}

#[cfg(test)]
mod tests;
