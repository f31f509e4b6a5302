//! The happens-before order of an execution, and its races.
//!
//! Happens-before is the transitive closure of: steps of one task in program order, dependent
//! steps, and a step before one that it unblocks. Each step has a vector clock, which counts the
//! steps of each task that happen before it. A step *races* with an earlier one if the two are
//! dependent and no step between them orders them: then the race can be reversed.
//!
//! Steps that may block need care. The step that unblocks another (a release, for example) happens
//! before it and cannot be exchanged with it, so it must not hide the race with the step that
//! blocked it (the other task's acquire), which can. The enabled sets that the scheduler has seen
//! distinguish the two: a task that is about to execute its step and is not enabled is blocked.
//!
//! Invariants: when a step is undone, everything that was recorded for it is undone, in reverse
//! order; so the replayed prefix of an execution costs nothing here.
//!
//! Source: P. Abdulla, S. Aronsson, B. Jonsson, K. Sagonas, "Optimal dynamic partial order
//! reduction", 2014. The treatment of blocking steps is ours.

use crate::step::{Access, SharedId, Step, TaskId, TaskSet};

/// The dependence relation between steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DependenceRelation {
    /// Steps whose order can affect a history: [`Step::is_dependent`].
    #[default]
    Histories,
    /// Steps that conflict: [`Step::conflicts`]. This loses histories; it exists to demonstrate
    /// that.
    Conflicts,
}

impl DependenceRelation {
    /// Whether the two steps are dependent. Both have been executed, or the first has.
    #[inline]
    pub(super) fn holds(self, a: &Step, b: &Step) -> bool {
        match self {
            DependenceRelation::Histories => a.is_dependent(b),
            DependenceRelation::Conflicts => a.conflicts(b),
        }
    }
}

/// A vector clock: the number of steps of each task.
pub(super) type Clock = [u16; TaskId::MAX];

#[inline]
fn join(into: &mut Clock, other: &Clock) {
    for (a, b) in into.iter_mut().zip(other) {
        *a = (*a).max(*b);
    }
}

/// A step that was executed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) step: Step,
    /// The node at which it was chosen.
    pub(super) node: u32,
    /// The tasks that were enabled then.
    enabled: TaskSet,
    clock: Clock,
    // The clock of its task before this step.
    before: Clock,
    // For each list, the previous event of its task in it.
    links: [u32; LISTS_PER_TASK],
    // The previous event that released the same lock.
    last_release: u32,
    // It released a shared hold of the lock.
    releases_shared: bool,
}

// For each task, lists of its events, latest first. Lists contain event numbers, from 1; 0 is the
// end.
const LISTS_PER_TASK: usize = 4;
// For one object: the events that change it, or those that do not.
const CHANGES: usize = 0;
const CALLS: usize = 1;
const RETURNS: usize = 2;
const YIELDS: usize = 3;

#[derive(Clone, Copy, Debug, Default)]
struct Object {
    changes: [u32; TaskId::MAX],
    reads: [u32; TaskId::MAX],
    last_release: u32,
}

/// The data of a task.
#[derive(Clone, Debug, Default)]
struct Task {
    clock: Clock,
    // The last event in each list that does not belong to an object.
    last: [u32; LISTS_PER_TASK],
    events: Vec<u32>,
}

// A task that was unblocked, and its clock before.
#[derive(Clone, Copy, Debug)]
struct WokenTask {
    event: u32,
    task: TaskId,
    clock: Clock,
}

/// The happens-before order of the steps of an execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Causality {
    pub(super) dependence: DependenceRelation,
    // Whether a race with one step hides races with steps that happen before that one.
    hides_earlier_races: bool,
    pub(super) events: Vec<Event>,
    replayed: usize,
    tasks: [Task; TaskId::MAX],
    tasks_seen: TaskSet,
    objects: Vec<Object>,
    woken: Vec<WokenTask>,
    /// The events with which the last step races.
    pub(super) races: Vec<u32>,
    /// The events that unblocked the last step, although its task had other steps to execute before
    /// it blocked.
    pub(super) enablers: Vec<u32>,
    has_diverged: bool,
}

/// A search position for the events that a step depends on: for one task, the latest event in each
/// list that was not visited yet.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    // Events that change the object, read it, call, return, yield, or any events.
    at: [u32; 6],
}

impl Cursor {
    fn latest(&self) -> u32 {
        self.at.iter().copied().fold(0, u32::max)
    }
}

impl Causality {
    pub(super) fn new(dependence: DependenceRelation) -> Self {
        Causality { dependence, hides_earlier_races: true, ..Causality::default() }
    }

    /// A race with one step does not hide races with earlier steps of other tasks.
    pub(super) fn with_all_races(dependence: DependenceRelation) -> Self {
        Causality { dependence, ..Causality::default() }
    }

    /// Starts another execution, which replays the first `keep` steps.
    pub(super) fn begin(&mut self, keep: usize) {
        while keep < self.events.len() {
            self.undo_last();
        }
        self.replayed = 0;
        self.has_diverged = false;
    }

    /// Whether a replayed step was not the same as before.
    pub(super) fn has_diverged(&self) -> bool {
        self.has_diverged
    }

    /// The number of steps of this execution so far.
    pub(super) fn steps_made(&self) -> usize {
        self.replayed
    }

    /// A step was executed. Returns its clock if it is new; then its races have been computed, and
    /// it has to be [added](Self::add).
    #[inline]
    pub(super) fn on_step(&mut self, step: &Step, enabled: TaskSet) -> Option<Clock> {
        self.replayed += 1;
        if let Some(before) = self.events.get(self.replayed - 1) {
            self.has_diverged |= before.step != *step;
            return None;
        }
        Some(self.find_races(step, enabled))
    }

    /// Adds a step that was chosen at `node`, where the tasks in `enabled` were enabled.
    pub(super) fn add(&mut self, step: &Step, node: usize, enabled: TaskSet, mut clock: Clock) {
        let me = step.task.index();
        let number = self.events.len() as u32 + 1;
        // Written as a whole: reading the clock right after writing a part of it would stall the
        // processor.
        clock.iter_mut().enumerate().for_each(|(at, count)| *count += u16::from(at == me));
        let mut links = self.tasks[me].last;
        if step.object != SharedId::NONE {
            links[CHANGES] = std::mem::replace(self.list(step), number);
        }
        let (mut last_release, mut releases_shared) = (0, false);
        if step.frees != SharedId::NONE {
            let lock = self.object(step.frees);
            last_release = std::mem::replace(&mut lock.last_release, number);
            releases_shared = lock.changes[me] < lock.reads[me];
        }
        let task = &mut self.tasks[me];
        let before = std::mem::replace(&mut task.clock, clock);
        task.events.push(number);
        if step.calls {
            task.last[CALLS] = number;
        }
        if step.returns {
            task.last[RETURNS] = number;
        }
        if step.is_ordered() {
            task.last[YIELDS] = number;
        }
        let (made, node) = (*step, node as u32);
        self.events.push(Event {
            step: made,
            node,
            enabled,
            clock,
            before,
            links,
            last_release,
            releases_shared,
        });
        self.tasks_seen.insert(step.task);
        // A task that was not blocked accesses the same object as the step that woke it, and that
        // orders the two.
        for other in step.wakes.without(enabled) {
            let task = &mut self.tasks[other.index()];
            self.woken.push(WokenTask { event: number, task: other, clock: task.clock });
            join(&mut task.clock, &clock);
        }
    }

    fn undo_last(&mut self) {
        let number = self.events.len() as u32;
        let Some(event) = self.events.pop() else { return };
        while let Some(woken) = self.woken.pop_if(|it| it.event == number) {
            self.tasks[woken.task.index()].clock = woken.clock;
        }
        let step = event.step;
        if step.frees != SharedId::NONE {
            self.object(step.frees).last_release = event.last_release;
        }
        if step.object != SharedId::NONE {
            *self.list(&step) = event.links[CHANGES];
        }
        let task = &mut self.tasks[step.task.index()];
        task.events.pop();
        task.last = event.links;
        task.clock = event.before;
    }

    #[inline]
    fn object(&mut self, id: SharedId) -> &mut Object {
        let at = id.0 as usize;
        if self.objects.len() <= at {
            self.objects.resize(at + 1, Object::default());
        }
        &mut self.objects[at]
    }

    /// The list that contains `step`, of those of its object.
    #[inline]
    fn list(&mut self, step: &Step) -> &mut u32 {
        let me = step.task.index();
        let object = self.object(step.object);
        if step.access.is_shared() { &mut object.reads[me] } else { &mut object.changes[me] }
    }

    /// Computes the events with which `step` races if it is executed now, with the tasks in
    /// `enabled` enabled. Returns its clock.
    pub(super) fn find_races(&mut self, step: &Step, enabled: TaskSet) -> Clock {
        self.races.clear();
        self.enablers.clear();
        let me = step.task;
        let mut clock = self.tasks[me.index()].clock;
        for other in step.after {
            // The last steps of ended tasks do not count as enablers: a switch after them is free
            // anyway.
            join(&mut clock, &self.tasks[other.index()].clock);
        }
        let mut others = self.tasks_seen;
        others.remove(me);
        match (may_block(step.access), self.hides_earlier_races) {
            (true, _) => self.find_races_of_blocking_step(step, others, enabled, &mut clock),
            (false, true) => self.find_races_of_nonblocking_step(step, others, &mut clock),
            (false, false) => self.find_race_with_each_task(step, others, &mut clock),
        }
        clock
    }

    /// As `find_races`, for a step that never blocks: of each task, only the latest event that it
    /// depends on can race with it.
    #[inline]
    fn find_races_of_nonblocking_step(&mut self, step: &Step, others: TaskSet, clock: &mut Clock) {
        let mut latest = [0; TaskId::MAX];
        let mut left = TaskSet::EMPTY;
        for other in others {
            let number = self.latest(step, other.index());
            if number != 0 && clock[other.index()] < self.events[number as usize - 1].clock[other.index()] {
                latest[other.index()] = number;
                left.insert(other);
            }
        }
        while let Some((number, other)) = left.iter().map(|it| (latest[it.index()], it)).max() {
            left.remove(other);
            let event = &self.events[number as usize - 1];
            if clock[other.index()] < event.clock[other.index()] {
                self.races.push(number - 1);
                join(clock, &event.clock);
            }
        }
    }

    /// As `find_races`, if a race with one task does not hide those with others. An earlier event
    /// of the same task is found after the race with the latest one has been reversed.
    #[inline]
    fn find_race_with_each_task(&mut self, step: &Step, others: TaskSet, clock: &mut Clock) {
        let before = *clock;
        for other in others {
            let number = self.latest(step, other.index());
            if number == 0 {
                continue;
            }
            let event = &self.events[number as usize - 1];
            if before[other.index()] < event.clock[other.index()] {
                self.races.push(number - 1);
                join(clock, &event.clock);
            }
        }
    }

    fn find_races_of_blocking_step(
        &mut self,
        step: &Step,
        mut others: TaskSet,
        enabled: TaskSet,
        clock: &mut Clock,
    ) {
        // Events that happen before the step through an event that could have come later: they are
        // not races of their own.
        let mut hidden = *clock;
        self.join_releases(step, clock);
        let mut cursors = [Cursor::default(); TaskId::MAX];
        for other in others {
            cursors[other.index()] = self.cursor(step, other.index());
        }
        // The latest remaining event.
        while let Some((number, other)) = others.iter().map(|it| (cursors[it.index()].latest(), it)).max() {
            if number == 0 {
                break;
            }
            let event = &self.events[number as usize - 1];
            if event.clock[other.index()] <= hidden[other.index()] {
                // And so do all events before it.
                others.remove(other);
                continue;
            }
            let (is_race, hides_earlier_races) = self.is_reversible(step, event, number, enabled);
            // Otherwise `event` unblocked it. Its task is already blocked there, so it cannot be
            // chosen there in order to block.
            if is_race {
                self.races.push(number - 1);
            }
            if hides_earlier_races && self.hides_earlier_races {
                join(&mut hidden, &event.clock);
            }
            join(clock, &event.clock);
            self.advance(&mut cursors[other.index()], number);
        }
    }

    /// The latest event of another task that `step` depends on; 0 if there is none.
    #[inline]
    fn latest(&self, step: &Step, other: usize) -> u32 {
        let task = &self.tasks[other];
        let mut latest = task.last[YIELDS];
        if let Some(object) = self.objects.get(step.object.0 as usize) {
            latest = latest.max(object.changes[other]);
            if !step.access.is_shared() {
                latest = latest.max(object.reads[other]);
            }
        }
        if self.dependence == DependenceRelation::Histories {
            if step.returns {
                latest = latest.max(task.last[CALLS]);
            }
            if step.calls {
                latest = latest.max(task.last[RETURNS]);
            }
        }
        if step.is_ordered() {
            latest = latest.max(task.events.last().copied().unwrap_or(0));
        }
        debug_assert_eq!(latest, self.cursor(step, other).latest());
        latest
    }

    #[inline]
    fn cursor(&self, step: &Step, other: usize) -> Cursor {
        let mut cursor = Cursor::default();
        let task = &self.tasks[other];
        if let Some(object) = self.objects.get(step.object.0 as usize) {
            cursor.at[0] = object.changes[other];
            if !step.access.is_shared() {
                cursor.at[1] = object.reads[other];
            }
        }
        if self.dependence == DependenceRelation::Histories {
            if step.returns {
                cursor.at[2] = task.last[CALLS];
            }
            if step.calls {
                cursor.at[3] = task.last[RETURNS];
            }
        }
        cursor.at[4] = task.last[YIELDS];
        if step.is_ordered() {
            cursor.at[5] = task.events.last().copied().unwrap_or(0);
        }
        cursor
    }

    #[inline]
    fn advance(&self, cursor: &mut Cursor, number: u32) {
        let links = &self.events[number as usize - 1].links;
        let next = [links[CHANGES], links[CHANGES], links[CALLS], links[RETURNS], links[YIELDS], 0];
        for (at, next) in cursor.at.iter_mut().zip(next) {
            if *at == number {
                *at = next;
            }
        }
    }

    /// Joins the clocks of the events that released what `step` acquires, without an access of the
    /// lock of their own.
    fn join_releases(&mut self, step: &Step, clock: &mut Clock) {
        let mut number = self.objects.get(step.object.0 as usize).map_or(0, |it| it.last_release);
        while number != 0 {
            let event = &self.events[number as usize - 1];
            let task = event.step.task.index();
            // Shared holders of a lock do not block each other.
            let is_waited_for = !(event.releases_shared && step.access == Access::AcquireShared);
            if is_waited_for && clock[task] < event.clock[task] {
                join(clock, &event.clock);
                self.enablers.push(number - 1);
            }
            if !event.releases_shared {
                // The exclusive holder came after all holders before it.
                break;
            }
            number = event.last_release;
        }
    }

    /// Whether `step`, which may block, may be exchanged with `event`, and whether it certainly
    /// can.
    fn is_reversible(&self, step: &Step, event: &Event, number: u32, enabled: TaskSet) -> (bool, bool) {
        let task = &self.tasks[step.task.index()];
        let is_pending = task.events.last().is_none_or(|it| *it < number);
        if is_pending {
            let after = self.events.get(number as usize).map_or(enabled, |it| it.enabled);
            let was_enabled = event.enabled.contains(step.task);
            // If the step was blocked before and enabled after, `event` unblocked it. If it was
            // still blocked, a later event unblocked it, which may be unrelated to `event`.
            return (was_enabled || !after.contains(step.task), was_enabled);
        }
        (true, false)
    }

    /// The initials: the tasks with which an execution can start that reverses the race of `event`
    /// with `step`. They are the tasks of the events after `event` that do not happen after it, and
    /// of `step`, whose clock is `clock`, whose first such event has none of the others before it.
    ///
    /// Without `event`, `step` may read another value and return where it does not now; then calls
    /// that come before it now must not come after it. That is detected where `step` is first
    /// tried, since the calls race with it there.
    pub(super) fn initials(&self, event: u32, step: &Step, clock: &Clock) -> TaskSet {
        let first = &self.events[event as usize];
        let (owner, count) = (first.step.task.index(), first.clock[first.step.task.index()]);
        // The first such event of each task.
        let mut begin = [0_u16; TaskId::MAX];
        let mut clocks = [clock; TaskId::MAX];
        let mut tasks = TaskSet::EMPTY;
        let mut seen = self.tasks_seen;
        seen.insert(step.task);
        for task in seen {
            let events = &self.tasks[task.index()].events;
            let at = events.partition_point(|it| *it <= event + 1);
            let (its, is_step) = match events.get(at) {
                Some(number) => (&self.events[*number as usize - 1].clock, false),
                None if task == step.task => (clock, true),
                None => continue,
            };
            // Later events of the task that executed `event` happen after it.
            if is_step || its[owner] < count {
                tasks.insert(task);
                (begin[task.index()], clocks[task.index()]) = (at as u16 + 1, its);
            }
        }
        let is_initial = |task: &TaskId| {
            let its = clocks[task.index()];
            tasks.iter().all(|other| other == *task || its[other.index()] < begin[other.index()])
        };
        tasks.iter().filter(is_initial).collect()
    }
}

/// Whether such a step may block.
const fn may_block(access: Access) -> bool {
    match access {
        Access::Acquire
        | Access::AcquireShared
        | Access::Wait
        | Access::Send
        | Access::Receive
        | Access::Join
        | Access::Park
        | Access::Await => true,
        Access::Local
        | Access::Read
        | Access::Write
        | Access::Update
        | Access::TryAcquire
        | Access::TryAcquireShared
        | Access::Release
        | Access::Notify
        | Access::Unpark
        | Access::Wake
        | Access::Yield
        | Access::Fence
        | Access::Flush => false,
    }
}
