//! The common case: a task comes to an access that is never kept waiting, and nothing is unusual.
//!
//! What is done here is what [`Engine::arrive`], [`Engine::decide`] and [`Engine::begin`] do, less all that cannot matter then. Most
//! steps are of this kind, so each instruction counts.

use clewline_explore::{Access, SharedId, TaskId, TaskSet};

use super::{Engine, Moment, Next, Place};

/// What came of it.
pub(super) enum Passage {
    /// Something is unusual, and nothing was done.
    Unusual,
    /// Somebody else is next, or nobody.
    Ends,
    /// The task goes on, and is to [begin](Engine::begin_quickly) its access.
    GoesOn,
}

impl Engine {
    /// Whether anything is that makes a step more than its access.
    #[inline(always)]
    fn is_unusual(&self) -> bool {
        self.unstarted_exists()
            || self.is_ending
            || self.is_free
            || self.ending.is_some()
            || self.memory.is_some()
            || !self.spinning.is_empty()
            || !self.fresh.is_empty()
            || !self.fairness.is_idle()
            || self.limits.steps <= self.steps
            || std::thread::panicking()
    }

    /// `me`, who runs, is about to make an access that is never kept waiting.
    #[inline(always)]
    pub(super) fn pass(&mut self, me: TaskId, object: SharedId, access: Access, place: Place) -> Passage {
        if self.is_unusual() {
            return Passage::Unusual;
        }
        let (Some(scheduler), Some(made)) = (self.scheduler, &self.step) else { return Passage::Unusual };
        let task = &mut self.tasks[me.index()];
        if task.yields {
            return Passage::Unusual;
        }
        let pending = &mut task.pending;
        (pending.access, pending.object, pending.calls) = (access, object, task.calls);
        pending.after = TaskSet::EMPTY;
        (task.place, task.calls, task.is_idle) = (place, false, false);
        // To write it every time would make the processor wait: what lies beside it is read below.
        if self.waiting.contains(me) {
            self.waiting.remove(me);
        }
        self.stale.insert(me);
        // SAFETY: `run` is on the stack, and its scheduler borrowed.
        let scheduler = unsafe { &mut *scheduler.as_ptr() };
        scheduler.executed(made);
        if self.moments.is_some() {
            self.finish_moment();
        }
        self.step = None;
        self.held_back = TaskSet::EMPTY;
        let mut movable = self.started.without(self.ended);
        for other in movable.intersection(self.waiting) {
            if !self.is_ready(&self.tasks[other.index()]) {
                movable.remove(other);
            }
        }
        match scheduler.again(movable, Some(&self.tasks[me.index()].pending)) {
            Some(task) => self.go_on_with(task),
            None => _ = self.ask(movable, Some(me)),
        }
        if self.next == Next::Task(me) { Passage::GoesOn } else { Passage::Ends }
    }

    /// `me`, who has not waited, makes its access.
    #[inline(always)]
    pub(super) fn begin_quickly(&mut self, me: TaskId) {
        self.current = me;
        self.steps += 1;
        let task = &mut self.tasks[me.index()];
        let step = &task.pending;
        self.step = Some(*step);
        if step.calls {
            self.times[task.operation as usize].call = self.steps;
        }
        let (object, place) = (step.object, task.place);
        if object != SharedId::NONE {
            self.spin(me, place, object);
        }
        if self.moments.is_some() {
            self.keep_moment(me);
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
