//! Type erasure: a history with its specification, and a specification, without their types.

use std::{fmt, sync::Arc};

use crate::{
    any_specification::AnySpecification,
    codec::{Codec, CodecError, Encoded},
    criterion::Criterion,
    history::{History, Malformed, Span},
    id::{ObjectId, OperationId, ProcessId},
    initial::with_initial,
    may_fail::MayFail,
    problem::{Problem, Show},
    recording::{Names, RawCall, RawHistory, Recording},
    sampling::GeneratorConfig,
    shown::{Shown, ShownArguments, ShownReturn},
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
    pub error: CodecError,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.error)
    }
}

impl std::error::Error for LoadError {}

/// A history with its specification, their types erased.
pub trait ErasedHistory: Send + Sync + fmt::Debug {
    /// One problem for each object of the history.
    fn problems(&self) -> Vec<Problem<'_>>;

    /// How a report writes `operation`, in parts.
    fn shown(&self, operation: OperationId) -> Shown;

    /// How a report writes `operation`: `deq() → 3`.
    fn label(&self, operation: OperationId) -> String {
        self.shown(operation).to_string()
    }

    /// The process that called `operation`.
    fn process(&self, operation: OperationId) -> ProcessId;

    /// The object of `operation`.
    fn object(&self, operation: OperationId) -> ObjectId;

    /// The position of `operation` in the source.
    fn source(&self, operation: OperationId) -> usize;

    /// The span of each operation: the ranks of its call and return.
    fn spans(&self) -> &[Span];

    /// The names of processes, objects and operations.
    fn names(&self) -> &Names;

    /// The table of the values in the names.
    fn values(&self) -> &Arc<Values>;

    /// The results that its operations may return with no effect, if there are any, and how many
    /// operations returned them where that is allowed.
    fn may_fail(&self) -> Option<(&MayFail, usize)> {
        None
    }

    /// The criterion by which it is judged, and for [`Criterion::Strongest`] the verdict on each
    /// criterion that was tried, in one word.
    fn criterion(&self) -> (Criterion, &[(Criterion, &'static str)]) {
        (Criterion::Linearizable, &[])
    }

    /// Names its processes, by their ids, if it is the history of a program. Without this they have
    /// numbers.
    fn name_processes(&mut self, names: Vec<Value>) {
        let _numbers_remain = names;
    }

    /// The same history, to be written to a file. `None` if its specification has no written form.
    fn recording(&self) -> Option<Recording> {
        None
    }
}

/// Erases the types of a history with its specification. Operations are written by the
/// specification's [`Codec`].
pub fn erase_with_codec<S>(specification: S, history: History<S::Call, S::Return>) -> Box<dyn ErasedHistory>
where
    S: Codec + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    Box::new(TypedHistory::new(specification, history, Names::default(), Arc::default()))
}

/// Erases the types of a history with its specification. Operations are written by their `Debug`
/// implementations.
pub fn erase_with_debug<S>(specification: S, history: History<S::Call, S::Return>) -> Box<dyn ErasedHistory>
where
    S: Specification + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    erase_with(specification, history, |_| None)
}

/// The recording of a typed history, if it can be written.
pub type WriteHistory<S> =
    fn(&History<<S as Specification>::Call, <S as Specification>::Return>) -> Option<Recording>;

/// As [`erase_with_debug`], for histories that `to_recording` can write to a file.
pub fn erase_with<S>(
    specification: S,
    history: History<S::Call, S::Return>,
    to_recording: WriteHistory<S>,
) -> Box<dyn ErasedHistory>
where
    S: Specification + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    Box::new(TypedHistory {
        history,
        names: Names::default(),
        values: Arc::default(),
        specification,
        show: Box::new(show_debug::<S>),
        to_recording: Box::new(move |it| {
            let mut recording = to_recording(&it.history)?;
            // Further processes are substitutes for those whose operations overlap.
            let count = it.history.processes.iter().map(|it| it.index() + 1).max().unwrap_or(0);
            let names = recording.names.processes.iter_mut().take(count);
            for (name, given) in names.zip(&it.names.processes) {
                *name = recording.values.adopt(*given);
            }
            Some(recording)
        }),
        missing: Value::NIL,
    })
}

/// A specification with its types erased: it loads recordings and generates them.
pub trait ErasedSpec: Send + Sync {
    /// Reads `recording` as a history of this object.
    ///
    /// # Errors
    ///
    /// If an operation is not one of this object's.
    fn load(&self, recording: Recording) -> Result<Box<dyn ErasedHistory>, LoadError>;

    /// A linearizable history of this object, as `config` describes.
    fn generate(&self, config: &GeneratorConfig) -> Recording;

    /// The same specification as a value of one type, with the steps of this and none of its hints.
    fn to_any(&self) -> AnySpecification;

    /// See [`Codec::is_stable_under_new_values`].
    fn is_stable_under_new_values(&self, values: &Values) -> bool;

    /// See [`Codec::name`].
    fn name(&self) -> Option<String>;

    /// Why the last history that was [generated](Self::generate) does not count, if it does not:
    /// see [`Specification::fault`].
    fn fault(&self) -> Option<String>;
}

impl<S> ErasedSpec for S
where
    S: Codec + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn load(&self, mut recording: Recording) -> Result<Box<dyn ErasedHistory>, LoadError> {
        recording.adopt_all();
        let at_start = |error| LoadError { line: 1, error };
        let mut initial = 0;
        let mut specification = self.clone();
        if let Some(state) = recording.initial
            && !specification.start_at(&recording.values, state)
        {
            let calls = self.initial_calls(&mut recording.values, state).map_err(at_start)?;
            let too_many = |it: Malformed| at_start(CodecError(it.reason().to_owned()));
            (recording, initial) = with_initial(recording, &calls).map_err(too_many)?;
        }
        let Recording { history, values, names, missing, .. } = recording;
        let values = Arc::new(values);
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
            read().map_err(|error| LoadError { line: names.line(sources[id.index()] as usize), error })
        })?;
        if !is_reached(&specification, &history, initial) {
            let why = "the initial state: expected a state of the object, found one that it cannot reach";
            return Err(at_start(CodecError(why.to_owned())));
        }
        Ok(Box::new(TypedHistory { missing, ..TypedHistory::new(specification, history, names, values) }))
    }

    fn generate(&self, config: &GeneratorConfig) -> Recording {
        simulate(self, config)
    }

    fn to_any(&self) -> AnySpecification {
        AnySpecification::new(self.clone())
    }

    fn is_stable_under_new_values(&self, values: &Values) -> bool {
        Codec::is_stable_under_new_values(self, values)
    }

    fn name(&self) -> Option<String> {
        Codec::name(self)
    }

    fn fault(&self) -> Option<String> {
        Specification::fault(self)
    }
}

/// Whether the first `count` operations, those of an initial state, are allowed in their order.
fn is_reached<S: Specification>(
    specification: &S,
    history: &History<S::Call, S::Return>,
    count: usize,
) -> bool {
    // All objects begin alike.
    let of_one = history.operations().take(count).filter(|it| it.object == ObjectId(0));
    let mut states = vec![specification.initial()];
    of_one.for_each(|it| specification.advance(&mut states, it.call, it.ret));
    !states.is_empty()
}

pub(super) struct TypedHistory<S: Specification> {
    history: History<S::Call, S::Return>,
    names: Names,
    values: Arc<Values>,
    specification: S,
    show: Box<Show<'static, S>>,
    to_recording: ToRecording<S>,
    missing: Value,
}

/// Converts a history to a recording; `None` if its specification has no codec.
pub(super) type ToRecording<S> = Box<dyn Fn(&TypedHistory<S>) -> Option<Recording> + Send + Sync>;

/// The history as a file stores it. Processes that have no names are numbered.
pub(super) fn to_recording<S: Codec>(typed: &TypedHistory<S>) -> Option<Recording> {
    let TypedHistory { history, specification, .. } = typed;
    let mut values = Values::clone(&typed.values);
    let raw = history.clone().try_map(|_, call, ret| -> Result<_, std::convert::Infallible> {
        let (method, arg) = specification.write_call(&call);
        let raw = RawCall { method: values.text(method), arg: arg.store(&mut values) };
        Ok((raw, ret.map(|ret| specification.write_return(&call, &ret).store(&mut values))))
    });
    let Ok(raw) = raw;
    let recording = match &typed.names {
        // A history that was read has the names of its source, objects as well.
        names if names.objects.is_empty() => numbered_recording(raw, values, &names.processes),
        names => Recording::new(raw, values, names.clone()),
    };
    Some(Recording { missing: typed.missing, ..recording })
}

/// A recording of a history whose objects have no names, nor its processes but for the first, which
/// are named `processes`: the others are numbered.
#[must_use]
pub fn numbered_recording(mut history: RawHistory, mut values: Values, processes: &[Value]) -> Recording {
    let count = |ids: &mut dyn Iterator<Item = u32>| ids.max().map_or(0, |it| it + 1);
    let first_stand_in = count(&mut history.processes.iter().map(|it| it.0)).max(processes.len() as u32);
    let overlapping = overlapping(&history.processes, &history.spans);
    let stand_ins = count(&mut overlapping.iter().map(|it| it.1));
    let objects = count(&mut history.objects.iter().map(|it| it.0));
    let mut names: Vec<Value> = processes.iter().map(|it| values.adopt(*it)).collect();
    let numbered = names.len() as u32..first_stand_in + stand_ins;
    names.extend(numbered.map(|it| values.int(i64::from(it))));
    let objects = match objects {
        0 | 1 => vec![Value::ABSENT],
        _ => (0..objects).map(|it| values.int(i64::from(it))).collect(),
    };
    for (operation, stand_in) in overlapping {
        history.processes[operation.index()] = ProcessId(first_stand_in + stand_in);
    }
    Recording::new(history, values, Names { processes: names, objects, ..Names::default() })
}

/// The operations that overlap another operation of their process, and the number of the substitute
/// process that each is assigned to: in a file, no process has two open operations at a time. A
/// [merged](History::merge) history can have such operations where stamps are equal.
pub(super) fn overlapping(processes: &[ProcessId], spans: &[Span]) -> Vec<(OperationId, u32)> {
    // By substitute, and by process: the rank after which it is free.
    let mut stand_ins: Vec<u32> = Vec::new();
    let mut busy_until: Vec<u32> = vec![0; processes.iter().map(|it| it.index() + 1).max().unwrap_or(0)];
    let mut overlapping = Vec::new();
    for (at, span) in spans.iter().enumerate() {
        let process_busy_until = &mut busy_until[processes[at].index()];
        if *process_busy_until <= span.call() {
            *process_busy_until = span.end();
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

impl<S> TypedHistory<S>
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
        TypedHistory {
            history,
            names,
            values,
            specification,
            show,
            to_recording: Box::new(to_recording::<S>),
            missing: Value::NIL,
        }
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
    show_encoded(values, method, arg, ret.map(|ret| specification.write_return(call, ret)))
}

fn show_encoded(values: &Values, method: &str, arg: Encoded, ret: Option<Encoded>) -> Shown {
    let arguments = match arg {
        // The argument list of a method with several arguments.
        Encoded::List(items) => items.iter().map(|it| it.show(values)).collect(),
        Encoded::NOTHING => Vec::new(),
        arg => vec![arg.show(values)],
    };
    Shown {
        method: method.to_owned(),
        arguments: ShownArguments::List(arguments),
        ret: ret.map_or(Some(ShownReturn::Pending), |ret| show_return(values, &ret)),
    }
}

fn show_return(values: &Values, ret: &Encoded) -> Option<ShownReturn> {
    Some(match ret {
        Encoded::Int(int) => ShownReturn::Int(*int),
        Encoded::Text(_) | Encoded::Other(_) => ShownReturn::Other(ret.show(values)),
        Encoded::List(items) => ShownReturn::List(items.iter().map(|it| it.show(values)).collect()),
        Encoded::Value(value) => match values.get(*value) {
            Datum::Absent => return None,
            Datum::Nil => ShownReturn::Null,
            Datum::Bool(truth) => ShownReturn::Bool(truth),
            Datum::Int(int) => ShownReturn::Int(int),
            Datum::List(items) => {
                ShownReturn::List(items.iter().map(|it| values.show(*it).to_string()).collect())
            }
            Datum::Text(_) | Datum::Symbol(_) | Datum::Other(_) => ShownReturn::Other(ret.show(values)),
        },
    })
}

impl<S: Specification> fmt::Debug for TypedHistory<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedHistory").field("operations", &self.history.len()).finish_non_exhaustive()
    }
}

impl<S> ErasedHistory for TypedHistory<S>
where
    S: Specification + Send + Sync,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn problems(&self) -> Vec<Problem<'_>> {
        let problems = Problem::of_objects_shown(&self.specification, &self.history, &*self.show);
        let Some(orders) = &self.names.orders else { return problems };
        let hint =
            |it: usize| orders.get(self.history.source(OperationId::from_index(it))).copied().flatten();
        let hints: Arc<[Option<i64>]> = (0..self.history.len()).map(hint).collect();
        problems.into_iter().map(|it| it.with_order_hints(&hints)).collect()
    }

    fn shown(&self, operation: OperationId) -> Shown {
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

    fn values(&self) -> &Arc<Values> {
        &self.values
    }

    fn name_processes(&mut self, names: Vec<Value>) {
        self.names.processes = names;
    }

    fn recording(&self) -> Option<Recording> {
        (self.to_recording)(self)
    }
}
