//! What a test declares: how the subject is constructed, and its operations.
//!
//! `clewline.h` calls these functions before `main` does anything.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint, c_ulong};

use super::{
    call::stubs,
    current_task::{self, RuntimeOwned},
    places, signals,
};

pub(super) type Work = extern "C" fn();
/// An operation, with room for four arguments.
pub(super) type Function = extern "C" fn(c_long, c_long, c_long, c_long) -> c_long;

/// How many arguments an operation may have.
pub(super) const ARGUMENTS_MAX: usize = 4;

/// An operation of the subject.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) name: String,
    pub(super) function: Function,
    /// The number of its arguments.
    pub(super) arguments: usize,
}

/// All declarations.
#[derive(Debug, Default)]
pub(super) struct Registration {
    pub(super) init: Option<Work>,
    finish: Option<Work>,
    pub(super) operations: Vec<Operation>,
    pub(super) matrices: Vec<String>,
    pub(super) golden: Option<String>,
    pub(super) quasi: Option<String>,
    pub(super) may_fail: Option<String>,
    pub(super) roles: Vec<String>,
    /// The failure outside tasks in this execution.
    failure: Option<String>,
}

static REGISTERED: RuntimeOwned<Option<Registration>> = RuntimeOwned::new(None);

/// The declarations so far.
pub(super) fn registered() -> &'static mut Registration {
    REGISTERED.get().get_or_insert_default()
}

/// Of two declarations, one would be dropped without a word.
fn check_first(is_first: bool, what: &str) {
    if !is_first {
        signals::die(&format!("error: {what} is declared twice, in one file or in two\n"));
    }
}

fn text(text: *const c_char) -> String {
    // SAFETY: the caller guarantees that it is a C string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_init(init: Work) {
    check_first(registered().init.is_none(), "`CLEWLINE_INIT`");
    registered().init = Some(init);
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_finish(finish: Work) {
    check_first(registered().finish.is_none(), "`CLEWLINE_FINISH`");
    registered().finish = Some(finish);
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_operation(name: *const c_char, function: Function, arguments: c_int) {
    let arguments = usize::try_from(arguments).unwrap_or(0).min(ARGUMENTS_MAX);
    let name = text(name);
    let is_first = registered().operations.iter().all(|it| it.name != name);
    check_first(is_first, &format!("the operation `{name}`"));
    registered().operations.push(Operation { name, function, arguments });
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_matrix(matrix: *const c_char) {
    registered().matrices.push(text(matrix));
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_golden(specification: *const c_char) {
    check_first(registered().golden.is_none(), "`CLEWLINE_GOLDEN`");
    registered().golden = Some(text(specification));
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_quasi(factors: *const c_char) {
    check_first(registered().quasi.is_none(), "`CLEWLINE_QUASI`");
    registered().quasi = Some(text(factors));
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_may_fail(results: *const c_char) {
    check_first(registered().may_fail.is_none(), "`CLEWLINE_MAY_FAIL`");
    registered().may_fail = Some(text(results));
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_role(role: *const c_char) {
    registered().roles.push(text(role));
}

// Results and arguments from here on are texts: their numbers.
const FIRST_TEXT: c_long = c_long::MIN + 16;
const TEXTS_MAX: usize = 1 << 20;

// Every text that was an argument or a result. They are never moved: the code has their addresses.
static TEXTS: RuntimeOwned<Vec<CString>> = RuntimeOwned::new(Vec::new());

/// The number of a text.
pub(super) fn intern(text: &str) -> c_long {
    let bytes: Vec<u8> = text.bytes().filter(|it| *it != 0).collect();
    let texts = TEXTS.get();
    let at = texts.iter().position(|it| it.as_bytes() == bytes).unwrap_or_else(|| {
        if texts.len() == TEXTS_MAX {
            signals::die("error: the operations return more than 1,048,576 different texts\n");
        }
        texts.push(CString::new(bytes).expect("zeros were left out"));
        texts.len() - 1
    });
    FIRST_TEXT + at as c_long
}

/// The text with that number, if it is that of one.
pub(super) fn text_of(number: c_long) -> Option<&'static CStr> {
    let at = usize::try_from(number.checked_sub(FIRST_TEXT)?).ok()?;
    TEXTS.get().get(at).map(CString::as_c_str)
}

/// A result that is shown as it is.
#[unsafe(no_mangle)]
extern "C" fn clewline_text(shown: *const c_char) -> c_long {
    current_task::as_runtime(|| intern(&text(shown)))
}

/// A result that is a string: shown in quotation marks, as specifications write it.
#[unsafe(no_mangle)]
extern "C" fn clewline_string(string: *const c_char) -> c_long {
    current_task::as_runtime(|| intern(&format!("{:?}", text(string))))
}

/// A result of 128 bits.
#[unsafe(no_mangle)]
extern "C" fn clewline_integer(high: c_long, low: c_ulong, is_signed: c_int) -> c_long {
    let number = i128::from(high) << 64 | i128::from(low);
    match c_long::try_from(number) {
        // Smaller ones are not numbers.
        Ok(number) if (0 <= number || is_signed != 0) && FIRST_TEXT + TEXTS_MAX as c_long <= number => number,
        _ if is_signed != 0 => current_task::as_runtime(|| intern(&number.to_string())),
        _ => current_task::as_runtime(|| intern(&(number as u128).to_string())),
    }
}

/// An argument as a string. A number is its digits.
#[unsafe(no_mangle)]
extern "C" fn clewline_argument_text(argument: c_long) -> *const c_char {
    let known = |number| text_of(number).map_or(c"".as_ptr(), CStr::as_ptr);
    match text_of(argument) {
        Some(text) => text.as_ptr(),
        None => current_task::as_runtime(|| known(intern(&argument.to_string()))),
    }
}

/// Writes the message of the exception that is handled, and returns its length.
type What = extern "C" fn(*mut c_char, c_long) -> c_long;

static WHAT: RuntimeOwned<Option<What>> = RuntimeOwned::new(None);

#[unsafe(no_mangle)]
extern "C" fn clewline_register_what(what: What) {
    *WHAT.get() = Some(what);
}

/// The message of the exception that is handled, in a program that is in C++.
pub(super) fn what() -> Option<String> {
    let what = (*WHAT.get())?;
    let mut room = [0_u8; 256];
    let written = what(room.as_mut_ptr().cast(), room.len() as c_long);
    let length = usize::try_from(written).ok()?.min(room.len());
    (length != 0).then(|| String::from_utf8_lossy(&room[..length]).into_owned())
}

extern "C" fn fail_at(message: *const c_char, pc: usize) {
    let message = text(message);
    match current_task::control() {
        Some(control) => places::fail(control, message, pc),
        None => registered().failure = Some(message),
    }
}

#[unsafe(no_mangle)]
extern "C" fn clewline_choose(n: c_uint) -> c_uint {
    match current_task::control() {
        Some(control) if 1 < n => control.choose(n),
        Some(_) | None => 0,
    }
}

stubs! {
    clewline_fail, "rsi" => fail_at;
}

/// An execution begins.
pub(super) fn begin() {
    registered().failure = None;
}

/// Every operation has returned.
pub(super) fn finish() {
    if let Some(finish) = registered().finish {
        current_task::outside_test_code(|| finish());
    }
}

/// The failure outside tasks.
pub(super) fn failure() -> Option<String> {
    registered().failure.take()
}
