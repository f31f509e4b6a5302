//! A specification that is written in Python.
//!
//! `clewline/_machine.py` numbers the states and calls the user's functions. Each distinct step is
//! asked for once: it is kept here by state, call and result, so that the interpreter is needed
//! only for new ones.

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use clewline_core::{
    CallSampler, Codec, CodecError, Datum, Encoded, Specification, Value, Values, Written, static_name,
};
use pyo3::{
    IntoPyObjectExt,
    prelude::*,
    types::{PyDict, PyFloat, PyInt, PyTuple},
};
use rustc_hash::FxHashMap;

/// A machine of Python, with what is known of its steps.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    python: Arc<Py<PyAny>>,
    name: Arc<str>,
    has_parts: bool,
    error: Arc<Mutex<Option<PyErr>>>,
    // Of the history that is bound.
    values: Arc<Values>,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    initial: Option<State>,
    steps: FxHashMap<Step, Arc<[State]>>,
    parts: FxHashMap<Call, Option<u64>>,
    // How many operations have this call, less those that returned.
    pending: FxHashMap<Call, usize>,
}

type Step = (u32, Call, Option<Value>);

/// A state, by its number.
#[derive(Clone)]
pub(crate) struct State {
    number: u32,
    shown: Arc<str>,
}

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        self.number == other.number
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// A call: the name of an operation, which lives as long as the process, and its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    method: &'static str,
    arg: Value,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Machine {
    /// The machine in an object of Python.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Machine> {
        let name: String = object.getattr("name")?.extract()?;
        Ok(Machine {
            python: Arc::new(object.clone().unbind()),
            name: name.into(),
            has_parts: object.getattr("has_parts")?.extract()?,
            error: Arc::default(),
            values: Arc::default(),
            known: Arc::default(),
        })
    }

    /// The same, of which nothing is known.
    pub(crate) fn fresh(&self) -> Machine {
        Machine { known: Arc::default(), ..self.clone() }
    }

    /// The exception that a function of the machine raised, if one did.
    pub(crate) fn raised(&self) -> PyResult<()> {
        lock(&self.error).take().map_or(Ok(()), Err)
    }

    /// What Python returns; nothing after an exception, which is kept.
    fn ask<T>(&self, ask: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        if lock(&self.error).is_some() {
            return None;
        }
        Python::attach(|py| match ask(py, self.python.bind(py)) {
            Ok(returned) => Some(returned),
            Err(error) => {
                lock(&self.error).get_or_insert(error);
                None
            }
        })
    }
}

fn states(returned: &Bound<'_, PyAny>) -> PyResult<Vec<State>> {
    let states: Vec<(u32, String)> = returned.extract()?;
    Ok(states.into_iter().map(|(number, shown)| State { number, shown: shown.into() }).collect())
}

/// The value as one of Python, with tuples for lists, and dicts for objects.
fn to_python<'py>(py: Python<'py>, values: &Values, value: Value) -> PyResult<Bound<'py, PyAny>> {
    match values.get(value) {
        Datum::Absent | Datum::Nil => Ok(py.None().into_bound(py)),
        Datum::Bool(truth) => truth.into_bound_py_any(py),
        Datum::Int(int) => int.into_bound_py_any(py),
        Datum::Text(text) | Datum::Symbol(text) => text.into_bound_py_any(py),
        // What Python has no value for, such as a dict with a dict as a key, is the text.
        Datum::Other(text) => match Written::parse(text).map(|it| taken_apart(py, &it)) {
            Some(Ok(value)) => Ok(value),
            Some(Err(_)) | None => text.into_bound_py_any(py),
        },
        Datum::List(items) => {
            let items: Vec<_> = items.iter().map(|it| to_python(py, values, *it)).collect::<PyResult<_>>()?;
            Ok(PyTuple::new(py, items)?.into_any())
        }
    }
}

/// An object, a map or a number as a value of Python.
fn taken_apart<'py>(py: Python<'py>, written: &Written) -> PyResult<Bound<'py, PyAny>> {
    match written {
        Written::Nil => Ok(py.None().into_bound(py)),
        Written::Bool(truth) => truth.into_bound_py_any(py),
        Written::Int(int) => int.into_bound_py_any(py),
        Written::Text(text) => text.into_bound_py_any(py),
        Written::Word(word) => {
            let is_number = word.trim_start_matches('-').starts_with(|it: char| it.is_ascii_digit());
            let types = [py.get_type::<PyInt>(), py.get_type::<PyFloat>()];
            let number = types.iter().find_map(|it| it.call1((word,)).ok()).filter(|_| is_number);
            number.map_or_else(|| word.into_bound_py_any(py), Ok)
        }
        Written::List(items) => {
            let items: Vec<_> = items.iter().map(|it| taken_apart(py, it)).collect::<PyResult<_>>()?;
            Ok(PyTuple::new(py, items)?.into_any())
        }
        Written::Map(entries) => {
            let dict = PyDict::new(py);
            for (key, value) in entries {
                dict.set_item(taken_apart(py, key)?, taken_apart(py, value)?)?;
            }
            Ok(dict.into_any())
        }
    }
}

impl Specification for Machine {
    type State = State;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> State {
        if let Some(state) = &lock(&self.known).initial {
            return state.clone();
        }
        let asked = self.ask(|_, it| {
            let (number, shown): (u32, String) = it.call_method0("initial")?.extract()?;
            Ok(State { number, shown: shown.into() })
        });
        let state = asked.unwrap_or_else(|| State { number: 0, shown: "".into() });
        lock(&self.known).initial.get_or_insert(state).clone()
    }

    fn step(&self, state: &State, call: &Call, ret: Option<&Value>, next: &mut Vec<State>) {
        let key: Step = (state.number, *call, ret.copied());
        // Not held while Python runs: it may wait for the interpreter.
        let known = lock(&self.known).steps.get(&key).cloned();
        let states = known.unwrap_or_else(|| {
            let asked = self.ask(|py, it| {
                let arg = to_python(py, &self.values, call.arg)?;
                let arguments = match ret {
                    Some(ret) => {
                        let ret = to_python(py, &self.values, *ret)?;
                        it.call_method1("step", (state.number, call.method, arg, ret))
                    }
                    None => {
                        let is_pending = lock(&self.known).pending.get(call).is_some_and(|it| 0 < *it);
                        it.call_method1("step_pending", (state.number, call.method, arg, is_pending))
                    }
                };
                states(&arguments?)
            });
            let states: Arc<[State]> = asked.unwrap_or_default().into();
            lock(&self.known).steps.insert(key, Arc::clone(&states));
            states
        });
        next.extend(states.iter().cloned());
    }

    fn part(&self, call: &Call) -> Option<u64> {
        if !self.has_parts {
            return None;
        }
        let known = lock(&self.known).parts.get(call).copied();
        known.unwrap_or_else(|| {
            let asked = self.ask(|py, it| {
                let arg = to_python(py, &self.values, call.arg)?;
                it.call_method1("part", (call.method, arg))?.extract::<Option<u64>>()
            });
            let part = asked.flatten();
            lock(&self.known).parts.insert(*call, part);
            part
        })
    }
}

impl Codec for Machine {
    fn read_call(&self, _values: &Values, method: &str, arg: Value) -> Result<Call, CodecError> {
        let call = Call { method: static_name(method), arg };
        *lock(&self.known).pending.entry(call).or_default() += 1;
        Ok(call)
    }

    fn read_return(&self, _values: &Values, call: &Call, ret: Value) -> Result<Value, CodecError> {
        if let Some(count) = lock(&self.known).pending.get_mut(call) {
            *count -= 1;
        }
        // Nothing and null are one value of Python.
        Ok(if ret.is_absent() { Value::NIL } else { ret })
    }

    fn write_call(&self, call: &Call) -> (&'static str, Encoded) {
        (call.method, Encoded::Value(call.arg))
    }

    fn write_return(&self, _call: &Call, ret: &Value) -> Encoded {
        Encoded::Value(*ret)
    }

    fn sample(&self, _sampler: &mut CallSampler) -> Call {
        // Histories of such an object are not generated.
        Call { method: "", arg: Value::ABSENT }
    }

    fn name(&self) -> Option<String> {
        Some(self.name.to_string())
    }

    fn bind(&mut self, values: &Arc<Values>, _missing: Value) {
        self.values = Arc::clone(values);
        // Values have other numbers in another history; states keep theirs.
        self.known = Arc::default();
    }
}
