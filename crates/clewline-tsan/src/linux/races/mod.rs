//! Races: which plain accesses are points, and which races the code has.
//!
//! If no two plain accesses race, it does not matter where between atomic ones a task is
//! interrupted. So an exploration begins with atomics as its only points, and looks for pairs of
//! unordered accesses to the same bytes, at least one of them a write and one of them plain. When
//! it finds one, both places become points, and the exploration restarts. Here every atomic
//! operation synchronizes, whatever its ordering, since all executions are sequentially consistent.
//! A false positive costs executions and nothing else.
//!
//! By the rules of the language fewer operations synchronize: an atomic access only as far as its
//! ordering says so. Accesses without this order are a data race, which is a violation. Each task
//! has a clock for either order, and both count the same intervals, so that one record of past
//! accesses serves both.
//!
//! * `clock` and `word` are the record.
//! * `claim` decides whether a race is reported: never where code that is not seen might have
//!   ordered the accesses.
//! * `log` says what would have ordered them, in executions whose steps are recorded.
//! * `ignored` are the parts that annotations exclude.

mod claim;
mod clock;
mod ignored;
mod log;
mod word;

pub(super) use claim::{has_unseen_code, note_unseen_code, set_detection, set_library_data, set_trust};
pub(super) use ignored::{Ignored, ignore, note_benign};
pub(super) use word::{Atomic, AtomicAccess, Kind};

use std::{ops::Range, sync::atomic::Ordering};

use clewline_explore::{TaskId, TaskSet};
use clewline_remote::{Points, code_of};
use clewline_threads::{
    control::{TaskClocks, VectorClock as _, acquires},
    instrument::{Control, ForeignAccess},
};
use rustc_hash::FxHashSet;

use self::{
    clock::{Clock, TASKS, more_tasks},
    log::Event,
    word::{Conflicts, PastAccess, WordTable},
};
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

// Learns of places that race where they do not become points.
static NOTE_RACE: RuntimeCell<fn(usize)> = RuntimeCell::new(|_| ());

/// Sets what learns of these places.
pub(super) fn set_note_race(note: fn(usize)) {
    NOTE_RACE.set(note);
}

/// Whether accesses are recorded at all.
#[inline(always)]
pub(super) fn is_tracking() -> bool {
    points() != Points::Atomics || claim::is_on()
}

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
    while TASKS.get() <= task.index() {
        let first = TASKS.replace(more_tasks());
        RACES.get().begin(first);
    }
}

#[derive(Debug)]
struct Races {
    // Under sequential consistency.
    clocks: [Clock; TaskId::MAX],
    // By the rules of the language.
    views: [TaskClocks<Clock>; TaskId::MAX],
    words: WordTable,
    /// What tasks have done before they called code that synchronizes unseen.
    unseen: Option<Clock>,
    /// Under a weak memory model: what an acquiring load of each store learns, by the number of the
    /// store.
    stores: Vec<Option<Clock>>,
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
    clocks: [Clock::ZERO; TaskId::MAX],
    views: [TaskClocks::new(Clock::ZERO, Clock::ZERO, Clock::ZERO); TaskId::MAX],
    words: WordTable::new(),
    unseen: None,
    stores: Vec::new(),
    racing: Vec::new(),
    is_racing: None,
    blocks: None,
    shown: None,
    shared: None,
});

/// Another execution begins. `is_shown`: its steps are recorded.
pub(super) fn begin(is_shown: bool) {
    if !is_tracking() {
        return;
    }
    let races = RACES.get();
    if is_shown {
        show();
    }
    races.words.clear();
    races.begin(0);
    races.unseen = None;
    races.stores.clear();
    log::begin(is_shown && claim::is_on());
    ignored::begin();
    let first = TaskSet::only(TaskId(0));
    UNJOINED.set(if STARTS_ALONE.get() { first } else { TaskSet::all(TaskId::MAX) });
}

impl Races {
    /// Initializes the clocks from task `first` on.
    fn begin(&mut self, first: usize) {
        for at in first..TASKS.get() {
            self.clocks[at].begin(at);
            self.views[at].begin(&self.clocks[at], &Clock::ZERO);
        }
    }

    /// `task` begins another interval, in both orders.
    #[inline(always)]
    fn tick(&mut self, task: TaskId) {
        let at = task.index();
        self.clocks[at].tick(task);
        self.views[at].now.0[at] = self.clocks[at].0[at];
    }

    /// Everything that tasks have done so far. None of them does more in its interval.
    #[cold]
    fn everything(&mut self) -> Clock {
        let mut all = Clock::ZERO;
        for at in 0..TASKS.get() {
            all.join(&self.views[at].now);
            self.tick(TaskId(at as u8));
        }
        all
    }

    /// Code that is not seen has written these bytes: it may have released everything.
    #[cold]
    fn note_unseen_store(&mut self, word: usize, bytes: u8) {
        let all = self.everything();
        let (known, spill) = self.words.at(word);
        match known.message_of(bytes) {
            Some(message) => message.assign(&all),
            None => known.set_message(bytes, all, spill),
        }
    }

    /// What an acquiring load of a store learns; everything, if it was made unseen.
    fn message(&mut self, store: u32) -> Clock {
        match self.stores.get(store as usize) {
            _ if store == 0 => Clock::ZERO,
            Some(Some(message)) => *message,
            _ => {
                let all = self.everything();
                self.set_message(store, all);
                all
            }
        }
    }

    fn set_message(&mut self, store: u32, message: Clock) {
        let at = store as usize;
        if self.stores.len() <= at {
            self.stores.resize(at + 1, None);
        }
        self.stores[at] = Some(message);
    }

    /// Makes the place of a plain access a point. Returns whether it was not one.
    fn insert(&mut self, pc: usize) -> bool {
        let is_new = self.is_racing.get_or_insert_default().insert(pc);
        if is_new {
            self.racing.push(pc);
            self.blocks.get_or_insert_default().insert(code_of(pc));
        }
        is_new
    }

    /// The access `now` races under sequential consistency: it and the others become points.
    /// Returns whether one of them was none.
    #[cold]
    fn insert_all(&mut self, now: &PastAccess) -> bool {
        if points() != Points::Racing {
            self.words.spill.places.iter().for_each(|it| NOTE_RACE.get()(*it));
            return false;
        }
        // All of them: a known place must not hide another.
        let mut found = !now.kind.has(Kind::ATOMIC) && self.insert(now.pc);
        for at in 0..self.words.spill.places.len() {
            found |= self.insert(self.words.spill.places[at]);
        }
        found
    }
}

/// Adds the memory that is written here while tasks run.
pub(super) fn own_memory(to: &mut Vec<Range<usize>>) {
    to.extend([current_task::range_of(&RACES), current_task::range_of(&LOCK_SITES)]);
    RACES.get().words.own_memory(to);
    log::own_memory(to);
    ignored::own_memory(to);
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
#[inline(always)]
pub(super) fn records(control: Control) -> bool {
    is_tracking() && !runs_alone(control.task())
}

/// These places race and are points from the start.
pub(super) fn set_racing(places: impl IntoIterator<Item = usize>) {
    for pc in places {
        RACES.get().insert(pc);
    }
}

/// What is known of the code: the places that race, and the words on stacks that are shared.
pub(super) fn known() -> (Vec<usize>, Vec<usize>) {
    let mut words = all_shared();
    words.sort_unstable();
    (all_racing(), words)
}

/// Adds what another process of the same program knows.
pub(super) fn add_known(places: &[usize], words: &[usize]) {
    set_racing(places.iter().copied());
    set_shared(words.to_vec());
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
        HAS_SHARED.store(true, Ordering::Relaxed);
        RACES.get().shared.get_or_insert_default().extend(words);
    }
}

/// The places that race: those known to the last recorded execution, if there was one. A schedule
/// can be replayed only with the same points.
pub(super) fn racing() -> &'static [usize] {
    let races = RACES.get();
    &races.racing[..races.shown.unwrap_or(races.racing.len())]
}

// The code that calls a function for a lock, by task.
static LOCK_SITES: [RuntimeCell<usize>; TaskId::MAX] = [const { RuntimeCell::new(0) }; TaskId::MAX];

/// The code at `pc` calls a function for a lock.
#[inline(always)]
pub(super) fn note_lock_site(task: TaskId, pc: usize) {
    LOCK_SITES[task.index()].set(pc);
}

/// Which orders an operation adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Orders {
    /// The same as `Both`, and the object is a lock, which the task holds until it releases it.
    Lock,
    /// That of the language, and that of the execution.
    Both,
    /// That of the execution only: no data is ordered by it.
    Execution,
}

/// The running task, under a weak memory model: the model learns of every order as well.
#[inline(always)]
fn model() -> Option<Control> {
    current_task::running_control().filter(|it| it.has_weak_memory())
}

/// What tasks did before they released the object happens before what `task` does next.
#[inline(always)]
pub(super) fn acquire(task: TaskId, object: usize, orders: Orders) {
    if orders != Orders::Execution {
        model().into_iter().for_each(|it| it.acquire_object(task, object));
    }
    if !is_tracking() {
        return;
    }
    let Races { clocks, views, words, .. } = RACES.get();
    if let Some(word) = words.known(object) {
        word.sequential.acquire(&mut clocks[task.index()]);
        if orders != Orders::Execution
            && let Some(message) = word.message_of(u8::MAX)
        {
            views[task.index()].now.join(message);
        }
    }
    if orders != Orders::Execution {
        acquire_unseen(task);
        let site = LOCK_SITES[task.index()].get();
        log::note(Event::Acquire { task, object, is_lock: orders == Orders::Lock, site });
    }
}

/// What `task` did happens before what tasks do after they acquire the object.
#[inline(always)]
pub(super) fn release(task: TaskId, object: usize, orders: Orders) {
    if orders != Orders::Execution {
        model().into_iter().for_each(|it| it.release_object(task, object));
    }
    if !is_tracking() {
        return;
    }
    let races = RACES.get();
    let (word, _) = races.words.at(object);
    word.sequential.release(&races.clocks[task.index()]);
    if orders != Orders::Execution
        && let Some(message) = word.message_of(u8::MAX)
    {
        message.join(&races.views[task.index()].now);
        log::note(Event::Release { task, object });
    }
    races.tick(task);
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
    model().into_iter().for_each(|it| it.order_tasks(later, earlier));
    if !is_tracking() {
        return;
    }
    note_task(later);
    let races = RACES.get();
    let (clock, view) = (races.clocks[earlier.index()], races.views[earlier.index()].now);
    races.clocks[later.index()].join(&clock);
    races.views[later.index()].now.join(&view);
    races.tick(earlier);
    log::note(Event::Order { later, earlier });
}

/// A fence of the running task.
pub(super) fn fence(control: Control, order: Ordering) {
    if !claim::is_on() {
        return;
    }
    let (races, me) = (RACES.get(), control.task());
    races.views[me.index()].acquire_fence(order);
    if acquires(order) {
        acquire_unseen(me);
    }
    let races = RACES.get();
    races.views[me.index()].release_fence(me, order);
    races.tick(me);
    log::note(Event::Fence { task: me, order });
}

/// The running task calls code that may acquire something unseen, or returns from it: everything
/// that tasks did so far may happen before what it does next.
#[cold]
pub(super) fn note_unseen_acquire(task: TaskId) {
    model().into_iter().for_each(|it| it.note_unseen_acquire(task));
    if claim::is_on() {
        let races = RACES.get();
        let all = races.everything();
        races.views[task.index()].now.join(&all);
    }
}

/// The running task may have released something unseen, which others acquire in code that is seen.
#[cold]
pub(super) fn note_unseen_release(task: TaskId) {
    model().into_iter().for_each(|it| it.note_unseen_release(task));
    if claim::is_on() {
        let races = RACES.get();
        let own = races.views[task.index()].now;
        races.unseen.get_or_insert(Clock::ZERO).join(&own);
        races.tick(task);
    }
}

/// The running task acquires something: perhaps what other tasks have released unseen.
#[inline(always)]
fn acquire_unseen(task: TaskId) {
    let races = RACES.get();
    if let Some(unseen) = &races.unseen {
        races.views[task.index()].now.join(unseen);
    }
}

/// A mask of the bytes of the word at `word` that an access touches.
fn bytes(word: usize, address: usize, size: usize) -> u8 {
    let (from, to) = (address.max(word) - word, (address + size).min(word + 8) - word);
    ((1_u16 << to) - (1_u16 << from)) as u8
}

/// A plain access of that kind. If it is found to race and that was not known, the exploration
/// restarts.
#[inline(always)]
pub(super) fn plain(control: Control, address: usize, size: usize, kind: Kind, pc: usize) {
    if records(control) {
        record(control, address, size, kind, pc);
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

/// Which stores an atomic access reads and makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModelEffect {
    /// It reads the newest, and replaces it.
    Newest,
    /// It reads the store with this number.
    Load(u32),
    /// It is the store with this number; whether that is the newest.
    Store(u32, bool),
    /// Both.
    Update {
        /// The store that it reads.
        read: u32,
        /// The store that it makes.
        stored: u32,
        /// Whether that is the newest.
        is_newest: bool,
    },
}

/// An atomic access. It is a point; a plain access that races with it becomes one as well.
#[inline(always)]
pub(super) fn synchronize(control: Control, access: AtomicAccess, effect: ModelEffect) {
    if !is_tracking() {
        return;
    }
    note_owner_access(control, access.address);
    let (me, word) = (control.task(), access.address & !7);
    if runs_alone(me) {
        if let ModelEffect::Store(stored, _) | ModelEffect::Update { stored, .. } = effect {
            let races = RACES.get();
            races.set_message(stored, races.views[me.index()].now);
        }
        return;
    }
    if word + 8 < access.address + access.size {
        return synchronize_wide(control, access);
    }
    let AtomicAccess { address, size, pc, what, order, old, new } = access;
    let kind = Kind::ATOMIC.and(Kind::WRITE, what != Atomic::Load);
    let bytes = bytes(word, address, size);
    let is_on = claim::is_on();
    let races = RACES.get();
    let (clock, view) = (&mut races.clocks[me.index()], &mut races.views[me.index()]);
    let (known, spill) = races.words.at(word);
    let now = PastAccess { time: clock.time(me.0), task: me.0, bytes, kind: silenced(me, kind), pc };
    let mut conflicts = None;
    if !known.record_repeated(&now) {
        conflicts = known.touch(now, clock, if is_on { &view.now } else { clock }, spill);
    }
    known.sequential.acquire(clock);
    if what != Atomic::Load {
        known.sequential.replace(clock);
    }
    if is_on {
        let (shift, mask) = (8 * (address & 7) as u32, u64::MAX >> (64 - 8 * size));
        let is_foreign = known.is_foreign(bytes, shift, mask, old);
        known.set_value(bytes, shift, mask, new);
        if is_foreign != Some(false) && (is_foreign == Some(true) || claim::has_unseen_code()) {
            races.note_unseen_store(word, bytes);
        }
        if effect != ModelEffect::Newest {
            synchronize_in_model(me, word, bytes, &access, effect);
        }
        let races = RACES.get();
        let (known, spill) = races.words.at(word);
        let view = &mut races.views[me.index()];
        match known.message_of(bytes).filter(|_| !ignored::is_sync_ignored(me)) {
            _ if effect != ModelEffect::Newest => (),
            Some(message) => apply(view, me, what, order, message),
            None if ignored::is_sync_ignored(me) => (),
            None => {
                let mut message = known.joined_message(bytes, spill);
                apply(view, me, what, order, &mut message);
                if what != Atomic::Load {
                    known.set_message(bytes, message, spill);
                }
            }
        }
        if acquires(order) {
            acquire_unseen(me);
        }
        log::note(Event::Atomic { task: me, access });
    }
    if what != Atomic::Load {
        RACES.get().tick(me);
    }
    if let Some(conflicts) = conflicts {
        note_conflicts(control, word, &now, conflicts);
    }
}

/// The effects of an access under a weak memory model. The word's message is always that of its
/// newest store.
#[cold]
fn synchronize_in_model(me: TaskId, word: usize, bytes: u8, access: &AtomicAccess, effect: ModelEffect) {
    if ignored::is_sync_ignored(me) {
        return;
    }
    let races = RACES.get();
    let (read, stored) = match effect {
        ModelEffect::Newest => return,
        ModelEffect::Load(read) => (read, None),
        ModelEffect::Store(stored, is_newest) => (0, Some((stored, is_newest))),
        ModelEffect::Update { read, stored, is_newest } => (read, Some((stored, is_newest))),
    };
    let mut message = races.message(read);
    apply(&mut races.views[me.index()], me, access.what, access.order, &mut message);
    if let Some((stored, is_newest)) = stored {
        races.set_message(stored, message);
        let (known, spill) = races.words.at(word);
        if is_newest {
            known.set_message(bytes, message, spill);
        }
    }
}

/// The effects of an access that reads, or replaces, `message`.
#[inline(always)]
fn apply(view: &mut TaskClocks<Clock>, me: TaskId, what: Atomic, order: Ordering, message: &mut Clock) {
    match what {
        Atomic::Load => view.read(order, message),
        Atomic::Store => view.store(me, order, message),
        Atomic::Update => {
            view.read(order, message);
            view.update(me, order, message);
        }
    }
}

/// An atomic access to more than a word.
#[cold]
fn synchronize_wide(control: Control, access: AtomicAccess) {
    let AtomicAccess { address, size, pc, what, order, .. } = access;
    let me = control.task();
    record(control, address, size, Kind::ATOMIC.and(Kind::WRITE, what != Atomic::Load), pc);
    let words = || (address & !7..address + size).step_by(8);
    let races = RACES.get();
    let mut message = Clock::ZERO;
    for word in words() {
        let (known, spill) = races.words.at(word);
        known.sequential.acquire(&mut races.clocks[me.index()]);
        message.join(&known.joined_message(bytes(word, address, size), spill));
    }
    apply(&mut races.views[me.index()], me, what, order, &mut message);
    if what != Atomic::Load {
        for word in words() {
            let (known, spill) = races.words.at(word);
            known.sequential.replace(&races.clocks[me.index()]);
            known.set_message(bytes(word, address, size), message, spill);
            known.forget_value(u8::MAX);
        }
        races.tick(me);
    }
    if acquires(order) {
        acquire_unseen(me);
    }
    log::note(Event::Atomic { task: me, access });
}

/// The runtime has stored to an atomic for the running task, with release ordering.
pub(super) fn publish(control: Control, address: usize, size: usize) {
    if control.has_weak_memory() {
        // What was done before is ordered by the lock of the initialization, too.
        control.mix_memory(address, size);
        let (order, place) = (Ordering::Release, current_task::place(0));
        control.access_mixed(&ForeignAccess { address, size, order, place }, false, true);
    }
    if !is_tracking() {
        return;
    }
    let (races, me, word) = (RACES.get(), control.task(), address & !7);
    let bytes = bytes(word, address, size);
    let (known, spill) = races.words.at(word);
    let view = &mut races.views[me.index()];
    known.forget_value(bytes);
    known.sequential.release(&races.clocks[me.index()]);
    match known.message_of(bytes) {
        Some(message) => view.store(me, Ordering::Release, message),
        None => {
            let mut message = Clock::ZERO;
            view.store(me, Ordering::Release, &mut message);
            known.set_message(bytes, message, spill);
        }
    }
    races.tick(me);
}

/// The kind of an access of `task`, unless annotations exclude it.
#[inline(always)]
fn silenced(task: TaskId, kind: Kind) -> Kind {
    kind.and(Kind::SILENT, ignored::is_ignored(task, kind.is_write()))
}

fn record(control: Control, address: usize, size: usize, kind: Kind, pc: usize) {
    let me = control.task();
    let mut word = address & !7;
    while word < address + size {
        let races = RACES.get();
        let clock = &races.clocks[me.index()];
        let language = if claim::is_on() { &races.views[me.index()].now } else { clock };
        let bytes = bytes(word, address, size);
        let now = PastAccess { time: clock.time(me.0), task: me.0, bytes, kind: silenced(me, kind), pc };
        let (known, spill) = races.words.at(word);
        if kind.has(Kind::WRITE) {
            known.forget_value(bytes);
            if control.has_weak_memory() && !kind.has(Kind::ATOMIC) {
                let from = address.max(word);
                control.forget_memory(from, (address + size).min(word + 8) - from);
            }
        }
        let conflicts = known.touch(now, clock, language, spill);
        log::note_access(me, now.time, pc);
        if let Some(conflicts) = conflicts {
            note_conflicts(control, word, &now, conflicts);
        }
        word += 8;
    }
}

/// The access `now` to `word` races: its places become points, and it is reported.
#[cold]
fn note_conflicts(control: Control, word: usize, now: &PastAccess, conflicts: Conflicts) {
    if conflicts.is_sequential && RACES.get().insert_all(now) {
        control.restart_exploration();
    }
    let race = conflicts.race.filter(|_| claim::is_on());
    if !race.is_some_and(|first| claim::claim(control, word, &first, now)) {
        control.note_unordered();
    }
}

/// A write of code that is not instrumented, in a call that returns to `pc`. Returns whether it is
/// found to race, and that was not known. It is a point then, and never reported.
pub(super) fn record_foreign_write(task: TaskId, word: usize, bytes: u8, pc: usize) -> bool {
    if points() == Points::Atomics {
        return false;
    }
    let races = RACES.get();
    let clock = &races.clocks[task.index()];
    let kind = Kind::WRITE.with(Kind::SILENT);
    let now = PastAccess { time: clock.time(task.0), task: task.0, bytes, kind, pc };
    let (known, spill) = races.words.at(word);
    known.forget_value(bytes);
    model().into_iter().for_each(|it| it.forget_memory(word, 8));
    let conflicts = known.touch(now, clock, clock, spill);
    conflicts.is_some_and(|it| it.is_sequential) && (points() == Points::All || races.insert_all(&now))
}

/// A block is allocated: earlier accesses to it are forgotten.
pub(super) fn forget(address: usize, size: usize) {
    model().into_iter().for_each(|it| it.forget_memory(address, size));
    if is_tracking() {
        let words = &mut RACES.get().words;
        for word in (address..address + size).step_by(8) {
            words.known(word).into_iter().for_each(word::WordHistory::forget);
        }
    }
}

/// Whether a word of some stack is accessed by other tasks.
pub(super) static HAS_SHARED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// A function of the running task begins, with its frame below `top`: what is there is new.
pub(super) fn forget_frame(top: usize) {
    let Races { shared, words, .. } = RACES.get();
    for &word in shared.iter().flatten().filter(|it| **it < top && current_task::is_own_stack(**it)) {
        model().into_iter().for_each(|it| it.forget_memory(word, 8));
        words.known(word).into_iter().for_each(word::WordHistory::forget);
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
    HAS_SHARED.store(true, Ordering::Relaxed);
    if RACES.get().shared.get_or_insert_default().insert(address & !7) {
        control.restart_exploration();
    }
}
