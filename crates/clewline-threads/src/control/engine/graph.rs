//! The engine's part of schedulers that explore execution graphs
//! ([`GraphPath`](clewline_explore::GraphPath)).
//!
//! Which tasks can move must then follow from what they have read, and not from the order in which
//! tasks have moved: a task that yields continues, and a loop waits if it has read the same
//! values again, whatever has been stored since.

use std::sync::atomic::Ordering;

use clewline_explore::{Access, AtomicStep, Ending, GraphPath, Scheduler, SharedId, Step, TaskId, TaskSet};

use super::{
    buffers::LastRead,
    state::{Control, Engine},
};
use crate::control::{
    memory::{AtomicAccess, ChoiceSource, MemoryModel},
    panics::Panic,
};

const REAL_TIME: &str = "the scheduler `graph` does not see the order of an execution, which `--real-time` asks \
                         for; use `bounded-dpor`";
const SPURIOUS: &str = "the scheduler `graph` does not explore spurious failures; use `bounded-dpor`";

const TIMEOUTS: &str = "the scheduler `graph` does not explore timeouts; use `bounded-dpor`";
const LOOPS_WITH_LOCKS: &str = "the scheduler `graph` does not decide whether a loop that takes a lock waits forever; use `bounded-dpor`";
const ONCE: &str = "the scheduler `graph` does not explore initialization that runs once; use `bounded-dpor`";

const STARTED_TASKS: &str =
    "the scheduler `graph` does not explore threads that several threads start; use `bounded-dpor`";
const EXIT: &str =
    "the scheduler `graph` does not explore programs that exit while threads run; use `bounded-dpor`";
const UNSEEN: &str = "the scheduler `graph` does not explore memory that code which is not seen may access while \
                      threads run; use `bounded-dpor`";
const MIXED: &str = "the scheduler `graph` does not explore atomic accesses of different sizes to the same bytes, or of \
                     Rust's standard library; use `bounded-dpor`";
const PRIMITIVES: &str = "the scheduler `graph` explores atomics, fences, mutexes and read-write locks of unmodified \
                      code only, and a thread uses something else; use `bounded-dpor`";

impl Engine {
    /// An execution begins. Returns why the scheduler cannot explore it, if it cannot.
    pub(in crate::control) fn refusal(&mut self, scheduler: &mut dyn Scheduler) -> Option<&'static str> {
        self.is_graph = false;
        let settings = self.weak.settings;
        let path = scheduler.fast_path()?;
        self.weak.reduces = path.on_begin(!settings.orders_by_synchronization());
        let graph = path.graph()?;
        if settings.model != MemoryModel::ReleaseAcquire {
            return None;
        }
        graph.chooses_stores(settings.stale_max);
        self.is_graph = true;
        let reasons = [
            (settings.real_time, REAL_TIME),
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

    /// `by` starts `task`.
    pub(super) fn graph_spawn(&mut self, by: TaskId, task: TaskId) {
        let starts = self.weak.starts_others.replace(by);
        if starts.is_some_and(|it| it != by) {
            return self.refuse_in_graph(STARTED_TASKS);
        }
        if let Some(graph) = self.graph() {
            graph.on_spawn(by, task);
        }
    }

    /// `me` makes `step`, which may be the end of a wait for other tasks.
    pub(super) fn graph_join(&mut self, me: TaskId, step: &Step) {
        if let (Access::Join, false, Some(graph)) = (step.access, step.after.is_empty(), self.graph()) {
            graph.on_join(me, step.after);
        }
    }

    /// Whether no other task runs, and everything that others have done happened before what `me`
    /// does.
    fn is_alone(&mut self, me: TaskId) -> bool {
        let others = TaskSet::all(self.tasks.len()).without(self.ended).without(TaskSet::only(me));
        let waits = |it: TaskId| self.tasks[it.index()].after.contains(me);
        others.iter().all(waits) && self.graph().is_none_or(|it| it.knows_all(me))
    }

    /// A task has failed. What the others do may change what it has read, so they go on; but what
    /// is reported is the execution up to here.
    pub(super) fn fail_in_graph(&mut self, panic: (TaskId, Panic)) {
        if self.panic.is_none() {
            self.weak.failed_at = (self.schedule.len(), self.steps);
            self.panic = Some(panic);
        }
    }

    /// How the execution ends, which would end with `ending`. If a task has failed, that was the
    /// end, whatever the others did since: they may have come to the end of the program.
    pub(super) fn with_failure(&mut self, ending: Ending) -> Ending {
        let is_known = matches!(ending, Ending::Redundant | Ending::Restart | Ending::Panicked);
        if !self.is_graph || self.panic.is_none() || is_known {
            return ending;
        }
        self.end_at_failure();
        Ending::Panicked
    }

    /// The execution in which a task has failed ends.
    fn end_at_failure(&mut self) {
        let (picks, steps) = self.weak.failed_at;
        self.schedule.truncate(picks);
        for times in &mut self.times {
            times.call = if times.call <= steps { times.call } else { 0 };
            times.ret = if times.ret <= steps { times.ret } else { 0 };
        }
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

    /// What `task` has read last from the atomics of `object`, as a number that other values hardly
    /// have.
    pub(super) fn value_read_before(&self, task: TaskId, object: SharedId) -> u32 {
        let same = |it: &&LastRead| (it.task, it.object) == (task, object);
        let all = self.weak.last_read.iter().filter(same);
        all.fold(0, |sum: u32, it| sum.wrapping_add(it.value.rotate_left(it.atomic.0)))
    }

    /// A task has read a value of an atomic, which schedulers see as `object`. If it is another
    /// than before, the task does not wait in a loop.
    pub(super) fn note_read(&mut self, by: AtomicAccess, object: SharedId, value: u64) {
        if !self.is_graph || self.is_replica() {
            return;
        }
        let (task, atomic) = (by.task, by.object);
        let value = (value.wrapping_add(1).wrapping_mul(0x517C_C1B7_2722_0A95) >> 32) as u32;
        self.weak.reads[task.index()] += 1;
        let read = LastRead { task, object, atomic, value, time: self.weak.reads[task.index()] };
        let known = self.weak.last_read.iter_mut().find(|it| (it.task, it.atomic) == (task, atomic));
        let is_same = known.map(|it| std::mem::replace(it, read).value == value);
        if is_same.is_none() {
            self.weak.last_read.push(read);
        }
        if is_same != Some(true) {
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
            // Those of its words that the loop reads.
            let before = self.weak.reads[task.index()].saturating_sub(self.weak.round_accesses[task.index()]);
            let is_read =
                |it: &&LastRead| (it.task, before < it.time) == (task, true) && atomics.contains(&it.object);
            let atomics: Vec<SharedId> =
                self.weak.last_read.iter().filter(is_read).map(|it| it.atomic).collect();
            is_last &= self.graph().is_none_or(|it| it.has_read_last(task, &atomics));
            self.tasks[task.index()].spins = Some(objects);
            if !is_last {
                return false;
            }
        }
        true
    }
}

/// The interface for foreign code.
impl Control {
    /// The present step is a plain access. If it races, that is found whatever the order of steps.
    pub fn note_plain_point(self) {
        let me = self.me();
        if let Some(graph) = self.engine().graph() {
            graph.on_plain_access(me);
        }
    }

    /// Whether executions are explored as graphs.
    #[inline]
    #[must_use]
    pub fn explores_graphs(self) -> bool {
        self.engine().graph().is_some()
    }

    /// Accesses race and are no violation: their order is not explored in graphs.
    pub fn note_unordered(self) {
        self.engine().refuse_in_graph(UNSEEN);
    }

    /// This task does something whose effects on others are not known.
    pub fn note_unseen_effect(self) {
        let me = self.me();
        if self.explores_graphs() && !self.engine().is_alone(me) {
            self.engine().refuse_in_graph(UNSEEN);
        }
    }

    /// An access to memory to which the memory model does not apply.
    pub(super) fn note_mixed_access(self) {
        let me = self.me();
        if self.explores_graphs() {
            match self.engine().is_alone(me) {
                true => self.note_plain_point(),
                false => self.engine().refuse_in_graph(MIXED),
            }
        }
    }

    /// This task uses what graphs do not contain.
    pub fn note_primitive(self) {
        self.engine().refuse_in_graph(PRIMITIVES);
    }

    /// This task releases the lock at `address`.
    pub fn note_unlock(self, address: usize) {
        let engine = self.engine();
        if engine.is_graph {
            let (me, id) = (engine.current, engine.objects.id(address));
            engine.graph_release(me, id);
        }
    }

    /// The program ends here.
    pub(super) fn note_exit(self) {
        let me = self.me();
        if self.explores_graphs() && !self.engine().is_alone(me) {
            self.engine().refuse_in_graph(EXIT);
        }
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
