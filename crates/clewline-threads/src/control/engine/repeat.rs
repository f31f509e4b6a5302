//! Repetition: when the engine looks for rounds, and how a replica runs one again.

use std::{mem, ops::Range, ptr};

use clewline_explore::{PerTask, Pick, TaskId, TaskSet};

use super::{
    replay::{Before, Repeats, Replay},
    state::{Control, Engine, Foreign, Next},
};
use crate::control::{
    local_state::{self, Registers},
    memory::MemoryModel,
    place::Place,
    repeat::Round,
    replica::{self, Ignored, Image, Side, Verdict},
};

// The ranges of memory that are ignored: the engine's and the runtime's.
const IGNORED_RANGES_MAX: usize = 1_024;

/// The functions that controlled code calls before its accesses. They are not inlined, and stay on
/// the stack until they return.
fn entries() -> [usize; 4] {
    [
        Control::access_at as *const () as usize,
        Control::arrive_slow_path as *const () as usize,
        Control::attempt_at as *const () as usize,
        Control::hint_at as *const () as usize,
    ]
}

fn mix(mixed: u64, word: u64) -> u64 {
    (mixed.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95)
}

impl Engine {
    /// Where all tasks are.
    fn position_key(&self) -> u64 {
        let live = self.started.without(self.ended);
        live.iter().map(|it| &self.tasks[it.index()]).fold(live.len() as u64, |key, it| {
            let step = &it.pending;
            let access = u64::from(step.task.0) | (step.access as u64) << 8 | u64::from(step.object.0) << 16;
            mix(mix(key, access), it.place.word() as u64)
        })
    }

    /// A hash of everything that decides which tasks can move, apart from what they read.
    fn waits_hash(&self) -> u64 {
        self.tasks.iter().fold(self.objects.levels_hash(), |mixed, it| {
            [it.is_woken.into(), it.spurious.into(), it.pending.after.0].into_iter().fold(mixed, mix)
        })
    }

    /// All tasks are at their first points.
    pub(super) fn note_initial_state(&mut self) {
        let key = self.position_key();
        self.repetition.begin(key);
    }

    /// The running task has arrived. Returns whether the execution repeats forever, if all tasks
    /// but those of `unwanted` are scheduled. In a `wait` nothing but loops can move.
    pub(super) fn repeats(&mut self, movable: TaskSet, unwanted: TaskSet, is_wait: bool) -> Repeats {
        let me = self.current;
        let is_here = !self.is_driving && !self.ended.contains(me);
        if !is_here || !self.weak.buffers.is_empty() || self.is_panicking(me) {
            return Repeats::No;
        }
        if is_wait && !self.is_wait_looked_at() {
            return Repeats::No;
        }
        let key = self.position_key();
        let unwanted = if self.repetition.was_at(key) { unwanted.union(self.refused()) } else { unwanted };
        let live = movable.union(self.spinning).without(unwanted);
        let is_looked_at = is_wait || self.repetition.may_end_here(key, live, &self.schedule);
        let local_state = if is_looked_at { self.local_state_hash(me) } else { None };
        let local_state = local_state.map(|it| (me, it));
        let Some(round) = self.repetition.note(key, local_state, live, &self.schedule) else {
            return Repeats::No;
        };
        #[cfg(test)]
        if self.moments.is_none() && self.repetition.proven.contains(&(key, unwanted)) {
            self.found(&round, true);
            return Repeats::Forever;
        }
        let repeats = self.prove(&round, unwanted);
        #[cfg(test)]
        if matches!(repeats, Repeats::Forever) {
            self.repetition.proven.push((key, unwanted));
        }
        repeats
    }

    /// The tasks that the scheduler refuses, whether they can move or not: some may be able to
    /// move within the round only.
    fn refused(&mut self) -> TaskSet {
        let mut refused = TaskSet::EMPTY;
        for task in self.started.without(self.ended) {
            let step = self.tasks[task.index()].pending;
            if self.scheduler().refuses(&step) {
                refused.insert(task);
            }
        }
        refused
    }

    /// Whether this is one of the rounds in which a wait is looked at: fewer and fewer of them.
    fn is_wait_looked_at(&self) -> bool {
        let rounds = self.idle_rounds + 1;
        let power = 1 << rounds.ilog2();
        (rounds - power) as usize <= 2 * self.spinning.len()
    }

    /// Makes a replica that runs the round again.
    fn prove(&mut self, round: &Round, unwanted: TaskSet) -> Repeats {
        let tasks = |pick: &Pick| match pick {
            Pick::Task(task) => Some(*task),
            Pick::Value(_) => None,
        };
        let mut ignored = Ignored {
            ranges: Vec::with_capacity(IGNORED_RANGES_MAX),
            lowest: Vec::with_capacity(TaskId::MAX + 1),
        };
        self.own_memory(&mut ignored.ranges);
        let mut replay = Box::new(Replay {
            round: self.schedule[round.position..].iter().filter_map(tasks).collect(),
            unwanted,
            key: self.position_key(),
            tasks: self.tasks.len(),
            at: 0,
            enabled: TaskSet::EMPTY,
            arrived: PerTask::default(),
            image: None,
            before: None,
            ignored,
        });
        replay.ignored.ranges.push(range_of(&*replay));
        self.replay = Some(replay);
        match replica::split() {
            Side::Replica => {
                self.begin_replica();
                Repeats::Replica
            }
            Side::Original(repeats) => {
                self.replay = None;
                self.found(round, repeats);
                if repeats { Repeats::Forever } else { Repeats::No }
            }
        }
    }

    fn found(&mut self, round: &Round, repeats: bool) {
        self.repetition.found(round, &self.schedule, repeats);
        if let (true, Some((steps, _)), Some(moments)) = (repeats, self.repetition.round, &mut self.moments) {
            let first = moments.len().saturating_sub(steps);
            moments[first..].iter_mut().for_each(|it| it.repeats = true);
        }
    }

    /// The engine's own memory, which changes in every round.
    fn own_memory(&self, to: &mut Vec<Range<usize>>) {
        to.push(range_of(self));
        to.extend(self.tasks.iter().map(|it| range_of(&**it)));
        to.push(self.objects.states_memory());
        if self.weak.settings.model == MemoryModel::SequentiallyConsistent
            && let Some(memory) = &self.memory
        {
            memory.own_memory(to);
        }
        self.foreign.iter().for_each(|it| it.own_memory(to));
        to.truncate(IGNORED_RANGES_MAX - TaskId::MAX - 2);
    }

    /// From here on nothing is recorded, and nothing is classified.
    fn begin_replica(&mut self) {
        let image = Image::new();
        if let Some(replay) = &mut self.replay {
            replay.image = image;
        }
        mem::forget(self.moments.take());
        for task in mem::take(&mut self.spinning) {
            mem::forget(self.tasks[task.index()].spins.take());
        }
        self.use_slow_path();
    }

    /// In a replica: the running task has arrived, and the next task of the round runs.
    pub(super) fn replay_round(&mut self) -> bool {
        let me = self.current;
        let movable = self.movable();
        let is_over = self.ending.is_some() || self.ended.contains(me) || !self.spinning.is_empty();
        let arrived = if is_over { None } else { self.registers(me) };
        let Some(replay) = &mut self.replay else { return false };
        let is_same = replay.tasks == self.tasks.len() && arrived.is_some();
        if !is_same {
            replica::leave(Verdict::Unknown);
        }
        replay.arrived[me.index()] = arrived;
        replay.enabled = replay.enabled.union(movable);
        self.step = None;
        self.tasks[me.index()].yields = false;
        if self.replay.as_ref().is_some_and(|it| it.at == it.round.len()) {
            self.end_round();
        }
        let Some(replay) = &mut self.replay else { return false };
        let next = replay.round[replay.at];
        replay.at += 1;
        if !movable.contains(next) {
            replica::leave(Verdict::Unknown);
        }
        self.next = Next::Task(next);
        true
    }

    /// In a replica: a round has ended.
    fn end_round(&mut self) {
        let (key, levels) = (self.position_key(), self.waits_hash());
        let root = self.root.address();
        let Some(replay) = &mut self.replay else { return };
        let moved: TaskSet = replay.round.iter().copied().collect();
        let is_fair = replay.enabled.without(moved).without(replay.unwanted).is_empty();
        if key != replay.key || !is_fair {
            replica::leave(Verdict::Unknown);
        }
        if let Some(before) = &replay.before {
            let is_same = before.levels == levels
                && before.arrived == replay.arrived
                && replay.image.as_ref().is_some_and(|it| it.is_same(&replay.ignored));
            replica::leave(if is_same { Verdict::Repeats } else { Verdict::Unknown });
        }
        replay.at = 0;
        replay.ignored.lowest.extend(replay.arrived.iter().flatten().map(|it| it[0]));
        replay.ignored.lowest.push(root);
        replay.before = Some(Before { levels, arrived: replay.arrived });
        if !replay.image.as_mut().is_some_and(|it| it.take(&mut replay.ignored)) {
            replica::leave(Verdict::Unknown);
        }
    }

    /// Whether this is a replica.
    #[inline]
    pub(super) fn is_replica(&self) -> bool {
        self.replay.is_some()
    }

    /// Something happened that a round does not repeat, or that the engine does not control.
    #[inline]
    pub(super) fn give_up_replica(&self) {
        if self.is_replica() {
            replica::leave(Verdict::Unknown);
        }
    }

    fn registers(&self, me: TaskId) -> Option<Registers> {
        let place = self.tasks[me.index()].place;
        let mut registers = None;
        let mut look = || registers = local_state::registers(place, &entries());
        match self.foreign {
            Some(foreign) => foreign.as_runtime(&mut look),
            None => look(),
        }
        registers
    }

    /// A hash of the registers and the stack of the running task.
    fn local_state_hash(&self, me: TaskId) -> Option<u64> {
        let task = &self.tasks[me.index()];
        local_state_hash(self.foreign, task.place, task.seat.address())
    }
}

/// A hash of the registers and the stack of the running task at its access at `place`. Its stack
/// ends below `end`.
pub(super) fn local_state_hash(foreign: Option<&dyn Foreign>, place: Place, end: usize) -> Option<u64> {
    let mut hash = None;
    let mut look = || hash = local_state::local_state_hash(place, &entries(), end);
    match foreign {
        Some(foreign) => foreign.as_runtime(&mut look),
        None => look(),
    }
    hash
}

fn range_of<T>(it: &T) -> Range<usize> {
    let start = ptr::from_ref(it).addr();
    start..start + size_of::<T>()
}
