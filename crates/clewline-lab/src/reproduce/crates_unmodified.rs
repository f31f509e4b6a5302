//! Published crates as they are, explored: well-known ones, in which nothing may be found, and versions whose bugs are known.
//!
//! For each a small crate with a test is written to a temporary folder, `cargo` builds it and what it depends on, and the test is
//! explored. What cannot be fetched or built has a row that says so.

mod cases;

use std::{
    ffi::OsString,
    time::{Duration, Instant},
};

use clewline_report::render::table::{Cell, Column, Table};
use serde_json::Value as Json;

use self::cases::{CASES, Case, Known, RIGHT, Right};
use super::entry::{Fetched, Options, Outcome, Size, Step, caution};
use clewline_unmodified::{
    Crate, Error, Instrumented, NewCrate, Ran, Runtime, Status, Talk, TestId, Toolchain,
};

/// What the command line knows.
pub(super) const ENTRY: Fetched = Fetched {
    name: "crates-unmodified",
    about: "published crates as they are, explored: well-known ones, and versions whose bugs are known",
    source: "crates.io; the issues and advisories that are named in its rows",
    run,
};

/// How far each test is explored.
fn arguments(size: Size) -> Vec<OsString> {
    let time = match size {
        Size::Full => "60s",
        Size::Quick => "20s",
    };
    ["--preemptions", "2", "--timeout", time, "--format", "json"].map(OsString::from).to_vec()
}

fn run(options: &Options, progress: &dyn Fn(Step<'_>)) -> Result<Outcome, Error> {
    let runtime = Runtime::find()?;
    let toolchain = Toolchain::find()?;
    let arguments = arguments(options.size);
    // In a quick run, the one that needs directed schedules, and the version in which it is mended.
    let cases = match options.size {
        Size::Full => &CASES[..],
        Size::Quick => &CASES[..2],
    };
    let target = NewCrate::shared_target()?;
    let explorer =
        Explorer { runtime: &runtime, toolchain: &toolchain, target: &target, arguments: &arguments };
    let mut rows = Vec::new();
    let steps = cases.len() + 1;
    if options.size == Size::Full {
        progress(Step { done: 0, of: steps, what: "crates without a known bug" });
        rows.extend(explorer.right(&RIGHT));
    }
    for (number, case) in cases.iter().enumerate() {
        progress(Step { done: number + 1, of: steps, what: case.name });
        rows.push(explorer.case(case));
    }
    let title = "Published crates, unmodified, explored with at most two preemptions".to_owned();
    Ok(Outcome {
        table: Table { title, columns: COLUMNS.to_vec(), rows, notes: notes(&toolchain) },
        plot: None,
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

fn notes(toolchain: &Toolchain) -> Vec<String> {
    let instrumented = match toolchain.instrumented() {
        Instrumented::Everything => "atomics, and plain reads and writes",
        Instrumented::Atomics => "atomics alone",
    };
    let mut notes = vec![
        "Each test has two or three threads with a call or two each. The tests were written by people who knew the bug; a bug that is not found \
         is one that this test does not show within the bound."
            .to_owned(),
        format!("This rustc instruments {instrumented}. Memory is sequentially consistent, so bugs that need weaker memory cannot show."),
    ];
    notes.extend(caution());
    notes
}

struct Explorer<'a> {
    runtime: &'a Runtime,
    toolchain: &'a Toolchain,
    target: &'a NewCrate,
    arguments: &'a [OsString],
}

/// What exploring a test gave.
struct Seen {
    verdict: String,
    cause: Option<String>,
    executions: Option<u64>,
    coverage: Option<String>,
    elapsed: Duration,
    /// Why there is no verdict.
    why: Option<String>,
}

impl Explorer<'_> {
    fn case(&self, case: &Case) -> Vec<Cell> {
        // Its folder is there for as long as its test runs.
        let explored = |new: NewCrate| {
            let tests = self.tests(&new)?;
            let test =
                tests.first().ok_or_else(|| Error::Building { told: "there is no test".to_owned() })?;
            Ok(self.explore(test))
        };
        let seen = NewCrate::write(&case.manifest(), &case.lock(), case.source).and_then(explored);
        let seen = seen.unwrap_or_else(|error| Seen::not(&error));
        let (known, about) = match case.known {
            Known::Bug(about) => ("bug", about),
            Known::Mended(about) => ("mended", about),
            Known::WeakMemory(about) => ("bug, weak memory", about),
        };
        cells(case.name, case.version, known, about, seen)
    }

    fn right(&self, right: &Right) -> Vec<Vec<Cell>> {
        let tests =
            NewCrate::write(&right.manifest(), "", right.source).and_then(|it| Ok((self.tests(&it)?, it)));
        match tests {
            Ok((tests, _alive)) => {
                let row = |test: &TestId| {
                    cells(&test.name.replace('_', "-"), "latest", "right", "", self.explore(test))
                };
                tests.iter().map(row).collect()
            }
            Err(error) => vec![cells("all of them", "latest", "right", "", Seen::not(&error))],
        }
    }

    fn tests(&self, new: &NewCrate) -> Result<Vec<TestId>, Error> {
        let tested = Crate { folder: new.folder().to_owned(), arguments: Vec::new(), talk: Talk::Kept };
        tested.build_in(self.target.folder(), self.toolchain, self.runtime)?.tests(None)
    }

    fn explore(&self, test: &TestId) -> Seen {
        let begun = Instant::now();
        let ran = test.capture(self.arguments, "clewline cargo test");
        let seen = match &ran {
            Ok(ran) => Seen::of(ran),
            Err(error) => Seen::not(error),
        };
        Seen { elapsed: begun.elapsed(), ..seen }
    }
}

impl Seen {
    fn of(ran: &Ran) -> Seen {
        let object: Json =
            ran.stdout.lines().find_map(|it| serde_json::from_str(it).ok()).unwrap_or_default();
        let text = |name: &str| object[name].as_str().map(str::to_owned);
        let verdict = match ran.status {
            Status::Holds => "holds",
            Status::Violated => "violated",
            Status::Failed => "not run",
            Status::Unknown => "unknown",
        };
        let told = || ran.stderr.lines().last().map(str::to_owned);
        Seen {
            verdict: verdict.to_owned(),
            cause: text("cause"),
            executions: object["executions"].as_u64(),
            // Whatever holds was explored as far as was asked.
            coverage: text("coverage")
                .map(|it| if ran.status == Status::Holds { "all".to_owned() } else { it }),
            elapsed: Duration::ZERO,
            why: text("reason")
                .or_else(|| told().filter(|_| matches!(ran.status, Status::Failed | Status::Unknown))),
        }
    }

    fn not(error: &Error) -> Seen {
        let told = error.to_string();
        let line =
            told.lines().find(|it| it.starts_with("error")).or(told.lines().next()).unwrap_or_default();
        Seen {
            verdict: "not run".to_owned(),
            cause: None,
            executions: None,
            coverage: None,
            elapsed: Duration::ZERO,
            why: Some(line.to_owned()),
        }
    }
}

fn cells(name: &str, version: &str, known: &str, about: &str, seen: Seen) -> Vec<Cell> {
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
