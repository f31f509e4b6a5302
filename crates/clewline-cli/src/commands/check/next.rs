//! The next commands: each report ends with a command to type.

use std::{path::Path, time::Duration};

use clewline_core::{Criterion, Reason, Verdict};
use clewline_report::render::text::shell_word as quoted;

use super::args::Args;
use crate::commands::{output::DASH, quasi, units};

/// Commands that show more about `file`, best first.
pub(super) fn commands(args: &Args, file: &Path, verdict: &Verdict) -> Vec<String> {
    // Standard input cannot be read again.
    if file.as_os_str() == DASH {
        return Vec::new();
    }
    let same = RepeatedOptions { timeout: true, memory: true, algorithm: true };
    match verdict {
        // The page shows a linearization, too.
        Verdict::Holds(_) if args.witness || args.drawings.have_page() => Vec::new(),
        Verdict::Holds(_) => vec![format!("{} --witness", command(args, file, same))],
        Verdict::Violated(violation) => {
            let more = |it: &str| vec![format!("{} {it}", command(args, file, same))];
            let mut commands = match (args.drawings.have_page(), args.drawings.have_picture()) {
                (false, _) => more("--html report.html"),
                (true, false) => more("--svg counterexample.svg"),
                (true, true) => Vec::new(),
            };
            if let (Some(may_fail), None) = (&violation.holds_if, &args.may_fail) {
                commands.extend(more(&format!("--may-fail {}", quoted(&may_fail.to_string()))));
            }
            commands
        }
        Verdict::Unknown(reason) => more(args, file, reason, same),
    }
}

/// Commands that may reach a verdict after `unknown`.
fn more(args: &Args, file: &Path, reason: &Reason, same: RepeatedOptions) -> Vec<String> {
    let mut commands = Vec::new();
    let other = match reason {
        Reason::Time(limit) => {
            // Ten times the limit, at least one second.
            let more = units::show_duration((*limit * 10).max(Duration::from_secs(1)));
            let given = RepeatedOptions { timeout: false, ..same };
            commands.push(format!("{} --timeout {more}", command(args, file, given)));
            PARALLEL_ALGORITHM
        }
        Reason::Memory(limit) => {
            // Without --memory the limit is the free memory, which cannot be raised.
            if args.memory.is_some() {
                let more = units::show_size(limit.saturating_mul(4));
                let given = RepeatedOptions { memory: false, ..same };
                commands.push(format!("{} --memory {more}", command(args, file, given)));
            }
            LOW_MEMORY_ALGORITHM
        }
        Reason::Interrupted => return vec![command(args, file, same)],
        Reason::Refused(_) => "auto",
        _ => PARALLEL_ALGORITHM,
    };
    if args.algorithm != other {
        let given = RepeatedOptions { algorithm: false, ..same };
        commands.push(format!("{} --algorithm {other}", command(args, file, given)));
    }
    commands
}

// A search without a cache of configurations.
const LOW_MEMORY_ALGORITHM: &str = "jit-tree";

// Two searches that are slow on different histories.
const PARALLEL_ALGORITHM: &str = "jit-graph+wg-graph";

/// The options that are repeated as they were given.
#[derive(Clone, Copy)]
struct RepeatedOptions {
    timeout: bool,
    memory: bool,
    algorithm: bool,
}

/// The command that produced this report, with the options that affect the verdict.
fn command(args: &Args, file: &Path, given: RepeatedOptions) -> String {
    let mut command =
        format!("clewline check {} --spec {}", quoted(&file.display().to_string()), quoted(&args.spec));
    command.push_str(&quasi::typed(args.quasi.as_deref(), args.reading.as_deref()));
    if let Some(may_fail) = &args.may_fail {
        command.push_str(&format!(" --may-fail {}", quoted(&may_fail.to_string())));
    }
    if args.criterion != Criterion::Linearizable {
        command.push_str(&format!(" --criterion {}", args.criterion));
    }
    if args.input_format != "auto" {
        command.push_str(&format!(" --input-format {}", args.input_format));
    }
    if args.keyed {
        command.push_str(" --keyed");
    }
    command.push_str(&args.known.again());
    if given.algorithm && args.algorithm != "auto" {
        command.push_str(&format!(" --algorithm {}", args.algorithm));
    }
    if let (true, Some(timeout)) = (given.timeout, args.timeout) {
        command.push_str(&format!(" --timeout {}", units::show_duration(timeout)));
    }
    if let (true, Some(memory)) = (given.memory, args.memory) {
        command.push_str(&format!(" --memory {}", units::show_size(memory)));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_only_where_a_shell_needs_it() {
        assert_eq!(quoted("data/lost-1.jsonl"), "data/lost-1.jsonl");
        assert_eq!(quoted("my file"), "'my file'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
