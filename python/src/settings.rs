//! What to check, and how.

use std::{sync::Arc, time::Duration};

use clewline_check::{Algorithm, Selection};
use clewline_core::{Criterion, ErasedSpec, parallel};
use clewline_formats::{Circumstances, Mapping, formats::InputFormat};
use clewline_methods::{Check, CheckProgress, Keys, Quasi, available_memory, limits::resident_bytes};
use clewline_specs::CATALOG;
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
};

use crate::{machine::Machine, work::Cancel};

/// What to check, and how.
#[pyclass(frozen, module = "clewline._native")]
#[derive(Debug)]
pub(crate) struct Settings {
    specification: Specified,
    pub(crate) algorithm: Algorithm,
    pub(crate) timeout: Option<Duration>,
    /// How many bytes the judge may take, besides what the process had.
    pub(crate) memory: Option<usize>,
    // What the process had: most of it is the interpreter, and what the program holds.
    resident: usize,
    jobs: usize,
    format: InputFormat,
    keyed: bool,
    quasi: Option<Quasi>,
    may_fail: Option<clewline_core::MayFail>,
    criterion: Criterion,
    pub(crate) circumstances: Circumstances,
    pub(crate) violations: usize,
}

#[derive(Debug)]
enum Specified {
    Named(String),
    Machine(Machine),
}

#[pymethods]
impl Settings {
    #[new]
    #[pyo3(signature = (spec, *, algorithm = "auto", timeout = None, memory = None, jobs = None,
        input_format = "auto", keyed = false, quasi = None, reading = None, may_fail = None, skew = 0,
        initial = None, mapping = None, violations = 100, criterion = None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        spec: &Bound<'_, PyAny>,
        algorithm: &str,
        timeout: Option<f64>,
        memory: Option<usize>,
        jobs: Option<usize>,
        input_format: &str,
        keyed: bool,
        quasi: Option<&str>,
        reading: Option<&str>,
        may_fail: Option<&str>,
        skew: i64,
        initial: Option<String>,
        mapping: Option<&str>,
        violations: usize,
        criterion: Option<&str>,
    ) -> PyResult<Settings> {
        crate::add_formats();
        let mut circumstances = Circumstances::default();
        (circumstances.skew, circumstances.initial) = (skew, initial);
        if let Some(mapping) = mapping {
            circumstances.mapping = Mapping::parse(mapping).map_err(|it| wrong("mapping", it))?;
        }
        let mut quasi = quasi.map(str::parse::<Quasi>).transpose().map_err(|it| wrong("quasi", it))?;
        if let Some(reading) = reading {
            let reading = reading.parse().map_err(|it| wrong("reading", it))?;
            let without = || PyValueError::new_err("reading: there is no quasi factor");
            quasi = Some(quasi.ok_or_else(without)?.with_reading(reading));
        }
        let timeout = timeout.map(Duration::try_from_secs_f64).transpose();
        let criterion = criterion.map(str::parse::<Criterion>).transpose();
        let criterion = criterion.map_err(|it| wrong("criterion", it))?;
        let resident = resident_bytes();
        Ok(Settings {
            specification: Specified::of(spec)?,
            algorithm: algorithm.parse().map_err(|it| wrong("algorithm", it))?,
            timeout: timeout.map_err(|it| wrong("timeout", it))?,
            memory: memory.or_else(|| Some(available_memory()?.saturating_sub(resident))),
            resident,
            jobs: jobs.unwrap_or_else(parallel::jobs_available).max(1),
            format: input_format.parse().map_err(|it| wrong("input_format", it))?,
            keyed,
            quasi,
            may_fail: may_fail.map(str::parse).transpose().map_err(|it| wrong("may_fail", it))?,
            criterion: criterion.unwrap_or_default(),
            circumstances,
            violations,
        })
    }

    /// Whether operations take the key of a column of keys.
    #[getter]
    pub(crate) fn takes_keys(&self) -> bool {
        let entry = |it: &str| CATALOG.iter().find(|entry| Some(entry.name) == it.split(':').next());
        self.name().and_then(entry).is_some_and(|it| it.is_keyed)
    }
}

fn wrong(name: &str, error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("{name}: {error}"))
}

impl Specified {
    fn of(spec: &Bound<'_, PyAny>) -> PyResult<Specified> {
        if let Ok(name) = spec.extract::<String>() {
            clewline_specs::find(&name).map_err(|it| wrong("spec", it))?;
            return Ok(Specified::Named(name));
        }
        Machine::of(spec).map(Specified::Machine).map_err(|_| {
            PyTypeError::new_err("spec: expected the name of a specification or a machine of Python")
        })
    }
}

impl Settings {
    /// How to check; `cancel` ends it.
    pub(crate) fn check(&self, cancel: &Arc<Cancel>) -> Check {
        let cancel = Arc::clone(cancel);
        let mut check = Check::new()
            .algorithm(self.algorithm.clone())
            .format(self.format)
            .keyed(if self.keyed { Keys::InValues } else { Keys::None })
            .parts(Selection::All, self.violations)
            .circumstances(self.circumstances.clone())
            .keep_times()
            .jobs(self.jobs)
            .progress(move |it| {
                if let CheckProgress::Judging(budget) = it {
                    cancel.watch(budget);
                }
            });
        if let Some(quasi) = &self.quasi {
            check = check.quasi(quasi.clone());
        }
        if self.criterion != Criterion::default() {
            check = check.criterion(self.criterion);
        }
        if let Some(may_fail) = &self.may_fail {
            check = check.may_fail(may_fail.clone());
        }
        if let Some(timeout) = self.timeout {
            check = check.timeout(timeout);
        }
        if let Some(memory) = self.memory {
            check = check.memory(memory.saturating_add(self.resident).saturating_add(CODE_BYTES));
        }
        check
    }

    /// The specification.
    pub(crate) fn object(&self) -> PyResult<Box<dyn ErasedSpec>> {
        match &self.specification {
            Specified::Named(name) => clewline_specs::find(name).map_err(|it| wrong("spec", it)),
            Specified::Machine(machine) => Ok(Box::new(machine.fresh())),
        }
    }

    /// The name of the specification, if it is in the catalog.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.specification {
            Specified::Named(name) => Some(name),
            Specified::Machine(_) => None,
        }
    }

    /// The exception that a machine of Python raised, if it did.
    pub(crate) fn raised(&self) -> PyResult<()> {
        match &self.specification {
            Specified::Named(_) => Ok(()),
            Specified::Machine(machine) => machine.raised(),
        }
    }

    /// The name of the specification, if a history can be judged while it is read.
    pub(crate) fn streamed(&self) -> Option<&str> {
        let Circumstances { skew, initial, .. } = &self.circumstances;
        let is_plain = *skew == 0 && initial.is_none() && self.may_fail.is_none() && !self.has_criterion();
        if is_plain && matches!(self.algorithm, Algorithm::Auto) { self.name() } else { None }
    }

    /// Whether a criterion other than linearizability is given.
    pub(crate) fn has_criterion(&self) -> bool {
        self.criterion != Criterion::default()
    }

    /// Whether quasi factors are given.
    pub(crate) fn is_quasi(&self) -> bool {
        self.quasi.is_some()
    }
}

// About what is read of the code of this module when it is used for the first time: it counts as
// memory of the process, but takes none from what is judged.
const CODE_BYTES: usize = 8 << 20;

/// How many bytes of memory may be used, besides those that are: most of those that are free.
#[pyfunction]
#[pyo3(name = "available_memory")]
pub(crate) fn free_memory() -> usize {
    available_memory().map_or(usize::MAX >> 1, |it| it.saturating_sub(resident_bytes()))
}
