//! Accesses to more than one word: `memcpy` and its relatives, copies of structs, vectors.
//!
//! Each word is an access of its own (eight aligned bytes, or fewer at the ends), so that other
//! tasks may run between any two of them. The place of such an access is the place of the block and
//! the number of the word, so only words that race are points.
//!
//! Copies that the runtime makes are made word by word. Other blocks are accessed by the code
//! itself, in any number of instructions, after the runtime has returned:
//!
//! - The words of a block that is read are read at their points. If memory has other contents after
//!   the last point, it gets those that were read, until the code calls the runtime again.
//! - A block that is written is written at the next call of the runtime: it gets its earlier
//!   contents again, and then its words one by one, at their points.
//!
//! No other task runs between the two calls, so none observes these contents.

use std::ffi::c_int;

use clewline_explore::{Access, TaskId};
use clewline_remote::{Points, word_place};
use clewline_threads::instrument::Control;

use super::{check, count_idle, object, peek, point, set_detail};
use crate::linux::{
    calls_out,
    current_task::{self, RuntimeOwned},
    heap,
    races::{self, Kind},
};

/// An access to any number of bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::linux) struct Block {
    address: usize,
    size: usize,
    is_write: bool,
    /// All of its words are points.
    is_volatile: bool,
    pc: usize,
    /// The number of its first word.
    first: usize,
    /// None of its words is a point.
    is_quiet: bool,
    /// It may be smaller than this: no race is claimed.
    is_silent: bool,
}

/// The bytes of a block that are in one word.
#[derive(Clone, Copy, Debug)]
struct Word {
    number: usize,
    address: usize,
    size: usize,
    /// Its offset in the block.
    offset: usize,
}

// A larger block is in no memory: the access fails.
const BLOCK_BYTES_MAX: usize = 1 << 40;

impl Block {
    /// A block that the code at `pc` reads or writes.
    pub(in crate::linux) fn new(address: usize, size: usize, is_write: bool, pc: usize) -> Block {
        Block { address, size, is_write, is_volatile: false, pc, first: 0, is_quiet: false, is_silent: false }
    }

    /// The same, but volatile.
    pub(in crate::linux) fn volatile(self) -> Block {
        Block { is_volatile: true, ..self }
    }

    /// The same, but no race is claimed if `is_silent`.
    pub(in crate::linux) fn silent_if(self, is_silent: bool) -> Block {
        Block { is_silent, ..self }
    }

    /// The same, with words that are numbered from `start`.
    pub(in crate::linux) fn part_of(self, start: usize) -> Block {
        Block { first: object(self.address).wrapping_sub(object(start)) / 8, ..self }
    }

    fn words(self) -> impl Iterator<Item = Word> {
        let (first, last) = (object(self.address), object(self.address + self.size - 1));
        (first..=last).step_by(8).enumerate().map(move |(number, word)| {
            let (from, to) = (self.address.max(word), (self.address + self.size).min(word + 8));
            Word { number: self.first + number, address: from, size: to - from, offset: from - self.address }
        })
    }

    fn place(&self, word: Word) -> usize {
        word_place(self.pc, word.number, self.is_write)
    }

    fn kind(&self) -> Kind {
        Kind::of(self.is_write).and(Kind::VOLATILE, self.is_volatile).and(Kind::SILENT, self.is_silent)
    }

    fn is_point(&self, word: Word) -> bool {
        !self.is_quiet
            && (self.is_volatile && races::points() != Points::Atomics || races::is_point(self.place(word)))
    }

    /// Whether a word of it is a point.
    pub(in crate::linux) fn has_points(self) -> bool {
        self.points().next().is_some()
    }

    /// The words that are points.
    fn points(self) -> impl Iterator<Item = Word> {
        let may_be = !self.is_quiet && (self.is_volatile || races::may_have_points(self.pc));
        self.words().take_while(move |_| may_be).filter(move |it| self.is_point(*it))
    }

    /// Its contents replace those of `bytes`.
    pub(in crate::linux) fn load(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.reserve(self.size);
        current_task::set_last_access(self.address, self.pc);
        // SAFETY: the code under test requests the access, and the buffer has room for it. An
        // invalid access is a finding.
        unsafe {
            std::ptr::copy_nonoverlapping(self.address as *const u8, bytes.as_mut_ptr(), self.size);
            bytes.set_len(self.size);
        }
    }

    /// Stores the bytes of `word` among `bytes`, those of the block.
    fn store(&self, word: Word, bytes: &[u8]) {
        current_task::set_last_access(word.address, self.pc);
        let from = &bytes[word.offset..][..word.size];
        // SAFETY: the code under test requests the access. An invalid access is a finding.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), word.address as *mut u8, word.size) };
    }
}

/// The blocks of a task that are being accessed.
#[derive(Debug)]
pub(in crate::linux) struct Blocks {
    /// The contents of the block, as read or to be written.
    pub(in crate::linux) bytes: Vec<u8>,
    /// What functions for strings have read.
    pub(in crate::linux) texts: [Vec<u8>; 2],
    /// The block that the code is about to write, and its contents before that.
    written: Option<Block>,
    before: Vec<u8>,
    /// The block that has the contents that were read, and the contents to put back.
    read: Option<Block>,
    kept: Vec<u8>,
}

// One for each task, so that it survives points.
static BLOCKS: [RuntimeOwned<Blocks>; TaskId::MAX] = [const {
    RuntimeOwned::new(Blocks {
        bytes: Vec::new(),
        texts: [Vec::new(), Vec::new()],
        written: None,
        before: Vec::new(),
        read: None,
        kept: Vec::new(),
    })
}; TaskId::MAX];

pub(in crate::linux) fn blocks(control: Control) -> &'static mut Blocks {
    BLOCKS[control.task().index()].get()
}

/// Another execution begins.
pub(in crate::linux) fn begin() {
    for it in current_task::of_used(&BLOCKS) {
        let it = it.get();
        (it.read, it.written) = (None, None);
    }
}

/// The code is about to access a block.
pub(in crate::linux) fn access(block: Block) {
    // gcc reports first the write of a copy and then its read. The write is still to come then.
    let copying = current_task::postponed().filter(|it| !block.is_write && is_write_to_come(*it));
    if copying.is_some() {
        current_task::resume();
    }
    let Some(control) = copying.or_else(current_task::control) else { return };
    let block = note(control, block);
    let is_read = !block.is_quiet && !block.is_write;
    if is_read {
        read_block(control, block);
    }
    let own = blocks(control);
    if copying.is_some()
        && let Some(written) = own.written
    {
        // Other tasks may have written it meanwhile.
        written.load(&mut own.before);
    }
    if is_read {
        block.load(&mut own.kept);
        if own.bytes != own.kept {
            block.words().for_each(|it| block.store(it, &own.bytes));
            own.read = Some(block);
        }
    } else if !block.is_quiet {
        block.load(&mut own.before);
        own.written = Some(block);
    }
    if own.written.is_some() || own.read.is_some() {
        current_task::postpone(settle);
    }
}

/// Whether the task has reported the write of a copy, and not yet its read.
pub(super) fn is_copy_to_come() -> bool {
    current_task::postponed().is_some_and(is_write_to_come)
}

/// Whether the block that the task writes has the contents that it had before.
fn is_write_to_come(control: Control) -> bool {
    let own = blocks(control);
    let Some(written) = own.written.filter(|_| own.read.is_none()) else { return false };
    written.load(&mut own.bytes);
    own.bytes == own.before
}

/// The code has accessed the blocks that were reported to it.
fn settle(control: Control) {
    let own = blocks(control);
    if let Some(block) = own.read.take() {
        block.words().for_each(|it| block.store(it, &own.kept));
    }
    if let Some(block) = own.written.take() {
        block.load(&mut own.bytes);
        if own.bytes != own.before {
            block.points().for_each(|it| block.store(it, &own.before));
            write(control, block);
        }
    }
}

/// The task has crashed: its blocks stay as they are.
pub(in crate::linux) fn abandon() {
    if let Some(control) = current_task::postponed() {
        current_task::resume();
        let own = blocks(control);
        (own.read, own.written) = (None, None);
    }
}

/// Records an access to a block, except to words that are points. The result knows whether there
/// are any.
pub(in crate::linux) fn note(control: Control, mut block: Block) -> Block {
    current_task::count_call();
    calls_out::settle(control);
    let Block { address, size, is_write, pc, .. } = block;
    block.is_quiet = true;
    if BLOCK_BYTES_MAX < size || address.checked_add(size).is_none() {
        return block;
    }
    if current_task::is_own_stack(address) {
        if !block.words().any(|it| races::is_shared(it.address)) {
            return block;
        }
    } else if !heap::contains(address) && current_task::is_other_stack(address) {
        block.words().for_each(|it| races::note_shared_stack(control, it.address));
    }
    block.is_quiet = false;
    block.is_quiet = block.points().next().is_none();
    if block.is_quiet {
        count_idle(control, pc);
    }
    if is_write {
        current_task::count_write();
    }
    if heap::contains(address) && !heap::is_live(address, size) {
        block.words().for_each(|it| check(control, it.address, it.size, is_write, pc));
    }
    if races::records(control) {
        for word in block.words().filter(|it| !block.is_point(*it)) {
            races::plain(control, word.address, word.size, block.kind(), block.place(word));
        }
    }
    block
}

/// Reads a block into the buffer of the task.
pub(in crate::linux) fn read_block(control: Control, block: Block) {
    block.load(&mut blocks(control).bytes);
    for word in block.points() {
        arrive(control, block, word, Access::Read);
        current_task::set_last_access(word.address, block.pc);
        let to = &mut blocks(control).bytes[word.offset..][..word.size];
        // SAFETY: the code under test requests the access. An invalid access is a finding.
        unsafe { std::ptr::copy_nonoverlapping(word.address as *const u8, to.as_mut_ptr(), word.size) };
    }
}

/// Writes the words of a block that are points from the buffer of the task.
fn write(control: Control, block: Block) {
    for word in block.points() {
        arrive(control, block, word, Access::Write);
        block.store(word, &blocks(control).bytes);
    }
}

/// A point before the access to a word.
fn arrive(control: Control, block: Block, word: Word, access: Access) {
    let Word { address, size, .. } = word;
    let (pc, is_write) = (block.pc, block.is_write);
    point(control, address, size, access, pc);
    control.note_plain_point();
    if is_write {
        control.mark_changed(object(address).max(8));
    }
    let value = || if is_write { "plain".to_owned() } else { peek(address, size) };
    set_detail(control, address, value);
    check(control, address, size, is_write, pc);
    races::plain(control, address, size, block.kind(), block.place(word));
}

/// Copies memory that may overlap.
pub(in crate::linux) extern "C" fn copy(to: *mut u8, from: *const u8, size: usize, pc: usize) -> *mut u8 {
    if let Some(control) = current_task::control().filter(|_| size != 0) {
        let source = note(control, Block::new(from as usize, size, false, pc));
        let target = note(control, Block::new(to as usize, size, true, pc));
        if !source.is_quiet || !target.is_quiet {
            read_block(control, source);
            write_all(control, target);
            return to;
        }
    }
    current_task::set_last_access(to as usize, pc);
    // SAFETY: the code under test requests this access. An invalid access is a finding.
    unsafe { std::ptr::copy(from, to, size) };
    to
}

/// Sets each byte of a block to `value`.
pub(in crate::linux) extern "C" fn fill(to: *mut u8, value: c_int, size: usize, pc: usize) -> *mut u8 {
    if let Some(control) = current_task::control().filter(|_| size != 0) {
        let target = note(control, Block::new(to as usize, size, true, pc));
        if !target.is_quiet {
            let bytes = &mut blocks(control).bytes;
            bytes.clear();
            bytes.resize(size, value as u8);
            write_all(control, target);
            return to;
        }
    }
    current_task::set_last_access(to as usize, pc);
    // SAFETY: as above.
    unsafe { std::ptr::write_bytes(to, value as u8, size) };
    to
}

/// Writes a block from the buffer of the task: first the words that are not points, which no other
/// task accesses.
pub(in crate::linux) fn write_all(control: Control, block: Block) {
    let bytes = &blocks(control).bytes;
    block.words().filter(|it| !block.is_point(*it)).for_each(|it| block.store(it, bytes));
    write(control, block);
}
