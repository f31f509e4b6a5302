//! Rows of some objects only: what is not kept is dropped while a file is read.
//!
//! Rows of one object are kept or dropped together, and where operations name no object, those of
//! one key. So a history that does not fit into memory is read and judged in several passes.

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::value::{Datum, Value, Values};

/// Which rows are kept, by a hash of their object or key.
#[derive(Clone)]
pub struct RowFilter(Arc<Rows>);

struct Rows {
    keeps: Box<dyn Fn(u64) -> bool + Send + Sync>,
    kept: Mutex<Vec<u64>>,
    has_dropped: AtomicBool,
}

impl RowFilter {
    /// Keeps the rows of which `keeps` says so, given their hash.
    pub fn new(keeps: impl Fn(u64) -> bool + Send + Sync + 'static) -> RowFilter {
        RowFilter(Arc::new(Rows {
            keeps: Box::new(keeps),
            kept: Mutex::default(),
            has_dropped: AtomicBool::new(false),
        }))
    }

    /// Whether the next row is kept, an operation with this argument on this object.
    pub fn keeps(&self, values: &Values, object: Value, arg: Value) -> bool {
        let hash = hash_of(values, if object.is_absent() { arg } else { object });
        let keeps = (self.0.keeps)(hash);
        if keeps {
            self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).push(hash);
        } else {
            self.0.has_dropped.store(true, Ordering::Relaxed);
        }
        keeps
    }

    /// Whether there were rows, and none was kept.
    #[must_use]
    pub fn has_dropped_all(&self) -> bool {
        let is_none_kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        is_none_kept && self.0.has_dropped.load(Ordering::Relaxed)
    }

    /// The hashes of the rows that were kept, in their order. They are forgotten.
    #[must_use]
    pub fn take_hashes(&self) -> Vec<u64> {
        std::mem::take(&mut *self.0.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for RowFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RowFilter")
    }
}

/// The hash of a name or an argument. Of a list it is that of its first element: a key comes first,
/// before a value or alone, whatever it is.
fn hash_of(values: &Values, value: Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    match values.get(value) {
        Datum::List(items) => return items.first().map_or(0, |it| hash_of(values, *it)),
        Datum::Absent => return 0,
        Datum::Nil => 1_u8.hash(&mut hasher),
        Datum::Bool(truth) => (2, truth).hash(&mut hasher),
        Datum::Int(int) => (3, int).hash(&mut hasher),
        Datum::Text(text) => (4, text).hash(&mut hasher),
        Datum::Symbol(text) => (5, text).hash(&mut hasher),
        Datum::Other(text) => (6, text).hash(&mut hasher),
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_same_alone_and_before_a_value() {
        let mut values = Values::new();
        let (one, two) = (values.int(1), values.int(2));
        let (pair, nested) = (values.list(&[one, two]), values.list(&[one]));
        let nested = values.list(&[nested, two]);
        assert_eq!([pair, nested].map(|it| hash_of(&values, it)), [hash_of(&values, one); 2]);
        assert_ne!(hash_of(&values, one), hash_of(&values, two));
    }
}
