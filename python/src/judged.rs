//! Histories that are judged as a whole: files, rows and tables.

use std::{fs::File, io::Cursor, path::PathBuf, sync::Arc};

use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_pyarrow::PyArrowType;
use clewline_check::parts;
use clewline_cli::{Decoded, is_compressed};
use clewline_core::Datum;
use clewline_formats::join;
use clewline_methods::{Check, Error, Report};
use clewline_report::render::{Present, Publish, WitnessShown, html};
use pyo3::{
    exceptions::{PyOSError, PyValueError},
    prelude::*,
};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value as Json;

use crate::{
    found::Found,
    settings::Settings,
    table::{Batches, ObjectColumn, recording},
    work::{Cancel, without_interpreter},
};

/// A history that was judged.
#[pyclass(frozen, module = "clewline._native")]
#[derive(Debug)]
pub(crate) struct Judged {
    report: Report<'static>,
    not_holding: NotHolding,
}

#[pymethods]
impl Judged {
    #[getter]
    fn verdict(&self) -> &'static str {
        self.report.verdict().word()
    }

    #[getter]
    fn operations(&self) -> usize {
        self.report.operations()
    }

    #[getter]
    fn objects(&self) -> usize {
        self.report.objects()
    }

    /// The first line of the report, without the verdict.
    #[getter]
    fn headline(&self) -> String {
        self.report.headline()
    }

    #[getter]
    fn found(&self) -> Vec<Found> {
        self.not_holding.found.clone()
    }

    /// How many objects are violated; if they have no names, how many parts are.
    #[getter]
    fn violated(&self) -> usize {
        self.not_holding.violated
    }

    /// The same of those without a verdict.
    #[getter]
    fn unknown(&self) -> usize {
        self.not_holding.unknown
    }

    /// Whether operations name their objects.
    #[getter]
    fn is_named(&self) -> bool {
        is_named(&self.report)
    }

    /// The report for people.
    fn text(&self) -> String {
        self.report.to_string()
    }

    /// The report for programs.
    fn json(&self, witness: bool) -> String {
        let witness = if witness { WitnessShown::Whole } else { WitnessShown::Not };
        self.report.json(witness).to_string()
    }

    /// The page.
    fn html(&self, py: Python<'_>) -> String {
        py.detach(|| html::write(&self.report.page()))
    }

    /// The counterexample as a picture.
    fn svg(&self, py: Python<'_>) -> String {
        py.detach(|| self.report.svg())
    }
}

impl Judged {
    fn new(report: Report<'static>, settings: &Settings) -> Judged {
        let not_holding = if report.holds() { NotHolding::default() } else { not_holding(&report, settings) };
        Judged { report, not_holding }
    }
}

fn is_named(report: &Report<'_>) -> bool {
    report.case().names().objects.iter().any(|it| !it.is_absent())
}

/// What does not hold.
#[derive(Debug, Default)]
struct NotHolding {
    /// First what has a counterexample, then further violated objects, then those without a verdict.
    found: Vec<Found>,
    violated: usize,
    unknown: usize,
}

/// What does not hold: objects, or independent parts of the only one, if that has no name.
fn not_holding(report: &Report<'static>, settings: &Settings) -> NotHolding {
    let json = Json::from(report.json(WitnessShown::Not));
    let others = json["others"].as_array().into_iter().flatten();
    let explained = Some(&json["explanation"]).filter(|it| it.is_object()).into_iter().chain(others);
    let mut explained: Vec<Found> = explained.map(Found::violated).collect();
    let (case, (count, all)) = (report.case(), report.parts());
    let parts = parts(case.problems(), &settings.algorithm);
    if parts.len() != count || all.violated.is_empty() && all.unknown.is_empty() {
        // It was not divided.
        if explained.is_empty() {
            let reason = json["reason"].as_str().unwrap_or_default().to_owned();
            explained.push(Found::without_ids(Json::Null, report.verdict().word(), reason));
        }
        let violated = explained.iter().filter(|it| it.verdict == "violated").count();
        return NotHolding { violated, unknown: explained.len() - violated, found: explained };
    }
    let is_named = is_named(report);
    let object = |part: usize| parts[part].operations().first().map_or(0, |it| case.object(*it).index());
    let mut operations: FxHashMap<usize, usize> = FxHashMap::default();
    for part in 0..if is_named { count } else { 0 } {
        *operations.entry(object(part)).or_default() += parts[part].len();
    }
    let size =
        |part: usize| if is_named { operations.get(&object(part)).copied() } else { Some(parts[part].len()) };
    // Those with a counterexample are the shortest ones.
    let mut violated = all.violated.clone();
    violated.sort_by_key(|it| parts[*it].len());
    let mut explained = explained.into_iter();
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    let mut not_holding = NotHolding::default();
    for part in violated {
        let is_new = seen.insert(if is_named { object(part) } else { part });
        not_holding.violated += usize::from(is_new);
        let found = explained.next().or_else(|| {
            let why = "No counterexample was made: there are more violated objects.".to_owned();
            (is_named && is_new).then(|| Found::without_ids(name(report, object(part)), "violated", why))
        });
        not_holding.found.extend(found.map(|it| Found { operations: size(part), ..it }));
    }
    for (&part, reason) in &all.unknown {
        if seen.insert(if is_named { object(part) } else { part }) {
            not_holding.unknown += 1;
            let found = Found::without_ids(name(report, object(part)), "unknown", reason.to_string());
            not_holding.found.push(Found { operations: size(part), ..found });
        }
    }
    not_holding
}

/// The name of the object with this number.
fn name(report: &Report<'_>, object: usize) -> Json {
    let case = report.case();
    case.names().objects.get(object).map_or(Json::Null, |it| match case.values().get(*it) {
        Datum::Int(int) => int.into(),
        Datum::Text(text) | Datum::Symbol(text) | Datum::Other(text) => text.into(),
        _ => Json::Null,
    })
}

/// The exception for an error.
pub(crate) fn exception(error: Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Judges files: one, or several that are one history by the times of one clock.
#[pyfunction]
pub(crate) fn check_paths(py: Python<'_>, paths: Vec<PathBuf>, settings: &Settings) -> PyResult<Judged> {
    let cancel = Arc::default();
    let check = settings.check(&cancel);
    let object = settings.object()?;
    // A file that is not there is the usual exception of Python.
    for path in &paths {
        File::open(path).map_err(|it| match it.raw_os_error() {
            Some(code) => PyOSError::new_err((code, "it cannot be opened", path.display().to_string())),
            None => it.into(),
        })?;
    }
    let report = without_interpreter(py, &cancel, || match (&paths[..], settings.name()) {
        ([path], Some(spec)) if !is_compressed(path) => check.file(path, spec).run(),
        ([path], Some(spec)) => {
            let name = path.display().to_string();
            check.reader(&name, open(path)?, spec).run()
        }
        _ => {
            let recorded = |it: &PathBuf| {
                let name = it.display().to_string();
                let recording = check.recording(&name, open(it)?)?;
                Ok((name, recording))
            };
            let mut all = paths.iter().map(recorded).collect::<Result<Vec<_>, Error>>()?;
            let name = match &all[..] {
                [(only, _)] => only.clone(),
                all => format!("{} and {} more files", all[0].0, all.len() - 1),
            };
            let recording = match all.len() {
                1 => all.remove(0).1,
                _ => {
                    let joined = join(all, settings.circumstances.skew);
                    joined.map_err(|(file, error)| Error::from(error).in_file(&file))?
                }
            };
            check.recorded(&name, recording, &*object).run()
        }
    })?;
    settings.raised()?;
    Ok(Judged::new(report.map_err(exception)?, settings))
}

fn open(path: &PathBuf) -> Result<Decoded<'static>, Error> {
    let name = path.display().to_string();
    File::open(path).map(Decoded::new).map_err(|it| Error::from(it).in_file(&name))
}

/// Judges a history in the text of a file.
#[pyfunction]
pub(crate) fn check_rows(py: Python<'_>, name: &str, text: Vec<u8>, settings: &Settings) -> PyResult<Judged> {
    let cancel = Arc::default();
    let check = settings.check(&cancel);
    let object = settings.object()?;
    let report = without_interpreter(py, &cancel, || {
        let input = Cursor::new(text);
        match settings.name() {
            Some(spec) => check.reader(name, input, spec).run(),
            None => {
                let recording = check.recording(name, input)?;
                check.recorded(name, recording, &*object).run()
            }
        }
    })?;
    settings.raised()?;
    Ok(Judged::new(report.map_err(exception)?, settings))
}

/// Judges the table that a stream of batches is.
#[pyfunction]
#[pyo3(signature = (stream, settings, object = None))]
pub(crate) fn check_table(
    py: Python<'_>,
    stream: PyArrowType<RecordBatchStreamReader>,
    settings: &Settings,
    object: Option<&str>,
) -> PyResult<Judged> {
    if settings.is_quasi() {
        let why = "quasi: factors are for files and rows; write the table to a file first";
        return Err(PyValueError::new_err(why));
    }
    let cancel: Arc<Cancel> = Arc::default();
    let check = settings.check(&cancel);
    let specification = settings.object()?;
    let column = object.map(|it| ObjectColumn::new(it, settings.takes_keys()));
    let batches: Batches = match column {
        Some(column) => Box::new(stream.0.map(move |it| it.and_then(|it| Ok(column.apply(&it)?.0)))),
        None => Box::new(stream.0),
    };
    let report = without_interpreter(py, &cancel, || judge_table(check, batches, settings, &*specification))?;
    settings.raised()?;
    Ok(Judged::new(report.map_err(exception)?, settings))
}

fn judge_table(
    check: Check,
    batches: Batches,
    settings: &Settings,
    object: &dyn clewline_core::ErasedSpec,
) -> Result<Report<'static>, Error> {
    let recording = recording(batches, &settings.circumstances, true)?;
    check.recorded("the table", recording, object).run()
}
