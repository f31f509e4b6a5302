//! The command line of Clewline, with an additional entry in each table.
//!
//! Each file defines an entry, and a line below adds it.

mod checker;
mod format;
mod message_scheduler;
mod monitor;
mod specification;
mod subject;
mod system;
mod thread_scheduler;

use std::process::ExitCode;

use clewline_cli::{Extensions, run_with};

fn main() -> ExitCode {
    run_with(Extensions {
        specifications: &[specification::ENTRY],
        checkers: &[checker::ENTRY],
        monitors: &[monitor::ENTRY],
        formats: &[format::ENTRY],
        thread_schedulers: &[thread_scheduler::ENTRY],
        message_schedulers: &[message_scheduler::ENTRY],
        subjects: &[subject::ENTRY],
        systems: &[system::ENTRY],
        ..Extensions::default()
    })
}
