//! Clewline in a browser: what the page of the playground calls.
//!
//! [`judge`] reads a history in any text format, judges it, and makes the report: it is what
//! `clewline check FILE --spec NAME --html PAGE` does, without files, threads and clocks. The
//! module for browsers wraps it for JavaScript, where it runs in a worker.

#[cfg(target_arch = "wasm32")]
mod browser;

use std::{fmt, time::Duration};

use clewline_check::{JudgeOptions, Judgement, dead_ends, judge_by};
use clewline_core::{
    Budget, Criterion, ErasedHistory, ErasedSpec, LoadError, OperationId, Problem, Reason, Verdict,
};
use clewline_formats::{
    Circumstances, ReadError, ReadOptions,
    formats::{self, FORMATS},
};
use clewline_report::render::{
    CheckedHistory, Source,
    html::{self, Page},
    present,
    text::Style,
};
use clewline_script::Script;
use clewline_specs::{CATALOG, SpecError};

/// A history to judge.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The name of its file, for reports and formats that look alike.
    pub name: &'a str,
    /// The contents of the file.
    pub contents: &'a [u8],
    /// The name of the specification, or that of the script.
    pub spec: &'a str,
    /// A script that is the specification.
    pub script: Option<&'a str>,
    /// What is required of the history.
    pub criterion: Criterion,
    /// The state of each object before the first operation, if it is not the usual one.
    pub initial: Option<String>,
    /// Whether Jepsen values are pairs of a key and a value.
    pub is_keyed: bool,
}

/// The verdict on a history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// `holds`, `violated` or `unknown`.
    pub verdict: &'static str,
    /// The first line of the report.
    pub headline: String,
    /// The report as text.
    pub text: String,
    /// The report as a page.
    pub page: String,
    /// The operations of the counterexample, as reports write them.
    pub counterexample: Vec<String>,
    /// The name of the recognised format.
    pub format: &'static str,
    /// How many operations there are.
    pub operations: usize,
}

/// Why a history was not judged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// There is no such specification.
    Specification(SpecError),
    /// The script is no specification, or there is no such criterion.
    Setting(String),
    /// The beginning of an input in no format.
    Unrecognised(String),
    /// The input is not a history in its format.
    Read(ReadError),
    /// The input is not a history of this object.
    Load(LoadError),
    /// A limit was reached while it was read.
    Stopped(Reason),
}

impl Failure {
    /// The line of the input, from 1, if the failure is in one line.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self {
            Failure::Read(error) => Some(error.line),
            Failure::Load(error) => Some(error.line),
            Failure::Specification(_)
            | Failure::Setting(_)
            | Failure::Unrecognised(_)
            | Failure::Stopped(_) => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Specification(error) => error.fmt(f),
            Failure::Setting(error) => error.fmt(f),
            Failure::Unrecognised(head) if head.trim().is_empty() => {
                f.write_str("expected a history, found nothing in it")
            }
            Failure::Unrecognised(head) => {
                let head: String = head.trim_start().lines().next().unwrap_or("").chars().take(80).collect();
                let names = FORMATS.names().collect::<Vec<_>>().join(", ");
                write!(f, "not recognised as a history in one of the formats {names}. It begins: {head}")
            }
            Failure::Read(error) => error.fmt(f),
            Failure::Load(error) => error.fmt(f),
            Failure::Stopped(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

// A format is recognised by this number of bytes.
const FORMAT_DETECTION_BYTES: usize = 8 << 10;

// Of more violated parts of a history only the number is reported.
const VIOLATIONS_MAX: usize = 20;

// At most this number of dead ends is shown, found in at most this number of steps.
const DEAD_ENDS_SHOWN_MAX: usize = 8;
const DEAD_END_SEARCH_STEPS_MAX: u64 = 200_000;

/// Judges a history within `budget`. `read` is called now and then with the number of bytes that
/// were read; `elapsed` is the time since the beginning.
///
/// # Errors
///
/// If there is no such specification, or the contents are not a history of such an object.
pub fn judge(
    request: &Request<'_>,
    budget: Budget,
    read: &(dyn Fn(u64) + Sync),
    elapsed: impl Fn() -> Duration,
) -> Result<Outcome, Failure> {
    let object: Box<dyn ErasedSpec> = match request.script {
        Some(text) => {
            let script = Script::load(request.spec, text);
            Box::new(script.map_err(|it| Failure::Setting(it.to_string()))?)
        }
        None => clewline_specs::find(request.spec).map_err(Failure::Specification)?,
    };
    let head = &request.contents[..request.contents.len().min(FORMAT_DETECTION_BYTES)];
    let extension = formats::extension_of(request.name);
    let unrecognised = || Failure::Unrecognised(String::from_utf8_lossy(head).into_owned());
    let format = formats::detect(head, extension).ok_or_else(unrecognised)?;
    let mut circumstances = Circumstances::default();
    circumstances.initial = request.initial.clone();
    let options = ReadOptions {
        keyed: request.is_keyed,
        times: true,
        circumstances: &circumstances,
        progress: read,
        ..ReadOptions::default()
    };
    let mut contents = request.contents;
    let recording = formats::read(format, &mut contents, &options).map_err(Failure::Read)?;
    budget.allow(0).map_err(Failure::Stopped)?;
    let case = object.load(recording).map_err(Failure::Load)?;
    let options = JudgeOptions { budget, violations_max: VIOLATIONS_MAX, ..JudgeOptions::default() };
    let (case, judgement) = judge_by(case, request.criterion, &options);
    Ok(published(request, &*case, &judgement, format.name(), elapsed()))
}

fn published(
    request: &Request<'_>,
    case: &dyn ErasedHistory,
    judgement: &Judgement,
    format: &'static str,
    elapsed: Duration,
) -> Outcome {
    let judged = CheckedHistory {
        name: request.name,
        source: Source::File,
        spec: request.spec,
        case,
        verdict: &judgement.verdict,
        others: &judgement.others,
        violated: judgement.found.violated.len(),
        algorithm: &judgement.algorithm,
        parts: judgement.parts,
        configurations: judgement.configurations,
        elapsed,
        stream: None,
        next: &[],
    };
    let counterexample = counterexample(&judgement.verdict);
    let mut page = Page::of(&judged);
    if let Some(part) = counterexample.first().and_then(|&first| part_of(case, first)) {
        page.add_dead_ends(&judged, &dead_ends(&part, DEAD_END_SEARCH_STEPS_MAX, DEAD_ENDS_SHOWN_MAX));
    }
    let style = Style::default();
    Outcome {
        verdict: judgement.verdict.word(),
        headline: present::first_line(&judged, style.paint),
        text: present::text(&judged, &style),
        page: html::write(&page),
        counterexample: counterexample.iter().map(|&it| case.label(it)).collect(),
        format,
        operations: judged.operations(),
    }
}

/// The operations of the counterexample; none if there is no violation.
fn counterexample(verdict: &Verdict) -> &[OperationId] {
    match verdict {
        Verdict::Violated(violation) => &violation.counterexample,
        Verdict::Holds(_) | Verdict::Unknown(_) => &[],
    }
}

/// The independent part of the history that has `operation`.
fn part_of(case: &dyn ErasedHistory, operation: OperationId) -> Option<Problem<'_>> {
    let parts = case.problems().into_iter().flat_map(Problem::into_parts);
    parts.into_iter().find(|it| it.position(operation).is_some())
}

/// The specifications in alphabetical order, a line each: its name, what it is, and what may follow
/// the name after a colon. Tabs are between them.
#[must_use]
pub fn specifications() -> String {
    let line = |entry: &clewline_specs::SpecificationEntry| {
        format!("{}\t{}\t{}\n", entry.name, entry.about, entry.parameter.unwrap_or_default())
    };
    CATALOG.iter().map(line).collect()
}
