//! The modules of the process: which are under test, and where their code and data are.

use std::{
    collections::BTreeMap,
    ffi::{CStr, c_int, c_void},
    ops::Range,
};

use super::current_task::RuntimeOwned;

/// A loaded module.
#[derive(Debug)]
pub(super) struct Module {
    /// Its file; empty for the program itself.
    pub(super) name: String,
    /// Its code.
    pub(super) text: Vec<Range<usize>>,
    /// Its writable data.
    pub(super) data: Vec<Range<usize>>,
    /// Its thread-local data.
    pub(super) local: Option<Local>,
    /// Data that is written only while it is loaded: whole pages.
    pub(super) constant: Option<Range<usize>>,
    /// Where it is loaded, and its table for the loader.
    base: usize,
    dynamic: Option<usize>,
}

/// The thread-local data of a module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local {
    /// The number of the module.
    pub(super) number: usize,
    /// The address of its initial values; the rest is zeros.
    pub(super) image: usize,
    pub(super) image_size: usize,
    pub(super) size: usize,
}

// The C library, the loader and this library keep state that outlives executions. The mathematical
// library only keeps errors.
const NOT_RESTORED_MODULES: [&str; 8] = [
    "libc.so",
    "ld-linux",
    "libm.so",
    "linux-vdso",
    "libpthread.so",
    "libdl.so",
    "librt.so",
    "libclewline_tsan",
];
// Modules with their own allocations: the C library and the loader.
const SYSTEM_MODULES: [&str; 2] = ["libc.so", "ld-linux"];

impl Module {
    fn is_one_of(&self, names: &[&str]) -> bool {
        let file = self.name.rsplit('/').next().unwrap_or_default();
        names.iter().any(|it| file.starts_with(it))
    }

    /// Whether its data is restored when an execution begins.
    pub(super) fn is_restored(&self) -> bool {
        !self.is_one_of(&NOT_RESTORED_MODULES)
    }

    /// Whether it is the C++ standard library, or a dependency of it.
    pub(super) fn is_standard(&self) -> bool {
        self.is_one_of(&["libstdc++", "libc++", "libgcc_s", "libunwind", "libatomic"])
    }
}

/// Libraries used by the program that were not compiled with instrumentation; only the program
/// itself if it was not. Libraries of the system and of the language are excluded: the user does
/// not choose them.
pub(super) fn uninstrumented() -> Vec<Uninstrumented> {
    if !is_instrumented("/proc/self/exe") {
        let name = std::env::current_exe().unwrap_or_default().to_string_lossy().into_owned();
        return vec![Uninstrumented { name, is_program: true }];
    }
    let found = |name| Uninstrumented { name, is_program: false };
    user_libraries().filter(|it| !is_instrumented(it)).map(found).collect()
}

/// Libraries used by the program that were compiled with instrumentation.
pub(super) fn instrumented() -> Vec<String> {
    user_libraries().filter(|it| is_instrumented(it)).collect()
}

/// Libraries that are not those of the system or of the language.
fn user_libraries() -> impl Iterator<Item = String> {
    let is_asked = |it: &Module| !it.name.is_empty() && it.is_restored() && !it.is_standard();
    all().into_iter().filter(is_asked).map(|it| it.name)
}

/// A module that was not compiled with instrumentation.
#[derive(Debug)]
pub(super) struct Uninstrumented {
    /// Its file.
    pub(super) name: String,
    /// Whether it is the program, and not a library.
    pub(super) is_program: bool,
}

/// Whether a file calls the runtime anywhere. `false` if it cannot be read.
fn is_instrumented(file: &str) -> bool {
    const NAME: &[u8] = b"__tsan_";
    std::fs::read(file).is_ok_and(|it| it.windows(NAME.len()).any(|it| it == NAME))
}

/// Where the program is loaded: its addresses are relative to this.
pub(super) fn program_base() -> usize {
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _size: usize, base: *mut c_void) -> c_int {
        // SAFETY: `program_base` passes a pointer to a word, and the loader one to a valid
        // description. The program comes first.
        unsafe { *base.cast::<usize>() = (*info).dlpi_addr as usize };
        1
    }
    let mut base = 0_usize;
    // SAFETY: `first` is called with the pointer to `base`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut base).cast()) };
    base
}

/// Where its code is.
pub(super) fn program_text() -> Vec<Range<usize>> {
    all().into_iter().next().map_or_else(Vec::new, |it| it.text)
}

/// The writable data of the program and of its libraries that are not standard ones.
#[derive(Debug)]
pub(super) struct UserData {
    pub(super) ranges: Vec<Range<usize>>,
    /// Objects of other libraries among them, such as `std::cout`: the linker has moved them.
    pub(super) copied: Vec<Range<usize>>,
    /// The data of other libraries.
    pub(super) others: Vec<Range<usize>>,
}

/// Finds that data.
pub(super) fn user_data() -> UserData {
    let modules = all();
    let own = || modules.iter().filter(|it| it.is_restored() && !it.is_standard());
    UserData {
        ranges: own().flat_map(|it| it.data.iter().cloned()).collect(),
        copied: own().flat_map(Module::copied_objects).collect(),
        others: modules
            .iter()
            .filter(|it| !it.is_restored() || it.is_standard())
            .flat_map(|it| it.data.iter().cloned())
            .collect(),
    }
}

/// A function of a library of the system or the language that an instrumented module calls.
#[derive(Debug)]
pub(super) struct Import {
    /// Its symbol; of a virtual function, that of a class that has it.
    pub(super) name: String,
    /// Whether it is called through the table of an object.
    pub(super) is_virtual: bool,
    /// The file of the library, without folders.
    pub(super) library: String,
    pub(super) target: usize,
    /// Where the caller looks the address up.
    pub(super) slot: usize,
}

impl Import {
    /// The caller calls `code` from now on.
    pub(super) fn redirect(&self, code: usize) {
        const PAGE_BYTES: usize = 4 << 10;
        let page = (self.slot & !(PAGE_BYTES - 1)) as *mut c_void;
        // The page may be constant after loading. It stays writable: the loader has finished.
        // SAFETY: the slot belongs to a loaded module, and is one of its function addresses.
        unsafe {
            if libc::mprotect(page, PAGE_BYTES, libc::PROT_READ | libc::PROT_WRITE) == 0 {
                (self.slot as *mut usize).write_volatile(code);
            }
        }
    }
}

/// The functions that instrumented modules call in libraries of the system and the language.
/// `has_pointers`: also those of which they take the address.
pub(super) fn imports(has_pointers: bool) -> Vec<Import> {
    let modules = all();
    let is_foreign =
        |it: &&Module| it.is_standard() || !it.is_restored() && !it.is_one_of(&["libclewline_tsan"]);
    let library_of = |address: usize| {
        let is_there = |it: &&Module| it.text.iter().any(|it| it.contains(&address));
        let found = modules.iter().filter(is_foreign).find(is_there)?;
        Some(found.name.rsplit('/').next().unwrap_or_default().to_owned())
    };
    let mut found = Vec::new();
    for module in modules.iter().filter(|it| it.is_restored() && !it.is_standard()) {
        let file = if module.name.is_empty() { "/proc/self/exe" } else { &module.name };
        if !is_instrumented(file) {
            continue;
        }
        for (slot, name) in module.function_slots(has_pointers) {
            // SAFETY: the slot belongs to the module, which is loaded.
            let target = unsafe { *(slot as *const usize) };
            found.extend(library_of(target).map(|library| Import {
                name,
                is_virtual: false,
                library,
                target,
                slot,
            }));
        }
    }
    found
}

/// Where the program has the addresses of these functions of its own.
pub(super) fn pointers_to(functions: &BTreeMap<usize, String>) -> Vec<Import> {
    const RELATIVE: u32 = 8;
    let program = all().into_iter().find(|it| it.name.is_empty());
    let slots = program.iter().flat_map(Module::other_relocations).filter(|it| it.kind == RELATIVE);
    let found = slots.filter_map(|it| {
        // SAFETY: the slot belongs to the program, and the loader has written it.
        let target = unsafe { *(it.address as *const usize) };
        let name = functions.get(&target)?.clone();
        Some(Import { name, is_virtual: false, library: "std".to_owned(), target, slot: it.address })
    });
    found.collect()
}

/// A relocation: where, of which kind, and of which symbol.
struct Relocation {
    address: usize,
    kind: u32,
    name: String,
    size: usize,
}

impl Module {
    /// Where the module looks up the functions that it calls, and their names. Without a table for
    /// calls (`-fno-plt`), and for function pointers, these are among its other relocations, which
    /// are included on request.
    fn function_slots(&self, has_pointers: bool) -> Vec<(usize, String)> {
        const FUNCTIONS: u64 = 23;
        const FUNCTION_BYTES: u64 = 2;
        const ADDRESS: u32 = 1;
        const GLOBAL: u32 = 6;
        const JUMP_SLOT: u32 = 7;
        let calls = self.relocations(FUNCTIONS, FUNCTION_BYTES).into_iter();
        let others = has_pointers.then(|| self.other_relocations()).into_iter().flatten();
        let is_slot = |it: &Relocation| [ADDRESS, GLOBAL, JUMP_SLOT].contains(&it.kind);
        calls.chain(others).filter(is_slot).map(|it| (it.address, it.name)).collect()
    }

    /// Objects of other modules that are in the data of this one.
    pub(super) fn copied_objects(&self) -> Vec<Range<usize>> {
        const COPY: u32 = 5;
        let objects = self.other_relocations().into_iter();
        objects.filter(|it| it.kind == COPY).map(|it| it.address..it.address + it.size).collect()
    }

    /// The relocations that are not in the table for calls.
    fn other_relocations(&self) -> Vec<Relocation> {
        const OTHERS: u64 = 7;
        const OTHER_BYTES: u64 = 8;
        self.relocations(OTHERS, OTHER_BYTES)
    }

    /// The relocations in the table with that tag.
    fn relocations(&self, table: u64, bytes: u64) -> Vec<Relocation> {
        const STRINGS: u64 = 5;
        const SYMBOLS: u64 = 6;
        let Some(mut entry) = self.dynamic else { return Vec::new() };
        let [mut strings, mut symbols, mut start, mut size] = [0; 4];
        // SAFETY: the loader has read the same tables.
        unsafe {
            loop {
                let [tag, value] = *(entry as *const [u64; 2]);
                let value = value as usize;
                let address = if value < self.base { self.base + value } else { value };
                match tag {
                    0 => break,
                    STRINGS => strings = address,
                    SYMBOLS => symbols = address,
                    it if it == table => start = address,
                    it if it == bytes => size = value,
                    _ => (),
                }
                entry += 16;
            }
            if strings == 0 || symbols == 0 || start == 0 {
                return Vec::new();
            }
            let all = std::slice::from_raw_parts(start as *const [u64; 3], size / 24);
            let of = |[address, info, _]: &[u64; 3]| {
                let symbol = symbols + (info >> 32) as usize * 24;
                let name = CStr::from_ptr((strings + *(symbol as *const u32) as usize) as *const _);
                Relocation {
                    address: self.base + *address as usize,
                    kind: *info as u32,
                    name: name.to_string_lossy().into_owned(),
                    size: *((symbol + 16) as *const usize),
                }
            };
            all.iter().map(of).collect()
        }
    }
}

/// All loaded modules.
pub(super) fn all() -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    // SAFETY: `visit` is called with the pointer to `modules`, which outlives the calls, one call
    // after the other.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut modules).cast()) };
    modules
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, modules: *mut c_void) -> c_int {
    // SAFETY: `all` passes a pointer to a vector, and the loader a pointer to a valid description.
    let (modules, info) = unsafe { (&mut *modules.cast::<Vec<Module>>(), &*info) };
    // SAFETY: the loader's name is a C string, and there are that many headers.
    let (name, headers) = unsafe {
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        (CStr::from_ptr(info.dlpi_name).to_string_lossy().into_owned(), headers)
    };
    let base = info.dlpi_addr as usize;
    let range = |it: &libc::Elf64_Phdr| {
        let start = base + it.p_vaddr as usize;
        start..start + it.p_memsz as usize
    };
    let of = |kind: u32| headers.iter().filter(move |it| it.p_type == kind);
    let constant = of(libc::PT_GNU_RELRO).next().map(|it| {
        let range = range(it);
        range.start & !0xfff..range.end & !0xfff
    });
    let (mut text, mut data) = (Vec::new(), Vec::new());
    for header in of(libc::PT_LOAD) {
        let range = range(header);
        if header.p_flags & libc::PF_X != 0 {
            text.push(range.clone());
        }
        if header.p_flags & libc::PF_W == 0 {
            continue;
        }
        match &constant {
            Some(it) if it.start < range.end && range.start < it.end => {
                data.push(range.start..it.start.max(range.start));
                data.push(it.end.min(range.end)..range.end);
            }
            Some(_) | None => data.push(range),
        }
    }
    data.retain(|it| !it.is_empty());
    let local = of(libc::PT_TLS).next().map(|it| Local {
        number: info.dlpi_tls_modid,
        image: base + it.p_vaddr as usize,
        image_size: it.p_filesz as usize,
        size: it.p_memsz as usize,
    });
    let dynamic = of(libc::PT_DYNAMIC).next().map(|it| base + it.p_vaddr as usize);
    modules.push(Module { name, text, data, local, constant, base, dynamic });
    0
}

/// Code whose blocks are not those of the code under test: the system's, and this library's.
static SYSTEM_CODE: RuntimeOwned<Vec<Range<usize>>> = RuntimeOwned::new(Vec::new());
/// Code of this library.
static RUNTIME_CODE: RuntimeOwned<Vec<Range<usize>>> = RuntimeOwned::new(Vec::new());
/// Code under test.
static USER_CODE: RuntimeOwned<Vec<Range<usize>>> = RuntimeOwned::new(Vec::new());
/// Code of the C++ standard library.
static STANDARD_CODE: RuntimeOwned<Vec<Range<usize>>> = RuntimeOwned::new(Vec::new());

/// Finds the code ranges of the modules.
pub(super) fn find_system() {
    let modules = all();
    let text = |is: &dyn Fn(&Module) -> bool| {
        modules.iter().filter(|it| is(it)).flat_map(|it| it.text.clone()).collect::<Vec<_>>()
    };
    *SYSTEM_CODE.get() = text(&|it| it.is_one_of(&SYSTEM_MODULES) || it.is_one_of(&["libclewline_tsan"]));
    *RUNTIME_CODE.get() = text(&|it| it.is_one_of(&["libclewline_tsan"]));
    *USER_CODE.get() = text(&|it| it.is_restored() && !it.is_standard());
    *STANDARD_CODE.get() = text(&Module::is_standard);
}

/// Whether the code at an address belongs to the system.
#[inline(always)]
pub(super) fn is_system(address: usize) -> bool {
    SYSTEM_CODE.get().iter().any(|it| it.contains(&address))
}

/// Whether it belongs to the C++ standard library.
pub(super) fn is_standard(address: usize) -> bool {
    STANDARD_CODE.get().iter().any(|it| it.contains(&address))
}

/// Whether it is code under test, outside the standard libraries.
pub(super) fn is_user(address: usize) -> bool {
    USER_CODE.get().iter().any(|it| it.contains(&address))
}

/// Whether the code at an address belongs to this library.
pub(super) fn is_runtime(address: usize) -> bool {
    RUNTIME_CODE.get().iter().any(|it| it.contains(&address))
}

#[repr(C)]
struct Index {
    module: usize,
    offset: usize,
}

unsafe extern "C" {
    fn __tls_get_addr(index: *const Index) -> *mut u8;
}

/// The address of a module's data for this thread.
pub(super) fn address_of(local: &Local) -> usize {
    let index = Index { module: local.number, offset: 0 };
    // SAFETY: the loader gave the module this number.
    unsafe { __tls_get_addr(&index) as usize }
}
