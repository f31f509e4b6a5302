//! Cases: a history and its specification, whose types are forgotten.

use std::{fmt, sync::Arc};

use crate::{
    codec::{Codec, CodecError, Encoded},
    history::{History, Span},
    id::{ObjectId, OperationId, ProcessId},
    problem::{Problem, Show},
    recording::{Names, RawCall, Recording},
    sampling::GeneratorConfig,
    shown::Shown,
    simulate::simulate,
    specification::{Specification, show_debug},
    value::{Datum, Value, Values},
};

/// A recording cannot be read as a history of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The line, from 1, of the operation that does not fit.
    pub line: usize,
    /// What is wrong with it.
    pub misfit: CodecError,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.misfit)
    }
}

impl std::error::Error for LoadError {}

/// A history with its specification, their types forgotten.
pub trait ErasedHistory: Send + Sync + fmt::Debug {
    /// The questions this case poses, one for each object.
    fn problems(&self) -> Vec<Problem<'_>>;

    /// How a report writes `operation`: `deq() → 3`.
    fn label(&self, operation: OperationId) -> String;

    /// Who called `operation`.
    fn process(&self, operation: OperationId) -> ProcessId;

    /// The object `operation` is about.
    fn object(&self, operation: OperationId) -> ObjectId;

    /// The position at which `operation` was given.
    fn source(&self, operation: OperationId) -> usize;

    /// Where each operation lies.
    fn spans(&self) -> &[Span];

    /// What things are called.
    fn names(&self) -> &Names;

    /// What the values in the names hold.
    fn values(&self) -> &Values;

    /// The same history, to be written to a file. `None` if its specification has no written form.
    fn recording(&self) -> Option<Recording> {
        None
    }
}

/// A history with its specification, which writes operations down as a report does.
pub fn erase_with_codec<S>(specification: S, history: History<S::Call, S::Return>) -> Box<dyn ErasedHistory>
where
    S: Codec + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    Box::new(Loaded::new(specification, history, Names::default(), Arc::default()))
}

/// A history with its specification, whose operations are written as their types are in `Debug`.
pub fn erase_with_debug<S>(specification: S, history: History<S::Call, S::Return>) -> Box<dyn ErasedHistory>
where
    S: Specification + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    Box::new(Loaded {
        history,
        names: Names::default(),
        values: Arc::default(),
        specification,
        show: Box::new(show_debug::<S>),
        record: |_| None,
        missing: Value::NIL,
    })
}

/// A specification with its types forgotten: it loads recordings and generates them.
pub trait ErasedSpec: Send + Sync {
    /// Reads `recording` as a history of this object.
    ///
    /// # Errors
    ///
    /// If an operation is not one of this object's.
    fn load(&self, recording: Recording) -> Result<Box<dyn ErasedHistory>, LoadError>;

    /// A linearizable history of this object, as `plan` describes.
    fn generate(&self, plan: &GeneratorConfig) -> Recording;

    /// See [`Codec::is_stable_under_new_values`].
    fn outlives(&self, values: &Values) -> bool;

    /// See [`Codec::name`].
    fn name(&self) -> Option<String>;
}

impl<S> ErasedSpec for S
where
    S: Codec + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn load(&self, recording: Recording) -> Result<Box<dyn ErasedHistory>, LoadError> {
        let Recording { history, values, names, missing } = recording;
        let values = Arc::new(values);
        let mut specification = self.clone();
        specification.bind(&values, missing);
        let sources: Vec<u32> = history.operations().map(|it| history.source(it.id) as u32).collect();
        let history = history.try_map(|id, raw, ret| {
            let read = || {
                let method = match values.get(raw.method) {
                    Datum::Text(name) | Datum::Symbol(name) => name,
                    _ => {
                        return Err(CodecError::value("the operation's name", "a text", &values, raw.method));
                    }
                };
                let call = specification.read_call(&values, method, raw.arg)?;
                let ret = ret.map(|ret| specification.read_return(&values, &call, ret)).transpose()?;
                Ok((call, ret))
            };
            read().map_err(|misfit| LoadError { line: names.line(sources[id.index()] as usize), misfit })
        })?;
        Ok(Box::new(Loaded { missing, ..Loaded::new(specification, history, names, values) }))
    }

    fn generate(&self, plan: &GeneratorConfig) -> Recording {
        simulate(self, plan)
    }

    fn outlives(&self, values: &Values) -> bool {
        Codec::is_stable_under_new_values(self, values)
    }

    fn name(&self) -> Option<String> {
        Codec::name(self)
    }
}

pub(super) struct Loaded<S: Specification> {
    history: History<S::Call, S::Return>,
    names: Names,
    values: Arc<Values>,
    specification: S,
    show: Box<Show<'static, S>>,
    record: Record<S>,
    missing: Value,
}

/// Writes a history down, if there is a way.
pub(super) type Record<S> = fn(&Loaded<S>) -> Option<Recording>;

/// The history as a file tells it. Processes that have no names are numbered.
pub(super) fn record<S: Codec>(loaded: &Loaded<S>) -> Option<Recording> {
    let Loaded { history, specification, .. } = loaded;
    let mut values = Values::clone(&loaded.values);
    let raw = history.clone().try_map(|_, call, ret| -> Result<_, std::convert::Infallible> {
        let (method, arg) = specification.write_call(&call);
        let raw = RawCall { method: values.text(method), arg: arg.store(&mut values) };
        Ok((raw, ret.map(|ret| specification.write_return(&call, &ret).store(&mut values))))
    });
    let Ok(mut raw) = raw;
    let mut names = loaded.names.clone();
    if names.processes.is_empty() {
        let processes = history.processes.iter().map(|it| it.0 + 1).max().unwrap_or(0);
        names.processes = (0..processes).map(|it| values.int(i64::from(it))).collect();
        names.objects = vec![Value::ABSENT];
        for (operation, stand_in) in overlapping(&history.processes, &history.spans) {
            let number = processes + stand_in;
            raw.processes[operation.index()] = ProcessId(number);
            if names.processes.len() <= number as usize {
                names.processes.push(values.int(i64::from(number)));
            }
        }
    }
    Some(Recording { missing: loaded.missing, ..Recording::new(raw, values, names) })
}

/// The operations that overlap another one of their process, and which stand-in takes each: in a file no process has two
/// open at a time. A history that was [merged](History::merge) may have some, where stamps were equal.
pub(super) fn overlapping(processes: &[ProcessId], spans: &[Span]) -> Vec<(OperationId, u32)> {
    // By stand-in, and by process: the rank after which it is free.
    let mut stand_ins: Vec<u32> = Vec::new();
    let mut busy: Vec<u32> = vec![0; processes.iter().map(|it| it.index() + 1).max().unwrap_or(0)];
    let mut overlapping = Vec::new();
    for (at, span) in spans.iter().enumerate() {
        let own = &mut busy[processes[at].index()];
        if *own <= span.call() {
            *own = span.end();
            continue;
        }
        let free = stand_ins.iter().position(|&it| it <= span.call());
        let stand_in = free.unwrap_or(stand_ins.len());
        if free.is_none() {
            stand_ins.push(0);
        }
        stand_ins[stand_in] = span.end();
        overlapping.push((OperationId::from_index(at), stand_in as u32));
    }
    overlapping
}

impl<S> Loaded<S>
where
    S: Codec + Clone + Send + Sync + 'static,
{
    fn new(
        specification: S,
        history: History<S::Call, S::Return>,
        names: Names,
        values: Arc<Values>,
    ) -> Self {
        let show = {
            let (specification, values) = (specification.clone(), Arc::clone(&values));
            Box::new(move |call: &S::Call, ret: Option<&S::Return>| show(&specification, &values, call, ret))
        };
        Loaded { history, names, values, specification, show, record: record::<S>, missing: Value::NIL }
    }
}

/// `deq() → 3`; `enq(1)` if it returns nothing; `deq() → ?` while it is pending.
pub(super) fn show<S: Codec>(
    specification: &S,
    values: &Values,
    call: &S::Call,
    ret: Option<&S::Return>,
) -> Shown {
    let (method, arg) = specification.write_call(call);
    show_written(values, method, arg, ret.map(|ret| specification.write_return(call, ret)))
}

fn show_written(values: &Values, method: &str, arg: Encoded, ret: Option<Encoded>) -> Shown {
    let arg = match arg {
        // The argument list of a method that takes several.
        Encoded::List(items) => items.iter().map(|it| it.show(values)).collect::<Vec<_>>().join(", "),
        arg => arg.show(values),
    };
    let ret = ret.map_or_else(|| "?".to_owned(), |ret| ret.show(values));
    Shown {
        method: method.to_owned(),
        arguments: format!("({arg})"),
        ret: Some(ret).filter(|it| !it.is_empty()),
    }
}

impl<S: Specification> fmt::Debug for Loaded<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("operations", &self.history.len()).finish_non_exhaustive()
    }
}

impl<S> ErasedHistory for Loaded<S>
where
    S: Specification + Send + Sync,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn problems(&self) -> Vec<Problem<'_>> {
        Problem::of_objects_shown(&self.specification, &self.history, &*self.show)
    }

    fn label(&self, operation: OperationId) -> String {
        (self.show)(self.history.call(operation), self.history.ret(operation)).to_string()
    }

    fn process(&self, operation: OperationId) -> ProcessId {
        self.history.process(operation)
    }

    fn object(&self, operation: OperationId) -> ObjectId {
        self.history.objects()[operation.index()]
    }

    fn source(&self, operation: OperationId) -> usize {
        self.history.source(operation)
    }

    fn spans(&self) -> &[Span] {
        self.history.spans()
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn values(&self) -> &Values {
        &self.values
    }

    fn recording(&self) -> Option<Recording> {
        (self.record)(self)
    }
}
