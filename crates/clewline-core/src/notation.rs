//! Notation: how a specification's calls and returns are written down.
//!
//! Files carry histories as methods, arguments and answers ([`Recording`]). A specification that implements
//! [`Notation`] can be reached from there: [`Catalogued`] forgets its types and turns a recording into a
//! [`Case`], which is all that a report or the command line ever holds.

use std::{fmt, sync::Arc};

use crate::{
    History, Names, ObjectId, OperationId, Problem, ProcessId, RawCall, Recording, Show, Span, Specification,
    Value, Values, show_debug,
    simulate::{Dice, Plan, simulate},
};

/// A specification whose calls and returns have a written form.
pub trait Notation: Specification + Sized {
    /// Reads a call.
    ///
    /// # Errors
    ///
    /// If the object has no such method, or it takes another argument.
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Self::Call, Misfit>;

    /// Reads what `call` returned.
    ///
    /// # Errors
    ///
    /// If `call` can never return such a thing.
    fn read_return(&self, values: &Values, call: &Self::Call, ret: Value) -> Result<Self::Return, Misfit>;

    /// Writes a call: its method and argument. [`read_call`](Self::read_call) undoes it.
    fn write_call(&self, call: &Self::Call) -> (&'static str, Written);

    /// Writes what `call` returned. [`read_return`](Self::read_return) undoes it.
    fn write_return(&self, call: &Self::Call, ret: &Self::Return) -> Written;

    /// Some call, as `dice` will have it: for generated histories.
    fn sample(&self, dice: &mut Dice) -> Self::Call;

    /// The name by which the catalog knows this specification, as in `queue:8`, so that a history can be judged from
    /// its file. `None` if it is not in the catalog.
    fn name(&self) -> Option<String> {
        None
    }

    /// Whether a state of this object means the same when there are more values than these, so that a history can be
    /// judged from it that is not over yet.
    fn outlives(&self, _values: &Values) -> bool {
        true
    }

    /// Tells the specification what the values of the history to come hold, and what a missing key reads as.
    fn bind(&mut self, _values: &Arc<Values>, _missing: Value) {}
}

/// A value on its way out: made of values that exist, or of new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A value of the recording.
    Value(Value),
    /// An integer.
    Int(i64),
    /// A text.
    Text(Box<str>),
    /// A list.
    List(Vec<Written>),
}

impl Written {
    /// Nothing: no argument, no answer.
    pub const NOTHING: Written = Written::Value(Value::ABSENT);

    /// A list of two values.
    #[must_use]
    pub fn pair(a: Value, b: Value) -> Written {
        Written::List(vec![Written::Value(a), Written::Value(b)])
    }

    /// This value in `values`.
    pub fn store(&self, values: &mut Values) -> Value {
        match self {
            Written::Value(value) => *value,
            Written::Int(int) => values.int(*int),
            Written::Text(text) => values.text(text),
            Written::List(items) => {
                let items: Vec<Value> = items.iter().map(|it| it.store(values)).collect();
                values.list(&items)
            }
        }
    }

    /// This value as a report writes it: `3`, `"x"`, `[1, 2]`, and nothing for nothing.
    #[must_use]
    pub fn show(&self, values: &Values) -> String {
        match self {
            Written::Value(value) => values.show(*value).to_string(),
            Written::Int(int) => int.to_string(),
            Written::Text(text) => format!("{text:?}"),
            Written::List(items) => {
                let items: Vec<String> = items.iter().map(|it| it.show(values)).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }
}

/// Something was written down that the object cannot have said or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit(pub String);

impl Misfit {
    /// The object has no method of that name; `known` lists those it has.
    #[must_use]
    pub fn method(found: &str, known: &str) -> Misfit {
        Misfit(format!("expected one of the operations {known}; found `{found}`"))
    }

    /// `what` (an argument, an answer) is not as `expected`.
    #[must_use]
    pub fn value(what: &str, expected: &str, values: &Values, found: Value) -> Misfit {
        if found.is_absent() {
            return Misfit(format!("{what}: expected {expected}, found nothing"));
        }
        Misfit(format!("{what}: expected {expected}, found {}", values.show(found)))
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A recording cannot be read as a history of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The line, from 1, of the operation that does not fit.
    pub line: usize,
    /// What is wrong with it.
    pub misfit: Misfit,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.misfit)
    }
}

impl std::error::Error for LoadError {}

/// A history with its specification, their types forgotten.
pub trait Case: Send + Sync + fmt::Debug {
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
pub fn case_noted<S>(specification: S, history: History<S::Call, S::Return>) -> Box<dyn Case>
where
    S: Notation + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    Box::new(Loaded::new(specification, history, Names::default(), Arc::default()))
}

/// A history with its specification, whose operations are written as their types are in `Debug`.
pub fn case_shown<S>(specification: S, history: History<S::Call, S::Return>) -> Box<dyn Case>
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
pub trait Catalogued: Send + Sync {
    /// Reads `recording` as a history of this object.
    ///
    /// # Errors
    ///
    /// If an operation is not one of this object's.
    fn load(&self, recording: Recording) -> Result<Box<dyn Case>, LoadError>;

    /// A linearizable history of this object, as `plan` describes.
    fn generate(&self, plan: &Plan) -> Recording;

    /// See [`Notation::outlives`].
    fn outlives(&self, values: &Values) -> bool;

    /// See [`Notation::name`].
    fn name(&self) -> Option<String>;
}

impl<S> Catalogued for S
where
    S: Notation + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn load(&self, recording: Recording) -> Result<Box<dyn Case>, LoadError> {
        let Recording { history, values, names, missing } = recording;
        let values = Arc::new(values);
        let mut specification = self.clone();
        specification.bind(&values, missing);
        let sources: Vec<u32> = history.operations().map(|it| history.source(it.id) as u32).collect();
        let history = history.try_map(|id, raw, ret| {
            let read = || {
                let method = match values.get(raw.method) {
                    crate::Datum::Text(name) | crate::Datum::Symbol(name) => name,
                    _ => return Err(Misfit::value("the operation's name", "a text", &values, raw.method)),
                };
                let call = specification.read_call(&values, method, raw.arg)?;
                let ret = ret.map(|ret| specification.read_return(&values, &call, ret)).transpose()?;
                Ok((call, ret))
            };
            read().map_err(|misfit| LoadError { line: names.line(sources[id.index()] as usize), misfit })
        })?;
        Ok(Box::new(Loaded { missing, ..Loaded::new(specification, history, names, values) }))
    }

    fn generate(&self, plan: &Plan) -> Recording {
        simulate(self, plan)
    }

    fn outlives(&self, values: &Values) -> bool {
        Notation::outlives(self, values)
    }

    fn name(&self) -> Option<String> {
        Notation::name(self)
    }
}

struct Loaded<S: Specification> {
    history: History<S::Call, S::Return>,
    names: Names,
    values: Arc<Values>,
    specification: S,
    show: Box<Show<'static, S>>,
    record: Record<S>,
    missing: Value,
}

/// Writes a history down, if there is a way.
type Record<S> = fn(&Loaded<S>) -> Option<Recording>;

/// The history as a file tells it. Processes that have no names are numbered.
fn record<S: Notation>(loaded: &Loaded<S>) -> Option<Recording> {
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
        for (operation, stand_in) in overlapping(history) {
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
fn overlapping<C, R>(history: &History<C, R>) -> Vec<(OperationId, u32)> {
    // By stand-in, and by process: the rank after which it is free.
    let mut stand_ins: Vec<u32> = Vec::new();
    let mut busy: Vec<u32> = vec![0; history.processes.iter().map(|it| it.index() + 1).max().unwrap_or(0)];
    let mut overlapping = Vec::new();
    for (at, span) in history.spans.iter().enumerate() {
        let own = &mut busy[history.processes[at].index()];
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
    S: Notation + Clone + Send + Sync + 'static,
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

/// `deq() → 3`; `enq(1)` if it answers nothing; `deq() → ?` while it is pending.
fn show<S: Notation>(specification: &S, values: &Values, call: &S::Call, ret: Option<&S::Return>) -> String {
    let (method, arg) = specification.write_call(call);
    let arg = match arg {
        // The argument list of a method that takes several.
        Written::List(items) => items.iter().map(|it| it.show(values)).collect::<Vec<_>>().join(", "),
        arg => arg.show(values),
    };
    match ret.map(|ret| specification.write_return(call, ret).show(values)) {
        Some(ret) if ret.is_empty() => format!("{method}({arg})"),
        Some(ret) => format!("{method}({arg}) → {ret}"),
        None => format!("{method}({arg}) → ?"),
    }
}

impl<S: Specification> fmt::Debug for Loaded<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("operations", &self.history.len()).finish_non_exhaustive()
    }
}

impl<S> Case for Loaded<S>
where
    S: Specification + Send + Sync,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn problems(&self) -> Vec<Problem<'_>> {
        Problem::of_objects_shown(&self.specification, &self.history, &*self.show)
    }

    fn label(&self, operation: OperationId) -> String {
        (self.show)(self.history.call(operation), self.history.ret(operation))
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
