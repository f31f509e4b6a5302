//! Which races are reported.
//!
//! A race is claimed only if it is certain. Code that is not instrumented may synchronize without
//! being seen, so its parts are treated as follows:
//!
//! - Calls into other libraries, the futex calls of code that is not instrumented, and the
//!   functions of Rust's standard library that park a thread: what all tasks did before happens
//!   before what follows (`note_unseen_acquire`).
//! - A futex call of Rust's standard library, in which a thread waits for a condition: it gives up
//!   a lock that others take in code that is seen (`note_unseen_release`).
//! - An atomic that holds another value than the code has stored: it was written unseen, and may
//!   have released everything. So does, in a program in Rust, an atomic whose first access is seen
//!   late.
//! - A function of the program that is not instrumented has run, or a library is not: nothing is
//!   claimed.
//! - Memory that code in libraries frees, and memory that functions of libraries write, is no
//!   access that is claimed.

use std::ops::Range;

use clewline_explore::TaskId;
use clewline_remote::{Trust, code_of};
use clewline_threads::{
    control::{CellAccess, DataRace, RacingAccess},
    instrument::Control,
};
use rustc_hash::FxHashMap;

use super::{
    ignored, log,
    word::{Kind, PastAccess},
};
use crate::linux::{
    current_task::{self, RuntimeCell, RuntimeOwned, place},
    places, rust_std,
};

static IS_ON: RuntimeCell<bool> = RuntimeCell::new(false);
static HAS_UNSEEN_CODE: RuntimeCell<bool> = RuntimeCell::new(false);
static MAY_SYNCHRONIZE: RuntimeCell<bool> = RuntimeCell::new(false);
static TRUST: RuntimeOwned<Trust> = RuntimeOwned::new(Trust(Vec::new()));
static LIBRARY_DATA: RuntimeOwned<Vec<Range<usize>>> = RuntimeOwned::new(Vec::new());

/// Sets whether races are reported.
pub(in crate::linux) fn set_detection(is_on: bool) {
    IS_ON.set(is_on);
    HAS_UNSEEN_CODE.set(rust_std::is_linked());
}

/// Code that is not seen may have ordered accesses: no further race is certain.
pub(in crate::linux) fn note_unseen_code() {
    MAY_SYNCHRONIZE.set(true);
}

/// Sets the code that the user vouches for.
pub(in crate::linux) fn set_trust(trust: Trust) {
    *TRUST.get() = trust;
}

/// Sets the memory of objects of libraries, such as `std::cout`.
pub(in crate::linux) fn set_library_data(ranges: Vec<Range<usize>>) {
    *LIBRARY_DATA.get() = ranges;
}

/// Whether races are reported.
#[inline(always)]
pub(super) fn is_on() -> bool {
    IS_ON.get()
}

/// Whether code that is not seen may access atomics of the program: then a load that finds what is
/// not known to be stored may read a store of that code.
#[inline(always)]
pub(in crate::linux) fn has_unseen_code() -> bool {
    HAS_UNSEEN_CODE.get()
}

/// What is known of races.
#[derive(Debug)]
struct Claims {
    /// Whether code is trusted, by address.
    is_trusted: Option<FxHashMap<usize, bool>>,
    /// Races that were claimed: they are again in a replay, in which it is known from the start
    /// which code has run.
    claimed: Vec<[usize; 2]>,
}

static CLAIMS: RuntimeOwned<Claims> = RuntimeOwned::new(Claims { is_trusted: None, claimed: Vec::new() });

/// The access `second` of the running task to `word` races with `first`. Returns whether a race of
/// this execution is reported.
#[cold]
pub(super) fn claim(control: Control, word: usize, first: &PastAccess, second: &PastAccess) -> bool {
    if control.has_race() {
        return true;
    }
    let codes = [first, second].map(|it| code_of(it.pc));
    if ignored::is_benign(word, first.bytes & second.bytes)
        || LIBRARY_DATA.get().iter().any(|it| it.contains(&word))
        || codes.into_iter().any(is_trusted)
    {
        return false;
    }
    let claims = CLAIMS.get();
    if !claims.claimed.contains(&codes) {
        if MAY_SYNCHRONIZE.get() {
            return false;
        }
        claims.claimed.push(codes);
    }
    let now = current_task::as_runtime(|| places::own_caller(code_of(second.pc)));
    let before = log::site_of(first).unwrap_or(code_of(first.pc));
    let racing = |it: &PastAccess, site| RacingAccess {
        task: TaskId(it.task),
        place: place(site),
        access: access(it.kind),
        size: Some(it.bytes.count_ones()),
    };
    let remedies = log::remedies(first, second);
    control.report_race(DataRace { first: racing(first, before), second: racing(second, now), remedies });
    true
}

fn is_trusted(code: usize) -> bool {
    let trust = TRUST.get();
    if trust.0.is_empty() {
        return false;
    }
    let covers = || {
        let site = current_task::as_runtime(|| places::resolve(code));
        site.is_some_and(|it| {
            trust.covers_file(&it.file) || it.function.is_some_and(|it| trust.covers_function(&it))
        })
    };
    *CLAIMS.get().is_trusted.get_or_insert_default().entry(code).or_insert_with(covers)
}

fn access(kind: Kind) -> CellAccess {
    let is_write = kind.has(Kind::WRITE);
    match is_write {
        _ if kind.has(Kind::FREE) => CellAccess::Free,
        true if kind.has(Kind::ATOMIC) => CellAccess::AtomicWrite,
        false if kind.has(Kind::ATOMIC) => CellAccess::AtomicRead,
        true if kind.has(Kind::VOLATILE) => CellAccess::VolatileWrite,
        false if kind.has(Kind::VOLATILE) => CellAccess::VolatileRead,
        true => CellAccess::Write,
        false => CellAccess::Read,
    }
}
