//! `clewline cargo test`: every interleaving of the tests of a Rust crate.

use std::{ffi::OsString, path::PathBuf};

use clewline_report::render::text::shell_word;
use clewline_unmodified::{Crate, Instrumentation, OutputMode, RunOptions, Runtime, Toolchain};

use super::{
    alone::explore_started,
    cc::tell_blind_spots,
    run::halves,
    status::{Failure, Status},
};

/// Build a Rust crate and what it depends on, unmodified, and explore its tests
///
/// Every test is run in a process of its own, again and again, under every schedule within a bound. A test that panics, waits for
/// ever, crashes, frees memory twice or uses it after it was freed in some schedule is shown with that schedule. Tests should be
/// small: two or three threads with a few calls each. The toolchain is the one that you use, stable or not; everything is
/// built in `target/clewline`. Installed as it is, `cargo clewline test` does the same.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Subcommand,
}

#[derive(Debug, clap::Subcommand)]
enum Subcommand {
    /// Build and explore tests
    #[command(
        override_usage = "clewline cargo test [FILTER] [OPTION OF CARGO TEST]… [-- OPTION OF EXPLORE…]"
    )]
    Test {
        /// Part of the names of the tests; then options as of `cargo test`; and after `--` options as of `clewline explore`
        #[arg(value_name = "FILTER", trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

const EXAMPLES: &str = "\
Examples:
  clewline cargo test
  clewline cargo test two_senders
  clewline cargo test two_senders -p my-channel --features std -- --preemptions 3

Exit codes: 0 no violation found, 1 violated, 2 bad usage or code that does not compile, 3 unknown.";

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
        eprintln!("note: this rustc instruments atomics alone: plain reads and writes are not seen");
    }
    let tested =
        Crate { folder: PathBuf::from("."), arguments: arguments.to_vec(), output: OutputMode::Inherited };
    let built = tested.build(&toolchain, &runtime)?;
    tell_blind_spots(built.unseen());
    let tests = built.tests(filter.as_deref())?;
    if tests.is_empty() {
        return Err(Failure::Told(match filter {
            Some(filter) => format!("no test has `{filter}` in its name"),
            None => "there are no tests".to_owned(),
        }));
    }
    let mut statuses = Vec::new();
    for test in tests {
        let mut command = format!("clewline cargo test {}", shell_word(&test.name));
        for word in arguments {
            command.push_str(&format!(" {}", shell_word(&word.to_string_lossy())));
        }
        // One that dies without a verdict does not keep the others from being explored.
        let start = |wanted: &RunOptions| test.start(wanted, OutputMode::Inherited);
        statuses.push(match explore_started(&test.name, format!("{command} --"), explored, start) {
            Err(Failure::Killed(told)) => {
                eprintln!("error: {}: {told}", test.name);
                Status::Failed
            }
            other => other?,
        });
    }
    let worst =
        [Status::Violated, Status::Failed, Status::Unknown].into_iter().find(|it| statuses.contains(it));
    Ok(worst.unwrap_or(Status::Done))
}
