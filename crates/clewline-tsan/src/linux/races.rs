//! Which accesses are points: the atomic ones, and those that race.
//!
//! If no two plain accesses race, it does not matter where between atomic ones a task is
//! interrupted. So an exploration begins with atomics as its only points, and looks for pairs of
//! unordered accesses to the same bytes, at least one of them a write and one of them plain. When
//! it finds one, both places become points, and the exploration restarts. A false positive costs
//! executions and nothing else: these races are never reported.
//!
//! Every atomic operation synchronizes, whatever its ordering, since all executions are
//! sequentially consistent.
//!
//! Source: C. Flanagan and S. N. Freund, "FastTrack: efficient and precise dynamic race detection",
//! 2009; but a few accesses are kept of each word.

use std::ops::Range;

use clewline_explore::{TaskId, TaskSet};
use clewline_remote::{Points, code_of};
use clewline_threads::instrument::Control;
use rustc_hash::FxHashSet;

use super::{
    current_task::{self, RuntimeCell, RuntimeOwned},
    heap,
};

static POINTS: RuntimeCell<Points> = RuntimeCell::new(Points::Racing);

/// Sets which plain accesses are points from now on.
pub(super) fn set_points(points: Points) {
    POINTS.set(points);
}

/// Which plain accesses are points.
#[inline(always)]
pub(super) fn points() -> Points {
    POINTS.get()
}

type Clock = [u32; TaskId::MAX];

// Usually there are at most this many tasks, and only their clocks are compared.
const TASKS_MIN: usize = 4;
// The number of tasks whose clocks are compared: once there were more than `TASKS_MIN`, the
// maximum.
static TASKS: RuntimeCell<usize> = RuntimeCell::new(TASKS_MIN);

// Whether every task but the first is started by another one.
static STARTS_ALONE: RuntimeCell<bool> = RuntimeCell::new(false);
// Tasks that have not been joined.
static UNJOINED: RuntimeCell<TaskSet> = RuntimeCell::new(TaskSet::all(TaskId::MAX));

/// Sets whether executions begin with one task, and every other task is started by a task.
pub(super) fn set_starts_alone(starts_alone: bool) {
    STARTS_ALONE.set(starts_alone);
}

/// Whether everything that other tasks have done happened before what `task` does now, and what it
/// does now happens before everything that they will do: then it races with nothing, and need not
/// be recorded.
#[inline(always)]
pub(super) fn runs_alone(task: TaskId) -> bool {
    UNJOINED.get() == TaskSet::only(task)
}

/// The clock of `task` is compared from now on.
#[inline(always)]
pub(super) fn note_task(task: TaskId) {
    if TASKS.get() <= task.index() {
        TASKS.set(TaskId::MAX);
        RACES.get().begin(TASKS_MIN);
    }
}

/// An access that may race with a later one.
#[derive(Clone, Copy, Debug, Default)]
struct PastAccess {
    time: u32,
    task: u8,
    // A mask of the accessed bytes of the word.
    bytes: u8,
    is_write: bool,
    // The place of a plain access; 0 for an atomic one, which is a point anyway.
    pc: usize,
}

impl PastAccess {
    fn is_atomic(&self) -> bool {
        self.pc == 0
    }

    fn conflicts(&self, other: &PastAccess) -> bool {
        self.bytes & other.bytes != 0
            && (self.is_write || other.is_write)
            && !(self.is_atomic() && other.is_atomic())
    }

    /// Whether `other` happened before this access, which was made at `clock`.
    fn is_after(&self, other: &PastAccess, clock: &Clock) -> bool {
        other.task == self.task || other.time <= clock[usize::from(other.task)]
    }

    /// Whether every access that conflicts with `other` conflicts with this one.
    fn covers(&self, other: &PastAccess) -> bool {
        other.bytes & !self.bytes == 0
            && (self.is_write || !other.is_write)
            && (!self.is_atomic() || other.is_atomic())
    }
}

// The number of accesses kept per word.
const PAST_ACCESSES_MAX: usize = 8;

// The most used fields come first, so that they share a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct WordHistory {
    n: u8,
    /// There were more accesses, so it is not known what a later access races with. It counts as
    /// racing.
    is_crowded: bool,
    /// At least one of them was plain.
    has_plain: bool,
    /// A task has released this word: then `released` is the clock that acquiring tasks join.
    is_released: bool,
    released: Clock,
    past: [PastAccess; PAST_ACCESSES_MAX],
}

impl WordHistory {
    /// Forgets all accesses.
    #[inline(always)]
    fn forget(&mut self) {
        (self.n, self.is_crowded, self.has_plain) = (0, false, false);
    }

    #[inline(always)]
    fn clear(&mut self) {
        self.forget();
        self.is_released = false;
    }

    #[inline(always)]
    fn acquire(&self, clock: &mut Clock) {
        if self.is_released {
            join(clock, &self.released);
        }
    }

    #[inline(always)]
    fn release(&mut self, clock: &Clock) {
        if self.is_released {
            join(&mut self.released, clock);
        } else {
            self.is_released = true;
            self.released = *clock;
        }
    }
}

/// The access histories of words, for one execution.
#[derive(Debug)]
struct WordTable {
    // Open addressing; the length is a power of two, and at most half of the slots are used.
    slots: Vec<Slot>,
    // Slots of earlier executions are free.
    execution: u32,
    used: usize,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Slot {
    address: usize,
    execution: u32,
    word: WordHistory,
}

impl WordTable {
    const fn new() -> Self {
        WordTable { slots: Vec::new(), execution: 1, used: 0 }
    }

    fn clear(&mut self) {
        self.used = 0;
        self.execution = self.execution.wrapping_add(1);
        if self.execution == 0 {
            self.slots.clear();
            self.execution = 1;
        }
    }

    #[inline(always)]
    fn find(&self, address: usize) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (address >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize) >> 32 & mask;
        loop {
            let slot = &self.slots[at];
            if slot.execution != self.execution || slot.address == address {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    /// The history of an address.
    #[inline(always)]
    fn at(&mut self, address: usize) -> &mut WordHistory {
        if self.slots.len() <= 2 * self.used {
            self.grow();
        }
        let at = self.find(address);
        let slot = &mut self.slots[at];
        if slot.execution != self.execution {
            (slot.address, slot.execution) = (address, self.execution);
            slot.word.clear();
            self.used += 1;
        }
        &mut slot.word
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![Slot::default(); (2 * old.len()).max(64)];
        for slot in old.into_iter().filter(|it| it.execution == self.execution) {
            let at = self.find(slot.address);
            self.slots[at] = slot;
        }
    }

    fn known(&mut self, address: usize) -> Option<&mut WordHistory> {
        if self.slots.is_empty() {
            return None;
        }
        let at = self.find(address);
        (self.slots[at].execution == self.execution).then(|| &mut self.slots[at].word)
    }
}

#[derive(Debug)]
struct Races {
    clocks: [Clock; TaskId::MAX],
    words: WordTable,
    /// Places that race, in the order in which they were found.
    racing: Vec<usize>,
    is_racing: Option<FxHashSet<usize>>,
    /// The code of blocks with words that race.
    blocks: Option<FxHashSet<usize>>,
    /// How many there were when a recorded execution ran.
    shown: Option<usize>,
    /// Words on stacks that tasks other than their owner access.
    shared: Option<FxHashSet<usize>>,
}

static RACES: RuntimeOwned<Races> = RuntimeOwned::new(Races {
    clocks: [[0; TaskId::MAX]; TaskId::MAX],
    words: WordTable::new(),
    racing: Vec::new(),
    is_racing: None,
    blocks: None,
    shown: None,
    shared: None,
});

#[inline(always)]
fn join(into: &mut Clock, from: &Clock) {
    let n = if TASKS.get() == TASKS_MIN { TASKS_MIN } else { TaskId::MAX };
    into[..n].iter_mut().zip(from).for_each(|(into, from)| *into = (*into).max(*from));
}

/// Another execution begins. `is_shown`: its steps are recorded.
pub(super) fn begin(is_shown: bool) {
    if points() != Points::Racing {
        return;
    }
    let races = RACES.get();
    if is_shown {
        show();
    }
    races.words.clear();
    races.begin(0);
    let first = TaskSet::only(TaskId(0));
    UNJOINED.set(if STARTS_ALONE.get() { first } else { TaskSet::all(TaskId::MAX) });
}

impl Races {
    /// Initializes the clocks from task `first` on.
    fn begin(&mut self, first: usize) {
        for (at, clock) in self.clocks.iter_mut().enumerate().take(TASKS.get()).skip(first) {
            *clock = [0; TaskId::MAX];
            clock[at] = 1;
        }
    }
}

/// Adds the memory that is written here while tasks run.
pub(super) fn own_memory(to: &mut Vec<Range<usize>>) {
    let slots = RACES.get().words.slots.as_ptr_range();
    to.extend([current_task::range_of(&RACES), slots.start.addr()..slots.end.addr()]);
}

/// Whether the access at this place is a point.
#[inline(always)]
pub(super) fn is_point(place: usize) -> bool {
    match points() {
        Points::All => true,
        Points::Atomics => false,
        Points::Racing => RACES.get().is_racing.as_ref().is_some_and(|it| it.contains(&place)),
    }
}

/// Whether a word of the block that the code at `pc` accesses may be a point.
pub(super) fn may_have_points(pc: usize) -> bool {
    match points() {
        Points::All => true,
        Points::Atomics => false,
        Points::Racing => RACES.get().blocks.as_ref().is_some_and(|it| it.contains(&pc)),
    }
}

/// Whether accesses of the task are recorded.
pub(super) fn records(control: Control) -> bool {
    points() == Points::Racing && !runs_alone(control.task())
}

/// These places race and are points from the start.
pub(super) fn set_racing(places: impl IntoIterator<Item = usize>) {
    for pc in places {
        insert(pc);
    }
}

/// The next execution is recorded.
pub(super) fn show() {
    let races = RACES.get();
    races.shown = Some(races.racing.len());
}

/// All places that race.
pub(super) fn all_racing() -> Vec<usize> {
    RACES.get().racing.clone()
}

/// The words on stacks that other tasks access.
pub(super) fn all_shared() -> Vec<usize> {
    RACES.get().shared.iter().flatten().copied().collect()
}

/// Sets these words.
pub(super) fn set_shared(words: Vec<usize>) {
    if !words.is_empty() {
        RACES.get().shared.get_or_insert_default().extend(words);
    }
}

/// The places that race: those known to the last recorded execution, if there was one. A schedule
/// can be replayed only with the same points.
pub(super) fn racing() -> &'static [usize] {
    let races = RACES.get();
    &races.racing[..races.shown.unwrap_or(races.racing.len())]
}

/// Makes the place a point. Returns whether it was not one. Place 0 is an atomic access, which is a
/// point anyway.
fn insert(pc: usize) -> bool {
    if pc == 0 {
        return false;
    }
    let races = RACES.get();
    let is_new = races.is_racing.get_or_insert_default().insert(pc);
    if is_new {
        races.racing.push(pc);
        races.blocks.get_or_insert_default().insert(code_of(pc));
    }
    is_new
}

/// What tasks did before they released the object happens before what `task` does next.
#[inline(always)]
pub(super) fn acquire(task: TaskId, object: usize) {
    if points() == Points::Racing {
        let races = RACES.get();
        if let Some(word) = races.words.known(object) {
            word.acquire(&mut races.clocks[task.index()]);
        }
    }
}

/// What `task` did happens before what tasks do after they acquire the object.
#[inline(always)]
pub(super) fn release(task: TaskId, object: usize) {
    if points() == Points::Racing {
        let races = RACES.get();
        let clock = &mut races.clocks[task.index()];
        races.words.at(object).release(clock);
        clock[task.index()] += 1;
    }
}

/// `by` starts `task`.
pub(super) fn note_start(task: TaskId, by: TaskId) {
    UNJOINED.set(UNJOINED.get().union(TaskSet::only(task)));
    order_after(task, by);
}

/// `by` has joined `task`: everything that `task` did happens before.
pub(super) fn note_join(task: TaskId, by: TaskId) {
    UNJOINED.set(UNJOINED.get().without(TaskSet::only(task)));
    order_after(by, task);
}

/// `later` begins or continues after what `earlier` did so far.
pub(super) fn order_after(later: TaskId, earlier: TaskId) {
    if points() == Points::Racing {
        note_task(later);
        let clocks = &mut RACES.get().clocks;
        let clock = clocks[earlier.index()];
        join(&mut clocks[later.index()], &clock);
        clocks[earlier.index()][earlier.index()] += 1;
    }
}

/// A mask of the bytes of the word at `word` that an access touches.
fn bytes(word: usize, address: usize, size: usize) -> u8 {
    let (from, to) = (address.max(word) - word, (address + size).min(word + 8) - word);
    ((1_u16 << to) - (1_u16 << from)) as u8
}

/// A plain access. If it is found to race, the exploration restarts.
#[inline(always)]
pub(super) fn plain(control: Control, address: usize, size: usize, is_write: bool, pc: usize) {
    if records(control) {
        record(control, address, size, is_write, pc);
    }
}

/// An atomic access. It is a point; a plain access that races with it becomes one as well.
#[inline(always)]
pub(super) fn atomic(control: Control, address: usize, size: usize, is_write: bool) {
    if points() == Points::Racing {
        note_owner_access(control, address);
        if !runs_alone(control.task()) {
            record(control, address, size, is_write, 0);
        }
    }
}

#[inline(always)]
fn note_owner_access(control: Control, address: usize) {
    if !heap::contains(address)
        && !current_task::is_own_stack(address)
        && current_task::is_other_stack(address)
    {
        note_shared_stack(control, address);
    }
}

/// An [atomic] access that also [acquires](acquire) what it reads, and [releases](release) it if it
/// `is_write`.
#[inline(always)]
pub(super) fn synchronize(control: Control, address: usize, size: usize, is_write: bool) {
    if points() != Points::Racing {
        return;
    }
    note_owner_access(control, address);
    let (me, word) = (control.task(), address & !7);
    if runs_alone(me) {
        return;
    }
    let is_one = address + size <= word + 8;
    if !is_one {
        record(control, address, size, is_write, 0);
    }
    let races = RACES.get();
    let (clock, known) = (&mut races.clocks[me.index()], races.words.at(word));
    let mut others = None;
    if is_one {
        let bytes = bytes(word, address, size);
        let now = PastAccess { time: clock[me.index()], task: me.0, bytes, is_write, pc: 0 };
        if !known.record_repeated(&now) {
            others = known.touch(now, clock);
        }
    }
    known.acquire(clock);
    if is_write {
        (known.released, known.is_released) = (*clock, true);
        clock[me.index()] += 1;
    }
    if others.is_some_and(insert_all) {
        control.restart_exploration();
    }
}

/// These places race. Returns whether one of them was not known to.
#[cold]
fn insert_all(places: [usize; PAST_ACCESSES_MAX]) -> bool {
    // All of them: a known place must not hide another.
    places.into_iter().filter(|it| insert(*it)).count() != 0
}

fn record(control: Control, address: usize, size: usize, is_write: bool, pc: usize) {
    let me = control.task();
    let mut word = address & !7;
    let mut found = false;
    while word < address + size {
        let races = RACES.get();
        let clock = &races.clocks[me.index()];
        let bytes = bytes(word, address, size);
        let now = PastAccess { time: clock[me.index()], task: me.0, bytes, is_write, pc };
        if let Some(others) = races.words.at(word).touch(now, clock) {
            found |= insert(pc);
            found |= insert_all(others);
        }
        word += 8;
    }
    if found {
        control.restart_exploration();
    }
}

/// A write of code that is not instrumented, in a call that returns to `pc`. Returns whether it is
/// found to race, and that was not known.
pub(super) fn record_foreign_write(task: TaskId, word: usize, bytes: u8, pc: usize) -> bool {
    let races = RACES.get();
    let clock = &races.clocks[task.index()];
    let now = PastAccess { time: clock[task.index()], task: task.0, bytes, is_write: true, pc };
    let Some(others) = races.words.at(word).touch(now, clock) else { return false };
    insert(pc) | insert_all(others)
}

impl WordHistory {
    /// Whether the atomic access `now` repeats one of its task, and no other task has made an
    /// access that could race with it. Then only its time is new.
    #[inline(always)]
    fn record_repeated(&mut self, now: &PastAccess) -> bool {
        // Ordered accesses stay recorded, so there must be room.
        let n = usize::from(self.n);
        if self.has_plain || self.is_crowded || PAST_ACCESSES_MAX / 2 < n {
            return false;
        }
        let is_same =
            |it: &&mut PastAccess| (it.task, it.bytes, it.is_write) == (now.task, now.bytes, now.is_write);
        let Some(past) = self.past[..n].iter_mut().find(is_same) else { return false };
        past.time = now.time;
        true
    }

    /// The places of all accesses that `now` races with, padded with zeros, if there are any.
    #[inline(always)]
    fn touch(&mut self, now: PastAccess, clock: &Clock) -> Option<[usize; PAST_ACCESSES_MAX]> {
        self.has_plain |= !now.is_atomic();
        // Usually no other task has accessed the word, or the other accesses are ordered before
        // this one, which replaces them.
        let last = &self.past[0];
        if self.n == 0 || (self.n == 1 && now.covers(last) && now.is_after(last, clock) && !self.is_crowded) {
            self.past[0] = now;
            self.n = 1;
            return None;
        }
        self.record_with_others(now, clock)
    }

    fn record_with_others(&mut self, now: PastAccess, clock: &Clock) -> Option<[usize; PAST_ACCESSES_MAX]> {
        let mut others = [0; PAST_ACCESSES_MAX];
        let mut races = self.is_crowded;
        let mut kept = 0;
        for (at, other) in others.iter_mut().enumerate().take(self.n.into()) {
            let it = self.past[at];
            let is_ordered = now.is_after(&it, clock);
            if !is_ordered && it.conflicts(&now) {
                races = true;
                *other = it.pc;
            }
            // An earlier ordered access that is not stronger races only with accesses that also
            // race with this one.
            if !(is_ordered && now.covers(&it)) {
                self.past[kept] = it;
                kept += 1;
            }
        }
        if kept == PAST_ACCESSES_MAX {
            // It is not recorded which accesses it races with, so it counts as racing.
            (races, self.is_crowded) = (true, true);
            others[0] = self.past[0].pc;
            self.past.copy_within(1.., 0);
            kept -= 1;
        }
        self.past[kept] = now;
        self.n = kept as u8 + 1;
        races.then_some(others)
    }
}

/// A block is allocated: earlier accesses to it are forgotten.
pub(super) fn forget(address: usize, size: usize) {
    if points() == Points::Racing {
        let words = &mut RACES.get().words;
        (address..address + size).step_by(8).for_each(|it| {
            words.known(it).into_iter().for_each(WordHistory::forget);
        });
    }
}

/// Whether other tasks access this word on the stack of the running task.
#[inline(always)]
pub(super) fn is_shared(address: usize) -> bool {
    RACES.get().shared.as_ref().is_some_and(|it| it.contains(&(address & !7)))
}

/// A task accesses the stack of another one: accesses of the owner are recorded from now on.
#[cold]
pub(super) fn note_shared_stack(control: Control, address: usize) {
    if RACES.get().shared.get_or_insert_default().insert(address & !7) {
        control.restart_exploration();
    }
}
