//! `clewline cargo test`: every interleaving of the tests of a Rust crate.

use std::{ffi::OsString, path::PathBuf};

use clewline_report::render::text::shell_word;
use clewline_unmodified::{Crate, Instrumentation, OutputMode, RunOptions, Runtime, Toolchain};

use super::{
    cc::print_blind_spots,
    explore_program::explore_started,
    run::halves,
    status::{Failure, Status},
};

/// Build an unmodified Rust crate and its dependencies, and explore its tests
///
/// Each test runs in its own process, repeatedly, under every schedule within the bound. Panics,
/// deadlocks, crashes, double frees and uses after free are shown with the schedule that causes
/// them. Tests should be small: two or three threads with a few calls each. The current toolchain
/// is used, stable or nightly; the build directory is `target/clewline`. `cargo clewline test` is
/// the same command.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Subcommand,
}

#[derive(Debug, clap::Subcommand)]
enum Subcommand {
    /// Build and explore the tests of a crate
    #[command(override_usage = "clewline cargo test [FILTER] [CARGO_TEST_OPTION]… [-- EXPLORE_OPTION…]")]
    Test {
        /// Part of the test name; then options of `cargo test`; after `--`: options of `clewline
        /// explore`
        #[arg(value_name = "FILTER", trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

const EXAMPLES: &str = "\
Examples:
  clewline cargo test
  clewline cargo test two_senders
  clewline cargo test two_senders -p my-channel --features std -- --preemptions 3

Exit codes: 0 no violation found, 1 violated, 2 invalid arguments or compile error, 3 unknown.";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let Subcommand::Test { words } = &args.command;
    let (words, explored) = halves(words, std::env::args_os());
    let (filter, arguments) = match words.split_first() {
        Some((first, rest)) if !first.to_string_lossy().starts_with('-') => {
            (Some(first.to_string_lossy().into_owned()), rest)
        }
        Some(_) | None => (None, words),
    };
    let runtime = Runtime::find()?;
    let toolchain = Toolchain::find()?;
    if toolchain.instrumentation() == Instrumentation::Atomics {
        eprintln!(
            "note: this rustc instruments only atomic accesses: non-atomic reads and writes are not scheduling points"
        );
    }
    let tested =
        Crate { folder: PathBuf::from("."), arguments: arguments.to_vec(), output: OutputMode::Inherited };
    let built = tested.build(&toolchain, &runtime)?;
    print_blind_spots(built.unseen());
    let tests = built.tests(filter.as_deref())?;
    if tests.is_empty() {
        return Err(Failure::Message(match filter {
            Some(filter) => format!("no test name contains `{filter}`"),
            None => "the crate has no tests".to_owned(),
        }));
    }
    let mut statuses = Vec::new();
    for test in tests {
        let mut command = format!("clewline cargo test {}", shell_word(&test.name));
        for word in arguments {
            command.push_str(&format!(" {}", shell_word(&word.to_string_lossy())));
        }
        // A test that is killed without a verdict does not stop the others.
        let start = |wanted: &RunOptions| test.start(wanted, OutputMode::Inherited);
        statuses.push(match explore_started(&test.name, format!("{command} --"), explored, &[], start) {
            Err(Failure::Killed(message)) => {
                eprintln!("error: {}: {message}", test.name);
                Status::Failed
            }
            other => other?,
        });
    }
    let worst =
        [Status::Violated, Status::Failed, Status::Unknown].into_iter().find(|it| statuses.contains(it));
    Ok(worst.unwrap_or(Status::Done))
}
