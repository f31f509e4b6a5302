//! `clewline cargo test`: every interleaving of the tests of a Rust crate.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clewline_core::{Reason, is_interrupted};
use clewline_report::render::{
    summary::{self, Summary, SummaryEntry, Word},
    text::shell_word,
};
use clewline_unmodified::{Crate, ListedTests, OutputMode, RunOptions, Runtime, TestId, Toolchain};
use serde_json::json;

use super::{
    explore::Explored,
    explore_program::{ProgramArguments, StartedProgram, explore_started, lost, parse, print_blind_spots},
    invocation,
    journal::Journal,
    kept_entry,
    output::{Output, Stdout},
    run::halves,
    status::{Failure, Status, print_error, print_note},
    summaries::Nouns,
};

/// Build an unmodified Rust crate and its dependencies, and explore its tests
///
/// Each test runs in its own process, repeatedly, under every schedule within the bound. Panics,
/// deadlocks, crashes, double frees and uses after free are shown with the schedule that causes
/// them. Ignored tests are not run, and listed. Tests should be small: two or three threads with a
/// few calls each. The current toolchain is used, stable or nightly; the build directory is
/// `target/clewline/build`. A summary of all tests comes last. `cargo clewline test` is the same
/// command.
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
        /// explore`, and `--ignored` or `--include-ignored`
        #[arg(value_name = "FILTER", trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

const EXAMPLES: &str = "\
Examples:
  clewline cargo test
  clewline cargo test two_senders
  clewline cargo test two_senders -p my-channel --features std -- --preemptions 3
  clewline cargo test -- --include-ignored

Exit codes: 0 no violation found, 1 violated, 2 invalid arguments or compile error, 3 unknown.";

const NOUNS: Nouns = Nouns { tool: "clewline cargo test", nouns: ("test", "tests"), work: "executions" };

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let Subcommand::Test { words } = &args.command;
    let (words, explored) = halves(words, invocation::words());
    let words = Words::of(words);
    let (runs, explored) = Runs::of(explored);
    // Invalid options are reported before anything is built.
    let ProgramArguments { wanted, args: options, .. } = match parse("clewline cargo test", &explored)? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let runtime = Runtime::find()?;
    let toolchain = Toolchain::find()?;
    let arguments = words.arguments.clone();
    let tested = Crate { folder: PathBuf::from("."), arguments, output: OutputMode::Inherited };
    let built = tested.build(&toolchain, &runtime)?;
    print_blind_spots(built.blind_spots(), &wanted);
    if words.only_builds {
        return Ok(Status::Done);
    }
    print_doc_tests(built.documented(), &words);
    let ListedTests { tests, unlisted } = built.tests(words.filter.as_deref())?;
    // A filter selects tests by their names, and these have none.
    let unlisted = if words.filter.is_some() { Vec::new() } else { unlisted };
    if tests.is_empty() && unlisted.is_empty() {
        return Err(Failure::Message(match &words.filter {
            Some(filter) => format!("no test name contains `{filter}`"),
            None => "the crate has no tests".to_owned(),
        }));
    }
    let (run, left_out): (Vec<&TestId>, Vec<&TestId>) = tests.iter().partition(|it| runs.include(it));
    options.accept_programs(run.len(), NOUNS.nouns)?;
    let (mut statuses, mut entries) = (Vec::new(), Vec::new());
    let fingerprint = run.iter().fold(0, |sum: u64, it| sum.wrapping_mul(31).wrapping_add(it.fingerprint()));
    let mut journal = options.open_journal(Some(fingerprint))?;
    // A test that is alone writes its files itself, if it has a verdict.
    let mut are_written = run.len() == 1 && tests.len() == 1 && unlisted.is_empty() && journal.is_none();
    for (number, test) in run.iter().enumerate() {
        print_gap(number, options.format())?;
        let finished = match &mut journal {
            Some(journal) => take_finished(journal, test)?,
            None => None,
        };
        let Tested { status, entry, is_lost } = match finished {
            Some(tested) => tested,
            None => explore_test(&words, test, (number, run.len()), &explored, journal.as_mut())?,
        };
        are_written &= !is_lost;
        statuses.push(status);
        entries.push(SummaryEntry { name: shown_name(test), ..entry });
    }
    if run.is_empty() {
        statuses.push(Status::Unknown);
    }
    entries.extend(left_out.iter().filter(|it| it.is_ignored).map(|it| ignored_entry(&words, it)));
    for file in &unlisted {
        statuses.push(Status::Unknown);
        entries.push(unlisted_entry(file));
    }
    let summary = NOUNS.summary(entries);
    print_summary(&summary, run.len(), options.format())?;
    if !are_written {
        options.write_of_all(summary)?;
    }
    Ok(worst(&statuses))
}

/// Names the libraries whose doc tests are not run.
fn print_doc_tests(documented: &[String], words: &Words) {
    if !documented.is_empty() && words.filter.is_none() {
        let names = documented.join(", ");
        print_note(format!("doc tests of {names} are not run: `cargo test --doc` runs them, once each"));
    }
}

/// The status of all tests.
fn worst(statuses: &[Status]) -> Status {
    let worst = [Status::Violated, Status::Failed, Status::Unknown];
    worst.into_iter().find(|it| statuses.contains(it)).unwrap_or(Status::Done)
}

/// Prints an empty line between the reports of two tests.
fn print_gap(number: usize, format: Output) -> Result<(), Failure> {
    if 0 < number && format == Output::Text { Stdout::new().print(b"\n") } else { Ok(()) }
}

/// Prints the summary, or an object for each entry after those that were `run`.
fn print_summary(summary: &Summary, run: usize, format: Output) -> Result<(), Failure> {
    let mut out = Stdout::new();
    match format {
        Output::Text => {
            out.print(format!("\n{}", summary::lines(summary)).as_bytes())?;
            if summary.count(Word::Ignored) != 0 {
                print_note(
                    "ignored tests were not run: `-- --ignored` explores these, `-- --include-ignored` all tests",
                );
            }
        }
        Output::Json => {
            for entry in summary.entries.iter().skip(run) {
                let (word, why) = (entry.verdict.as_str(), &entry.headline);
                let name = entry.name.split(" (").next();
                let line = json!({ "subject": name, "verdict": word, "reason": why });
                out.print(format!("{line}\n").as_bytes())?;
            }
        }
    }
    Ok(())
}

impl Args {
    /// The options of `clewline explore` among the words of the command line as `typed`.
    pub(super) fn explore_options(&self, typed: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        let Subcommand::Test { words } = &self.command;
        Runs::of(halves(words, typed).1).1
    }
}

/// Which tests are run, as for `cargo test -- --ignored`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Runs {
    /// All but ignored ones.
    #[default]
    Usual,
    /// Only ignored ones.
    Ignored,
    /// All.
    All,
}

impl Runs {
    /// Separates the options that say so from those of `clewline explore`.
    fn of(words: &[OsString]) -> (Runs, Vec<OsString>) {
        let (mut runs, mut others) = (Runs::default(), Vec::new());
        for word in words {
            match word.to_str() {
                Some("--ignored") => runs = Runs::Ignored,
                Some(INCLUDE_IGNORED) => runs = Runs::All,
                _ => others.push(word.clone()),
            }
        }
        (runs, others)
    }

    fn include(self, test: &TestId) -> bool {
        match self {
            Runs::Usual => !test.is_ignored,
            Runs::Ignored => test.is_ignored,
            Runs::All => true,
        }
    }
}

const INCLUDE_IGNORED: &str = "--include-ignored";

/// A test that is not run, as its author wants.
fn ignored_entry(words: &Words, test: &TestId) -> SummaryEntry {
    let command = format!("{} -- {INCLUDE_IGNORED}", words.command(test));
    let entry = lost(shown_name(test), "it is ignored and was not run".to_owned(), command);
    SummaryEntry { verdict: Word::Ignored, ..entry }
}

/// An executable whose tests are not known.
fn unlisted_entry(file: &Path) -> SummaryEntry {
    let shown = file.display().to_string();
    let name = file.file_name().map_or_else(|| shown.clone(), |it| it.to_string_lossy().into_owned());
    let why = "it has a harness of its own that lists no tests, and was not run; its main can be explored";
    let command = format!("clewline run {}", shell_word(&shown));
    lost(name, why.to_owned(), command)
}

/// The end of the exploration of a test.
struct Tested {
    status: Status,
    entry: SummaryEntry,
    /// Whether it ended without a verdict.
    is_lost: bool,
}

/// The end of a test that an earlier process has explored, which is printed again.
fn take_finished(journal: &mut Journal, test: &TestId) -> Result<Option<Tested>, Failure> {
    let name = shown_name(test);
    let Some(unit) = journal.take_if(|it| it["test"] == name) else { return Ok(None) };
    let statuses = [Status::Done, Status::Violated, Status::Failed, Status::Unknown];
    let status = statuses.into_iter().find(|it| unit["status"] == *it as u8);
    let (Some(status), Some(entry)) = (status, kept_entry::from_json(&unit["entry"])) else {
        return Err(journal.mismatch("a test has no verdict"));
    };
    Stdout::new().print(unit["printed"].as_str().unwrap_or_default().as_bytes())?;
    Ok(Some(Tested { status, entry, is_lost: false }))
}

/// Explores one of `all` tests. One that is killed without a verdict does not stop the others.
fn explore_test(
    words: &Words,
    test: &TestId,
    (number, all): (usize, usize),
    explored: &[OsString],
    journal: Option<&mut Journal>,
) -> Result<Tested, Failure> {
    let command = words.command(test);
    let lost = |status, headline: String| Tested {
        status,
        entry: lost(test.name.clone(), headline, command.clone()),
        is_lost: true,
    };
    if is_interrupted() {
        return Ok(lost(Status::Unknown, Reason::Interrupted.to_string()));
    }
    let typed = match test.is_ignored {
        true => format!("{command} -- {INCLUDE_IGNORED}"),
        false => format!("{command} --"),
    };
    let started = StartedProgram {
        name: &test.name,
        typed,
        number: (1 < all).then_some(number),
        inputs: &[],
        executable: test.executable(),
        blind_spots: test.blind_spots(),
        needs_threads: false,
        fingerprint: None,
    };
    let start = |wanted: &RunOptions, options| test.start(wanted, options);
    match explore_started(started, explored, start) {
        Err(Failure::Killed(message)) => {
            print_error(format!("{}: {message}", test.name));
            Ok(lost(Status::Failed, message))
        }
        Ok(Explored { status, entry: None, .. }) => {
            Ok(lost(status, format!("{} was not explored to the end", test.name)))
        }
        Ok(Explored { status, entry: Some(entry), printed }) => {
            if let Some(journal) = journal {
                let (name, kept) = (shown_name(test), kept_entry::to_json(&entry));
                let status = status as u8;
                journal.add(json!({"test": name, "status": status, "entry": kept, "printed": printed}))?;
            }
            Ok(Tested { status, entry, is_lost: false })
        }
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

    #[test]
    fn options_about_ignored_tests_are_not_those_of_explore() {
        let words: Vec<OsString> = ["--timeout", "1m", "--ignored"].map(OsString::from).to_vec();
        assert_eq!(Runs::of(&words), (Runs::Ignored, words[..2].to_vec()));
        assert_eq!(Runs::of(&words[..2]), (Runs::Usual, words[..2].to_vec()));
        assert_eq!(Runs::of(&[INCLUDE_IGNORED.into()]), (Runs::All, Vec::new()));
    }
}
