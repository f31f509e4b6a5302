//! The outcome of an execution, as a message.

use clewline_core::ResultId;
use clewline_explore::{Pick, Schedule, SharedId, TaskId, TaskSet};
use clewline_matrix::TestProgram;
use clewline_threads::control::{
    CallOutcome, CellAccess, DataRace, ExecutionOutcome, FailureKind, HappensBefore, Holder, Leak, Moment,
    OldRead, Panic, Pending, Place, RacingAccess, Remedy, RemedyKind,
};

use crate::message::WireMessage;

/// Encodes places and results, depending on what the reading process knows.
pub trait StateEncoder {
    /// Puts a place.
    fn put_place(&mut self, to: &mut WireMessage, place: Place);
    /// Puts a result, which has that number in `program`.
    fn put_result(
        &mut self,
        to: &mut WireMessage,
        program: &dyn TestProgram,
        operation: usize,
        result: ResultId,
    );
}

/// The corresponding decoder.
pub trait StateDecoder {
    /// Takes a place.
    fn take_place(&mut self, from: &mut WireMessage) -> Place;
    /// Takes a result.
    fn take_result(&mut self, from: &mut WireMessage) -> ResultId;
}

/// Puts the outcome of the last execution of `program`; steps and waiting tasks only if `is_shown`.
pub fn put_state(
    to: &mut WireMessage,
    program: &mut dyn TestProgram,
    is_shown: bool,
    writing: &mut dyn StateEncoder,
) {
    let outcome = program.outcome();
    to.put(outcome.steps.into());
    to.put_maybe(outcome.panic, |to, (task, panic)| {
        to.put_task(task);
        to.put(FailureKind::ALL.iter().position(|it| *it == panic.kind).unwrap_or(0) as u64);
        to.put_text(&panic.message);
        to.put_maybe(panic.place, |to, it| to.put_text(&it));
        to.put_maybe(panic.step, |to, it| to.put(it.into()));
    });
    to.put_all(outcome.operations.iter().enumerate(), |to, (at, it)| {
        to.put_maybe(it.call, |to, it| to.put(it.into()));
        to.put_maybe(it.ret, |to, (step, result)| {
            to.put(step.into());
            writing.put_result(to, program, at, result);
        });
        to.put_maybe(it.order.as_ref(), |to, it| {
            to.put_task(it.task);
            to.put(it.returned.into());
            to.put_all(it.known.all().into_iter(), |to, it| to.put(it.into()));
        });
    });
    to.put_maybe(outcome.race, |to, race| {
        for RacingAccess { task, place: at, access, size } in [race.first, race.second] {
            to.put_task(task);
            writing.put_place(to, at);
            to.put(CellAccess::ALL.iter().position(|it| *it == access).unwrap_or(0) as u64);
            to.put_maybe(size, |to, it| to.put(it.into()));
        }
        to.put_all(race.remedies.iter(), |to, it| {
            to.put(RemedyKind::ALL.iter().position(|kind| *kind == it.kind).unwrap_or(0) as u64);
            writing.put_place(to, it.place);
        });
    });
    to.put_all(outcome.leaks.iter(), |to, it| writing.put_place(to, it.place));
    to.put_maybe(program.schedule(), |to, it| to.put_bytes(schedule_bytes(&it).bytes()));
    let (moments, pending) =
        if is_shown { (program.moments(), program.pending()) } else { (Vec::new(), &[][..]) };
    to.put_all(moments.iter(), |to, it| {
        to.put_step(&it.step);
        writing.put_place(to, it.place);
        to.put(it.offset.into());
        to.put_text(&it.detail);
        to.put_flag(it.is_futex_wait);
        to.put_flag(it.repeats);
        to.put_maybe(it.old_read, |to, it| {
            to.put(it.from.into());
            to.put(it.missed.into());
        });
    });
    to.put_all(pending.iter(), |to, it| {
        to.put_task(it.task);
        to.put_access(it.access);
        to.put(it.object.0.into());
        writing.put_place(to, it.place);
        to.put_maybe(it.operation, |to, it| to.put(it as u64));
        to.put_flag(it.spins);
        to.put(it.after.0);
        to.put_all(it.holders.iter(), |to, it| {
            to.put_task(it.task);
            writing.put_place(to, it.place);
        });
    });
}

// The capacity of a task set.
const TASKS_MAX: u8 = TaskId::MAX as u8;

/// Encodes a word per choice.
fn schedule_bytes(schedule: &Schedule) -> WireMessage {
    let mut to = WireMessage::default();
    for pick in &schedule.0 {
        to.put(match pick {
            Pick::Task(task) => u64::from(task.0) << 1,
            Pick::Value(value) => u64::from(*value) << 1 | 1,
        });
    }
    to
}

/// The outcome of an execution in another process.
#[derive(Debug)]
pub struct ReceivedState {
    /// Its operations and other results.
    pub outcome: ExecutionOutcome<ResultId>,
    // The schedule, if recorded, in encoded form: it is rarely needed.
    picks: Option<Vec<u8>>,
    /// Its steps, if recorded.
    pub moments: Vec<Moment>,
    /// The pending accesses of the blocked tasks.
    pub pending: Vec<Pending>,
}

impl Default for ReceivedState {
    fn default() -> ReceivedState {
        let outcome =
            ExecutionOutcome { operations: Vec::new(), steps: 0, panic: None, race: None, leaks: Vec::new() };
        let (moments, pending) = (Vec::new(), Vec::new());
        ReceivedState { outcome, picks: None, moments, pending }
    }
}

impl ReceivedState {
    /// Takes what [`put_state`] has put.
    pub fn receive(&mut self, from: &mut WireMessage, reading: &mut dyn StateDecoder) {
        self.outcome.steps = from.take_u32();
        self.outcome.panic = from.take_maybe(|from| {
            let (task, kind) = (from.take_task(), FailureKind::ALL[from.take_index(FailureKind::ALL.len())]);
            let message = from.take_text();
            let place = from.take_maybe(WireMessage::take_text);
            (task, Panic { kind, message, place, step: from.take_maybe(WireMessage::take_u32) })
        });
        let mut operations = std::mem::take(&mut self.outcome.operations);
        from.take_all_into(&mut operations, |from| {
            let call = from.take_maybe(WireMessage::take_u32);
            let ret = from.take_maybe(|it| (it.take_u32(), reading.take_result(it)));
            let order = from.take_maybe(|from| HappensBefore {
                task: from.take_task(),
                returned: from.take_u32(),
                known: from.take_all(WireMessage::take_u32).into(),
            });
            CallOutcome { call, ret, order }
        });
        self.outcome.operations = operations;
        self.outcome.race = from.take_maybe(|from| {
            let [first, second] = [(); 2].map(|()| RacingAccess {
                task: from.take_task(),
                place: reading.take_place(from),
                access: CellAccess::ALL[from.take_index(CellAccess::ALL.len())],
                size: from.take_maybe(WireMessage::take_u32),
            });
            let remedies = from.take_all(|from| Remedy {
                kind: RemedyKind::ALL[from.take_index(RemedyKind::ALL.len())],
                place: reading.take_place(from),
            });
            DataRace { first, second, remedies }
        });
        self.outcome.leaks = from.take_all(|from| Leak { place: reading.take_place(from) });
        let mut picks = self.picks.take().unwrap_or_default();
        self.picks = from.take_maybe(|it| it.take_bytes(&mut picks)).map(|()| picks);
        self.moments = from.take_all(|from| Moment {
            step: from.take_step(),
            place: reading.take_place(from),
            offset: from.take_index(usize::from(u8::MAX) + 1) as u8,
            detail: from.take_text(),
            is_futex_wait: from.take_flag(),
            repeats: from.take_flag(),
            old_read: from.take_maybe(|from| OldRead { from: from.take_u32(), missed: from.take_u32() }),
        });
        self.pending = from.take_all(|from| Pending {
            task: from.take_task(),
            access: from.take_access(),
            object: SharedId(from.take_u32()),
            place: reading.take_place(from),
            operation: from.take_maybe(WireMessage::take_usize),
            spins: from.take_flag(),
            after: TaskSet(from.take()),
            holders: from.take_all(|from| Holder { task: from.take_task(), place: reading.take_place(from) }),
        });
    }

    /// The schedule, if recorded.
    #[must_use]
    pub fn schedule(&self) -> Option<Schedule> {
        let mut from = WireMessage::from_bytes(self.picks.clone()?);
        let mut picks = Vec::with_capacity(from.bytes().len());
        while !from.is_whole() {
            let word = from.take();
            picks.push(match (word & 1, word >> 1) {
                (0, task) => Pick::Task(TaskId(u8::try_from(task).ok().filter(|it| *it < TASKS_MAX)?)),
                (_, value) => Pick::Value(u32::try_from(value).ok()?),
            });
            if from.is_short() {
                return None;
            }
        }
        Some(Schedule(picks))
    }
}
