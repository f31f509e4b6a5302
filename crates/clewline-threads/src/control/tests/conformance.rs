//! Properties that every scheduler of the table must have.

use std::collections::BTreeSet;

use clewline_core::Random;
use clewline_explore::{
    Begin, Bounds, Choice, Division, FastPath, Point, Schedule, Scheduler, Step, TaskId,
    schedulers::{
        SCHEDULERS, SchedulerEntry, SchedulerSettings, bounded::PREEMPTIONS, exhaustive::Exhaustive,
        replay::Replay,
    },
};
use clewline_testing::pick;

use super::{
    reductions::{
        Action, EXECUTIONS_MAX, History, KINDS, Matrix, World, histories_within, history, program_of,
        random_program,
    },
    *,
};

fn within(preemptions: Option<u32>) -> SchedulerSettings {
    let bounds = Bounds::default().with(&PREEMPTIONS, preemptions);
    SchedulerSettings { seed: 7, executions: 200, bounds, ..SchedulerSettings::default() }
}

/// Programs of every kind.
fn programs(n: usize) -> impl Iterator<Item = Matrix> {
    KINDS.iter().flat_map(move |(_, kinds)| {
        let mut random = Random::new(31);
        (0..n).map(move |_| random_program(&mut random, kinds))
    })
}

/// Delegates to another scheduler, and checks its choices.
struct CheckedScheduler {
    inner: Box<dyn Scheduler>,
    chosen: Option<Step>,
}

impl Scheduler for CheckedScheduler {
    fn begin(&mut self, begin: Begin) -> bool {
        self.chosen = None;
        self.inner.begin(begin)
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let choice = self.inner.choose(point);
        self.chosen = match choice {
            Choice::Step(index) => Some(point.enabled[index]),
            Choice::Redundant | Choice::Stop | Choice::Diverged(_) | Choice::Refused(_) => None,
        };
        choice
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        let value = self.inner.choose_value(n);
        assert!(value < n);
        value
    }

    fn is_bounded(&self) -> bool {
        self.inner.is_bounded()
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for CheckedScheduler {
    fn on_begin(&mut self, is_timed: bool) -> bool {
        self.inner.fast_path().is_some_and(|it| it.on_begin(is_timed))
    }

    fn on_step(&mut self, step: &Step) {
        let chosen = self.chosen.take().expect("a step that was chosen");
        assert_eq!((chosen.task, chosen.object, chosen.access), (step.task, step.object, step.access));
        self.inner.fast_path().into_iter().for_each(|it| it.on_step(step));
    }

    fn abandoned(&mut self, step: &Step) {
        self.inner.fast_path().into_iter().for_each(|it| it.abandoned(step));
    }

    fn refuses(&mut self, step: &Step) -> bool {
        self.inner.fast_path().is_some_and(|it| it.refuses(step))
    }
}

fn make(entry: &SchedulerEntry, settings: &SchedulerSettings) -> CheckedScheduler {
    CheckedScheduler { inner: (entry.make)(settings), chosen: None }
}

fn histories(matrix: &Matrix, scheduler: &mut dyn Scheduler) -> (BTreeSet<History>, Option<u64>) {
    histories_within(matrix, World::default(), scheduler, EXECUTIONS_MAX)
}

/// Each execution's schedule and history.
fn executions(matrix: &Matrix, scheduler: &mut dyn Scheduler, most: usize) -> Vec<(Schedule, History)> {
    let mut program = program_of(matrix, World::default());
    program.keep(true, false);
    let mut all = Vec::new();
    explore(&mut program, scheduler, 1_000, |program, ending, _| {
        all.push((program.schedule().unwrap(), history(&program.outcome(), ending)));
        if all.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    all
}

#[test]
fn exhaustive_schedulers_see_exactly_the_canonical_histories() {
    for matrix in programs(pick(1, 5)).step_by(pick(3, 1)) {
        let (expected, Some(_)) = histories(&matrix, &mut Exhaustive::default()) else { continue };
        for entry in SCHEDULERS.iter() {
            let (found, _) = histories(&matrix, &mut make(entry, &within(None)));
            if entry.is_exhaustive {
                assert_eq!(found, expected, "{} on {matrix:?}", entry.name);
            } else {
                assert!(found.is_subset(&expected), "{} on {matrix:?}", entry.name);
                assert!(!found.is_empty());
            }
        }
    }
}

/// The same program after tasks that do nothing, so that those of the program have high numbers.
fn after_idle_tasks(matrix: &Matrix, idle: usize) -> Matrix {
    let columns = std::iter::repeat_n(Vec::new(), idle).chain(matrix.columns.iter().cloned()).collect();
    Calls { columns, ..matrix.clone() }
}

#[test]
fn tasks_with_high_numbers_are_explored_as_those_with_low_ones() {
    let models = [MemoryModel::SequentiallyConsistent, MemoryModel::Tso, MemoryModel::ReleaseAcquire];
    let most = pick(4, EXECUTIONS_MAX);
    let (mut seen, settings) = (0, within(Some(1)));
    for (at, matrix) in programs(pick(1, 4)).step_by(pick(2, 1)).enumerate() {
        // Some numbers below and some above the few; or all above. Tasks have store buffers.
        let idle = if at % 2 == 0 { TaskId::USUAL_MAX - 1 } else { TaskId::MAX / 2 - 8 };
        let shifted = after_idle_tasks(&matrix, idle);
        let model = models[at % models.len()];
        let world = World { model, ..World::default() };
        for entry in SCHEDULERS.iter().filter(|it| it.is_exhaustive) {
            let all = |matrix| histories_within(matrix, world, &mut *(entry.make)(&settings), most);
            let expected = all(&matrix);
            assert_eq!(all(&shifted), expected, "{} after {idle}, {model:?}: {matrix:?}", entry.name);
            seen += expected.0.len();
        }
    }
    assert!(pick(50, 500) < seen, "{seen}");
}

#[test]
fn thirty_two_tasks_are_explored() {
    let one = |task: usize| vec![vec![Action::Store(0, task), Action::Load(0)]];
    let matrix = Calls { columns: (0..32).map(one).collect(), ..Calls::default() };
    for entry in SCHEDULERS.iter() {
        let mut scheduler = (entry.make)(&within(Some(0)));
        let (mut lasts, mut n) = (BTreeSet::new(), 0);
        for (schedule, _) in executions(&matrix, &mut *scheduler, 100) {
            let token: Schedule = schedule.to_string().parse().unwrap();
            assert_eq!(token, schedule, "{}", entry.name);
            lasts.insert(format!("{:?}", schedule.0.last()));
            n += 1;
        }
        assert_eq!(n, 100, "{}", entry.name);
        assert!(1 < lasts.len(), "{}: the order of the last tasks is varied", entry.name);
    }
}

/// The schedulers with a bound on preemptions, each with whether it is adaptive: what one execution
/// shows decides which others are needed.
fn bounded() -> impl Iterator<Item = (&'static SchedulerEntry, bool)> {
    let all = SCHEDULERS.iter().filter(|it| it.is_exhaustive && it.bounds.contains(&PREEMPTIONS));
    all.map(|it| (it, it.division == Division::None))
}

#[test]
fn bounded_schedulers_see_the_same_within_the_bound() {
    for matrix in programs(pick(1, 4)).step_by(pick(4, 1)) {
        for preemptions in 0..pick(2, 3) {
            let settings = within(Some(preemptions));
            let seen: Vec<BTreeSet<History>> = bounded()
                .map(|it| histories(&matrix, &mut make(it.0, &settings)))
                .filter(|it| it.1.is_some())
                .map(|it| it.0)
                .collect();
            assert!(seen.windows(2).all(|it| it[0] == it[1]), "bound {preemptions}: {matrix:?}");
        }
    }
}

#[test]
fn bounded_schedulers_report_whether_they_excluded_anything() {
    let (mut whole, mut parts) = (0, 0);
    let most = pick(EXECUTIONS_MAX / 40, EXECUTIONS_MAX);
    for model in [MemoryModel::SequentiallyConsistent, MemoryModel::Tso] {
        let world = World { model, ..World::default() };
        // A single task is never preempted, whenever its store is flushed.
        let alone =
            Calls { columns: vec![vec![vec![Action::Store(0, 1), Action::Load(0)]]], ..Calls::default() };
        for matrix in programs(pick(1, 2)).chain([alone]) {
            let all = histories_within(&matrix, world, &mut Exhaustive::default(), most).1;
            let Some(all) = all else { continue };
            for (entry, _) in bounded().filter(|(_, is_adaptive)| !is_adaptive) {
                for preemptions in 0..4 {
                    let settings = within(Some(preemptions));
                    let mut scheduler = (entry.make)(&settings);
                    let seen = histories_within(&matrix, world, &mut *scheduler, most).1;
                    let is_part = seen.expect("no more than all") < all;
                    assert_eq!(
                        scheduler.is_bounded(),
                        is_part,
                        "{} {preemptions}, {model:?}: {matrix:?}",
                        entry.name
                    );
                    if is_part { parts += 1 } else { whole += 1 }
                }
            }
        }
    }
    assert!(pick(5, 50) < whole && pick(5, 50) < parts, "{whole} {parts}");
}

#[test]
fn a_bounded_reduction_reports_whether_the_bound_excluded_anything() {
    let (mut whole, mut parts) = (0, 0);
    for matrix in programs(pick(1, 2)) {
        let (all, Some(_)) = histories(&matrix, &mut Exhaustive::default()) else { continue };
        let reductions = || bounded().filter(|(_, is_adaptive)| *is_adaptive);
        for (preemptions, (entry, _)) in [0, 1, 2, 1_000].iter().flat_map(|n| reductions().map(|it| (*n, it)))
        {
            let mut scheduler = (entry.make)(&within(Some(preemptions)));
            let is_part = histories(&matrix, &mut *scheduler).0 != all;
            assert!(scheduler.is_bounded() || !is_part, "{} {preemptions}: {matrix:?}", entry.name);
            assert!(!scheduler.is_bounded() || preemptions < 1_000, "{}: {matrix:?}", entry.name);
            if is_part { parts += 1 } else { whole += 1 }
        }
    }
    assert!(pick(10, 30) < whole && pick(10, 30) < parts, "{whole} {parts}");
}

#[test]
fn a_schedule_that_is_replayed_gives_the_same_history() {
    for matrix in programs(pick(1, 2)).step_by(pick(2, 1)) {
        for entry in SCHEDULERS.iter() {
            for (schedule, expected) in executions(&matrix, &mut make(entry, &within(None)), pick(2, 20)) {
                let token: Schedule = schedule.to_string().parse().unwrap();
                assert_eq!(token, schedule);
                let mut replay = Replay::new(token);
                let found = executions(&matrix, &mut replay, 2);
                assert_eq!(found.len(), 1, "{} on {matrix:?}", entry.name);
                assert_eq!(found[0], (schedule, expected), "{} on {matrix:?}", entry.name);
                assert!(replay.is_faithful(), "{} on {matrix:?}", entry.name);
            }
        }
    }
}

#[test]
fn one_seed_gives_one_sequence_of_executions_also_after_a_restart() {
    let most = pick(12, 100);
    for matrix in programs(pick(1, 2)).step_by(pick(2, 1)) {
        for entry in SCHEDULERS.iter() {
            let mut scheduler = make(entry, &within(None));
            let first = executions(&matrix, &mut scheduler, most);
            assert_eq!(first, executions(&matrix, &mut make(entry, &within(None)), most), "{}", entry.name);
            assert_eq!(first, executions(&matrix, &mut scheduler, most), "{} on {matrix:?}", entry.name);
        }
    }
}

#[test]
fn nondeterminism_is_detected() {
    for entry in SCHEDULERS.iter().filter(|it| it.is_exhaustive) {
        let calls = Calls { columns: vec![vec![0; 2], vec![0; 2]], ..Calls::default() };
        let made = Cell::new(0);
        let make_subject = move || {
            made.set(made.get() + 1);
            (made.get() % 2, [AtomicUsize::new(0), AtomicUsize::new(0)])
        };
        let call = |it: &(usize, [AtomicUsize; 2]), _: &usize| {
            // Makes a different access every other time.
            if it.0 == 0 { it.1[0].load(SeqCst) } else { it.1[0].fetch_add(1, SeqCst) }
        };
        let mut program = ThreadProgram::new(calls, make_subject, call, Limits::default());
        let mut scheduler = make(entry, &within(None));
        let (coverage, _) = explore(&mut program, &mut scheduler, 1_000, |_, _, _| ControlFlow::Continue(()));
        assert!(matches!(coverage, Coverage::Limited(Limit::Diverged(_))), "{}: {coverage:?}", entry.name);
    }
}

#[test]
fn iterative_makes_each_schedule_once_and_those_with_fewer_preemptions_first() {
    for matrix in programs(pick(1, 2)).step_by(pick(4, 1)) {
        let settings = within(Some(2));
        let entry = |name: &str| SCHEDULERS.iter().find(|it| it.name == name).unwrap();
        let of = |name: &str| executions(&matrix, &mut make(entry(name), &settings), 1_000);
        let (bounded, iterative) = (of("bounded"), of("iterative"));
        if bounded.len() == 1_000 {
            continue;
        }
        let as_set =
            |it: &[(Schedule, History)]| it.iter().map(|it| it.0.to_string()).collect::<BTreeSet<_>>();
        assert_eq!(bounded.len(), iterative.len(), "{matrix:?}");
        assert_eq!(as_set(&bounded), as_set(&iterative));
        let rank = |fewer: u32| {
            let settings = within(Some(fewer));
            executions(&matrix, &mut make(entry("bounded"), &settings), 1_000).len()
        };
        for fewer in 0..2 {
            let settings = within(Some(fewer));
            let first = executions(&matrix, &mut make(entry("bounded"), &settings), 1_000);
            assert_eq!(as_set(&iterative[..rank(fewer)]), as_set(&first));
        }
    }
}
