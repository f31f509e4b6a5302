//! Tasks that run foreign code: what must be done around them, and what they say.
//!
//! Code that was not written for this engine keeps things where the engine does not see them: in the memory that belongs to a thread,
//! in statics, on the heap. So somebody is told when a task goes on and when it stops, and when an execution begins and ends. And
//! nothing unwinds such a task, since its frames need not know how: what is left of it is given up where it stands.

use std::io;

use clewline_explore::{Access, Ending, SharedId, TaskId, TaskSet};

use super::{
    super::{
        fiber::{Fiber, Stack},
        memory::ChoiceSource,
        stacks,
    },
    state::{Control, ENGINE, Engine, Foreign},
    types::{Attempt, Need, Until},
};
use crate::control::{panics::Panic, place::Place};

/// Lets `task` go on. From here on this thread looks like another one, and is told which engine it is in, unless it `is_told` already.
///
/// # Safety
///
/// `engine` is valid as long as the task runs.
#[inline(always)]
pub(super) unsafe fn enter(foreign: &dyn Foreign, task: TaskId, engine: *mut Engine, is_told: bool) {
    if let Some(control) = std::ptr::NonNull::new(engine).map(Control) {
        foreign.enter(task, control);
    }
    if !is_told {
        set_engine(engine);
    }
}

// Not inlined: where the memory of a thread is must be looked up after it has become another one.
#[inline(never)]
fn set_engine(engine: *mut Engine) {
    ENGINE.set(engine);
}

/// What is known by `address`. It has no size, so that nothing is claimed about what is there.
fn object(address: usize) -> &'static () {
    debug_assert_ne!(address, 0, "nothing shared is at no address");
    // SAFETY: a value without a size is at every address but 0.
    unsafe { &*std::ptr::with_exposed_provenance::<()>(address | usize::from(address == 0)) }
}

impl Engine {
    /// Tells `foreign` what happens from now on.
    pub(in crate::control) fn set_foreign(&mut self, foreign: &'static dyn Foreign) {
        self.foreign = Some(foreign);
    }

    /// Whether steps are kept.
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
        if self.foreign.is_some() { stacks::give_back_task_stack(task, stack) } else { stacks::give_back(stack) }
    }

    /// Gives up every task that has not ended, where it stands.
    pub(super) fn abandon_all(&mut self) {
        for at in 0..self.fibers.len() {
            let Some(mut fiber) = self.fibers[at].take() else { continue };
            // SAFETY: the frames of foreign code are given up as if it had left them with `longjmp`: nobody runs them again. What
            // frames of ours own is given back by whoever made the task (`Program::reclaim`).
            unsafe { fiber.give_up() };
            self.give_back(TaskId(at as u8), fiber);
        }
    }
}

/// What foreign code says, whose objects are known by their addresses.
impl Control {
    /// Who runs.
    #[must_use]
    pub fn task(self) -> TaskId {
        self.me()
    }

    /// Comes to a point before an access that is never kept waiting.
    #[inline(always)]
    pub fn access_point(self, address: usize, access: Access, place: Place) {
        self.access_at(address, access, place);
    }

    /// Comes to a point before an access that waits. Answers whether what it waited for is there; if not, its time is up.
    pub fn wait_for(self, address: usize, access: Access, need: Need, until: Until, place: Place) -> bool {
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

    /// Comes to a point that has nothing to do with anybody else, but for an operation that begins there.
    pub fn local_point(self, place: Place) {
        self.arrive(SharedId::NONE, Attempt::new(Access::Local), place);
    }

    /// What is at `address` has changed.
    #[inline(always)]
    pub fn mark_changed(self, address: usize) {
        self.changed(object(address));
    }

    /// Sets the level of a lock or a count, and what it guards stays as it is.
    pub fn set_level_at(self, address: usize, level: i32) {
        self.set_level_quietly(object(address), level);
    }

    /// Whether the release of a lock is a point.
    #[must_use]
    pub fn are_releases_points(self) -> bool {
        self.has_release_points()
    }

    /// Somebody tries a lock: releases are points from now on.
    pub fn note_try_lock(self) {
        self.note_try_lock_use();
    }

    /// Is among those who wait at `address`.
    pub fn add_waiter(self, address: usize) {
        self.wait_at(object(address));
    }

    /// Is so no more, though nobody woke it.
    pub fn remove_waiter(self, address: usize) {
        self.leave(object(address));
    }

    /// Who waits there.
    #[must_use]
    pub fn waiters_at(self, address: usize) -> TaskSet {
        self.waiters(object(address))
    }

    /// Lets `task` go on, which waits there.
    pub fn wake_waiter(self, address: usize, task: TaskId) {
        self.wake_at(object(address), task);
    }

    /// A number below `n`, which is any of them in some execution.
    #[must_use]
    pub fn choose(self, n: u32) -> u32 {
        self.value(n)
    }

    /// Waits for someone else.
    pub fn yield_now(self, place: Place) {
        self.hint_at(place);
    }

    /// Lets others go first, once. If nobody else can, it goes on.
    pub fn yield_once(self, place: Place) {
        let engine = self.engine();
        engine.tasks[engine.current.index()].yields = true;
        engine.use_slow_path();
        self.arrive(SharedId::NONE, Attempt::new(Access::Local), place);
    }

    /// Says what was read or written, if anyone is going to look at it.
    #[inline(always)]
    pub fn set_detail(self, detail: impl FnOnce() -> String) {
        self.detail(detail);
    }

    /// The order of this step with any other matters: it touches more than its object.
    pub fn conflict_with_all(self) {
        if let Some(step) = &mut self.engine().step {
            step.yields = true;
        }
    }

    /// Whether an exchange that may fail for no reason does so here.
    #[inline(always)]
    #[must_use]
    pub fn fails_spuriously(self, place: Place) -> bool {
        self.engine().weak.settings.spurious_failures && ChoiceSource::fails_spuriously(self.engine(), place)
    }

    /// Whether the task may wake up now though nobody woke it; if it does, [`woken_early`](Self::woken_early) is told.
    #[must_use]
    pub fn may_wake_spuriously(self) -> bool {
        self.may_wake_early()
    }

    /// It did.
    pub fn note_spurious_wakeup(self) {
        self.woke_early();
    }

    /// Starts a task.
    pub fn start(self, body: impl FnOnce() + 'static, place: Place) -> TaskId {
        self.spawn_at(body, place)
    }

    /// Who would be started next.
    #[must_use]
    pub fn next_task(self) -> TaskId {
        TaskId(self.engine().tasks.len() as u8)
    }

    /// Those that had to end before this task began.
    #[must_use]
    pub fn predecessors(self) -> TaskSet {
        let engine = self.engine();
        engine.tasks[engine.current.index()].after
    }

    /// Points are needed where there were none: the exploration begins again.
    pub fn restart_exploration(self) {
        self.engine().end_with(Ending::Restart);
    }

    /// This task ends here, in the middle of whatever it does.
    pub fn end_task(self) -> ! {
        let (engine, me) = (self.engine(), self.me());
        let is_started = engine.started.contains(me);
        engine.ended(me);
        if is_started {
            engine.decide();
        }
        self.suspend_forever(me)
    }

    /// Nobody goes on after this: the program has ended.
    pub fn end_execution(self, place: Place) -> ! {
        let ending = if self.engine().is_free { Ending::Redundant } else { Ending::Full };
        self.end_with_failure(ending, place)
    }

    /// Something is wrong in this task: the execution ends here.
    pub fn fail(self, panic: Panic, place: Place) -> ! {
        let engine = self.engine();
        engine.panic = Some((engine.current, panic));
        let ending = if engine.is_free { Ending::Redundant } else { Ending::Panicked };
        self.end_with_failure(ending, place)
    }

    fn end_with_failure(self, ending: Ending, place: Place) -> ! {
        let engine = self.engine();
        engine.end_with(ending);
        // Nobody else moves after it, so its order with any step matters.
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
            // SAFETY: it is the seat of the task that runs.
            unsafe { seat.suspend() };
        }
    }
}
