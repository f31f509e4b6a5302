//! `clewline check`: checks recorded histories.

mod args;
mod next;
mod passes;
pub(super) mod shards;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use clewline_check::Selection;
use clewline_core::{Criterion, Reason, is_interrupted, parallel};
use clewline_methods::{Check, Error, Keys, LineOrder, Quasi, Report, given_up};
use clewline_report::render::{
    Publish, WitnessShown, json,
    present::first_line,
    summary::{self, Durations, SummaryEntry, Word},
    table::{self, ReportTable},
};

use serde_json::{Value as Json, json};

pub(super) use args::Args;

use crate::scripts::LOADER;

use super::{
    compressed::{Decoded, is_compressed},
    excerpt::{KeptInput, with_excerpt},
    journal::fingerprint,
    kept_entry,
    output::{DASH, Output, Stdout, check_outputs, paint, written},
    pattern::{is_pattern, matching},
    progress, quasi,
    signals::{Late, within},
    status::{Failure, Status, described, print_error},
    summaries::Nouns,
    timed_input::TimedInput,
};

const NOUNS: Nouns = Nouns { tool: "clewline check", nouns: ("history", "histories"), work: "operations" };

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let check = configure(args)?;
    let mut journal = args.journal.open(None)?;
    let mut stdout = Stdout::new();
    let mut counts = VerdictCounts::default();
    let mut entries = Vec::new();
    for (number, path) in args.files.iter().enumerate() {
        let file = journal.as_ref().map(|_| inputs_fingerprint(args, path));
        if let Some((journal, unit)) = journal.as_mut().and_then(|it| it.take().map(|unit| (it, unit))) {
            if Some(&unit["file"]) != file.as_ref() {
                return Err(journal.mismatch(&changed(args, path)));
            }
            let entry = kept_entry::from_json(&unit["entry"]).ok_or_else(|| journal.mismatch("no entry"))?;
            unit["error"].as_str().into_iter().for_each(print_error);
            stdout.print(unit["text"].as_str().unwrap_or_default().as_bytes())?;
            counts.count(entry.verdict);
            entries.push(entry);
            continue;
        }
        let outcome = check_file(args, &check, path, Reading::AsNeeded);
        let (text, outcome, entry) = report(args, &mut stdout, number, path, outcome)?;
        if let Some(journal) = &mut journal {
            let error = outcome.err().map(|it| described(&it));
            let entry = kept_entry::to_json(&entry);
            journal.add(json!({"file": file, "text": text, "error": error, "entry": entry}))?;
        }
        counts.count(entry.verdict);
        entries.push(entry);
    }
    if let Some(journal) = &mut journal {
        journal.end(json!({}))?;
    }
    finish(args, &mut stdout, &counts, entries)
}

/// By which a history, and what options name, are recognized; what cannot be read as well.
fn inputs_fingerprint(args: &Args, path: &Path) -> Json {
    let mut all = [path].into_iter().chain(named_files(args)).map(|it| fingerprint(it).unwrap_or_default());
    match (all.next(), all.collect::<Vec<_>>()) {
        (history, others) if others.is_empty() => json!(history),
        (history, others) => json!([history, others]),
    }
}

/// The files that options name.
fn named_files(args: &Args) -> impl Iterator<Item = &Path> {
    let script = args.spec.ends_with(LOADER.suffix).then(|| Path::new(&args.spec));
    script.into_iter().chain(args.known.files())
}

/// Why a journal does not fit.
fn changed(args: &Args, path: &Path) -> String {
    let others = named_files(args).map(|it| format!(" or {}", it.display()));
    format!("{}{} has changed since it was checked", path.display(), others.collect::<String>())
}

/// Prints and draws the outcome of a file. Returns what was printed, and its entry.
fn report(
    args: &Args,
    stdout: &mut Stdout,
    number: usize,
    path: &Path,
    outcome: Result<Report<'static>, Error>,
) -> Result<(String, Result<Report<'static>, Error>, SummaryEntry), Failure> {
    let outcome = outcome.map(|mut it| {
        it.set_next(next::commands(args, path, it.verdict()));
        it
    });
    let mut text = String::new();
    match &outcome {
        Ok(report) => text = show(args, report, number),
        Err(error) if error.is_input() => {
            print_error(described(error));
            if args.format == Output::Json {
                text = format!("{}\n", json::failure(&path.display().to_string(), &error.message()));
            }
        }
        // Invalid arguments: an error for every file.
        Err(error) => return Err(Failure::Message(error.to_string())),
    }
    stdout.print(text.as_bytes())?;
    // After the verdict, so that an unwritable file does not hide it.
    let entry = draw(args, number, path, &outcome)?;
    Ok((text, outcome, entry))
}

/// Prints and writes what concerns all files.
fn finish(
    args: &Args,
    stdout: &mut Stdout,
    counts: &VerdictCounts,
    entries: Vec<SummaryEntry>,
) -> Result<Status, Failure> {
    let summary = NOUNS.summary(entries);
    if args.format == Output::Text && 1 < args.files.len() {
        if counts.hold < args.files.len() {
            let table = summary::table(&summary, Durations::Shown, TABLE_ROWS_MAX);
            let title = "All histories, the worst first:".to_owned();
            stdout.print(
                format!("\n{}", table::text(&ReportTable { title, ..table }, TABLE_WIDTH_COLUMNS)).as_bytes(),
            )?;
        }
        stdout.print(format!("\n{}\n", counts.summary()).as_bytes())?;
    }
    args.summaries.write(&summary)?;
    if 1 < args.files.len() {
        args.drawings.write_all(summary, &args.summaries)?;
    }
    Ok(counts.status())
}

// Of more violated parts of a history only the number is reported.
const VIOLATIONS_MAX: usize = 20;

// Longer tables are cut.
const TABLE_ROWS_MAX: usize = 60;
const TABLE_WIDTH_COLUMNS: usize = 80;

/// Writes the requested page and picture of a history; returns its entry for the summary.
fn draw(
    args: &Args,
    number: usize,
    path: &Path,
    outcome: &Result<Report<'static>, Error>,
) -> Result<SummaryEntry, Failure> {
    match outcome {
        Ok(report) => {
            let is_written = args.summaries.are_asked_for()
                || args.drawings.are_asked_for()
                || args.journal.journal.is_some();
            let mut entry = if is_written { report.entry() } else { report.row() };
            if args.files.len() == 1 {
                args.drawings.write_history(report)?;
            } else {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                let page = || report.page();
                entry.page = args.drawings.write_one_of_many(number, &stem, &args.files, page)?;
            }
            Ok(entry)
        }
        Err(error) => Ok(SummaryEntry {
            name: path.display().to_string(),
            verdict: Word::Unreadable,
            cause: None,
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

/// For how many violated parts of a history there is a counterexample.
fn violations_max(args: &Args) -> usize {
    if args.stop_at_first { 1 } else { VIOLATIONS_MAX }
}

fn configure(args: &Args) -> Result<Check, Failure> {
    if 1 < args.files.iter().filter(|it| it.as_os_str() == DASH).count() {
        return Err(Failure::Message("standard input (`-`) can be read only once".to_owned()));
    }
    if args.journal.journal.is_some() && args.files.iter().any(|it| it.as_os_str() == DASH) {
        return Err(Failure::Message("--journal: standard input (`-`) cannot be read again".to_owned()));
    }
    let patterns = || args.files.iter().filter(|it| is_pattern(it));
    if args.quasi.is_some() && patterns().next().is_some() {
        return Err(Failure::Message("--quasi: a pattern of several files is not supported".to_owned()));
    }
    passes::refuse(args)?;
    args.drawings.accept(args.files.len())?;
    let mut matched: Vec<PathBuf> = Vec::new();
    for pattern in patterns() {
        matched.extend(matching(pattern).map_err(|it| Failure::at(&pattern.display().to_string(), it))?);
    }
    let outputs = args.drawings.files().chain(args.summaries.files()).chain(args.journal.file());
    check_outputs(args.files.iter().chain(&matched).map(PathBuf::as_path), outputs)?;
    // Looked up now, so that an unknown name is reported once, not once per file.
    clewline_specs::find(&args.spec).map_err(|it| Failure::Message(format!("--spec: {it}")))?;
    let quasi = quasi(args)?;
    let jobs = args.jobs.map_or_else(parallel::jobs_available, usize::from);
    let mut check = Check::new()
        .algorithm(args.algorithm.parse().map_err(|it| Failure::at("--algorithm", it))?)
        .format(args.input_format.parse().map_err(|it| Failure::at("--input-format", it))?)
        .keyed(if args.keyed { Keys::InValues } else { Keys::None })
        .parts(Selection::All, violations_max(args))
        .circumstances(args.known.circumstances()?)
        .criterion(criterion(args)?)
        .jobs(jobs);
    if let Some(quasi) = quasi {
        check = check.quasi(quasi);
    }
    if let Some(may_fail) = &args.may_fail {
        let known = clewline_specs::resolve_failures(&args.spec, may_fail);
        check = check.may_fail(known.map_err(|it| Failure::at("--may-fail", it))?);
    }
    if let Some(timeout) = args.timeout {
        check = check.timeout(timeout);
    }
    // Without a limit the system could kill the process before the remaining verdicts.
    if let Some(memory) = args.memory.or_else(clewline_methods::available_memory) {
        check = check.memory(memory);
    }
    Ok(check)
}

/// The requested criterion, unless it cannot be combined with other arguments.
fn criterion(args: &Args) -> Result<Criterion, Failure> {
    let criterion = args.criterion;
    let conflicts = [
        (criterion != Criterion::Linearizable && args.quasi.is_some(), "--quasi: it relaxes linearizability"),
        (!criterion.is_local() && args.algorithm != "auto", "--algorithm: it has an algorithm of its own"),
        (!criterion.is_local() && args.shard().is_some(), "--shard: all objects are judged together"),
        (!criterion.is_local() && args.may_fail.is_some(), "--may-fail: that is for linearizability"),
    ];
    match conflicts.iter().find(|it| it.0) {
        Some((_, why)) => {
            Err(Failure::Message(format!("--criterion {criterion} cannot be combined with {why}")))
        }
        None => Ok(criterion),
    }
}

/// The requested factors, if any; prints a warning about them, if there is one.
fn quasi(args: &Args) -> Result<Option<Quasi>, Failure> {
    quasi::parse_and_warn(args.quasi.as_deref(), args.reading.as_deref(), &args.spec)
}

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Whole, so that its parts have numbers.
    Whole,
    /// The same, and once, whatever the arguments say of passes: this is one of them.
    OnePass,
    /// A long one is checked while it is read, if the arguments allow it.
    AsNeeded,
}

fn check_file(args: &Args, check: &Check, path: &Path, reading: Reading) -> Result<Report<'static>, Error> {
    let name = name(args, path);
    let state: Arc<progress::CheckProgressBar> = Arc::default();
    let _shown = {
        let (name, state) = (name.clone(), Arc::clone(&state));
        progress::ProgressLine::start(move |elapsed| state.message(&name, elapsed))
    };
    let check = check.clone().progress(move |it| state.note(it));
    let task = FileCheck {
        path: path.to_owned(),
        spec: args.spec.clone(),
        // A witness names every operation, and a page shows it, so all operations are kept in
        // memory.
        is_whole: reading != Reading::AsNeeded || args.witness || args.drawings.are_asked_for(),
        has_times: args.drawings.are_asked_for(),
        order: if args.ordered { LineOrder::Promised } else { LineOrder::Seen },
        passes: match reading {
            Reading::OnePass => None,
            Reading::Whole | Reading::AsNeeded => {
                passes::Plan::of(args, path, &check, &name, violations_max(args))?
            }
        },
        check,
        name,
        kept: KeptInput::default(),
    };
    let kept = task.kept.clone();
    task.run_within(args.timeout).map_err(|it| with_excerpt(it, &kept))
}

/// The check of one file.
#[derive(Clone)]
struct FileCheck {
    check: Check,
    name: String,
    path: PathBuf,
    spec: String,
    is_whole: bool,
    has_times: bool,
    order: LineOrder,
    // If there are several.
    passes: Option<passes::Plan>,
    // Of an input that cannot be read again.
    kept: KeptInput,
}

impl FileCheck {
    fn run(self) -> Result<Report<'static>, Error> {
        if let Some(plan) = &self.passes {
            let whole = FileCheck { passes: None, is_whole: true, ..self.clone() };
            return passes::run(plan, |check| FileCheck { check, ..whole.clone() }.run());
        }
        let FileCheck { check, name, path, spec, is_whole, has_times, order, passes: _, kept } = self;
        if is_pattern(&path) {
            // There are some: it was looked at before.
            let files = matching(&path).unwrap_or_default();
            let check = if has_times { check.keep_times() } else { check };
            let open = |it: &PathBuf| (it.display().to_string(), File::open(it).map(Decoded::new));
            return check.readers(&name, files.iter().map(open), &spec).run();
        }
        let is_input = path.as_os_str() == DASH;
        let live = if is_input { Some(TimedInput::stdin()) } else { TimedInput::of_device(&path) };
        let check = if has_times { check.keep_times() } else { check };
        match live {
            Some(live) if is_whole => check.reader(&name, kept.of(Decoded::new(live)), &spec).run(),
            Some(live) => check.stream(&name, kept.of(Decoded::new(live)), &spec, order).run(),
            None if is_compressed(&path) => check_compressed(check, &name, &path, &spec, is_whole),
            None if is_whole => check.stream_files_from(u64::MAX).file(path, &spec).run(),
            None => check.file(path, &spec).run(),
        }
    }

    /// The check of a file, within its time limit and until the process is interrupted.
    fn run_within(self, limit: Option<Duration>) -> Result<Report<'static>, Error> {
        let begun = Instant::now();
        let task = self.clone();
        let given_up = |reason| Ok(given_up(&self.check, &self.name, &self.spec, begun, reason));
        if is_interrupted() {
            return given_up(Reason::Interrupted);
        }
        match within(limit, move || task.run()) {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(Late::Interrupted)) => given_up(Reason::Interrupted),
            Ok(Err(Late::Time)) => given_up(Reason::Time(limit.unwrap_or_default())),
            // No thread was started.
            Err(_) => self.run(),
        }
    }
}

/// The check of a compressed file. A large one is checked while it is read; its length is a guess.
fn check_compressed(
    check: Check,
    name: &str,
    path: &Path,
    spec: &str,
    is_whole: bool,
) -> Result<Report<'static>, Error> {
    const STREAM_FROM_BYTES: u64 = 64 << 20;
    let open = || File::open(path).map(Decoded::new).map_err(|it| Error::from(it).in_file(name));
    if !is_whole && STREAM_FROM_BYTES <= fs::metadata(path).map_or(0, |it| it.len()) {
        match check.clone().stream(name, open()?, spec, LineOrder::Seen).run() {
            // It can be read again, as a whole.
            Err(error) if error.is_out_of_order() => (),
            outcome => return outcome,
        }
    }
    check.reader(name, open()?, spec).run()
}

/// The name of the file in a report.
fn name(args: &Args, path: &Path) -> String {
    match args.format {
        Output::Text if path.as_os_str() == DASH => "standard input".to_owned(),
        Output::Text | Output::Json => path.display().to_string(),
    }
}

/// The whole report; with many files, one line for each file that holds.
fn show(args: &Args, report: &Report<'_>, number: usize) -> String {
    let witness = if args.witness { WitnessShown::Whole } else { WitnessShown::Not };
    let is_brief = 1 < args.files.len() && report.holds() && !args.witness;
    match args.format {
        Output::Text if is_brief => format!("{}\n", first_line(report, paint())),
        Output::Text if number != 0 => format!("\n{}", written(report, args.format, witness)),
        Output::Text | Output::Json => written(report, args.format, witness),
    }
}

/// The number of files per verdict.
#[derive(Debug, Default)]
struct VerdictCounts {
    hold: usize,
    violated: usize,
    unknown: usize,
    unreadable: usize,
}

impl VerdictCounts {
    fn count(&mut self, verdict: Word) {
        match verdict {
            Word::Holds => self.hold += 1,
            Word::Violated => self.violated += 1,
            Word::Unknown | Word::Ignored => self.unknown += 1,
            Word::Unreadable => self.unreadable += 1,
        }
    }

    /// A violation always wins, and an unreadable file is never a success.
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
        let VerdictCounts { hold, violated, unknown, unreadable } = self;
        let files = hold + violated + unknown + unreadable;
        let kinds =
            [(violated, "violated"), (unreadable, "unreadable"), (unknown, "unknown"), (hold, "hold")];
        let counts: Vec<String> =
            kinds.iter().filter(|it| *it.0 != 0).map(|(count, word)| format!("{count} {word}")).collect();
        format!("{files} files: {}", counts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_status(hold: usize, violated: usize, unknown: usize, unreadable: usize, expected: Status) {
        assert_eq!(VerdictCounts { hold, violated, unknown, unreadable }.status(), expected);
    }

    #[test]
    fn the_worst_verdict_is_the_status() {
        check_status(3, 0, 0, 0, Status::Done);
        check_status(3, 0, 1, 0, Status::Unknown);
        check_status(3, 0, 1, 1, Status::Failed);
        check_status(3, 1, 1, 1, Status::Violated);
    }

    #[test]
    fn a_summary_lists_the_worst_verdict_first() {
        let counts = VerdictCounts { hold: 10, violated: 1, unknown: 0, unreadable: 2 };
        assert_eq!(counts.summary(), "13 files: 1 violated, 2 unreadable, 10 hold");
    }
}
