//! The operations of a growing history that still matter.

use std::collections::HashMap;

use clewline_check::{Compaction, JudgeOptions, Judgement, StreamState};
use clewline_core::{ErasedHistory, History, ObjectId, ProcessId, Timed, TimedColumns, Value, Verdict};

use crate::error::Error;

/// By default, a window is checked when it has doubled and at least this number of operations has
/// come.
pub(crate) const DEFAULT_WINDOW_OPS: usize = 1 << 16;

/// A moment between two times, just before the second: wide enough that there is one after every
/// time.
pub(crate) type Moment = i128;

/// An operation, with the times of its ends.
#[derive(Clone, Debug)]
pub(crate) struct WindowOperation<C, R> {
    pub(crate) process: ProcessId,
    pub(crate) object: ObjectId,
    pub(crate) call: C,
    pub(crate) called: i64,
    /// Its result, and when it returned.
    pub(crate) returned: Option<(R, i64)>,
    /// The lines of the call and of the return, from 1.
    pub(crate) line: u64,
    pub(crate) end_line: u64,
    /// Its id in the source.
    pub(crate) id: Value,
    /// When it took effect, as the source says: a hint.
    pub(crate) order: Option<i64>,
}

/// Where the end of an operation stands in the source, and what is said of the operation there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The line, from 1.
    pub(crate) line: u64,
    /// The operation's id.
    pub(crate) id: Value,
    /// When it took effect: a hint.
    pub(crate) order: Option<i64>,
}

/// Makes cases of histories.
pub(crate) trait Load {
    /// A method with its arguments.
    type Call: Clone;
    /// The result of a call.
    type Return: Clone;

    /// Passes the history of the snapshot `at` to `f`.
    fn with<T>(&self, at: SnapshotOf<Self>, f: impl FnOnce(&dyn ErasedHistory) -> T) -> Result<T, Error>;

    /// Whether operations may be forgotten.
    fn may_forget(&self) -> bool;
}

/// The snapshot that a [`Load`] loads.
pub(crate) type SnapshotOf<L> = Snapshot<<L as Load>::Call, <L as Load>::Return>;

/// The operations of a window up to some moment.
#[derive(Debug)]
pub(crate) struct Snapshot<C, R> {
    pub(crate) history: History<C, R>,
    /// By source position: the line, the id and the order hint of each operation.
    pub(crate) lines: Vec<u32>,
    pub(crate) ids: Vec<Value>,
    pub(crate) orders: Vec<Option<i64>>,
    // By source position: the index in the window.
    places: Vec<u32>,
}

/// A history that is checked while it grows.
#[derive(Debug)]
pub(crate) struct Window<C, R> {
    // Ascends by `called`.
    operations: Vec<WindowOperation<C, R>>,
    // Operations that had no effect, with the time at which that became known, since the last
    // check. Until then each of them might have had one.
    failed: Vec<(WindowOperation<C, R>, i64)>,
    // The index of the open operation of each process.
    open: HashMap<ProcessId, usize>,
    // Later operations are called at this moment, or after it.
    now: i64,
    state: StreamState,
    options: JudgeOptions,
    // The least number of operations between two checks, and the number at which the next check is
    // due.
    fewest: usize,
    due: usize,
    // The number at the last check.
    judged: i64,
    // The operations of violated parts, as they were when that was found out.
    set_aside: Vec<WindowOperation<C, R>>,
    first: Option<FirstViolation<C, R>>,
    pub(crate) facts: StreamCounts,
}

/// How much has been seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamCounts {
    /// How many operations have come.
    pub(crate) operations: u64,
    /// How many of them have been forgotten.
    pub(crate) forgotten: u64,
    /// The most that were held at a time.
    pub(crate) most: usize,
}

/// The first violation of several, as of the moment at which it was certain.
#[derive(Debug)]
pub(crate) struct FirstViolation<C, R> {
    /// The line after which it was.
    pub(crate) line: u64,
    pub(crate) snapshot: Snapshot<C, R>,
    pub(crate) judgement: Judgement,
}

/// Why there is no need to go on.
#[derive(Debug)]
pub(crate) struct StreamViolation {
    /// The first moment after which it was certain.
    pub(crate) moment: Moment,
    pub(crate) judgement: Judgement,
}

impl<C: Clone, R: Clone> Window<C, R> {
    pub(crate) fn new(options: JudgeOptions, fewest: usize) -> Self {
        Window {
            operations: Vec::new(),
            failed: Vec::new(),
            open: HashMap::new(),
            now: 0,
            state: StreamState::new(),
            options,
            fewest,
            due: fewest,
            judged: 0,
            set_aside: Vec::new(),
            first: None,
            facts: StreamCounts::default(),
        }
    }

    /// How many operations are held.
    pub(crate) fn held(&self) -> usize {
        self.operations.len()
    }

    /// The checkers that decided.
    pub(crate) fn deciders(&self) -> String {
        self.state.deciders()
    }

    /// The budget of all judging.
    pub(crate) fn options(&self) -> &JudgeOptions {
        &self.options
    }

    /// `process` calls. The moment is the next.
    pub(crate) fn call(&mut self, process: ProcessId, object: ObjectId, call: C, place: Place) {
        self.open.insert(process, self.operations.len());
        let called = self.now;
        self.now += 1;
        let Place { line, id, order } = place;
        self.hold(WindowOperation {
            process,
            object,
            call,
            called,
            returned: None,
            line,
            end_line: line,
            id,
            order,
        });
    }

    /// Whether `process` has an open operation.
    pub(crate) fn is_open(&self, process: ProcessId) -> bool {
        self.open.contains_key(&process)
    }

    /// The open operation of `process` returns.
    pub(crate) fn ret(&mut self, process: ProcessId, ret: R, place: Place) {
        if let Some(at) = self.open.remove(&process) {
            let operation = &mut self.operations[at];
            operation.returned = Some((ret, self.now));
            operation.end_line = place.line;
            operation.order = place.order.or(operation.order);
            self.now += 1;
        }
    }

    /// The open operation of `process` had no effect.
    pub(crate) fn fail(&mut self, process: ProcessId, line: u64) {
        if let Some(at) = self.open.remove(&process) {
            let operation = self.operations.remove(at);
            self.failed.push((WindowOperation { end_line: line, ..operation }, self.now));
            self.now += 1;
            self.open.values_mut().filter(|it| at < **it).for_each(|it| *it -= 1);
            self.facts.operations -= 1;
        }
    }

    /// The outcome of the open operation of `process` will stay unknown.
    pub(crate) fn abandon(&mut self, process: ProcessId) {
        self.open.remove(&process);
    }

    /// An operation with its times; false if one that was called later has come before.
    pub(crate) fn operation(&mut self, operation: WindowOperation<C, R>) -> bool {
        let is_in_order = self.pass(operation.called);
        if is_in_order {
            self.hold(operation);
        }
        is_in_order
    }

    /// An operation that need not be held was called then; false if one that was called later has
    /// come before.
    pub(crate) fn pass(&mut self, called: i64) -> bool {
        if !self.operations.is_empty() && called < self.now {
            return false;
        }
        self.now = called;
        true
    }

    fn hold(&mut self, operation: WindowOperation<C, R>) {
        self.operations.push(operation);
        self.facts.operations += 1;
        self.facts.most = self.facts.most.max(self.operations.len());
    }

    /// Whether a check is due.
    pub(crate) fn is_due(&self) -> bool {
        self.due <= self.operations.len() + self.failed.len()
    }

    /// Whether there are new events since the last check.
    pub(crate) fn is_news(&self) -> bool {
        self.judged != self.now
    }

    /// The operations before `moment` that still matter.
    pub(crate) fn snapshot(&self, moment: Moment) -> Result<Snapshot<C, R>, Error> {
        self.snapshot_of(&self.operations, moment)
    }

    fn snapshot_of(
        &self,
        operations: &[WindowOperation<C, R>],
        moment: Moment,
    ) -> Result<Snapshot<C, R>, Error> {
        let mut columns = TimedColumns::with_capacity(operations.len());
        let (mut lines, mut ids, mut orders, mut places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (place, live) in (0..).zip(operations) {
            if moment <= live.called.into() {
                break;
            }
            let WindowOperation { process, object, called, line, id, .. } = *live;
            let returned = live.returned.as_ref().filter(|(_, at)| Moment::from(*at) < moment).cloned();
            columns.push(Timed { process, object, call: live.call.clone(), called, returned });
            lines.push(u32::try_from(line).unwrap_or(u32::MAX));
            ids.push(id);
            orders.push(live.order);
            places.push(place);
        }
        // They have no place. The question of what to forget is about a moment after them.
        let is_open = |at: &i64| moment <= Moment::from(*at);
        for (live, _) in self.failed.iter().filter(|(it, at)| is_open(at) && !is_open(&it.called)) {
            let WindowOperation { process, object, called, line, id, .. } = *live;
            columns.push(Timed { process, object, call: live.call.clone(), called, returned: None });
            lines.push(u32::try_from(line).unwrap_or(u32::MAX));
            ids.push(id);
            orders.push(live.order);
        }
        let history = columns.finish().map_err(|malformed| {
            let line = lines.get(malformed.index()).map_or(0, |&it| it as usize);
            let message = malformed.reason().to_owned();
            Error::from(clewline_formats::ReadError::in_line(line, message))
        })?;
        Ok(Snapshot { history, lines, ids, orders, places })
    }

    /// Checks the operations before `moment`, and forgets those that no longer matter. If several
    /// violations are wanted, violated parts are set aside, and the stream goes on.
    pub(crate) fn advance<L>(&mut self, load: &L, moment: Moment) -> Result<Option<StreamViolation>, Error>
    where
        L: Load<Call = C, Return = R>,
    {
        self.judged = self.now;
        loop {
            let snapshot = self.snapshot(moment)?;
            let places = snapshot.places.clone();
            let (state, options) = (&mut self.state, &self.options);
            let (compaction, sources) = load.with(snapshot, |case| {
                let object = |id| case.object(id);
                let compaction = match load.may_forget() {
                    true => state.compact(case.problems(), &object, options),
                    false => without_forgetting(state.judge(case.problems(), &object, options), case),
                };
                (compaction, sources(case))
            })?;
            let judgement = match compaction {
                Compaction::Keep(keep) => {
                    self.forget(&keep, &sources, &places);
                    return Ok(None);
                }
                Compaction::Stop(judgement) => judgement,
            };
            if let Verdict::Unknown(_) | Verdict::Holds(_) = judgement.verdict {
                return Ok(Some(StreamViolation { moment, judgement: *judgement }));
            }
            // The first tells when it was certain; to find that out for each would take too long.
            if self.first.is_none() {
                let certain = self.certain(load, moment)?;
                if self.options.violations_max <= 1 {
                    return Ok(Some(certain));
                }
                let StreamViolation { moment, judgement } = certain;
                let (line, snapshot) = (self.last_line(moment), self.snapshot(moment)?);
                self.first = Some(FirstViolation { line, snapshot, judgement });
            }
            if !self.set_aside(load, moment)? {
                return Ok(Some(StreamViolation { moment, judgement: *judgement }));
            }
        }
    }

    /// Sets violated parts aside, and returns whether there are some. Of as many as are wanted, the
    /// operations are kept.
    fn set_aside<L>(&mut self, load: &L, moment: Moment) -> Result<bool, Error>
    where
        L: Load<Call = C, Return = R>,
    {
        let snapshot = self.snapshot(moment)?;
        let places = snapshot.places.clone();
        let (state, options) = (&mut self.state, &self.options);
        let (parts, sources) = load.with(snapshot, |case| {
            (state.set_aside_violated(case.problems(), &|id| case.object(id), options), sources(case))
        })?;
        let wanted = parts.iter().filter(|it| it.0 < self.options.violations_max);
        for at in wanted.flat_map(|it| &it.1) {
            // Operations that failed have no place, and no effect.
            let Some(&place) = places.get(sources[at.index()] as usize) else { continue };
            let mut operation = self.operations[place as usize].clone();
            operation.returned = operation.returned.filter(|(_, at)| Moment::from(*at) < moment);
            self.set_aside.push(operation);
        }
        self.set_aside.sort_by_key(|it| it.called);
        Ok(!parts.is_empty())
    }

    /// Whether parts were set aside.
    pub(crate) fn is_violated(&self) -> bool {
        self.first.is_some()
    }

    /// The first violation of the parts that were set aside.
    pub(crate) fn take_first(&mut self) -> Option<FirstViolation<C, R>> {
        self.first.take()
    }

    /// The operations of the parts that were set aside. The process of one that was open then may
    /// have gone on, so it gets a new number, from `fresh` on; their old numbers are returned.
    pub(crate) fn snapshot_set_aside(&self, fresh: usize) -> Result<(Snapshot<C, R>, Vec<ProcessId>), Error> {
        let (mut operations, mut renamed) = (self.set_aside.clone(), Vec::new());
        for open in operations.iter_mut().filter(|it| it.returned.is_none()) {
            renamed.push(open.process);
            open.process = ProcessId((fresh + renamed.len() - 1) as u32);
        }
        Ok((self.snapshot_of(&operations, Moment::MAX)?, renamed))
    }

    /// Checks what was set aside.
    pub(crate) fn judge_set_aside(&self, case: &dyn ErasedHistory) -> Judgement {
        self.state.judge_set_aside(case.problems(), &|id| case.object(id), &self.options)
    }

    /// Checks the window as of `moment`.
    pub(crate) fn judge(&self, case: &dyn ErasedHistory, options: &JudgeOptions) -> Judgement {
        self.state.judge(case.problems(), &|id| case.object(id), options)
    }

    fn forget(&mut self, keep: &[bool], sources: &[u32], places: &[u32]) {
        let mut is_kept = vec![true; self.operations.len()];
        for (&keep, &source) in keep.iter().zip(sources) {
            is_kept[places[source as usize] as usize] = keep;
        }
        let before = self.operations.len();
        let mut flags = is_kept.iter();
        self.operations.retain(|_| *flags.next().unwrap_or(&true));
        self.facts.forgotten += (before - self.operations.len()) as u64;
        // Open operations are kept; they have moved.
        let mut moved: Vec<usize> = Vec::with_capacity(is_kept.len());
        let mut next = 0;
        for kept in is_kept {
            moved.push(next);
            next += usize::from(kept);
        }
        self.open.values_mut().for_each(|it| *it = moved[*it]);
        self.failed.clear();
        // A window with less than an operation or two for each part costs as much as a larger one.
        self.due = 2 * self.operations.len() + self.fewest.max(2 * self.state.parts());
    }

    /// The first return, or failure, after which the window, which is violated at `moment`, is
    /// violated.
    fn certain<L>(&self, load: &L, moment: Moment) -> Result<StreamViolation, Error>
    where
        L: Load<Call = C, Return = R>,
    {
        let returns = self.operations.iter().filter_map(|it| it.returned.as_ref().map(|(_, at)| *at));
        let failures = self.failed.iter().map(|it| it.1);
        let mut moments: Vec<Moment> = returns.chain(failures).map(|at| Moment::from(at) + 1).collect();
        moments.retain(|&it| it <= moment);
        moments.sort_unstable();
        let quick = JudgeOptions { counterexample_configurations: 0, ..self.options.clone() };
        let (mut low, mut high) = (0, moments.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let judgement = load.with(self.snapshot(moments[middle])?, |case| self.judge(case, &quick))?;
            match judgement.verdict {
                Verdict::Violated(_) => high = middle,
                Verdict::Holds(_) | Verdict::Unknown(_) => low = middle + 1,
            }
        }
        let moment = moments.get(low).copied().unwrap_or(moment);
        let judgement = load.with(self.snapshot(moment)?, |case| self.judge(case, &self.options))?;
        Ok(StreamViolation { moment, judgement })
    }

    /// The moment before which all events are known.
    pub(crate) fn now(&self) -> Moment {
        self.now.into()
    }

    /// The last line with an event before `moment`.
    pub(crate) fn last_line(&self, moment: Moment) -> u64 {
        let is_before = |at: i64| Moment::from(at) < moment;
        let line = |it: &WindowOperation<C, R>, end: Option<i64>| match end {
            Some(at) if is_before(at) => it.end_line,
            Some(_) | None => it.line,
        };
        let held = self.operations.iter().map(|it| (it, it.returned.as_ref().map(|it| it.1)));
        let failed = self.failed.iter().map(|(it, at)| (it, Some(*at)));
        let all = held.chain(failed).filter(|(it, _)| is_before(it.called));
        all.map(|(it, end)| line(it, end)).max().unwrap_or(0)
    }
}

/// The source position of each operation.
fn sources(case: &dyn ErasedHistory) -> Vec<u32> {
    let source = |at| case.source(clewline_core::OperationId::from_index(at)) as u32;
    (0..case.spans().len()).map(source).collect()
}

fn without_forgetting(judgement: Judgement, case: &dyn ErasedHistory) -> Compaction {
    match judgement.verdict {
        Verdict::Holds(_) => Compaction::Keep(vec![true; case.spans().len()]),
        Verdict::Violated(_) | Verdict::Unknown(_) => Compaction::Stop(Box::new(judgement)),
    }
}
