//! The command line: `clewline --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    clewline_cli::run()
}
