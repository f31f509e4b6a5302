//! Tasks that run foreign code: the callbacks around them, and the operations they report.
//!
//! Code that was not written for this engine keeps state where the engine does not see it: in
//! thread-local memory, in statics, on the heap. So [`Foreign`] is notified when a task continues
//! and stops, and when an execution begins and ends. Such a task is never unwound, because its
//! frames may not support it: an unfinished task is abandoned where it is.

use std::io;

use clewline_explore::{Access, Ending, SharedId, TaskId, TaskSet};

use super::{
    super::{
        fiber::{Fiber, Stack},
        memory::ChoiceSource,
        stacks,
    },
    state::{Control, ENGINE, Engine, Foreign},
    types::{Attempt, Need, WakeCondition},
};
use crate::control::{panics::Panic, place::Place, races::DataRace};

/// Continues `task`. From here on this thread has the identity of another thread. `ENGINE` is set
/// for it unless that is done already.
///
/// # Safety
///
/// `engine` is valid as long as the task runs.
#[inline(always)]
pub(super) unsafe fn enter(foreign: &dyn Foreign, task: TaskId, engine: *mut Engine, is_set: bool) {
    if let Some(control) = std::ptr::NonNull::new(engine).map(Control) {
        foreign.enter(task, control);
    }
    if !is_set {
        set_engine(engine);
    }
}

// Not inlined: the address of thread-local memory must be computed after the thread pointer has
// changed.
#[inline(never)]
fn set_engine(engine: *mut Engine) {
    ENGINE.set(engine);
}

/// A zero-sized object at `address`, so that no claim is made about the memory there.
fn object(address: usize) -> &'static () {
    debug_assert_ne!(address, 0, "nothing shared is at no address");
    // SAFETY: a zero-sized value is valid at every address except 0.
    unsafe { &*std::ptr::with_exposed_provenance::<()>(address | usize::from(address == 0)) }
}

impl Engine {
    /// Notifies `foreign` from now on.
    pub(in crate::control) fn set_foreign(&mut self, foreign: &'static dyn Foreign) {
        self.foreign = Some(foreign);
    }

    /// Whether steps are recorded.
    pub(in crate::control) fn is_shown(&self) -> bool {
        self.moments.is_some()
    }

    pub(in crate::control) fn foreign(&self) -> Option<&'static dyn Foreign> {
        self.foreign
    }

    pub(super) fn take_stack(&self, task: TaskId) -> io::Result<Stack> {
        let Some(foreign) = self.foreign else { return stacks::take() };
        let stack = stacks::take_task_stack(task)?;
        foreign.stack(task, stacks::range(&stack));
        Ok(stack)
    }

    pub(super) fn give_back(&self, task: TaskId, fiber: Fiber) {
        let stack = fiber.into_stack();
        if self.foreign.is_some() {
            stacks::give_back_task_stack(task, stack)
        } else {
            stacks::give_back(stack)
        }
    }

    /// Abandons every unfinished task where it is.
    pub(super) fn abandon_all(&mut self) {
        for at in 0..self.fibers.len() {
            let Some(mut fiber) = self.fibers[at].take() else { continue };
            // SAFETY: the frames of foreign code are discarded as by `longjmp` and never run again.
            // `ThreadProgram::reclaim` takes back what our own frames own.
            unsafe { fiber.give_up() };
            self.give_back(TaskId(at as u8), fiber);
        }
    }
}

/// The interface for foreign code, which identifies objects by their addresses.
impl Control {
    /// The running task.
    #[must_use]
    pub fn task(self) -> TaskId {
        self.me()
    }

    /// A point before an access that never blocks.
    #[inline(always)]
    pub fn access_point(self, address: usize, access: Access, place: Place) {
        self.access_at(address, access, place);
    }

    /// A point before an access that may block. Returns whether the condition it waited for holds;
    /// if not, it timed out.
    pub fn wait_for(
        self,
        address: usize,
        access: Access,
        need: Need,
        until: WakeCondition,
        place: Place,
    ) -> bool {
        self.attempt_at(address, Attempt::new(access).needing(need).until(until), place)
    }

    /// Waits until `task` has ended.
    pub fn join(self, task: TaskId, place: Place) {
        self.arrive(
            SharedId::NONE,
            Attempt { after: TaskSet::only(task), ..Attempt::new(Access::Join) },
            place,
        );
    }

    /// The object at `address` has changed.
    #[inline(always)]
    pub fn mark_changed(self, address: usize) {
        self.changed(object(address));
    }

    /// Sets the level of a lock or a count. The data it guards is unchanged.
    pub fn set_level_at(self, address: usize, level: i32) {
        self.set_level_only(object(address), level);
    }

    /// Whether releasing a lock is a point.
    #[must_use]
    pub fn are_releases_points(self) -> bool {
        self.has_release_points()
    }

    /// A task tries a lock without waiting: releases are points from now on.
    pub fn note_try_lock(self) {
        self.note_try_lock_use();
    }

    /// Adds this task to the waiters at `address`.
    pub fn add_waiter(self, address: usize) {
        self.wait_at(object(address));
    }

    /// Removes this task from the waiters at `address` although no task woke it.
    pub fn remove_waiter(self, address: usize) {
        self.leave(object(address));
    }

    /// The tasks that wait at `address`.
    #[must_use]
    pub fn waiters_at(self, address: usize) -> TaskSet {
        self.waiters(object(address))
    }

    /// Wakes `task`, which waits at `address`.
    pub fn wake_waiter(self, address: usize, task: TaskId) {
        self.wake_at(object(address), task);
    }

    /// A number below `n`. Every such number is returned in some execution.
    #[must_use]
    pub fn choose(self, n: u32) -> u32 {
        self.value(n)
    }

    /// Yields: this task waits for another one.
    pub fn yield_now(self, place: Place) {
        self.hint_at(place);
    }

    /// Yields once. If no other task can move, this one continues.
    pub fn yield_once(self, place: Place) {
        let engine = self.engine();
        engine.tasks[engine.current.index()].yields = true;
        engine.use_slow_path();
        self.arrive(SharedId::NONE, Attempt::new(Access::Local), place);
    }

    /// Records what was read or written, if steps are recorded.
    #[inline(always)]
    pub fn set_detail(self, detail: impl FnOnce() -> String) {
        self.detail(detail);
    }

    /// As [`set_detail`](Self::set_detail), of an access that begins this many bytes behind the
    /// beginning of its object.
    #[inline(always)]
    pub fn set_detail_at(self, offset: u8, detail: impl FnOnce() -> String) {
        self.detail_at(offset, detail);
    }

    /// The last step compares a word with a value, and sleeps until another thread wakes it.
    pub fn mark_futex_wait(self) {
        if let Some(moment) = self.engine().moments.as_mut().and_then(|it| it.last_mut()) {
            moment.is_futex_wait = true;
        }
    }

    /// The order of this step relative to every other step matters: it accesses more than its
    /// object.
    pub fn conflict_with_all(self) {
        if let Some(step) = &mut self.engine().step {
            step.yields = true;
        }
    }

    /// Whether a weak compare-exchange fails spuriously here.
    #[inline(always)]
    #[must_use]
    pub fn fails_spuriously(self, place: Place) -> bool {
        self.engine().weak.settings.spurious_failures && ChoiceSource::fails_spuriously(self.engine(), place)
    }

    /// Whether the task may wake spuriously now. If it does, it calls
    /// [`note_spurious_wakeup`](Self::note_spurious_wakeup).
    #[must_use]
    pub fn may_wake_spuriously(self) -> bool {
        self.can_wake_spuriously()
    }

    /// The task woke spuriously.
    pub fn note_spurious_wakeup(self) {
        self.woke_spuriously();
    }

    /// Starts a task.
    pub fn start(self, body: impl FnOnce() + 'static, place: Place) -> TaskId {
        self.spawn_at(body, place)
    }

    /// The number of the next task to be started.
    #[must_use]
    pub fn next_task(self) -> TaskId {
        TaskId(self.engine().tasks.len() as u8)
    }

    /// The tasks that had to end before this task began.
    #[must_use]
    pub fn predecessors(self) -> TaskSet {
        let engine = self.engine();
        engine.tasks[engine.current.index()].after
    }

    /// Additional points are needed: restarts the exploration.
    pub fn restart_exploration(self) {
        self.engine().end_with(Ending::Restart);
    }

    /// Two accesses of the code race.
    pub fn report_race(self, race: DataRace) {
        self.note_race(race);
    }

    /// Whether a race was reported in this execution.
    #[must_use]
    pub fn has_race(self) -> bool {
        self.engine().weak.race.is_some()
    }

    /// Ends this task here, in the middle of its code.
    pub fn end_task(self) -> ! {
        let (engine, me) = (self.engine(), self.me());
        let is_started = engine.started.contains(me);
        engine.ended(me);
        if is_started {
            engine.decide();
        }
        self.suspend_forever(me)
    }

    /// Ends the execution: the program has exited.
    pub fn end_execution(self, place: Place) -> ! {
        self.note_exit();
        let ending = if self.engine().is_free { Ending::Redundant } else { Ending::Full };
        self.end_with_failure(ending, place)
    }

    /// Cuts the execution: its end stays unknown.
    pub fn cut(self, place: Place) -> ! {
        let ending = if self.engine().is_free { Ending::Redundant } else { Ending::Cut };
        self.end_with_failure(ending, place)
    }

    /// Ends the execution with a failure of this task.
    pub fn fail(self, panic: Panic, place: Place) -> ! {
        let engine = self.engine();
        if engine.graph().is_some() {
            engine.fail_in_graph((engine.current, panic));
            self.note_plain_point();
            self.end_task();
        }
        engine.panic = Some((engine.current, panic));
        let ending = if engine.is_free { Ending::Redundant } else { Ending::Panicked };
        self.end_with_failure(ending, place)
    }

    fn end_with_failure(self, ending: Ending, place: Place) -> ! {
        let engine = self.engine();
        if engine.ending == Some(Ending::Restart) {
            // With the additional points it ends the same way, and can be replayed.
            engine.panic = None;
        } else {
            engine.end_with(ending);
        }
        // No other task moves after this step, so its order relative to every step matters.
        if let Some(step) = &mut engine.step {
            step.yields = true;
        }
        let me = engine.current;
        let is_started = engine.arrive(me, SharedId::NONE, Attempt::new(Access::Local), place);
        if is_started {
            engine.decide();
        }
        self.suspend_forever(me)
    }

    fn suspend_forever(self, me: TaskId) -> ! {
        loop {
            let seat = self.engine().tasks[me.index()].seat;
            // SAFETY: this is the seat of the running task.
            unsafe { seat.suspend() };
        }
    }
}
