//! Rules of the memory models one by one, without running tasks.

use super::*;
use crate::control::races::{CellAccess, DataRace, RacingAccess};

const A: TaskId = TaskId(0);
const B: TaskId = TaskId(1);
const C: TaskId = TaskId(2);

const WORD: SharedId = SharedId(0);
const LOCK: SharedId = SharedId(1);
const CELL: SharedId = SharedId(2);

/// Always chooses the newest store, or the oldest.
#[derive(Clone, Copy)]
enum StoreChoice {
    Newest,
    Oldest,
}

impl ChoiceSource for StoreChoice {
    fn value(&mut self, n: u32) -> u32 {
        match self {
            StoreChoice::Newest => 0,
            StoreChoice::Oldest => n - 1,
        }
    }

    fn fails_spuriously(&mut self, _place: Place) -> bool {
        false
    }
}

/// A memory with one word, and the value that the atomic holds.
struct OneWordMemory {
    state: MemoryState,
    held: u64,
}

impl OneWordMemory {
    fn new(model: MemoryModel) -> Self {
        OneWordMemory { state: MemoryState::new(Memory { model, ..Memory::default() }), held: 0 }
    }

    fn by(task: TaskId, order: Ordering) -> AtomicAccess {
        AtomicAccess { task, object: WORD, place: Place::caller(), order }
    }

    fn store(&mut self, task: TaskId, value: u64, order: Ordering) {
        self.held = self.state.store(Self::by(task, order), value, self.held, &mut StoreChoice::Newest).0;
    }

    fn load(&mut self, task: TaskId, order: Ordering, mut reads: StoreChoice) -> u64 {
        self.state.load(Self::by(task, order), self.held, &mut reads).value
    }

    /// A compare-and-swap that finds a different value.
    fn fail(&mut self, task: TaskId, order: Ordering, failure: Ordering, mut reads: StoreChoice) -> u64 {
        let mut change = ReadModifyWrite { make: &mut |_| None, failure, may_fail: false };
        self.state.update(Self::by(task, order), &mut change, self.held, &mut reads).read.value
    }

    fn touch(&mut self, task: TaskId, touch: CellAccess) -> Option<DataRace> {
        let (view, touches) = self.state.cell(task, CELL);
        touches.record(RacingAccess { task, place: Place::caller(), access: touch, size: None }, view)
    }

    /// What `earlier` did happens before what `later` does from now on.
    fn order(&mut self, earlier: TaskId, later: TaskId) {
        self.state.release(earlier, LOCK, Access::Acquire);
        self.state.acquire(later, LOCK, Access::Acquire);
    }

    /// Whether the next write of `writer` races with `reader` after `act`.
    fn races(&mut self, act: impl FnOnce(&mut Self)) -> bool {
        assert_eq!(self.touch(A, CellAccess::Write), None);
        act(self);
        self.touch(B, CellAccess::Read).is_some()
    }
}

#[test]
fn accesses_after_a_release_fence_are_not_released_by_it() {
    let publish = |it: &mut OneWordMemory| {
        it.store(A, 1, Relaxed);
        it.load(B, Acquire, StoreChoice::Newest);
    };
    let mut before = OneWordMemory::new(SequentiallyConsistent);
    assert!(!before.races(|it| {
        it.state.fence(A, Release);
        publish(it);
    }));
    let mut after = OneWordMemory::new(SequentiallyConsistent);
    after.state.fence(A, Release);
    assert!(after.races(publish));
}

#[test]
fn a_wake_happens_before_the_wakeup() {
    let mut before = OneWordMemory::new(SequentiallyConsistent);
    assert!(!before.races(|it| {
        it.state.wake(A, B);
        it.state.woken(B);
    }));
    let mut after = OneWordMemory::new(SequentiallyConsistent);
    after.state.wake(A, B);
    assert!(after.races(|it| it.state.woken(B)));
}

#[test]
fn a_spawn_happens_before_the_start_of_the_task() {
    let mut before = OneWordMemory::new(SequentiallyConsistent);
    assert!(!before.races(|it| it.state.begin_after(B, A)));
    let mut after = OneWordMemory::new(SequentiallyConsistent);
    after.state.begin_after(B, A);
    assert!(after.races(|_| ()));
}

#[test]
fn a_failed_swap_reads_with_the_failure_ordering() {
    let fails = |failure: Ordering| {
        OneWordMemory::new(SequentiallyConsistent).races(|it| {
            it.store(A, 1, Release);
            it.fail(B, AcqRel, failure, StoreChoice::Newest);
        })
    };
    assert!(!fails(Acquire));
    assert!(fails(Relaxed));
}

#[test]
fn a_failed_swap_may_read_what_its_failure_ordering_allows() {
    let mut memory = OneWordMemory::new(ReleaseAcquire);
    memory.store(A, 1, SeqCst);
    assert_eq!(memory.fail(B, SeqCst, SeqCst, StoreChoice::Oldest), 1);
    assert_eq!(memory.fail(B, SeqCst, Relaxed, StoreChoice::Newest), 1);
    assert_eq!(memory.fail(C, SeqCst, Relaxed, StoreChoice::Oldest), 0);
}

#[test]
fn later_sequentially_consistent_loads_see_what_an_earlier_one_saw() {
    let mut memory = OneWordMemory::new(ReleaseAcquire);
    memory.store(A, 1, Relaxed);
    assert_eq!(memory.load(B, SeqCst, StoreChoice::Newest), 1);
    assert_eq!(memory.load(C, Relaxed, StoreChoice::Oldest), 0);
    assert_eq!(memory.load(C, SeqCst, StoreChoice::Oldest), 1);
}

#[test]
fn an_atomic_with_an_unexpected_value_is_a_different_one() {
    for model in MODELS {
        let mut memory = OneWordMemory::new(model);
        memory.store(A, 1, SeqCst);
        memory.held = 7;
        assert_eq!(memory.load(A, Relaxed, StoreChoice::Oldest), 7, "{model:?}");
    }
}

#[test]
fn a_task_sees_the_newest_of_its_own_stores() {
    let mut memory = OneWordMemory::new(Tso);
    memory.store(A, 1, Relaxed);
    memory.store(A, 2, Relaxed);
    assert_eq!(memory.load(A, Relaxed, StoreChoice::Newest), 2);
    memory.state.flush(A);
    assert_eq!(memory.load(A, Relaxed, StoreChoice::Newest), 2);
    assert_eq!(memory.load(B, Relaxed, StoreChoice::Newest), 1);
}

#[test]
fn an_atomic_is_written_only_if_its_value_stays_wrong() {
    // The atomic may be dropped before the second store is flushed: no other task uses it.
    let mut alone = OneWordMemory::new(Tso);
    alone.store(A, 1, Relaxed);
    alone.store(A, 2, Relaxed);
    assert_eq!([alone.state.flush(A), alone.state.flush(A)], [None, None]);
    let mut both = OneWordMemory::new(Tso);
    both.store(A, 1, Relaxed);
    both.store(B, 2, Relaxed);
    assert_eq!([both.state.flush(B), both.state.flush(A)], [None, Some((WORD, 1))]);
}

#[test]
fn an_atomic_that_was_written_back_is_the_same() {
    let mut memory = OneWordMemory::new(Tso);
    assert_eq!(memory.touch(A, CellAccess::Write), None);
    memory.store(A, 1, Release);
    memory.store(B, 2, Release);
    memory.state.flush(B);
    memory.held = memory.state.flush(A).expect("it holds what was stored last").1;
    assert_eq!(memory.load(C, Acquire, StoreChoice::Newest), 1);
    assert_eq!(memory.touch(C, CellAccess::Read), None);
}

#[test]
fn buffered_stores_to_a_dropped_object_are_discarded_except_the_last() {
    let mut memory = OneWordMemory::new(Tso);
    memory.store(A, 1, Relaxed);
    memory.store(A, 2, Relaxed);
    assert_eq!(memory.state.forget_buffered(WORD), Some(2));
    assert_eq!(memory.state.first_buffered(A), None);
    assert_eq!(memory.state.forget_buffered(WORD), None);
}

#[test]
fn all_unordered_reads_may_race_with_a_write() {
    let mut memory = OneWordMemory::new(SequentiallyConsistent);
    memory.touch(A, CellAccess::Read);
    memory.touch(B, CellAccess::Read);
    memory.order(B, C);
    let race = memory.touch(C, CellAccess::Write).expect("nothing orders it after the first");
    assert_eq!(race.first.task, A);
}

#[test]
fn a_read_that_comes_after_a_write_does_not_hide_it() {
    let mut memory = OneWordMemory::new(SequentiallyConsistent);
    memory.touch(A, CellAccess::Write);
    memory.order(A, B);
    assert_eq!(memory.touch(B, CellAccess::Read), None);
    let race = memory.touch(C, CellAccess::Read).expect("nothing orders it after the write");
    assert_eq!(race.first.task, A);
}

#[test]
fn a_certain_race_is_preferred_to_an_uncertain_one() {
    let mut memory = OneWordMemory::new(SequentiallyConsistent);
    memory.touch(A, CellAccess::Pointer);
    memory.touch(B, CellAccess::Write);
    let race = memory.touch(C, CellAccess::Read).expect("nothing orders it after either");
    assert_eq!((race.first.task, race.is_certain()), (B, true));
}
