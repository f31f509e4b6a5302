//! `clewline check`: judges recorded histories.

mod args;
mod next;

use std::{io, path::Path, sync::Arc, time::Duration};

use clewline_core::{Verdict, parallel};
use clewline_methods::{Check, Error, Keys, LineOrder, Quasi, Report};
use clewline_report::render::{
    Publish, WitnessShown, json,
    present::first_line,
    summary::{self, Clock, Entry, Word},
    table::{self, Table},
};

pub(super) use args::Args;

use super::{
    drawings::Judged,
    output::{DASH, Output, Stdout, paint, written},
    progress, quasi,
    status::{Failure, Status},
    summaries::Nouns,
    ticking::Ticking,
};

const NOUNS: Nouns = Nouns { tool: "clewline check", nouns: ("history", "histories"), work: "operations" };

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let check = configure(args)?;
    let mut stdout = Stdout::new();
    let mut tally = Tally::default();
    let mut entries = Vec::new();
    for (number, path) in args.files.iter().enumerate() {
        let outcome = judge(args, &check, path).map(|mut it| {
            it.set_next(next::commands(args, path, it.verdict()));
            it
        });
        let mut text = String::new();
        match &outcome {
            Ok(report) => {
                tally.count(report.verdict());
                text = show(args, report, number);
            }
            Err(error) if error.is_input() => {
                tally.unreadable += 1;
                eprintln!("error: {error}");
                if args.format == Output::Json {
                    text = format!("{}\n", json::failure(&path.display().to_string(), &error.message()));
                }
            }
            // What was asked for makes no sense, for this file or any other.
            Err(error) => return Err(Failure::Told(error.to_string())),
        }
        stdout.print(text.as_bytes())?;
        // Afterwards, so that a file that cannot be written hides no verdict.
        entries.push(draw(args, number, path, &outcome)?);
    }
    let summary = NOUNS.summary(entries);
    if args.format == Output::Text && 1 < args.files.len() {
        if tally.hold < args.files.len() {
            let table = summary::table(&summary, Clock::Shown, TABLED);
            let title = "All histories, the worst first:".to_owned();
            stdout.print(format!("\n{}", table::text(&Table { title, ..table }, WIDTH)).as_bytes())?;
        }
        stdout.print(format!("\n{}\n", tally.summary()).as_bytes())?;
    }
    args.summaries.write(&summary)?;
    if 1 < args.files.len() {
        args.drawings.write_all(summary, &args.summaries)?;
    }
    Ok(tally.status())
}

// A longer table is not read any more.
const TABLED: usize = 60;
const WIDTH: usize = 80;

/// Writes the page and the picture of a history, if they were asked for; answers what a summary says about it.
fn draw(
    args: &Args,
    number: usize,
    path: &Path,
    outcome: &Result<Report<'static>, Error>,
) -> Result<Entry, Failure> {
    match outcome {
        Ok(report) => {
            let mut entry = report.entry();
            let judged = Judged { file: path, report };
            if args.files.len() == 1 {
                args.drawings.write_history(&judged)?;
            } else {
                entry.page = args.drawings.write_one_of_many(number, &judged)?;
            }
            Ok(entry)
        }
        Err(error) => Ok(Entry {
            name: path.display().to_string(),
            verdict: Word::Unreadable,
            headline: error.to_string(),
            blocks: Vec::new(),
            work: None,
            algorithm: String::new(),
            elapsed: Duration::ZERO,
            place: Some((path.display().to_string(), error.line())),
            next: Vec::new(),
            page: None,
        }),
    }
}

fn configure(args: &Args) -> Result<Check, Failure> {
    if 1 < args.files.iter().filter(|it| it.as_os_str() == DASH).count() {
        return Err(Failure::Told("standard input (`-`) can be read only once".to_owned()));
    }
    args.drawings.accept(args.files.len())?;
    // Asked for now, so that a mistyped name is not told once a file.
    clewline_specs::find(&args.spec).map_err(|it| Failure::Told(format!("--spec: {it}")))?;
    let quasi = quasi(args)?;
    let jobs = args.jobs.map_or_else(parallel::jobs_available, usize::from);
    let mut check = Check::new()
        .algorithm(args.algorithm.parse().map_err(|it| Failure::at("--algorithm", it))?)
        .format(args.input.parse().map_err(|it| Failure::at("--input", it))?)
        .keyed(if args.keyed { Keys::InValues } else { Keys::None })
        .jobs(jobs);
    if let Some(quasi) = quasi {
        check = check.quasi(quasi);
    }
    if let Some(timeout) = args.timeout {
        check = check.timeout(timeout);
    }
    // Without a limit the system would end the process, and with it every verdict to come.
    if let Some(memory) = args.memory.or_else(clewline_methods::available_memory) {
        check = check.memory(memory);
    }
    Ok(check)
}

/// The factors that were asked for, if any were; says what should be known about them.
fn quasi(args: &Args) -> Result<Option<Quasi>, Failure> {
    quasi::parse_and_warn(args.quasi.as_deref(), args.reading.as_deref(), &args.spec)
}

fn judge(args: &Args, check: &Check, path: &Path) -> Result<Report<'static>, Error> {
    let name = name(args, path);
    let state: Arc<progress::State> = Arc::default();
    let _shown = {
        let (name, state) = (name.clone(), Arc::clone(&state));
        progress::Shown::start(move |elapsed| state.message(&name, elapsed))
    };
    let check = check.clone().progress(move |it| state.note(it));
    let is_input = path.as_os_str() == DASH;
    // A witness names every operation, and a page shows it, so every one of them has to be held.
    if args.witness || args.drawings.are_asked_for() {
        let check = if args.drawings.are_asked_for() { check.keep_times() } else { check };
        return if is_input {
            check.reader(&name, io::stdin().lock(), &args.spec)
        } else {
            check.stream_files_from(u64::MAX).file(path, &args.spec)
        };
    }
    if is_input {
        let order = if args.ordered { LineOrder::Promised } else { LineOrder::Seen };
        return check.stream(&name, Ticking::stdin(), &args.spec, order);
    }
    check.file(path, &args.spec)
}

/// What a report calls the file.
fn name(args: &Args, path: &Path) -> String {
    match args.format {
        Output::Text if path.as_os_str() == DASH => "standard input".to_owned(),
        Output::Text | Output::Json => path.display().to_string(),
    }
}

/// The whole report; of many files, one line for each that holds.
fn show(args: &Args, report: &Report<'_>, number: usize) -> String {
    let witness = if args.witness { WitnessShown::Whole } else { WitnessShown::Not };
    let is_brief = 1 < args.files.len() && report.holds() && !args.witness;
    match args.format {
        Output::Text if is_brief => format!("{}\n", first_line(report, paint())),
        Output::Text if number != 0 => format!("\n{}", written(report, args.format, witness)),
        Output::Text | Output::Json => written(report, args.format, witness),
    }
}

/// How many files got which verdict.
#[derive(Debug, Default)]
struct Tally {
    hold: usize,
    violated: usize,
    unknown: usize,
    unreadable: usize,
}

impl Tally {
    fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Holds(_) => self.hold += 1,
            Verdict::Violated(_) => self.violated += 1,
            Verdict::Unknown(_) => self.unknown += 1,
        }
    }

    /// A violation is never hidden, and what could not be read never looks like success.
    fn status(&self) -> Status {
        if self.violated != 0 {
            Status::Violated
        } else if self.unreadable != 0 {
            Status::Failed
        } else if self.unknown != 0 {
            Status::Unknown
        } else {
            Status::Done
        }
    }

    fn summary(&self) -> String {
        let Tally { hold, violated, unknown, unreadable } = self;
        let files = hold + violated + unknown + unreadable;
        let kinds =
            [(violated, "violated"), (unreadable, "unreadable"), (unknown, "unknown"), (hold, "hold")];
        let told: Vec<String> =
            kinds.iter().filter(|it| *it.0 != 0).map(|(count, word)| format!("{count} {word}")).collect();
        format!("{files} files: {}", told.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_status(hold: usize, violated: usize, unknown: usize, unreadable: usize, expected: Status) {
        assert_eq!(Tally { hold, violated, unknown, unreadable }.status(), expected);
    }

    #[test]
    fn the_worst_verdict_is_the_status() {
        check_status(3, 0, 0, 0, Status::Done);
        check_status(3, 0, 1, 0, Status::Unknown);
        check_status(3, 0, 1, 1, Status::Failed);
        check_status(3, 1, 1, 1, Status::Violated);
    }

    #[test]
    fn a_summary_tells_the_worst_first() {
        let tally = Tally { hold: 10, violated: 1, unknown: 0, unreadable: 2 };
        assert_eq!(tally.summary(), "13 files: 1 violated, 2 unreadable, 10 hold");
    }
}
