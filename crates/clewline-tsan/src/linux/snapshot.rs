//! Statics of the code under test: as they were at first when an execution begins.
//!
//! What counts is every word that a module may write, but for the C library, the loader and this
//! library. The standard library of C++ is among the restored: what it makes when it is first
//! needed is on the heap, which is emptied as well.

use std::{ops::Range, ptr, slice};

use super::{
    current_task::RuntimeOwned,
    modules::{self, Local, address_of},
};

struct Saved {
    range: Range<usize>,
    image: Vec<u8>,
}

static SAVED: RuntimeOwned<Vec<Saved>> = RuntimeOwned::new(Vec::new());
static LOCALS: RuntimeOwned<Vec<Local>> = RuntimeOwned::new(Vec::new());

/// Keeps what is there now. Nothing that is restored may be loaded afterwards.
pub(super) fn take() {
    let modules = modules::all();
    let restored = || modules.iter().filter(|it| it.is_restored());
    *LOCALS.get() = restored().filter_map(|it| it.local).collect();
    let own = LOCALS.get().iter().map(|it| {
        let start = address_of(it);
        start..start + it.size
    });
    // What belongs to this thread as well: the subject is made here.
    let ranges: Vec<Range<usize>> = restored().flat_map(|it| it.data.iter().cloned()).chain(own).collect();
    let save = |range: Range<usize>| {
        // SAFETY: the loader says that it is there.
        let image = unsafe { slice::from_raw_parts(range.start as *const u8, range.len()) }.to_vec();
        Saved { range, image }
    };
    *SAVED.get() = ranges.into_iter().map(save).collect();
}

/// Has everything as it was.
pub(super) fn restore() {
    for saved in SAVED.get().iter() {
        // SAFETY: the module is still loaded, and nobody else runs its code: tasks do not run while
        // an execution begins.
        unsafe {
            ptr::copy_nonoverlapping(saved.image.as_ptr(), saved.range.start as *mut u8, saved.image.len())
        };
    }
}

/// What restored modules keep for each thread.
pub(super) fn locals() -> &'static [Local] {
    LOCALS.get()
}
