//! What came before what in an execution, and which steps raced.
//!
//! Two steps are ordered if they are of one task, if they are dependent, or if one let the other go; and so on through others.
//! Each step has a vector clock, which counts the steps of each task that are ordered before it. A step *races* with an
//! earlier one if the two are dependent and nothing between them orders them: then they can change places.
//!
//! Steps that may be kept waiting need care. The step that lets one go (a release, say) is ordered before it and cannot change
//! places with it, so it must not hide the step that kept it waiting (the other one's acquire), which can. What the
//! scheduler was shown says which is which: a task that is about to make its step and is not among the enabled ones waits.
//!
//! Invariants: everything that is known of a step is undone when it is taken back, in reverse order; so the beginning of an
//! execution that is made again costs nothing here.
//!
//! Source: P. Abdulla, S. Aronsson, B. Jonsson, K. Sagonas, "Optimal dynamic partial order reduction", 2014.
//! The treatment of waiting steps is ours.

use crate::step::{Access, SharedId, Step, TaskId, TaskSet};

/// Which steps are taken to be dependent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dependence {
    /// Those whose order can be told from a history: [`Step::is_dependent`].
    #[default]
    Histories,
    /// Those that conflict: [`Step::conflicts`]. This loses histories, and is here to show that it does.
    Conflicts,
}

impl Dependence {
    /// Whether the order of the two matters. Both have been executed, or the first has.
    #[inline]
    pub(super) fn holds(self, a: &Step, b: &Step) -> bool {
        match self {
            Dependence::Histories => a.is_dependent(b),
            Dependence::Conflicts => a.conflicts(b),
        }
    }
}

/// How many steps of each task.
pub(super) type Clock = [u16; TaskId::MAX];

#[inline]
fn join(into: &mut Clock, other: &Clock) {
    for (a, b) in into.iter_mut().zip(other) {
        *a = (*a).max(*b);
    }
}

/// A step that was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) step: Step,
    /// The node at which it was chosen.
    pub(super) node: u32,
    /// Who was enabled then.
    enabled: TaskSet,
    clock: Clock,
    // The clock of its task before.
    before: Clock,
    // The events of its task in each of its lists before this one.
    links: [u32; LISTS_PER_TASK],
    // The last event before this one that freed the same lock.
    last_release: u32,
    // What it freed was a share only.
    releases_shared: bool,
}

// For each task, lists of its events, latest first. Numbers in lists are those of events, from 1; 0 ends them.
const LISTS_PER_TASK: usize = 4;
// Of one object: those that change it, and those that do not.
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

/// What is known of a task.
#[derive(Clone, Debug, Default)]
struct Task {
    clock: Clock,
    // The last ones in each list that is not of an object.
    last: [u32; LISTS_PER_TASK],
    events: Vec<u32>,
}

// A task that was woken, and how it was before.
#[derive(Clone, Copy, Debug)]
struct WokenTask {
    event: u32,
    task: TaskId,
    clock: Clock,
}

/// The order of the steps of an execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Causality {
    pub(super) dependence: Dependence,
    // Whether a race with one step hides those with steps before that one.
    hides_earlier_races: bool,
    pub(super) events: Vec<Event>,
    replayed: usize,
    tasks: [Task; TaskId::MAX],
    seen: TaskSet,
    objects: Vec<Object>,
    woken: Vec<WokenTask>,
    /// The events with which the last step raced.
    pub(super) races: Vec<u32>,
    /// The events that let the last step go, though its task had other steps to make before it waited.
    pub(super) enablers: Vec<u32>,
    has_diverged: bool,
}

/// Where one looks for events that a step depends on: of one task, the latest in each list that was not looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    // Those that change the object, read it, call, return, yield or do anything.
    at: [u32; 6],
}

impl Cursor {
    fn latest(&self) -> u32 {
        self.at.iter().copied().fold(0, u32::max)
    }
}

impl Causality {
    pub(super) fn new(dependence: Dependence) -> Self {
        Causality { dependence, hides_earlier_races: true, ..Causality::default() }
    }

    /// One in which a race with one step does not hide those with steps of others before it.
    pub(super) fn with_all_races(dependence: Dependence) -> Self {
        Causality { dependence, ..Causality::default() }
    }

    /// Another execution begins, and its first `keep` steps are made again.
    pub(super) fn begin(&mut self, keep: usize) {
        while keep < self.events.len() {
            self.undo_last();
        }
        self.replayed = 0;
        self.has_diverged = false;
    }

    /// Whether a step that was made again was not what it was.
    pub(super) fn has_diverged(&self) -> bool {
        self.has_diverged
    }

    /// How many steps of this execution have been made.
    pub(super) fn steps_made(&self) -> usize {
        self.replayed
    }

    /// A step was made. Answers its clock if it is new; then its races are known, and it is to be [added](Self::add).
    #[inline]
    pub(super) fn on_step(&mut self, step: &Step, enabled: TaskSet) -> Option<Clock> {
        self.replayed += 1;
        if let Some(before) = self.events.get(self.replayed - 1) {
            self.has_diverged |= before.step != *step;
            return None;
        }
        Some(self.find_races(step, enabled))
    }

    /// Adds a step that was chosen at `node`, when those in `enabled` could move.
    pub(super) fn add(&mut self, step: &Step, node: usize, enabled: TaskSet, mut clock: Clock) {
        let me = step.task.index();
        let number = self.events.len() as u32 + 1;
        // All at once: to read at once what was just written in another piece makes the processor wait.
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
        self.seen.insert(step.task);
        // Whoever did not wait touches the same object as the one who woke it, and that orders the two.
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

    /// The list in which `step` is, of those of its object.
    #[inline]
    fn list(&mut self, step: &Step) -> &mut u32 {
        let me = step.task.index();
        let object = self.object(step.object);
        if step.access.is_shared() { &mut object.reads[me] } else { &mut object.changes[me] }
    }

    /// Finds the events with which `step` races if it is made now, when those in `enabled` can move, and answers its clock.
    pub(super) fn find_races(&mut self, step: &Step, enabled: TaskSet) -> Clock {
        self.races.clear();
        self.enablers.clear();
        let me = step.task;
        let mut clock = self.tasks[me.index()].clock;
        for other in step.after {
            // Their last steps are no enablers: after these a switch is free anyway.
            join(&mut clock, &self.tasks[other.index()].clock);
        }
        let mut others = self.seen;
        others.remove(me);
        match (may_block(step.access), self.hides_earlier_races) {
            (true, _) => self.find_races_of_blocking_step(step, others, enabled, &mut clock),
            (false, true) => self.find_races_of_nonblocking_step(step, others, &mut clock),
            (false, false) => self.find_race_with_each_task(step, others, &mut clock),
        }
        clock
    }

    /// The same for a step that is never kept waiting: of each task, only the latest event that it depends on can race with it.
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

    /// The same if a race with one task does not hide those with others. An earlier event of the same task is met when the step
    /// has changed places with the latest.
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
        // What is ordered before by something that could have come later.
        let mut hidden = *clock;
        self.join_releases(step, clock);
        let mut cursors = [Cursor::default(); TaskId::MAX];
        for other in others {
            cursors[other.index()] = self.cursor(step, other.index());
        }
        // The latest event that is left.
        while let Some((number, other)) = others.iter().map(|it| (cursors[it.index()].latest(), it)).max() {
            if number == 0 {
                break;
            }
            let event = &self.events[number as usize - 1];
            if event.clock[other.index()] <= hidden[other.index()] {
                // And so are all before it.
                others.remove(other);
                continue;
            }
            let (is_race, hides_earlier_races) = self.is_reversible(step, event, number, enabled);
            // If not, `event` let it go. Its task waits there already, so it cannot be tried there to make it wait.
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
        if self.dependence == Dependence::Histories {
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
        if self.dependence == Dependence::Histories {
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

    /// Joins the clocks of those who gave back what `step` takes, without an access of their own.
    fn join_releases(&mut self, step: &Step, clock: &mut Clock) {
        let mut number = self.objects.get(step.object.0 as usize).map_or(0, |it| it.last_release);
        while number != 0 {
            let event = &self.events[number as usize - 1];
            let task = event.step.task.index();
            // Those who share a lock do not wait for one another.
            let is_waited_for = !(event.releases_shared && step.access == Access::AcquireShared);
            if is_waited_for && clock[task] < event.clock[task] {
                join(clock, &event.clock);
                self.enablers.push(number - 1);
            }
            if !event.releases_shared {
                // Whoever had the lock alone came after all others before.
                break;
            }
            number = event.last_release;
        }
    }

    /// Whether `step`, which may be kept waiting, may change places with `event`, and whether it certainly can.
    fn is_reversible(&self, step: &Step, event: &Event, number: u32, enabled: TaskSet) -> (bool, bool) {
        let task = &self.tasks[step.task.index()];
        let is_pending = task.events.last().is_none_or(|it| *it < number);
        if is_pending {
            let after = self.events.get(number as usize).map_or(enabled, |it| it.enabled);
            let was_enabled = event.enabled.contains(step.task);
            // If it waited before and could go after, `event` let it go. If it still waited, something later did, which may
            // have nothing to do with `event`.
            return (was_enabled || !after.contains(step.task), was_enabled);
        }
        (true, false)
    }

    /// The tasks that can begin what `step` and those before it need, if `event` comes later: of the events after it that are
    /// not ordered after it, and of `step`, whose clock is `clock`, those before which none of the others must be.
    ///
    /// Without `event`, `step` may see another value and return where it does not now, and then calls must not come after it that come
    /// before it now. That is found out where it is tried first, since the calls race with it there.
    pub(super) fn initials(&self, event: u32, step: &Step, clock: &Clock) -> TaskSet {
        let first = &self.events[event as usize];
        let (owner, count) = (first.step.task.index(), first.clock[first.step.task.index()]);
        // The first such event of each task.
        let mut begin = [0_u16; TaskId::MAX];
        let mut clocks = [clock; TaskId::MAX];
        let mut tasks = TaskSet::EMPTY;
        let mut seen = self.seen;
        seen.insert(step.task);
        for task in seen {
            let events = &self.tasks[task.index()].events;
            let at = events.partition_point(|it| *it <= event + 1);
            let (its, is_step) = match events.get(at) {
                Some(number) => (&self.events[*number as usize - 1].clock, false),
                None if task == step.task => (clock, true),
                None => continue,
            };
            // Not those of the one who made it: they are ordered after it.
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

/// Whether such a step may be kept waiting.
const fn may_block(access: Access) -> bool {
    match access {
        Access::Acquire
        | Access::AcquireShared
        | Access::Wait
        | Access::Send
        | Access::Receive
        | Access::Join
        | Access::Park => true,
        Access::Local
        | Access::Read
        | Access::Write
        | Access::Update
        | Access::TryAcquire
        | Access::TryAcquireShared
        | Access::Release
        | Access::Notify
        | Access::Unpark
        | Access::Yield
        | Access::Fence
        | Access::Flush => false,
    }
}
