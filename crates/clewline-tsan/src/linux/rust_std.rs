//! Rust's standard library, which is not instrumented: functions in which a thread acquires what
//! another one has released, without a call that the runtime sees.
//!
//! `park` returns at once if the thread was unparked before. A lock of an output stream is taken
//! without a wait if it is free. So a breakpoint is set at the first instruction of such a
//! function. The handler makes that instruction itself, if it is the usual one, so that the
//! breakpoint stays.
//! No other task runs between the beginning of the function and the atomic access in it.

use std::ffi::c_void;

use rustc_hash::FxHashMap;

use super::{
    current_task::{self, RuntimeCell, RuntimeOwned},
    modules, places,
};

static IS_LINKED: RuntimeCell<bool> = RuntimeCell::new(false);

/// Whether the program contains it.
pub(super) fn is_linked() -> bool {
    IS_LINKED.get()
}

/// The same, also where races are not detected.
pub(super) fn is_in_program() -> bool {
    is_linked() || std::fs::read("/proc/self/exe").is_ok_and(|it| contains(&it, b"/rustc/"))
}

/// Of each address that was asked for: whether it is code of the library.
static CODE: RuntimeOwned<Option<FxHashMap<usize, bool>>> = RuntimeOwned::new(None);

/// Whether the code at an address of the program is the library's.
pub(super) fn contains_code(address: usize) -> bool {
    let is_there = || {
        let site = current_task::as_runtime(|| places::resolve(address));
        site.is_none_or(|it| {
            it.file.starts_with("/rustc/") || it.function.is_some_and(|it| it.starts_with("std::"))
        })
    };
    is_linked() && *CODE.get().get_or_insert_default().entry(address).or_insert_with(is_there)
}

/// The code that makes an atomic access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accessor {
    /// The user's.
    User,
    /// That of `Arc`, to its counts.
    References,
    /// That of another part of the library.
    Library,
}

/// Of each atomic access that was asked for, by its address.
static ACCESSES: RuntimeOwned<Option<FxHashMap<usize, Accessor>>> = RuntimeOwned::new(None);

fn accessor(address: usize) -> Accessor {
    let find = || match current_task::as_runtime(|| places::atomic_caller(address)) {
        Some(it) if places::is_user_line(&it) => Accessor::User,
        Some(it) if it.file.ends_with("/alloc/src/sync.rs") => Accessor::References,
        _ => Accessor::Library,
    };
    *ACCESSES.get().get_or_insert_default().entry(address).or_insert_with(find)
}

/// Whether the atomic access at an address of the program is one of the library, as far as known:
/// other accesses to the same atomic may not be seen.
pub(super) fn makes_access(address: usize) -> bool {
    is_linked() && accessor(address) != Accessor::User
}

/// Whether the atomic access at an address of the program counts the references to an `Arc`.
pub(super) fn counts_references(address: usize) -> bool {
    is_linked() && accessor(address) == Accessor::References
}

/// Looks for these functions in the program. Returns their addresses; `None` if they cannot be
/// found in a program that may have them.
pub(super) fn find() -> Option<Vec<usize>> {
    let file = std::fs::read("/proc/self/exe").ok()?;
    // Every panic names a file of the library.
    if !contains(&file, b"/rustc/") {
        return Some(Vec::new());
    }
    IS_LINKED.set(true);
    let base = modules::program_base();
    let mut found = Vec::new();
    for symbol in symbols(&file)? {
        match symbol.kind {
            FUNCTION if symbol.address != 0 && is_acquiring(symbol.name) => found.push(base + symbol.address),
            // Code in C that a build script has compiled is not instrumented, and not searched.
            FILE if is_source_in_c(symbol.name) => return None,
            _ => (),
        }
    }
    // The linker makes one of functions with the same code.
    found.sort_unstable();
    found.dedup();
    Some(found)
}

fn is_source_in_c(file: &str) -> bool {
    let is_of_system = file.starts_with("crt") || file.starts_with("init-first");
    let ending = file.rsplit_once('.').map_or("", |it| it.1);
    !is_of_system && ["c", "cc", "cpp", "cxx", "s", "S"].contains(&ending)
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    // SAFETY: both are as long as said. The function only reads them.
    let found = unsafe {
        libc::memmem(bytes.as_ptr().cast::<c_void>(), bytes.len(), wanted.as_ptr().cast(), wanted.len())
    };
    !found.is_null()
}

/// Whether a symbol is one of these functions, in either of the two ways to mangle names.
fn is_acquiring(symbol: &str) -> bool {
    const OF_THREADS: [&str; 3] = ["4park", "12park_timeout", "15park_timeout_ms"];
    const OF_STREAMS: [&str; 1] = ["4lock"];
    let names = match symbol {
        it if it.contains("3std6thread") => &OF_THREADS[..],
        it if it.contains("3std2io5stdio") => &OF_STREAMS[..],
        _ => return false,
    };
    // The old way appends a hash, `17h…E`.
    let name = symbol.rsplit_once("17h").map_or(symbol, |it| it.0);
    names.iter().any(|it| name.ends_with(it))
}

/// A symbol of an ELF file.
pub(super) struct Symbol<'a> {
    pub name: &'a str,
    pub kind: usize,
    pub address: usize,
}

// Kinds of symbols.
pub(super) const FUNCTION: usize = 2;
const FILE: usize = 4;

/// The symbols of an ELF file; `None` if it has no table of them.
pub(super) fn symbols(file: &[u8]) -> Option<impl Iterator<Item = Symbol<'_>>> {
    const SYMBOL_BYTES: usize = 24;
    const SYMBOL_TABLE: usize = 2;
    let word = |at: usize, bytes: usize| {
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(file.get(at..at.checked_add(bytes)?)?);
        Some(u64::from_le_bytes(word) as usize)
    };
    let (sections, size, count) = (word(0x28, 8)?, word(0x3a, 2)?, word(0x3c, 2)?);
    let section = |number: usize| sections + number * size;
    let contents = |at: usize| {
        let start = word(at + 0x18, 8)?;
        file.get(start..start.checked_add(word(at + 0x20, 8)?)?)
    };
    let table = (0..count).map(section).find(|it| word(it + 4, 4) == Some(SYMBOL_TABLE))?;
    let (entries, names) = (contents(table)?, contents(section(word(table + 0x28, 4)?))?);
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0_usize, |all, it| all << 8 | usize::from(*it));
    Some(entries.chunks_exact(SYMBOL_BYTES).filter_map(move |it| {
        let name = names.get(number(&it[..4])..)?;
        let name = std::str::from_utf8(name.split(|it| *it == 0).next()?).ok()?;
        Some(Symbol { name, kind: number(&it[4..5]) & 15, address: number(&it[8..16]) })
    }))
}

/// Makes an instruction that pushes a register, for interrupted code which is about to. Returns
/// whether it is one.
///
/// # Safety
///
/// `context` is that of a handler, and `first` and what follows `address` are an instruction.
pub(super) unsafe fn push(context: *mut c_void, address: usize, first: u8) -> bool {
    let Some((register, size)) = pushed(first, address) else { return false };
    // SAFETY: guaranteed by the caller. A function that is called may push.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let value = registers[register as usize];
        registers[libc::REG_RSP as usize] -= 8;
        *(registers[libc::REG_RSP as usize] as *mut i64) = value;
        registers[libc::REG_RIP as usize] = (address + size) as i64;
    }
    true
}

/// Whether the instruction at `address`, which begins with `first`, pushes a register: which one,
/// and the size of the instruction.
pub(super) fn pushed(first: u8, address: usize) -> Option<(i32, usize)> {
    const LOW: [i32; 8] = [
        libc::REG_RAX,
        libc::REG_RCX,
        libc::REG_RDX,
        libc::REG_RBX,
        libc::REG_RSP,
        libc::REG_RBP,
        libc::REG_RSI,
        libc::REG_RDI,
    ];
    const HIGH: [i32; 8] = [
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];
    match first {
        0x50..=0x57 => Some((LOW[usize::from(first - 0x50)], 1)),
        0x41 => {
            // SAFETY: an instruction with this prefix goes on.
            let second = unsafe { *((address + 1) as *const u8) };
            (0x50..=0x57).contains(&second).then(|| (HIGH[usize::from(second - 0x50)], 2))
        }
        _ => None,
    }
}
