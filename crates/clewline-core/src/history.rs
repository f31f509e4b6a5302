//! Histories: the invocations and responses of processes, in the order in which they happened.
//!
//! A [`History`] is stored in columns, one entry per operation, sorted by call: ten million
//! recorded operations take about 32 bytes each. It is well formed by construction: a process calls
//! only when its previous operation has returned (or was abandoned), and no operation returns
//! before it was called.
//!
//! Histories are built from *events* in the order in which they happened
//! ([`History::from_events`]), or from *operations* with two times each
//! ([`History::from_operations`]). Equal times give no order and count as overlapping: a call
//! counts as earlier than a return at the same time. So a coarse clock can hide a violation but
//! never create one. Operations of one process at equal times keep the order that the process gave
//! them, where that claims no order between processes (`ties.rs`).

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    id::{ObjectId, OperationId, ProcessId},
    rank,
    ties::TiedColumns,
};

/// An invocation or a response, for [`History::from_events`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<C, R> {
    /// The process calls a method of the object: an invocation.
    Call(ProcessId, ObjectId, C),
    /// The process's open operation returns: a response.
    Return(ProcessId, R),
    /// The process's open operation certainly had no effect: it is removed from the history.
    Fail(ProcessId),
    /// The outcome of the process's open operation is not known: it stays pending, and the process
    /// continues.
    Info(ProcessId),
}

impl<C, R> Event<C, R> {
    /// `process` calls, in a history of one object.
    pub fn call(process: u32, call: C) -> Self {
        Event::Call(ProcessId(process), ObjectId(0), call)
    }

    /// The open operation of `process` returns `ret`.
    pub fn ret(process: u32, ret: R) -> Self {
        Event::Return(ProcessId(process), ret)
    }

    /// The process whose event this is.
    #[must_use]
    pub fn process(&self) -> ProcessId {
        let (Event::Call(process, ..)
        | Event::Return(process, _)
        | Event::Fail(process)
        | Event::Info(process)) = self;
        *process
    }

    /// The same event, of another process.
    #[must_use]
    pub fn of(self, process: ProcessId) -> Self {
        match self {
            Event::Call(_, object, call) => Event::Call(process, object, call),
            Event::Return(_, ret) => Event::Return(process, ret),
            Event::Fail(_) => Event::Fail(process),
            Event::Info(_) => Event::Info(process),
        }
    }
}

/// An operation with the times of its call and return, for [`History::from_operations`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timed<C, R> {
    /// The process that called.
    pub process: ProcessId,
    /// The object.
    pub object: ObjectId,
    /// The call: a method with its arguments.
    pub call: C,
    /// The time of the call, by a clock that all processes share.
    pub called: i64,
    /// The result and the time of the return; `None` while pending.
    pub returned: Option<(R, i64)>,
}

/// The positions (ranks) of an operation's call and return in the total order of events.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    pub(crate) call: u32,
    // `PENDING` if the operation is pending; that is later than every rank.
    pub(crate) ret: u32,
}

pub(crate) const PENDING: u32 = u32::MAX;

impl Span {
    /// A span from the rank of a call to that of its return, if it has one.
    ///
    /// # Panics
    ///
    /// If the return is not later than the call.
    #[must_use]
    pub fn new(call: u32, ret: Option<u32>) -> Span {
        assert!(ret.is_none_or(|ret| call < ret && ret != PENDING), "a return is later than its call");
        Span { call, ret: ret.unwrap_or(PENDING) }
    }

    /// Rank of the call.
    #[must_use]
    pub fn call(self) -> u32 {
        self.call
    }

    /// Rank of the return; `None` while pending.
    #[must_use]
    pub fn ret(self) -> Option<u32> {
        (self.ret != PENDING).then_some(self.ret)
    }

    /// Rank of the return; if pending, a rank later than all others.
    #[must_use]
    pub fn end(self) -> u32 {
        self.ret
    }

    /// Whether there is no return.
    #[must_use]
    pub fn is_pending(self) -> bool {
        self.ret == PENDING
    }

    /// The same call without its return.
    #[must_use]
    pub fn without_return(self) -> Span {
        Span { ret: PENDING, ..self }
    }

    /// Whether `self` precedes `other` in real time: it returned before `other` was called.
    #[must_use]
    pub fn precedes(self, other: Span) -> bool {
        self.ret < other.call
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ret() {
            Some(ret) => write!(f, "[{}, {ret}]", self.call),
            None => write!(f, "[{}, ..)", self.call),
        }
    }
}

/// One operation of a history, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation<'a, C, R> {
    /// Its index in call order.
    pub id: OperationId,
    /// The process that called.
    pub process: ProcessId,
    /// The object.
    pub object: ObjectId,
    /// The call: a method with its arguments.
    pub call: &'a C,
    /// The result; `None` while pending.
    pub ret: Option<&'a R>,
    /// The ranks of its call and return.
    pub span: Span,
}

/// A well-formed history.
///
/// ```
/// use clewline_core::{Event, History};
///
/// // Process 0 writes 1 while process 1 reads.
/// let history = History::from_events([
///     Event::call(0, "write(1)"),
///     Event::call(1, "read"),
///     Event::ret(0, 0),
///     Event::ret(1, 1),
/// ])?;
/// assert_eq!(history.len(), 2);
/// # Ok::<(), clewline_core::Malformed>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History<C, R> {
    // Invariants: all columns are of one length; `spans` ascends by call; `rets` is `None` exactly
    // where the span is pending; the ranks in `spans` are distinct.
    pub(crate) processes: Vec<ProcessId>,
    pub(crate) objects: Vec<ObjectId>,
    pub(crate) calls: Vec<C>,
    pub(crate) rets: Vec<Option<R>>,
    pub(crate) spans: Vec<Span>,
    // The index of each operation (or its call event) in the input.
    pub(crate) sources: Vec<u32>,
}

// Ranks are 32-bit, two per operation, and the last one means "pending".
const OPERATIONS_MAX: usize = (u32::MAX / 2 - 1) as usize;

impl<C, R> History<C, R> {
    /// Pairs calls with returns.
    ///
    /// # Errors
    ///
    /// If a process calls while its operation is open, or an event ends an operation that is not
    /// open.
    pub fn from_events(events: impl IntoIterator<Item = Event<C, R>>) -> Result<Self, Malformed> {
        let mut log = EventLog::new();
        for event in events {
            log.push(event)?;
        }
        Ok(log.finish())
    }

    /// Ranks calls and returns by their times. The operations may come in any order. Equal times
    /// overlap, except for a process that calls when its previous operation returns.
    ///
    /// ```
    /// use clewline_core::{History, ObjectId, ProcessId, Timed};
    ///
    /// let operation = |process, called, returned| Timed {
    ///     process: ProcessId(process),
    ///     object: ObjectId(0),
    ///     call: (),
    ///     called,
    ///     returned: Some(((), returned)),
    /// };
    /// let history = History::from_operations([operation(0, 1, 2), operation(0, 2, 3), operation(1, 2, 3)])?;
    /// let spans = history.spans();
    /// // The other process comes first among those called at time 2.
    /// assert!(!spans[0].precedes(spans[1]));
    /// assert!(spans[0].precedes(spans[2]));
    /// # Ok::<(), clewline_core::Malformed>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If an operation returns before it is called, or a process calls while its operation is open.
    pub fn from_operations(operations: impl IntoIterator<Item = Timed<C, R>>) -> Result<Self, Malformed> {
        let operations = operations.into_iter();
        let mut columns = TimedColumns::with_capacity(operations.size_hint().0);
        for operation in operations {
            columns.push(operation);
        }
        columns.finish()
    }

    fn empty() -> Self {
        History::with_capacity(0)
    }

    pub(crate) fn with_capacity(capacity: usize) -> Self {
        History {
            processes: Vec::with_capacity(capacity),
            objects: Vec::with_capacity(capacity),
            calls: Vec::with_capacity(capacity),
            rets: Vec::with_capacity(capacity),
            spans: Vec::with_capacity(capacity),
            sources: Vec::with_capacity(capacity),
        }
    }

    /// The number of operations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The span of each operation; an [`OperationId`] indexes this slice, which ascends by call.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The object of each operation.
    #[must_use]
    pub fn objects(&self) -> &[ObjectId] {
        &self.objects
    }

    /// The call of `id`.
    #[must_use]
    pub fn call(&self, id: OperationId) -> &C {
        &self.calls[id.index()]
    }

    /// The result of `id`; `None` while pending.
    #[must_use]
    pub fn ret(&self, id: OperationId) -> Option<&R> {
        self.rets[id.index()].as_ref()
    }

    /// The process that called `id`.
    #[must_use]
    pub fn process(&self, id: OperationId) -> ProcessId {
        self.processes[id.index()]
    }

    /// The index of `id` (or its call event) in the constructor's input.
    #[must_use]
    pub fn source(&self, id: OperationId) -> usize {
        self.sources[id.index()] as usize
    }

    /// The operation `id`.
    #[must_use]
    pub fn operation(&self, id: OperationId) -> Operation<'_, C, R> {
        let at = id.index();
        Operation {
            id,
            process: self.processes[at],
            object: self.objects[at],
            call: &self.calls[at],
            ret: self.rets[at].as_ref(),
            span: self.spans[at],
        }
    }

    /// Every operation, in call order.
    pub fn operations(&self) -> impl ExactSizeIterator<Item = Operation<'_, C, R>> {
        (0..self.len()).map(|at| self.operation(OperationId::from_index(at)))
    }

    /// Every event in order: an operation's id, and whether this is its return.
    #[must_use]
    pub fn events(&self) -> Vec<(OperationId, End)> {
        let mut events: Vec<(u32, OperationId, End)> = Vec::with_capacity(2 * self.len());
        for (at, span) in self.spans.iter().enumerate() {
            let id = OperationId::from_index(at);
            events.push((span.call, id, End::Call));
            events.extend(span.ret().map(|ret| (ret, id, End::Return)));
        }
        events.sort_unstable_by_key(|&(rank, ..)| rank);
        events.into_iter().map(|(_, id, end)| (id, end)).collect()
    }

    /// Whether no operation is pending.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.spans.iter().all(|it| !it.is_pending())
    }

    /// The same history with every call and result mapped, or the first error.
    ///
    /// # Errors
    ///
    /// The first error that `map` returns.
    pub fn try_map<C2, R2, E>(
        self,
        mut map: impl FnMut(OperationId, C, Option<R>) -> Result<(C2, Option<R2>), E>,
    ) -> Result<History<C2, R2>, E> {
        let mut calls = Vec::with_capacity(self.calls.len());
        let mut rets = Vec::with_capacity(self.rets.len());
        for (at, (call, ret)) in self.calls.into_iter().zip(self.rets).enumerate() {
            let pending = ret.is_none();
            let (call, ret) = map(OperationId::from_index(at), call, ret)?;
            assert_eq!(ret.is_none(), pending, "a map keeps pending operations pending");
            calls.push(call);
            rets.push(ret);
        }
        let History { processes, objects, spans, sources, .. } = self;
        Ok(History { processes, objects, calls, rets, spans, sources })
    }
}

/// Whether an event is a call or a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The call.
    Call,
    /// The return.
    Return,
}

/// Builds a history from events.
#[derive(Clone, Debug)]
pub struct EventLog<C, R> {
    history: History<C, R>,
    // The open operation of each process that has one.
    open: FxHashMap<ProcessId, OperationId>,
    failed: Vec<OperationId>,
    events: usize,
}

impl<C, R> EventLog<C, R> {
    /// No events yet.
    #[must_use]
    pub fn new() -> Self {
        EventLog { history: History::empty(), open: FxHashMap::default(), failed: Vec::new(), events: 0 }
    }

    /// Appends an event.
    ///
    /// # Errors
    ///
    /// If a process calls while its operation is open, or the event ends an operation that is not
    /// open.
    pub fn push(&mut self, event: Event<C, R>) -> Result<(), Malformed> {
        let at = self.events;
        if 2 * OPERATIONS_MAX <= at {
            return Err(Malformed { at, kind: MalformedKind::TooMany });
        }
        self.events += 1;
        let process = event.process();
        if let Event::Call(_, object, call) = event {
            if let Some(&other) = self.open.get(&process) {
                let since = self.history.source(other);
                return Err(Malformed { at, kind: MalformedKind::CallWhileOpen { since } });
            }
            self.open.insert(process, OperationId::from_index(self.history.len()));
            self.begin(process, object, call);
            return Ok(());
        }
        let Some(id) = self.open.remove(&process) else {
            return Err(Malformed { at, kind: MalformedKind::EndWithoutCall });
        };
        match event {
            Event::Return(_, ret) => {
                self.history.rets[id.index()] = Some(ret);
                self.history.spans[id.index()].ret = at as u32;
            }
            Event::Fail(_) => self.failed.push(id),
            Event::Info(_) | Event::Call(..) => (),
        }
        Ok(())
    }

    fn begin(&mut self, process: ProcessId, object: ObjectId, call: C) {
        let history = &mut self.history;
        let rank = (self.events - 1) as u32;
        history.processes.push(process);
        history.objects.push(object);
        history.calls.push(call);
        history.rets.push(None);
        history.spans.push(Span { call: rank, ret: PENDING });
        history.sources.push(rank);
    }

    /// The history so far; open operations are pending.
    #[must_use]
    pub fn finish(mut self) -> History<C, R> {
        if !self.failed.is_empty() {
            let mut keep = vec![true; self.history.len()];
            self.failed.iter().for_each(|it| keep[it.index()] = false);
            self.history.retain(&keep);
        }
        self.history
    }
}

impl<C, R> Default for EventLog<C, R> {
    fn default() -> Self {
        EventLog::new()
    }
}

impl<C, R> History<C, R> {
    fn retain(&mut self, keep: &[bool]) {
        fn column<T>(column: &mut Vec<T>, keep: &[bool]) {
            let mut keep = keep.iter();
            column.retain(|_| *keep.next().expect("columns are of one length"));
        }
        column(&mut self.processes, keep);
        column(&mut self.objects, keep);
        column(&mut self.calls, keep);
        column(&mut self.rets, keep);
        column(&mut self.spans, keep);
        column(&mut self.sources, keep);
    }
}

/// Builds a history from operations with times.
#[derive(Clone, Debug)]
pub struct TimedColumns<C, R> {
    pub(crate) history: History<C, R>,
    pub(crate) called: Vec<i64>,
    // Meaningless where the operation is pending.
    pub(crate) returned: Vec<i64>,
}

impl<C, R> TimedColumns<C, R> {
    /// No operations yet, and room for `capacity`.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut columns = TimedColumns {
            history: History::empty(),
            called: Vec::with_capacity(capacity),
            returned: Vec::with_capacity(capacity),
        };
        let history = &mut columns.history;
        history.processes.reserve(capacity);
        history.objects.reserve(capacity);
        history.calls.reserve(capacity);
        history.rets.reserve(capacity);
        columns
    }

    /// Appends an operation. Errors in it are reported by [`finish`](Self::finish).
    pub fn push(&mut self, operation: Timed<C, R>) {
        let Timed { process, object, call, called, returned } = operation;
        let (ret, returned) = returned.map_or((None, 0), |(ret, at)| (Some(ret), at));
        self.history.processes.push(process);
        self.history.objects.push(object);
        self.history.calls.push(call);
        self.history.rets.push(ret);
        self.called.push(called);
        self.returned.push(returned);
    }

    /// The number of operations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.called.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.called.is_empty()
    }

    /// The number of events before each of `times`. At one time, calls come before it and returns
    /// after it.
    #[must_use]
    pub fn events_before(&self, times: &[i64]) -> Vec<u32> {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        // By place in `sorted`: the events that come before it, but not before the one to its left.
        let mut before = vec![0; sorted.len() + 1];
        for (at, called) in self.called.iter().enumerate() {
            before[sorted.partition_point(|it| it < called)] += 1;
            if self.history.rets[at].is_some() {
                before[sorted.partition_point(|it| *it <= self.returned[at])] += 1;
            }
        }
        for place in 1..before.len() {
            before[place] += before[place - 1];
        }
        times.iter().map(|time| before[sorted.partition_point(|it| it < time)]).collect()
    }

    /// Sorts the operations by call, and ranks calls and returns.
    ///
    /// # Errors
    ///
    /// If an operation returns before it is called, or a process calls while its operation is open.
    pub fn finish(self) -> Result<History<C, R>, Malformed> {
        self.finish_with(PendingCall::KeepsProcess)
    }

    /// As [`finish`](Self::finish), of operations that were part of a history: there, a process may
    /// have gone on from a pending operation ([`Event::Info`]).
    ///
    /// # Errors
    ///
    /// If an operation returns before it is called, or a process calls while an operation of it is
    /// open that returns.
    pub fn finish_abandoned(self) -> Result<History<C, R>, Malformed> {
        self.finish_with(PendingCall::IsAbandoned)
    }

    fn finish_with(self, pending: PendingCall) -> Result<History<C, R>, Malformed> {
        let TimedColumns { mut history, called, returned } = self;
        let is_pending = history.rets.iter().map(Option::is_none).collect();
        let mut times = Times { called, returned, is_pending, pending };
        let RankedOrder { order, ties } = times.sort(&history.processes)?;
        if !order.is_sorted() {
            rank::permute_copies(&mut history.processes, &order);
            rank::permute_copies(&mut history.objects, &order);
            rank::permute(&mut history.calls, &order);
            rank::permute(&mut history.rets, &order);
        }
        history.spans = times.rank_ends(&ties);
        history.sources = order;
        Ok(history)
    }
}

/// The order of operations by call.
struct RankedOrder {
    // Indices in the input.
    order: Vec<u32>,
    // A call, and a return at the same time that comes before it. By call; positions in `order`.
    ties: Vec<(u32, u32)>,
}

/// Whether a process may call although an operation of it is pending.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PendingCall {
    KeepsProcess,
    IsAbandoned,
}

/// The times of operations, without their calls: this is not generic, so it compiles once.
struct Times {
    called: Vec<i64>,
    // Meaningless where the operation is pending, until they are sorted.
    returned: Vec<i64>,
    is_pending: Vec<bool>,
    pending: PendingCall,
}

impl Times {
    /// Sorts by call. Position `i` then holds the entry that was at the `i`th index of the order.
    fn sort(&mut self, processes: &[ProcessId]) -> Result<RankedOrder, Malformed> {
        let Times { called, returned, is_pending, .. } = self;
        let n = called.len();
        if OPERATIONS_MAX < n {
            return Err(Malformed { at: OPERATIONS_MAX, kind: MalformedKind::TooMany });
        }
        for (at, &is_pending) in is_pending.iter().enumerate() {
            if !is_pending && returned[at] < called[at] {
                return Err(Malformed { at, kind: MalformedKind::ReturnBeforeCall });
            }
            if is_pending {
                returned[at] = i64::MAX;
            }
        }
        let mut order: Vec<u32> = (0..n as u32).collect();
        rank::sort_by_time(&mut order, called);
        // Operations called at the same time are sorted by their return: a process may issue
        // several.
        for run in order.chunk_by_mut(|&a, &b| called[a as usize] == called[b as usize]) {
            if 1 < run.len() {
                run.sort_unstable_by_key(|&it| (is_pending[it as usize], returned[it as usize], it));
            }
        }
        let ties = self.order_ties(processes, &mut order)?;
        if !order.is_sorted() {
            rank::permute_copies(&mut self.called, &order);
            rank::permute_copies(&mut self.returned, &order);
            rank::permute_copies(&mut self.is_pending, &order);
        }
        Ok(RankedOrder { order, ties })
    }

    /// Checks that each process waits for the response before it calls again, and orders its
    /// operations at equal times.
    fn order_ties(&self, processes: &[ProcessId], order: &mut [u32]) -> Result<Vec<(u32, u32)>, Malformed> {
        let Times { called, returned, is_pending, pending } = self;
        // The last operation of each process.
        let mut last: FxHashMap<ProcessId, u32> = FxHashMap::default();
        let mut touching: Vec<(u32, u32)> = Vec::new();
        let mut shuffled: FxHashSet<ProcessId> = FxHashSet::default();
        for &at in &*order {
            let process = processes[at as usize];
            let is_abandoned = is_pending[at as usize] && *pending == PendingCall::IsAbandoned;
            let other = if is_abandoned { last.get(&process).copied() } else { last.insert(process, at) };
            let Some(other) = other else { continue };
            let called = called[at as usize];
            if is_pending[other as usize] || called < returned[other as usize] {
                let kind = MalformedKind::CallWhileOpen { since: other as usize };
                return Err(Malformed { at: at as usize, kind });
            }
            if called == returned[other as usize] {
                touching.push((other, at));
            }
            if at < other {
                shuffled.insert(process);
            }
        }
        if touching.is_empty() {
            return Ok(Vec::new());
        }
        let columns = TiedColumns { called, returned, processes };
        let ties = columns.ties(touching, |it| !shuffled.contains(&it));
        columns.put_last(&ties, order);
        let mut positions: Vec<u32> = vec![0; order.len()];
        (0..).zip(&*order).for_each(|(position, &it)| positions[it as usize] = position);
        let mut pairs: Vec<(u32, u32)> =
            ties.pairs.iter().map(|it| (positions[it.0 as usize], positions[it.1 as usize])).collect();
        pairs.sort_unstable();
        Ok(pairs)
    }

    /// Merges calls, which ascend, with returns; at one time calls come first, except for the
    /// `ties`.
    fn rank_ends(&self, ties: &[(u32, u32)]) -> Vec<Span> {
        let Times { called, returned, is_pending, .. } = self;
        let mut by_return: Vec<u32> =
            (0..called.len() as u32).filter(|&it| !is_pending[it as usize]).collect();
        rank::sort_by_time(&mut by_return, returned);
        let mut spans: Vec<Span> = Vec::with_capacity(called.len());
        let mut returns = by_return.into_iter().peekable();
        let mut ties = ties.iter().peekable();
        let mut rank = 0;
        let end = |spans: &mut [Span], id: u32, rank: &mut u32| {
            let span = &mut spans[id as usize];
            // A tie may have ended it already.
            if span.ret == PENDING {
                span.ret = *rank;
                *rank += 1;
            }
        };
        for (at, &time) in (0..).zip(called) {
            while let Some(id) = returns.next_if(|&it| returned[it as usize] < time) {
                end(&mut spans, id, &mut rank);
            }
            while let Some(&(_, id)) = ties.next_if(|it| it.0 == at) {
                end(&mut spans, id, &mut rank);
            }
            spans.push(Span { call: rank, ret: PENDING });
            rank += 1;
        }
        for id in returns {
            end(&mut spans, id, &mut rank);
        }
        spans
    }
}

/// The input is not a well-formed history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    at: usize,
    kind: MalformedKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MalformedKind {
    CallWhileOpen { since: usize },
    EndWithoutCall,
    ReturnBeforeCall,
    TooMany,
}

impl Malformed {
    /// The index in the input of the event or operation that is wrong.
    #[must_use]
    pub fn index(&self) -> usize {
        self.at
    }

    /// The index of the event or operation that it conflicts with, if there is one.
    #[must_use]
    pub fn other(&self) -> Option<usize> {
        match self.kind {
            MalformedKind::CallWhileOpen { since } => Some(since),
            MalformedKind::EndWithoutCall | MalformedKind::ReturnBeforeCall | MalformedKind::TooMany => None,
        }
    }

    /// What is wrong, without the position.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self.kind {
            MalformedKind::CallWhileOpen { .. } => {
                "a process calls while its previous operation is still open"
            }
            MalformedKind::EndWithoutCall => {
                "an operation ends that was not open: its process has not called"
            }
            MalformedKind::ReturnBeforeCall => "an operation returns before it is called",
            MalformedKind::TooMany => "a history holds at most 2^31 operations",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at index {}: {}", self.at, self.reason())
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests;
