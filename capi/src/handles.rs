//! Handles: numbers in the guise of pointers, which are never followed.
//!
//! A number is given once, so that a handle that was freed, or never was one, is found out.

use std::{
    collections::HashMap,
    ptr,
    sync::{Arc, LazyLock, PoisonError, RwLock},
};

use crate::{Failure, history::History, recorder::Recorder, report::Report};

/// What a handle stands for.
#[derive(Clone)]
pub(crate) enum Thing {
    History(Arc<History>),
    Recorder(Arc<Recorder>),
    Report(Arc<Report>),
}

impl Thing {
    fn noun(&self) -> &'static str {
        match self {
            Thing::History(_) => History::NOUN,
            Thing::Recorder(_) => Recorder::NOUN,
            Thing::Report(_) => Report::NOUN,
        }
    }
}

/// A kind of thing.
pub(crate) trait Kind: Sized {
    /// The word for it in errors.
    const NOUN: &'static str;

    /// The thing, if it is one of this kind.
    fn of(thing: &Thing) -> Option<&Arc<Self>>;

    /// The handle's contents.
    fn thing(it: Arc<Self>) -> Thing;
}

macro_rules! kind {
    ($kind:ident, $noun:literal) => {
        impl Kind for $kind {
            const NOUN: &'static str = $noun;

            fn of(thing: &Thing) -> Option<&Arc<Self>> {
                match thing {
                    Thing::$kind(it) => Some(it),
                    _ => None,
                }
            }

            fn thing(it: Arc<Self>) -> Thing {
                Thing::$kind(it)
            }
        }
    };
}

kind!(History, "history");
kind!(Recorder, "recorder");
kind!(Report, "report");

#[derive(Default)]
struct Table {
    things: HashMap<usize, Thing>,
    // The last number that was given.
    last: usize,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);

/// Makes a handle.
pub(crate) fn give<K: Kind>(thing: K) -> *mut K {
    // A panic in between leaves a table in which an entry is or is not.
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    table.last += 1;
    let number = table.last;
    table.things.insert(number, K::thing(Arc::new(thing)));
    ptr::without_provenance_mut(number)
}

/// What a handle stands for.
pub(crate) fn look_up<K: Kind>(handle: *const K) -> Result<Arc<K>, Failure> {
    if handle.is_null() {
        return Err(Failure::argument(format!("expected a {}, found a null pointer", K::NOUN)));
    }
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let found = table.things.get(&handle.addr()).ok_or_else(|| none::<K>())?;
    let other = || Failure::argument(format!("expected a {}, found a {}", K::NOUN, found.noun()));
    K::of(found).cloned().ok_or_else(other)
}

/// Ends a handle. What is in use elsewhere stays until then.
pub(crate) fn free<K: Kind>(handle: *mut K) -> Result<(), Failure> {
    if handle.is_null() {
        return Ok(());
    }
    look_up(handle)?;
    let removed = TABLE.write().unwrap_or_else(PoisonError::into_inner).things.remove(&handle.addr());
    removed.map(drop).ok_or_else(none::<K>)
}

fn none<K: Kind>() -> Failure {
    Failure::argument(format!("expected a {}, found a handle that was freed or never was one", K::NOUN))
}
