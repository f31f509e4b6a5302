//! Statics of the code under test: in their initial state when an execution begins.
//!
//! This covers every writable word of a module, except those of the C library, the loader and this
//! library. The C++ standard library is restored: what it creates at first use is on the heap,
//! which is reset as well.

use std::{ops::Range, ptr, slice};

use super::{
    current_task::RuntimeOwned,
    modules::{self, Local, address_of},
};

struct SavedRange {
    range: Range<usize>,
    image: Vec<u8>,
}

static SAVED: RuntimeOwned<Vec<SavedRange>> = RuntimeOwned::new(Vec::new());
static LOCALS: RuntimeOwned<Vec<Local>> = RuntimeOwned::new(Vec::new());

/// Saves the current state. Restored modules must not be loaded afterwards.
pub(super) fn take() {
    let modules = modules::all();
    let restored = || modules.iter().filter(|it| it.is_restored());
    *LOCALS.get() = restored().filter_map(|it| it.local).collect();
    let own = LOCALS.get().iter().map(|it| {
        let start = address_of(it);
        start..start + it.size
    });
    // Including the thread-local data of this thread: the subject is constructed here.
    let ranges: Vec<Range<usize>> = restored().flat_map(|it| it.data.iter().cloned()).chain(own).collect();
    let save = |range: Range<usize>| {
        // SAFETY: the loader reports that the range is there.
        let image = unsafe { slice::from_raw_parts(range.start as *const u8, range.len()) }.to_vec();
        SavedRange { range, image }
    };
    *SAVED.get() = ranges.into_iter().map(save).collect();
}

/// Restores the saved state.
pub(super) fn restore() {
    for saved in SAVED.get().iter() {
        // SAFETY: the module is still loaded, and no other thread runs its code: tasks do not run
        // while an execution begins.
        unsafe {
            ptr::copy_nonoverlapping(saved.image.as_ptr(), saved.range.start as *mut u8, saved.image.len())
        };
    }
}

/// The thread-local data of restored modules.
pub(super) fn locals() -> &'static [Local] {
    LOCALS.get()
}
