//! What C calls. `include/clewline_check.h` has the same functions, with what they mean.
//!
//! All unsafe code is here: it reads texts and bytes that C passes, and stores results where C
//! says. Handles are never followed. No panic gets out.

use std::{
    any::Any,
    cell::RefCell,
    ffi::{CStr, CString, c_char, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    ptr, slice,
    time::Duration,
};

use clewline_core::Criterion;

use crate::{
    Call, Failure, Spec, Status,
    handles::{free, give, look_up},
    history::History,
    recorder::{End, Recorder},
    report::{Operation, Report, c_text},
};

/// An operation, as C reads it. The texts belong to the report.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ClewlineOperation {
    index: usize,
    process: *const c_char,
    object: *const c_char,
    label: *const c_char,
}

const OK: i32 = 0;
const NO_VERDICT: i32 = -1;

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Runs a call: its value, or `other` if it failed, which is then the last error.
fn guarded<T>(other: impl FnOnce(Status) -> T, call: impl FnOnce() -> Result<T, Failure>) -> T {
    // What a panic leaves behind is not used again, or is behind a lock that expects it.
    let failure = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => return value,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure { status: Status::Internal, message: message_of(&*panic) },
    };
    let status = failure.status;
    // A thread that is ending has no last error.
    let _ended = ERROR.try_with(|it| *it.borrow_mut() = c_text(failure.message));
    other(status)
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    format!("internal error: {text}; please report this bug in Clewline")
}

fn status_of(call: impl FnOnce() -> Result<(), Failure>) -> i32 {
    guarded(|status| status as i32, || call().map(|()| OK))
}

/// A text that may be null.
///
/// # Safety
///
/// `text` is null, or points to bytes that are not changed while the text is used, and of which one
/// is zero.
unsafe fn optional<'a>(what: &str, text: *const c_char) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null, and the caller promises the rest.
    let bytes = unsafe { CStr::from_ptr(text) };
    let not_utf8 = |it| Failure::argument(format!("{what}: expected UTF-8, found other bytes: {it}"));
    bytes.to_str().map(Some).map_err(not_utf8)
}

/// A text.
///
/// # Safety
///
/// As of [`optional`].
unsafe fn required<'a>(what: &str, text: *const c_char) -> Result<&'a str, Failure> {
    // SAFETY: the caller promises it.
    let text = unsafe { optional(what, text) }?;
    text.ok_or_else(|| Failure::argument(format!("{what}: expected a text, found a null pointer")))
}

/// A place for a result.
///
/// # Safety
///
/// `place` is null, or may be written as long as the place is used.
unsafe fn place<'a, T>(place: *mut T) -> Result<&'a mut std::mem::MaybeUninit<T>, Failure> {
    if place.is_null() || !place.is_aligned() {
        return Err(Failure::argument("expected a place for the result, found a null pointer"));
    }
    // SAFETY: it is neither null nor misaligned, nothing is read from it, and the caller promises
    // the rest.
    Ok(unsafe { &mut *place.cast() })
}

/// What is called.
///
/// # Safety
///
/// As of [`optional`], for each text.
unsafe fn call_of(object: *const c_char, op: *const c_char, arg: *const c_char) -> Result<Call, Failure> {
    // SAFETY: the caller promises it.
    let (object, op, arg) = unsafe {
        (optional("the object", object)?, required("the operation", op)?, optional("the argument", arg)?)
    };
    Call::new(object, op, arg)
}

/// The last error on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_error() -> *const c_char {
    ERROR.try_with(|it| it.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Makes a history.
///
/// # Safety
///
/// `spec` is a text, and `history` a place for a pointer; either may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_history_new(spec: *const c_char, history: *mut *mut History) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let (spec, place) = unsafe { (required("the specification", spec)?, place(history)?) };
        place.write(give(History::new(Spec::find(spec)?)?));
        Ok(())
    })
}

/// Makes a history of objects whose specification is a script.
///
/// # Safety
///
/// `file` and `text` are texts, and `history` a place for a pointer; each may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_history_new_script(
    file: *const c_char,
    text: *const c_char,
    history: *mut *mut History,
) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let (spec, place) = unsafe { (script_of(file, text)?, place(history)?) };
        place.write(give(History::new(spec)?));
        Ok(())
    })
}

/// The specification in the text of a script.
///
/// # Safety
///
/// As of [`optional`], for each text.
unsafe fn script_of(file: *const c_char, text: *const c_char) -> Result<Spec, Failure> {
    // SAFETY: the caller promises it.
    let (file, text) = unsafe { (required("the name of the script", file)?, required("the script", text)?) };
    Spec::script(file, text)
}

/// Frees a history.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_history_free(history: *mut History) -> i32 {
    status_of(|| free(history))
}

/// Sets the initial state.
///
/// # Safety
///
/// `initial` is a text, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_history_set_initial(history: *mut History, initial: *const c_char) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let initial = unsafe { optional("the initial state", initial) }?.map(str::to_owned);
        look_up(history)?.set(|it| it.initial = initial);
        Ok(())
    })
}

/// Sets the correctness criterion.
///
/// # Safety
///
/// `criterion` is a text, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_history_set_criterion(
    history: *mut History,
    criterion: *const c_char,
) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let criterion = unsafe { optional("the criterion", criterion) }?;
        let criterion = criterion.map(str::parse::<Criterion>).transpose().map_err(Failure::input)?;
        look_up(history)?.set(|it| it.criterion = criterion.unwrap_or_default());
        Ok(())
    })
}

/// Sets the time limit.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_history_set_timeout_ms(history: *mut History, timeout: u64) -> i32 {
    let timeout = (timeout != 0).then(|| Duration::from_millis(timeout));
    status_of(|| {
        look_up(history)?.set(|it| it.timeout = timeout);
        Ok(())
    })
}

/// Sets the memory limit.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_history_set_memory_bytes(history: *mut History, bytes: u64) -> i32 {
    let bytes = (bytes != 0).then(|| usize::try_from(bytes).unwrap_or(usize::MAX));
    status_of(|| {
        look_up(history)?.set(|it| it.memory = bytes);
        Ok(())
    })
}

/// Sets the number of threads.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_history_set_jobs(history: *mut History, jobs: u32) -> i32 {
    status_of(|| {
        let jobs = usize::try_from(jobs).ok().filter(|it| (1..=JOBS_MAX).contains(it));
        let why = || Failure::argument(format!("expected from 1 to {JOBS_MAX} threads"));
        let jobs = jobs.ok_or_else(why)?;
        look_up(history)?.set(|it| it.jobs = Some(jobs));
        Ok(())
    })
}

const JOBS_MAX: usize = 1024;

/// Adds an operation that returned.
///
/// # Safety
///
/// `object`, `op`, `arg` and `ret` are texts, or null.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "an operation has that many parts")]
pub unsafe extern "C" fn clewline_history_add(
    history: *mut History,
    process: u64,
    object: *const c_char,
    op: *const c_char,
    arg: *const c_char,
    ret: *const c_char,
    called: i64,
    returned: i64,
) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let (call, ret) = unsafe { (call_of(object, op, arg)?, optional("the result", ret)?) };
        look_up(history)?.add(process, &call, called, Some((ret, returned)))
    })
}

/// Adds an operation that did not return.
///
/// # Safety
///
/// `object`, `op` and `arg` are texts, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_history_add_pending(
    history: *mut History,
    process: u64,
    object: *const c_char,
    op: *const c_char,
    arg: *const c_char,
    called: i64,
) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let call = unsafe { call_of(object, op, arg) }?;
        look_up(history)?.add(process, &call, called, None)
    })
}

/// Reads the contents of a file.
///
/// # Safety
///
/// `name` is a text, or null; `contents` points to `size` bytes, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_history_read(
    history: *mut History,
    name: *const c_char,
    contents: *const c_void,
    size: usize,
) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let name = unsafe { required("the name", name) }?;
        if contents.is_null() || isize::MAX as usize <= size {
            return Err(Failure::argument("expected the contents of a file, found a null pointer"));
        }
        // SAFETY: it is not null, bytes have no alignment, and the caller promises the rest.
        let contents = unsafe { slice::from_raw_parts(contents.cast::<u8>(), size) };
        look_up(history)?.read(name, contents)
    })
}

/// How many operations were added.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_history_size(history: *const History) -> usize {
    guarded(|_| 0, || Ok(look_up(history)?.size()))
}

/// Judges a history.
///
/// # Safety
///
/// `report` is a place for a pointer, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_history_judge(history: *const History, report: *mut *mut Report) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let place = unsafe { place(report) }?;
        place.write(give(look_up(history)?.judge()?));
        Ok(())
    })
}

/// Makes a recorder.
///
/// # Safety
///
/// `spec` is a text, and `recorder` a place for a pointer; either may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_recorder_new(spec: *const c_char, recorder: *mut *mut Recorder) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let (spec, place) = unsafe { (required("the specification", spec)?, place(recorder)?) };
        place.write(give(Recorder::new(Spec::find(spec)?)));
        Ok(())
    })
}

/// Makes a recorder for objects whose specification is a script.
///
/// # Safety
///
/// `file` and `text` are texts, and `recorder` a place for a pointer; each may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_recorder_new_script(
    file: *const c_char,
    text: *const c_char,
    recorder: *mut *mut Recorder,
) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let (spec, place) = unsafe { (script_of(file, text)?, place(recorder)?) };
        place.write(give(Recorder::new(spec)));
        Ok(())
    })
}

/// Frees a recorder.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_recorder_free(recorder: *mut Recorder) -> i32 {
    status_of(|| free(recorder))
}

/// Records a call.
///
/// # Safety
///
/// `object`, `op` and `arg` are texts, and `operation` a place for a number; each may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_recorder_call(
    recorder: *mut Recorder,
    client: u64,
    object: *const c_char,
    op: *const c_char,
    arg: *const c_char,
    operation: *mut u64,
) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let (call, place) = unsafe { (call_of(object, op, arg)?, place(operation)?) };
        place.write(look_up(recorder)?.call(client, call)?);
        Ok(())
    })
}

/// Records a return.
///
/// # Safety
///
/// `ret` is a text, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_recorder_returned(
    recorder: *mut Recorder,
    operation: u64,
    ret: *const c_char,
) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let ret = unsafe { optional("the result", ret) }?;
        look_up(recorder)?.returned(operation, ret)
    })
}

/// Records that an operation had no effect.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_recorder_failed(recorder: *mut Recorder, operation: u64) -> i32 {
    status_of(|| look_up(recorder)?.ended(operation, End::Failed))
}

/// Records that an operation stays pending.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_recorder_dropped(recorder: *mut Recorder, operation: u64) -> i32 {
    status_of(|| look_up(recorder)?.ended(operation, End::Dropped))
}

/// Notes that something happened.
///
/// # Safety
///
/// `text` is a text, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_recorder_note(recorder: *mut Recorder, text: *const c_char) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let text = unsafe { required("the note", text) }?;
        look_up(recorder)?.note(text);
        Ok(())
    })
}

/// Copies the history so far.
///
/// # Safety
///
/// `history` is a place for a pointer, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_recorder_history(
    recorder: *const Recorder,
    history: *mut *mut History,
) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let place = unsafe { place(history) }?;
        place.write(give(look_up(recorder)?.history()?));
        Ok(())
    })
}

/// Saves the history so far.
///
/// # Safety
///
/// `path` is a text, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_recorder_save(recorder: *const Recorder, path: *const c_char) -> i32 {
    status_of(|| {
        // SAFETY: the caller promises it.
        let path = unsafe { required("the path", path) }?;
        look_up(recorder)?.save(Path::new(path))
    })
}

/// Frees a report.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_report_free(report: *mut Report) -> i32 {
    status_of(|| free(report))
}

/// The verdict.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_report_verdict(report: *const Report) -> i32 {
    guarded(|_| NO_VERDICT, || Ok(look_up(report)?.verdict()))
}

/// A text of a report, which keeps it until it is freed.
fn text_of(report: *const Report, text: fn(&Report) -> &CString) -> *const c_char {
    guarded(|_| ptr::null(), || Ok(text(&*look_up(report)?).as_ptr()))
}

/// The first line.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_report_sentence(report: *const Report) -> *const c_char {
    text_of(report, Report::sentence)
}

/// The whole report, for people.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_report_text(report: *const Report) -> *const c_char {
    text_of(report, Report::text)
}

/// The report for programs.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_report_json(report: *const Report) -> *const c_char {
    text_of(report, Report::json)
}

/// The report as a page.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_report_html(report: *const Report) -> *const c_char {
    text_of(report, Report::html)
}

/// How many operations were judged.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_report_operations(report: *const Report) -> usize {
    guarded(|_| 0, || Ok(look_up(report)?.operations()))
}

/// How many operations the counterexample has.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_report_counterexample_size(report: *const Report) -> usize {
    guarded(|_| 0, || Ok(look_up(report)?.counterexample().len()))
}

/// An operation of the counterexample.
///
/// # Safety
///
/// `operation` is a place for one, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_report_counterexample(
    report: *const Report,
    at: usize,
    operation: *mut ClewlineOperation,
) -> i32 {
    // SAFETY: the caller promises it.
    status_of(|| store(at, look_up(report)?.counterexample(), unsafe { place(operation) }?))
}

/// How many operations the linearization has.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_report_witness_size(report: *const Report) -> usize {
    guarded(|_| 0, || Ok(look_up(report)?.witness().len()))
}

/// An operation of the linearization.
///
/// # Safety
///
/// `operation` is a place for one, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clewline_report_witness(
    report: *const Report,
    at: usize,
    operation: *mut ClewlineOperation,
) -> i32 {
    // SAFETY: the caller promises it.
    status_of(|| store(at, look_up(report)?.witness(), unsafe { place(operation) }?))
}

/// Stores the operation at a place of a list, whose texts stay where they are.
fn store(
    at: usize,
    operations: &[Operation],
    place: &mut std::mem::MaybeUninit<ClewlineOperation>,
) -> Result<(), Failure> {
    let len = operations.len();
    let none = || Failure::argument(format!("expected a place before {len}, found {at}"));
    let Operation { index, process, object, label } = operations.get(at).ok_or_else(none)?;
    place.write(ClewlineOperation {
        index: index.unwrap_or(usize::MAX),
        process: process.as_ptr(),
        object: object.as_ref().map_or(ptr::null(), |it| it.as_ptr()),
        label: label.as_ptr(),
    });
    Ok(())
}
