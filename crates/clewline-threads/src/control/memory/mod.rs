//! Memory models: which stores a load may return, and the happens-before relation.
//!
//! In the sequentially consistent model an atomic holds one value, and none of this is needed
//! without race detection. Otherwise a [`MemoryState`] is kept. Each store is a *message*: a value,
//! and the [`View`] that a reader may acquire. Each task has a view. Acquiring joins the view of
//! the message that was read; releasing puts the task's own view into the message.
//! `docs/explanation/memory-models.md` describes what each model covers.
//!
//! * `view` is what a task knows.
//! * `release_acquire` lets a load read any store that is not too old, and a store take any
//!   position that is not too old.
//! * `tso` has store buffers.
//! * `foreign` is what code that was not written for these models needs: locations that other code
//!   may write, and accesses of different sizes.

mod buffer;
mod foreign;
mod origin;
mod release_acquire;
#[cfg(test)]
mod tests;
mod tso;

use std::{ops::Range, str::FromStr, sync::atomic::Ordering};

use clewline_core::{NotFound, ParseError};
use clewline_explore::{Access, AtomicStep, Schedule, SharedId, TaskClocks, TaskId, VectorClock, acquires};

pub use origin::{Loaded, Missed, Origin};

use super::{place::Place, races::CellAccesses, view::View};

/// Which stores a load may return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryModel {
    /// Always the newest store.
    #[default]
    SequentiallyConsistent,
    /// Stores wait in a buffer of their task before other tasks see them, as on x86.
    Tso,
    /// Any store that is not older than what the task has seen, as in C++ and Rust, without load
    /// buffering.
    ReleaseAcquire,
}

impl MemoryModel {
    /// Every model.
    pub const ALL: [MemoryModel; 3] =
        [MemoryModel::SequentiallyConsistent, MemoryModel::Tso, MemoryModel::ReleaseAcquire];

    /// The name used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            MemoryModel::SequentiallyConsistent => "sc",
            MemoryModel::Tso => "tso",
            MemoryModel::ReleaseAcquire => "rc11",
        }
    }

    /// The name used in sentences.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            MemoryModel::SequentiallyConsistent => "sequential consistency",
            MemoryModel::Tso => "total store order",
            MemoryModel::ReleaseAcquire => "rc11",
        }
    }

    /// The replay token of an execution under this model: `rc11:a3b=1`. Without a model, it is that
    /// of an execution under sequential consistency.
    #[must_use]
    pub fn token(self, schedule: &Schedule) -> String {
        match self {
            MemoryModel::SequentiallyConsistent => schedule.to_string(),
            model => format!("{}:{schedule}", model.name()),
        }
    }

    /// Reads a replay token: the model that it names, if it does, and the schedule.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn read_token(token: &str) -> Result<(Option<MemoryModel>, Schedule), ParseError> {
        let named = MemoryModel::ALL.into_iter().find_map(|model| {
            let rest = token.strip_prefix(model.name())?.strip_prefix(':')?;
            Some((model, rest))
        });
        match named {
            Some((model, rest)) => Ok((Some(model), rest.parse()?)),
            None => Ok((None, token.parse()?)),
        }
    }
}

impl FromStr for MemoryModel {
    type Err = NotFound;

    /// The memory model of that name.
    fn from_str(name: &str) -> Result<MemoryModel, NotFound> {
        let found = MemoryModel::ALL.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| NotFound::new("memory model", name, MemoryModel::ALL.map(MemoryModel::name)))
    }
}

/// The memory options of an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The memory model.
    pub model: MemoryModel,
    /// Whether data races are detected. They always are from the first access to an
    /// [`UnsafeCell`](crate::sync::UnsafeCell) on.
    pub races: bool,
    /// Whether `compare_exchange_weak` may fail spuriously: once per operation and place.
    pub spurious_failures: bool,
    /// Whether an operation precedes another already if it returned earlier in the execution. Under
    /// a weak memory model it otherwise precedes only those whose calls its return happens before.
    pub real_time: bool,
    /// In the release/acquire model, how many accesses of an execution may take another store, or
    /// another place in modification order, than the newest.
    pub stale_max: Option<u32>,
}

impl Memory {
    /// Whether an atomic needs more state than its value.
    pub(super) fn needs_state(self) -> bool {
        self.races || self.model != MemoryModel::SequentiallyConsistent
    }

    /// Whether happens-before determines which operations precede which.
    #[must_use]
    pub fn orders_by_synchronization(self) -> bool {
        self.model != MemoryModel::SequentiallyConsistent && !self.real_time
    }
}

/// A store.
#[derive(Clone, Debug)]
struct Message {
    // Orders the stores of a location.
    stamp: u64,
    value: u64,
    // The view that an acquiring load joins.
    view: View,
    // A read-modify-write has read it: no store comes between the two.
    is_followed: bool,
    origin: Origin,
}

/// The state of an object.
#[derive(Debug, Default)]
struct Location {
    // Of an atomic, in modification order. Only the release/acquire model keeps more than the last.
    messages: Vec<Message>,
    // The stamp of its first message: the stores of earlier objects at the address have lower ones.
    first_stamp: u64,
    // The value that the atomic itself holds. If it holds another value, it is a different atomic
    // at the same address.
    held: u64,
    // Of a lock or a channel: the view that its next owner joins.
    sync: View,
    // Of a lock: the view of those that held it shared, which its next exclusive owner joins.
    shared_sync: View,
    // Of a cell.
    cell_accesses: CellAccesses,
    // Of an atomic of foreign code: its size in bytes; 0 if it is not known.
    size: u8,
    // Of a word of foreign code: accesses of different sizes overlap in it.
    is_mixed: bool,
    // Of such a word: the value that code which is seen has left there, if it is known.
    known: Option<u64>,
}

#[derive(Debug, Default)]
struct TaskState {
    clocks: TaskClocks<View>,
    // The views of the tasks that woke it.
    waker_view: View,
    buffer: buffer::Buffer,
}

/// The nondeterministic choices of the models.
pub(super) trait ChoiceSource {
    /// A number below `n`.
    fn value(&mut self, n: u32) -> u32;

    /// The number of the store to read, or to come after, if a scheduler of graphs chooses it.
    fn store(&mut self, _access: AtomicStep<'_>) -> Option<usize> {
        None
    }

    /// The store that was chosen has this number among `n`; 0 is the usual one. `None`: the model
    /// does not allow it.
    fn note_store(&mut self, _number: Option<usize>, _n: usize) {}

    /// Whether a `compare_exchange_weak` at `place` that could succeed fails spuriously.
    fn fails_spuriously(&mut self, place: Place) -> bool;
}

/// An atomic access: its task, object, place and ordering.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomicAccess {
    pub(super) task: TaskId,
    pub(super) object: SharedId,
    pub(super) place: Place,
    pub(super) order: Ordering,
}

/// A read-modify-write.
pub struct ReadModifyWrite<'a> {
    /// The new value; `None` leaves the old one.
    pub make: &'a mut dyn FnMut(u64) -> Option<u64>,
    /// The ordering of the read if the value is left.
    pub failure: Ordering,
    /// Whether it may fail spuriously.
    pub may_fail: bool,
}

impl std::fmt::Debug for ReadModifyWrite<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadModifyWrite").field("failure", &self.failure).finish_non_exhaustive()
    }
}

/// The effect of a read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UpdateResult {
    pub(super) read: Loaded,
    /// The new value, and its store; `None` if it only read.
    pub(super) new: Option<(u64, Origin)>,
}

/// The memory of one execution.
#[derive(Debug)]
pub(super) struct MemoryState {
    model: MemoryModel,
    tasks: Vec<TaskState>,
    locations: Vec<Location>,
    // Of each location, the newest store known to the total order of sequentially consistent
    // accesses and fences.
    sc_order: Vec<u64>,
    // How many times an old store was read at the same place: a loop does not do so forever.
    stale_reads: Vec<(TaskId, Place, SharedId, u64, u32)>,
    // How many more accesses may take another store than the newest.
    stale_left: u32,
    stale_max: u32,
    // Whether an access was not offered another one for this reason.
    is_cut_short: bool,
    // Whether the step depends on more than its object and what its task knows, or changes more.
    has_global_effect: bool,
    // The number of stores.
    stores: u32,
    // The number of the current step. Not part of an access: that is on the stack of its task,
    // which must look the same in each round of a loop that waits.
    step: u32,
    // What tasks have released to code that is not seen: for each location, the newest store.
    released_unseen: Vec<u64>,
}

impl MemoryState {
    pub(super) fn new(memory: Memory) -> MemoryState {
        let stale_max = memory.stale_max.unwrap_or(u32::MAX);
        MemoryState {
            model: memory.model,
            tasks: Vec::new(),
            locations: Vec::new(),
            sc_order: Vec::new(),
            stale_reads: Vec::new(),
            stale_left: stale_max,
            stale_max,
            is_cut_short: false,
            has_global_effect: false,
            stores: 0,
            step: 0,
            released_unseen: Vec::new(),
        }
    }

    /// Begins another execution.
    pub(super) fn clear(&mut self) {
        self.tasks.clear();
        self.locations.clear();
        self.sc_order.clear();
        self.stale_reads.clear();
        (self.stale_left, self.stores) = (self.stale_max, 0);
        self.released_unseen.clear();
    }

    /// Whether some access of any execution could not take an older store only because
    /// [too many](Memory::stale_max) had done so before.
    pub(super) fn is_cut_short(&self) -> bool {
        self.is_cut_short
    }

    /// Whether the order of the current step with every other one matters. Other steps commute if
    /// they access different objects, or both read.
    pub(super) fn take_global_effect(&mut self) -> bool {
        std::mem::take(&mut self.has_global_effect)
    }

    /// The step with this number begins.
    pub(super) fn set_step(&mut self, step: u32) {
        self.step = step;
    }

    /// Counts a store of `by`.
    fn new_store(&mut self, by: AtomicAccess) -> Origin {
        self.stores += 1;
        Origin { number: self.stores, task: by.task, step: self.step }
    }

    /// Adds the memory that the state uses.
    pub(super) fn own_memory(&self, to: &mut Vec<Range<usize>>) {
        fn add<T>(to: &mut Vec<Range<usize>>, items: &[T]) {
            let range = items.as_ptr_range();
            to.push(range.start.addr()..range.end.addr());
        }
        add(to, std::slice::from_ref(self));
        add(to, &self.tasks);
        add(to, &self.locations);
        add(to, &self.sc_order);
        for location in &self.locations {
            add(to, &location.messages);
            to.push(location.cell_accesses.own_memory());
        }
    }

    fn task(&mut self, task: TaskId) -> &mut TaskState {
        while self.tasks.len() <= task.index() {
            let mut state = TaskState::default();
            state.clocks.now.tick(TaskId(self.tasks.len() as u8));
            self.tasks.push(state);
        }
        &mut self.tasks[task.index()]
    }

    fn at(&mut self, object: SharedId) -> &mut Location {
        let at = object.0 as usize;
        if self.locations.len() <= at {
            self.locations.resize_with(at + 1, Location::default);
        }
        &mut self.locations[at]
    }

    /// The atomic that `by` accesses, which holds `held`.
    fn atomic(&mut self, by: AtomicAccess, held: u64) -> &mut Location {
        self.task(by.task);
        let location = self.at(by.object);
        if location.messages.is_empty() || location.held != held {
            location.held = held;
            location.messages.clear();
            let (stamp, view, origin) = (location.first_stamp, View::default(), Origin::INITIAL);
            location.messages.push(Message { stamp, value: held, view, is_followed: false, origin });
        }
        location
    }

    /// The value of an atomic after all stores have taken effect.
    pub(super) fn held(&mut self, object: SharedId) -> u64 {
        self.at(object).held
    }

    /// A load from an atomic that holds `held`.
    pub(super) fn load(&mut self, by: AtomicAccess, held: u64, ask: &mut dyn ChoiceSource) -> Loaded {
        self.atomic(by, held);
        if let Some((value, origin)) = self.tasks[by.task.index()].buffer.newest(by.object) {
            return Loaded { value, origin, missed: None };
        }
        let at = match self.model {
            MemoryModel::SequentiallyConsistent | MemoryModel::Tso => 0,
            MemoryModel::ReleaseAcquire => self.choose_load(by, ask),
        };
        self.read(by, at)
    }

    /// A store to an atomic that holds `held`. Returns the value that it must hold from now on.
    pub(super) fn store(
        &mut self,
        by: AtomicAccess,
        value: u64,
        held: u64,
        ask: &mut dyn ChoiceSource,
    ) -> (u64, Origin) {
        self.atomic(by, held);
        let (view, origin) = (self.released(by), self.new_store(by));
        match self.model {
            MemoryModel::SequentiallyConsistent => self.replace(by, value, view, origin),
            MemoryModel::Tso if by.order == Ordering::SeqCst => self.replace(by, value, view, origin),
            MemoryModel::Tso => {
                self.tasks[by.task.index()].buffer.push(by.object, value, view, origin);
                self.at(by.object).held = value;
            }
            MemoryModel::ReleaseAcquire => self.place_store(by, value, view, origin, ask),
        }
        (self.at(by.object).held, origin)
    }

    /// A read-modify-write of an atomic that holds `held`.
    pub(super) fn update(
        &mut self,
        by: AtomicAccess,
        change: &mut ReadModifyWrite<'_>,
        held: u64,
        ask: &mut dyn ChoiceSource,
    ) -> UpdateResult {
        self.atomic(by, held);
        let at = match self.model {
            MemoryModel::SequentiallyConsistent | MemoryModel::Tso => 0,
            MemoryModel::ReleaseAcquire => self.choose_update(by, change, ask),
        };
        let old = self.at(by.object).messages[at].value;
        let new = (change.make)(old).filter(|_| !(change.may_fail && ask.fails_spuriously(by.place)));
        let Some(new) = new else {
            let read = self.read(AtomicAccess { order: change.failure, ..by }, at);
            return UpdateResult { read, new: None };
        };
        let (read, origin) = (self.read(by, at), self.new_store(by));
        let mut view = self.locations[by.object.0 as usize].messages[at].view.clone();
        self.tasks[by.task.index()].clocks.update(by.task, by.order, &mut view);
        match self.model {
            MemoryModel::SequentiallyConsistent | MemoryModel::Tso => self.replace(by, new, view, origin),
            MemoryModel::ReleaseAcquire => self.follow(by, at, new, view, origin),
        }
        UpdateResult { read, new: Some((new, origin)) }
    }

    /// Reads message `at`, with all its effects.
    fn read(&mut self, by: AtomicAccess, at: usize) -> Loaded {
        let messages = &self.locations[by.object.0 as usize].messages;
        let message = &messages[at];
        let task = &mut self.tasks[by.task.index()];
        task.clocks.now.saw(by.object, message.stamp);
        task.clocks.read(by.order, &message.view);
        if acquires(by.order) && !self.released_unseen.is_empty() {
            task.clocks.now.join_stores(&self.released_unseen);
        }
        let newer = messages.last().filter(|_| at + 1 != messages.len());
        let newer = newer.map(|it| Missed { value: it.value, origin: it.origin, is_buffered: false });
        let mut loaded = Loaded { value: message.value, origin: message.origin, missed: newer };
        let stamp = message.stamp;
        if by.order == Ordering::SeqCst {
            // Two loads do not commute if the first excludes what the second could read.
            self.has_global_effect |= self.advance_sc_order(by.object, stamp);
        }
        if self.model == MemoryModel::Tso {
            loaded.missed = self.buffered_elsewhere(by);
        }
        loaded
    }

    /// The view that a store with this ordering releases.
    fn released(&mut self, by: AtomicAccess) -> View {
        let mut view = View::default();
        self.tasks[by.task.index()].clocks.store(by.task, by.order, &mut view);
        view
    }

    /// Replaces the only store, in models that keep just one.
    fn replace(&mut self, by: AtomicAccess, value: u64, view: View, origin: Origin) {
        let location = self.at(by.object);
        location.messages.clear();
        location.messages.push(Message { stamp: 0, value, view, is_followed: false, origin });
        location.held = value;
    }

    /// Returns whether it was less before.
    fn advance_sc_order(&mut self, object: SharedId, stamp: u64) -> bool {
        let at = object.0 as usize;
        if self.sc_order.len() <= at {
            self.sc_order.resize(at + 1, 0);
        }
        let before = self.sc_order[at];
        self.sc_order[at] = before.max(stamp);
        before < stamp
    }

    /// A fence of `task`.
    pub(super) fn fence(&mut self, task: TaskId, order: Ordering) {
        self.task(task);
        let clocks = &mut self.tasks[task.index()].clocks;
        clocks.acquire_fence(order);
        if acquires(order) && !self.released_unseen.is_empty() {
            clocks.now.join_stores(&self.released_unseen);
        }
        if order == Ordering::SeqCst {
            clocks.now.join_stores(&self.sc_order);
            let stores = clocks.now.stores();
            if self.sc_order.len() < stores.len() {
                self.sc_order.resize(stores.len(), 0);
            }
            for (total, mine) in self.sc_order.iter_mut().zip(stores) {
                *total = (*total).max(*mine);
            }
        }
        clocks.release_fence(task, order);
    }

    /// `task` acquires a lock or a similar object: what its previous owners did happens before.
    /// Those that held it shared release it to exclusive owners only.
    pub(super) fn acquire(&mut self, task: TaskId, object: SharedId, access: Access) {
        self.task(task);
        self.at(object);
        let clocks = &mut self.tasks[task.index()].clocks;
        clocks.now.join(&self.locations[object.0 as usize].sync);
        if !access.is_shared() {
            clocks.now.join(&self.locations[object.0 as usize].shared_sync);
        }
        if !self.released_unseen.is_empty() {
            clocks.now.join_stores(&self.released_unseen);
        }
    }

    /// `task` releases it; it was acquired with `access`.
    pub(super) fn release(&mut self, task: TaskId, object: SharedId, access: Access) {
        self.task(task);
        self.at(object);
        let view = &mut self.tasks[task.index()].clocks.now;
        let location = &mut self.locations[object.0 as usize];
        let sync = if access.is_shared() { &mut location.shared_sync } else { &mut location.sync };
        sync.join(view);
        view.tick(task);
    }

    /// `by` wakes `task`, which joins the view of `by` when it continues.
    pub(super) fn wake(&mut self, by: TaskId, task: TaskId) {
        self.task(task);
        let view = self.publish(by);
        self.tasks[task.index()].waker_view.join(&view);
    }

    /// `task` was woken.
    pub(super) fn woken(&mut self, task: TaskId) {
        let task = self.task(task);
        task.clocks.now.join(&task.waker_view);
    }

    /// `child` begins with the view of `parent`.
    pub(super) fn begin_after(&mut self, child: TaskId, parent: TaskId) {
        let view = self.publish(parent);
        self.task(child).clocks.now.join(&view);
    }

    /// What `task` knows. It begins another interval.
    pub(super) fn publish(&mut self, task: TaskId) -> View {
        let it = self.task(task);
        let view = it.clocks.now.clone();
        it.clocks.now.tick(task);
        view
    }

    /// The interval in which `task` is.
    pub(super) fn interval(&mut self, task: TaskId) -> u32 {
        self.task(task).clocks.now.time(task)
    }

    /// The view of `task`, and the accesses to the cell `object`.
    pub(super) fn cell(&mut self, task: TaskId, object: SharedId) -> (&View, &mut CellAccesses) {
        self.task(task);
        self.at(object);
        (&self.tasks[task.index()].clocks.now, &mut self.locations[object.0 as usize].cell_accesses)
    }
}
