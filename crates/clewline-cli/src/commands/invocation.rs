//! The program and the words of its command: those of the process, unless another program gives
//! them.

use std::{env, ffi::OsString, io, path::PathBuf, sync::OnceLock};

/// What another program gave.
static GIVEN: OnceLock<Invocation> = OnceLock::new();

/// A command, with the file that contains its code.
#[derive(Debug)]
struct Invocation {
    program: PathBuf,
    words: Vec<OsString>,
}

/// Sets the file that contains the code and the words of the command, the first of which is the
/// name of the program. Only the first call has an effect.
pub(super) fn set(program: PathBuf, words: Vec<OsString>) {
    let _earlier = GIVEN.set(Invocation { program, words });
}

/// The words of the command, the first of which is the name of the program.
pub(super) fn words() -> Vec<OsString> {
    GIVEN.get().map_or_else(|| env::args_os().collect(), |it| it.words.clone())
}

/// The words after the name of the program, as text.
pub(super) fn arguments() -> impl Iterator<Item = String> {
    words().into_iter().skip(1).map(|it| it.to_string_lossy().into_owned())
}

/// The file that contains the code of the command line.
pub(super) fn program() -> io::Result<PathBuf> {
    GIVEN.get().map_or_else(env::current_exe, |it| Ok(it.program.clone()))
}
