//! What to type next: each report ends with a command.

use std::{path::Path, time::Duration};

use clewline_core::{Reason, Verdict};
use clewline_report::render::text::shell_word as quoted;

use super::args::Args;
use crate::commands::units;

/// Commands that tell more about `file`, best first.
pub(super) fn commands(args: &Args, file: &Path, verdict: &Verdict) -> Vec<String> {
    let same = Given { timeout: true, memory: true, algorithm: true };
    match verdict {
        // An order is on the page, too.
        Verdict::Holds(_) if args.witness || args.drawings.have_page() => Vec::new(),
        Verdict::Holds(_) => vec![format!("{} --witness", command(args, file, same))],
        Verdict::Violated(_) => {
            let more = |it: &str| vec![format!("{} {it}", command(args, file, same))];
            match (args.drawings.have_page(), args.drawings.have_picture()) {
                (false, _) => more("--html report.html"),
                (true, false) => more("--svg core.svg"),
                (true, true) => Vec::new(),
            }
        }
        Verdict::Unknown(reason) => more(args, file, reason, same),
    }
}

/// Commands that may know what this one did not.
fn more(args: &Args, file: &Path, reason: &Reason, same: Given) -> Vec<String> {
    let mut commands = Vec::new();
    let other = match reason {
        Reason::Time(limit) => {
            // Ten times as much, or a second if there was next to none.
            let more = units::show_duration((*limit * 10).max(Duration::from_secs(1)));
            let given = Given { timeout: false, ..same };
            commands.push(format!("{} --timeout {more}", command(args, file, given)));
            COMPETITION
        }
        Reason::Memory(limit) => {
            // Without --memory the limit is the machine's, and cannot be raised.
            if args.memory.is_some() {
                let more = units::show_size(limit.saturating_mul(4));
                let given = Given { memory: false, ..same };
                commands.push(format!("{} --memory {more}", command(args, file, given)));
            }
            THRIFTY
        }
        Reason::Refused(_) => "auto",
        _ => COMPETITION,
    };
    if args.algorithm != other {
        let given = Given { algorithm: false, ..same };
        commands.push(format!("{} --algorithm {other}", command(args, file, given)));
    }
    commands
}

// A search that remembers nothing.
const THRIFTY: &str = "jit-tree";

// Two searches that go wrong on different histories.
const COMPETITION: &str = "jit-graph+wg-graph";

/// Which options are repeated as they were given.
#[derive(Clone, Copy)]
struct Given {
    timeout: bool,
    memory: bool,
    algorithm: bool,
}

/// The command that made this report, with the options that bear on the verdict.
fn command(args: &Args, file: &Path, given: Given) -> String {
    let mut command =
        format!("clewline check {} --spec {}", quoted(&file.display().to_string()), quoted(&args.spec));
    if let Some(quasi) = &args.quasi {
        command.push_str(&format!(" --quasi {}", quoted(quasi)));
    }
    if let Some(reading) = &args.reading {
        command.push_str(&format!(" --reading {reading}"));
    }
    if args.input_format != "auto" {
        command.push_str(&format!(" --input-format {}", args.input_format));
    }
    if args.keyed {
        command.push_str(" --keyed");
    }
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
    fn names_are_quoted_only_where_a_shell_would_stumble() {
        assert_eq!(quoted("data/lost-1.jsonl"), "data/lost-1.jsonl");
        assert_eq!(quoted("my file"), "'my file'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
