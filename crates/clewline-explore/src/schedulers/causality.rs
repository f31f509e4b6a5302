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
//! A flush happens after its store. What waits for an empty store buffer comes after the buffer's
//! end, as after that of a task.
//!
//! Invariants: when a step is undone, everything that was recorded for it is undone, in reverse
//! order; so the replayed prefix of an execution costs nothing here.
//!
//! Source: P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Optimal dynamic partial order
//! reduction", 2014. The treatment of blocking steps is ours.

use crate::step::{Access, PerTask, SharedId, Step, TaskId, TaskSet};

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
type Clock = PerTask<u16>;

/// How many entries of a clock may differ from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Width {
    /// [`TaskId::USUAL_MAX`].
    #[default]
    Few,
    All,
}

impl Width {
    #[inline(always)]
    fn join(self, into: &mut Clock, other: &Clock) {
        let join = |(mine, theirs): (&mut u16, &u16)| *mine = (*mine).max(*theirs);
        into[..TaskId::USUAL_MAX].iter_mut().zip(&other[..TaskId::USUAL_MAX]).for_each(join);
        if self == Width::All {
            into[TaskId::USUAL_MAX..].iter_mut().zip(&other[TaskId::USUAL_MAX..]).for_each(join);
        }
    }

    #[inline(always)]
    fn assign(self, into: &mut Clock, other: &Clock) {
        into[..TaskId::USUAL_MAX].copy_from_slice(&other[..TaskId::USUAL_MAX]);
        if self == Width::All {
            into[TaskId::USUAL_MAX..].copy_from_slice(&other[TaskId::USUAL_MAX..]);
        }
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
    // For each list, the previous event of its task in it.
    links: [u32; LISTS_PER_TASK],
    // The previous event that released the same lock. Of a flush: the store that it makes visible.
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

/// The clocks of an event.
#[derive(Clone, Copy, Debug, Default)]
struct Clocks {
    now: Clock,
    // The clock of its task before this step.
    before: Clock,
}

#[derive(Clone, Copy, Debug, Default)]
struct Object {
    changes: PerTask<u32>,
    reads: PerTask<u32>,
    last_release: u32,
}

/// The data of a task.
#[derive(Clone, Debug, Default)]
struct Task {
    clock: Clock,
    // The last event in each list that does not belong to an object.
    last: [u32; LISTS_PER_TASK],
    events: Vec<u32>,
    // Of a store buffer: the task whose stores it has.
    owner: Option<TaskId>,
    // Its stores that entered its buffer.
    buffered: Vec<u32>,
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
    // Of each event. Longer, if there were more events.
    clocks: Vec<Clocks>,
    width: Width,
    replayed: usize,
    tasks: PerTask<Task>,
    tasks_seen: TaskSet,
    objects: Vec<Object>,
    woken: Vec<WokenTask>,
    // The clock of the last step.
    clock: Clock,
    /// The events with which the last step races.
    pub(super) races: Vec<u32>,
    /// The events that unblocked the last step, although its task had other steps to execute before
    /// it blocked.
    pub(super) enablers: Vec<u32>,
    has_diverged: bool,
    // Of some tasks, while something is computed; not initialized again, since there are many.
    latest: PerTask<u32>,
    cursors: PerTask<Cursor>,
    begin: PerTask<u16>,
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

    /// Whether histories depend on the order of calls and returns.
    pub(super) fn begin_as(&mut self, is_timed: bool) {
        if !is_timed {
            self.dependence = DependenceRelation::Conflicts;
        }
    }

    /// Whether a replayed step was not the same as before.
    pub(super) fn has_diverged(&self) -> bool {
        self.has_diverged
    }

    /// The number of steps of this execution so far.
    pub(super) fn steps_made(&self) -> usize {
        self.replayed
    }

    /// A step was executed. Returns whether it is new; then its races have been computed, and it
    /// has to be [added](Self::add).
    #[inline]
    pub(super) fn on_step(&mut self, step: &Step, enabled: TaskSet) -> bool {
        self.replayed += 1;
        if let Some(before) = self.events.get(self.replayed - 1) {
            self.has_diverged |= before.step != *step;
            return false;
        }
        self.find_races(step, enabled);
        true
    }

    /// Adds the step whose races were found last. It was chosen at `node`, where the tasks in
    /// `enabled` were enabled.
    pub(super) fn add(&mut self, step: &Step, node: usize, enabled: TaskSet) {
        let me = step.task.index();
        let number = self.events.len() as u32 + 1;
        if self.clocks.len() < number as usize {
            self.clocks.push(Clocks::default());
        }
        let mut links = self.tasks[me].last;
        if is_in_list(step) {
            links[CHANGES] = std::mem::replace(self.list(step), number);
        }
        let (mut last_release, mut releases_shared) = (0, false);
        if step.frees != SharedId::NONE {
            let lock = self.object(step.frees);
            last_release = std::mem::replace(&mut lock.last_release, number);
            releases_shared = lock.changes[me] < lock.reads[me];
        }
        match step.access {
            Access::Flush => last_release = self.flushed(step),
            Access::Buffer => {
                self.tasks[me].buffered.push(number);
                step.wakes.iter().for_each(|it| self.tasks[it.index()].owner = Some(step.task));
            }
            _ => (),
        }
        let (task, clocks, width) = (&mut self.tasks[me], &mut self.clocks[number as usize - 1], self.width);
        width.assign(&mut clocks.before, &task.clock);
        width.assign(&mut clocks.now, &self.clock);
        width.assign(&mut task.clock, &self.clock);
        // Last: copying a clock right after a part of it was written would stall the processor.
        clocks.now[me] += 1;
        task.clock[me] += 1;
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
        self.events.push(Event { step: made, node, enabled, links, last_release, releases_shared });
        self.tasks_seen.insert(step.task);
        // A task that was not blocked accesses the same object as the step that woke it, and that
        // orders the two.
        for other in step.wakes.without(enabled) {
            let task = &mut self.tasks[other.index()];
            self.woken.push(WokenTask { event: number, task: other, clock: task.clock });
            self.width.join(&mut task.clock, &self.clocks[number as usize - 1].now);
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
        if is_in_list(&step) {
            *self.list(&step) = event.links[CHANGES];
        }
        let task = &mut self.tasks[step.task.index()];
        task.events.pop();
        task.buffered.pop_if(|it| *it == number);
        task.last = event.links;
        self.width.assign(&mut task.clock, &self.clocks[number as usize - 1].before);
    }

    /// The store that `step`, a flush, makes visible: the next one to its object. Stores to an
    /// object that does not exist any more have left the buffer.
    fn flushed(&self, step: &Step) -> u32 {
        let buffer = &self.tasks[step.task.index()];
        let before = buffer.events.last().map_or(0, |it| self.events[*it as usize - 1].last_release);
        let stores = buffer.owner.map_or(&[][..], |it| &self.tasks[it.index()].buffered);
        let later = &stores[stores.partition_point(|it| *it <= before)..];
        let mut later = later.iter().copied();
        later.find(|it| self.events[*it as usize - 1].step.object == step.object).unwrap_or(before)
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

    /// The number of steps of `task` up to the event with this number, which is one of its steps.
    #[inline]
    fn count(&self, number: u32, task: TaskId) -> u16 {
        self.clocks[number as usize - 1].now[task.index()]
    }

    /// Everything up to the event with this number happens before the last step.
    #[inline]
    fn join(&mut self, number: u32) {
        self.width.join(&mut self.clock, &self.clocks[number as usize - 1].now);
    }

    /// Computes the events with which `step` races if it is executed now, with the tasks in
    /// `enabled` enabled, and its clock.
    pub(super) fn find_races(&mut self, step: &Step, enabled: TaskSet) {
        self.races.clear();
        self.enablers.clear();
        let me = step.task;
        if TaskId::USUAL_MAX <= me.index() {
            self.width = Width::All;
        }
        self.width.assign(&mut self.clock, &self.tasks[me.index()].clock);
        for other in step.after {
            // The last steps of ended tasks do not count as enablers: a switch after them is free
            // anyway.
            self.width.join(&mut self.clock, &self.tasks[other.index()].clock);
        }
        if step.access == Access::Flush
            && let store @ 1.. = self.flushed(step)
        {
            self.join(store);
        }
        let mut others = self.tasks_seen;
        others.remove(me);
        match (may_block(step.access), self.hides_earlier_races) {
            (true, _) => self.find_races_of_blocking_step(step, others, enabled),
            (false, true) => self.find_races_of_nonblocking_step(step, others),
            (false, false) => self.find_race_with_each_task(step, others),
        }
    }

    /// As `find_races`, for a step that never blocks: of each task, only the latest event that it
    /// depends on can race with it.
    #[inline]
    fn find_races_of_nonblocking_step(&mut self, step: &Step, others: TaskSet) {
        let mut left = TaskSet::EMPTY;
        for other in others {
            let number = self.latest(step, other.index());
            if number != 0 && self.clock[other.index()] < self.count(number, other) {
                self.latest[other.index()] = number;
                left.insert(other);
            }
        }
        while let Some((number, other)) = left.iter().map(|it| (self.latest[it.index()], it)).max() {
            left.remove(other);
            if self.clock[other.index()] < self.count(number, other) {
                self.races.push(number - 1);
                self.join(number);
            }
        }
    }

    /// As `find_races`, if a race with one task does not hide those with others. An earlier event
    /// of the same task is found after the race with the latest one has been reversed.
    #[inline]
    fn find_race_with_each_task(&mut self, step: &Step, others: TaskSet) {
        // What happens before the step because of another race does not count.
        for other in others {
            let number = self.latest(step, other.index());
            if number != 0 && self.clock[other.index()] < self.count(number, other) {
                self.races.push(number - 1);
            }
        }
        for at in 0..self.races.len() {
            self.join(self.races[at] + 1);
        }
    }

    fn find_races_of_blocking_step(&mut self, step: &Step, mut others: TaskSet, enabled: TaskSet) {
        // Events that happen before the step through an event that could have come later: they are
        // not races of their own.
        let mut hidden = self.clock;
        self.join_releases(step);
        for other in others {
            self.cursors[other.index()] = self.cursor(step, other.index());
        }
        // The latest remaining event.
        while let Some((number, other)) =
            others.iter().map(|it| (self.cursors[it.index()].latest(), it)).max()
        {
            if number == 0 {
                break;
            }
            if self.count(number, other) <= hidden[other.index()] {
                // And so do all events before it.
                others.remove(other);
                continue;
            }
            let event = &self.events[number as usize - 1];
            let (is_race, hides_earlier_races) = self.is_reversible(step, event, number, enabled);
            // Otherwise `event` unblocked it. Its task is already blocked there, so it cannot be
            // chosen there in order to block.
            if is_race {
                self.races.push(number - 1);
            }
            if hides_earlier_races && self.hides_earlier_races {
                self.width.join(&mut hidden, &self.clocks[number as usize - 1].now);
            }
            self.join(number);
            self.cursors[other.index()] = self.advanced(self.cursors[other.index()], number);
        }
    }

    /// The latest event of another task that `step` depends on; 0 if there is none.
    #[inline]
    fn latest(&self, step: &Step, other: usize) -> u32 {
        let task = &self.tasks[other];
        let mut latest = task.last[YIELDS];
        if let Some(object) = self.objects.get(step.object.0 as usize).filter(|_| is_in_list(step)) {
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
        if let Some(object) = self.objects.get(step.object.0 as usize).filter(|_| is_in_list(step)) {
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
    fn advanced(&self, mut cursor: Cursor, number: u32) -> Cursor {
        let links = &self.events[number as usize - 1].links;
        let next = [links[CHANGES], links[CHANGES], links[CALLS], links[RETURNS], links[YIELDS], 0];
        for (at, next) in cursor.at.iter_mut().zip(next) {
            if *at == number {
                *at = next;
            }
        }
        cursor
    }

    /// Joins the clocks of the events that released what `step` acquires, without an access of the
    /// lock of their own.
    fn join_releases(&mut self, step: &Step) {
        let mut number = self.objects.get(step.object.0 as usize).map_or(0, |it| it.last_release);
        while number != 0 {
            let event = &self.events[number as usize - 1];
            let (task, releases_shared, before) =
                (event.step.task, event.releases_shared, event.last_release);
            // Shared holders of a lock do not block each other.
            let is_waited_for = !(releases_shared && step.access == Access::AcquireShared);
            if is_waited_for && self.clock[task.index()] < self.count(number, task) {
                self.join(number);
                self.enablers.push(number - 1);
            }
            if !releases_shared {
                // The exclusive holder came after all holders before it.
                break;
            }
            number = before;
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

    /// The steps after the event at this position that do not happen after it.
    pub(super) fn unrelated_after(&self, event: u32) -> impl Iterator<Item = Step> {
        let owner = self.events[event as usize].step.task;
        let count = self.count(event + 1, owner);
        let later = (event + 2..).zip(&self.events[event as usize + 1..]);
        later.filter(move |it| self.count(it.0, owner) < count).map(|it| it.1.step)
    }

    /// The initials: the tasks with which an execution can start that reverses the race of `event`
    /// with `step`, whose races were found last. They are the tasks of the events after `event`
    /// that do not happen after it, and of `step`, whose first such event has none of the others
    /// before it.
    ///
    /// Without `event`, `step` may read another value and return where it does not now; then calls
    /// that come before it now must not come after it. That is detected where `step` is first
    /// tried, since the calls race with it there.
    pub(super) fn initials(&mut self, event: u32, step: &Step) -> TaskSet {
        let owner = self.events[event as usize].step.task;
        let count = self.count(event + 1, owner);
        // The first such event of each task: how many come before it, and its number; that of
        // `step` is 0.
        let mut tasks = TaskSet::EMPTY;
        let mut seen = self.tasks_seen;
        seen.insert(step.task);
        for task in seen {
            let events = &self.tasks[task.index()].events;
            let at = events.partition_point(|it| *it <= event + 1);
            let number = match events.get(at) {
                Some(number) => *number,
                None if task == step.task => 0,
                None => continue,
            };
            // Later events of the task that executed `event` happen after it.
            if number == 0 || self.count(number, owner) < count {
                tasks.insert(task);
                (self.begin[task.index()], self.latest[task.index()]) = (at as u16 + 1, number);
            }
        }
        let is_initial = |task: &TaskId| {
            let its = match self.latest[task.index()] {
                0 => &self.clock,
                number => &self.clocks[number as usize - 1].now,
            };
            tasks.iter().all(|other| other == *task || its[other.index()] < self.begin[other.index()])
        };
        tasks.iter().filter(is_initial).collect()
    }
}

/// Whether `step` is in a list of its object: others can depend on it.
#[inline]
fn is_in_list(step: &Step) -> bool {
    step.object != SharedId::NONE && step.access != Access::Buffer
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
        | Access::Buffer
        | Access::Flush => false,
    }
}
