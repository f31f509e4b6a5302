//! Inputs: what functions of the C and C++ libraries and of Rust's standard library read, such as
//! the text of `atoi`.
//!
//! A function that is called through `trampolines` reads its inputs unseen. For those in the table
//! the runtime makes the same accesses, just before the call: they race with what other tasks
//! write, and are points if they do. The function itself then reads the inputs again, all at once.
//! So where one of them is a point, this is reported: a torn input would not be seen.
//!
//! No byte is read after the one that decides. Where that is not known, the accesses are points,
//! and never a data race. Nor are they in Rust, where the library may have ordered them unseen.

use std::ffi::{CStr, c_char, c_int};

use clewline_remote::Points;
use clewline_threads::instrument::Control;

use super::{heap, interpose::InputReader, races, rust_std};

/// What a function reads. Numbers are those of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// A text up to its zero.
    Text(usize),
    /// Some of a text.
    PartOfText(usize),
    /// A text of `wchar_t`.
    WideText(usize),
    /// Some of such a text.
    PartOfWideText(usize),
    /// As many bytes as another argument says.
    Bytes(usize, usize),
    /// Some of them.
    PartOfBytes(usize, usize),
    /// An array, by its length and the size of an element; only if it is longer than this.
    Objects(usize, [usize; 2], usize),
    /// An object of this size.
    Object(usize, usize),
    /// Some of it.
    PartOfObject(usize, usize),
    /// A list of blocks, by its length: the `iovec`s of `writev`.
    Blocks(usize, usize),
    /// A `String` of Rust.
    RustText(usize),
    /// An integer, in the base that an argument says or in base ten.
    Integer(usize, Option<usize>),
    /// A number of any kind.
    Number(usize),
    /// The format of `printf`, and what it refers to.
    Format(usize),
    /// The same with a `va_list`, which is the next argument.
    FormatList(usize),
}

use Input::*;

/// Functions by their symbols.
const TABLE: &[(&[&str], &[Input])] = &[
    (&["atoi", "atol", "atoll"], &[Integer(0, None)]),
    (
        &[
            "strtol",
            "strtoll",
            "strtoul",
            "strtoull",
            "strtoimax",
            "strtoumax",
            "__isoc23_strtol",
            "__isoc23_strtoll",
            "__isoc23_strtoul",
            "__isoc23_strtoull",
        ],
        &[Integer(0, Some(2))],
    ),
    (&["atof", "strtod", "strtof", "strtold"], &[Number(0)]),
    (&["sscanf", "__isoc99_sscanf", "__isoc23_sscanf"], &[Text(0), Text(1)]),
    (&["vsscanf", "__isoc99_vsscanf", "__isoc23_vsscanf"], &[Text(0), Text(1)]),
    (&["puts", "fputs", "perror", "getenv", "open", "open64"], &[Text(0)]),
    (
        &[
            "access",
            "acct",
            "chdir",
            "chmod",
            "chown",
            "chroot",
            "creat",
            "creat64",
            "lchown",
            "lstat",
            "lstat64",
            "mkdir",
            "mkfifo",
            "opendir",
            "pathconf",
            "readlink",
            "realpath",
            "remove",
            "rmdir",
            "sem_unlink",
            "shm_open",
            "shm_unlink",
            "stat",
            "stat64",
            "statfs",
            "statvfs",
            "truncate",
            "truncate64",
            "unlink",
            "unsetenv",
            "utime",
            "utimes",
        ],
        &[Text(0)],
    ),
    (
        &[
            "faccessat",
            "fchmodat",
            "fchownat",
            "fstatat",
            "fstatat64",
            "mkdirat",
            "openat",
            "openat64",
            "unlinkat",
        ],
        &[Text(1)],
    ),
    (&["fopen", "fopen64", "freopen", "link", "rename", "setenv", "symlink"], &[Text(0), Text(1)]),
    (&["renameat", "linkat"], &[Text(1), Text(3)]),
    (&["a64l", "basename", "dirname", "index", "inet_addr", "inet_aton", "rindex"], &[PartOfText(0)]),
    (&["fnmatch", "strptime"], &[PartOfText(0), PartOfText(1)]),
    (&["inet_pton", "regcomp"], &[PartOfText(1)]),
    (&["inet_ntop"], &[Object(1, 4)]),
    (&["strlen"], &[Text(0)]),
    (&["memchr"], &[PartOfBytes(0, 2)]),
    (&["bcmp", "memcmp"], &[PartOfBytes(0, 2), PartOfBytes(1, 2)]),
    (&["strftime", "strftime_l"], &[Text(2), PartOfObject(3, TM_BYTES)]),
    (&["asctime", "asctime_r"], &[PartOfObject(0, TM_BYTES)]),
    (&["pselect"], &[PartOfObject(1, 128), PartOfObject(2, 128), PartOfObject(3, 128)]),
    (&["writev", "pwritev", "pwritev64"], &[Blocks(1, 2)]),
    (&["bind", "connect", "mq_send"], &[Bytes(1, 2)]),
    (&["setsockopt"], &[Bytes(3, 4)]),
    (&["mblen", "mbtowc", "mbrtowc", "mbrlen"], &[PartOfBytes(1, 2)]),
    (&["fwrite", "fwrite_unlocked"], &[Objects(0, [1, 2], 0)]),
    (&["qsort", "qsort_r"], &[Objects(0, [1, 2], 1)]),
    (&["pwrite", "pwrite64", "send", "sendto"], &[Bytes(1, 2)]),
    (&["printf"], &[Format(0)]),
    (&["fprintf", "sprintf", "asprintf", "dprintf", "syslog", "__printf_chk"], &[Format(1)]),
    (&["snprintf", "__fprintf_chk", "__asprintf_chk", "__dprintf_chk"], &[Format(2)]),
    (&["__sprintf_chk"], &[Format(3)]),
    (&["__snprintf_chk"], &[Format(4)]),
    (&["vprintf"], &[FormatList(0)]),
    (&["vfprintf", "vsprintf", "vasprintf", "vdprintf", "__vprintf_chk"], &[FormatList(1)]),
    (&["vsnprintf", "__vfprintf_chk", "__vasprintf_chk"], &[FormatList(2)]),
    (&["__vsprintf_chk"], &[FormatList(3)]),
    (&["__vsnprintf_chk"], &[FormatList(4)]),
    (&["strxfrm", "mbstowcs"], &[PartOfText(1)]),
    (&["strcoll", "strverscmp", "strcasestr"], &[PartOfText(0), PartOfText(1)]),
    (&["strchrnul", "rawmemchr", "strtok", "strtok_r", "__strtok_r"], &[PartOfText(0)]),
    (&["regexec"], &[PartOfText(1)]),
    (&["memmem"], &[PartOfBytes(0, 1), PartOfBytes(2, 3)]),
    (&["memrchr"], &[PartOfBytes(0, 2)]),
    (&["gmtime", "gmtime_r", "localtime", "localtime_r", "ctime", "ctime_r"], &[Object(0, 8)]),
    (&["wcslen"], &[WideText(0)]),
    (&["wcscpy", "wcpcpy", "wcscat", "wcstombs"], &[WideText(1)]),
    (&["wcscmp", "wcscoll", "wcsstr"], &[PartOfWideText(0), PartOfWideText(1)]),
    (&["wcschr", "wcsrchr", "wcstol", "wcstoll", "wcstoul", "wcstoull", "wcstod"], &[PartOfWideText(0)]),
    (&["wcsncmp", "wcsncpy"], &[PartOfWideText(1)]),
    (&["wmemcpy", "wmemmove"], &[Objects(1, [2, WIDE], 0)]),
    (&["wmemcmp"], &[PartOfWideText(0), PartOfWideText(1)]),
    // std::_Hash_bytes and std::_Fnv_hash_bytes: the hash of a string.
    (&["_ZSt11_Hash_bytesPKvmm", "_ZSt15_Fnv_hash_bytesPKvmm"], &[Bytes(0, 1)]),
    // How a string or a block is written to a stream.
    (
        &[
            "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l",
            "_ZNSo5writeEPKcl",
        ],
        &[Bytes(1, 2)],
    ),
    (&["_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc"], &[Text(1)]),
];

/// How many blocks the system takes.
const IOV_MAX: usize = 1024;
/// The size of a `struct tm`.
const TM_BYTES: usize = 56;
/// In the place of an argument: the size of a `wchar_t`.
const WIDE: usize = usize::MAX;
const WIDE_BYTES: usize = 4;

/// Functions of Rust's standard library, by their names. Results of three words have the first
/// argument.
const RUST_TABLE: &[(&str, &[Input])] = &[
    ("<alloc::string::String as core::clone::Clone>::clone", &[RustText(1)]),
    ("alloc::string::String::from_utf8_lossy", &[PartOfBytes(1, 2)]),
    ("alloc::str::<impl str>::to_lowercase", &[Bytes(1, 2)]),
    ("alloc::str::<impl str>::to_uppercase", &[Bytes(1, 2)]),
    ("core::str::converts::from_utf8", &[PartOfBytes(1, 2)]),
    ("core::str::count::do_count_chars", &[Bytes(0, 1)]),
    ("core::slice::memchr::memchr_aligned", &[PartOfBytes(1, 2)]),
    ("core::slice::memchr::memrchr", &[PartOfBytes(1, 2)]),
];

/// The types of which the functions that format them are in Rust's standard library.
const RUST_FORMATTED: &[(&[&str], &[Input])] = &[
    (&["bool", "u8", "i8"], &[Object(0, 1)]),
    (&["u16", "i16"], &[Object(0, 2)]),
    (&["u32", "i32", "f32", "char"], &[Object(0, 4)]),
    (&["u64", "i64", "usize", "isize", "f64"], &[Object(0, 8)]),
    (&["u128", "i128"], &[Object(0, 16)]),
    (&["str"], &[Bytes(0, 1)]),
    (&["alloc::string::String"], &[RustText(0)]),
];

/// What a function reads, by its symbol or its name in Rust; nothing if it is not in the tables.
pub(super) fn of(name: &str) -> &'static [Input] {
    let in_c = || TABLE.iter().find(|it| it.0.contains(&name)).map(|it| it.1);
    let in_rust = || RUST_TABLE.iter().find(|it| it.0 == name).map(|it| it.1);
    let formatted = || {
        let formatted = formatted_type(name)?;
        RUST_FORMATTED.iter().find(|it| it.0.contains(&formatted)).map(|it| it.1)
    };
    in_c().or_else(in_rust).or_else(formatted).unwrap_or_default()
}

/// The type in `<u8 as core::fmt::Debug>::fmt` or `core::fmt::num::<impl core::fmt::Debug for
/// u8>::fmt`.
fn formatted_type(name: &str) -> Option<&str> {
    let (before, after) = name.strip_suffix(">::fmt")?.split_once("core::fmt::")?;
    match before.strip_prefix('<') {
        Some(it) => it.strip_suffix(" as "),
        None => after.rsplit_once(" for ").map(|it| it.1),
    }
}

/// The registers with the arguments of a call, in their order.
pub(super) type Registers = [usize; 6];
/// Between the registers and the other arguments the trampoline has put as many bytes.
const BYTES_TO_STACK: usize = 88;

/// The code is about to call a function that reads these inputs, and will return to `pc`. Returns
/// whether one of them is written by other tasks at the same time.
pub(super) fn read(control: Control, inputs: &[Input], pc: usize, registers: &Registers) -> bool {
    if inputs.is_empty() {
        return false;
    }
    let reader = InputReader::new(control, pc);
    let reader = if rust_std::is_linked() { reader.silent() } else { reader };
    let mut has_points = false;
    for input in inputs {
        has_points |= read_one(reader, *input, registers);
    }
    // Elsewhere every access is one, or none.
    has_points && races::points() == Points::Racing
}

fn read_one(reader: InputReader, input: Input, registers: &Registers) -> bool {
    let value = |at: usize| if at == WIDE { WIDE_BYTES } else { registers[at] };
    match input {
        Text(at) => reader.text(value(at), usize::MAX),
        PartOfText(at) => reader.silent().text(value(at), usize::MAX),
        WideText(at) => reader.wide_text(value(at)),
        PartOfWideText(at) => reader.silent().wide_text(value(at)),
        Bytes(at, size) => reader.bytes(value(at), value(size)),
        PartOfBytes(at, size) => reader.silent().bytes(value(at), value(size)),
        Objects(at, [one, two], more_than) => {
            more_than < value(one) && reader.bytes(value(at), value(one).saturating_mul(value(two)))
        }
        Object(at, size) => reader.bytes(value(at), size),
        PartOfObject(at, size) => reader.silent().bytes(value(at), size),
        Blocks(at, count) => {
            let mut has_points = reader.bytes(value(at), value(count).saturating_mul(16));
            for number in 0..value(count).min(IOV_MAX) {
                // SAFETY: the caller of the C function guarantees that there are as many.
                let [block, size] = unsafe { *(value(at) as *const [usize; 2]).add(number) };
                has_points |= reader.bytes(block, size);
            }
            has_points
        }
        RustText(at) => read_rust_text(reader, value(at)),
        Integer(at, base) => {
            let base = base.map_or(10, |it| value(it) as c_int);
            reader.until(value(at), |it| !continues(it, |text, end| parse_integer(text, end, base)))
        }
        Number(at) => reader.until(value(at), |it| !continues(it, parse_number)),
        Format(at) => {
            let first = registers.as_ptr() as usize;
            let gp = 8 * (at as u32 + 1);
            read_format(
                reader,
                value(at),
                Variadic { gp, fp: 48, stack: first + BYTES_TO_STACK, saved: first },
            )
        }
        FormatList(at) => {
            // SAFETY: the caller of the C function guarantees that it is a list.
            let list = unsafe { *(value(at + 1) as *const Variadic) };
            read_format(reader, value(at), list)
        }
    }
}

/// Reads a `String`: its capacity, its length and the address of its bytes, in any order.
fn read_rust_text(reader: InputReader, at: usize) -> bool {
    let has_points = reader.bytes(at, 24);
    // SAFETY: the function reads it as well.
    let words = unsafe { *(at as *const [usize; 3]) };
    let Some(block) = words.into_iter().find(|it| heap::contains(*it)) else { return has_points };
    let size = words.into_iter().filter(|it| *it != block).min().unwrap_or_default();
    has_points | reader.bytes(block, size)
}

/// Whether more bytes after this text may belong to the number at its beginning.
fn continues(text: &[u8], parse: impl Fn(*const c_char, *mut *mut c_char)) -> bool {
    // What a number may continue with: a digit, or the rest of a word.
    const REST: [&str; 11] = ["1", "nfinity", "finity", "inity", "nity", "ity", "ty", "y", "f", "an", "n"];
    REST.iter().any(|rest| {
        let whole = [text, rest.as_bytes(), &[0]].concat();
        let mut end = std::ptr::null_mut();
        parse(whole.as_ptr().cast(), &mut end);
        end as usize == whole.as_ptr() as usize + whole.len() - 1
    })
}

fn parse_integer(text: *const c_char, end: *mut *mut c_char, base: c_int) {
    // SAFETY: it is a text, and `end` is writable.
    unsafe { libc::strtol(text, end, base) };
}

fn parse_number(text: *const c_char, end: *mut *mut c_char) {
    // SAFETY: as above.
    unsafe { libc::strtod(text, end) };
}

/// The arguments of a variadic function, as a `va_list` has them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Variadic {
    /// Offsets of the next saved register, for integers and for numbers.
    gp: u32,
    fp: u32,
    /// The next argument on the stack.
    stack: usize,
    /// Where the registers are saved.
    saved: usize,
}

impl Variadic {
    fn next_integer(&mut self) -> usize {
        let at = match self.gp < 48 {
            true => {
                self.gp += 8;
                self.saved + self.gp as usize - 8
            }
            false => self.next_on_stack(),
        };
        // SAFETY: the caller of the C function guarantees that there is an argument.
        unsafe { *(at as *const usize) }
    }

    fn skip_number(&mut self) {
        match self.fp < 176 {
            true => self.fp += 16,
            false => {
                self.next_on_stack();
            }
        }
    }

    fn skip_long_number(&mut self) {
        self.stack = self.stack.next_multiple_of(16) + 16;
    }

    fn next_on_stack(&mut self) -> usize {
        self.stack += 8;
        self.stack - 8
    }
}

/// Reads a format, and each text that it refers to.
fn read_format(reader: InputReader, format: usize, mut arguments: Variadic) -> bool {
    let mut has_points = reader.text(format, usize::MAX);
    // SAFETY: the caller of the C function guarantees that it is a text.
    let format = unsafe { CStr::from_ptr(format as *const c_char) }.to_bytes();
    let mut rest = format.iter().copied();
    while rest.by_ref().any(|it| it == b'%') {
        let (mut max, mut is_precision, mut is_long, mut is_wide) = (usize::MAX, false, false, false);
        for it in rest.by_ref() {
            match it {
                b'.' => (is_precision, max) = (true, 0),
                b'0'..=b'9' if is_precision => {
                    max = max.saturating_mul(10).saturating_add((it - b'0').into())
                }
                b'*' if is_precision => {
                    max = usize::try_from(arguments.next_integer() as c_int).unwrap_or(usize::MAX)
                }
                b'*' => {
                    arguments.next_integer();
                }
                // Arguments that are numbered: nothing is known of the others.
                b'$' => return has_points,
                b'l' => is_wide = true,
                b'L' => is_long = true,
                b's' if is_wide => {
                    has_points |= reader.silent().wide_text(arguments.next_integer());
                    break;
                }
                b's' => {
                    has_points |= reader.text(arguments.next_integer(), max);
                    break;
                }
                b'S' => {
                    has_points |= reader.silent().wide_text(arguments.next_integer());
                    break;
                }
                b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                    if is_long {
                        arguments.skip_long_number()
                    } else {
                        arguments.skip_number()
                    }
                    break;
                }
                b'%' | b'm' => break,
                b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'C' | b'p' | b'n' => {
                    arguments.next_integer();
                    break;
                }
                _ => (),
            }
        }
    }
    has_points
}
