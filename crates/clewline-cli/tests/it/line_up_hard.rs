//! Difficult subjects for the check of a matrix: with their own threads, locks that are not
//! released, panics that are caught.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use clewline_core::Verdict;
use clewline_explore::TaskId;
use clewline_matrix::Component;
use clewline_methods::line_up::{Cause, Checked, LineUp, LineUpOptions, Matrix, check, replay};
use clewline_threads::{
    choose,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

fn matrix(text: &str) -> Matrix {
    text.parse().unwrap()
}

#[track_caller]
fn expect<T: 'static>(subject: &Component<T>, matrix: &Matrix, cause: Option<Cause>) -> Checked {
    let checked = check(subject, matrix, &LineUpOptions::default()).unwrap();
    assert_eq!(checked.finding().map(|it| it.cause), cause, "{checked:#?}");
    assert!(!matches!(checked.verdict, Verdict::Unknown(_)), "{checked:#?}");
    checked
}

#[test]
fn a_blocked_thread_does_not_hide_a_wrong_result() {
    struct Counter {
        count: AtomicU32,
        is_started: AtomicBool,
        gate: Arc<(Mutex<bool>, Condvar)>,
    }
    let make = || Counter {
        count: AtomicU32::new(0),
        is_started: AtomicBool::new(false),
        gate: Arc::new((Mutex::new(false), Condvar::new())),
    };
    let inc = |it: &Counter| {
        if !it.is_started.swap(true, SeqCst) {
            let gate = Arc::clone(&it.gate);
            thread::spawn(move || drop(gate.1.wait_while(gate.0.lock().unwrap(), |it| !*it).unwrap()));
        }
        let count = it.count.load(SeqCst);
        it.count.store(count + 1, SeqCst);
        count + 1
    };
    expect(&Component::new(make).call("inc", inc), &matrix("inc | inc"), Some(Cause::NotLinearizable));
}

#[test]
fn a_call_may_wait_for_a_thread_that_another_call_started() {
    type Requests = Mutex<Option<mpsc::Sender<mpsc::Sender<u32>>>>;
    let start = |it: &Requests| {
        let (send, requests) = mpsc::channel::<mpsc::Sender<u32>>();
        *it.lock().unwrap() = Some(send);
        thread::spawn(move || {
            for (count, reply) in requests.iter().enumerate() {
                reply.send(count as u32).unwrap();
            }
        });
    };
    let next = |it: &Requests| {
        let (send, answer) = mpsc::channel();
        it.lock().unwrap().as_ref().unwrap().send(send).unwrap();
        answer.recv().unwrap()
    };
    let stop = |it: &Requests| drop(it.lock().unwrap().take());
    let subject =
        Component::new(|| Mutex::new(None)).call("start", start).call("next", next).call("stop", stop);
    for last in [vec![], vec!["stop".to_owned()]] {
        let initial = vec!["start".to_owned()];
        let checked = expect(&subject, &Matrix { initial, last, ..matrix("next | next") }, None);
        assert_eq!((checked.serial_full, checked.serial_stuck), (2, 0));
    }
}

#[test]
fn a_call_that_waits_for_a_lock_of_a_blocked_call_counts_as_not_called() {
    struct Gate(Mutex<bool>, Condvar);
    // The lock is held while the wait times out repeatedly.
    let wait = |it: &Gate| {
        let mut is_open = it.0.lock().unwrap();
        while !*is_open {
            is_open = it.1.wait_timeout(is_open, Duration::from_millis(1)).unwrap().0;
        }
    };
    let open = |it: &Gate| {
        *it.0.lock().unwrap() = true;
        it.1.notify_all();
    };
    let gate =
        Component::new(|| Gate(Mutex::new(false), Condvar::new())).call("wait", wait).call("open", open);
    let checked = expect(&gate, &matrix("wait | open"), None);
    assert_eq!((checked.serial_full, checked.serial_stuck), (1, 1));
    // Here it is never released: a call that waits for it should not, but nothing is
    // nondeterministic.
    let keep = |it: &Mutex<u32>| {
        let _guard = it.lock().unwrap();
        thread::park();
    };
    let subject = Component::new(|| Mutex::new(0))
        .call("keep", keep)
        .call("get", |it: &Mutex<u32>| *it.lock().unwrap());
    expect(&subject, &matrix("keep | get"), Some(Cause::Deadlock));
}

#[test]
fn each_call_that_blocks_at_once_has_a_serial_history() {
    let keep = |it: &Mutex<u32>| std::mem::forget(it.lock().unwrap());
    let subject = Component::new(|| Mutex::new(0)).call("keep", keep);
    let checked = expect(&subject, &matrix("keep | keep | keep"), None);
    assert_eq!((checked.serial_full, checked.serial_stuck), (0, 6));
}

#[test]
fn a_loop_that_catches_every_panic_can_be_stopped() {
    let take = |one: &Mutex<u32>, other: &Mutex<u32>| {
        let _one = one.lock().unwrap();
        while catch_unwind(AssertUnwindSafe(|| drop(other.lock()))).is_err() {}
    };
    let subject = Component::new(|| [Mutex::new(0), Mutex::new(0)])
        .call("ab", move |[a, b]: &[Mutex<u32>; 2]| take(a, b))
        .call("ba", move |[a, b]: &[Mutex<u32>; 2]| take(b, a));
    expect(&subject, &matrix("ab | ba"), Some(Cause::Deadlock));
}

#[test]
fn a_task_may_recurse_as_deep_as_a_thread() {
    fn deep(n: usize) -> usize {
        let frame = std::hint::black_box([n; 64]);
        if n == 0 { 0 } else { deep(n - 1) + frame[1].min(1) }
    }
    let subject = Component::new(|| ()).call("deep", |(): &()| deep(1_000));
    expect(&subject, &matrix("deep | deep"), None);
}

#[test]
fn a_lock_that_is_tried_only_in_concurrent_executions_can_be_replayed() {
    type Subject = (Mutex<u32>, AtomicBool);
    let subject = || {
        let a = |it: &Subject| {
            it.1.store(true, SeqCst);
            *it.0.lock().unwrap() += 1;
            it.1.store(false, SeqCst);
            0
        };
        let b = |it: &Subject| {
            drop(it.0.lock().unwrap());
            if it.1.load(SeqCst) { 1 + u32::from(it.0.try_lock().is_ok()) } else { 0 }
        };
        Component::new(|| (Mutex::new(0), AtomicBool::new(false))).call("a", a).call("b", b)
    };
    let checked = expect(&subject(), &matrix("a | b"), Some(Cause::NotLinearizable));
    let finding = checked.finding().unwrap();
    let again = replay(&subject(), &checked.matrix, &finding.schedule, &LineUpOptions::default()).unwrap();
    assert_eq!(again.finding().map(|it| &it.operations), Some(&finding.operations));
}

#[test]
fn a_count_that_is_read_only_in_concurrent_executions_can_be_replayed() {
    type Subject = (Arc<u32>, AtomicBool);
    let subject = || {
        let a = |it: &Subject| {
            it.1.store(true, SeqCst);
            let owner = Arc::clone(&it.0);
            it.1.store(false, SeqCst);
            drop(owner);
            0
        };
        let b = |it: &Subject| {
            drop(Arc::clone(&it.0));
            if it.1.load(SeqCst) { Arc::strong_count(&it.0) } else { 0 }
        };
        Component::new(|| (Arc::new(0), AtomicBool::new(false))).call("a", a).call("b", b)
    };
    let checked = expect(&subject(), &matrix("a | b"), Some(Cause::NotLinearizable));
    let finding = checked.finding().unwrap();
    let again = replay(&subject(), &checked.matrix, &finding.schedule, &LineUpOptions::default()).unwrap();
    assert_eq!(again.finding().map(|it| &it.operations), Some(&finding.operations));
}

#[test]
fn other_numbers_of_choices_are_uncontrolled_nondeterminism() {
    static TURN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let draw = || choose(TURN.fetch_add(1, SeqCst) % 3 + 2);
    let before = move |it: &AtomicU32| {
        let _ = draw();
        it.load(SeqCst)
    };
    let last = move |_: &AtomicU32| {
        let _ = draw();
    };
    let subject = Component::new(|| AtomicU32::new(0)).call("before", before).call("last", last);
    for text in ["before", "last", "before | last"] {
        let checked = check(&subject, &matrix(text), &LineUpOptions::default()).unwrap();
        assert!(
            matches!(&checked.verdict, Verdict::Unknown(it) if it.contains("uncontrolled")),
            "{checked:#?}"
        );
    }
}

#[test]
fn too_many_columns_are_refused() {
    let subject = Component::new(|| ()).call("a", |(): &()| ());
    let many = |n: usize| matrix(&vec!["a"; n].join(" | "));
    assert!(check(&subject, &many(TaskId::MAX + 1), &LineUpOptions::default()).is_err());
    let with_initial = Matrix { initial: vec!["a".to_owned()], ..many(TaskId::MAX) };
    assert!(check(&subject, &with_initial, &LineUpOptions::default()).is_err());
}

#[test]
fn a_reached_time_limit_is_no_success() {
    let tested = LineUp::new(|| AtomicU32::new(0))
        .call("inc", |it| it.fetch_add(1, SeqCst))
        .timeout(Duration::ZERO)
        .matrix("inc | inc")
        .without_environment()
        .run()
        .unwrap();
    assert_eq!(tested.verdict().word(), "unknown");
    assert!(tested.to_string().contains("Time was up"), "{tested}");
}

#[test]
fn a_subject_that_cannot_be_made_or_dropped_panics() {
    let unmade =
        Component::new(|| -> AtomicU32 { panic!("no memory") }).call("get", |it: &AtomicU32| it.load(SeqCst));
    let checked = check(&unmade, &"get | get".parse().unwrap(), &LineUpOptions::default()).unwrap();
    assert_eq!(checked.finding().map(|it| it.cause), Some(Cause::Panic), "{checked:#?}");

    struct Held(Mutex<u32>);
    impl Drop for Held {
        fn drop(&mut self) {
            let _again = self.0.lock();
        }
    }
    let undropped =
        Component::new(|| Held(Mutex::new(0))).call("keep", |it: &Held| std::mem::forget(it.0.lock()));
    let checked = check(&undropped, &"keep".parse().unwrap(), &LineUpOptions::default()).unwrap();
    let finding = checked.finding().unwrap();
    assert_eq!(finding.cause, Cause::Panic);
    assert!(finding.panic.as_ref().unwrap().1.message.contains("no thread is left"), "{finding:#?}");
}
