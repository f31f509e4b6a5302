//! Unmodified published crates, explored: well-known ones, in which nothing may be found, and
//! versions with known bugs.
//!
//! For each a small crate with a test is written to a temporary folder, `cargo` builds it and its
//! dependencies, and the test is explored. A crate that cannot be fetched or built has a row with
//! the reason.

mod cases;

use std::time::{Duration, Instant};

use clewline_core::CodecError;
use clewline_explore::schedulers::bounded;
use clewline_methods::line_up::{LineUpOptions, Matrix, Reference, check};
use clewline_report::render::table::{Cell, Column, ReportTable};

use self::cases::{CASES, CorrectCrates, CrateCase, KnownDefect, RIGHT};
use super::{
    entry::{Fetched, Options, Outcome, Progress, Size, Step, caution, figures},
    explored::ExplorationResult,
};
use clewline_unmodified::{
    Crate, NewCrate, OutputMode, ProgramError, RunOptions, Runtime, TestId, Toolchain, Trust,
};

/// The entry of this file in the table.
pub(super) const ENTRY: Fetched = Fetched {
    name: "crates-unmodified",
    about: "published crates as they are, explored: well-known ones, and versions whose bugs are known",
    source: "crates.io; the issues and advisories that are named in its rows",
    run,
};

/// The limits of each exploration. Every result of a test is correct, if it terminates.
fn check_options(size: Size) -> LineUpOptions {
    let seconds = match size {
        Size::Full => 60,
        Size::Quick => 20,
    };
    let time = Some(Duration::from_secs(seconds));
    let mut options = LineUpOptions { time, against: Reference::Anything, ..LineUpOptions::default() };
    options.settings.bounds.set(&bounded::PREEMPTIONS, Some(2));
    options
}

fn run(options: &Options, progress: &dyn Progress) -> Result<Outcome, ProgramError> {
    let runtime = Runtime::find()?;
    let toolchain = Toolchain::find()?;
    let check = check_options(options.size);
    // In a quick run, the version that needs directed schedules, and the one in which it is fixed.
    let cases = match options.size {
        Size::Full => &CASES[..],
        Size::Quick => &CASES[..2],
    };
    let target = NewCrate::shared_target()?;
    let explorer = Explorer { runtime: &runtime, toolchain: &toolchain, target: &target, options: &check };
    let mut rows = Vec::new();
    let steps = cases.len() + 1;
    if options.size == Size::Full {
        let step = Step { done: 0, of: steps, what: "crates without a known bug" };
        let right = figures(progress, step, || explorer.right(&RIGHT).concat());
        rows.extend(right.chunks(COLUMNS.len()).map(<[Cell]>::to_vec));
    }
    for (number, case) in cases.iter().enumerate() {
        let step = Step { done: number + 1, of: steps, what: case.name };
        rows.push(figures(progress, step, || explorer.case(case)));
    }
    let title = "Published crates, unmodified, explored with at most two preemptions".to_owned();
    Ok(Outcome {
        table: ReportTable { title, columns: COLUMNS.to_vec(), rows, notes: notes() },
        plots: Vec::new(),
    })
}

const COLUMNS: [Column; 9] = [
    Column { key: "crate", heading: "crate" },
    Column { key: "version", heading: "version" },
    Column { key: "known", heading: "known" },
    Column { key: "verdict", heading: "verdict" },
    Column { key: "cause", heading: "cause" },
    Column { key: "executions", heading: "executions" },
    Column { key: "coverage", heading: "explored" },
    Column { key: "seconds", heading: "s" },
    Column { key: "why", heading: "what is known, or why not" },
];

fn notes() -> Vec<String> {
    let mut notes = vec![
        "Each test has two or three threads with a call or two each. The tests were written by people who knew the bug; a bug that is not found \
         is one that this test does not show within the bound."
            .to_owned(),
        "Memory is sequentially consistent, so bugs that need weaker memory cannot show.".to_owned(),
        format!("Fences in inline assembly are not seen, and trusted, in {}.", FENCES.join(" and ")),
    ];
    notes.extend(caution());
    notes
}

/// Modules whose inline assembly is a fence: a locked instruction on a local variable. Memory is
/// sequentially consistent here, so it has no effect.
const FENCES: [&str; 2] = ["concurrent_queue", "event_listener"];

struct Explorer<'a> {
    runtime: &'a Runtime,
    toolchain: &'a Toolchain,
    target: &'a NewCrate,
    options: &'a LineUpOptions,
}

impl Explorer<'_> {
    fn case(&self, case: &CrateCase) -> Vec<Cell> {
        // Its folder exists as long as its test runs.
        let explored = |new: NewCrate| {
            let tests = self.tests(&new)?;
            let test = tests
                .first()
                .ok_or_else(|| ProgramError::Building { message: "there is no test".to_owned() })?;
            Ok(self.explore(test))
        };
        let seen = NewCrate::write(&case.manifest(), &case.lock(), case.source).and_then(explored);
        let seen = seen.unwrap_or_else(|error| ExplorationResult::not(&error));
        let (known, about) = match case.known {
            KnownDefect::Bug(about) => ("bug", about),
            KnownDefect::Mended(about) => ("mended", about),
            KnownDefect::WeakMemory(about) => ("bug, weak memory", about),
        };
        cells(case.name, case.version, known, about, seen)
    }

    fn right(&self, right: &CorrectCrates) -> Vec<Vec<Cell>> {
        let tests =
            NewCrate::write(&right.manifest(), "", right.source).and_then(|it| Ok((self.tests(&it)?, it)));
        match tests {
            Ok((tests, _alive)) => {
                let row = |test: &TestId| {
                    cells(&test.name.replace('_', "-"), "latest", "right", "", self.explore(test))
                };
                tests.iter().map(row).collect()
            }
            Err(error) => vec![cells("all of them", "latest", "right", "", ExplorationResult::not(&error))],
        }
    }

    fn tests(&self, new: &NewCrate) -> Result<Vec<TestId>, ProgramError> {
        let tested =
            Crate { folder: new.folder().to_owned(), arguments: Vec::new(), output: OutputMode::Captured };
        let built = tested.build_in(self.target.folder(), self.toolchain, self.runtime)?;
        built.tests(None).map(|it| it.tests)
    }

    fn explore(&self, test: &TestId) -> ExplorationResult {
        let begun = Instant::now();
        let seen = self.check(test).unwrap_or_else(|it| ExplorationResult::not(&it));
        ExplorationResult { elapsed: begun.elapsed(), ..seen }
    }

    fn check(&self, test: &TestId) -> Result<ExplorationResult, ProgramError> {
        let trust = Trust(FENCES.map(str::to_owned).to_vec());
        // The known bugs show in what tests do, and a race would end the exploration before.
        let wanted = RunOptions { ignores_races: true, trust: trust.clone(), ..RunOptions::default() };
        let session = test.start(&wanted, OutputMode::Captured)?;
        let matrix = Matrix { columns: vec![vec!["main".to_owned()]], ..Matrix::default() };
        let checked = check(&**session.remote(), &matrix, self.options);
        let unseen = test.blind_spots().sentences(&session.remote().unseen(), &trust);
        session.finish()?;
        let checked = checked.map_err(|CodecError(how)| ProgramError::Killed { how })?;
        Ok(ExplorationResult::of(&checked).with_unseen(&unseen))
    }
}

fn cells(name: &str, version: &str, known: &str, about: &str, seen: ExplorationResult) -> Vec<Cell> {
    let text = |it: Option<String>| it.map_or(Cell::Missing, Cell::Text);
    let why = [Some(about.to_owned()).filter(|it| !it.is_empty()), seen.why];
    let why: Vec<String> = why.into_iter().flatten().collect();
    vec![
        Cell::Text(name.to_owned()),
        Cell::Text(version.to_owned()),
        Cell::Text(known.to_owned()),
        Cell::Text(seen.verdict),
        text(seen.cause),
        seen.executions.map_or(Cell::Missing, Cell::Count),
        text(seen.coverage),
        Cell::Number(seen.elapsed.as_secs_f64()),
        text(Some(why.join("; ")).filter(|it| !it.is_empty())),
    ]
}
