//! Functions of the C library that read and write blocks and strings.
//!
//! They access words, as `entry/block.rs` does: other tasks run between any two of them. What is
//! read is kept in buffers of the task, and the result is computed from these.
//!
//! A function reads no byte after the one that decides, as the C standard has it for most of them:
//! accesses that need not happen are not raced with. How far a word is read is decided before the
//! point. If the byte that decided then changes there, the rest of the word is another access.

use std::{ffi::c_int, mem};

use clewline_threads::instrument::Control;

use super::memory::malloc_at;
use crate::linux::{
    call::stubs,
    calls_out, current_task,
    entry::{Block, blocks, copy, fill, note, read_block, write_all},
};

/// The running task, in such a function.
#[derive(Clone, Copy)]
struct Caller {
    control: Control,
    pc: usize,
    /// What is read is not known exactly: no race is claimed.
    is_silent: bool,
}

/// The running task, before a function of a library that reads its inputs unseen.
#[derive(Clone, Copy)]
pub(in crate::linux) struct InputReader(Caller);

impl InputReader {
    pub(in crate::linux) fn new(control: Control, pc: usize) -> InputReader {
        InputReader(Caller { control, pc, is_silent: false })
    }

    /// The same; what follows may be more than the function reads.
    pub(in crate::linux) fn silent(self) -> InputReader {
        InputReader(Caller { is_silent: true, ..self.0 })
    }

    /// A text of which at most `max` bytes are read. Returns whether a word of it is a point, as
    /// the others do.
    pub(in crate::linux) fn text(self, start: usize, max: usize) -> bool {
        self.read(start, max, |it| it.ends_with(&[0]))
    }

    /// A text that is read up to the byte with which it `ends`, or to its zero.
    pub(in crate::linux) fn until(self, start: usize, ends: impl Fn(&[u8]) -> bool) -> bool {
        self.read(start, usize::MAX, |it| it.ends_with(&[0]) || ends(it))
    }

    pub(in crate::linux) fn wide_text(self, start: usize) -> bool {
        self.read(start, usize::MAX, |it| it.len().is_multiple_of(4) && it.ends_with(&[0; 4]))
    }

    pub(in crate::linux) fn bytes(self, start: usize, size: usize) -> bool {
        self.read(start, size, |_| false)
    }

    fn read(self, start: usize, max: usize, ends: impl Fn(&[u8]) -> bool) -> bool {
        if start == 0 || !calls_out::may_be_shared(start) {
            return false;
        }
        let size = self.0.gather(Buffer::One, start, max, ends).len();
        size != 0 && Block::new(start, size, false, self.0.pc).has_points()
    }
}

/// The two buffers of a task.
#[derive(Clone, Copy)]
enum Buffer {
    One,
    Two,
}

/// What ends a comparison, beside the first difference.
#[derive(Clone, Copy)]
struct Comparison {
    ends_at_zero: bool,
    fold: fn(u8) -> u8,
}

const BYTES: Comparison = Comparison { ends_at_zero: false, fold: |it| it };
const TEXTS: Comparison = Comparison { ends_at_zero: true, ..BYTES };
const TEXTS_IN_ANY_CASE: Comparison = Comparison { fold: |it| lower(it), ..TEXTS };

/// In the locale of the program.
fn lower(byte: u8) -> u8 {
    // SAFETY: every byte is valid.
    unsafe { libc::tolower(byte.into()) as u8 }
}

impl Caller {
    fn running(pc: usize) -> Option<Caller> {
        current_task::control().map(|control| Caller { control, pc, is_silent: false })
    }

    fn text(self, buffer: Buffer) -> &'static mut Vec<u8> {
        &mut blocks(self.control).texts[buffer as usize]
    }

    /// What memory has there now, without an access.
    fn peek(self, block: Block) -> &'static [u8] {
        let bytes = &mut blocks(self.control).bytes;
        block.load(bytes);
        bytes
    }

    /// Reads a part of one word. It is among the words of what begins at `start`.
    fn read_part(self, start: usize, at: usize, size: usize) -> &'static [u8] {
        let read = Block::new(at, size, false, self.pc).part_of(start).silent_if(self.is_silent);
        let block = note(self.control, read);
        read_block(self.control, block);
        &blocks(self.control).bytes
    }

    /// Reads bytes up to the one with which the text `ends`, at most `max`.
    fn gather(self, buffer: Buffer, start: usize, max: usize, ends: impl Fn(&[u8]) -> bool) -> &'static [u8] {
        let text = self.text(buffer);
        text.clear();
        while text.len() < max {
            let at = start.wrapping_add(text.len());
            let size = in_word(at).min(max - text.len());
            let had = text.len();
            append(text, self.peek(Block::new(at, size, false, self.pc)), &ends);
            let size = text.len() - had;
            text.truncate(had);
            if append(text, self.read_part(start, at, size), &ends) {
                break;
            }
        }
        text
    }

    /// Reads a text and the zero at its end, if that is among the first `max` bytes.
    fn gather_text(self, buffer: Buffer, start: usize, max: usize) -> &'static [u8] {
        self.gather(buffer, start, max, |it| it.ends_with(&[0]))
    }

    /// The length of a text, of which at most `max` bytes are read.
    fn length(self, buffer: Buffer, start: usize, max: usize) -> usize {
        without_zero(self.gather_text(buffer, start, max)).len()
    }

    /// The position of the byte that decides, if that is not the zero at the end of the text.
    fn find(self, start: usize, max: usize, is_found: impl Fn(u8) -> bool) -> Option<usize> {
        let decides = |it: &u8| is_found(*it) || *it == 0;
        let text = self.gather(Buffer::One, start, max, |it| it.last().is_some_and(decides));
        text.last().is_some_and(|it| is_found(*it)).then(|| text.len() - 1)
    }

    /// Compares at most `max` bytes.
    fn compare(self, one: usize, two: usize, max: usize, by: Comparison) -> c_int {
        let difference = |one: u8, two: u8| c_int::from((by.fold)(one)) - c_int::from((by.fold)(two));
        let decides = |it: &(&u8, &u8)| difference(*it.0, *it.1) != 0 || by.ends_at_zero && *it.0 == 0;
        let (first, second) = (self.text(Buffer::One), self.text(Buffer::Two));
        let mut done = 0;
        while done < max {
            let (one_at, two_at) = (one.wrapping_add(done), two.wrapping_add(done));
            let size = in_word(one_at).min(in_word(two_at)).min(max - done);
            first.clear();
            first.extend(self.peek(Block::new(one_at, size, false, self.pc)));
            let other = self.peek(Block::new(two_at, size, false, self.pc));
            let size = first.iter().zip(other).position(|it| decides(&it)).map_or(size, |it| it + 1);
            first.clear();
            first.extend(self.read_part(one, one_at, size));
            second.clear();
            second.extend(self.read_part(two, two_at, size));
            if let Some((one, two)) = first.iter().zip(second.iter()).find(decides) {
                return difference(*one, *two);
            }
            done += size;
        }
        0
    }

    /// Writes the text of a buffer.
    fn put(self, buffer: Buffer, to: usize) {
        let size = self.text(buffer).len();
        if size != 0 {
            let target = note(self.control, Block::new(to, size, true, self.pc));
            mem::swap(self.text(buffer), &mut blocks(self.control).bytes);
            write_all(self.control, target);
        }
    }

    /// Copies a text of which at most `max` bytes are read, and returns its length.
    fn copy_text(self, to: usize, from: usize, max: usize) -> usize {
        let length = self.length(Buffer::One, from, max);
        self.put(Buffer::One, to);
        length
    }

    /// The same, with a zero at its end in any case.
    fn copy_terminated(self, to: usize, from: usize, max: usize) {
        let length = self.length(Buffer::One, from, max);
        self.text(Buffer::One).resize(length + 1, 0);
        self.put(Buffer::One, to);
    }
}

/// Appends bytes to a text up to the one with which it `ends`, and returns whether there is one.
fn append(text: &mut Vec<u8>, bytes: &[u8], ends: impl Fn(&[u8]) -> bool) -> bool {
    bytes.iter().any(|it| {
        text.push(*it);
        ends(text)
    })
}

/// The number of bytes up to the end of the word.
fn in_word(address: usize) -> usize {
    8 - (address & 7)
}

fn without_zero(text: &[u8]) -> &[u8] {
    text.strip_suffix(&[0]).unwrap_or(text)
}

extern "C" fn memcmp(one: usize, two: usize, size: usize, pc: usize) -> c_int {
    match Caller::running(pc) {
        Some(it) => it.compare(one, two, size, BYTES),
        // SAFETY: the caller guarantees the preconditions of the C function, here and below.
        None => unsafe { libc::memcmp(one as *const _, two as *const _, size) },
    }
}

extern "C" fn strcmp(one: usize, two: usize, pc: usize) -> c_int {
    match Caller::running(pc) {
        Some(it) => it.compare(one, two, usize::MAX, TEXTS),
        // SAFETY: as above.
        None => unsafe { libc::strcmp(one as *const _, two as *const _) },
    }
}

extern "C" fn strncmp(one: usize, two: usize, max: usize, pc: usize) -> c_int {
    match Caller::running(pc) {
        Some(it) => it.compare(one, two, max, TEXTS),
        // SAFETY: as above.
        None => unsafe { libc::strncmp(one as *const _, two as *const _, max) },
    }
}

extern "C" fn strcasecmp(one: usize, two: usize, pc: usize) -> c_int {
    strncasecmp(one, two, usize::MAX, pc)
}

extern "C" fn strncasecmp(one: usize, two: usize, max: usize, pc: usize) -> c_int {
    match Caller::running(pc) {
        Some(it) => it.compare(one, two, max, TEXTS_IN_ANY_CASE),
        // SAFETY: as above.
        None => unsafe { libc::strncasecmp(one as *const _, two as *const _, max) },
    }
}

extern "C" fn strlen(text: usize, pc: usize) -> usize {
    strnlen(text, usize::MAX, pc)
}

extern "C" fn strnlen(text: usize, max: usize, pc: usize) -> usize {
    match Caller::running(pc) {
        Some(it) => it.length(Buffer::One, text, max),
        // SAFETY: as above.
        None => unsafe { libc::strnlen(text as *const _, max) },
    }
}

extern "C" fn memchr(block: usize, byte: c_int, size: usize, pc: usize) -> usize {
    let Some(it) = Caller::running(pc) else {
        // SAFETY: as above.
        return unsafe { libc::memchr(block as *const _, byte, size) as usize };
    };
    let bytes = it.gather(Buffer::One, block, size, |it| it.ends_with(&[byte as u8]));
    if bytes.ends_with(&[byte as u8]) { block + bytes.len() - 1 } else { 0 }
}

extern "C" fn strchr(text: usize, byte: c_int, pc: usize) -> usize {
    match Caller::running(pc) {
        Some(it) => it.find(text, usize::MAX, |it| it == byte as u8).map_or(0, |at| text + at),
        // SAFETY: as above.
        None => unsafe { libc::strchr(text as *const _, byte) as usize },
    }
}

extern "C" fn strrchr(text: usize, byte: c_int, pc: usize) -> usize {
    let Some(it) = Caller::running(pc) else {
        // SAFETY: as above.
        return unsafe { libc::strrchr(text as *const _, byte) as usize };
    };
    let bytes = it.gather_text(Buffer::One, text, usize::MAX);
    bytes.iter().rposition(|it| *it == byte as u8).map_or(0, |at| text + at)
}

extern "C" fn strstr(text: usize, part: usize, pc: usize) -> usize {
    let Some(it) = Caller::running(pc) else {
        // SAFETY: as above.
        return unsafe { libc::strstr(text as *const _, part as *const _) as usize };
    };
    let part = without_zero(it.gather_text(Buffer::Two, part, usize::MAX));
    if part.is_empty() {
        return text;
    }
    let found = it.gather(Buffer::One, text, usize::MAX, |it| it.ends_with(part) || it.ends_with(&[0]));
    if found.ends_with(part) { text + found.len() - part.len() } else { 0 }
}

extern "C" fn strspn(text: usize, set: usize, pc: usize) -> usize {
    let Some(it) = Caller::running(pc) else {
        // SAFETY: as above.
        return unsafe { libc::strspn(text as *const _, set as *const _) };
    };
    let set = without_zero(it.gather_text(Buffer::Two, set, usize::MAX));
    // The zero is not in the set.
    it.find(text, usize::MAX, |it| !set.contains(&it)).unwrap_or(0)
}

extern "C" fn strcspn(text: usize, set: usize, pc: usize) -> usize {
    match Caller::running(pc) {
        // The zero ends it as well, and is in the set with its own.
        Some(it) => {
            let set = it.gather_text(Buffer::Two, set, usize::MAX);
            it.find(text, usize::MAX, |it| set.contains(&it)).unwrap_or(0)
        }
        // SAFETY: as above.
        None => unsafe { libc::strcspn(text as *const _, set as *const _) },
    }
}

extern "C" fn strpbrk(text: usize, set: usize, pc: usize) -> usize {
    match Caller::running(pc) {
        Some(it) => {
            let set = without_zero(it.gather_text(Buffer::Two, set, usize::MAX));
            it.find(text, usize::MAX, |it| set.contains(&it)).map_or(0, |at| text + at)
        }
        // SAFETY: as above.
        None => unsafe { libc::strpbrk(text as *const _, set as *const _) as usize },
    }
}

extern "C" fn strcpy(to: usize, from: usize, pc: usize) -> usize {
    stpcpy(to, from, pc);
    to
}

extern "C" fn stpcpy(to: usize, from: usize, pc: usize) -> usize {
    match Caller::running(pc) {
        Some(it) => to + it.copy_text(to, from, usize::MAX),
        // SAFETY: as above.
        None => unsafe { libc::stpcpy(to as *mut _, from as *const _) as usize },
    }
}

extern "C" fn strncpy(to: usize, from: usize, size: usize, pc: usize) -> usize {
    stpncpy(to, from, size, pc);
    to
}

extern "C" fn stpncpy(to: usize, from: usize, size: usize, pc: usize) -> usize {
    let Some(it) = Caller::running(pc) else {
        // SAFETY: as above.
        return unsafe { libc::stpncpy(to as *mut _, from as *const _, size) as usize };
    };
    let length = it.length(Buffer::One, from, size);
    // The rest is filled with zeros.
    it.text(Buffer::One).resize(size, 0);
    it.put(Buffer::One, to);
    to + length
}

extern "C" fn strcat(to: usize, from: usize, pc: usize) -> usize {
    strncat(to, from, usize::MAX, pc)
}

extern "C" fn strncat(to: usize, from: usize, max: usize, pc: usize) -> usize {
    match Caller::running(pc) {
        Some(it) => it.copy_terminated(to + it.length(Buffer::Two, to, usize::MAX), from, max),
        // SAFETY: as above.
        None => unsafe {
            libc::strncat(to as *mut _, from as *const _, max);
        },
    }
    to
}

extern "C" fn strdup(text: usize, pc: usize) -> usize {
    strndup(text, usize::MAX, pc)
}

extern "C" fn strndup(text: usize, max: usize, pc: usize) -> usize {
    let Some(it) = Caller::running(pc) else {
        // SAFETY: as above.
        return unsafe { libc::strndup(text as *const _, max) as usize };
    };
    let length = it.length(Buffer::One, text, max);
    it.text(Buffer::One).resize(length + 1, 0);
    let to = malloc_at(length + 1, pc) as usize;
    if to != 0 {
        it.put(Buffer::One, to);
    }
    to
}

extern "C" fn mempcpy(to: *mut u8, from: *const u8, size: usize, pc: usize) -> usize {
    copy(to, from, size, pc) as usize + size
}

extern "C" fn memccpy(to: usize, from: usize, byte: c_int, size: usize, pc: usize) -> usize {
    let Some(it) = Caller::running(pc) else {
        // SAFETY: as above.
        return unsafe { libc::memccpy(to as *mut _, from as *const _, byte, size) as usize };
    };
    let bytes = it.gather(Buffer::One, from, size, |it| it.ends_with(&[byte as u8]));
    let (length, is_found) = (bytes.len(), bytes.ends_with(&[byte as u8]));
    it.put(Buffer::One, to);
    if is_found { to + length } else { 0 }
}

extern "C" fn bcopy(from: *const u8, to: *mut u8, size: usize, pc: usize) {
    copy(to, from, size, pc);
}

extern "C" fn bzero(to: *mut u8, size: usize, pc: usize) {
    fill(to, 0, size, pc);
}

stubs! {
    __wrap_memcmp, "rcx" => memcmp;
    __wrap_bcmp, "rcx" => memcmp;
    __wrap_strcmp, "rdx" => strcmp;
    __wrap_strncmp, "rcx" => strncmp;
    __wrap_strcasecmp, "rdx" => strcasecmp;
    __wrap_strncasecmp, "rcx" => strncasecmp;
    __wrap_strlen, "rsi" => strlen;
    __wrap_strnlen, "rdx" => strnlen;
    __wrap_memchr, "rcx" => memchr;
    __wrap_strchr, "rdx" => strchr;
    __wrap_strrchr, "rdx" => strrchr;
    __wrap_strstr, "rdx" => strstr;
    __wrap_strspn, "rdx" => strspn;
    __wrap_strcspn, "rdx" => strcspn;
    __wrap_strpbrk, "rdx" => strpbrk;
    __wrap_strcpy, "rdx" => strcpy;
    __wrap_stpcpy, "rdx" => stpcpy;
    __wrap_strncpy, "rcx" => strncpy;
    __wrap_stpncpy, "rcx" => stpncpy;
    __wrap_strcat, "rdx" => strcat;
    __wrap_strncat, "rcx" => strncat;
    __wrap_strdup, "rsi" => strdup;
    __wrap_strndup, "rdx" => strndup;
    __wrap_mempcpy, "rcx" => mempcpy;
    __wrap_memccpy, "r8" => memccpy;
    __wrap_bcopy, "rcx" => bcopy;
    __wrap_bzero, "rdx" => bzero;
    __wrap_explicit_bzero, "rdx" => bzero;
}
