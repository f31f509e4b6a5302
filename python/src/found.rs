//! An object that does not hold.

use std::sync::Arc;

use clewline_methods::Report;
use clewline_report::render::{Publish, html};
use pyo3::{IntoPyObjectExt, prelude::*, types::PyTuple};
use serde_json::Value as Json;

/// An object, or an independent part of one, that is violated or without a verdict.
#[pyclass(frozen, skip_from_py_object, module = "clewline._native")]
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Its name; null if the operations name none.
    pub(crate) object: Json,
    pub(crate) verdict: &'static str,
    /// How many operations it has, if that is known.
    pub(crate) operations: Option<usize>,
    /// The ids of the operations that contradict each other.
    pub(crate) ids: Vec<Json>,
    pub(crate) is_minimal: bool,
    pub(crate) sentence: String,
    /// The report on the object alone.
    pub(crate) report: Option<Arc<Report<'static>>>,
}

impl Found {
    /// A part with this explanation, as a report for programs has it.
    pub(crate) fn violated(explanation: &Json) -> Found {
        let ids = explanation["counterexample"].as_array().cloned().unwrap_or_default();
        Found {
            object: explanation["object"].clone(),
            verdict: "violated",
            operations: None,
            is_minimal: !ids.is_empty() && explanation["minimal"] != false,
            ids,
            sentence: explanation["text"].as_str().unwrap_or_default().to_owned(),
            report: None,
        }
    }

    /// A part without a counterexample.
    pub(crate) fn without_ids(object: Json, verdict: &'static str, sentence: String) -> Found {
        Found {
            object,
            verdict,
            operations: None,
            ids: Vec::new(),
            is_minimal: false,
            sentence,
            report: None,
        }
    }
}

#[pymethods]
impl Found {
    #[getter]
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.object)
    }

    #[getter]
    fn verdict(&self) -> &'static str {
        self.verdict
    }

    #[getter]
    fn operations(&self) -> Option<usize> {
        self.operations
    }

    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.ids.iter().map(|it| to_python(py, it)).collect()
    }

    #[getter]
    fn is_minimal(&self) -> bool {
        self.is_minimal
    }

    #[getter]
    fn sentence(&self) -> &str {
        &self.sentence
    }

    /// The report on the object alone, if it was kept.
    fn text(&self) -> Option<String> {
        self.report.as_ref().map(|it| it.to_string())
    }

    /// The page of the object alone, if it was kept.
    fn html(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.report.as_ref().map(|it| html::write(&it.page())))
    }
}

/// The value, with tuples for lists. Objects do not occur.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Json) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Json::Null => Ok(py.None().into_bound(py)),
        Json::Bool(truth) => truth.into_bound_py_any(py),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(int), _) => int.into_bound_py_any(py),
            (None, float) => float.into_bound_py_any(py),
        },
        Json::String(text) => text.into_bound_py_any(py),
        Json::Array(items) => {
            let items: Vec<_> = items.iter().map(|it| to_python(py, it)).collect::<PyResult<_>>()?;
            Ok(PyTuple::new(py, items)?.into_any())
        }
        Json::Object(_) => value.to_string().into_bound_py_any(py),
    }
}
