//! Weak memory models: an operation precedes another if its return happens before the other's call.

use clewline::{
    LineUp,
    line_up::{Explorable, LineUpOutcome, MemoryModel},
    sync::atomic::{
        AtomicU32,
        Ordering::{self, Acquire, Relaxed, Release},
        fence,
    },
};

const WEAK: [MemoryModel; 2] = [MemoryModel::Tso, MemoryModel::ReleaseAcquire];

type Pair = [AtomicU32; 2];

fn pair() -> LineUp<impl Explorable> {
    LineUp::new(|| [const { AtomicU32::new(0) }; 2])
        .named("pair")
        .call("set-x", |it: &Pair| it[0].store(1, Release))
        .call("set-y", |it: &Pair| it[1].store(1, Release))
        .call("set-x-later", |it: &Pair| it[0].store(1, Relaxed))
        .call("x", |it: &Pair| it[0].load(Acquire))
        .call("y", |it: &Pair| it[1].load(Acquire))
        .call("x-later", |it: &Pair| it[0].load(Relaxed))
        .without_environment()
}

#[track_caller]
fn verdict(outcome: Result<LineUpOutcome, clewline::Error>) -> &'static str {
    outcome.unwrap().verdict().word()
}

#[test]
fn a_slot_that_is_released_and_acquired_holds_unless_real_time_counts() {
    for model in WEAK {
        for matrix in ["set-x | x x", "set-x x | x", "set-x x | set-x x"] {
            assert_eq!(verdict(pair().matrix(matrix).memory_model(model).run()), "holds", "{model:?}");
        }
        let strict = pair().matrix("set-x | x").memory_model(model).real_time();
        assert_eq!(verdict(strict.run()), "violated", "{model:?}");
    }
}

#[test]
fn operations_of_one_thread_are_ordered() {
    for model in WEAK {
        let outcome = pair().matrix("set-x y | set-y x").memory_model(model).run();
        assert_eq!(verdict(outcome), "violated", "store buffering, {model:?}");
    }
}

#[test]
fn what_was_acquired_happened_before() {
    let message =
        |matrix: &str| verdict(pair().matrix(matrix).memory_model(MemoryModel::ReleaseAcquire).run());
    assert_eq!(message("set-x set-y | y x"), "holds");
    assert_eq!(message("set-x-later set-y | y x-later"), "holds");
    let relaxed = LineUp::new(|| [const { AtomicU32::new(0) }; 2])
        .call("set-x", |it: &Pair| it[0].store(1, Relaxed))
        .call("set-y", |it: &Pair| it[1].store(1, Relaxed))
        .call("x", |it: &Pair| it[0].load(Relaxed))
        .call("y", |it: &Pair| it[1].load(Relaxed))
        .matrix("set-x set-y | y x")
        .memory_model(MemoryModel::ReleaseAcquire)
        .without_environment();
    assert_eq!(verdict(relaxed.run()), "violated");
}

#[test]
fn initial_and_final_calls_precede_and_follow_all_others() {
    let late = |model| pair().initial_calls("set-x").matrix("x | y").memory_model(model).run();
    let outcome = late(MemoryModel::ReleaseAcquire);
    assert_eq!(verdict(outcome), "holds");
    let outcome =
        pair().matrix("set-x-later | y").final_calls("x-later").memory_model(MemoryModel::ReleaseAcquire);
    let outcome = outcome.run().unwrap();
    assert_eq!(outcome.verdict().word(), "holds", "{outcome}");
    assert!(outcome.to_string().contains("1 distinct history"), "x is 1 in the end: {outcome}");
}

/// One sequence lock around two words, with its fences or without one of them.
struct SequenceLock {
    sequence: AtomicU32,
    words: Pair,
    store_fence: Option<Ordering>,
    load_fence: Option<Ordering>,
}

impl SequenceLock {
    fn write(&self, value: u32) {
        let before = self.sequence.load(Relaxed);
        self.sequence.store(before + 1, Relaxed);
        self.store_fence.into_iter().for_each(fence);
        self.words.iter().for_each(|it| it.store(value, Relaxed));
        self.sequence.store(before + 2, Release);
    }

    fn read(&self) -> Option<[u32; 2]> {
        let before = self.sequence.load(Acquire);
        let words = [0, 1].map(|it: usize| self.words[it].load(Relaxed));
        self.load_fence.into_iter().for_each(fence);
        let is_same = before.is_multiple_of(2) && self.sequence.load(Relaxed) == before;
        is_same.then_some(words)
    }
}

#[test]
fn a_sequence_lock_needs_both_fences() {
    let checked = |store_fence, load_fence| {
        LineUp::new(move || SequenceLock {
            sequence: AtomicU32::new(0),
            words: [const { AtomicU32::new(0) }; 2],
            store_fence,
            load_fence,
        })
        .call("write", |it: &SequenceLock| it.write(7))
        // A torn read is wrong; whether there is anything to read is a matter of time.
        .call("is-whole", |it: &SequenceLock| it.read().is_none_or(|it| it[0] == it[1]))
        .matrix("write | is-whole")
        .memory_model(MemoryModel::ReleaseAcquire)
        .preemptions(None)
        .without_environment()
        .run()
    };
    assert_eq!(verdict(checked(Some(Release), Some(Acquire))), "holds");
    assert_eq!(verdict(checked(None, Some(Acquire))), "violated");
    assert_eq!(verdict(checked(Some(Release), None)), "violated");
}

#[test]
fn a_specification_is_compared_in_every_order_that_happens_before_allows() {
    let register = || {
        LineUp::new(|| AtomicU32::new(0))
            .call("write(1)", |it: &AtomicU32| it.store(1, Release))
            .call("read", |it: &AtomicU32| Some(it.load(Acquire)).filter(|it| *it != 0))
            .against_named("register")
            .matrix("write(1) | read read")
            .memory_model(MemoryModel::ReleaseAcquire)
            .without_environment()
    };
    assert_eq!(verdict(register().run()), "holds");
    assert_eq!(verdict(register().real_time().run()), "violated");
}
