//! Trampolines: where calls of functions in other libraries pass.

use std::{arch::naked_asm, collections::BTreeMap, ffi::c_void, ptr};

use clewline_explore::Access;
use clewline_remote::Points;

use super::{
    calls_out::{self, Function},
    current_task, entry,
    inputs::{self, Input, Registers},
    modules::{self, Import},
    places, races, rust_readers, rust_std, tables, unseen,
};

/// Functions that write to nothing that threads share, except for what they protect themselves, by
/// the beginnings of their names. They are called directly, unless they have inputs.
const HARMLESS: [&str; 43] = [
    "_Unwind_",
    "__cxa_",
    "__gxx_",
    "_Znw",
    "_Zna",
    "_Zdl",
    "_Zda",
    "__errno",
    "__tls",
    "__stack_chk",
    "pthread_",
    "printf",
    "puts",
    "putchar",
    "fprintf",
    "fputs",
    "fputc",
    "fwrite",
    "fflush",
    "perror",
    "vprintf",
    "vfprintf",
    "__printf_chk",
    "__fprintf_chk",
    "strlen",
    "strcmp",
    "strncmp",
    "strchr",
    "strrchr",
    "strstr",
    "memcmp",
    "memchr",
    "atoi",
    "atol",
    "getenv",
    "getpid",
    "sched_",
    "syscall",
    "write",
    "abort",
    "exit",
    "_exit",
    "_ZSt9terminatev",
];

/// Puts trampolines into the program and its instrumented libraries. Before their data is saved.
pub(super) fn install() {
    if !races::is_tracking() {
        return;
    }
    calls_out::prepare();
    // Rust's standard library calls the C library through pointers, and orders what it does unseen:
    // of these calls only what they read is looked at.
    let is_rust = rust_std::is_in_program();
    let mut imports = modules::imports(!is_rust);
    imports.extend(tables::virtual_functions());
    let count = imports.len();
    if is_rust {
        imports.extend(modules::imports(true));
        imports.extend(rust_readers::find());
    }
    let has_inputs = |it: &Import| !inputs::of(&it.name).is_empty();
    let is_listed = |(at, it): &(usize, &Import)| *at < count || has_inputs(it);
    let wanted = imports.iter().enumerate().filter(is_listed).filter(|it| is_wanted(it.1));
    let wanted: Vec<(usize, &Import)> = wanted.collect();
    let Some(mut code) = Trampolines::map(wanted.len()) else { return };
    let mut known = BTreeMap::new();
    for (at, import) in wanted {
        // One for each function: the code may compare pointers.
        let address = known.entry(import.target).or_insert_with(|| {
            let (inputs, writes) = (inputs::of(&import.name), at < count && !is_harmless(import));
            let Import { target, is_virtual, ref name, ref library, .. } = *import;
            let name = if is_virtual { name.clone() } else { places::readable(name) };
            let function = Function { target, name, is_virtual, library: library.clone() };
            // It lives as long as the program.
            code.add(Box::leak(Box::new(Watched { function, inputs, writes })))
        });
        import.redirect(*address);
    }
    code.finish();
}

fn is_harmless(import: &Import) -> bool {
    HARMLESS.iter().any(|it| import.name.starts_with(it))
}

fn is_wanted(import: &Import) -> bool {
    (!is_harmless(import) || !inputs::of(&import.name).is_empty())
        && !import.name.contains("__throw_")
        && !is_trusted(import)
}

fn is_trusted(import: &Import) -> bool {
    let trust = unseen::trust();
    // To find names takes a while.
    if trust.0.is_empty() {
        return false;
    }
    let own = if import.is_virtual { places::symbol(import.target) } else { None };
    trust.covers_file(&import.library)
        || [Some(import.name.clone()), own]
            .iter()
            .flatten()
            .any(|it| trust.covers_function(it) || trust.covers_function(&places::readable(it)))
}

/// A function that is called through a trampoline, which knows the layout.
#[derive(Debug)]
#[repr(C)]
struct Watched {
    function: Function,
    /// What it reads.
    inputs: &'static [Input],
    /// Whether it may write to memory that threads share.
    writes: bool,
}

/// Pages of code.
struct Trampolines {
    start: usize,
    size: usize,
    used: usize,
}

impl Trampolines {
    const TRAMPOLINE_BYTES: usize = 24;

    fn map(count: usize) -> Option<Trampolines> {
        let size = (count.max(1) * Self::TRAMPOLINE_BYTES).next_multiple_of(4 << 10);
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: existing mappings are not replaced.
        let start = unsafe { libc::mmap(ptr::null_mut(), size, access, flags, -1, 0) };
        (start != libc::MAP_FAILED).then_some(Trampolines { start: start as usize, size, used: 0 })
    }

    /// Code that jumps to `arrive` with the function.
    fn add(&mut self, function: &'static Watched) -> usize {
        let address = self.start + self.used;
        self.used += Self::TRAMPOLINE_BYTES;
        let mut code = Vec::with_capacity(Self::TRAMPOLINE_BYTES);
        // movabs r11, function: a register that no argument uses.
        code.extend([0x49, 0xbb]);
        code.extend(ptr::from_ref(function).addr().to_le_bytes());
        // jmp [rip]; the address follows.
        code.extend([0xff, 0x25, 0, 0, 0, 0]);
        code.extend((arrive as *const () as usize).to_le_bytes());
        // SAFETY: the mapping is writable, and has room for every trampoline.
        unsafe { ptr::copy_nonoverlapping(code.as_ptr(), address as *mut u8, code.len()) };
        address
    }

    fn finish(self) {
        // SAFETY: this is the mapping, and nothing runs there yet.
        unsafe { libc::mprotect(self.start as *mut c_void, self.size, libc::PROT_READ | libc::PROT_EXEC) };
    }
}

/// Calls `note` with the function, the return address and the arguments, and then the function. All
/// registers that may hold arguments are kept.
#[unsafe(naked)]
unsafe extern "C" fn arrive() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rax",
        "push r10",
        "push r11",
        "push r9",
        "push r8",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "mov rdx, rsp",
        "sub rsp, 136",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "mov rdi, r11",
        "mov rsi, [rbp + 8]",
        "call {note}",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "add rsp, 136",
        "pop rdi",
        "pop rsi",
        "pop rdx",
        "pop rcx",
        "pop r8",
        "pop r9",
        "pop r11",
        "pop r10",
        "pop rax",
        "pop rbp",
        "jmp qword ptr [r11]",
        note = sym note,
    )
}

/// The code is about to call `function`, and will return to `pc`.
unsafe extern "C" fn note(watched: &'static Watched, pc: usize, arguments: *const Registers) {
    // A library may call others through the pointers of the code.
    let Some(control) = current_task::control().filter(|_| modules::is_user(pc)) else { return };
    calls_out::settle(control);
    // SAFETY: the trampoline has put the registers there.
    let arguments = unsafe { &*arguments };
    let Watched { function, inputs, writes } = watched;
    if inputs::read(control, inputs, pc, arguments) {
        calls_out::report_call(function, pc, Access::Read);
    }
    if !writes {
        return;
    }
    races::note_unseen_acquire(control.task());
    if races::points() == Points::Atomics {
        return;
    }
    if races::points() == Points::Racing && races::is_point(pc) {
        entry::point(control, ptr::from_ref(function).addr(), 1, Access::Write, pc);
        control.conflict_with_all();
        control.set_detail(|| function.name());
        calls_out::report_call(function, pc, Access::Write);
    }
    if !races::runs_alone(control.task()) {
        calls_out::start(control, function, pc, arguments);
    }
}
