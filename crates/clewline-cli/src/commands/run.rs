//! `clewline run`: explores every interleaving of a whole program.

use std::{ffi::OsString, path::PathBuf};

use clewline_report::render::text::shell_word;
use clewline_unmodified::{Program, RunOptions, Runtime};

use super::{
    explore_program::{StartedProgram, explore_only, parse, print_blind_spots},
    invocation,
    status::{Failure, Status},
};

/// Explore a multithreaded program for failed assertions, deadlocks, crashes and use after free
///
/// The program is run repeatedly from the start of `main`, under every schedule within the bound.
/// It must be deterministic except for thread scheduling, read no external input, and terminate. If
/// it was built by `clewline cc -o`, every memory access is a scheduling point; otherwise only
/// calls of pthread and malloc functions are.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "clewline run PROGRAM [EXPLORE_OPTION]… [-- PROGRAM_ARGUMENT…]")]
pub(super) struct Args {
    /// Program to explore
    #[arg(value_name = "PROGRAM")]
    program: PathBuf,

    /// Options of `clewline explore`; after `--`: arguments of the program
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  clewline run ./philosophers
  clewline run ./server-test --preemptions 3 -- --connections 2

`clewline explore --help` describes its options; those about calls and matrices have no effect here.
Exit codes: 0 no violation found, 1 violated, 2 invalid arguments, 3 unknown.";

/// The prefix of an argument of the program.
const ARGUMENT_PREFIX: &str = "--argument=";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let (words, own) = halves(&args.words, invocation::words());
    let mut own: Vec<OsString> = own.to_vec();
    own.extend(words.iter().filter(is_own).map(|it| it.to_string_lossy()[ARGUMENT_PREFIX.len()..].into()));
    let options = args.explore_options(invocation::words());
    let wanted = match parse("clewline run", &options)? {
        Ok(parsed) => parsed.wanted,
        Err(status) => return Ok(status),
    };
    let runtime = Runtime::find()?;
    let shown = shell_word(&args.program.display().to_string());
    let mut command = format!("clewline run {shown}");
    for argument in &own {
        command.push_str(&format!(
            " {}",
            shell_word(&format!("{ARGUMENT_PREFIX}{}", argument.to_string_lossy()))
        ));
    }
    let program = Program::existing(&args.program, &runtime)?;
    let inputs = std::slice::from_ref(&args.program);
    let blind_spots = program.blind_spots();
    print_blind_spots(blind_spots.all(), &wanted);
    let started = StartedProgram {
        name: program.name(),
        typed: command,
        number: None,
        inputs,
        executable: program.executable(),
        blind_spots,
        needs_threads: true,
        fingerprint: Some(program.fingerprint()),
    };
    let start = |wanted: &RunOptions, options| program.start(&own, wanted, options);
    explore_only("clewline run", started, &options, start)
}

/// Reports append options to the command, so there the arguments of the program are options, too.
fn is_own(word: &&OsString) -> bool {
    word.to_string_lossy().starts_with(ARGUMENT_PREFIX)
}

impl Args {
    /// The options of `clewline explore` among the words of the command line as `typed`.
    pub(super) fn explore_options(&self, typed: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        halves(&self.words, typed).0.iter().filter(|it| !is_own(it)).cloned().collect()
    }
}

/// The words before and after the first `--`. clap removes it if it comes first, so the command
/// line as `typed` decides.
pub(super) fn halves(
    words: &[OsString],
    typed: impl IntoIterator<Item = OsString>,
) -> (&[OsString], &[OsString]) {
    let after = typed.into_iter().skip_while(|it| it != "--").count().saturating_sub(1);
    let (before, after) = words.split_at(words.len().saturating_sub(after));
    match before.split_last() {
        Some((last, before)) if last == "--" => (before, after),
        Some(_) | None => (before, after),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_before_and_after_two_dashes_are_separated() {
        let words = |it: &str| it.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        for (given, typed, before, after) in [
            ("--full -- -x -- y", "clewline run p --full -- -x -- y", "--full", "-x -- y"),
            ("-x y", "clewline run p -- -x y", "", "-x y"),
            ("--full", "clewline run p --full", "--full", ""),
            ("", "clewline run p", "", ""),
            ("a --", "clewline cargo test a --", "a", ""),
        ] {
            let given = words(given);
            assert_eq!(halves(&given, words(typed)), (&words(before)[..], &words(after)[..]), "{typed}");
        }
    }
}
