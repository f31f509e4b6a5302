//! What is not seen: code that was not instrumented.
//!
//! * Modules without instrumentation are found when the program starts.
//! * The compiler driver knows functions that access memory unseen. Whether one of them runs shows
//!   a breakpoint at its first instruction, which is removed when it is hit: this costs nothing
//!   afterwards.
//! * `calls_out` knows functions of other modules that write to memory that races.
//! * Libraries that the program loads later are looked at when the execution ends; threads that it
//!   starts before `main` are noted when they are started.

use std::{
    ffi::{c_int, c_void},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use clewline_remote::{IS_SEEN, RunOptions, Trust, Unseen, WireMessage};

use super::{
    current_task::{self, RuntimeCell, RuntimeOwned},
    modules::{self, Uninstrumented},
    places, races, rust_std, signals,
};

/// A function that is watched.
#[derive(Clone, Copy, Debug)]
struct Watched {
    address: usize,
    /// The first byte of its code.
    byte: u8,
    ran: bool,
    /// Whether it is instrumented.
    is_seen: bool,
}

impl Watched {
    /// It has run.
    fn note(&mut self) {
        self.ran = true;
        if !self.is_seen {
            races::note_unseen_code();
        }
    }
}

/// Functions of Rust's standard library in which a task acquires what others have released.
static ACQUIRING: RuntimeOwned<Vec<Watched>> = RuntimeOwned::new(Vec::new());
static WATCHED: RuntimeOwned<Vec<Watched>> = RuntimeOwned::new(Vec::new());
static SENTENCES: RuntimeOwned<Vec<String>> = RuntimeOwned::new(Vec::new());
static TRUST: RuntimeOwned<Trust> = RuntimeOwned::new(Trust(Vec::new()));
/// Whether an execution had more than one task.
static HAS_TASKS: RuntimeCell<bool> = RuntimeCell::new(false);
/// The code that started a thread before the exploration; 0 if there is none.
static EARLY_THREAD: RuntimeCell<usize> = RuntimeCell::new(0);
/// Whether the execution has called `dlopen`.
static HAS_LOADED: RuntimeCell<bool> = RuntimeCell::new(false);
/// Whether there is a library of which not all is restored before an execution.
static KEEPS_STATE: RuntimeCell<bool> = RuntimeCell::new(false);
/// The modules that were there when the exploration began.
static FIRST_MODULES: RuntimeOwned<Vec<String>> = RuntimeOwned::new(Vec::new());
/// Whether a task made an access that is seen.
static HAS_ACCESSES: AtomicBool = AtomicBool::new(false);

const BREAKPOINT: u8 = 0xcc;

/// Looks for modules that are not instrumented, and watches the given functions.
pub(super) fn begin(wanted: &RunOptions) {
    *TRUST.get() = wanted.trust.clone();
    races::set_trust(wanted.trust.clone());
    modules::uninstrumented().iter().for_each(add_uninstrumented);
    *FIRST_MODULES.get() = modules::all().into_iter().map(|it| it.name).collect();
    if EARLY_THREAD.get() != 0 {
        add_early_thread(EARLY_THREAD.get());
    }
    let base = modules::program_base();
    *WATCHED.get() = wanted
        .watched
        .iter()
        .map(|it| Watched {
            address: base + (it & !IS_SEEN),
            byte: 0,
            ran: false,
            is_seen: it & IS_SEEN != 0,
        })
        .filter(|it| modules::is_user(it.address))
        .collect();
    for watched in WATCHED.get().iter_mut() {
        watched.ran = !watched.set();
    }
    if !wanted.ignores_races {
        watch_acquiring();
    }
    if !WATCHED.get().is_empty() || !ACQUIRING.get().is_empty() {
        signals::handle(libc::SIGTRAP, on_breakpoint, libc::SA_NODEFER);
    }
}

/// Watches functions that acquire.
fn watch_acquiring() {
    let Some(found) = rust_std::find() else { return races::note_unseen_code() };
    for address in found.into_iter().filter(|it| modules::is_user(*it)) {
        // SAFETY: it is code of the program.
        let byte = unsafe { *(address as *const u8) };
        let mut watched = Watched { address, byte, ran: false, is_seen: true };
        if rust_std::pushed(byte, address).is_some() && watched.set() {
            ACQUIRING.get().push(watched);
        } else {
            races::note_unseen_code();
        }
    }
}

fn add_uninstrumented(Uninstrumented { name, is_program }: &Uninstrumented) {
    races::note_unseen_code();
    KEEPS_STATE.set(KEEPS_STATE.get() | !is_program);
    if trust().covers_file(name) {
        return;
    }
    add(match is_program {
        true => format!(
            "{name} is not instrumented: only its calls of pthread and malloc are scheduling points, not its memory accesses; \
             build it with `clewline cc -o PROGRAM FILE…`"
        ),
        false => format!(
            "{name} was not compiled for this: its calls of pthread and malloc are seen, and not its accesses to memory"
        ),
    });
}

fn add_early_thread(pc: usize) {
    let site = places::resolve(pc);
    let function = site.as_ref().and_then(|it| it.function.clone()).unwrap_or_default();
    if !trust().covers_function(&function) {
        let site = site.map_or_else(String::new, |it| format!("{}:{}: ", it.file, it.line));
        add(format!("{site}{function} starts a thread before main, where no schedule is chosen for it"));
    }
}

/// A constructor of the program starts a thread.
pub(super) fn note_early_thread(pc: usize) {
    EARLY_THREAD.set(pc);
}

/// The code loads a library.
pub(super) fn note_load() {
    HAS_LOADED.set(true);
}

/// Looks at the libraries that were loaded in this execution, or in an earlier one: they stay.
fn add_loaded() {
    let first = FIRST_MODULES.get();
    let is_new = |it: &&Uninstrumented| !it.is_program && !first.contains(&it.name);
    modules::uninstrumented().iter().filter(is_new).for_each(add_uninstrumented);
    for module in modules::instrumented() {
        if first.contains(&module) {
            continue;
        }
        KEEPS_STATE.set(true);
        if !trust().covers_file(&module) {
            add(format!(
                "{module} is loaded while the program runs: its data is not restored before each execution; link the program with it"
            ));
        }
    }
}

impl Watched {
    /// Sets the breakpoint. Returns whether that succeeded.
    fn set(&mut self) -> bool {
        if !make_writable(self.address) {
            return false;
        }
        // SAFETY: it is code of the program, it is writable now, and no other thread runs.
        unsafe {
            let code = self.address as *mut u8;
            self.byte = code.read_volatile();
            code.write_volatile(BREAKPOINT);
        }
        true
    }
}

/// The code that the user vouches for.
pub(super) fn trust() -> &'static Trust {
    TRUST.get()
}

/// Adds a sentence, once.
pub(super) fn add(sentence: String) {
    if !SENTENCES.get().contains(&sentence) {
        SENTENCES.get().push(sentence);
    }
}

fn make_writable(address: usize) -> bool {
    const PAGE_BYTES: usize = 4 << 10;
    let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    // SAFETY: the page is code of the program, which stays readable and executable.
    unsafe { libc::mprotect((address & !(PAGE_BYTES - 1)) as *mut c_void, PAGE_BYTES, access) == 0 }
}

unsafe extern "C" fn on_breakpoint(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: this is a handler.
    let address = unsafe { signals::code_of(context) } - 1;
    if let Some(acquiring) = ACQUIRING.get().iter().find(|it| it.address == address) {
        // SAFETY: as above, and the instruction was looked at before.
        if unsafe { rust_std::push(context, address, acquiring.byte) } {
            current_task::running().into_iter().for_each(races::note_unseen_acquire);
            return;
        }
    }
    let Some(watched) = WATCHED.get().iter_mut().find(|it| it.address == address) else {
        // SAFETY: the program has a breakpoint of its own, which nothing handles.
        return unsafe { signals::on_crash(signal, info, context) };
    };
    watched.note();
    // SAFETY: the page was made writable, and the code continues at its first instruction.
    unsafe {
        (address as *mut u8).write_volatile(watched.byte);
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        registers[libc::REG_RIP as usize] = address as i64;
    }
}

/// Another task begins in this execution.
pub(super) fn note_task(is_first: bool) {
    if !is_first {
        HAS_TASKS.set(true);
    }
}

/// An execution ends.
pub(super) fn end_execution() {
    HAS_ACCESSES.fetch_or(current_task::calls() != 0, Relaxed);
    if HAS_LOADED.replace(false) {
        add_loaded();
    }
}

/// What was not seen so far.
pub(super) fn all() -> Unseen {
    Unseen {
        sentences: SENTENCES.get().clone(),
        watched: ran(),
        is_everything: HAS_TASKS.get() && !HAS_ACCESSES.load(Relaxed),
        is_sequential: !HAS_TASKS.get(),
        keeps_state: KEEPS_STATE.get(),
    }
}

fn ran() -> Vec<usize> {
    (0..WATCHED.get().len()).filter(|it| WATCHED.get()[*it].ran).collect()
}

/// Sends what an execution in its own process did not see.
pub(super) fn send(to: &mut WireMessage) {
    to.put_all(SENTENCES.get().iter(), |to, it| to.put_text(it));
    to.put_all(ran().into_iter(), |to, it| to.put(it as u64));
    to.put_flag(HAS_TASKS.get());
    to.put_flag(HAS_ACCESSES.load(Relaxed));
}

/// Receives it.
pub(super) fn receive(from: &mut WireMessage) {
    from.take_all(WireMessage::take_text).into_iter().for_each(add);
    for at in from.take_all(WireMessage::take_usize) {
        if let Some(watched) = WATCHED.get().get_mut(at) {
            watched.note();
        }
    }
    HAS_TASKS.set(HAS_TASKS.get() | from.take_flag());
    HAS_ACCESSES.fetch_or(from.take_flag(), Relaxed);
}
