//! Which task runs next.

use clewline_explore::{Choice, Diverged, Ending, FastPath, Pick, Point, TaskId, TaskSet};

use super::{
    replay::{LONG_EXECUTION_STEPS, Repeats},
    state::{Engine, Next, Task},
    types::{Excess, ExecutionLimit, Unended, WakeCondition},
};
use crate::control::place::Place;

// For this many rounds in which only spinning tasks can move, they run in every order.
const ANY_ORDER_SPIN_ROUNDS: u32 = 3;

impl Engine {
    /// The tasks that could move, before fairness is applied.
    pub(super) fn movable(&self) -> TaskSet {
        let mut movable = self.started.without(self.ended).without(self.spinning);
        for task in movable.intersection(self.waiting) {
            if !self.is_ready(&self.tasks[task.index()]) {
                movable.remove(task);
            }
        }
        movable
    }

    pub(super) fn is_ready(&self, task: &Task) -> bool {
        let is_ready = match task.until {
            WakeCondition::Met => self.is_met(task),
            WakeCondition::Woken => task.is_woken && self.is_met(task),
            WakeCondition::WokenOrTimeout => self.is_met(task),
            WakeCondition::MetOrTimeout => true,
        };
        is_ready && self.have_ended(task.pending.after)
    }

    #[inline]
    pub(super) fn is_met(&self, task: &Task) -> bool {
        task.need.is_met(self.objects.level(task.pending.object))
    }

    #[inline]
    pub(super) fn have_ended(&self, tasks: TaskSet) -> bool {
        tasks.without(self.ended).is_empty()
            && (self.weak.buffers.is_empty() || tasks.iter().all(|it| self.is_drained(it)))
    }

    /// Ends the current step and picks the next task. Returns whether there is one.
    #[inline]
    pub(super) fn decide(&mut self) -> bool {
        loop {
            let goes_on = self.decide_once();
            match self.next {
                Next::Task(buffer) if goes_on && self.weak.buffers.contains(buffer) => self.flush(buffer),
                Next::Task(_) | Next::Start | Next::None => return goes_on,
            }
        }
    }

    pub(super) fn decide_once(&mut self) -> bool {
        if self.is_replica() {
            return self.replay_round();
        }
        if self.unstarted_exists() {
            self.next = Next::Start;
            return false;
        }
        let mover = self.step.as_ref().map(|it| it.task);
        let mut movable = self.movable();
        let mut yields = false;
        if let Some(mover) = mover {
            if self.is_panicking(mover) && movable.contains(mover) {
                // Locks of `std` that another task takes while this one unwinds would see the
                // thread as panicking, so a task that unwinds continues if it can.
                movable = TaskSet::only(mover);
            }
            yields = std::mem::take(&mut self.tasks[mover.index()].yields);
            self.end_step(mover, yields, movable);
        }
        if let Some(ending) = self.ending.clone() {
            return self.ended_with(ending);
        }
        if self.is_graph {
            movable = self.graph_movable(movable);
        }
        let is_wait = movable.is_empty() && !self.spinning.is_empty();
        if is_wait && let Some(ending) = self.graph_wait() {
            return self.finish(ending);
        }
        if is_wait || (yields || LONG_EXECUTION_STEPS <= self.steps) && !self.is_free {
            match self.repeats(movable, TaskSet::EMPTY, is_wait) {
                Repeats::No => (),
                Repeats::Forever => return self.finish(Ending::Stuck),
                Repeats::Replica => return self.replay_round(),
            }
        }
        if is_wait {
            movable = self.release_spinners();
        }
        if movable.is_empty() {
            let is_full = self.ended == TaskSet::all(self.tasks.len());
            return self.finish(if is_full { Ending::Full } else { Ending::Stuck });
        }
        if self.limits.steps <= self.steps {
            return self.cut(is_wait, movable);
        }
        if self.steps == 0 {
            self.note_initial_state();
        }
        self.held_back = TaskSet::EMPTY;
        if !self.fairness.is_idle() {
            let all = movable;
            movable = self.fairness.filter(movable);
            self.held_back = all.without(movable);
        }
        let waits_briefly =
            |it: TaskId| self.waiting.contains(it) && self.tasks[it.index()].until.has_timeout();
        let mut runner = mover.filter(|it| !yields && !waits_briefly(*it));
        if !self.weak.buffers.is_empty() {
            // A flush does not end a task's turn.
            if mover.is_some_and(|it| self.weak.buffers.contains(it)) {
                runner = self.weak.runner;
            }
            self.weak.runner = runner;
        }
        self.pick(movable, runner)
    }

    #[inline]
    pub(super) fn unstarted_exists(&self) -> bool {
        self.started != TaskSet::all(self.tasks.len()) && self.unstarted().is_some()
    }

    /// The step of `mover` has ended, and the tasks in `movable` can move now.
    #[inline]
    fn end_step(&mut self, mover: TaskId, yields: bool, movable: TaskSet) {
        if !self.fairness.is_idle() {
            let freed = self.fairness.moved(mover, movable);
            freed.iter().for_each(|it| self.note_wake(it));
        }
        if yields && !self.is_graph {
            self.fairness.yields(mover, movable);
            self.use_slow_path();
        }
        if self.moments.is_some() {
            self.finish_moment();
        }
        if let Some(mut step) = self.step.take()
            && !self.is_free
        {
            // Fairness depends on which tasks have moved since.
            step.yields |= yields || self.is_order_total();
            self.scheduler().on_step(&step);
        }
    }

    /// Reports the pending accesses of all unfinished tasks except `others` to the scheduler.
    pub(super) fn report_abandoned(&mut self, others: TaskSet) {
        if self.is_free || self.ending == Some(Ending::Restart) {
            return;
        }
        for task in self.started.without(self.ended).without(others) {
            let step = self.tasks[task.index()].pending;
            self.scheduler().abandoned(&step);
        }
    }

    /// The last step has ended the execution.
    fn ended_with(&mut self, ending: Ending) -> bool {
        self.report_abandoned(TaskSet::EMPTY);
        self.ending = Some(self.with_failure(ending));
        self.next = Next::None;
        false
    }

    pub(super) fn finish(&mut self, ending: Ending) -> bool {
        if self.is_graph && ending != Ending::Full {
            self.graph_blocked();
        }
        if ending != Ending::Full {
            self.report_abandoned(TaskSet::EMPTY);
        }
        let ending = self.with_failure(ending);
        self.end_with(if self.is_free { Ending::Redundant } else { ending });
        self.next = Next::None;
        false
    }

    /// The execution is too long. `is_wait`: nothing but loops could move.
    fn cut(&mut self, is_wait: bool, movable: TaskSet) -> bool {
        let has_waited = |it: TaskId| self.tasks[it.index()].rounds.has_waited();
        let is_wait = is_wait || self.idle_rounds != 0 || movable.iter().all(has_waited);
        let place = self.tasks[self.current.index()].place;
        self.note_unended(place, if is_wait { Excess::Waiting } else { Excess::Steps });
        self.limit = Some(ExecutionLimit::Steps);
        self.finish(Ending::Cut)
    }

    /// The execution is cut at `place`.
    pub(super) fn note_unended(&mut self, place: Place, why: Excess) {
        if !self.is_free {
            let place = self.foreign.map_or(place, |it| it.shown_place(place));
            self.unended.get_or_insert(Unended { place, why });
        }
    }

    /// No other task can move: spinning tasks run another round and may give up.
    pub(super) fn release_spinners(&mut self) -> TaskSet {
        self.idle_rounds += 1;
        // In every order at first; then in turn, because there would be too many orders in which
        // nothing happens.
        let turn = self.idle_rounds as usize % self.spinning.len();
        let one: TaskSet = self.spinning.iter().skip(turn).take(1).collect();
        for spinners in
            [if self.idle_rounds <= ANY_ORDER_SPIN_ROUNDS { self.spinning } else { one }, self.spinning]
        {
            for spinner in spinners {
                self.tasks[spinner.index()].spins = None;
            }
            self.spinning = self.spinning.without(spinners);
            let movable = self.movable();
            if !movable.is_empty() {
                return movable;
            }
        }
        TaskSet::EMPTY
    }

    pub(super) fn scheduler(&mut self) -> &mut dyn FastPath {
        let scheduler = self.scheduler.expect("tasks run inside `run`");
        // SAFETY: as in `drawn`.
        unsafe { &mut *scheduler.as_ptr() }
    }

    #[inline]
    pub(super) fn pick(&mut self, movable: TaskSet, mover: Option<TaskId>) -> bool {
        if self.is_free {
            let goes_on = mover.filter(|it| movable.contains(*it));
            self.next = goes_on.or(movable.first()).map_or(Next::None, Next::Task);
            return true;
        }
        if let Some(task) = self.chosen_before(movable) {
            self.continue_with(task);
            return true;
        }
        self.ask(movable, mover)
    }

    /// Shows the scheduler the pending accesses of the tasks in `movable`, and lets it choose.
    pub(super) fn ask(&mut self, movable: TaskSet, mover: Option<TaskId>) -> bool {
        self.list(movable);
        let running =
            mover.filter(|it| movable.contains(*it)).map(|it| self.enabled_index[it.index()].into());
        let scheduler = self.scheduler.expect("tasks run inside `run`");
        self.blocked.clear();
        for task in std::mem::take(&mut self.newly_blocked) {
            self.blocked.push(self.tasks[task.index()].pending);
        }
        let point = Point { enabled: &self.enabled, running, waiting: &self.blocked };
        // SAFETY: as in `drawn`.
        let choice = unsafe { (*scheduler.as_ptr()).choose(&point) };
        match choice {
            Choice::Step(index) => {
                self.continue_with(self.enabled[index].task);
                true
            }
            Choice::Redundant => {
                // The scheduler has handled the movable tasks, but not the blocked ones.
                self.report_abandoned(movable);
                self.is_free = true;
                self.use_slow_path();
                self.pick(movable, mover)
            }
            Choice::Stop => self.stop(movable, mover),
            Choice::Diverged(diverged) => self.diverged(diverged),
            Choice::Refused(reason) => {
                self.next = Next::None;
                self.end_with(Ending::Refused(reason));
                false
            }
        }
    }

    #[inline(always)]
    pub(super) fn continue_with(&mut self, task: TaskId) {
        self.next = Next::Task(task);
        self.schedule.push(Pick::Task(task));
    }

    /// The task that the scheduler chose at this point before, if it is replaying. The scheduler
    /// was shown the access of each other task when that task arrived at it, whether enabled or
    /// blocked.
    #[inline]
    fn chosen_before(&mut self, movable: TaskSet) -> Option<TaskId> {
        let fresh = std::mem::take(&mut self.newly_arrived);
        self.stale_tasks = self.stale_tasks.union(fresh);
        self.newly_blocked = fresh.without(movable);
        let arrived = match fresh.first() {
            Some(task) if fresh == TaskSet::only(task) && movable.contains(task) => {
                Some(&self.tasks[task.index()].pending)
            }
            Some(_) => return None,
            None => None,
        };
        let scheduler = self.scheduler.expect("tasks run inside `run`");
        // SAFETY: as in `drawn`.
        unsafe { (*scheduler.as_ptr()).replay_choice(movable, arrived) }
    }

    /// Fills `enabled` with the pending accesses of the tasks in `movable`. Usually only one task
    /// has arrived at another point since.
    #[inline(always)]
    pub(super) fn list(&mut self, movable: TaskSet) {
        if self.listed_tasks == movable {
            for task in self.stale_tasks.intersection(movable) {
                let place = usize::from(self.enabled_index[task.index()]);
                self.enabled[place] = self.tasks[task.index()].pending;
            }
        } else {
            self.enabled.clear();
            for task in movable {
                self.enabled_index[task.index()] = self.enabled.len() as u8;
                self.enabled.push(self.tasks[task.index()].pending);
            }
            self.listed_tasks = movable;
        }
        debug_assert!(
            movable.iter().map(|it| self.tasks[it.index()].pending).eq(self.enabled.iter().copied())
        );
        self.stale_tasks = TaskSet::EMPTY;
    }

    /// The scheduler chose none of the movable tasks. A spinning task may give up at some time.
    pub(super) fn stop(&mut self, movable: TaskSet, mover: Option<TaskId>) -> bool {
        if !self.held_back.is_empty() {
            // The wanted task yields to tasks that are not wanted.
            self.fairness.clear();
            let all = movable.union(std::mem::take(&mut self.held_back));
            return self.pick(all, mover);
        }
        if !self.spinning.is_empty() {
            match self.repeats(movable, movable, true) {
                Repeats::No => {
                    let movable = self.release_spinners();
                    if !movable.is_empty() {
                        return self.pick(movable, mover);
                    }
                }
                Repeats::Forever => (),
                Repeats::Replica => return self.replay_round(),
            }
        }
        self.is_stopped = true;
        self.finish(Ending::Stuck)
    }

    #[cold]
    pub(super) fn diverged(&mut self, diverged: Box<Diverged>) -> bool {
        self.next = Next::None;
        if diverged.is_foreign && !self.has_release_points {
            // The replayed schedule may come from an exploration in which a task used `try_lock`,
            // and no task has reached that call yet.
            self.enable_release_points();
        } else {
            self.end_with(Ending::Diverged(diverged));
        }
        false
    }
}
