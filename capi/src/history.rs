//! A history that is put together, and judged.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use clewline_core::Criterion;
use clewline_formats::{Circumstances, formats::InputFormat};
use clewline_methods::Check;

use crate::{Call, Failure, Spec, json, report::Report};

/// A history, and how it is to be judged.
pub(crate) struct History {
    spec: Spec,
    state: Mutex<State>,
}

#[derive(Clone)]
struct State {
    name: String,
    format: InputFormat,
    // Shared with checks that are running.
    contents: Arc<Vec<u8>>,
    added: usize,
    settings: Settings,
}

#[derive(Clone, Default)]
pub(crate) struct Settings {
    pub(crate) initial: Option<String>,
    pub(crate) criterion: Criterion,
    pub(crate) timeout: Option<Duration>,
    pub(crate) memory: Option<usize>,
    pub(crate) jobs: Option<usize>,
}

const NAME: &str = "the history";

impl History {
    pub(crate) fn new(spec: Spec) -> Result<History, Failure> {
        History::of_lines(spec, Vec::new(), 0)
    }

    /// The history with these JSON lines, and the number of operations in them.
    pub(crate) fn of_lines(spec: Spec, lines: Vec<u8>, added: usize) -> Result<History, Failure> {
        let format = "jsonl".parse().map_err(Failure::input)?;
        let (contents, settings) = (Arc::new(lines), Settings::default());
        let state = State { name: NAME.to_owned(), format, contents, added, settings };
        Ok(History { spec, state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is made at once, after everything that can fail.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.lock().settings);
    }

    /// Adds an operation; `returned` is its result and the time.
    pub(crate) fn add(
        &self,
        process: u64,
        call: &Call,
        called: i64,
        returned: Option<(Option<&str>, i64)>,
    ) -> Result<(), Failure> {
        let end = match returned {
            Some((ret, at)) if called <= at => {
                let ret = ret.map(|it| json("the result", it)).transpose()?;
                self.spec.accept(call, Some(&ret))?;
                let ret = ret.map_or_else(String::new, |it| format!(",\"ret\":{it}"));
                format!("{ret},\"call\":{called},\"return\":{at}")
            }
            Some((_, at)) => {
                return Err(Failure::input(format!(
                    "expected a return after the call, at {called}, found one at {at}"
                )));
            }
            None => {
                self.spec.accept(call, None)?;
                format!(",\"call\":{called}")
            }
        };
        let mut state = self.lock();
        if matches!(state.format, InputFormat::Detect) {
            return Err(Failure::argument("expected a history without contents, found one that was read"));
        }
        let id = state.added;
        let line = format!("{{\"process\":{},{}{end},\"id\":{id}}}\n", process_name(process), call.members());
        Arc::make_mut(&mut state.contents).extend_from_slice(line.as_bytes());
        state.added += 1;
        Ok(())
    }

    /// Takes the contents of a file.
    pub(crate) fn read(&self, name: &str, contents: &[u8]) -> Result<(), Failure> {
        let mut state = self.lock();
        if !state.contents.is_empty() || matches!(state.format, InputFormat::Detect) {
            return Err(Failure::argument("expected an empty history, found one with contents"));
        }
        state.name = name.to_owned();
        state.format = InputFormat::Detect;
        state.contents = Arc::new(contents.to_vec());
        Ok(())
    }

    pub(crate) fn size(&self) -> usize {
        self.lock().added
    }

    pub(crate) fn judge(&self) -> Result<Report, Failure> {
        let State { name, format, contents, settings, .. } = self.lock().clone();
        let mut circumstances = Circumstances::default();
        circumstances.initial = settings.initial;
        let mut check = Check::new().format(format).keep_times().circumstances(circumstances);
        if settings.criterion != Criterion::default() {
            check = check.criterion(settings.criterion);
        }
        if let Some(timeout) = settings.timeout {
            check = check.timeout(timeout);
        }
        if let Some(memory) = settings.memory {
            check = check.memory(memory);
        }
        if let Some(jobs) = settings.jobs {
            check = check.jobs(jobs);
        }
        let contents = contents.as_slice();
        let report = match &self.spec.name {
            Some(spec) => check.reader(&name, contents, spec).run(),
            None => {
                let recording = check.recording(&name, contents);
                recording.and_then(|it| check.recorded(&name, it, &*self.spec.object).run())
            }
        };
        Ok(Report::new(report.map_err(Failure::input)?))
    }
}

/// The number of a process as JSON: the format has integers of 64 bits with a sign.
pub(crate) fn process_name(process: u64) -> String {
    match i64::try_from(process) {
        Ok(process) => process.to_string(),
        Err(_) => format!("\"{process}\""),
    }
}
