//! The command line, one file per subcommand.
//!
//! Data goes to standard output, messages to standard error. `Status` defines the exit codes.

#[cfg(feature = "lab")]
mod actors;
mod bounds;
mod cargo;
mod cc;
mod check;
mod completions;
mod compressed;
mod convert;
mod drawings;
mod excerpt;
mod explore;
mod explore_program;
mod generate;
mod header;
mod invocation;
mod journal;
mod kept_entry;
#[cfg(feature = "lab")]
mod kept_report;
mod known;
mod merge;
mod merged;
mod output;
mod pattern;
mod progress;
mod quasi;
mod registered;
#[cfg(feature = "lab")]
mod reproduce;
mod run;
mod shard;
mod signals;
mod specs;
mod status;
#[cfg(feature = "lab")]
mod stress;
#[cfg(feature = "lab")]
mod subjects;
mod summaries;
#[cfg(feature = "lab")]
mod systems;
#[cfg(feature = "lab")]
mod tables;
mod timed_input;
mod units;

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

pub use compressed::{Decoded, is_compressed};
use status::{Failure, Status, print_usage, report_failure};

use clap::{Args as _, CommandFactory, Parser, Subcommand, error::ErrorKind};

use crate::extensions::Extensions;

/// Linearizability testing of concurrent and distributed objects
///
/// Clewline checks whether histories of concurrent operations are linearizable. It reads recorded
/// histories, or it records them itself: with real threads, with controlled threads under every
/// interleaving, or with actors under every order of messages. If a history is not linearizable, it
/// shows a minimal counterexample.
#[derive(Debug, Parser)]
#[command(name = "clewline", version, max_term_width = 100, after_long_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  clewline check recorded.jsonl --spec queue       check a recorded history
  clewline stress ms-queue:unlinked-tail           test with real threads
  clewline explore treiber-stack:aba               explore every interleaving of a few calls
  clewline actors edr                              explore every order of messages between actors
  clewline cc stack_test.c stack.c                 explore unmodified C or C++ code
  clewline cargo test                              explore the tests of a Rust crate
  clewline subjects                                list the built-in structures
  clewline systems                                 list the built-in actor systems
  clewline specs                                   list the sequential specifications
  clewline generate --spec queue --operations 50   generate a random history

Exit codes of `check`, `stress`, `explore`, `actors`, `cc`, `run` and `cargo`: 0 holds, 1 violated,\n2 invalid arguments or unreadable input, 3 unknown, 130 interrupted (Ctrl-C), 143 terminated (SIGTERM).";

#[derive(Debug, Subcommand)]
enum Command {
    Check(Box<check::Args>),
    #[cfg(feature = "lab")]
    Stress(Box<stress::Args>),
    Explore(Box<explore::Args>),
    #[cfg(feature = "lab")]
    Actors(Box<actors::Args>),
    Cc(cc::Args),
    Run(run::Args),
    Cargo(cargo::Args),
    Header(header::Args),
    #[cfg(feature = "lab")]
    Subjects(subjects::Args),
    #[cfg(feature = "lab")]
    Systems(systems::Args),
    Specs(specs::Args),
    Generate(generate::Args),
    Convert(convert::Args),
    Merge(merge::Args),
    #[cfg(feature = "lab")]
    Reproduce(reproduce::Args),
    #[cfg(feature = "lab")]
    Tables(tables::Args),
    Completions(completions::Args),
}

/// Runs the command that the arguments of the process name.
#[must_use]
pub fn run() -> ExitCode {
    run_with(Extensions::default())
}

/// The same with `extensions` in addition to the built-in entries. A program calls it once.
#[must_use]
pub fn run_with(extensions: Extensions) -> ExitCode {
    ExitCode::from(exit_code(extensions))
}

/// The same in a program of another language, which gives the words of the command (the first is
/// the name of the program) and the file that contains this code. Returns the exit code. A process
/// calls it once.
#[must_use]
pub fn run_words(program: PathBuf, words: Vec<OsString>, extensions: Extensions) -> u8 {
    invocation::set(program, words);
    exit_code(extensions)
}

fn exit_code(extensions: Extensions) -> u8 {
    signals::handle();
    let status = report_failure(extensions.add().map_err(Failure::Message).and_then(|()| execute()));
    signals::status().unwrap_or(status) as u8
}

/// The commands, their arguments and their help, from which the reference of the manual is
/// generated. Where arguments of a compiler or of a program may follow, options come after these,
/// and are read later; here they are arguments of the command.
#[must_use]
pub fn definition() -> clap::Command {
    let explores = explore_program::ProgramOptions::augment_args;
    Cli::command().mut_subcommands(|it| match it.get_name() {
        "cc" | "run" => explores(it),
        "cargo" => it.mut_subcommand("test", explores),
        _ => it,
    })
}

/// Whether the command line accepts these words, as a shell splits them: reports propose commands,
/// and tests check that each can be typed.
///
/// # Errors
///
/// What is wrong with them.
#[doc(hidden)]
pub fn accepts(words: &[String]) -> Result<(), String> {
    let typed = || words.iter().map(OsString::from);
    let inner = match Cli::try_parse_from(words).map_err(|it| it.to_string())?.command {
        Command::Cc(args) => args.explore_options().map_err(|it| format!("{it:?}"))?,
        Command::Run(args) => args.explore_options(typed()),
        Command::Cargo(args) => args.explore_options(typed()),
        _ => return Ok(()),
    };
    match explore_program::parse("it", &inner) {
        Ok(Ok(_)) => Ok(()),
        other => Err(format!("{words:?}: {:?}", other.map(|it| it.is_ok()))),
    }
}

fn execute() -> Result<Status, Failure> {
    let cli = match Cli::try_parse_from(invocation::words()) {
        Ok(cli) => cli,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            let documented = definition().try_get_matches_from(invocation::words());
            return print_usage(&documented.err().unwrap_or(error));
        }
        Err(error) => return print_usage(&error),
    };
    match cli.command {
        Command::Check(args) => match args.shard() {
            Some(shard) => check::shards::run(&args, shard),
            None => check::run(&args),
        },
        #[cfg(feature = "lab")]
        Command::Stress(args) => match args.shard() {
            Some(shard) => stress::shards::run(&args, shard),
            None => stress::run(&args),
        },
        Command::Explore(args) => explore::run(&args),
        #[cfg(feature = "lab")]
        Command::Actors(args) => match args.shard() {
            Some(shard) => actors::shards::run(&args, shard),
            None => actors::run(&args),
        },
        Command::Cc(args) => cc::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Cargo(args) => cargo::run(&args),
        Command::Header(args) => header::run(&args),
        #[cfg(feature = "lab")]
        Command::Subjects(args) => subjects::run(&args),
        #[cfg(feature = "lab")]
        Command::Systems(args) => systems::run(&args),
        Command::Specs(args) => specs::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Merge(args) => merge_shards(args),
        #[cfg(feature = "lab")]
        Command::Reproduce(args) => reproduce::run(&args),
        #[cfg(feature = "lab")]
        Command::Tables(args) => tables::run(&args),
        Command::Completions(args) => completions::run(&args, definition()),
    }
}

/// Runs the command whose shards kept these journals: what they did is not done again.
fn merge_shards(args: merge::Args) -> Result<Status, Failure> {
    let (merged, outputs) = merge::read(args)?;
    let words = std::iter::once("clewline".to_owned()).chain(merged.first().arguments());
    let wrong = |it: clap::Error| merged.first().mismatch(it.to_string().trim_end());
    match Cli::try_parse_from(words).map_err(wrong)?.command {
        Command::Check(args) => check::shards::merge(*args, outputs, &merged),
        Command::Explore(args) => explore::merge(*args, outputs, &merged),
        #[cfg(feature = "lab")]
        Command::Stress(args) => stress::shards::merge(*args, outputs, &merged),
        #[cfg(feature = "lab")]
        Command::Actors(args) => actors::shards::merge(*args, outputs, &merged),
        _ => Err(merged.first().mismatch("this command has no shards")),
    }
}
