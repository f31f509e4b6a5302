//! The engine's part of [memory models](super::super::memory) and [races](super::super::races).
//!
//! A sequentially consistent exploration without race detection does not use this module.
//!
//! A store buffer is a task without a body. Each task has one; it is ended whenever the buffer is
//! empty, and its steps are [flushes](Access::Flush), which the engine makes itself. What waits for
//! an empty buffer waits for the end of that task.

use std::{ptr, sync::atomic::Ordering};

use clewline_explore::{Access, AtomicStep, Choice, Diverged, Ending, Pick, SharedId, Step, TaskId};

use super::{
    super::{
        memory::{AtomicAccess, ChoiceSource, Loaded, Memory, MemoryModel, MemoryState, ReadModifyWrite},
        races::{CellAccess, DataRace, RacingAccess},
        view::HappensBefore,
    },
    buffers::WriteBack,
    state::{Control, Engine, Task},
};
use crate::control::place::Place;

const COUNTS: &str = "the scheduler `graph` does not explore reference counts; use `bounded-dpor`";

/// The effect of an update, and the value that the atomic must hold now.
pub(crate) struct Update {
    pub(crate) read: Loaded,
    pub(crate) new: Option<u64>,
    pub(crate) held: u64,
}

impl ChoiceSource for Engine {
    fn value(&mut self, n: u32) -> u32 {
        // The next load may return something else, so the task is not in a useless loop.
        let me = self.current;
        let task = &mut self.tasks[me.index()];
        task.rounds.clear();
        if task.spins.take().is_some() {
            self.spinning.remove(me);
        }
        Engine::value(self, n)
    }

    fn store(&mut self, access: AtomicStep<'_>) -> Option<usize> {
        let newest = access.stores - 1;
        let ending = match self.graph()?.choose_store(access) {
            Choice::Step(number) => return Some(number),
            Choice::Redundant | Choice::Stop => Ending::Redundant,
            Choice::Diverged(diverged) => Ending::Diverged(diverged),
            Choice::Refused(reason) => Ending::Refused(reason),
        };
        self.end_with(ending);
        Some(newest)
    }

    fn note_store(&mut self, number: Option<usize>, n: usize) {
        match number {
            // As another scheduler would choose it, so that the schedule can be replayed.
            Some(number) if 2 <= n => self.schedule.push(Pick::Value(number as u32)),
            Some(_) => (),
            None => self.end_with(Ending::Diverged(Box::new(Diverged {
                step: self.steps as usize,
                expected: Vec::new(),
                found: Vec::new(),
                is_foreign: false,
            }))),
        }
    }

    fn fails_spuriously(&mut self, place: Place) -> bool {
        if !self.weak.settings.spurious_failures {
            return false;
        }
        let me = self.current;
        let failure = (me, self.tasks[me.index()].operation, place);
        let fails = !self.weak.spurious_failures.contains(&failure) && ChoiceSource::value(self, 2) == 1;
        if fails {
            self.weak.spurious_failures.push(failure);
        }
        fails
    }
}

impl Control {
    /// Whether an atomic needs more state than its value.
    #[inline(always)]
    pub(crate) fn is_weak(self) -> bool {
        self.engine().memory.is_some()
    }

    /// Whether it still has one value at a time, and needs the state only for race detection.
    pub(crate) fn is_sequential(self) -> bool {
        self.engine().weak.settings.model == MemoryModel::SequentiallyConsistent
    }

    fn by<T: ?Sized>(self, object: &T, order: Ordering, place: Place) -> AtomicAccess {
        let engine = self.engine();
        let object = engine.objects.id(ptr::from_ref(object).cast::<()>() as usize);
        AtomicAccess { task: engine.current, object, place, order }
    }

    /// Runs `act` with the memory state, separated from the rest of the engine.
    pub(super) fn with<R>(self, act: impl FnOnce(&mut MemoryState, &mut Engine) -> R) -> R {
        let engine = self.engine();
        let mut memory = engine.memory.take().expect("an atomic is more than its value");
        memory.set_step(engine.steps);
        let result = act(&mut memory, engine);
        if memory.take_global_effect()
            && let Some(step) = &mut engine.step
        {
            step.yields = true;
        }
        engine.memory = Some(memory);
        result
    }

    /// Loads from an atomic, which holds `held`.
    #[cold]
    #[track_caller]
    pub(crate) fn weak_load<T>(self, object: &T, order: Ordering, held: &dyn Fn() -> u64) -> Loaded {
        let place = Place::caller();
        self.access(object, Access::Read);
        let by = self.by(object, order, place);
        // `held` panics on an invalid ordering; then the memory state must be in its place.
        let held = held();
        let loaded = self.with(|memory, engine| memory.load(by, held, engine));
        self.note_old_read(loaded);
        self.engine().note_read(by, by.object, loaded.value);
        loaded
    }

    /// Stores to an atomic, which holds `held`. Returns the value that it must hold from now on.
    #[cold]
    #[track_caller]
    pub(crate) fn weak_store<T>(
        self,
        object: &T,
        value: u64,
        order: Ordering,
        held: &dyn Fn() -> u64,
        write_back: WriteBack,
    ) -> u64 {
        let place = Place::caller();
        let is_tso = self.engine().weak.settings.model == MemoryModel::Tso;
        let waits = is_tso && order == Ordering::SeqCst;
        self.access(object, self.access_of_store(order));
        if is_tso && !waits && !self.engine().has_room_for_buffer() {
            self.cut_for_tasks(place);
        }
        let by = self.by(object, order, place);
        let old = held();
        let (held, _) = self.with(|memory, engine| memory.store(by, value, old, engine));
        let engine = self.engine();
        if is_tso && !waits {
            engine.tasks[by.task.index()].rounds.clear();
            engine.note_buffered(by, ptr::from_ref(object).cast(), write_back);
        } else if engine.weak.settings.model == MemoryModel::ReleaseAcquire || old != value {
            engine.changed(by.object);
        }
        held
    }

    /// Updates an atomic with `change`; `None` leaves it unchanged.
    #[cold]
    #[track_caller]
    pub(crate) fn weak_update<T>(
        self,
        object: &T,
        order: Ordering,
        change: &mut ReadModifyWrite<'_>,
        held: &dyn Fn() -> u64,
    ) -> Update {
        let place = Place::caller();
        self.access(object, Access::Update);
        let by = self.by(object, order, place);
        let held = held();
        let updated = self.with(|memory, engine| memory.update(by, change, held, engine));
        self.note_old_read(updated.read);
        let engine = self.engine();
        engine.note_read(by, by.object, updated.read.value);
        let (read, new) = (updated.read, updated.new.map(|it| it.0));
        if new.is_some_and(|new| new != read.value) {
            engine.changed(by.object);
        }
        let held = self.with(|memory, _| memory.held(by.object));
        Update { read, new, held }
    }

    /// A fence.
    #[track_caller]
    pub(crate) fn fence(self, order: Ordering) {
        self.fence_at(order, Place::caller());
    }

    /// A fence at this place.
    pub fn fence_at(self, order: Ordering, place: Place) {
        if !self.is_weak() {
            return;
        }
        let engine = self.engine();
        if order == Ordering::SeqCst && engine.weak.settings.model != MemoryModel::SequentiallyConsistent {
            self.arrive(SharedId::NONE, super::types::Attempt::new(Access::Fence), place);
        }
        let me = self.me();
        if let Some(graph) = self.engine().graph() {
            graph.on_fence(me, order);
        }
        self.with(|memory, _| memory.fence(me, order));
    }

    /// Whether a `compare_exchange_weak` that could succeed fails spuriously.
    #[inline]
    #[track_caller]
    pub(crate) fn fails_spuriously_here(self) -> bool {
        ChoiceSource::fails_spuriously(self.engine(), Place::caller())
    }

    /// The caller has exclusive access to the atomic, or it is dropped: no store to it stays
    /// buffered, and the next object at its address is a different one. Returns its value if that
    /// differs from the value it holds.
    #[cold]
    pub(crate) fn weak_forget<T: ?Sized>(self, object: &T) -> Option<u64> {
        let by = self.by(object, Ordering::Relaxed, Place::caller());
        let last = self.engine().forget_buffered(by.object);
        self.forget(object);
        last
    }

    /// A point before an access to the object at `address`, which is neither a lock nor an atomic.
    #[track_caller]
    pub(crate) fn visit_at(self, address: usize, access: Access) {
        let engine = self.engine();
        let id = engine.objects.id(address);
        engine.refuse_in_graph(COUNTS);
        self.arrive(id, super::types::Attempt::new(access), Place::caller());
        if access == Access::Update {
            self.engine().changed(id);
        }
    }

    /// The same for reference counts, which matter only if a task observes them.
    #[track_caller]
    pub(crate) fn count(self, address: usize, access: Access) {
        if self.engine().weak.counts_matter && !std::thread::panicking() {
            self.visit_at(address, access);
        }
    }

    /// A task observes reference counts. If none has so far, the exploration restarts.
    pub(crate) fn observe_counts(self) {
        let engine = self.engine();
        if !engine.weak.counts_matter {
            engine.weak.counts_matter = true;
            engine.end_with(Ending::Restart);
        }
    }

    /// Everything that tasks did before they [released](Self::release_at) the object at `address`
    /// happens before what this task does next.
    pub(crate) fn acquire_at(self, address: usize) {
        if self.is_weak() {
            let engine = self.engine();
            engine.refuse_in_graph(COUNTS);
            let (me, id) = (engine.current, engine.objects.id(address));
            self.with(|memory, _| memory.acquire(me, id, Access::Acquire));
        }
    }

    /// The counterpart of [`acquire_at`](Self::acquire_at).
    pub(crate) fn release_at(self, address: usize) {
        if self.is_weak() {
            let engine = self.engine();
            let (me, id) = (engine.current, engine.objects.id(address));
            self.with(|memory, _| memory.release(me, id, Access::Acquire));
        }
    }

    /// The object at `address` is dropped.
    pub(crate) fn forget_at(self, address: usize) {
        self.engine().objects.forget(address);
    }

    /// An access to a cell. If race detection was off so far, the exploration restarts with it.
    #[track_caller]
    pub(crate) fn access_cell<T: ?Sized>(self, cell: &T, touch: CellAccess) {
        let place = Place::caller();
        if !self.is_weak() {
            return self.engine().enable_race_detection();
        }
        let by = self.by(cell, Ordering::Relaxed, place);
        let race = self.with(|memory, _| {
            let (view, touches) = memory.cell(by.task, by.object);
            touches.record(RacingAccess { task: by.task, place, access: touch, size: None }, view)
        });
        if let Some(race) = race {
            self.note_race(race);
        }
    }

    /// A race was found. The first certain one of an execution is kept.
    pub(super) fn note_race(self, race: DataRace) {
        let known = &mut self.engine().weak.race;
        if known.as_ref().is_none_or(|it| !it.is_certain() && race.is_certain()) {
            *known = Some(race);
        }
    }
}

impl Engine {
    /// Sets the memory options from the next execution on.
    pub(in crate::control) fn set_memory(&mut self, memory: Memory) {
        (self.weak.settings, self.weak.is_irregular) = (memory, false);
        self.memory = None;
        self.has_release_points |= self.has_buffers();
    }

    /// Whether stores are buffered. Then the release of a lock waits for the stores before it.
    pub(super) fn has_buffers(&self) -> bool {
        self.weak.settings.model == MemoryModel::Tso
    }

    pub(super) fn set_points_of_memory(&mut self, points: super::types::ExtraPoints) {
        self.weak.counts_matter = points.counts;
        self.weak.settings.races |= points.races;
    }

    pub(in crate::control) fn race(&self) -> Option<DataRace> {
        self.weak.race.clone()
    }

    pub(in crate::control) fn is_cut_short(&self) -> bool {
        self.memory.as_ref().is_some_and(|it| it.is_cut_short())
    }

    /// Begins another execution.
    pub(super) fn prepare_memory(&mut self) {
        self.weak.clear();
        let settings = self.weak.settings;
        if settings.needs_state() {
            self.memory.get_or_insert_with(|| Box::new(MemoryState::new(settings))).clear();
        }
    }

    /// The place of an operation in happens-before, if that determines which precede which.
    pub(in crate::control) fn order(&self, operation: usize) -> Option<HappensBefore> {
        self.weak.orders.get(operation).cloned()
    }

    #[cold]
    pub(super) fn note_call(&mut self, operation: u32) {
        let me = self.current;
        // An operation does not happen before itself: its return is in a later interval.
        let known = self.memory().publish(me).into_times();
        self.weak.orders[operation as usize] = HappensBefore { task: me, returned: 0, known };
    }

    #[cold]
    pub(super) fn note_return(&mut self, operation: u32) {
        let me = self.current;
        self.weak.orders[operation as usize].returned = self.memory().interval(me);
    }

    fn enable_race_detection(&mut self) {
        if !self.weak.settings.races {
            self.weak.settings.races = true;
            self.end_with(Ending::Restart);
        }
    }

    pub(super) fn memory(&mut self) -> &mut MemoryState {
        self.memory.as_mut().expect("asked for only if there is one")
    }

    /// `task` begins, after the tasks it waited for.
    #[cold]
    pub(super) fn memory_start(&mut self, task: TaskId) {
        for other in self.tasks[task.index()].after {
            self.memory().begin_after(task, other);
        }
    }

    /// `me` makes `step`: what it waited for happens before it.
    #[cold]
    pub(super) fn memory_begin(&mut self, me: TaskId, step: &Step, is_woken: bool) {
        self.weak.has_acquired = false;
        for other in step.after.without(self.weak.buffers) {
            self.memory().begin_after(me, other);
        }
        if self.is_graph {
            self.graph_join(me, step);
            self.graph_object(me, step);
        }
        // Foreign code reports what its locks order.
        if self.foreign.is_some() {
            return;
        }
        if is_woken {
            self.memory().woken(me);
        }
        let learns = matches!(
            step.access,
            Access::Acquire
                | Access::AcquireShared
                | Access::Wait
                | Access::Receive
                | Access::Park
                | Access::Await
        );
        if learns && step.object != SharedId::NONE {
            self.memory().acquire(me, step.object, step.access);
        }
    }

    /// `me` has changed a lock or a similar object: it acquired or releases it.
    #[cold]
    pub(super) fn memory_changed(&mut self, object: SharedId) {
        if self.foreign.is_some() {
            return;
        }
        let me = self.current;
        let takes = |it: &Step| {
            it.object == object
                && matches!(
                    it.access,
                    Access::Acquire | Access::AcquireShared | Access::TryAcquire | Access::TryAcquireShared
                )
        };
        let taken = self.step.filter(takes).map(|it| it.access);
        if let Some(access) = taken
            && !std::mem::replace(&mut self.weak.has_acquired, true)
        {
            self.memory().acquire(me, object, access);
        } else {
            // A task that is unwinding did not wait for its stores.
            self.flush_buffer(me);
            let held = if self.weak.is_shared_release { Access::AcquireShared } else { Access::Acquire };
            self.memory().release(me, object, held);
            self.graph_release(me, object);
        }
    }

    /// Whether the store buffer of `task` is empty.
    pub(super) fn is_drained(&self, task: TaskId) -> bool {
        self.weak.buffer_of[task.index()].is_none_or(|it| self.ended.contains(it))
    }

    /// `by` has put a store to the atomic at `address` into its buffer.
    pub(super) fn note_buffered(&mut self, by: AtomicAccess, address: *const (), write_back: WriteBack) {
        let at = by.object.0 as usize;
        if self.weak.write_back.len() <= at {
            self.weak.write_back.resize(at + 1, None);
        }
        self.weak.write_back[at] = Some((address, write_back));
        let buffer = match self.weak.buffer_of[by.task.index()] {
            Some(buffer) => buffer,
            None => {
                // Its number depends on the order of steps.
                self.note_irregular_buffers();
                self.add_buffer(by.task)
            }
        };
        self.weak.buffers.insert(buffer);
        if self.ended.contains(buffer) {
            self.note_wake(buffer);
        }
        self.buffers_changed();
    }

    /// Whether the running task has a store buffer or can get one: buffers count as tasks, whose
    /// number is limited.
    pub(super) fn has_room_for_buffer(&self) -> bool {
        self.weak.buffer_of[self.current.index()].is_some() || self.tasks.len() < TaskId::MAX
    }

    /// All tasks so far get store buffers, if there is room: so their numbers do not depend on the
    /// order of steps.
    pub(super) fn add_buffers(&mut self) {
        let n = self.tasks.len();
        if self.has_buffers() && 2 * n <= TaskId::MAX {
            (0..n).for_each(|it| self.add_buffer_if_none(TaskId(it as u8)));
            let tasks = &mut self.tasks[..n];
            tasks.iter_mut().for_each(|it| it.after = self.weak.with_buffers_of(it.after));
        }
    }

    pub(super) fn add_buffer_if_none(&mut self, owner: TaskId) {
        let is_new = self.weak.buffer_of[owner.index()].is_none();
        if self.has_buffers() && is_new && self.tasks.len() < TaskId::MAX {
            self.add_buffer(owner);
        }
    }

    /// Whether each step is ordered with all others.
    pub(super) fn is_order_total(&self) -> bool {
        self.has_buffers() && (self.weak.is_irregular || !self.weak.reduces)
    }

    /// Store buffers change in another way than by stores and flushes. If that was not known, the
    /// exploration restarts.
    pub(super) fn note_irregular_buffers(&mut self) {
        if self.has_buffers() && !std::mem::replace(&mut self.weak.is_irregular, true) && self.weak.reduces {
            self.end_with(Ending::Restart);
        }
    }

    /// All stores in the buffer of `task` reach memory without steps of their own.
    pub(super) fn flush_buffer(&mut self, task: TaskId) {
        while self.memory().first_buffered(task).is_some() {
            self.note_irregular_buffers();
            self.flush_one(task);
        }
        self.buffers_changed();
    }

    /// No store to `object` stays buffered. Returns the value of the last.
    pub(super) fn forget_buffered(&mut self, object: SharedId) -> Option<u64> {
        let last = self.memory().forget_buffered(object);
        if last.is_some() {
            self.note_irregular_buffers();
        }
        self.buffers_changed();
        last
    }

    /// `buffer` is empty: tasks may have waited for that.
    fn wake_those_after(&mut self, buffer: TaskId) {
        for task in self.started.without(self.ended).intersection(self.waiting) {
            if self.tasks[task.index()].pending.after.contains(buffer) {
                self.note_wake(task);
            }
        }
    }

    fn add_buffer(&mut self, owner: TaskId) -> TaskId {
        let id = TaskId(u8::try_from(self.tasks.len()).expect("few tasks"));
        assert!(id.index() < TaskId::MAX, "the execution is cut where there is no room");
        let root = self.tasks[owner.index()].pending.cause.unwrap_or(owner);
        let pending = Step { cause: Some(root), ..Step::new(id, Access::Flush, SharedId::NONE) };
        self.tasks.push(Box::new(Task { pending, ..Task::new(id) }));
        self.fibers.push(None);
        self.started.insert(id);
        self.ended.insert(id);
        self.weak.buffer_of[owner.index()] = Some(id);
        self.weak.owner_of[id.index()] = Some(owner);
        id
    }

    /// Makes each buffer's next step its oldest store, and unblocks tasks that waited for an empty
    /// buffer.
    pub(super) fn buffers_changed(&mut self) {
        for buffer in self.weak.buffers {
            let owner = self.weak.owner_of[buffer.index()].expect("a buffer has an owner");
            let first = self.memory().first_buffered(owner);
            let first = first.map(|it| self.scheduled_object(it));
            let place = self.tasks[owner.index()].place;
            let task = &mut self.tasks[buffer.index()];
            let was_empty = self.ended.contains(buffer);
            self.ended.remove(buffer);
            if first.is_none() {
                self.ended.insert(buffer);
            }
            self.newly_arrived.insert(buffer);
            if let Some(object) = first {
                (task.pending.object, task.place) = (object, place);
            } else if !was_empty {
                self.wake_those_after(buffer);
            }
        }
    }

    /// The object that schedulers see for an atomic: of foreign code, the word that contains it.
    fn scheduled_object(&mut self, atomic: SharedId) -> SharedId {
        match self.weak.write_back.get(atomic.0 as usize) {
            Some(Some((address, _))) if self.foreign.is_some() => self.objects.id(address.addr() & !7),
            _ => atomic,
        }
    }

    /// Makes the step of the chosen buffer.
    pub(super) fn flush(&mut self, buffer: TaskId) {
        let owner = self.weak.owner_of[buffer.index()].expect("a buffer has an owner");
        self.current = buffer;
        self.steps += 1;
        let task = &mut self.tasks[buffer.index()];
        let step = task.pending;
        self.step = Some(step);
        if self.moments.is_some() {
            self.keep_moment(buffer);
        }
        self.flush_one(owner);
        self.changed(step.object);
        self.buffers_changed();
    }

    pub(super) fn flush_one(&mut self, owner: TaskId) {
        let Some((object, value)) = self.memory().flush(owner) else { return };
        if let Some(&Some((address, write_back))) = self.weak.write_back.get(object.0 as usize) {
            // SAFETY: the atomic was at this address when it was last stored to, and dropping it
            // would have discarded the store. A task that frees its memory in another way knows
            // that no other task uses the atomic, so no store of another task was pending, and then
            // the atomic holds this value already and nothing is written.
            unsafe { write_back(address, value) };
        }
    }
}
