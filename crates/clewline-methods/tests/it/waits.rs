//! Calls that poll and give up, and calls that never return.

use std::cell::Cell;

use clewline::{
    LineUp, hint,
    line_up::LineUpOutcome,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};
use clewline_threads::control::Limits;

// A thousand were taken for a proof that a loop never ends.
const ROUNDS: u32 = 1_100;

type Words = [AtomicU32; 3];

/// One thread calls `wait`, another `set`.
fn beside_a_set(wait: fn(&Words) -> u32) -> LineUp<impl clewline::line_up::Explorable> {
    LineUp::new(|| [const { AtomicU32::new(0) }; 3])
        .named("it")
        .call("wait", wait)
        .call("set", |it: &Words| it[1].store(1, SeqCst))
        .matrix("wait | set")
        .preemptions(0)
        .without_environment()
}

#[track_caller]
fn check(outcome: &LineUpOutcome, verdict: &str, words: &[&str]) {
    let text = outcome.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(outcome.verdict().word(), verdict, "{outcome}");
    for part in words {
        assert!(text.contains(part), "{part} in {outcome}");
    }
}

fn in_a_register(it: &Words) -> u32 {
    (0..ROUNDS).find(|_| it[0].load(SeqCst) != 0).unwrap_or(7)
}

fn on_the_stack(it: &Words) -> u32 {
    let mut counts = std::hint::black_box([0; 16]);
    while it[0].load(SeqCst) == 0 && counts[5] < ROUNDS {
        counts[5] += 1;
        std::hint::black_box(&mut counts);
    }
    counts[5]
}

fn on_the_heap(it: &Words) -> u32 {
    let count = std::hint::black_box(Box::new(Cell::new(0)));
    while it[0].load(SeqCst) == 0 && count.get() < ROUNDS {
        count.set(count.get() + 1);
    }
    count.get()
}

fn on_the_heap_with_hints(it: &Words) -> u32 {
    let count = std::hint::black_box(Box::new(Cell::new(0)));
    while it[0].load(SeqCst) == 0 && count.get() < ROUNDS {
        count.set(count.get() + 1);
        hint::spin_loop();
    }
    count.get()
}

fn in_a_thread_local(it: &Words) -> u32 {
    thread_local! {
        static COUNT: Cell<u32> = const { Cell::new(0) };
    }
    COUNT.set(0);
    while it[0].load(SeqCst) == 0 && COUNT.get() < ROUNDS {
        COUNT.set(COUNT.get() + 1);
    }
    COUNT.get()
}

fn in_a_local_of_the_task(it: &Words) -> u32 {
    clewline::thread::thread_local! {
        static COUNT: Cell<u32> = const { Cell::new(0) };
    }
    while it[0].load(SeqCst) == 0 && COUNT.with(Cell::get) < ROUNDS {
        COUNT.with(|it| it.set(it.get() + 1));
    }
    COUNT.with(|it| it.replace(0))
}

fn in_a_static(it: &Words) -> u32 {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    COUNT.store(0, SeqCst);
    while it[0].load(SeqCst) == 0 && COUNT.load(SeqCst) < ROUNDS {
        COUNT.fetch_add(1, SeqCst);
    }
    COUNT.load(SeqCst)
}

fn with_growing_delays(it: &Words) -> u32 {
    let mut delay: u32 = 1;
    while it[0].load(SeqCst) == 0 && delay < 1 << 16 {
        std::hint::black_box((0..delay).fold(0, |sum: u32, it| sum.wrapping_mul(31) + it));
        delay *= 2;
        thread::yield_now();
    }
    delay
}

fn until_a_deadline(it: &Words) -> u32 {
    let begun = std::time::Instant::now();
    while it[0].load(SeqCst) == 0 && begun.elapsed().as_micros() < 500 {
        hint::spin_loop();
    }
    7
}

#[test]
fn a_call_that_gives_up_is_never_called_endless() {
    for wait in [
        in_a_register,
        on_the_stack,
        on_the_heap,
        on_the_heap_with_hints,
        in_a_thread_local,
        in_a_local_of_the_task,
        in_a_static,
        with_growing_delays,
    ] {
        let outcome = beside_a_set(wait).run().unwrap();
        check(&outcome, "holds", &[]);
        assert!(!outcome.to_string().contains("stuck"), "{outcome}");
    }
    // How often it polls depends on the processor.
    assert_ne!(beside_a_set(until_a_deadline).run().unwrap().verdict().word(), "violated");
}

#[test]
fn a_call_that_gives_up_too_late_is_unknown_with_its_place_and_what_helps() {
    for wait in [in_a_register, on_the_heap, in_a_thread_local, in_a_static] {
        let few = Limits { steps: 500, ..Limits::default() };
        let words = ["A loop reads the same again and again (crates/", "More steps per execution let a loop"];
        check(&beside_a_set(wait).limits(few).run().unwrap(), "unknown", &words);
    }
}

/// Two threads call `left` and `right`. One at a time, both return.
fn left_and_right(left: fn(&Words), right: fn(&Words)) -> LineUp<impl clewline::line_up::Explorable> {
    LineUp::new(|| [const { AtomicU32::new(0) }; 3])
        .named("it")
        .call("left", left)
        .call("right", right)
        .matrix("left | right")
        .without_environment()
}

#[test]
fn tries_of_a_lock_that_give_up_are_no_livelock() {
    // Each holds one lock, and tries the other a few times.
    fn both(locks: &[Mutex<u32>; 2], first: usize) {
        for _ in 0..4 {
            let _one = locks[first].lock();
            if locks[1 - first].try_lock().is_ok() {
                break;
            }
            thread::yield_now();
        }
    }
    let outcome = LineUp::new(|| [Mutex::new(0), Mutex::new(0)])
        .named("it")
        .call("there", |it| both(it, 0))
        .call("back", |it| both(it, 1))
        .matrix("there | back")
        .without_environment()
        .run()
        .unwrap();
    check(&outcome, "holds", &[]);
}

#[test]
fn a_ticket_lock_holds() {
    fn take(it: &Words) {
        let mine = it[0].fetch_add(1, SeqCst);
        while it[1].load(SeqCst) != mine {
            hint::spin_loop();
        }
        it[1].fetch_add(1, SeqCst);
    }
    check(&left_and_right(take, take).run().unwrap(), "holds", &[]);
}

/// Raises a flag, and lowers it as long as the other one is up and `goes_on`.
fn give_way(mine: &AtomicU32, other: &AtomicU32, mut goes_on: impl FnMut() -> bool) {
    while goes_on() {
        mine.store(1, SeqCst);
        if other.load(SeqCst) == 0 {
            break;
        }
        mine.store(0, SeqCst);
        thread::yield_now();
    }
    mine.store(0, SeqCst);
}

#[test]
fn threads_that_give_way_to_each_other_have_a_livelock_with_its_round() {
    let forever =
        left_and_right(|it| give_way(&it[0], &it[1], || true), |it| give_way(&it[1], &it[0], || true));
    let outcome = forever.preemptions(None).run().unwrap();
    check(&outcome, "violated", &["it has a livelock in left", "steps repeat forever:", "waits.rs:"]);
    // The counter is no state that recurs.
    fn give_way_twice(mine: &AtomicU32, other: &AtomicU32) {
        let mut rounds = 0..2;
        give_way(mine, other, || rounds.next().is_some());
    }
    let twice = left_and_right(|it| give_way_twice(&it[0], &it[1]), |it| give_way_twice(&it[1], &it[0]));
    check(&twice.preemptions(3).run().unwrap(), "holds", &[]);
}

#[test]
fn a_call_that_gives_up_where_another_never_does_is_not_called_endless() {
    fn wait(it: &Words, rounds: Option<u32>) {
        let mut round = 0;
        while rounds != Some(round) {
            round += u32::from(rounds.is_some());
            it[0].store(1, SeqCst);
            it[0].store(0, SeqCst);
            thread::yield_now();
        }
    }
    let outcome = LineUp::new(|| [const { AtomicU32::new(0) }; 3])
        .named("it")
        .call("few", |it: &Words| wait(it, Some(9)))
        .call("all", |it: &Words| wait(it, None))
        .call("set", |it: &Words| (it[1].store(1, SeqCst), it[1].store(2, SeqCst)).1)
        .matrix("few all | set")
        .run()
        .unwrap();
    check(&outcome, "holds", &[]);
}

/// Which of two calls comes last decides whether the third one ever returns. It waits at the same
/// places either way.
#[test]
fn a_call_that_gives_up_at_the_places_of_an_endless_one_is_not_called_endless() {
    fn wait(it: &Words) -> u32 {
        let left = Box::new(Cell::new(it[1].swap(0, SeqCst)));
        while it[0].load(SeqCst) == 0 && !is_over(&left) {}
        7
    }
    // In a frame of its own: no trace of the number is left in that of the loop.
    #[inline(never)]
    fn is_over(left: &Cell<u32>) -> bool {
        left.set(left.get().saturating_sub(1));
        left.get() == 1
    }
    for matrix in ["endless | few", "few | endless"] {
        let outcome = LineUp::new(|| [const { AtomicU32::new(0) }; 3])
            .named("it")
            .call("endless", |it: &Words| it[1].store(0, SeqCst))
            .call("few", |it: &Words| it[1].store(ROUNDS, SeqCst))
            .call("wait", wait)
            .matrix(matrix)
            .final_calls("wait")
            .without_environment()
            .run()
            .unwrap();
        check(&outcome, "holds", &["2 serial histories, 1 of them stuck"]);
    }
}

#[test]
fn philosophers_that_put_their_forks_down_have_a_livelock() {
    fn dine(left: &AtomicU32, right: &AtomicU32) {
        loop {
            if left.swap(1, SeqCst) == 0 {
                if right.swap(1, SeqCst) == 0 {
                    break;
                }
                left.store(0, SeqCst);
            }
            thread::yield_now();
        }
        right.store(0, SeqCst);
        left.store(0, SeqCst);
    }
    let line_up = left_and_right(|it| dine(&it[0], &it[1]), |it| dine(&it[1], &it[0]));
    let outcome = line_up.preemptions(None).run().unwrap();
    check(&outcome, "violated", &["it has a livelock in", "steps repeat forever:"]);
}

#[test]
fn a_wait_for_a_flag_that_was_missed_is_a_livelock() {
    // Each waits for the other, but only if it has come.
    fn meet(mine: &AtomicU32, other: &AtomicU32) {
        mine.store(1, SeqCst);
        if other.load(SeqCst) == 1 {
            while other.load(SeqCst) == 1 {}
        }
        mine.store(2, SeqCst);
        mine.store(0, SeqCst);
    }
    let line_up = left_and_right(|it| meet(&it[0], &it[1]), |it| meet(&it[1], &it[0]));
    let words = ["it has a livelock in", "in a loop that reads x", " forever:"];
    check(&line_up.run().unwrap(), "violated", &words);
}
