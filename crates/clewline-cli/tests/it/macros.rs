//! Tests with the attribute macro and with the builder.

use std::collections::VecDeque;

use clewline_methods::line_up::{Cause, Every, LineUp};
use clewline_testing::pick;
use clewline_threads::sync::{
    Condvar, Mutex,
    atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
};

/// A counter that loses updates.
struct Lossy(AtomicU32);

#[clewline::test(threads = 2, operations = 2, samples = 10)]
#[should_panic(expected = "violated: Lossy")]
impl Lossy {
    #[init]
    fn new() -> Self {
        Lossy(AtomicU32::new(0))
    }

    #[op]
    fn add(&self, #[values(1, 2..=3)] n: u32) -> u32 {
        let before = self.0.load(SeqCst);
        self.0.store(before + n, SeqCst);
        before
    }

    #[op]
    fn get(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

/// A wrapper of a type of another crate.
struct Tested(Mutex<VecDeque<u32>>);

#[clewline::test(init = Tested(Mutex::new(VecDeque::new())), name = "queues_behind_a_lock_hold", threads = 2, operations = 2,
    samples = 20, preemptions = none, initial = "push(1)", final = "pop", matrix = "push(1) pop | pop", jobs = 1, seed = 3, depth = 2)]
impl Tested {
    #[op(weight = 2)]
    fn push(&self, #[values(1, 2)] value: u32) {
        self.0.lock().unwrap().push_back(value);
    }

    #[op(group = "consumers")]
    fn pop(&self) -> Option<u32> {
        self.0.lock().unwrap().pop_front()
    }

    #[op(group = "consumers", once)]
    fn clear(&self, and_shrink: bool) {
        let mut values = self.0.lock().unwrap();
        values.clear();
        if and_shrink {
            values.shrink_to_fit();
        }
    }

    #[op]
    #[cfg(any())]
    fn is_not_compiled(&self) {}

    #[invariant]
    fn is_short(&self) -> bool {
        self.0.lock().unwrap().len() <= 5
    }
}

/// A type with values that are given to the macro once.
#[derive(Clone, Copy, Debug)]
enum Colour {
    Red,
    Green,
}

impl Every for Colour {
    fn every() -> Vec<Self> {
        vec![Colour::Red, Colour::Green]
    }
}

struct Lamp {
    colour: Mutex<Option<Colour>>,
    texts: [&'static str; 2],
}

#[clewline::test(auto = 2, scheduler = "exhaustive")]
impl Lamp {
    #[init]
    fn off() -> Lamp {
        Lamp { colour: Mutex::new(None), texts: ["stop", "go"] }
    }

    #[op]
    fn switch(&self, to: Colour, #[values("quietly", "(aloud) ;|")] _how: &str) -> Option<Colour> {
        self.colour.lock().unwrap().replace(to)
    }

    // The result may be borrowed.
    #[op]
    fn text(&self) -> Option<&str> {
        self.colour.lock().unwrap().map(|it| self.texts[it as usize])
    }
}

/// Waits once instead of in a loop.
struct Ticket(Mutex<u32>, Condvar);

#[clewline::test(init = Ticket(Mutex::new(0), Condvar::new()), matrix = "take | put", spurious = 1, weak_failures)]
#[should_panic(expected = "violated: Ticket panics in take")]
impl Ticket {
    #[op]
    fn put(&self) {
        *self.0.lock().unwrap() += 1;
        self.1.notify_one();
    }

    #[op]
    fn take(&self) {
        let mut left = self.0.lock().unwrap();
        if *left == 0 {
            left = self.1.wait(left).unwrap();
        }
        *left = left.checked_sub(1).expect("a value was put before");
    }
}

/// Only its final state is wrong.
struct Flags([AtomicBool; 2]);

#[clewline::test(threads = 2, operations = 1, matrix = "raise(0) | raise(1)")]
#[should_panic(expected = "violated: Flags panics in at_most_one")]
impl Flags {
    #[init]
    fn down() -> Flags {
        Flags([AtomicBool::new(false), AtomicBool::new(false)])
    }

    #[op]
    fn raise(&self, #[values(0, 1)] mine: usize) {
        if !self.0[1 - mine].load(SeqCst) {
            self.0[mine].store(true, SeqCst);
        }
    }

    #[invariant]
    fn at_most_one(&self) -> bool {
        !(self.0[0].load(SeqCst) && self.0[1].load(SeqCst))
    }
}

fn lossy() -> LineUp<clewline_matrix::Component<Lossy>> {
    LineUp::new(Lossy::new)
        .call("add(1)", |it| it.add(1))
        .call("get", |it| it.get())
        .threads(2)
        .operations(2)
        .without_environment()
}

/// The report without durations.
fn timeless(tested: &clewline_methods::line_up::LineUpOutcome) -> String {
    tested.to_string().lines().filter(|it| !it.starts_with("took:")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_builder_finds_and_shrinks_a_violation_and_prints_a_replay() {
    let tested = lossy().run().unwrap();
    assert_eq!(tested.verdict().word(), "violated");
    let found = tested.found.as_ref().unwrap();
    assert_eq!(found.matrix.to_string(), "add(1) | add(1)");
    let token = tested.token().unwrap();
    assert!(token.starts_with("add(1) | add(1)#"), "{token}");
    let text = tested.to_string();
    for part in ["violated: Lossy", "add(1)", "macros.rs:", &format!("CLEWLINE_REPLAY='{token}' cargo test")]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn the_violation_does_not_depend_on_the_number_of_jobs() {
    let printed = |jobs: usize| timeless(&lossy().jobs(jobs).run().unwrap());
    assert_eq!(printed(1), printed(4));
}

#[test]
fn wrong_settings_are_reported() {
    let printed = |it: LineUp<clewline_matrix::Component<Lossy>>| it.run().unwrap_err().to_string();
    assert_eq!(
        printed(lossy().matrix("add(1) | mul(2)")),
        "no operation is called `mul(2)` (there are add(1), get)"
    );
    assert_eq!(printed(lossy().matrix("add(1")), "`add(1` has a bracket or a text that is not closed");
    assert_eq!(printed(lossy().threads(63)), "expected 1 to 62 threads, each with an operation");
    assert_eq!(printed(lossy().call("a b", |_| ())), "`a b` is not how a call is written: `push(1)`, `pop`");
    assert_eq!(printed(LineUp::new(Lossy::new)), "no calls are given: add `.call(..)` or `#[op]` methods");
    assert_eq!(
        printed(LineUp::new(Lossy::new).weight(2)),
        "`weight` is said of the call before it, and there is none"
    );
}

#[test]
fn a_reached_limit_is_no_success() {
    let right =
        LineUp::new(|| AtomicU32::new(0)).call("add", |it| it.fetch_add(1, SeqCst)).without_environment();
    let tested = right.matrix("add add | add add").executions(6).preemptions(None).run().unwrap();
    assert_eq!(tested.verdict().word(), "holds", "there are exactly six");
    let right =
        LineUp::new(|| AtomicU32::new(0)).call("add", |it| it.fetch_add(1, SeqCst)).without_environment();
    let tested = right.matrix("add add | add add").executions(5).preemptions(None).run().unwrap();
    assert_eq!(tested.verdict().word(), "unknown");
    assert!(!tested.holds());
}

#[test]
fn another_implementation_is_the_reference() {
    let golden = || {
        LineUp::new(|| Mutex::new(0))
            .call("add(1)", |it: &Mutex<u32>| {
                let mut count = it.lock().unwrap();
                *count += 1;
                *count - 1
            })
            .call("get", |it: &Mutex<u32>| *it.lock().unwrap())
    };
    let right = LineUp::new(|| AtomicU32::new(0))
        .call("add(1)", |it| it.fetch_add(1, SeqCst))
        .call("get", |it| it.load(SeqCst));
    let tested = right.against(golden()).threads(2).operations(2).without_environment().run().unwrap();
    assert!(tested.holds(), "{tested}");
    // Serial executions are deterministic, and always wrong.
    let wrong = || {
        LineUp::new(|| AtomicU32::new(0))
            .call("add(1)", |it| it.fetch_add(2, SeqCst))
            .call("get", |it| it.load(SeqCst))
            .threads(pick(2, 3))
            .operations(pick(2, 3))
            .without_environment()
    };
    assert!(wrong().run().unwrap().holds());
    let tested = wrong().against(golden()).run().unwrap();
    let found = tested.found.as_ref().unwrap();
    assert_eq!(found.finding().map(|it| it.cause), Some(Cause::NotLinearizable));
    assert_eq!(found.matrix.len(), 2, "{tested}");
}

#[test]
fn subjects_of_the_tables_are_checked_by_their_names() {
    let calls = "push(1) push(2) pop";
    let right = clewline_lab::line_up("treiber-stack").unwrap().calls(calls).threads(2).operations(2);
    let tested = right.samples(20).without_environment().run().unwrap();
    assert!(tested.holds() && tested.summary.matrices == 20, "{tested}");
    let aba = clewline_lab::line_up("treiber-stack:aba")
        .unwrap()
        .against_specification()
        .initial_calls("push(1) push(2)");
    let tested = aba
        .matrix("pop | pop pop push(3) | push(4)")
        .final_calls("pop pop")
        .without_environment()
        .run()
        .unwrap();
    assert_eq!(tested.verdict().word(), "violated", "{tested}");
    let event = clewline_lab::line_up("manual-reset-event").unwrap().threads(2).operations(2).samples(10);
    assert!(event.without_environment().run().unwrap().holds());
    assert!(clewline_lab::line_up("treiber-stack:no").is_err());
}

#[test]
fn two_tests_do_not_disturb_each_other() {
    let printed = timeless(&lossy().jobs(1).run().unwrap());
    let others: Vec<_> =
        (0..4).map(|_| std::thread::spawn(|| timeless(&lossy().jobs(2).run().unwrap()))).collect();
    for other in others {
        assert_eq!(other.join().unwrap(), printed);
    }
}

/// Runs one of the tests above in its own process with an environment variable. Returns whether it
/// passed, and its output.
fn run_again(test: &str, variable: &str, value: &str) -> (bool, String) {
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(variable, value)
        .output()
        .unwrap();
    let printed = [run.stdout, run.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat();
    assert!(printed.contains("running 1 test"), "{printed}");
    (run.status.success(), printed)
}

#[test]
fn the_environment_replays_one_execution() {
    let token = lossy().run().unwrap().token().unwrap();
    let (panics, printed) = run_again("macros::lossy_is_linearizable", "CLEWLINE_REPLAY", &token);
    assert!(panics && printed.contains("violated: Lossy"), "{printed}");
    assert!(printed.contains("this one execution, run again"), "{printed}");
    // This test holds.
    let (panics, printed) =
        run_again("macros::lossy_is_linearizable", "CLEWLINE_REPLAY", "add(1) | add(1)#a2b2");
    assert!(!panics && printed.contains("did not panic"), "{printed}");
    let (panics, printed) = run_again("macros::lossy_is_linearizable", "CLEWLINE_REPLAY", "mul(2)#a");
    assert!(
        !panics && printed.contains("CLEWLINE_REPLAY is of another test, or the code has changed: "),
        "{printed}"
    );
}

#[test]
fn the_environment_overrides_the_test() {
    // Without preemptions no update is lost.
    let (panics, printed) = run_again("macros::lossy_is_linearizable", "CLEWLINE_PREEMPTIONS", "0");
    assert!(!panics && printed.contains("did not panic"), "{printed}");
    let (panics, printed) = run_again("macros::lossy_is_linearizable", "CLEWLINE_SCHEDULER", "fate");
    assert!(!panics && printed.contains("CLEWLINE_SCHEDULER: expected the name of a scheduler"), "{printed}");
}

#[path = "../../../clewline/examples/mailbox.rs"]
mod mailbox;

#[test]
fn the_manual_shows_what_is_printed() {
    let manual = include_str!("../../../../docs/tutorials/mailbox.md");
    let printed = mailbox::broken();
    assert!(printed.starts_with("violated: Mailbox is not linearizable"), "{printed}");
    // Times differ, and so do the paths that lead to the file.
    let differs = |it: &&str| ["took:", "Files are in ", ".rs:"].iter().any(|part| it.contains(part));
    for line in printed.lines().filter(|it| !differs(it)) {
        assert!(manual.contains(line.trim_end()), "the manual lacks\n{line}\nof\n{printed}");
    }
    // A test has no flags.
    assert!(!printed.contains("--matrix"), "{printed}");
    let printed = mailbox::mended();
    assert!(printed.starts_with("holds: "), "{printed}");
}

/// A cell whose calls fail while another call is in flight.
struct Transient {
    is_busy: AtomicBool,
    value: AtomicU32,
}

impl Transient {
    fn new() -> Self {
        Transient { is_busy: AtomicBool::new(false), value: AtomicU32::new(1) }
    }

    fn replace(&self, by: impl Fn(u32) -> u32) -> Option<u32> {
        if self.is_busy.swap(true, SeqCst) {
            return None;
        }
        let value = self.value.load(SeqCst);
        self.value.store(by(value), SeqCst);
        self.is_busy.store(false, SeqCst);
        (value != 0).then_some(value)
    }
}

#[clewline::test(init = Transient::new(), name = "results_with_no_effect_may_be_allowed",
    matrix = "look | take", final = "take", may_fail = "take=None,look=None")]
impl Transient {
    #[op]
    fn look(&self) -> Option<u32> {
        self.replace(|it| it)
    }

    #[op]
    fn take(&self) -> Option<u32> {
        self.replace(|_| 0)
    }
}

struct Strict(Transient);

#[clewline::test(init = Strict(Transient::new()), name = "results_with_no_effect_are_wrong_otherwise",
    matrix = "look | take", final = "take")]
#[should_panic(expected = "may return None while an")]
impl Strict {
    #[op]
    fn look(&self) -> Option<u32> {
        self.0.replace(|it| it)
    }

    #[op]
    fn take(&self) -> Option<u32> {
        self.0.replace(|_| 0)
    }
}
