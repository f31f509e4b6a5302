//! Calls that may fail: a ring after Vyukov, full or empty while an operation is in flight.

use clewline::{
    LineUp, Subject, Value,
    line_up::{Cause, LineUpOutcome, MemoryModel},
    specs::queue::{Call, Queue},
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
};
use clewline_testing::pick;

const CAPACITY: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    /// A dequeue gives its cell back before it has read it, to an enqueue one lap later.
    Wrap,
}

struct Ring {
    cells: [(AtomicUsize, AtomicU64); CAPACITY],
    tail: AtomicUsize,
    head: AtomicUsize,
    flaw: Flaw,
}

impl Ring {
    fn new(flaw: Flaw) -> Ring {
        let cell = |at: usize| (AtomicUsize::new(at), AtomicU64::new(0));
        let (tail, head) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ring { cells: [cell(0), cell(1)], tail, head, flaw }
    }

    fn enqueue(&self, value: u64) -> bool {
        let mut at = self.tail.load(Ordering::Relaxed);
        loop {
            let (sequence, element) = &self.cells[at % CAPACITY];
            let ahead = sequence.load(Ordering::Acquire) as isize - at as isize;
            if ahead < 0 {
                return false;
            }
            if ahead == 0
                && self.tail.compare_exchange(at, at + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
            {
                element.store(value, Ordering::Relaxed);
                sequence.store(at + 1, Ordering::Release);
                return true;
            }
            at = self.tail.load(Ordering::Relaxed);
        }
    }

    fn dequeue(&self) -> Option<u64> {
        let mut at = self.head.load(Ordering::Relaxed);
        loop {
            let (sequence, element) = &self.cells[at % CAPACITY];
            let ahead = sequence.load(Ordering::Acquire) as isize - (at + 1) as isize;
            if ahead < 0 {
                return None;
            }
            if ahead == 0
                && self.head.compare_exchange(at, at + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
            {
                if self.flaw == Flaw::Wrap {
                    sequence.store(at + CAPACITY, Ordering::Release);
                }
                let value = element.load(Ordering::Relaxed);
                sequence.store(at + CAPACITY, Ordering::Release);
                return Some(value);
            }
            at = self.head.load(Ordering::Relaxed);
        }
    }
}

impl Subject<Queue> for Ring {
    fn call(&self, call: &Call) -> Value {
        match *call {
            Call::Enq(value) => self.enqueue(value.get()).into(),
            Call::Deq => self.dequeue().into(),
            Call::Peek => unreachable!("not called"),
        }
    }
}

/// Against the ring's own serial executions.
fn learned(flaw: Flaw, matrix: &str, may_fail: &str) -> LineUpOutcome {
    let ring = LineUp::new(move || Ring::new(flaw))
        .call("enq(1)", |it| it.enqueue(1))
        .call("enq(2)", |it| it.enqueue(2))
        .call("enq(3)", |it| it.enqueue(3))
        .call("deq", Ring::dequeue);
    ring.matrix(matrix).without_environment().may_fail(may_fail.parse().unwrap()).run().unwrap()
}

/// Against the specification.
fn specified(flaw: Flaw, matrix: &str, may_fail: &str) -> LineUpOutcome {
    LineUp::specified(Queue::bounded(CAPACITY), move || Ring::new(flaw))
        .matrix(matrix)
        .without_environment()
        .may_fail(may_fail.parse().unwrap())
        .run()
        .unwrap()
}

fn holds_if(outcome: &LineUpOutcome) -> Option<String> {
    outcome.found.as_ref()?.finding()?.holds_if.as_ref().map(ToString::to_string)
}

const FAILURES: &str = "enq=false,deq=null";
const EMPTY: &str = "enq(1) | enq(2) deq";
const WRAPS: &str = "enq(1) enq(2) | deq | enq(3)";

#[test]
fn spurious_results_are_accepted_if_they_may_be_returned_with_no_effect() {
    // A rule that allows nothing here.
    let strict = "deq=3:always";
    for run in [learned, specified] {
        let outcome = run(Flaw::None, EMPTY, strict);
        assert_eq!(outcome.verdict().word(), "violated", "{outcome}");
        assert!(run(Flaw::None, EMPTY, FAILURES).holds());
        let outcome = run(Flaw::None, WRAPS, FAILURES);
        assert!(outcome.holds(), "{outcome}");
        let text = outcome.to_string();
        assert!(
            text.contains("`enq` may return false and `deq` may return null while an operation"),
            "{text}"
        );
    }
}

#[test]
fn the_bug_behind_spurious_results_is_found() {
    for run in [learned, specified] {
        let outcome = run(Flaw::Wrap, WRAPS, FAILURES);
        let found = outcome.found.as_ref().and_then(|it| it.finding()).expect("a finding");
        assert_eq!(found.cause, Cause::NotLinearizable, "{outcome}");
        // It would not vanish.
        assert_eq!(holds_if(&outcome), None, "{outcome}");
    }
}

#[test]
fn a_violation_that_would_vanish_says_so() {
    for run in [learned, specified] {
        let outcome = run(Flaw::None, EMPTY, "deq=3:always");
        let rule = holds_if(&outcome).expect("a proposal");
        assert!(["deq=None", "deq=null"].contains(&rule.as_str()), "{rule}");
        let text = outcome.to_string();
        let sentence = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(sentence.contains("may return N") || sentence.contains("may return n"), "{text}");
        assert!(sentence.contains("while an operation overlaps."), "{text}");
        assert!(text.contains(&format!("CLEWLINE_MAY_FAIL={rule} cargo test")), "{text}");
    }
}

/// What is learned of every matrix of four calls and fewer is what the specification says.
#[test]
fn learned_and_specified_failures_agree() {
    let calls = ["enq(1)", "enq(2)", "deq"];
    let (mut n_holds, mut n_violated) = (0, 0);
    for flaw in [Flaw::None, Flaw::Wrap] {
        for number in (0..81_usize).step_by(pick(20, 1)) {
            let call = |place: u32| calls[number / 3_usize.pow(place) % 3];
            // Equal matrices up to the order of columns.
            if (call(0), call(1)) > (call(2), call(3)) {
                continue;
            }
            let matrix = format!("enq(3) {} {} | {} {}", call(0), call(1), call(2), call(3));
            for rules in [FAILURES, "deq=null", "enq=false"] {
                let [one, other] = [learned, specified].map(|it| it(flaw, &matrix, rules));
                assert_eq!(one.verdict(), other.verdict(), "{flaw:?} {matrix} {rules}: {one} {other}");
                if one.holds() { n_holds += 1 } else { n_violated += 1 }
            }
        }
    }
    assert!(3 < n_holds && 3 < n_violated, "{n_holds} {n_violated}");
}

/// Under happens-before, operations overlap that are not ordered by it, whatever the time.
#[test]
fn operations_that_nothing_orders_overlap() {
    #[derive(Default)]
    struct Two(AtomicU64, AtomicU64);
    // The second thread sees the later store, and not the earlier one.
    let run = |may_fail: &str, real_time: bool| {
        let two = LineUp::new(Two::default)
            .call("first", |it| it.0.store(1, Ordering::Relaxed))
            .call("second", |it| it.1.store(1, Ordering::Relaxed))
            .call("get_second", |it| it.1.load(Ordering::Relaxed))
            .call("try_first", |it| if it.0.load(Ordering::Relaxed) == 0 { Err("unset") } else { Ok(1) })
            .matrix("first second | get_second try_first")
            .memory_model(MemoryModel::ReleaseAcquire)
            .without_environment()
            .may_fail(may_fail.parse().unwrap());
        let two = if real_time { two.real_time() } else { two };
        two.run().unwrap()
    };
    let outcome = run("try_first=Err(other)", false);
    assert_eq!(holds_if(&outcome).as_deref(), Some("try_first=Err(\"unset\")"), "{outcome}");
    for rules in ["try_first=Err(*)", "try_first=Err(*):always"] {
        let outcome = run(rules, false);
        assert!(outcome.holds(), "{outcome}");
    }
    // In real time, the operations of the first thread may all have returned.
    assert!(!run("try_first=Err(*)", true).holds());
}

#[test]
fn mistakes_are_named() {
    let ring = || LineUp::new(|| Ring::new(Flaw::None)).call("deq", Ring::dequeue).without_environment();
    let error = ring().may_fail("pop=null".parse().unwrap()).run().unwrap_err().to_string();
    assert_eq!(error, "what may fail: no operation is called `pop` (there are deq)");
    let many = ring().matrix("deq deq deq deq deq deq deq deq deq deq deq deq deq");
    let error = many.may_fail("deq=None".parse().unwrap()).run().unwrap_err().to_string();
    assert!(error.starts_with("13 calls of the matrix may fail, and 12 can"), "{error}");
}

/// What a test allows itself is still allowed beside what is proposed.
#[test]
fn proposals_come_on_top_of_what_is_allowed() {
    let two = LineUp::new(|| [AtomicU64::new(0), AtomicU64::new(0)])
        .call("lose", |_| 7)
        .call("first", |it| it[0].store(1, Ordering::SeqCst))
        .call("deq", |it| {
            let found = it[0].swap(2, Ordering::SeqCst);
            it[0].store(found, Ordering::SeqCst);
            (found == 1).then_some(1)
        });
    let golden = LineUp::new(|| [AtomicU64::new(0), AtomicU64::new(0)])
        .call("lose", |_| 1)
        .call("first", |it| it[0].store(1, Ordering::SeqCst))
        .call("deq", |it| (it[0].load(Ordering::SeqCst) == 1).then_some(1));
    let outcome = two
        .against(golden)
        .matrix("first deq | lose deq")
        .may_fail("lose=7:always".parse().unwrap())
        .scheduler("dpor".parse().unwrap())
        .shrink(std::time::Duration::ZERO)
        .without_environment()
        .run()
        .unwrap();
    let rule = holds_if(&outcome).unwrap_or_else(|| panic!("{outcome}"));
    assert_eq!(rule, "lose=7:always,deq=None");
}
