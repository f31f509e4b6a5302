//! Descriptions of addresses: source lines for code, heap blocks for data.

use std::{
    collections::BTreeMap,
    ffi::{CStr, CString, c_char, c_int},
    ptr,
};

use clewline_threads::{
    control::{FailureKind, Panic},
    instrument::{Control, Site},
    is_standard,
};

use super::{
    current_task::{self, RuntimeOwned},
    heap, modules,
};

/// The source line of the call that returns to `address`. Of the functions inlined there, the
/// outermost one outside the standard libraries, otherwise the innermost one.
pub(super) fn resolve(address: usize) -> Option<Site> {
    let mut sites = inlined(address);
    let at = sites.iter().position(|it| !is_standard(&it.file)).unwrap_or(0);
    (at < sites.len()).then(|| sites.swap_remove(at))
}

/// The same as a report shows it: of a function that has no name, the file of its library.
pub(super) fn shown(address: usize) -> Option<Site> {
    let library = || {
        let is_in = |it: &modules::Module| it.text.iter().any(|it| it.contains(&(address - 1)));
        let name = modules::all().into_iter().find(is_in)?.name;
        let file = name.rsplit('/').next().filter(|it| !it.is_empty())?;
        Some(Site { file: format!("{file} (no symbols)").into(), line: 0, function: None })
    };
    resolve(address).or_else(library)
}

/// The code into which the atomic access at `address` is inlined, through the functions of atomics
/// only.
pub(super) fn atomic_caller(address: usize) -> Option<Site> {
    const ATOMICS: [&str; 3] = ["/core/src/sync/atomic.rs", "/core/src/intrinsics", "/core/src/macros"];
    inlined(address).into_iter().find(|it| !ATOMICS.iter().any(|part| it.file.contains(part)))
}

/// Whether it is a line outside the standard libraries.
pub(super) fn is_user_line(site: &Site) -> bool {
    site.line != 0 && !is_standard(&site.file)
}

/// The functions that are inlined at the call that returns to `address`, innermost first, and the
/// one that contains it.
fn inlined(address: usize) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    // This resolves the byte before, which belongs to the call.
    backtrace::resolve(address as *mut _, |symbol| {
        let function = symbol.name().map(|it| format!("{it:#}"));
        // Without debug information, the function has to do.
        let file = symbol.filename().map(|it| it.to_string_lossy().into_owned());
        let Some(file) = file.or_else(|| function.clone()) else { return };
        sites.push(Site { file: file.into(), line: symbol.lineno().unwrap_or(0), function });
    });
    sites
}

/// Of each address that was asked for: whether its source line is outside the standard libraries.
static OWN_LINES: RuntimeOwned<BTreeMap<usize, bool>> = RuntimeOwned::new(BTreeMap::new());

fn is_own_line(address: usize) -> bool {
    let resolved = || resolve(address).is_some_and(|it| is_user_line(&it));
    *OWN_LINES.get().entry(address).or_insert_with(resolved)
}

/// The return address of the innermost call outside the standard libraries, on the stack of the
/// running task, if the code at `address` is inside them: the line that the user wrote.
pub(super) fn own_caller(address: usize) -> usize {
    if is_own_line(address) {
        return address;
    }
    let mut found = address;
    backtrace::trace(|frame| {
        let caller = frame.ip() as usize;
        if modules::is_user(caller) && is_own_line(caller) {
            found = caller;
        }
        found == address
    });
    found
}

/// The same for code that was interrupted: its callers are found by their frames, of which `frame`
/// is the innermost.
pub(super) fn own_frame(address: usize, mut frame: usize) -> usize {
    const FRAMES_MAX: usize = 64;
    if is_own_line(address) {
        return address;
    }
    for _ in 0..FRAMES_MAX {
        let is_frame = frame.is_multiple_of(8) && current_task::is_own_stack(frame + 15);
        if !is_frame || !current_task::is_own_stack(frame) || current_task::is_guard(frame) {
            break;
        }
        // SAFETY: both words are on the stack of the running task, which is mapped. Code without
        // frame pointers may have put anything there.
        let [outer, caller] = unsafe { *(frame as *const [usize; 2]) };
        if modules::is_user(caller) && is_own_line(caller) {
            return caller;
        }
        if outer <= frame {
            break;
        }
        frame = outer;
    }
    address
}

/// The name of a C++ function as the source has it, with its parameters. The C++ standard library
/// knows it, if it is loaded.
pub(super) fn demangled(symbol: &str) -> Option<String> {
    type Demangle = extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *mut c_char;
    let symbol = CString::new(symbol).ok()?;
    // SAFETY: the name is a C string. The function has this type in the C++ ABI, and returns a C
    // string, which lives as long as the program.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_demangle".as_ptr());
        if found.is_null() {
            return None;
        }
        let demangle: Demangle = std::mem::transmute(found);
        let name = demangle(symbol.as_ptr(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    }
}

/// The same without its parameters, or a name of C.
pub(super) fn readable(symbol: &str) -> String {
    let shown = demangled(symbol).unwrap_or_else(|| symbol.to_owned());
    shown.split('(').next().unwrap_or_default().to_owned()
}

/// The symbol of the function at an address, if its module exports it.
pub(super) fn symbol(address: usize) -> Option<String> {
    // SAFETY: all zeros is a valid value.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: it is writable. A name that is found lives as long as the module.
    unsafe {
        if libc::dladdr(address as *const _, &raw mut info) == 0 || info.dli_sname.is_null() {
            return None;
        }
        Some(CStr::from_ptr(info.dli_sname).to_string_lossy().into_owned())
    }
}

/// A block by its number, and the offset in it: `#2+8`.
pub(super) fn name(address: usize) -> Option<String> {
    let block = heap::block_of(address)?;
    Some(match block.offset {
        0 => format!("#{}", block.number),
        offset => format!("#{}+{offset}", block.number),
    })
}

/// A longer description.
pub(super) fn describe(address: usize) -> String {
    let Some(block) = heap::block_of(address) else { return format!("{address:#x}") };
    let site = resolve(block.site).map_or_else(String::new, |it| format!(", allocated at {it}"));
    let within = if block.offset == 0 { String::new() } else { format!("byte {} of ", block.offset) };
    format!("{within}block #{} of {} bytes{site}", block.number, block.size)
}

/// Ends the execution: the code at `pc`, which a task runs, has failed.
#[cold]
pub(super) fn fail(control: Control, message: String, pc: usize) -> ! {
    fail_as(control, FailureKind::Failure, message, pc)
}

/// The same for a failure of that kind.
#[cold]
pub(super) fn fail_as(control: Control, kind: FailureKind, message: String, pc: usize) -> ! {
    // As the compiler names the file: the driver, not this process, knows where it is relative to.
    let place =
        current_task::as_runtime(|| resolve(own_caller(pc))).map(|it| format!("{}:{}", it.file, it.line));
    control.fail(Panic { kind, message, place, step: None }, current_task::place(pc))
}
