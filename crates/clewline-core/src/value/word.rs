//! One value: a word, and the table of the process for values that programs make.

use std::{
    cell::RefCell,
    cmp::Ordering,
    fmt,
    hash::Hasher,
    num::NonZeroU32,
    rc::Rc,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed},
    },
};

use rustc_hash::FxHasher;

use crate::shown::visible;

/// An argument or a result of an operation: an integer, a truth value, a text, a list, or nothing.
///
/// Values are made with `From`, and [`get`](Self::get) or [`as_int`](Self::as_int) undo it:
///
/// ```
/// use clewline_core::Value;
///
/// let nothing: Option<u64> = None;
/// assert_eq!(Value::from(nothing), Value::NIL);
/// assert_eq!(Value::from(Some(7_u64)), Value::from(7));
/// assert_eq!(Value::from(7).get::<u64>(), 7);
/// assert_eq!(Value::from(u64::MAX).get::<u64>(), u64::MAX);
/// assert_eq!(format!("{:?}", Value::from(vec!["x", "y"])), r#"["x", "y"]"#);
/// ```
///
/// Integers between -2^30 and 2^30 - 1 are held in place. Larger integers, texts and lists are
/// stored once for the whole process, and stay there until the process ends; unless they were read
/// from a file, in which case they are in the [`Values`](crate::Values) of its recording. A value
/// that was made before is found without a lock; only a new one takes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
// An odd word is an integer, shifted left by one. An even word is twice an index: of the table of
// the process if the highest bit is set, else of the table of a recording.
pub struct Value(NonZeroU32);

// Indices below this one are the constants of `Value`; index 0 is never used, so that
// `Option<Value>` is a word.
const FIRST_INDEX: u32 = 5;
const SHARED: u32 = 1 << 31;

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

    /// `true` or `false`.
    #[must_use]
    pub fn bool(truth: bool) -> Value {
        if truth { Value::TRUE } else { Value::FALSE }
    }

    /// The integer, if it is one. A large integer that was read from a file is in the
    /// [`Values`](crate::Values) of its recording, and `None` here.
    #[must_use]
    pub fn as_int(self) -> Option<i64> {
        match self.datum() {
            Some(Datum::Int(int)) => Some(int),
            _ => None,
        }
    }

    /// The text, if it is one. A text that was read from a file is in the
    /// [`Values`](crate::Values) of its recording, and `None` here.
    #[must_use]
    pub fn as_text(self) -> Option<&'static str> {
        match self.datum() {
            Some(Datum::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// What it holds; `None` if that is in the [`Values`](crate::Values) of a recording.
    #[must_use]
    pub fn datum(self) -> Option<Datum<'static>> {
        let word = self.0.get();
        Some(match self {
            Value::ABSENT => Datum::Absent,
            Value::NIL => Datum::Nil,
            Value::FALSE => Datum::Bool(false),
            Value::TRUE => Datum::Bool(true),
            _ if word & 1 == 1 => Datum::Int(i64::from(word.cast_signed() >> 1)),
            _ if self.is_shared() => return TABLE.get((word & !SHARED) >> 1),
            _ => return None,
        })
    }

    /// A number that differs from that of every other value of the same history.
    #[must_use]
    pub fn word(self) -> u64 {
        u64::from(self.0.get())
    }

    /// The value with this number, if there is one: undoes [`word`](Self::word).
    #[must_use]
    pub fn from_word(word: u64) -> Option<Value> {
        u32::try_from(word).ok().and_then(NonZeroU32::new).map(Value)
    }

    /// Whether there is no value in the source.
    #[must_use]
    pub fn is_absent(self) -> bool {
        self == Value::ABSENT
    }

    /// The integer `int` if it fits a word.
    pub(super) fn in_place(int: i64) -> Option<Value> {
        let fits = (-(1 << 30)..1 << 30).contains(&int);
        fits.then(|| Value(NonZeroU32::MIN | ((int as u32) << 1)))
    }

    /// The value of the table of the process that holds `datum`, which does not fit a word. The
    /// items of a list must need no table.
    pub(super) fn shared(datum: Datum<'_>) -> Value {
        let word = TABLE.number(datum) << 1 | SHARED;
        Value(NonZeroU32::new(word).expect("its highest bit is set"))
    }

    /// Whether it is in the table of the process.
    #[inline]
    #[must_use]
    pub fn is_shared(self) -> bool {
        self.0.get() & (SHARED | 1) == SHARED
    }

    /// Its index in the table of its recording, if it is there.
    #[inline]
    pub(super) fn index(self) -> Option<usize> {
        let word = self.0.get();
        (word & (SHARED | 1) == 0 && FIRST_INDEX <= word >> 1).then(|| ((word >> 1) - FIRST_INDEX) as usize)
    }

    pub(super) fn from_index(index: usize) -> Value {
        let word = u32::try_from(index).ok().and_then(|it| it.checked_add(FIRST_INDEX)?.checked_mul(2));
        let word = word.filter(|it| it & SHARED == 0).and_then(NonZeroU32::new);
        Value(word.expect("fewer than 2^30 distinct values"))
    }
}

/// Values of the table of the process compare by their contents, so that the order does not depend
/// on which of them was made first; all others compare by their words.
impl Ord for Value {
    // Inlined, since every step in a tree of values is one.
    #[inline]
    fn cmp(&self, other: &Value) -> Ordering {
        if self.is_shared() || other.is_shared() { self.cmp_shared(*other) } else { self.0.cmp(&other.0) }
    }
}

impl Value {
    /// The order of two values, one of which is in the table of the process.
    #[cold]
    #[inline(never)]
    fn cmp_shared(self, other: Value) -> Ordering {
        match (self.is_shared(), other.is_shared()) {
            (true, true) if self != other => self.datum().cmp(&other.datum()),
            (one, another) => one.cmp(&another),
        }
    }
}

impl PartialOrd for Value {
    #[inline]
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What a value is written as, if it is one of a certain table.
pub(super) type ShowInTable = Rc<dyn Fn(Value) -> Option<String>>;

thread_local! {
    // How `Debug` writes values on this thread.
    static SHOWN_BY_DEBUG: RefCell<Option<ShowInTable>> = const { RefCell::new(None) };
}

/// Runs `write`, in which `Debug` writes values as `show` does, where that knows them.
pub(super) fn with_debug<T>(show: ShowInTable, write: impl FnOnce() -> T) -> T {
    struct Restore(Option<ShowInTable>);
    impl Drop for Restore {
        fn drop(&mut self) {
            SHOWN_BY_DEBUG.set(self.0.take());
        }
    }
    let _restore = Restore(SHOWN_BY_DEBUG.replace(Some(show)));
    write()
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by_table = SHOWN_BY_DEBUG.with_borrow(Clone::clone);
        if let Some(text) = by_table.filter(|_| !self.is_absent()).and_then(|show| show(*self)) {
            return f.write_str(&text);
        }
        match self.datum() {
            Some(Datum::Absent) => f.write_str("absent"),
            Some(Datum::Nil) => f.write_str("nil"),
            Some(Datum::List(items)) => f.debug_list().entries(items).finish(),
            Some(_) => write!(f, "{}", show(*self, |it| it.datum().unwrap_or(Datum::Absent))),
            None => write!(f, "#{}", self.0.get() >> 1),
        }
    }
}

/// What a [`Value`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Anything else, compared by its text: a fraction, a nested map, an integer beyond 64 bits.
    Other(&'a str),
}

impl Datum<'_> {
    /// The same, stored for as long as the process runs.
    fn leaked(self) -> Datum<'static> {
        let leak = |text: &str| -> &'static str { Box::leak(text.into()) };
        match self {
            Datum::Absent => Datum::Absent,
            Datum::Nil => Datum::Nil,
            Datum::Bool(truth) => Datum::Bool(truth),
            Datum::Int(int) => Datum::Int(int),
            Datum::Text(text) => Datum::Text(leak(text)),
            Datum::Symbol(name) => Datum::Symbol(leak(name)),
            Datum::List(items) => Datum::List(Box::leak(items.into())),
            Datum::Other(written) => Datum::Other(leak(written)),
        }
    }
}

/// The hash of the contents of a value that is in a table.
pub(super) fn hash(datum: Datum<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    match datum {
        Datum::Int(int) => hasher.write_i64(int),
        Datum::Text(it) | Datum::Symbol(it) | Datum::Other(it) => hasher.write(it.as_bytes()),
        Datum::List(items) => items.iter().for_each(|it| hasher.write_u32(it.0.get())),
        Datum::Absent | Datum::Nil | Datum::Bool(_) => (),
    }
    hasher.finish()
}

/// `value` as it is written in a report, given what each value holds.
pub(super) fn show<'a>(value: Value, get: impl Fn(Value) -> Datum<'a> + Copy) -> impl fmt::Display {
    ShownValue { value, get }
}

struct ShownValue<G> {
    value: Value,
    get: G,
}

impl<'a, G: Fn(Value) -> Datum<'a> + Copy> fmt::Display for ShownValue<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.get)(self.value) {
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
                    write!(f, "{comma}{}", show(item, self.get))?;
                }
                f.write_str("]")
            }
        }
    }
}

// The table of the process. Entries are never moved or changed, and the index of a chunk only gains
// numbers: so a value that is there is found without a lock and without a write. Threads under test
// that convert only such values put no order between their memory accesses; adding a value locks.
static TABLE: SharedTable = SharedTable::new();

// The first chunk has room for this number of entries, each other one for twice as many as the
// chunk before it.
const FIRST_CHUNK_ENTRIES: u32 = 1 << 10;
const CHUNKS: usize = 20;
const TABLE_ENTRIES_MAX: u32 = (FIRST_CHUNK_ENTRIES << CHUNKS) - FIRST_CHUNK_ENTRIES;

struct SharedTable {
    chunks: [OnceLock<Chunk>; CHUNKS],
    // The position of the last chunk that exists; a reader may see an earlier one.
    last_chunk: AtomicUsize,
    // How many entries there are. Locked while one is added.
    entries: Mutex<u32>,
}

struct Chunk {
    entries: Box<[OnceLock<Datum<'static>>]>,
    // The numbers, plus one, of all entries up to the end of this chunk, each in the first slot at
    // or after its hash that was empty (0). At most half of the slots are used.
    index: Box<[AtomicU32]>,
}

impl Chunk {
    fn new(chunk: usize) -> Chunk {
        let entries = FIRST_CHUNK_ENTRIES << chunk;
        Chunk {
            entries: (0..entries).map(|_| OnceLock::new()).collect(),
            index: (0..4 * u64::from(entries)).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// The slots where an entry with that hash may be, in the order of the search.
    fn slots(&self, key: u64) -> impl Iterator<Item = &AtomicU32> {
        let (before, from) = self.index.split_at(key as usize & (self.index.len() - 1));
        from.iter().chain(before)
    }

    fn insert(&self, key: u64, number: u32) {
        let empty = self.slots(key).find(|it| it.load(Relaxed) == 0);
        empty.expect("at most half of the slots are used").store(number + 1, Relaxed);
    }
}

impl SharedTable {
    const fn new() -> SharedTable {
        SharedTable {
            chunks: [const { OnceLock::new() }; CHUNKS],
            last_chunk: AtomicUsize::new(0),
            entries: Mutex::new(0),
        }
    }

    /// The chunk of the entry with that number, and its place there.
    fn place(number: u32) -> (usize, usize) {
        let shifted = number + FIRST_CHUNK_ENTRIES;
        let chunk = shifted.ilog2() - FIRST_CHUNK_ENTRIES.ilog2();
        (chunk as usize, (shifted - (FIRST_CHUNK_ENTRIES << chunk)) as usize)
    }

    fn get(&self, number: u32) -> Option<Datum<'static>> {
        let (chunk, at) = SharedTable::place(number);
        self.chunks.get(chunk)?.get()?.entries[at].get().copied()
    }

    /// The number of the entry that holds `datum`, which is added if there is none.
    fn number(&self, datum: Datum<'_>) -> u32 {
        let key = hash(datum);
        self.find(key, datum).unwrap_or_else(|| {
            // Nothing panics between the changes of `add`.
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            self.find(key, datum).unwrap_or_else(|| self.add(&mut entries, key, datum.leaked()))
        })
    }

    /// The number of the entry that holds `datum`. It may be missed while another thread adds
    /// entries; with the lock held it is found.
    fn find(&self, key: u64, datum: Datum<'_>) -> Option<u32> {
        let chunk = self.chunks[self.last_chunk.load(Relaxed)].get()?;
        let numbers = chunk.slots(key).map(|it| it.load(Relaxed)).take_while(|&it| it != 0);
        // The entry is published by its own `OnceLock`, not by the slot.
        numbers.map(|it| it - 1).find(|&it| self.get(it) == Some(datum))
    }

    fn add(&self, entries: &mut u32, key: u64, datum: Datum<'static>) -> u32 {
        let number = *entries;
        assert!(number < TABLE_ENTRIES_MAX, "a process makes fewer than 2^30 distinct values");
        let (last, at) = SharedTable::place(number);
        let chunk = self.chunks[last].get_or_init(|| {
            let chunk = Chunk::new(last);
            for earlier in 0..number {
                chunk.insert(self.get(earlier).map_or(0, hash), earlier);
            }
            chunk
        });
        chunk.entries[at].set(datum).expect("each number is given once");
        chunk.insert(key, number);
        *entries += 1;
        self.last_chunk.store(last, Relaxed);
        number
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread, time::Duration};

    use super::*;

    #[test]
    fn a_value_that_exists_is_found_without_the_lock() {
        static OWN: SharedTable = SharedTable::new();
        let number = |it: u32| OWN.number(Datum::Int(i64::from(it) << 32));
        // Several chunks, the last of which has just begun.
        let count = 7 * FIRST_CHUNK_ENTRIES + 1;
        assert!((0..count).all(|it| number(it) == it));
        let adding = OWN.entries.lock().unwrap();
        let (sender, numbers) = mpsc::channel();
        thread::spawn(move || sender.send((0..count).all(|it| number(it) == it)));
        assert_eq!(numbers.recv_timeout(Duration::from_secs(60)), Ok(true));
        drop(adding);
    }
}
