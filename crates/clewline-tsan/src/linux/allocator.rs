//! The runtime's own memory, which is not that of the code under test.
//!
//! The library exports a `malloc`, which gives the code under test its blocks. What the runtime
//! needs comes from the C library itself, whatever runs.

use std::alloc::{GlobalAlloc, Layout};

unsafe extern "C" {
    pub(super) fn __libc_malloc(size: usize) -> *mut u8;
    pub(super) fn __libc_calloc(n: usize, size: usize) -> *mut u8;
    pub(super) fn __libc_realloc(block: *mut u8, size: usize) -> *mut u8;
    pub(super) fn __libc_memalign(align: usize, size: usize) -> *mut u8;
    pub(super) fn __libc_free(block: *mut u8);
}

struct RuntimeAllocator;

// What the C library aligns every block to.
const MALLOC_ALIGN_BYTES: usize = 16;

// SAFETY: these are the functions of the C library that its `malloc` is made of, and they promise
// what an allocator must.
unsafe impl GlobalAlloc for RuntimeAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size and any power of two will do.
        unsafe {
            match layout.align() <= MALLOC_ALIGN_BYTES {
                true => __libc_malloc(layout.size()),
                false => __libc_memalign(layout.align(), layout.size()),
            }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, _layout: Layout) {
        // SAFETY: the caller got it from above.
        unsafe { __libc_free(block) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= MALLOC_ALIGN_BYTES {
            // SAFETY: the caller got it from above.
            return unsafe { __libc_realloc(block, size) };
        }
        // SAFETY: both blocks are at least as large as what is copied, and they are two.
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
