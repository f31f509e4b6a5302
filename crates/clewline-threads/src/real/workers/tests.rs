use std::{
    sync::{Condvar, Mutex, atomic::AtomicBool},
    time::Duration,
};

use clewline_core::{Deterministic, End};
use clewline_testing::pick;

use super::*;
use crate::ThreadActivity;

/// Each ticket is one more than the last: the order of the tickets is the order in which they were
/// drawn.
#[derive(Clone)]
struct Tickets;

impl Deterministic for Tickets {
    type State = u64;
    type Call = ();
    type Return = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn apply(&self, last: &mut u64, (): &()) -> Option<u64> {
        *last += 1;
        Some(*last)
    }
}

#[derive(Default)]
struct Dispenser(AtomicU64);

impl Subject<Tickets> for Dispenser {
    fn call(&self, (): &()) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// How many operations the history orders after one that drew a later ticket: after one that was
/// not complete.
fn false_claims(history: &History<(), u64>) -> usize {
    let mut latest_returned = 0;
    let mut claims = 0;
    let mut latest_at_call = vec![0; history.len()];
    for (id, end) in history.events() {
        let Some(&ticket) = history.ret(id) else { continue };
        match end {
            End::Call => latest_at_call[id.index()] = latest_returned,
            End::Return => {
                claims += usize::from(ticket < latest_at_call[id.index()]);
                latest_returned = latest_returned.max(ticket);
            }
        }
    }
    claims
}

fn workers(kind: ClockKind, threads: usize, noise: Noise) -> Workers<Tickets> {
    let clock = Clock::of(kind).unwrap_or(Clock::best());
    Workers::new(WorkerSettings { threads, clock, noise, ..WorkerSettings::default() }).unwrap()
}

/// Operations per run: fewer where every instruction is interpreted.
const RUN: usize = if cfg!(miri) { 100 } else { 200_000 };

#[track_caller]
fn check_never_claims(kind: ClockKind, threads: usize, noise: Noise, operations: usize) {
    let mut workers = workers(kind, threads, noise);
    for run in 0..operations.div_ceil(RUN) {
        workers.launch(Arc::new(Dispenser::default()), vec![vec![(); RUN / threads]; threads], run as u64);
        let run_result = workers.wait();
        assert_eq!(run_result.ending, RunEnding::Full);
        let history = run_result.logs.merge();
        assert_eq!(history.len(), RUN / threads * threads);
        assert_eq!(false_claims(&history), 0, "{kind:?}, {threads} threads, run {run}");
    }
}

#[test]
fn the_counter_claims_no_false_order_in_millions_of_operations() {
    let operations = if cfg!(miri) { 4 * RUN } else { pick(150_000, 10_000_000) };
    check_never_claims(ClockKind::Counter, 2, Noise::NONE, operations);
}

#[test]
fn no_clock_claims_a_false_order() {
    for kind in ClockKind::ALL {
        for &threads in pick(&[4][..], &[1, 3, 4]) {
            check_never_claims(kind, threads, Noise::NONE, pick(1, 4) * RUN);
            check_never_claims(kind, threads, Noise { between: 0.01, inside: 0.01 }, pick(1, 2) * RUN);
        }
    }
}

/// A number that only grows: thread 0 increments it, all threads read it.
#[derive(Clone)]
struct Growth;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Grow {
    Bump,
    Look,
}

impl Deterministic for Growth {
    type State = u64;
    type Call = Grow;
    type Return = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn apply(&self, number: &mut u64, call: &Grow) -> Option<u64> {
        *number += u64::from(*call == Grow::Bump);
        Some(*number)
    }
}

/// The number, and a long pointer chain to it: memory locations, each of which holds the index of
/// the next one.
struct Number {
    number: AtomicU64,
    way: Arc<Vec<u32>>,
}

impl Subject<Growth> for Number {
    fn call(&self, call: &Grow) -> u64 {
        match call {
            Grow::Look => {
                // The end of the chain does not matter, but the processor must compute it before it
                // can load.
                let known = self.number.load(Ordering::Relaxed);
                let place =
                    (0..3).fold(known as usize * 4_099 % self.way.len(), |it, _| self.way[it] as usize);
                let numbers = [&self.number];
                numbers[usize::from(self.way.len() <= place)].load(Ordering::SeqCst)
            }
            // Only one thread increments.
            Grow::Bump => self.number.fetch_add(1, Ordering::SeqCst) + 1,
        }
    }
}

/// A pointer chain through memory that no cache holds.
fn way() -> Arc<Vec<u32>> {
    let places = if cfg!(miri) { 64 } else { 1 << 23 };
    let mut random = clewline_core::Random::new(1);
    Arc::new((0..places).map(|_| random.below(places) as u32).collect())
}

/// How many operations saw less than what had been seen before they were called, or an increment
/// made only after they had returned.
fn false_sights(history: &History<Grow, u64>) -> usize {
    let (mut seen, mut bumps, mut false_sights) = (0, 0, 0);
    let mut seen_at_call = vec![0; history.len()];
    for (id, end) in history.events() {
        let &number = history.ret(id).expect("a full run");
        match end {
            End::Call => {
                seen_at_call[id.index()] = seen;
                bumps += u64::from(*history.call(id) == Grow::Bump);
            }
            End::Return => {
                false_sights += usize::from(number < seen_at_call[id.index()] || bumps < number);
                seen = seen.max(number);
            }
        }
    }
    false_sights
}

/// A load that is not complete when its return is stamped may return a later value. Locked
/// instructions, like those of the dispenser, would hide that.
#[test]
fn a_load_is_complete_when_its_return_is_stamped() {
    let way = way();
    for kind in ClockKind::ALL {
        let clock = Clock::of(kind).unwrap_or(Clock::best());
        let mut workers: Workers<Growth> =
            Workers::new(WorkerSettings { threads: 2, clock, ..WorkerSettings::default() }).unwrap();
        for run in 0..pick(1, 20) {
            let calls = vec![vec![Grow::Bump; RUN / 2], vec![Grow::Look; RUN / 4]];
            let subject = Number { number: AtomicU64::new(0), way: Arc::clone(&way) };
            workers.launch(Arc::new(subject), calls, run);
            let history = workers.wait().logs.merge();
            assert_eq!(false_sights(&history), 0, "{kind:?}, run {run}");
        }
    }
}

/// A clock that is read on the wrong side of the operation: calls late, returns early.
#[derive(Clone, Copy)]
struct Swapped<'a>(&'a AtomicU64);

/// Makes calls as `make_calls` does, but stamps each after its operation, for call and return.
fn make_calls_swapped(calls: &LoggedCalls<Tickets>, barrier: &StartBarrier, stamp: Swapped<'_>) {
    let mut writer = calls.log.writer();
    barrier.pass();
    for call in calls.log.calls() {
        let ret = calls.subject.call(call);
        let called = Shared(stamp.0).now();
        let returned = Shared(stamp.0).now();
        writer.ret(called, returned, ret);
    }
}

#[test]
fn a_recorder_that_stamps_calls_late_is_detected() {
    let (threads, calls) = (4, if cfg!(miri) { 100 } else { 100_000 });
    let mut claims = 0;
    for _ in 0..10 {
        let subject: Arc<dyn Subject<Tickets>> = Arc::new(Dispenser::default());
        let barrier = Arc::new(StartBarrier {
            awaited: AtomicUsize::new(threads),
            begun: Instant::now(),
            counter: AtomicU64::new(1),
        });
        let logs: Vec<_> = (0..threads).map(|_| Arc::new(Log::new(vec![(); calls]))).collect();
        thread::scope(|scope| {
            for log in &logs {
                let (subject, log, barrier) = (Arc::clone(&subject), Arc::clone(log), Arc::clone(&barrier));
                scope.spawn(move || {
                    make_calls_swapped(&LoggedCalls { subject, log }, &barrier, Swapped(&barrier.counter));
                });
            }
        });
        let full = vec![calls; threads];
        claims += false_claims(&Logs { logs, full }.merge());
        if claims != 0 {
            return;
        }
    }
    panic!("the test of the recorder can fail, but did not");
}

/// A door: passing it waits until it is open, and no thread opens it.
struct Door {
    is_open: AtomicBool,
    wait: fn(&Door),
}

#[derive(Clone)]
struct Doors;

impl Deterministic for Doors {
    type State = ();
    type Call = &'static str;
    type Return = ();

    fn initial(&self) {}

    fn apply(&self, (): &mut (), _: &&'static str) -> Option<()> {
        Some(())
    }
}

impl Subject<Doors> for Door {
    fn call(&self, call: &&'static str) {
        match *call {
            "pass" => (self.wait)(self),
            // Not `panic!`: finding its location may take longer than the patience.
            "panic" => panic::resume_unwind(Box::new("the door fell off")),
            _ => (),
        }
    }
}

fn doors(wait: fn(&Door), calls: &[&[&'static str]]) -> Run<&'static str, ()> {
    let patience = Duration::from_millis(200);
    let mut workers: Workers<Doors> =
        Workers::new(WorkerSettings { threads: calls.len(), patience, ..WorkerSettings::default() }).unwrap();
    let door = Arc::new(Door { is_open: AtomicBool::new(false), wait });
    workers.launch(door, calls.iter().map(|it| it.to_vec()).collect(), 1);
    workers.wait()
}

#[test]
fn a_looping_thread_is_reported_with_its_place() {
    let wait = |door: &Door| {
        while !door.is_open.load(Ordering::Relaxed) {
            crate::hint::spin_loop();
        }
    };
    let run = doors(wait, &[&["look", "pass", "look"], &["look", "look"]]);
    let RunEnding::Stuck(_, standings, _) = &run.ending else { panic!("{:?}", run.ending) };
    assert_eq!(standings.len(), 1);
    assert_eq!(standings[0].thread, 0);
    assert!(standings[0].place.is_some_and(|it| it.file().ends_with("tests.rs")), "{standings:?}");
    let history = run.logs.merge();
    assert_eq!((run.logs.returned(), history.len()), (3, 4));
    let pending: Vec<_> = history.operations().filter(|it| it.ret.is_none()).map(|it| *it.call).collect();
    assert_eq!(pending, ["pass"]);
}

/// A subject whose destructor does not return.
struct Endless;

impl Subject<Doors> for Endless {
    fn call(&self, _: &&'static str) {}
}

impl Drop for Endless {
    fn drop(&mut self) {
        loop {
            crate::hint::spin_loop();
        }
    }
}

#[test]
fn a_subject_that_cannot_be_dropped_does_not_hang_its_workers() {
    let patience = Duration::from_millis(200);
    let mut workers: Workers<Doors> =
        Workers::new(WorkerSettings { threads: 2, patience, ..WorkerSettings::default() }).unwrap();
    workers.launch(Arc::new(Endless), vec![vec!["look"]; 2], 1);
    let run = workers.wait();
    let RunEnding::Stuck(_, standings, _) = &run.ending else { panic!("{:?}", run.ending) };
    assert_eq!((standings.len(), run.logs.returned()), (1, 2));
}

#[test]
fn slow_operations_are_not_stuck() {
    let wait = |_: &Door| {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(60) {
            std::hint::spin_loop();
        }
    };
    // Each call returns within the patience of 200 ms, all together do not.
    let run = doors(wait, &[&["pass"; 8]]);
    assert_eq!(run.ending, RunEnding::Full);
}

#[test]
fn a_sleeping_thread_is_reported() {
    let wait = |door: &Door| {
        let (lock, signal) = (Mutex::new(()), Condvar::new());
        let mut guard = lock.lock().unwrap();
        while !door.is_open.load(Ordering::Relaxed) {
            guard = signal.wait(guard).unwrap();
        }
    };
    let run = doors(wait, &[&["pass"], &["pass"]]);
    let RunEnding::Stuck(_, standings, _) = &run.ending else { panic!("{:?}", run.ending) };
    assert_eq!(standings.iter().map(|it| it.thread).collect::<Vec<_>>(), [0, 1]);
    if cfg!(target_os = "linux") {
        assert!(standings.iter().all(|it| it.activity == ThreadActivity::Waiting), "{standings:?}");
    }
    assert_eq!(run.logs.merge().operations().filter(|it| it.ret.is_none()).count(), 2);
}

#[test]
fn a_thread_that_may_be_slow_is_no_deadlock() {
    // With a time limit; awake in between; without another thread.
    let waits: [fn(&Door); 3] = [
        |_| {
            let _timed_out = std::sync::mpsc::channel::<()>().1.recv_timeout(Duration::from_secs(1_000));
        },
        |door| {
            while !door.is_open.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(10));
            }
        },
        |_| std::thread::sleep(Duration::from_secs(1_000)),
    ];
    for wait in waits {
        let run = doors(wait, &[&["pass"], &["look"]]);
        let RunEnding::Stuck(_, standings, _) = &run.ending else { panic!("{:?}", run.ending) };
        assert!(standings.iter().all(|it| it.activity != ThreadActivity::Waiting), "{standings:?}");
    }
}

#[test]
fn a_panic_is_reported_and_the_workers_continue() {
    let mut workers: Workers<Doors> =
        Workers::new(WorkerSettings { threads: 2, ..WorkerSettings::default() }).unwrap();
    let door = || Arc::new(Door { is_open: AtomicBool::new(true), wait: |_| () });
    workers.launch(door(), vec![vec!["look", "panic", "look"], vec!["look"; 3]], 1);
    let run = workers.wait();
    let panicked = Panicked { thread: 0, message: "the door fell off".to_owned() };
    assert_eq!(run.ending, RunEnding::Panicked(vec![panicked]));
    assert_eq!((run.logs.returned(), run.logs.merge().len()), (4, 5));
    workers.launch(door(), vec![vec!["look"; 3]; 2], 2);
    assert_eq!(workers.wait().ending, RunEnding::Full);
}

#[test]
fn a_panic_is_reported_although_other_threads_block_forever() {
    let wait = |door: &Door| {
        while !door.is_open.load(Ordering::Relaxed) {
            crate::hint::spin_loop();
        }
    };
    let run = doors(wait, &[&["look", "panic"], &["pass"]]);
    let RunEnding::Stuck(_, standings, panics) = &run.ending else { panic!("{:?}", run.ending) };
    assert_eq!(standings.iter().map(|it| it.thread).collect::<Vec<_>>(), [1]);
    assert_eq!(panics, &[Panicked { thread: 0, message: "the door fell off".to_owned() }]);
}
