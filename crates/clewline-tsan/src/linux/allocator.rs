//! The runtime's own memory, separate from that of the code under test.
//!
//! The library exports a `malloc`, which allocates the blocks of the code under test. The runtime's
//! own memory always comes from the C library itself.

use std::alloc::{GlobalAlloc, Layout};

unsafe extern "C" {
    pub(super) fn __libc_malloc(size: usize) -> *mut u8;
    pub(super) fn __libc_calloc(n: usize, size: usize) -> *mut u8;
    pub(super) fn __libc_realloc(block: *mut u8, size: usize) -> *mut u8;
    pub(super) fn __libc_memalign(align: usize, size: usize) -> *mut u8;
    pub(super) fn __libc_free(block: *mut u8);
}

struct RuntimeAllocator;

// The C library's alignment of every block.
const MALLOC_ALIGN_BYTES: usize = 16;

// SAFETY: these are the functions that implement `malloc` in the C library, and they guarantee what
// an allocator must.
unsafe impl GlobalAlloc for RuntimeAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: every size and every power of two are valid.
        unsafe {
            match layout.align() <= MALLOC_ALIGN_BYTES {
                true => __libc_malloc(layout.size()),
                false => __libc_memalign(layout.align(), layout.size()),
            }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, _layout: Layout) {
        // SAFETY: the caller got the block from `alloc` or `realloc`.
        unsafe { __libc_free(block) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= MALLOC_ALIGN_BYTES {
            // SAFETY: the caller got the block from `alloc` or `realloc`.
            return unsafe { __libc_realloc(block, size) };
        }
        // SAFETY: both blocks are at least as large as what is copied, and they are distinct.
        unsafe {
            let new = __libc_memalign(layout.align(), size);
            if !new.is_null() {
                std::ptr::copy_nonoverlapping(block, new, layout.size().min(size));
                __libc_free(block);
            }
            new
        }
    }
}

#[global_allocator]
static ALLOCATOR: RuntimeAllocator = RuntimeAllocator;
