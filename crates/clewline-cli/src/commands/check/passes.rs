//! Passes of `clewline check`: a history that does not fit into memory is read several times, and
//! each time a share of its objects is judged.
//!
//! An object, or a key where operations name no objects, belongs to a pass by its hash; rows of
//! other passes are dropped while the file is read. A last pass reads the violated ones again, and
//! makes the counterexamples: the shortest are shown, so no others are needed. Shards divide the
//! passes among them; the last one is made by `merge`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clewline_check::{Algorithm, PartsJudged, Selection, parts};
use clewline_core::{ErasedHistory, NotFound, ObjectKind, Problem, Reason, RowFilter, Verdict};
use clewline_formats::Circumstances;
use clewline_methods::{Check, Error, Report, available_memory, given_up, limits::resident_bytes};
use clewline_report::render::Stream;
use clewline_specs::CATALOG;

use super::args::Args;
use crate::commands::{
    compressed::is_compressed,
    output::DASH,
    pattern::{is_pattern, matching},
    status::{Failure, print_note},
    units::{PASSES_MAX, Passes, show_size},
};

// How many bytes a byte of a file takes in memory, at most: JSON lines, columns, compressed. It was
// 0.6 to 1.3, 11 to 13, and 6 to 8 for registers, maps and queues of 500,000 operations and more;
// what is regular is compressed more.
const TEXT_FACTOR: u64 = 2;
const COLUMNS_FACTOR: u64 = 20;
const COMPRESSED_FACTOR: u64 = 16;

// A pass has this part of the memory limit, at least.
const LEAST_ROOM_DIVISOR: usize = 4;

// The last pass has this part of a time limit, at least.
const LAST_PASS_DIVISOR: u32 = 10;

/// Refuses what several passes cannot do.
pub(super) fn refuse(args: &Args) -> Result<(), Failure> {
    let conflicts = [
        (args.witness, "--witness"),
        (args.drawings.are_asked_for(), "--html or --svg"),
        (args.quasi.is_some(), "--quasi"),
        (args.stop_at_first, "--stop-at-first"),
        (
            args.shard().is_some() && args.passes == Passes::Auto,
            "--shard if it is `auto`: all shards make the same passes, so give their number",
        ),
        (!args.criterion.is_local(), "--criterion: all objects are judged together"),
        (args.files.iter().any(|it| it.as_os_str() == DASH), "standard input, which is read once"),
    ];
    match conflicts.iter().find(|it| it.0 && args.passes != Passes::Count(1)) {
        Some((_, what)) => Err(Failure::Message(format!("--passes cannot be combined with {what}"))),
        None => Ok(()),
    }
}

/// What every pass needs to know.
#[derive(Clone)]
pub(super) struct Plan {
    count: u64,
    check: Check,
    name: String,
    spec: String,
    circumstances: Circumstances,
    algorithm: Algorithm,
    violations_max: usize,
    timeout: Option<Duration>,
}

impl Plan {
    /// The passes over a file, which reports call `name`, if there is more than one. For as many
    /// violated parts as `violations_max` says there is a counterexample.
    pub(super) fn of(
        args: &Args,
        path: &Path,
        check: &Check,
        name: &str,
        violations_max: usize,
    ) -> Result<Option<Plan>, Error> {
        let count = match args.passes {
            Passes::Count(count) => count,
            Passes::Auto => chosen(args, path),
        };
        let refused = |it: &dyn std::fmt::Display| Error::from(io::Error::other(it.to_string()));
        let plan = || -> Result<Plan, Error> {
            Ok(Plan {
                count,
                check: check.clone(),
                name: name.to_owned(),
                spec: args.spec.clone(),
                circumstances: args.known.circumstances().map_err(|it| refused(&format!("{it:?}")))?,
                algorithm: args.algorithm.parse().map_err(|it: NotFound| refused(&it))?,
                violations_max,
                timeout: args.timeout,
            })
        };
        (1 < count).then(plan).transpose()
    }

    /// How many passes there are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// What one pass is to judge.
    fn pass(&self, begun: Instant, filter: &RowFilter, selection: Selection) -> Check {
        let mut circumstances = self.circumstances.clone();
        circumstances.rows = Some(filter.clone());
        // What is known to be violated is shown, also if the time is up.
        let least = match selection {
            Selection::All => self.timeout.unwrap_or_default() / LAST_PASS_DIVISOR,
            _ => Duration::ZERO,
        };
        let check = self.check.clone().circumstances(circumstances).parts(selection, self.violations_max);
        match self.timeout {
            Some(limit) => check.timeout(limit.saturating_sub(begun.elapsed()).max(least)),
            None => check,
        }
    }

    fn given_up(&self, begun: Instant, reason: Reason) -> Report<'static> {
        given_up(&self.check, &self.name, &self.spec, begun, reason)
    }
}

/// The number of passes by the size of the input; says which.
fn chosen(args: &Args, path: &Path) -> u64 {
    let files: Vec<PathBuf> =
        if is_pattern(path) { matching(path).unwrap_or_default() } else { vec![path.to_owned()] };
    let is_columns = |it: &Path| it.extension().is_some_and(|it| it == "parquet" || it == "arrow");
    let needed: u64 = files
        .iter()
        .map(|it| {
            let factor = match it {
                it if is_compressed(it) => COMPRESSED_FACTOR,
                it if is_columns(it) => COLUMNS_FACTOR,
                _ => TEXT_FACTOR,
            };
            fs::metadata(it).map_or(0, |it| it.len()).saturating_mul(factor)
        })
        .sum();
    let limit = args.memory.or_else(available_memory).unwrap_or(usize::MAX);
    // The limit is for the whole process. With less than a part of it, more passes are no help.
    let room = limit.saturating_sub(resident_bytes()).max(limit / LEAST_ROOM_DIVISOR).max(1) as u64;
    let count = needed.div_ceil(room).clamp(1, PASSES_MAX);
    let passes = if count == 1 { "1 pass".to_owned() } else { format!("{count} passes") };
    let shown = |bytes: u64| show_size((bytes.div_ceil(1 << 20) << 20) as usize);
    print_note(format!(
        "{}: {passes}: at once it would take about {}, and the limit is {}",
        path.display(),
        shown(needed),
        shown(limit as u64),
    ));
    count
}

/// What passes have found out.
#[derive(Default)]
pub(super) struct Found {
    pub(super) operations: usize,
    /// Objects with a name, and whether there is one without.
    pub(super) named: usize,
    pub(super) has_unnamed: bool,
    pub(super) parts: usize,
    /// Without the parts that do not hold.
    pub(super) judged: PartsJudged,
    /// The length of each violated part, and the hash of its rows.
    pub(super) violated: Vec<(usize, u64)>,
    /// Why parts have no verdict, by their length.
    pub(super) unknown: BTreeMap<usize, Reason>,
    pub(super) unknown_count: usize,
}

/// What one pass has found out.
pub(super) enum Pass {
    Found(Found),
    /// No object belongs to it. If none belongs to any pass, this is why.
    Empty(Error),
}

/// Judges a file in passes; `judge` reads it and makes one of them.
pub(super) fn run(
    plan: &Plan,
    judge: impl Fn(Check) -> Result<Report<'static>, Error>,
) -> Result<Report<'static>, Error> {
    let begun = Instant::now();
    let (mut all, mut nothing) = (Found::default(), None);
    for index in 0..plan.count {
        match run_one(plan, index, begun, &judge)? {
            Pass::Found(found) => all.absorb(found),
            Pass::Empty(error) => nothing = Some(error),
        }
        if matches!(all.unknown.values().next(), Some(Reason::Time(_) | Reason::Interrupted)) {
            break;
        }
    }
    match nothing {
        Some(error) if all.operations == 0 && all.unknown_count == 0 => Err(error),
        _ => finish(plan, all, begun, judge),
    }
}

/// The pass with this number, over a file whose passes began at this time.
pub(super) fn run_one(
    plan: &Plan,
    index: u64,
    begun: Instant,
    judge: impl Fn(Check) -> Result<Report<'static>, Error>,
) -> Result<Pass, Error> {
    let count = plan.count;
    let filter = RowFilter::new(move |hash| hash % count == index);
    // Violations are not minimized.
    let selection = Selection::Share { index: 0, count: 1 };
    match judge(plan.pass(begun, &filter, selection)) {
        Ok(report) => Ok(Pass::Found(Found::of(&report, &filter.take_hashes(), plan)?)),
        Err(error) if filter.has_dropped_all() => Ok(Pass::Empty(error)),
        Err(error) => Err(error),
    }
}

/// The report on what all passes have found out; `judge` makes the last one.
pub(super) fn finish(
    plan: &Plan,
    all: Found,
    begun: Instant,
    judge: impl Fn(Check) -> Result<Report<'static>, Error>,
) -> Result<Report<'static>, Error> {
    let base = if let Some(&last) = all.shown(plan.violations_max).last() {
        let shown: BTreeSet<u64> = all.violated.iter().filter(|it| it.0 <= last).map(|it| it.1).collect();
        let filter = RowFilter::new(move |hash| shown.contains(&hash));
        judge(plan.pass(begun, &filter, Selection::All))?
    } else {
        let reason = all.unknown.values().next().cloned().unwrap_or(Reason::Interrupted);
        plan.given_up(begun, reason)
    };
    Ok(all.report(base, begun))
}

/// Whether the object of a problem has no name.
fn is_unnamed(case: &dyn ErasedHistory, problem: &Problem<'_>) -> bool {
    let object = problem.operations().first().map(|it| case.object(*it).index());
    object.and_then(|it| case.names().objects.get(it)).is_none_or(|it| it.is_absent())
}

impl Found {
    /// The lengths of the violated parts that are shown, in ascending order.
    fn shown(&self, most: usize) -> Vec<usize> {
        let mut lengths: Vec<usize> = self.violated.iter().map(|it| it.0).collect();
        lengths.sort_unstable();
        lengths.truncate(most);
        lengths
    }

    /// What a pass has found out, whose rows have these hashes.
    fn of(report: &Report<'_>, hashes: &[u64], plan: &Plan) -> Result<Found, Error> {
        let mut own = Found::default();
        let (count, found) = report.parts();
        let case = report.case();
        if let (0, Verdict::Unknown(reason)) = (count, report.verdict()) {
            // It was not even read.
            own.unknown_count = 1;
            own.unknown.insert(0, reason.clone());
            return Ok(own);
        }
        let problems = case.problems();
        if let Some(problem) = problems.iter().find(|it| is_unnamed(case, it)) {
            let entry = CATALOG.iter().find(|it| Some(it.name) == plan.spec.split(':').next());
            let is_keyed = entry.is_some_and(|it| it.is_keyed) && problem.kind() != Some(ObjectKind::Set);
            if !is_keyed || !problem.is_about_parts() {
                let why = "its operations name no objects, and are not judged by keys: it has one pass";
                return Err(Error::from(io::Error::other(why)).in_file(&plan.name));
            }
            own.has_unnamed = true;
        }
        own.named = problems.iter().filter(|it| !is_unnamed(case, it)).count();
        (own.operations, own.parts) = (report.operations(), count);
        let parts = parts(problems, &plan.algorithm);
        let hash = |part: &Problem<'_>| {
            let first = part.operations().first().map(|it| case.source(*it));
            first.and_then(|it| hashes.get(it)).copied().unwrap_or_default()
        };
        own.violated = found.violated.iter().map(|it| (parts[*it].len(), hash(&parts[*it]))).collect();
        own.unknown_count = found.unknown.len();
        for (part, reason) in &found.unknown {
            own.unknown.entry(parts[*part].len()).or_insert_with(|| reason.clone());
        }
        own.judged = found.clone();
        own.judged.violated.clear();
        own.judged.unknown.clear();
        Ok(own)
    }

    /// Adds what a later pass has found out.
    pub(super) fn absorb(&mut self, other: Found) {
        self.operations += other.operations;
        self.named += other.named;
        self.has_unnamed |= other.has_unnamed;
        self.parts += other.parts;
        self.judged.absorb(other.judged);
        self.violated.extend(other.violated);
        for (length, reason) in other.unknown {
            self.unknown.entry(length).or_insert(reason);
        }
        self.unknown_count += other.unknown_count;
    }

    fn report(mut self, base: Report<'static>, begun: Instant) -> Report<'static> {
        self.judged.violated = (0..self.violated.len()).collect();
        let reasons = (0..self.unknown_count).zip(self.unknown.values().cycle());
        self.judged.unknown = reasons.map(|(number, reason)| (number, reason.clone())).collect();
        let objects = self.named + usize::from(self.has_unnamed);
        let counts = Stream { operations: self.operations as u64, objects, most_held: None, line: None };
        base.of_passes(self.parts, self.judged, counts, begun.elapsed())
    }
}
