//! The handle that primitives use to talk to their execution.

use std::{
    cell::Cell,
    ptr::{self, NonNull},
};

use clewline_explore::{Access, SharedId, TaskId};

use super::{
    fast_path::FastPathResult,
    state::{Body, Control, ENDING, ENGINE, Engine, Next},
    types::{Attempt, Need, OldRead, WakeCondition},
    unwind::{self, give_way},
};
use crate::control::{memory::Loaded, place::Place};

/// The last act of a function that is looked for on the stack. A call could be a jump.
#[inline(always)]
fn stay_on_stack() {
    std::hint::black_box(&mut 0_u8);
}

/// The execution that this code is a task of, if any. On a worker thread, this call is a
/// [point](crate::point).
#[inline(always)]
#[track_caller]
pub(crate) fn control() -> Option<Control> {
    if !crate::real::noise::is_hook_active() {
        return None;
    }
    let engine = ENGINE.try_with(Cell::get).ok().and_then(NonNull::new);
    if engine.is_none() {
        crate::real::noise::run_hook();
        unwind::note_access_while_unwinding();
    }
    engine.map(Control)
}

/// Same as [`control`], but never a point: for destructors.
#[inline(always)]
pub(crate) fn here() -> Option<Control> {
    if !crate::real::noise::is_hook_active() {
        return None;
    }
    ENGINE.try_with(Cell::get).ok().and_then(NonNull::new).map(Control)
}

/// Whether this code runs in a task.
pub(crate) fn is_controlled() -> bool {
    ENGINE.try_with(|it| !it.get().is_null()).unwrap_or(false)
}

/// Whether this code belongs to an abandoned task that is being unwound.
pub(crate) fn is_ending() -> bool {
    ENDING.try_with(|it| !it.get().is_null()).unwrap_or(false)
}

impl Control {
    #[allow(clippy::mut_from_ref, reason = "the handle is not the engine")]
    pub(super) fn engine(&self) -> &mut Engine {
        // SAFETY: the pointer was taken from `ENGINE`, which is set only while `Engine::run` is on
        // the stack of this thread with the engine borrowed for that time. Only one task runs at a
        // time, and no borrow made here is kept across a switch or a call of foreign code: callers
        // use it for one expression or within one method.
        unsafe { &mut *self.0.as_ptr() }
    }

    /// The running task.
    pub(crate) fn me(self) -> TaskId {
        self.engine().current
    }

    /// A point: returns when the task has been chosen to make this access to `object`. Returns
    /// whether the condition it waited for holds; if not, it timed out.
    #[inline]
    #[track_caller]
    pub(crate) fn attempt<T: ?Sized>(self, object: &T, attempt: Attempt) -> bool {
        self.attempt_at(ptr::from_ref(object).cast::<()>() as usize, attempt, Place::caller())
    }

    /// A point before an access that never blocks.
    #[inline]
    #[track_caller]
    pub(crate) fn access<T: ?Sized>(self, object: &T, access: Access) {
        self.access_at(ptr::from_ref(object).cast::<()>() as usize, access, Place::caller());
    }

    #[inline(never)]
    pub(crate) fn attempt_at(self, address: usize, attempt: Attempt, place: Place) -> bool {
        let engine = self.engine();
        let (id, me) = (engine.objects.id(address), engine.current);
        let result = match attempt.until == WakeCondition::Met && attempt.after.is_empty() {
            true => engine.try_fast_path(me, id, attempt.access, attempt.need, place),
            false => FastPathResult::NotApplicable,
        };
        let is_begun = match result {
            FastPathResult::Continue => true,
            FastPathResult::Switch => self.wait_and_begin(me),
            FastPathResult::NotApplicable => self.arrive(id, attempt, place),
        };
        stay_on_stack();
        is_begun
    }

    /// Waits for the task's turn, then begins the access with which it arrived.
    #[inline(always)]
    fn wait_and_begin(self, me: TaskId) -> bool {
        let is_over = self.suspend_not_unwinding(me);
        if !is_over {
            self.engine().begin_unblocked(me);
        }
        !is_over
    }

    // Most points are of this kind and need much less work.
    #[inline(never)]
    pub(super) fn access_at(self, address: usize, access: Access, place: Place) {
        let engine = self.engine();
        let (id, me) = (engine.objects.id(address), engine.current);
        match engine.try_fast_path(me, id, access, Need::Nothing, place) {
            FastPathResult::Continue => (),
            FastPathResult::Switch => {
                self.wait_and_begin(me);
            }
            FastPathResult::NotApplicable => self.arrive_slow_path(id, access, place),
        }
        stay_on_stack();
    }

    #[cold]
    #[inline(never)]
    pub(super) fn arrive_slow_path(self, id: SharedId, access: Access, place: Place) {
        self.arrive(id, Attempt::new(access), place);
        stay_on_stack();
    }

    #[inline(always)]
    pub(super) fn arrive(self, object: SharedId, attempt: Attempt, place: Place) -> bool {
        let engine = self.engine();
        let me = engine.current;
        if engine.is_ending {
            give_way();
            return false;
        }
        let is_started = engine.arrive(me, object, attempt, place);
        // At its first point the task has only started, and no decision is made yet.
        let goes_on = is_started && engine.decide() && engine.next == Next::Task(me);
        if !goes_on && self.suspend(me) {
            return false;
        }
        let engine = self.engine();
        let is_met = engine.begin(me);
        if engine.fast_path_until_step == 0 {
            engine.use_fast_path_if_possible();
        }
        is_met
    }

    /// The object has changed: tasks that wait for a change can continue, and this task is not
    /// idle.
    #[inline]
    pub(crate) fn changed<T: ?Sized>(self, object: &T) {
        let engine = self.engine();
        let id = engine.id_of(object);
        if engine.memory.is_some() {
            engine.memory_changed(id);
        }
        engine.changed(id);
    }

    /// The level of the object. Its meaning depends on the kind of object.
    pub(crate) fn level<T: ?Sized>(self, object: &T) -> i32 {
        let engine = self.engine();
        let id = engine.id_of(object);
        engine.objects.level(id)
    }

    /// Sets the level. Tasks whose [`Need`] is met can continue.
    pub(crate) fn set_level<T: ?Sized>(self, object: &T, level: i32) {
        if self.level(object) != level {
            self.set_level_only(object, level);
            self.changed(object);
        }
    }

    /// The object is dropped: the next object at its address is a different one.
    pub(crate) fn forget<T: ?Sized>(self, object: &T) {
        self.engine().objects.forget(ptr::from_ref(object).cast::<()>() as usize);
    }

    /// Wakes `task` if it waits to be woken.
    pub(crate) fn wake(self, task: TaskId) {
        let engine = self.engine();
        engine.tasks[task.index()].is_woken = true;
        let me = engine.current;
        if let Some(memory) = &mut engine.memory {
            memory.wake(me, task);
        }
        if let Some(graph) = engine.graph() {
            graph.on_wake(me, task);
        }
        engine.note_wake(task);
    }

    /// A number below `n`.
    pub(crate) fn value(self, n: u32) -> u32 {
        self.engine().value(n)
    }

    /// Starts a task. If there are too many tasks, the execution is cut.
    #[track_caller]
    pub(crate) fn spawn(self, body: Body) -> TaskId {
        self.spawn_at(body, Place::caller())
    }

    pub(super) fn spawn_at(self, body: impl FnOnce() + 'static, place: Place) -> TaskId {
        let engine = self.engine();
        if engine.tasks[engine.current.index()].calls {
            // The new task must not begin before the call of the operation that started it.
            self.arrive(SharedId::NONE, Attempt::new(Access::Local), place);
        }
        if self.engine().has_buffers() {
            // The started task sees all earlier stores.
            self.arrive(SharedId::NONE, Attempt::new(Access::Fence), place);
        }
        if self.engine().tasks.len() == TaskId::MAX {
            self.cut_for_tasks(place);
        }
        self.engine().spawn(body)
    }

    /// Declares that the task waits for another one.
    #[track_caller]
    pub(crate) fn hint(self) {
        self.hint_at(Place::caller());
    }

    #[inline(never)]
    pub(super) fn hint_at(self, place: Place) {
        let engine = self.engine();
        let me = engine.current;
        engine.use_slow_path();
        let task = &mut engine.tasks[me.index()];
        task.yields = true;
        // A task that only gives hints would never arrive at a point.
        if std::mem::replace(&mut task.is_idle, true) {
            self.arrive(SharedId::NONE, Attempt::new(Access::Local), place);
        } else {
            engine.spin(me, place, SharedId::NONE);
        }
        stay_on_stack();
    }

    /// A task tries a lock without waiting. Then it matters when a lock is released, so releases
    /// become points; if they were not points before, the exploration restarts.
    pub(crate) fn note_try_lock_use(self) {
        self.engine().enable_release_points();
    }

    /// Whether releasing a lock is a point.
    pub(crate) fn has_release_points(self) -> bool {
        self.engine().has_release_points
    }

    /// Records what was read or written, if steps are recorded.
    #[inline]
    pub(crate) fn detail(self, detail: impl FnOnce() -> String) {
        self.detail_at(0, detail);
    }

    /// As [`detail`](Self::detail), of an access that begins within its object.
    #[inline]
    pub(crate) fn detail_at(self, offset: u8, detail: impl FnOnce() -> String) {
        if self.engine().moments.is_some() {
            self.record_detail(offset, detail);
        }
    }

    /// What the last step has read, if it is recorded.
    pub(super) fn note_old_read(self, loaded: Loaded) {
        let last = self.engine().moments.as_mut().and_then(|it| it.last_mut());
        if let (Some(moment), Some(missed)) = (last, loaded.missed) {
            moment.old_read = Some(OldRead { from: loaded.origin.step, missed: missed.origin.step });
        }
    }

    // Inlined into the code under test, the text would leave its address on the stack, and no
    // local state would ever repeat.
    #[cold]
    #[inline(never)]
    fn record_detail(self, offset: u8, detail: impl FnOnce() -> String) {
        let engine = self.engine();
        if let Some(moment) = engine.moments.as_mut().and_then(|it| it.last_mut()) {
            (moment.offset, moment.detail) = (offset, detail());
        }
    }

    pub(in crate::control) fn call(self, operation: u32) {
        let engine = self.engine();
        let task = &mut engine.tasks[engine.current.index()];
        (task.calls, task.operation, task.timeouts, task.interruptions) = (true, operation, 0, 0);
        task.rounds.clear();
        if task.spins.take().is_some() {
            engine.spinning.remove(engine.current);
        }
        if !engine.weak.orders.is_empty() {
            engine.note_call(operation);
        }
    }

    #[track_caller]
    pub(in crate::control) fn ret(self) {
        let engine = self.engine();
        if engine.tasks[engine.current.index()].calls {
            // An operation without a visible access also has a position in the order.
            self.arrive(SharedId::NONE, Attempt::new(Access::Local), Place::caller());
        }
        self.engine().returned();
    }
}
