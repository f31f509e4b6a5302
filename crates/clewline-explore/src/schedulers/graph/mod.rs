//! Execution graphs: every reads-from relation and every modification order, once.
//!
//! Under sequential consistency, and with store buffers, the nodes are whole steps, and the
//! algorithm is another one (`steps`). Everything below is about loads that choose their stores.
//!
//! Two executions in which each read reads the same store, and the stores of each location have the
//! same order, differ in nothing that a task can observe: under a weak memory model the values, the
//! happens-before relation, and so the histories are functions of this *execution graph*. The
//! scheduler explores graphs instead of interleavings, and each of them once.
//!
//! * The next event of a task is added. A read may read each store that is not too old; a store may
//!   take each place in modification order that is not too old.
//! * A store that is added may also be read by reads that were added earlier: a *revisit*
//!   (`revisit`). The events that were added since the read are deleted, except for what the store
//!   depends on.
//! * A graph that is to be explored is executed again, in an order of its events in which each
//!   comes after what it depends on (`plan`), and then continued.
//!
//! Locks, condition variables and park tokens are objects like atomics: each access to one is an
//! update, which reads the access before it. An acquisition that was revisited waits until the lock
//! is released, and is executed then; an acquisition that waits at the end of an execution is added
//! all the same, since it might have been first.
//!
//! The graph before a revisit is kept, to be continued later. So there is one graph for each
//! revisit in a row, and memory grows with the square of the number of events at most.
//!
//! Source: M. Kokologiannakis, I. Marmanis, V. Gladstein, V. Vafeiadis, "Truly stateless, optimal
//! dynamic partial order reduction", 2022. The order of sequentially consistent events is not part
//! of a graph.
//!
//! Requires: a system that lets the scheduler choose stores and says so ([`GraphPath`]). Only one
//! task starts others. A step that accesses another kind of object is refused.
//!
//! Invariants: the graph is consistent wherever it is executed; the events below `base` have no
//! alternatives that are still to be explored in it.

mod add;
mod advance;
mod events;
mod plan;
mod revisit;
mod run;
mod stale;
mod state;
mod steps;

use std::sync::atomic::Ordering;

use super::entry::{SchedulerEntry, SchedulerSettings};
use crate::{
    part::Division,
    scheduler::{AtomicStep, Begin, Choice, Diverged, FastPath, GraphPath, Point, Scheduler},
    step::{Access, SharedId, Step, TaskId, TaskSet},
};
use events::{EventId, INITIAL, Role};
pub use state::Graph;

/// The entry in the table of schedulers.
pub const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "graph",
    about: "every execution graph, once: which store each load reads, and the order of stores",
    is_exhaustive: true,
    explores_graphs: true,
    division: Division::None,
    bounds: &[],
    make: |_: &SchedulerSettings| Box::new(Graph::default()),
};

const OTHER_OBJECTS: &str = "the scheduler `graph` explores atomics, fences, locks, condition variables and \
                             park only, and a thread accesses another object, or tries to take a lock; use \
                             `bounded-dpor`";
const READERS: &str = "the scheduler `graph` does not explore threads that take a lock shared to release threads \
                       that hold it shared, while another thread waits for it; use `bounded-dpor`";

/// Why a step cannot be explored, if it cannot.
fn refusal(step: &Step) -> Option<&'static str> {
    match step.access {
        Access::Local | Access::Read | Access::Write | Access::Update | Access::Fence => None,
        Access::Join if !step.after.is_empty() => None,
        other if Role::of(other).is_some() => None,
        _ => Some(OTHER_OBJECTS),
    }
}

impl Scheduler for Graph {
    fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            *self = Graph::default();
        }
        if !self.is_weak {
            return self.traces.begin(begin);
        }
        if self.run.is_replaying() && self.problem.is_none() {
            self.diverged();
        }
        if self.problem.is_some() {
            return true;
        }
        self.advance()
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        if !self.is_weak {
            return self.traces.choose(point);
        }
        if let Some(problem) = self.problem.take() {
            self.run.begin(Vec::new());
            return problem;
        }
        let index = match self.run.next_task() {
            Some(task) => point.enabled.iter().position(|it| it.task == task),
            None => match self.next_index(point) {
                Some(index) => Some(index),
                None => return Choice::Refused(READERS),
            },
        };
        let Some(index) = index else {
            return Choice::Diverged(Diverged::new(self.run.steps(), &[], point));
        };
        if let Some(reason) = refusal(&point.enabled[index]) {
            return Choice::Refused(reason);
        }
        self.run.begin_step(point.enabled[index].task);
        Choice::Step(index)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        if !self.is_weak {
            return self.traces.choose_value(n);
        }
        let Some(task) = self.run.task() else {
            self.diverged();
            return 0;
        };
        self.draw(task, n)
    }

    fn is_bounded(&self) -> bool {
        self.is_bounded
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl Graph {
    /// The step with which the execution continues beyond the plan. An acquisition that waits for a
    /// release comes first, before other accesses to its lock.
    fn next_index(&self, point: &Point<'_>) -> Option<usize> {
        let is_done = |it: EventId| self.run.is_done(it);
        let can_follow = |step: &Step| match self.next(step.task) {
            Some(event) => self.events.is_unblocked(event, is_done),
            None => false,
        };
        let is_free = |step: &Step| {
            let location = self.run.location(step.object).map(|it| &self.events.locations[it as usize]);
            let is_object = Role::of(step.access).is_some();
            self.next(step.task).is_none()
                && !(is_object && location.is_some_and(|it| it.reads.iter().any(|it| !is_done(*it))))
        };
        let mut steps = point.enabled.iter();
        steps.position(can_follow).or_else(|| point.enabled.iter().position(is_free))
    }
}

impl FastPath for Graph {
    fn on_begin(&mut self, is_timed: bool) -> bool {
        self.traces.begin_as(is_timed);
        true
    }

    fn replay_choice(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        if !self.is_weak {
            return self.traces.replay_choice(enabled, arrived);
        }
        if self.problem.is_some() {
            return None;
        }
        let task = self.run.next_task().filter(|it| enabled.contains(*it))?;
        self.run.begin_step(task);
        Some(task)
    }

    fn replay_step(&mut self, made: &Step, enabled: TaskSet, arrived: &Step) -> Option<TaskId> {
        if !self.is_weak {
            return self.traces.replay_step(made, enabled, arrived);
        }
        self.on_step(made);
        self.replay_choice(enabled, Some(arrived))
    }

    fn abandoned(&mut self, step: &Step) {
        if !self.is_weak {
            self.traces.abandoned(step);
        }
    }

    fn on_step(&mut self, step: &Step) {
        if !self.is_weak {
            return self.traces.on_step(step);
        }
        if self.run.is_step_empty() {
            match step.access {
                Access::Read | Access::Write | Access::Update => self.fail(Choice::Refused(OTHER_OBJECTS)),
                _ => self.local(step.task),
            }
        }
    }

    fn graph(&mut self) -> Option<&mut dyn GraphPath> {
        Some(self)
    }
}

impl GraphPath for Graph {
    fn chooses_stores(&mut self, stale_max: Option<u32>) {
        self.stale_max = stale_max;
        if !std::mem::replace(&mut self.is_weak, true) {
            self.run.begin(Vec::new());
        }
    }

    fn on_start(&mut self, task: TaskId, after: TaskSet) {
        self.events.know(task);
        after.iter().for_each(|it| self.events.know(it));
        self.events.after[task.index()] = after;
        self.run.start(task, after);
    }

    fn on_spawn(&mut self, by: TaskId, task: TaskId) {
        self.spawn(by, task);
    }

    fn on_join(&mut self, task: TaskId, others: TaskSet) {
        self.join(task, others);
    }

    fn on_plain_access(&mut self, task: TaskId) {
        self.local(task);
    }

    fn knows_all(&self, task: TaskId) -> bool {
        let known = self.run.known(task);
        self.run.all_made().filter(|it| it.0 != task).all(|(other, made)| known.count(other) == made)
    }

    fn choose_store(&mut self, access: AtomicStep<'_>) -> Choice {
        let choice = self.access(access);
        if !matches!(choice, Choice::Step(_)) {
            self.run.begin(Vec::new());
        }
        choice
    }

    fn choose_value_of(&mut self, task: TaskId, n: u32) -> u32 {
        self.draw(task, n)
    }

    fn on_release(&mut self, task: TaskId, object: SharedId) {
        self.release(task, object);
    }

    fn on_wake(&mut self, by: TaskId, task: TaskId) {
        let last = self.run.made(by).checked_sub(1);
        self.run.of(task).woken = last.map(|it| (by, it));
    }

    fn on_blocked(&mut self, step: &Step) {
        self.add_blocked(step);
    }

    fn on_fence(&mut self, task: TaskId, order: Ordering) {
        self.fence(task, order);
    }

    fn is_replaying(&self) -> bool {
        self.run.is_replaying()
    }

    fn has_read_last(&self, task: TaskId, objects: &[SharedId]) -> bool {
        objects.iter().filter_map(|it| self.run.location(*it)).all(|location| {
            let last = self.events.locations[location as usize].stores.last();
            let last = last.copied().unwrap_or(INITIAL);
            let own = self.events.tasks[task.index()].iter().rev();
            let mut own = own.filter(|it| self.events.at(**it).location == location);
            // The last store may be that of the loop itself, which stores what it has read.
            own.next().is_none_or(|it| *it == last || self.events.at(*it).source == last)
        })
    }
}
