//! The common case: a task comes to an access that it can make, and nothing is unusual.
//!
//! What is done here is what [`Engine::arrive`], [`Engine::decide`] and [`Engine::begin`] do, less all that cannot matter then. Most
//! steps are of this kind, so each instruction counts.

use clewline_explore::{Access, Pick, SharedId, Step, TaskId, TaskSet};

use super::{
    state::{Engine, Next},
    words::{Moment, Need, Until},
};
use crate::control::place::Place;

/// What came of it.
pub(super) enum Passage {
    /// Something is unusual, and nothing was done.
    Unusual,
    /// Somebody else is next, or nobody.
    Ends,
    /// The task goes on, and has begun its access.
    GoesOn,
}

impl Engine {
    /// Whether anything is that makes a step more than its access, besides a panic and the limit on steps.
    fn is_unusual(&self) -> bool {
        self.memory.is_some()
            || !self.fairness.is_idle()
            || self.moments.is_some()
            || self.is_free
            || self.is_ending
            || self.ending.is_some()
            || !self.spinning.is_empty()
            || !self.fresh.is_empty()
            || !self.held_back.is_empty()
            || self.tasks.iter().any(|it| it.yields)
            || self.unstarted_exists()
    }

    /// Something becomes unusual: from now on steps are made with all care, until nothing is.
    #[inline]
    pub(super) fn beware(&mut self) {
        self.quick_until = 0;
    }

    /// Steps are made quickly from now on, if nothing is unusual.
    pub(super) fn settle(&mut self) {
        self.quick_until = if self.is_unusual() { 0 } else { self.limits.steps };
    }

    /// `me`, who runs, is about to make an access that waits for nothing but its `need`, and begins it if it goes on. If it must wait, that
    /// is unusual.
    #[inline(always)]
    pub(super) fn pass(
        &mut self,
        me: TaskId,
        object: SharedId,
        access: Access,
        need: Need,
        place: Place,
    ) -> Passage {
        let is_quick = self.steps < self.quick_until && !std::thread::panicking();
        if !is_quick || !(need == Need::Nothing || need.is_met(self.objects.level(object))) {
            return Passage::Unusual;
        }
        debug_assert!(!self.is_unusual());
        let (Some(scheduler), Some(made)) = (self.scheduler, &self.step) else { return Passage::Unusual };
        let task = &mut *self.tasks[me.index()];
        // To write it every time would make the processor wait: what lies beside it is read below.
        if !self.waiting.is_empty() && self.waiting.contains(me) {
            self.waiting.remove(me);
            task.pending.after = TaskSet::EMPTY;
        }
        if need != Need::Nothing {
            // Whoever goes on instead may see to it that it must wait.
            self.waiting.insert(me);
            (task.need, task.until) = (need, Until::Met);
        }
        let calls = std::mem::take(&mut task.calls);
        // All else is as it was at its last access.
        let pending = &mut task.pending;
        (pending.access, pending.object, pending.calls) = (access, object, calls);
        debug_assert_eq!(*pending, Step { cause: pending.cause, calls, ..Step::new(me, access, object) });
        (task.place, task.is_idle) = (place, false);
        let cause = pending.cause;
        let mut movable = self.started.without(self.ended);
        if !movable.intersection(self.waiting).is_empty() {
            movable = self.movable();
        }
        self.listed = TaskSet::EMPTY;
        let task = &mut *self.tasks[me.index()];
        // SAFETY: `run` is on the stack, and its scheduler borrowed.
        let scheduler = unsafe { &mut *scheduler.as_ptr() };
        let Some(next) = scheduler.replay_step(made, movable, &task.pending) else {
            return self.pass_slowly(me, movable);
        };
        if let Some(schedule) = &mut self.schedule {
            schedule.push(Pick::Task(next));
        }
        if next != me {
            (self.next, self.step) = (Next::Task(next), None);
            return Passage::Ends;
        }
        self.steps += 1;
        // It is made of its parts: to read at once what was just written in other pieces makes the processor wait.
        self.step = Some(Step { cause, calls, ..Step::new(me, access, object) });
        if calls {
            self.times[task.operation as usize].call = self.steps;
        }
        if object != SharedId::NONE {
            let version = self.objects.seen(object);
            if task.rounds.note(place, object, version) {
                self.may_spin(me, place);
            }
        }
        Passage::GoesOn
    }

    /// The same, if the scheduler must see what could be done.
    #[cold]
    fn pass_slowly(&mut self, me: TaskId, movable: TaskSet) -> Passage {
        self.step = None;
        self.ask(movable, Some(me));
        if self.next != Next::Task(me) {
            return Passage::Ends;
        }
        self.begin_quickly(me);
        Passage::GoesOn
    }

    /// `me`, who has not waited, makes its access.
    #[inline(always)]
    pub(super) fn begin_quickly(&mut self, me: TaskId) {
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
            let version = self.objects.seen(step.object);
            let place = task.place;
            if task.rounds.note(place, step.object, version) {
                self.may_spin(me, place);
            }
        }
    }

    /// Keeps the step that `me` is making.
    #[cold]
    pub(super) fn keep_moment(&mut self, me: TaskId) {
        let task = &self.tasks[me.index()];
        let moment = Moment { step: task.pending, place: task.place, detail: String::new() };
        self.moments.iter_mut().for_each(|it| it.push(moment.clone()));
    }

    /// Only now is it known whether an operation returned with the step, whom it woke, and what it gave back.
    #[cold]
    pub(super) fn finish_moment(&mut self) {
        let moment = self.moments.as_mut().and_then(|it| it.last_mut());
        if let (Some(moment), Some(step)) = (moment, self.step) {
            moment.step = step;
        }
    }
}
