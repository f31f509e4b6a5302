//! Batches that are sorted by object: judged as they come, a few objects in memory at a time.
//!
//! Rows are collected until there are [`CHUNK_ROWS`] of whole objects, which are judged together,
//! in parallel. So memory depends on the longest object, not on the number of objects. An object
//! that is violated is judged once more, alone: its report is the usual one, and does not depend on
//! its neighbours.
//!
//! Invariant: every row that comes belongs to exactly one object, and is counted when there is a
//! verdict on that object, or a limit that was hit.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Instant,
};

use arrow_array::{Array, RecordBatch, cast::AsArray, ffi_stream::RecordBatchStreamReader, types::Int64Type};
use arrow_pyarrow::PyArrowType;
use arrow_schema::{ArrowError, DataType};
use clewline_check::{Selection, parts};
use clewline_core::{ErasedSpec, Reason, Verdict};
use clewline_methods::{Check, Error, Report};
use clewline_report::render::{Publish, WitnessShown};
use pyo3::{exceptions::PyValueError, prelude::*};
use serde_json::Value as Json;

use crate::{
    found::Found,
    names::{Name, Names},
    settings::Settings,
    stream::Stream,
    table::{Batches, ObjectColumn, recording},
    work::{Cancel, without_interpreter},
};

// Rows of whole objects that are judged together.
const CHUNK_ROWS: usize = 1 << 16;

// About what an operation takes while it is judged. Objects are judged together with one more that
// is as long as an object may be, so an object that would take more than half of the memory limit by
// this is judged while it comes, if that is possible.
const ROW_BYTES: usize = 320;

/// The column with a number for each row, the sum of which is returned.
const CHECKSUM: &str = "clewline_checksum";

/// The verdicts on the objects of a sorted stream.
#[pyclass(frozen, get_all, module = "clewline._native")]
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    operations: u64,
    objects: u64,
    violated: u64,
    unknown: u64,
    /// The violated objects and those without a verdict, in their order; not all if there are very
    /// many.
    found: Vec<Found>,
    /// The sum of the numbers in the column `clewline_checksum`, in decimal digits.
    checksum: String,
}

/// Judges a stream of batches that is sorted by the column `object`. Of more than `reports`
/// violated objects no report is kept, and of more than `most` nothing but their number. Of an
/// object no more than `held` rows are held: a longer one is judged while it comes.
#[pyfunction]
#[pyo3(signature = (stream, settings, object, reports = 20, most = 10_000, held = None))]
pub(crate) fn check_sorted(
    py: Python<'_>,
    stream: PyArrowType<RecordBatchStreamReader>,
    settings: &Settings,
    object: &str,
    reports: usize,
    most: usize,
    held: Option<usize>,
) -> PyResult<Sorted> {
    if settings.is_quasi() {
        return Err(PyValueError::new_err("quasi: factors are not for sorted streams"));
    }
    if settings.has_criterion() {
        return Err(PyValueError::new_err("criterion: a sorted stream is judged by linearizability"));
    }
    let cancel: Arc<Cancel> = Arc::default();
    let specification = settings.object()?;
    let rows_max = settings.memory.unwrap_or(usize::MAX) / (2 * ROW_BYTES);
    let mut judge = Judge {
        settings,
        cancel: &cancel,
        specification: &*specification,
        column: ObjectColumn::new(object, settings.takes_keys()),
        begun: Instant::now(),
        reports,
        most,
        held_max: held.unwrap_or(rows_max),
        chunk_rows: CHUNK_ROWS.min(rows_max / 4),
        rows: Vec::new(),
        held: 0,
        spans: Vec::new(),
        last: None,
        has_null_ended: false,
        checksum: 0,
        sorted: Sorted::default(),
    };
    let judged = without_interpreter(py, &cancel, move || judge.run(stream.0));
    settings.raised()?;
    judged?.map_err(PyValueError::new_err)
}

/// The rows of one object among those that are held.
#[derive(Debug)]
struct ObjectRows {
    name: Name,
    rows: usize,
    state: RowsState,
}

/// What becomes of the rows of an object.
#[derive(Debug)]
enum RowsState {
    /// They are held until they are judged.
    Held,
    /// There are more than may be held: they are judged while they come.
    Streamed(Stream),
    /// The same, and the last has come.
    Judged(Box<Result<Report<'static>, Error>>),
    /// There are too many, and they cannot be judged while they come.
    Dropped,
}

impl ObjectRows {
    fn is_held(&self) -> bool {
        matches!(self.state, RowsState::Held)
    }
}

struct Judge<'a> {
    settings: &'a Settings,
    cancel: &'a Arc<Cancel>,
    specification: &'a dyn ErasedSpec,
    column: ObjectColumn,
    begun: Instant,
    reports: usize,
    most: usize,
    held_max: usize,
    chunk_rows: usize,
    // The rows that are held, and how many there are: those of `spans`, one after the other.
    rows: Vec<RecordBatch>,
    held: usize,
    spans: Vec<ObjectRows>,
    last: Option<Name>,
    has_null_ended: bool,
    checksum: i128,
    sorted: Sorted,
}

impl Judge<'_> {
    fn run(
        &mut self,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    ) -> Result<Sorted, String> {
        for batch in batches {
            let batch = batch.map_err(|it| it.to_string())?;
            // A table may be a single batch, however long it is.
            let (rows, piece) = (batch.num_rows(), (self.chunk_rows / 4).max(1));
            for from in (0..rows).step_by(piece) {
                if self.cancel.is_set() {
                    return Err("interrupted".to_owned());
                }
                self.add(&batch.slice(from, piece.min(rows - from)))?;
                // The last object may go on after this piece.
                let open = self.spans.last().map_or(0, |it| if it.is_held() { it.rows } else { 0 });
                if self.chunk_rows <= self.held - open {
                    self.judge_but(1)?;
                }
            }
        }
        self.end_last();
        self.judge_but(0)?;
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.checksum = self.checksum.to_string();
        Ok(sorted)
    }

    /// Takes the rows of a batch.
    fn add(&mut self, batch: &RecordBatch) -> Result<(), String> {
        self.checksum += checksum(batch)?;
        let (batch, objects) = self.column.apply(batch).map_err(|it| it.to_string())?;
        let names = Names::of(&objects).map_err(|it| format!("column `{}`: {it}", self.column.name))?;
        let mut from = 0;
        for row in 1..=batch.num_rows() {
            if row < batch.num_rows() && names.is_that_before(row) {
                continue;
            }
            self.add_rows(names.get(from), batch.slice(from, row - from))?;
            from = row;
        }
        Ok(())
    }

    fn add_rows(&mut self, name: Name, rows: RecordBatch) -> Result<(), String> {
        let count = rows.num_rows();
        if self.last.as_ref() != Some(&name) {
            self.end_last();
            self.begin(&name)?;
            self.spans.push(ObjectRows { name, rows: 0, state: RowsState::Held });
        }
        let Some(span) = self.spans.last_mut() else { return Ok(()) };
        span.rows += count;
        match &mut span.state {
            RowsState::Held => {
                let length = span.rows;
                self.held += count;
                self.rows.push(rows);
                if self.held_max < length {
                    self.stream_last(length)?;
                }
            }
            RowsState::Streamed(stream) => stream.send(rows)?,
            RowsState::Judged(_) | RowsState::Dropped => (),
        }
        Ok(())
    }

    /// Judges the last object, which has this number of rows so far, while it comes.
    fn stream_last(&mut self, length: usize) -> Result<(), String> {
        let rows = self.take_last(length);
        let check = || self.check().window(self.chunk_rows.max(1));
        let stream = self.settings.streamed().map(|spec| Stream::start(check(), spec.to_owned()));
        let Some(span) = self.spans.last_mut() else { return Ok(()) };
        let Some(mut stream) = stream.transpose().map_err(|it| it.to_string())? else {
            span.state = RowsState::Dropped;
            return Ok(());
        };
        rows.into_iter().try_for_each(|it| stream.send(it))?;
        span.state = RowsState::Streamed(stream);
        Ok(())
    }

    /// The last rows of the last object have come.
    fn end_last(&mut self) {
        let Some(span) = self.spans.last_mut() else { return };
        span.state = match std::mem::replace(&mut span.state, RowsState::Held) {
            RowsState::Streamed(stream) => RowsState::Judged(Box::new(stream.end())),
            other => other,
        };
    }

    /// Checks that an object called `name` may begin here.
    fn begin(&mut self, name: &Name) -> Result<(), String> {
        self.sorted.objects += 1;
        let Some(last) = self.last.replace(name.clone()) else { return Ok(()) };
        // No name is first or last, so it is there once, and not between two others.
        let is_null_again = *name == Name::Null && self.has_null_ended;
        let is_null_between = last == Name::Null && 2 < self.sorted.objects;
        self.has_null_ended |= last == Name::Null;
        if is_null_again || is_null_between || !name.follows(&last) {
            let (own, last) = (name.json(), last.json());
            return Err(format!(
                "the rows are not sorted by the column `{}`: {own} comes after {last}",
                self.column.name
            ));
        }
        Ok(())
    }

    /// The last `count` rows, which are no longer held.
    fn take_last(&mut self, count: usize) -> Vec<RecordBatch> {
        let mut taken = Vec::new();
        let mut left = count;
        while 0 < left {
            let Some(last) = self.rows.pop() else { break };
            let own = last.num_rows();
            let here = own.min(left);
            taken.push(last.slice(own - here, here));
            if here < own {
                self.rows.push(last.slice(0, own - here));
            }
            left -= here;
        }
        self.held -= count;
        taken.reverse();
        taken
    }

    /// Judges all objects but the last `open`.
    fn judge_but(&mut self, open: usize) -> Result<(), String> {
        let rest = self.spans.split_off(self.spans.len().saturating_sub(open));
        let spans = std::mem::replace(&mut self.spans, rest);
        let kept: usize = self.spans.iter().filter(|it| it.is_held()).map(|it| it.rows).sum();
        let open = self.take_last(kept);
        let rows = std::mem::replace(&mut self.rows, open);
        self.held = kept;
        let operations: usize = spans.iter().map(|it| it.rows).sum();
        self.judge(Chunk::new(rows, spans))?;
        self.sorted.operations += operations as u64;
        Ok(())
    }

    fn judge(&mut self, chunk: Chunk) -> Result<(), String> {
        let (violated, unknown) = self.verdicts(&chunk)?;
        let mut number = 0;
        for span in &chunk.spans {
            match &span.state {
                RowsState::Held => {
                    if violated.contains(&number) {
                        let report = self.report(chunk.object(number), self.settings.violations, true);
                        self.note_violated(span, report.ok());
                    } else if let Some(reason) = unknown.get(&number) {
                        self.note_unknown(span, reason.to_string());
                    }
                    number += 1;
                }
                RowsState::Streamed(_) | RowsState::Judged(_) => (),
                RowsState::Dropped => self.note_unknown(span, self.too_long(span)),
            }
        }
        for mut span in chunk.spans {
            let RowsState::Judged(judged) = std::mem::replace(&mut span.state, RowsState::Dropped) else {
                continue;
            };
            match *judged {
                Ok(report) => match report.verdict() {
                    Verdict::Holds(_) => all_judged(&report, span.rows)?,
                    Verdict::Violated(_) => self.note_violated(&span, Some(report)),
                    Verdict::Unknown(reason) => {
                        let why = format!("{}: {reason}", self.too_long(&span));
                        self.note_unknown(&span, why);
                    }
                },
                Err(error) if error.is_out_of_order() => {
                    let why = format!("{}, and they are not in the order of `call`", self.too_long(&span));
                    self.note_unknown(&span, why);
                }
                Err(error) => return Err(of_object(&span, &error)),
            }
        }
        Ok(())
    }

    /// The objects that are violated, and those without a verdict, by their numbers among those that
    /// are held.
    fn verdicts(&self, chunk: &Chunk) -> Result<(BTreeSet<usize>, BTreeMap<usize, Reason>), String> {
        let held: Vec<&ObjectRows> = chunk.held().collect();
        let (mut violated, mut unknown) = (BTreeSet::new(), BTreeMap::new());
        if held.is_empty() {
            return Ok((violated, unknown));
        }
        if let Some(limit) = self.settings.timeout.filter(|it| *it <= self.begun.elapsed()) {
            unknown.extend((0..held.len()).map(|it| (it, Reason::Time(limit))));
            return Ok((violated, unknown));
        }
        // Every part is judged, and what is violated is explained later.
        if let Ok(report) = self.report(chunk.rows.clone(), 2, false) {
            all_judged(&report, held.iter().map(|it| it.rows).sum())?;
            let found = report.parts().1;
            if !found.violated.is_empty() || !found.unknown.is_empty() {
                let case = report.case();
                let parts = parts(case.problems(), &self.settings.algorithm);
                // Objects have numbers in the order in which they come.
                let object = |part: usize| case.object(parts[part].operations()[0]).index();
                violated.extend(found.violated.iter().map(|it| object(*it)));
                unknown.extend(found.unknown.iter().map(|(part, reason)| (object(*part), reason.clone())));
            }
            return Ok((violated, unknown));
        }
        // A process may be in operations on two objects at a time, for example.
        for (number, span) in held.into_iter().enumerate() {
            let report = self.report(chunk.object(number), 1, false).map_err(|it| of_object(span, &it))?;
            all_judged(&report, span.rows)?;
            match report.verdict() {
                Verdict::Holds(_) => (),
                Verdict::Violated(_) => _ = violated.insert(number),
                Verdict::Unknown(reason) => _ = unknown.insert(number, reason.clone()),
            }
        }
        Ok((violated, unknown))
    }

    fn too_long(&self, span: &ObjectRows) -> String {
        let limit = self.settings.memory.unwrap_or_default() >> 20;
        format!("its {} operations are too many for the memory limit of {limit} MiB", span.rows)
    }

    fn check(&self) -> Check {
        let check = self.settings.check(self.cancel);
        match self.settings.timeout {
            Some(limit) => check.timeout(limit.saturating_sub(self.begun.elapsed())),
            None => check,
        }
    }

    fn report(
        &self,
        rows: Vec<RecordBatch>,
        violations: usize,
        times: bool,
    ) -> Result<Report<'static>, Error> {
        let batches: Batches = Box::new(rows.into_iter().map(Ok));
        let recording = recording(batches, &self.settings.circumstances, times)?;
        let check = self.check().parts(Selection::All, violations);
        check.recorded("the table", recording, self.specification).run()
    }

    fn note_violated(&mut self, span: &ObjectRows, report: Option<Report<'static>>) {
        self.sorted.violated += 1;
        if self.most <= self.sorted.found.len() {
            return;
        }
        let name = span.name.json();
        let mut found = match report {
            Some(report) if matches!(report.verdict(), Verdict::Violated(_)) => {
                let json = Json::from(report.json(WitnessShown::Not));
                let found = Found::violated(&json["explanation"]);
                let is_kept = self.reports > 0;
                self.reports = self.reports.saturating_sub(1);
                Found { report: is_kept.then(|| Arc::new(report)), ..found }
            }
            // It is violated, but a limit was hit when it was judged again.
            _ => {
                let why = "A limit was hit before a counterexample was made.".to_owned();
                Found::without_ids(Json::Null, "violated", why)
            }
        };
        (found.object, found.operations) = (name, Some(span.rows));
        self.sorted.found.push(found);
    }

    fn note_unknown(&mut self, span: &ObjectRows, why: String) {
        self.sorted.unknown += 1;
        if self.sorted.found.len() < self.most {
            let found = Found::without_ids(span.name.json(), "unknown", why);
            self.sorted.found.push(Found { operations: Some(span.rows), ..found });
        }
    }
}

/// The error with the name of the object in which it is.
fn of_object(span: &ObjectRows, error: &Error) -> String {
    format!("object {}: {}", span.name.json(), error.message())
}

/// A report is about as many operations as there are rows.
fn all_judged(report: &Report<'_>, rows: usize) -> Result<(), String> {
    match report.operations() {
        judged if judged == rows => Ok(()),
        judged => Err(format!("{judged} of {rows} operations were judged: please report this bug")),
    }
}

/// Whole objects, and their rows.
struct Chunk {
    rows: Vec<RecordBatch>,
    spans: Vec<ObjectRows>,
    // How many rows come before each batch, and before each object that is held; and all of them.
    before_batch: Vec<usize>,
    before_object: Vec<usize>,
}

impl Chunk {
    fn new(rows: Vec<RecordBatch>, spans: Vec<ObjectRows>) -> Chunk {
        let before_batch = sums(rows.iter().map(RecordBatch::num_rows));
        let before_object = sums(spans.iter().filter(|it| it.is_held()).map(|it| it.rows));
        Chunk { rows, spans, before_batch, before_object }
    }

    fn held(&self) -> impl Iterator<Item = &ObjectRows> {
        self.spans.iter().filter(|it| it.is_held())
    }

    /// The rows of the object with this number among those that are held.
    fn object(&self, number: usize) -> Vec<RecordBatch> {
        let (from, to) = (self.before_object[number], self.before_object[number + 1]);
        let first = self.before_batch.partition_point(|it| *it <= from) - 1;
        let mut rows = Vec::new();
        for (batch, before) in self.rows[first..].iter().zip(&self.before_batch[first..]) {
            if to <= *before {
                break;
            }
            let begin = from.saturating_sub(*before);
            rows.push(batch.slice(begin, batch.num_rows().min(to - before) - begin));
        }
        rows
    }
}

/// 0, and the sum up to each number.
fn sums(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut sum = 0;
    let up_to = numbers.map(|it| {
        sum += it;
        sum
    });
    std::iter::once(0).chain(up_to).collect()
}

/// The sum of the numbers in the column for that, if there is one.
fn checksum(batch: &RecordBatch) -> Result<i128, String> {
    match batch.column_by_name(CHECKSUM) {
        Some(column) if *column.data_type() == DataType::Int64 && column.null_count() == 0 => {
            Ok(column.as_primitive::<Int64Type>().values().iter().map(|it| i128::from(*it)).sum())
        }
        Some(_) => Err(format!("column `{CHECKSUM}`: expected integers of 64 bits, found others")),
        None => Ok(0),
    }
}
