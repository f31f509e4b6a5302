//! One headline for one cause, in every output; and deadlocks that name the user's lines.

use clewline_methods::line_up::{Cause, LineUp, LineUpOutcome};
use clewline_report::render::{
    Present, Publish, WitnessShown,
    summary::{self, Durations, Summary},
};
use clewline_threads::{
    sync::{
        Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, UnsafeCell,
        atomic::{AtomicU32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

/// Checks that every output has this cause and this headline.
#[track_caller]
fn expect(outcome: &LineUpOutcome, cause: Cause, headline: &str) {
    assert_eq!((outcome.cause(), outcome.headline().as_str()), (Some(cause), headline), "{outcome}");
    assert!(outcome.to_string().starts_with(&format!("violated: {headline}\n")), "{outcome}");
    let json = outcome.json(WitnessShown::Not).get("found").expect("a finding");
    assert_eq!(json["cause"], cause.name());
    assert_eq!(outcome.page().headline, headline);
    let summary = Summary {
        tool: "test",
        nouns: ("matrix", "matrices"),
        work: "executions",
        entries: vec![outcome.entry()],
    };
    let junit = summary::junit(&summary, Durations::Hidden);
    assert!(junit.contains(&format!("type=\"{}\" message=\"{headline}\"", cause.name())), "{junit}");
    assert!(summary::markdown(&summary, Durations::Hidden).contains(headline));
}

#[test]
fn a_lost_update_is_not_linearizable() {
    let add = |it: &AtomicU32| {
        let count = it.load(SeqCst);
        it.store(count + 1, SeqCst);
        count
    };
    let line_up = LineUp::new(|| AtomicU32::new(0)).named("counter").call("add", add).matrix("add | add");
    expect(&line_up.run().unwrap(), Cause::NotLinearizable, "counter is not linearizable");
}

#[test]
fn a_lost_wake_up_is_a_deadlock() {
    type Event = (AtomicU32, Mutex<()>, Condvar);
    let line_up = LineUp::new(|| (AtomicU32::new(0), Mutex::new(()), Condvar::new()))
        .named("event")
        .call("set", |it: &Event| {
            it.0.store(1, SeqCst);
            it.2.notify_all();
        })
        .call("wait", |it: &Event| {
            if it.0.load(SeqCst) == 0 {
                drop(it.2.wait(it.1.lock().unwrap()));
            }
        })
        .matrix("set | wait");
    let outcome = line_up.run().unwrap();
    expect(&outcome, Cause::Deadlock, "event has a deadlock in wait");
    assert!(outcome.to_string().contains("waiting for a notification on x"), "{outcome}");
}

#[test]
fn a_loop_that_never_ends_is_a_livelock() {
    let line_up = LineUp::new(|| [AtomicU32::new(0), AtomicU32::new(0)])
        .named("handshake")
        .call("left", |it: &[AtomicU32; 2]| meet(&it[0], &it[1]))
        .call("right", |it: &[AtomicU32; 2]| meet(&it[1], &it[0]))
        .matrix("left | right");
    let outcome = line_up.run().unwrap();
    expect(&outcome, Cause::Livelock, "handshake has a livelock in left");
    let words = outcome.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Thread a runs in left (crates/"), "{outcome}");
    assert!(words.contains("in a loop that reads x2 and never ends."), "{outcome}");
    assert!(words.contains("… 2 steps repeat forever:"), "{outcome}");
    assert!(outcome.to_string().lines().count() < 60, "{outcome}");
}

/// Waits for the other, but only if it has come.
fn meet(mine: &AtomicU32, other: &AtomicU32) {
    mine.store(1, SeqCst);
    if other.load(SeqCst) == 1 {
        while other.load(SeqCst) == 1 {
            clewline_threads::hint::spin_loop();
        }
    }
    mine.store(2, SeqCst);
    mine.store(0, SeqCst);
}

#[test]
fn other_causes_have_their_names() {
    let panics = |it: &AtomicU32| {
        let count = it.load(SeqCst);
        it.store(count + 1, SeqCst);
        assert_eq!(it.load(SeqCst), count + 1);
    };
    let line_up = LineUp::new(|| AtomicU32::new(0)).named("it").call("add", panics).matrix("add | add");
    expect(&line_up.run().unwrap(), Cause::Panic, "it panics in add");
    let races = |it: &UnsafeCell<u32>| it.with_mut(|_| ());
    let line_up = LineUp::new(|| UnsafeCell::new(0)).named("it").call("put", races).matrix("put | put");
    expect(&line_up.run().unwrap(), Cause::DataRace, "it has a data race");
    let leaks = |_: &AtomicU32| std::mem::forget(Arc::new(0));
    let line_up = LineUp::new(|| AtomicU32::new(0)).named("it").call("lose", leaks).matrix("lose");
    expect(&line_up.run().unwrap(), Cause::MemoryLeak, "it has a memory leak");
    let differs = |it: &AtomicU32| {
        it.load(SeqCst);
        clewline_threads::choose(2)
    };
    let line_up = LineUp::new(|| AtomicU32::new(0)).named("it").call("toss", differs).matrix("toss | toss");
    expect(&line_up.run().unwrap(), Cause::Nondeterminism, "it is nondeterministic");
}

/// The sentences about blocked threads in the report of a call that blocks where it should not.
#[track_caller]
fn blocked<T: Send + Sync + 'static>(
    make: fn() -> T,
    one: fn(&T),
    other: fn(&T),
    expected: &[&str],
) -> String {
    let line_up = LineUp::new(make).named("it").call("one", one).call("other", other).matrix("one | other");
    let outcome = line_up.run().unwrap();
    let found = outcome.found.as_ref().and_then(|it| it.finding()).expect("a deadlock");
    assert_eq!(found.cause, Cause::Deadlock, "{outcome}");
    for pending in &found.pending {
        assert_eq!(pending.place.site().file, file!(), "{outcome}");
    }
    let words = outcome.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    for part in expected {
        assert!(words.contains(part), "{part} in {outcome}");
    }
    words
}

#[test]
fn a_cycle_of_locks_names_holders_and_lines() {
    type Pair = (Mutex<u32>, Mutex<u32>);
    let words = blocked(
        || (Mutex::new(0), Mutex::new(0)),
        |it: &Pair| {
            let _first = it.0.lock().unwrap();
            drop(it.1.lock().unwrap());
        },
        |it: &Pair| {
            let _second = it.1.lock().unwrap();
            drop(it.0.lock().unwrap());
        },
        &[
            "Thread a is blocked in one (crates/clewline-cli/tests/it/causes.rs:",
            "waiting for lock x2, held by thread b since crates/clewline-cli/tests/it/causes.rs:",
            "Thread b is blocked in other (crates/clewline-cli/tests/it/causes.rs:",
            "waiting for lock x1, held by thread a since crates/clewline-cli/tests/it/causes.rs:",
        ],
    );
    assert!(!words.contains("mutex.rs") && !words.contains("futex.rs"), "{words}");
}

#[test]
fn a_released_lock_has_no_holder() {
    // The second lock is taken and released by all within one step, so only the level tells.
    type Locks = (RwLock<u32>, Mutex<u32>);
    blocked(
        || (RwLock::new(0), Mutex::new(0)),
        |it: &Locks| {
            let _reads = it.0.read().unwrap();
            drop(it.1.lock().unwrap());
        },
        |it: &Locks| {
            drop(it.0.read().unwrap());
            let _holds = it.1.lock().unwrap();
            drop(it.0.write().unwrap());
        },
        &[
            "waiting for lock x2, held by thread b since crates/",
            "waiting for lock x1, held by thread a since crates/",
        ],
    );
}

/// Makes a call wait for `wait` only if the other call comes in between.
macro_rules! blocks_if_late {
    ($make:expr, $wait:expr, $expected:expr) => {
        blocked(
            || (AtomicU32::new(0), $make),
            |it| {
                it.0.store(1, SeqCst);
                if it.0.load(SeqCst) == 2 {
                    $wait(&it.1);
                }
            },
            |it| it.0.store(2, SeqCst),
            &[$expected],
        )
    };
}

#[test]
fn every_lock_names_the_line_of_its_caller() {
    blocks_if_late!(
        Mutex::new(0),
        |it: &Mutex<u32>| {
            let _held = it.lock();
            drop(it.lock());
        },
        "which it has held itself since crates/"
    );
    blocks_if_late!(
        (Mutex::new(true), Condvar::new()),
        |it: &(Mutex<bool>, Condvar)| {
            drop(it.1.wait_while(it.0.lock().unwrap(), |it| *it));
        },
        "waiting for a notification on x"
    );
    blocks_if_late!((), |(): &()| thread::park(), "waiting to be woken");
    blocks_if_late!(
        Barrier::new(2),
        |it: &Barrier| {
            it.wait();
        },
        "waiting for other threads at x"
    );
}

#[test]
fn every_other_primitive_names_the_line_of_its_caller() {
    blocks_if_late!(
        (),
        |(): &()| drop(thread::spawn(|| thread::park()).join()),
        "waiting for thread c to end. Thread c is blocked"
    );
    blocks_if_late!(
        (),
        |(): &()| thread::scope(|it| {
            it.spawn(|| thread::park());
        }),
        "waiting for thread c to end"
    );
    blocks_if_late!(
        (),
        |(): &()| {
            let (_sender, receiver) = mpsc::channel::<u32>();
            let _message = receiver.recv();
        },
        "waiting for a message on x"
    );
    blocks_if_late!(
        (),
        |(): &()| {
            let (sender, _receiver) = mpsc::sync_channel::<u32>(1);
            let _first = sender.send(1);
            let _second = sender.send(2);
        },
        "waiting for room in x"
    );
    blocks_if_late!(
        Once::new(),
        |it: &Once| it.call_once(|| it.call_once(|| ())),
        "crates/clewline-cli/tests/it/causes.rs:"
    );
    blocks_if_late!(
        OnceLock::new(),
        |it: &OnceLock<u32>| {
            it.get_or_init(|| *it.get_or_init(|| 0));
        },
        "crates/clewline-cli/tests/it/causes.rs:"
    );
    blocks_if_late!(
        RwLock::new(0),
        |it: &RwLock<u32>| {
            let _held = it.read();
            drop(it.write());
        },
        "which it has held itself since crates/"
    );
}
