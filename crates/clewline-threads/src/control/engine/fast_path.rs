//! The fast path: a task arrives at an access that it can make, and nothing special happens.
//!
//! This code does what [`Engine::arrive`], [`Engine::decide`] and [`Engine::begin`] do, without
//! everything that cannot matter then. Most steps take this path, so every instruction counts.

use clewline_explore::{Access, Pick, SharedId, Step, TaskId, TaskSet};

use super::{
    replay::LONG_EXECUTION_STEPS,
    state::{Engine, Next},
    types::{Moment, Need, WakeCondition},
};
use crate::control::place::Place;

/// The result of the fast path.
pub(super) enum FastPathResult {
    /// The fast path does not apply, and nothing was done.
    NotApplicable,
    /// Another task is next, or none.
    Switch,
    /// The task continues and has begun its access.
    Continue,
}

impl Engine {
    /// Whether any condition requires the slow path, besides a panic and the step limit.
    fn needs_slow_path(&self) -> bool {
        self.memory.is_some()
            || !self.fairness.is_idle()
            || self.moments.is_some()
            || self.is_free
            || self.is_ending
            || self.ending.is_some()
            || !self.spinning.is_empty()
            || !self.newly_arrived.is_empty()
            || !self.held_back.is_empty()
            || self.tasks.iter().any(|it| it.yields)
            || self.unstarted_exists()
            || self.is_replica()
    }

    /// Steps take the slow path from now on, until no condition requires it.
    #[inline]
    pub(super) fn use_slow_path(&mut self) {
        self.fast_path_until_step = 0;
    }

    /// Steps take the fast path from now on if no condition requires the slow path.
    pub(super) fn use_fast_path_if_possible(&mut self) {
        self.fast_path_until_step =
            if self.needs_slow_path() { 0 } else { self.limits.steps.min(LONG_EXECUTION_STEPS) };
    }

    /// The running task `me` is about to make an access that waits for nothing but its `need`.
    /// Begins the access if the task continues. The fast path does not apply if the task must
    /// block.
    #[inline(always)]
    pub(super) fn try_fast_path(
        &mut self,
        me: TaskId,
        object: SharedId,
        access: Access,
        need: Need,
        place: Place,
    ) -> FastPathResult {
        let is_quick = self.steps < self.fast_path_until_step && !std::thread::panicking();
        if !is_quick || !(need == Need::Nothing || need.is_met(self.objects.level(object))) {
            return FastPathResult::NotApplicable;
        }
        debug_assert!(!self.needs_slow_path());
        let (Some(scheduler), Some(made)) = (self.scheduler, &self.step) else {
            return FastPathResult::NotApplicable;
        };
        let task = &mut *self.tasks[me.index()];
        // Writing unconditionally would stall the processor: the neighbouring fields are read
        // below.
        if !self.waiting.is_empty() && self.waiting.contains(me) {
            self.waiting.remove(me);
            task.pending.after = TaskSet::EMPTY;
        }
        if need != Need::Nothing {
            // The task that runs instead may block this one.
            self.waiting.insert(me);
            (task.need, task.until) = (need, WakeCondition::Met);
        }
        let calls = std::mem::take(&mut task.calls);
        // The other fields are unchanged since its last access.
        let pending = &mut task.pending;
        (pending.access, pending.object, pending.calls) = (access, object, calls);
        debug_assert_eq!(*pending, Step { cause: pending.cause, calls, ..Step::new(me, access, object) });
        (task.place, task.is_idle) = (place, false);
        let cause = pending.cause;
        let mut movable = self.started.without(self.ended);
        if !movable.intersection(self.waiting).is_empty() {
            movable = self.movable();
        }
        self.listed_tasks = TaskSet::EMPTY;
        let task = &mut *self.tasks[me.index()];
        // SAFETY: `run` is on the stack, and its scheduler is borrowed.
        let scheduler = unsafe { &mut *scheduler.as_ptr() };
        let Some(next) = scheduler.replay_step(made, movable, &task.pending) else {
            return self.ask_scheduler(me, movable);
        };
        self.schedule.push(Pick::Task(next));
        if next != me {
            (self.next, self.step) = (Next::Task(next), None);
            return FastPathResult::Switch;
        }
        self.steps += 1;
        // Built from its parts: reading what was just written in other pieces would stall the
        // processor.
        self.step = Some(Step { cause, calls, ..Step::new(me, access, object) });
        if calls {
            self.times[task.operation as usize].call = self.steps;
        }
        if object != SharedId::NONE {
            let version = self.objects.observed_version(object);
            if task.rounds.note(place, object, version) {
                self.check_spin(me, place);
            }
        }
        FastPathResult::Continue
    }

    /// The same, if the scheduler must see the enabled accesses.
    #[cold]
    fn ask_scheduler(&mut self, me: TaskId, movable: TaskSet) -> FastPathResult {
        self.step = None;
        self.ask(movable, Some(me));
        if self.next != Next::Task(me) {
            return FastPathResult::Switch;
        }
        self.begin_unblocked(me);
        FastPathResult::Continue
    }

    /// `me`, which has not blocked, begins its access.
    #[inline(always)]
    pub(super) fn begin_unblocked(&mut self, me: TaskId) {
        debug_assert!(self.moments.is_none(), "then everything is unusual");
        self.current = me;
        self.steps += 1;
        let task = &mut self.tasks[me.index()];
        let step = &task.pending;
        self.step = Some(*step);
        if step.calls {
            self.times[task.operation as usize].call = self.steps;
        }
        if step.object != SharedId::NONE {
            let version = self.objects.observed_version(step.object);
            let place = task.place;
            if task.rounds.note(place, step.object, version) {
                self.check_spin(me, place);
            }
        }
    }

    /// Records the step that `me` is making.
    #[cold]
    pub(super) fn keep_moment(&mut self, me: TaskId) {
        let moment = Moment::new(self.tasks[me.index()].pending, self.shown_place(me));
        self.moments.iter_mut().for_each(|it| it.push(moment.clone()));
    }

    /// Only now is it known whether an operation returned with the step, which task it woke, and
    /// which lock it released.
    #[cold]
    pub(super) fn finish_moment(&mut self) {
        let moment = self.moments.as_mut().and_then(|it| it.last_mut());
        if let (Some(moment), Some(step)) = (moment, self.step) {
            moment.step = step;
        }
    }
}
