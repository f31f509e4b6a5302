//! Structures of C and C++ libraries that Debian packages, explored as they are.
//!
//! Each has a small driver in `programs/packaged`, compiled here with the library's own headers. A
//! library that is not installed has a row that says so. What each verdict should be was judged by
//! hand, and a row whose verdict is another one says so.

mod cases;

use std::time::{Duration, Instant};

use clewline_core::Verdict;
use clewline_explore::schedulers::{bounded, bounded_dpor};
use clewline_methods::line_up::{Checked, LineUpOptions, Matrix, check};
use clewline_report::render::table::{Cell, Column, ReportTable};
use clewline_threads::control::MemoryModel;

use self::cases::{LIBRARIES, LibraryCase};
use super::{
    entry::{Fetched, Options, Outcome, Progress, Size, Step, caution, figures},
    explored::ExplorationResult,
};
use clewline_unmodified::{Compiler, OutputMode, Program, ProgramError, RunOptions, Runtime, Sources, Trust};

/// The entry of this file in the table.
pub(super) const ENTRY: Fetched = Fetched {
    name: "unmodified-c",
    about: "structures of C and C++ libraries as Debian packages them, explored as they are",
    source: "the packages that are named in its rows, if they are installed",
    run,
};

const HOLDS: &str = "holds";

/// The limits of each exploration.
fn check_options(size: Size) -> LineUpOptions {
    let seconds = match size {
        Size::Full => 60,
        Size::Quick => 20,
    };
    let time = Some(Duration::from_secs(seconds));
    let mut options = LineUpOptions { time, ..LineUpOptions::default() };
    options.settings.bounds.set(&bounded::PREEMPTIONS, Some(2));
    options
}

fn run(options: &Options, progress: &dyn Progress) -> Result<Outcome, ProgramError> {
    let (runtime, compiler) = (Runtime::find()?, Compiler::find(None)?);
    let check = check_options(options.size);
    let mut rows = Vec::new();
    for (done, case) in LIBRARIES.iter().enumerate() {
        let step = Step { done, of: LIBRARIES.len(), what: case.name };
        let row = figures(progress, step, || {
            let begun = Instant::now();
            let seen = explore(case, &compiler, &runtime, &check);
            let seen = seen.unwrap_or_else(|it| not_run(case, &it));
            cells(case, ExplorationResult { elapsed: begun.elapsed(), ..seen })
        });
        progress.row(&COLUMNS, &row);
        rows.push(row);
    }
    let title = "Structures of C and C++ libraries, unmodified".to_owned();
    Ok(Outcome {
        table: ReportTable { title, columns: COLUMNS.to_vec(), rows, notes: notes(&compiler) },
        plots: Vec::new(),
    })
}

const COLUMNS: [Column; 9] = [
    Column { key: "structure", heading: "structure" },
    Column { key: "package", heading: "package" },
    Column { key: "matrix", heading: "calls" },
    Column { key: "verdict", heading: "verdict" },
    Column { key: "cause", heading: "cause" },
    Column { key: "executions", heading: "executions" },
    Column { key: "expected", heading: "by hand" },
    Column { key: "seconds", heading: "s" },
    Column { key: "why", heading: "why that is right, and what was not seen" },
];

fn notes(compiler: &Compiler) -> Vec<String> {
    let mut notes = vec![format!(
        "The drivers in crates/clewline-lab/programs/packaged were compiled by {}. What holds was explored under sequential consistency and \
         under rc11, with at most two preemptions (under sequential consistency alone where races are set aside); executions are those of \
         both. `trusted` names code that is not seen.",
        compiler.name()
    )];
    notes.extend(caution());
    notes
}

fn explore(
    case: &LibraryCase,
    compiler: &Compiler,
    runtime: &Runtime,
    options: &LineUpOptions,
) -> Result<ExplorationResult, ProgramError> {
    let flags = case.flags.split_whitespace().map(Into::into).collect();
    let sources = Sources { files: Vec::new(), flags };
    let program = Program::of_text(case.file, case.text, &sources, compiler, runtime)?;
    let trust = Trust(case.trusted.split_whitespace().map(str::to_owned).collect());
    let wanted = RunOptions {
        trust: trust.clone(),
        ignores_races: case.ignores_races,
        isolates_executions: case.isolates,
        ..RunOptions::default()
    };
    let session = program.start(&[], &wanted, OutputMode::Captured)?;
    let [first, second] = models(case, options);
    let matrix: Matrix = case.matrix.parse().expect("checked by a test");
    let remote = session.remote();
    let explored = |options: &LineUpOptions| {
        check(&**remote, &matrix, options).map_err(|it| ProgramError::Killed { how: it.0 })
    };
    let mut seen = ExplorationResult::of(&explored(&first)?);
    if seen.verdict == HOLDS && !case.ignores_races {
        seen = and_weak(seen, &explored(&second)?);
    }
    let seen = seen.with_unseen(&program.blind_spots().sentences(&remote.unseen(), &trust));
    session.finish()?;
    Ok(seen)
}

/// The options under sequential consistency, and under rc11.
fn models(case: &LibraryCase, options: &LineUpOptions) -> [LineUpOptions; 2] {
    let mut first = options.clone();
    if let Some(rules) = case.may_fail {
        first.may_fail = rules.parse().expect("checked by a test");
    }
    let mut second = first.clone();
    second.memory.model = MemoryModel::ReleaseAcquire;
    second.scheduler = &bounded_dpor::ENTRY;
    [first, second]
}

/// The result under sequential consistency, where it holds, together with that under rc11. If the
/// latter is not explored to the end, the verdict is the former's, as that of `clewline cc`.
fn and_weak(first: ExplorationResult, weak: &Checked) -> ExplorationResult {
    let executions = first.executions.map(|it| it + weak.executions);
    match &weak.verdict {
        Verdict::Unknown(why) => {
            ExplorationResult { executions, why: Some(format!("under rc11: {why}")), ..first }
        }
        Verdict::Holds(()) | Verdict::Violated(_) => {
            ExplorationResult { executions, ..ExplorationResult::of(weak) }
        }
    }
}

/// Why a driver was not explored: most often, because its library is not installed.
fn not_run(case: &LibraryCase, error: &ProgramError) -> ExplorationResult {
    let message = error.to_string();
    let is_missing = ["No such file or directory", "cannot find -l", "file not found"];
    if is_missing.iter().any(|it| message.contains(it)) {
        let why = Some(format!("{} is not installed", case.package));
        return ExplorationResult { verdict: "skipped".to_owned(), why, ..ExplorationResult::not(error) };
    }
    ExplorationResult::not(error)
}

fn cells(case: &LibraryCase, seen: ExplorationResult) -> Vec<Cell> {
    let text = |it: Option<String>| it.map_or(Cell::Missing, Cell::Text);
    let trusted = (!case.trusted.is_empty()).then(|| format!("trusted: {}", case.trusted));
    let why = [Some(case.judged.to_owned()), trusted, seen.why];
    vec![
        Cell::Text(case.name.to_owned()),
        Cell::Text(case.package.to_owned()),
        Cell::Text(case.matrix.to_owned()),
        Cell::Text(seen.verdict),
        text(seen.cause),
        seen.executions.map_or(Cell::Missing, Cell::Count),
        Cell::Text(case.expected.to_owned()),
        Cell::Number(seen.elapsed.as_secs_f64()),
        text(Some(why.into_iter().flatten().collect::<Vec<_>>().join("; "))),
    ]
}
