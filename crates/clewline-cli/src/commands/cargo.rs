//! `clewline cargo test`: every interleaving of the tests of a Rust crate.

use std::{ffi::OsString, path::PathBuf};

use clewline_report::render::{
    summary::{self, Entry},
    text::shell_word,
};
use clewline_unmodified::{Crate, Instrumentation, OutputMode, RunOptions, Runtime, TestId, Toolchain};

use super::{
    cc::print_blind_spots,
    explore::Explored,
    explore_program::{StartedProgram, explore_started, lost, parse},
    output::{Output, Stdout},
    run::halves,
    status::{Failure, Status, print_error},
    summaries::Nouns,
};

/// Build an unmodified Rust crate and its dependencies, and explore its tests
///
/// Each test runs in its own process, repeatedly, under every schedule within the bound. Panics,
/// deadlocks, crashes, double frees and uses after free are shown with the schedule that causes
/// them. Tests should be small: two or three threads with a few calls each. The current toolchain
/// is used, stable or nightly; the build directory is `target/clewline/build`. A summary of all
/// tests comes last. `cargo clewline test` is the same command.
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
        /// Part of the test name; options of `cargo test`; after `--`: options of `clewline
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

const NOUNS: Nouns = Nouns { tool: "clewline cargo test", nouns: ("test", "tests"), work: "executions" };

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let Subcommand::Test { words } = &args.command;
    let (words, explored) = halves(words, std::env::args_os());
    let words = Words::of(words);
    // Invalid options are reported before anything is built.
    let options = match parse("test", explored)? {
        Ok((_, options)) => options,
        Err(status) => return Ok(status),
    };
    let runtime = Runtime::find()?;
    let toolchain = Toolchain::find()?;
    if toolchain.instrumentation() == Instrumentation::Atomics {
        eprintln!(
            "note: this rustc instruments only atomic accesses: non-atomic reads and writes are not scheduling points"
        );
    }
    let arguments = words.arguments.clone();
    let tested = Crate { folder: PathBuf::from("."), arguments, output: OutputMode::Inherited };
    let built = tested.build(&toolchain, &runtime)?;
    print_blind_spots(built.unseen());
    if words.only_builds {
        return Ok(Status::Done);
    }
    let tests = built.tests(words.filter.as_deref())?;
    if tests.is_empty() {
        return Err(Failure::Message(match &words.filter {
            Some(filter) => format!("no test name contains `{filter}`"),
            None => "the crate has no tests".to_owned(),
        }));
    }
    options.accept_programs(tests.len(), NOUNS.nouns)?;
    let (mut statuses, mut entries) = (Vec::new(), Vec::new());
    // A test that is alone writes its files itself, if it has a verdict.
    let mut are_written = tests.len() == 1;
    for (number, test) in tests.iter().enumerate() {
        let Tested { status, entry, is_lost } = explore_test(&words, test, (number, tests.len()), explored)?;
        are_written &= !is_lost;
        statuses.push(status);
        entries.push(Entry { name: shown_name(test), ..entry });
    }
    let summary = NOUNS.summary(entries);
    if options.format() == Output::Text {
        Stdout::new().print(format!("\n{}", summary::lines(&summary)).as_bytes())?;
    }
    if !are_written {
        options.write_of_all(summary)?;
    }
    let worst =
        [Status::Violated, Status::Failed, Status::Unknown].into_iter().find(|it| statuses.contains(it));
    Ok(worst.unwrap_or(Status::Done))
}

impl Args {
    /// The options of `clewline explore` among the words of the command line as `typed`.
    pub(super) fn explore_options(&self, typed: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        let Subcommand::Test { words } = &self.command;
        halves(words, typed).1.to_vec()
    }
}

/// The end of the exploration of a test.
struct Tested {
    status: Status,
    entry: Entry,
    /// Whether it ended without a verdict.
    is_lost: bool,
}

/// Explores one of `all` tests. One that is killed without a verdict does not stop the others.
fn explore_test(
    words: &Words,
    test: &TestId,
    (number, all): (usize, usize),
    explored: &[OsString],
) -> Result<Tested, Failure> {
    let command = words.command(test);
    let lost = |status, headline: String| Tested {
        status,
        entry: lost(test.name.clone(), headline, command.clone()),
        is_lost: true,
    };
    let typed = format!("{command} --");
    let started =
        StartedProgram { name: &test.name, typed, number: (1 < all).then_some(number), inputs: &[] };
    let start = |wanted: &RunOptions| test.start(wanted, OutputMode::Inherited);
    match explore_started(started, explored, start) {
        Err(Failure::Killed(message)) => {
            print_error(format!("{}: {message}", test.name));
            Ok(lost(Status::Failed, message))
        }
        Ok(Explored { status, entry: None }) => {
            Ok(lost(status, format!("{} was not explored to the end", test.name)))
        }
        Ok(Explored { status, entry: Some(entry) }) => Ok(Tested { status, entry, is_lost: false }),
        Err(failure) => Err(failure),
    }
}

/// With the options that select it, where there are several executables.
fn shown_name(test: &TestId) -> String {
    match &test.selection {
        Some(selection) => format!("{} ({selection})", test.name),
        None => test.name.clone(),
    }
}

/// The words before `--`: options of `cargo test`, and part of a test name.
#[derive(Debug, Default, PartialEq, Eq)]
struct Words {
    filter: Option<String>,
    arguments: Vec<OsString>,
    /// `--no-run`: the tests are built and not explored.
    only_builds: bool,
}

impl Words {
    fn of(words: &[OsString]) -> Words {
        // Options of `cargo test` whose value is the next word.
        const WITH_VALUE: [&str; 19] = [
            "-p",
            "--package",
            "--exclude",
            "--test",
            "--bin",
            "--example",
            "--bench",
            "-F",
            "--features",
            "--manifest-path",
            "--profile",
            "-j",
            "--jobs",
            "--target-dir",
            "--color",
            "-Z",
            "--config",
            "-C",
            "--lockfile-path",
        ];
        let mut sorted = Words::default();
        let mut is_value = false;
        for word in words {
            let text = word.to_string_lossy();
            if !is_value && text == "--no-run" {
                sorted.only_builds = true;
            } else if !is_value && !text.starts_with('-') && sorted.filter.is_none() {
                sorted.filter = Some(text.into_owned());
            } else {
                is_value = !is_value && WITH_VALUE.contains(&&*text);
                sorted.arguments.push(word.clone());
            }
        }
        sorted
    }

    /// The command that explores this test.
    fn command(&self, test: &TestId) -> String {
        let mut command = format!("clewline cargo test {}", shell_word(&test.name));
        for word in &self.arguments {
            command.push_str(&format!(" {}", shell_word(&word.to_string_lossy())));
        }
        if let Some(selection) = &test.selection {
            command.push_str(&format!(" {selection}"));
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(words: &str) -> Words {
        Words::of(&words.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_filter_is_found_among_the_options() {
        for (words, filter, arguments, only_builds) in [
            ("", None, "", false),
            ("two", Some("two"), "", false),
            ("-p bank two --release", Some("two"), "-p bank --release", false),
            ("--features=std --test it", None, "--features=std --test it", false),
            ("--no-run -p bank", None, "-p bank", true),
            ("two --no-run --lib", Some("two"), "--lib", true),
        ] {
            let arguments = arguments.split_whitespace().map(OsString::from).collect();
            let expected = Words { filter: filter.map(str::to_owned), arguments, only_builds };
            assert_eq!(sorted(words), expected, "{words}");
        }
    }
}
