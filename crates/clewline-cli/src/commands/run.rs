//! `clewline run`: every interleaving of a whole program.

use std::{ffi::OsString, path::PathBuf};

use clewline_report::render::text::shell_word;
use clewline_unmodified::{OutputMode, Program, Runtime};

use super::{
    alone::explore_started,
    status::{Failure, Status},
};

/// Explore a program with threads: assertions that fail, threads that wait for ever, crashes, memory used after it was freed
///
/// The program is run again and again from the start of its `main`, under every schedule within a bound. It should do the same
/// each time but for its threads, read nothing from the outside, and end. One that was compiled with `-fsanitize=thread` and linked
/// with the runtime is seen access by access; of any other, only calls of pthread, of malloc and the like are seen.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "clewline run PROGRAM [OPTION OF EXPLORE]… [-- ARGUMENT OF THE PROGRAM…]")]
pub(super) struct Args {
    /// The program
    #[arg(value_name = "PROGRAM")]
    program: PathBuf,

    /// Options as of `clewline explore`, and after `--` what the program is told
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  clewline run ./philosophers
  clewline run ./server-test --preemptions 3 -- --connections 2

`clewline explore --help` tells of its options; those that name calls mean nothing here.
Exit codes: 0 no violation found, 1 violated, 2 bad usage, 3 unknown.";

/// An argument of the program's own.
const OWN: &str = "--argument=";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let (options, own) = halves(&args.words, std::env::args_os());
    // Options are appended to the command, so that there the program's own arguments are options, too.
    let is_own = |it: &&OsString| it.to_string_lossy().starts_with(OWN);
    let mut own: Vec<OsString> = own.to_vec();
    own.extend(options.iter().filter(is_own).map(|it| it.to_string_lossy()[OWN.len()..].into()));
    let options: Vec<OsString> = options.iter().filter(|it| !is_own(it)).cloned().collect();
    let runtime = Runtime::find()?;
    let shown = shell_word(&args.program.display().to_string());
    let mut command = format!("clewline run {shown}");
    for argument in &own {
        command.push_str(&format!(" {}", shell_word(&format!("{OWN}{}", argument.to_string_lossy()))));
    }
    let program = Program::existing(&args.program, &runtime)?;
    if !program.is_instrumented() {
        eprintln!(
            "note: {shown} was not compiled for this: only its calls of pthread and malloc are seen, and not its accesses to \
             memory; `clewline cc FILE…` compiles so"
        );
    }
    explore_started(program.name(), command, &options, |wanted| {
        program.start(&own, wanted, OutputMode::Inherited)
    })
}

/// What is before the first `--`, and what is after. clap takes it away if it comes first, so what was `typed` decides.
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
    fn what_is_after_two_dashes_is_told_apart_with_them_or_without() {
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
