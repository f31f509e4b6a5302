//! Line-Up with specifications of one's own, which may be nondeterministic and may block.

use std::{ops::ControlFlow, process::Command, time::Duration};

use clewline::{
    LineUp, Specification, Subject,
    line_up::{Cause, Explorable, LineUpOptions, LineUpOutcome, Matrix, MemoryModel, SpecifiedSubject},
    sync::atomic::{AtomicU32, Ordering},
};
use clewline_check::{JudgeOptions, Stuck, judge, stuck};
use clewline_core::{Random, Verdict};
use clewline_explore::{Coverage, Ending};
use clewline_matrix::{Extent, Strategy, TestProgram, Visits};
use clewline_testing::pick;
use clewline_threads::control::Limits;

use crate::own::{
    Bag, BagCall, Flaw, LockedMailbox, Mailbox, MailboxCall, Moody, MoodyCall, TryQueue, TurnBag, put,
};

fn bag(flaw: Flaw) -> LineUp<SpecifiedSubject<Bag>> {
    LineUp::calling(Bag, move || TurnBag::new(flaw), [put(1), put(2), BagCall::Take])
        .threads(2)
        .operations(2)
        .without_environment()
}

fn moody(flaw: Flaw) -> LineUp<SpecifiedSubject<Moody>> {
    let calls = [MoodyCall::TryPush(1), MoodyCall::TryPush(2), MoodyCall::Pop];
    LineUp::calling(Moody, move || TryQueue::new(flaw), calls).threads(2).operations(2).without_environment()
}

fn mailbox(flaw: Flaw) -> LineUp<SpecifiedSubject<Mailbox>> {
    let calls = [MailboxCall::Send(1), MailboxCall::Send(2), MailboxCall::Receive];
    LineUp::calling(Mailbox, move || LockedMailbox::new(flaw), calls)
        .threads(2)
        .operations(2)
        .without_environment()
}

#[track_caller]
fn expect(outcome: &LineUpOutcome, cause: Option<Cause>) {
    let found = outcome.found.as_ref().and_then(|it| it.finding());
    assert_eq!(found.map(|it| it.cause), cause, "{outcome}");
    assert_eq!(outcome.holds(), cause.is_none(), "{outcome}");
}

#[test]
fn nondeterministic_subjects_hold_where_their_specification_allows_it() {
    expect(&bag(Flaw::None).run().unwrap(), None);
    expect(&moody(Flaw::None).run().unwrap(), None);
    expect(&mailbox(Flaw::None).run().unwrap(), None);
}

/// Locks and atomics of `std` are not seen: the same code is wrong, and every schedule that is
/// explored is serial.
#[test]
fn calls_that_make_no_access_that_is_seen_show_nothing() {
    use std::sync::atomic::AtomicU32 as UnseenU32;
    let increment = |it: &UnseenU32| it.store(it.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
    let unseen = |threads| {
        let count = LineUp::new(|| UnseenU32::new(0)).call("increment", increment);
        count.call("get", |it| it.load(Ordering::SeqCst)).threads(threads).operations(2).samples(5)
    };
    let outcome = unseen(2).without_environment().run().unwrap();
    assert!(!outcome.holds() && outcome.found.is_none(), "{outcome}");
    let printed = outcome.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains("The calls made no access that is seen"), "{printed}");
    // One thread alone interleaves with nothing.
    assert!(unseen(1).without_environment().run().unwrap().holds());
    let all = unseen(2).samples(0).auto(2);
    assert!(!all.without_environment().run().unwrap().holds());
    // A call without an access holds beside others.
    let seen = LineUp::new(|| AtomicU32::new(0)).call("none", |_| ());
    let seen = seen.call("increment", |it| {
        it.fetch_add(1, Ordering::SeqCst);
    });
    let of = |matrix| seen.matrix(matrix).without_environment().run().unwrap();
    assert!(of("none | increment").holds());
}

#[test]
fn a_time_limit_is_no_pass_unless_matrices_are_drawn_until_then() {
    let short = |samples: u64| {
        let large = bag(Flaw::None).threads(3).operations(3).preemptions(0);
        large.samples(samples).timeout(Duration::from_millis(300)).run().unwrap()
    };
    let until_time_is_up = short(u64::MAX);
    assert!(until_time_is_up.holds(), "{until_time_is_up}");
    let cut_short = short(1_000_000);
    assert!(!cut_short.holds() && cut_short.found.is_none(), "{cut_short}");
}

#[test]
fn a_wrong_result_is_shown_with_calls_and_results_as_debug_writes_them() {
    let outcome = bag(Flaw::Gap).run().unwrap();
    expect(&outcome, Some(Cause::NotLinearizable));
    let report = outcome.to_string();
    for part in ["TurnBag", "Put { value: ", "Take", "Some(", "CLEWLINE_REPLAY="] {
        assert!(report.contains(part), "{part}:\n{report}");
    }
    let found = outcome.found.unwrap();
    assert_eq!(found.matrix.len(), 3, "the smallest: {}", found.matrix);
}

#[test]
fn a_queue_that_exceeds_its_capacity_is_found() {
    let full = moody(Flaw::Gap).initial_calls([MoodyCall::TryPush(1)]);
    let pushes = [vec![MoodyCall::TryPush(2)], vec![MoodyCall::TryPush(3)]];
    expect(&full.matrix(pushes).run().unwrap(), Some(Cause::NotLinearizable));
}

#[test]
fn calls_that_block_are_right_only_where_the_specification_blocks() {
    // Two letters and no receiver: the second `Send` blocks, as it should.
    let unread = mailbox(Flaw::None).matrix([[MailboxCall::Send(1)], [MailboxCall::Send(2)]]);
    let outcome = unread.run().unwrap();
    expect(&outcome, None);
    let outcome = mailbox(Flaw::Blocks).run().unwrap();
    expect(&outcome, Some(Cause::Deadlock));
    assert!(outcome.to_string().contains("deadlock"), "{outcome}");
    // An empty bag says so.
    let outcome = bag(Flaw::Blocks).run().unwrap();
    expect(&outcome, Some(Cause::Deadlock));
    assert_eq!(outcome.found.unwrap().matrix.to_string(), "Take");
}

#[test]
fn calls_are_given_as_values_or_as_their_labels() {
    let as_values = bag(Flaw::None)
        .initial_calls([put(1)])
        .final_calls(vec![BagCall::Take, BagCall::Take])
        .sequence([put(2), BagCall::Take])
        .matrix([vec![BagCall::Take], vec![put(2), BagCall::Take]])
        .run()
        .unwrap();
    expect(&as_values, None);
    let as_text = bag(Flaw::Gap).matrix("Put { value: 1 } Take | Take").run().unwrap();
    expect(&as_text, Some(Cause::NotLinearizable));
    let unknown = bag(Flaw::None).matrix("Put { value: 3 }").run().unwrap_err().to_string();
    assert!(
        unknown.contains(
            "no operation is called `Put { value: 3 }`; did you mean `Put { value: 1 }`? (there are "
        ),
        "{unknown}"
    );
}

#[test]
fn limits_are_unknown_and_not_a_pass() {
    let late = bag(Flaw::None).timeout(Duration::ZERO).run().unwrap();
    assert_eq!(late.verdict().word(), "unknown", "{late}");
    let few = bag(Flaw::None).executions(1).run().unwrap();
    assert_eq!(few.verdict().word(), "unknown", "{few}");
}

/// A letter and a flag, with the weakest orderings.
#[derive(Default)]
struct RelaxedMailbox(AtomicU32, AtomicU32);

/// `Read` returns what was sent, if anything was.
#[derive(Clone)]
struct Notice;

impl Specification for Notice {
    type State = u32;
    type Call = MailboxCall;
    type Return = u32;

    fn initial(&self) -> u32 {
        0
    }

    fn step(&self, sent: &u32, call: &MailboxCall, ret: Option<&u32>, next: &mut Vec<u32>) {
        let (result, after) = match call {
            MailboxCall::Send(value) => (0, *value),
            MailboxCall::Receive => (*sent, *sent),
        };
        next.extend(ret.is_none_or(|it| *it == result).then_some(after));
    }
}

impl Subject<Notice> for RelaxedMailbox {
    fn call(&self, call: &MailboxCall) -> u32 {
        match call {
            MailboxCall::Send(value) => {
                self.0.store(*value, Ordering::Relaxed);
                self.1.store(1, Ordering::Relaxed);
                0
            }
            MailboxCall::Receive if self.1.load(Ordering::Relaxed) == 0 => 0,
            // A flag that is seen before the letter: an absurd result.
            MailboxCall::Receive => {
                self.0.load(Ordering::Relaxed) + 100 * u32::from(self.0.load(Ordering::Relaxed) == 0)
            }
        }
    }
}

#[test]
fn memory_models_apply() {
    let noticed = |model| {
        LineUp::calling(Notice, RelaxedMailbox::default, [MailboxCall::Send(1), MailboxCall::Receive])
            .matrix([[MailboxCall::Send(1)], [MailboxCall::Receive]])
            .memory_model(model)
            .without_environment()
            .run()
            .unwrap()
    };
    expect(&noticed(MemoryModel::SequentiallyConsistent), None);
    expect(&noticed(MemoryModel::ReleaseAcquire), Some(Cause::NotLinearizable));
}

/// `the_environment_replays_one_execution` runs this in a process of its own.
#[test]
#[should_panic(expected = "violated: TurnBag is not linearizable")]
fn a_bag_with_a_gap() {
    LineUp::calling(Bag, || TurnBag::new(Flaw::Gap), [put(1), BagCall::Take]).assert();
}

#[test]
fn the_environment_replays_one_execution() {
    let token = bag(Flaw::Gap).run().unwrap().token().unwrap();
    assert!(token.contains("Put { value: "), "{token}");
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "line_up_own::a_bag_with_a_gap", "--nocapture"])
        .env("CLEWLINE_REPLAY", token.replace("value: 2", "value: 1"))
        .output()
        .unwrap();
    let printed = [run.stdout, run.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat();
    assert!(printed.contains("running 1 test") && run.status.success(), "{printed}");
    assert!(printed.contains("this one execution, run again"), "{printed}");
}

/// What the oracle says of each history of a matrix: whether all are linearizable, and calls block
/// only where the specification blocks.
fn oracle_accepts(subject: &dyn Explorable, matrix: &Matrix, options: &LineUpOptions) -> bool {
    let mut program = subject.test_program(&matrix.to_calls(), &Limits::default()).unwrap();
    let algorithm = "oracle".parse().expect("a checker");
    let judging = JudgeOptions { algorithm, ..JudgeOptions::default() };
    let mut accepts = true;
    let strategy = Strategy::Scheduler(options.scheduler, &options.settings);
    let extent = Extent::all(u64::MAX, Visits::Every);
    let survey = program.explore(strategy, &extent, &mut |program: &mut dyn TestProgram, ending, _| {
        assert!(matches!(ending, Ending::Full | Ending::Stuck | Ending::Redundant), "{ending:?}");
        let outcome = program.outcome();
        let history = program.erased_history(&outcome).expect("it has a specification");
        let is_linearizable = match judge(history.problems(), &judging).verdict {
            Verdict::Holds(_) => true,
            Verdict::Violated(_) => false,
            Verdict::Unknown(reason) => panic!("{reason}"),
        };
        let is_stuck = *ending == Ending::Stuck;
        accepts &=
            is_linearizable && (!is_stuck || matches!(stuck(history.problems(), &judging), Stuck::Allowed));
        if accepts { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(!accepts || survey.coverage == Coverage::Exhausted, "{:?}", survey.coverage);
    accepts
}

/// Random matrices of `calls`, judged by Line-Up and by the oracle. Returns how many are violated.
fn compare<S, T>(
    specification: &S,
    make: impl Fn() -> T + Clone + Send + Sync + 'static,
    calls: &[S::Call],
    matrices: usize,
    seed: u64,
) -> usize
where
    S: Specification + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
    T: Subject<S>,
{
    let mut random = Random::new(seed);
    let mut violated = 0;
    for _ in 0..matrices {
        let column = |random: &mut Random| -> Vec<S::Call> {
            (0..1 + random.below(2)).map(|_| calls[random.below(calls.len())].clone()).collect()
        };
        let columns = vec![column(&mut random), column(&mut random)];
        let line_up = LineUp::calling(specification.clone(), make.clone(), calls.to_vec());
        let outcome = line_up.matrix(columns.clone()).without_environment().run().unwrap();
        let mut subject = SpecifiedSubject::with_debug(specification.clone(), make.clone());
        for call in calls {
            subject.add_call(format!("{call:?}"), call.clone());
        }
        let labels = columns.iter().map(|it| it.iter().map(|it| format!("{it:?}")).collect()).collect();
        let matrix = Matrix { columns: labels, ..Matrix::default() };
        let accepts = oracle_accepts(&subject, &matrix, &LineUpOptions::default());
        assert_eq!(outcome.holds(), accepts, "seed {seed}, {matrix}\n{outcome}");
        violated += usize::from(!accepts);
    }
    violated
}

#[test]
fn verdicts_are_those_of_the_oracle_on_every_history() {
    let matrices = pick(8, 150);
    let (mut holds, mut violated) = (0, 0);
    for flaw in [Flaw::None, Flaw::Gap, Flaw::Blocks] {
        let counts = [
            compare(&Bag, move || TurnBag::new(flaw), &[put(1), put(2), BagCall::Take], matrices, 1),
            compare(
                &Moody,
                move || TryQueue::new(flaw),
                &[MoodyCall::TryPush(1), MoodyCall::TryPush(2), MoodyCall::Pop],
                matrices,
                2,
            ),
            compare(
                &Mailbox,
                move || LockedMailbox::new(flaw),
                &[MailboxCall::Send(1), MailboxCall::Send(2), MailboxCall::Receive],
                matrices,
                3,
            ),
        ];
        if flaw == Flaw::None {
            assert_eq!(counts, [0; 3], "no false alarm");
        }
        violated += counts.iter().sum::<usize>();
        holds += counts.iter().map(|it| matrices - it).sum::<usize>();
    }
    assert!(0 < holds && 0 < violated, "{holds} hold, {violated} are violated");
}
