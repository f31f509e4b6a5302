//! The engine's part of schedulers that explore execution graphs
//! ([`GraphPath`](clewline_explore::GraphPath)).
//!
//! Which tasks can move must then follow from what they have read, and not from the order in which
//! tasks have moved: a task that yields continues, and a loop waits if it has read the same
//! values again, whatever has been stored since.

use std::sync::atomic::Ordering;

use clewline_explore::{Access, AtomicStep, Ending, GraphPath, Scheduler, SharedId, Step, TaskId, TaskSet};

use super::state::{Control, Engine};
use crate::control::memory::{AtomicAccess, ChoiceSource, MemoryModel};

const MODEL: &str = "the scheduler `graph` explores `--memory-model sc` and `rc11` only; use `bounded-dpor`";
const FOREIGN: &str = "the scheduler `graph` does not explore unmodified code; use `bounded-dpor`";
const REAL_TIME: &str = "the scheduler `graph` does not see the order of an execution, which `--real-time` asks \
                         for; use `bounded-dpor`";
const STALE_READS: &str = "the scheduler `graph` has no bound of stale reads; use `bounded-dpor`";
const SPURIOUS: &str = "the scheduler `graph` does not explore spurious failures; use `bounded-dpor`";

const TIMEOUTS: &str = "the scheduler `graph` does not explore timeouts; use `bounded-dpor`";
const LOOPS_WITH_LOCKS: &str = "the scheduler `graph` does not decide whether a loop that takes a lock waits forever; use `bounded-dpor`";
const ONCE: &str = "the scheduler `graph` does not explore initialization that runs once; use `bounded-dpor`";

pub(super) const STARTED_TASKS: &str =
    "the scheduler `graph` does not explore threads that other threads start; use `bounded-dpor`";

impl Engine {
    /// An execution begins. Returns why the scheduler cannot explore it, if it cannot.
    pub(in crate::control) fn refusal(&mut self, scheduler: &mut dyn Scheduler) -> Option<&'static str> {
        self.is_graph = false;
        let settings = self.weak.settings;
        let graph = scheduler.fast_path().and_then(|it| it.graph())?;
        if settings.model == MemoryModel::SequentiallyConsistent {
            return None;
        }
        graph.chooses_stores();
        self.is_graph = true;
        let reasons = [
            (self.foreign.is_some(), FOREIGN),
            (settings.model == MemoryModel::Tso, MODEL),
            (settings.real_time, REAL_TIME),
            (settings.stale_max.is_some(), STALE_READS),
            (settings.spurious_failures || self.limits.spurious != 0, SPURIOUS),
        ];
        reasons.into_iter().find(|it| it.0).map(|it| it.1)
    }

    /// The scheduler, if it explores graphs and is asked.
    pub(super) fn graph(&mut self) -> Option<&mut dyn GraphPath> {
        if !self.is_graph || self.is_free || self.is_ending || self.ending.is_some() || self.is_replica() {
            return None;
        }
        self.scheduler().graph()
    }

    /// What happens next cannot be explored as a graph.
    #[cold]
    pub(super) fn refuse_in_graph(&mut self, reason: &'static str) {
        if self.graph().is_some() {
            self.end_with(Ending::Refused(reason));
        }
    }

    /// `task` begins.
    pub(super) fn graph_start(&mut self, task: TaskId) {
        let after = self.tasks[task.index()].after;
        if let Some(graph) = self.graph() {
            graph.on_start(task, after);
        }
    }

    /// `me` makes `step`, and accesses another object than an atomic if it is one of these.
    pub(super) fn graph_object(&mut self, me: TaskId, step: &Step) {
        let is_lock = matches!(step.access, Access::Acquire | Access::AcquireShared);
        let is_object =
            is_lock || matches!(step.access, Access::Wait | Access::Notify | Access::Park | Access::Unpark);
        if !is_object || self.is_replica() {
            return;
        }
        let task = &self.tasks[me.index()];
        if self.waiting.contains(me) && task.until.has_timeout() {
            return self.refuse_in_graph(TIMEOUTS);
        }
        let version = self.objects.state(step.object).version;
        if replaced(&mut self.weak.last_version, me, step.object, version) {
            self.spinning.remove(me);
            self.tasks[me.index()].spins = None;
        }
        let (order, object, access) = (Ordering::Relaxed, step.object, step.access);
        let writes = &mut |_: usize| true;
        let step = AtomicStep { task: me, object, access, order, failure: order, stores: 1, writes };
        ChoiceSource::store(self, step);
    }

    /// `me` has released `object`.
    pub(super) fn graph_release(&mut self, me: TaskId, object: SharedId) {
        if let Some(graph) = self.graph() {
            graph.on_release(me, object);
        }
    }

    /// The execution ends: tells which tasks wait for locks.
    #[cold]
    pub(super) fn graph_blocked(&mut self) {
        // A loop that waits could go on, but does not.
        let blocked = self.started.without(self.ended).without(self.spinning);
        for task in blocked.intersection(self.waiting) {
            let task = &self.tasks[task.index()];
            let is_lock = matches!(task.pending.access, Access::Acquire | Access::AcquireShared);
            let is_woken = task.is_woken || !task.until.is_woken();
            let step = task.pending;
            if let Some(graph) = self.graph().filter(|_| is_lock && is_woken) {
                graph.on_blocked(&step);
            }
        }
    }

    /// The tasks that can move: also waiting ones, if their next step was executed before.
    pub(super) fn graph_movable(&mut self, movable: TaskSet) -> TaskSet {
        let is_replaying = self.graph().is_some_and(|it| it.is_replaying());
        if is_replaying { movable.union(self.spinning) } else { movable }
    }

    /// What `task` has read last from `object`, as a number that other values hardly have.
    pub(super) fn value_read_before(&self, task: TaskId, object: SharedId) -> u32 {
        let same = |it: &&(TaskId, SharedId, u32)| (it.0, it.1) == (task, object);
        self.weak.last_read.iter().find(same).map_or(0, |it| it.2)
    }

    /// A task has read a value. If it is another than before, the task does not wait in a loop.
    pub(super) fn note_read(&mut self, by: AtomicAccess, value: u64) {
        if !self.is_graph || self.is_replica() {
            return;
        }
        let value = (value.wrapping_add(1).wrapping_mul(0x517C_C1B7_2722_0A95) >> 32) as u32;
        if replaced(&mut self.weak.last_read, by.task, by.object, value) {
            self.spinning.remove(by.task);
            self.tasks[by.task.index()].spins = None;
        }
    }

    /// Nothing but loops that wait can move. Returns how the execution ends, if that is known.
    pub(super) fn graph_wait(&mut self) -> Option<Ending> {
        if self.is_free {
            return Some(Ending::Stuck);
        }
        if self.is_graph && !self.has_read_last() {
            return Some(Ending::Redundant);
        }
        (self.is_graph && self.waits_with_locks()).then_some(Ending::Refused(LOOPS_WITH_LOCKS))
    }

    /// Whether a task that waits in a loop takes a lock, or the like, in each round.
    fn waits_with_locks(&self) -> bool {
        let waits = |task: TaskId, object: &SharedId| {
            self.weak.last_version.iter().any(|it| (it.0, it.1) == (task, *object))
        };
        let objects = |task: TaskId| self.tasks[task.index()].spins.iter().flatten();
        self.spinning.iter().any(|task| objects(task).any(|it| waits(task, it)))
    }

    /// Whether all tasks that wait in loops have read the last stores.
    fn has_read_last(&mut self) -> bool {
        for task in self.spinning {
            let objects = self.tasks[task.index()].spins.take().unwrap_or_default();
            let version = |object: SharedId| {
                let same = |it: &&(TaskId, SharedId, u32)| (it.0, it.1) == (task, object);
                self.weak.last_version.iter().find(same).map(|it| it.2)
            };
            // Of another object than an atomic, what counts is whether it has changed since.
            let (others, atomics): (Vec<SharedId>, Vec<SharedId>) =
                objects.iter().partition(|it| version(**it).is_some());
            let mut is_last = others.iter().all(|it| version(*it) == Some(self.objects.state(*it).version));
            is_last &= self.graph().is_none_or(|it| it.has_read_last(task, &atomics));
            self.tasks[task.index()].spins = Some(objects);
            if !is_last {
                return false;
            }
        }
        true
    }
}

impl Control {
    /// A one-time initialization.
    pub(crate) fn note_once(self) {
        self.engine().refuse_in_graph(ONCE);
    }
}

/// Sets what `known` has for `task` and `object`. Returns whether that is something else than
/// before.
fn replaced(known: &mut Vec<(TaskId, SharedId, u32)>, task: TaskId, object: SharedId, value: u32) -> bool {
    match known.iter_mut().find(|it| (it.0, it.1) == (task, object)) {
        Some(it) => std::mem::replace(&mut it.2, value) != value,
        None => {
            known.push((task, object, value));
            true
        }
    }
}
