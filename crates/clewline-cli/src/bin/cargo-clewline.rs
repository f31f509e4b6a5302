//! `cargo clewline`: what `clewline cargo` does, where Cargo finds it.

use std::{
    env,
    process::{Command, ExitCode},
};

/// Bad usage, as everywhere.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    // Cargo names the command again: `cargo-clewline clewline test`.
    let mut words = env::args_os().skip(1).peekable();
    words.next_if(|it| it == "clewline");
    let beside =
        env::current_exe().map(|it| it.with_file_name(format!("clewline{}", env::consts::EXE_SUFFIX)));
    let ran = beside.and_then(|it| Command::new(it).arg("cargo").args(words).status());
    match ran {
        Ok(status) => status.code().and_then(|it| u8::try_from(it).ok()).unwrap_or(FAILED).into(),
        Err(error) => {
            eprintln!("error: cannot run `clewline`, which should be beside this program: {error}");
            FAILED.into()
        }
    }
}
