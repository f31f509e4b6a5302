//! The heap of the code under test: the same blocks at the same addresses in every execution.
//!
//! Blocks are taken one after the other from one mapping at a fixed address. Freed blocks are not
//! reused in the same execution, unless requested: then whether a block is reused, and which, is a
//! choice of the schedule, since a bug may need it. A shadow byte for each 16 bytes holds their
//! state, so that a use after free is detected where it occurs.

use std::{ptr, slice};

use clewline_threads::instrument::Control;

use super::current_task::{self, RuntimeOwned};

const HEAP_BASE: usize = 0x6a00_0000_0000;
const HEAP_BYTES: usize = 1 << 30;
// The number of bytes per shadow byte.
const GRAIN_BYTES: usize = 16;
// Fills fresh memory, so that nothing works by chance.
const FRESH_BYTE: u8 = 0xa5;

/// The state of a grain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum GrainState {
    // The initial state of the shadow, which is never written explicitly.
    #[allow(dead_code, reason = "it is read")]
    Unused = 0,
    Live = 1,
    Freed = 2,
    Header = 3,
}

/// Precedes each block.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Header {
    size: u32,
    number: u32,
    /// The code that allocated it.
    site: usize,
}

#[derive(Debug)]
struct Heap {
    /// The offset of the next block from `HEAP_BASE`.
    top: usize,
    shadow: *mut u8,
    blocks: u32,
    /// Freed blocks, the oldest first, if they are reused.
    freed: Vec<usize>,
    reuses: bool,
    /// The state when the exploration began.
    mark: usize,
    mark_blocks: u32,
    image: Vec<u8>,
    shadow_image: Vec<u8>,
}

static HEAP: RuntimeOwned<Heap> = RuntimeOwned::new(Heap {
    top: 0,
    shadow: ptr::null_mut(),
    blocks: 0,
    freed: Vec::new(),
    reuses: false,
    mark: 0,
    mark_blocks: 0,
    image: Vec::new(),
    shadow_image: Vec::new(),
});

/// Maps the heap. Returns whether that succeeded.
pub(super) fn map() -> bool {
    let map = |address: usize, size: usize, more: i32| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | more;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: existing mappings are not replaced.
        let found = unsafe { libc::mmap(address as *mut _, size, access, flags, -1, 0) };
        (found != libc::MAP_FAILED).then_some(found)
    };
    let shadow = map(0, HEAP_BYTES / GRAIN_BYTES, 0);
    let base = map(HEAP_BASE, HEAP_BYTES, libc::MAP_FIXED_NOREPLACE).filter(|it| *it as usize == HEAP_BASE);
    let (Some(shadow), Some(_)) = (shadow, base) else { return false };
    HEAP.get().shadow = shadow.cast();
    true
}

/// Whether the heap is mapped.
pub(super) fn is_mapped() -> bool {
    !HEAP.get().shadow.is_null()
}

/// Whether freed blocks may be reused.
pub(super) fn reuses() -> bool {
    HEAP.get().reuses
}

/// Sets whether freed blocks may be reused, as the schedule chooses.
pub(super) fn set_reuse(reuses: bool) {
    HEAP.get().reuses = reuses;
}

/// The addresses of all blocks so far.
pub(super) fn used() -> std::ops::Range<usize> {
    HEAP_BASE..HEAP_BASE + HEAP.get().top
}

/// Whether an address is in it.
#[inline(always)]
pub(super) fn contains(address: usize) -> bool {
    address.wrapping_sub(HEAP_BASE) < HEAP_BYTES
}

/// The state of the grain that contains an address of the heap.
#[inline(always)]
pub(super) fn grain(address: usize) -> GrainState {
    // SAFETY: the shadow has a byte for each grain, and each is one of the four values.
    unsafe { std::mem::transmute(*HEAP.get().shadow.add((address - HEAP_BASE) / GRAIN_BYTES)) }
}

/// Whether all of these bytes, which begin in the heap, are in live blocks.
pub(super) fn is_live(address: usize, size: usize) -> bool {
    let (first, last) = ((address - HEAP_BASE) / GRAIN_BYTES, (address + size - 1 - HEAP_BASE) / GRAIN_BYTES);
    if HEAP_BYTES / GRAIN_BYTES <= last {
        return false;
    }
    // SAFETY: the shadow has a byte for each grain.
    let grains = unsafe { slice::from_raw_parts(HEAP.get().shadow.add(first), last - first + 1) };
    grains.iter().all(|it| *it == GrainState::Live as u8)
}

impl Heap {
    fn set(&mut self, address: usize, size: usize, grain: GrainState) {
        // SAFETY: the block is inside the heap, so its grains are inside the shadow.
        unsafe {
            ptr::write_bytes(
                self.shadow.add((address - HEAP_BASE) / GRAIN_BYTES),
                grain as u8,
                size / GRAIN_BYTES,
            )
        };
    }

    fn header(&self, block: usize) -> *mut Header {
        (block - GRAIN_BYTES) as *mut Header
    }

    fn size_of(&self, block: usize) -> usize {
        // SAFETY: a header precedes each block.
        unsafe { (*self.header(block)).size as usize }
    }

    fn add(&mut self, size: usize, align: usize, site: usize) -> usize {
        let block = (HEAP_BASE + self.top + GRAIN_BYTES).next_multiple_of(align);
        if size > HEAP_BYTES || HEAP_BASE + HEAP_BYTES < block + size {
            return 0;
        }
        self.top = block + size - HEAP_BASE;
        // SAFETY: the grain before the block is free.
        unsafe { *self.header(block) = Header { size: size as u32, number: self.blocks, site } };
        self.blocks += 1;
        self.set(block - GRAIN_BYTES, GRAIN_BYTES, GrainState::Header);
        self.set(block, size, GrainState::Live);
        block
    }
}

/// Allocates a block for the code at `site`; 0 if there is no room.
pub(super) fn allocate(size: usize, align: usize, site: usize) -> usize {
    let size = size.max(1).next_multiple_of(GRAIN_BYTES);
    let heap = HEAP.get();
    if heap.reuses
        && align <= GRAIN_BYTES
        && let Some(control) = current_task::control()
        && let Some(block) = reuse(control, size)
    {
        let heap = HEAP.get();
        // SAFETY: a header precedes each block.
        unsafe { (*heap.header(block)).site = site };
        heap.set(block, size, GrainState::Live);
        return block;
    }
    heap.add(size, align.max(GRAIN_BYTES), site)
}

/// A freed block of that size, if the schedule chooses one.
fn reuse(control: Control, size: usize) -> Option<usize> {
    let heap = HEAP.get();
    let fitting: Vec<usize> =
        (0..heap.freed.len()).filter(|&at| heap.size_of(heap.freed[at]) == size).collect();
    if fitting.is_empty() {
        return None;
    }
    control.note_unseen_effect();
    let chosen = control.choose(fitting.len() as u32 + 1) as usize;
    let at = *fitting.get(chosen.checked_sub(1)?)?;
    Some(HEAP.get().freed.remove(at))
}

/// Whether a live block begins at `address`.
pub(super) fn is_block(address: usize) -> bool {
    address.is_multiple_of(GRAIN_BYTES)
        && HEAP_BASE < address
        && grain(address) == GrainState::Live
        && grain(address - GRAIN_BYTES) == GrainState::Header
}

/// The size of the live block that begins there.
pub(super) fn size_of(block: usize) -> usize {
    HEAP.get().size_of(block)
}

/// Frees the block.
pub(super) fn free(block: usize) {
    let heap = HEAP.get();
    heap.set(block, heap.size_of(block), GrainState::Freed);
    if heap.reuses {
        heap.freed.push(block);
    }
}

/// Makes the current state the initial state of executions.
pub(super) fn mark() {
    let heap = HEAP.get();
    (heap.mark, heap.mark_blocks) = (heap.top, heap.blocks);
    // SAFETY: the whole range is mapped.
    unsafe {
        heap.image = slice::from_raw_parts(HEAP_BASE as *const u8, heap.top).to_vec();
        heap.shadow_image = slice::from_raw_parts(heap.shadow, heap.top.div_ceil(GRAIN_BYTES)).to_vec();
    }
}

/// Restores the initial state.
pub(super) fn reset() {
    let heap = HEAP.get();
    let (mark, top) = (heap.mark, heap.top);
    // SAFETY: the whole range is mapped, and the images are as large as the memory they were copied
    // from.
    unsafe {
        ptr::write_bytes(heap.shadow.add(mark / GRAIN_BYTES), 0, (top - mark) / GRAIN_BYTES);
        ptr::write_bytes((HEAP_BASE + mark) as *mut u8, FRESH_BYTE, top - mark);
        ptr::copy_nonoverlapping(heap.image.as_ptr(), HEAP_BASE as *mut u8, mark);
        ptr::copy_nonoverlapping(heap.shadow_image.as_ptr(), heap.shadow, mark / GRAIN_BYTES);
    }
    (heap.top, heap.blocks) = (mark, heap.mark_blocks);
    heap.freed.clear();
}

/// The block that contains an address, freed or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) number: u32,
    pub(super) size: usize,
    pub(super) offset: usize,
    /// The code that allocated it.
    pub(super) site: usize,
}

/// The block that contains an address.
pub(super) fn block_of(address: usize) -> Option<Block> {
    if !contains(address) || HEAP.get().top <= address - HEAP_BASE {
        return None;
    }
    let mut at = address & !(GRAIN_BYTES - 1);
    while grain(at) != GrainState::Header {
        at = at.checked_sub(GRAIN_BYTES).filter(|it| HEAP_BASE <= *it)?;
    }
    let start = at + GRAIN_BYTES;
    // SAFETY: a header is there.
    let header = unsafe { *HEAP.get().header(start) };
    let size = header.size as usize;
    (address < start + size && start <= address).then(|| Block {
        number: header.number,
        size,
        offset: address - start,
        site: header.site,
    })
}
