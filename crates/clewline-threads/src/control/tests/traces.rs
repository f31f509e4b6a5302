//! The scheduler `graph` under sequential consistency: each class of equivalent schedules once.
//!
//! Two schedules are equivalent if all dependent steps have the same order: then each load reads
//! the same store, the stores have the same order, and the same operations precede others. The
//! classes are counted by brute force, among all schedules.

use std::collections::BTreeSet;

use clewline_core::Random;
use clewline_explore::{
    Begin, Choice, FastPath, GraphPath, Point, Scheduler, Step, System, TaskId, TaskSet,
    schedulers::{exhaustive::Exhaustive, graph::Graph},
};
use clewline_testing::pick;

use super::{
    reductions::{Action, History, KINDS, Matrix, WEAK_KINDS, World, history, program_of, random_program},
    *,
};

/// A scheduler, and the steps of the present execution, and the values that tasks drew after a
/// number of steps.
struct Recorded<S> {
    scheduler: S,
    steps: Vec<Step>,
    values: Vec<(usize, u32)>,
}

impl<S: Scheduler> Scheduler for Recorded<S> {
    fn begin(&mut self, begin: Begin) -> bool {
        self.steps.clear();
        self.values.clear();
        self.scheduler.begin(begin)
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.scheduler.choose(point)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        let value = self.scheduler.choose_value(n);
        self.values.push((self.steps.len(), value));
        value
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl<S: Scheduler> FastPath for Recorded<S> {
    fn on_begin(&mut self, is_timed: bool) -> bool {
        let _reduces = self.scheduler.fast_path().map(|it| it.on_begin(is_timed));
        // Classes differ only where what is known of store buffers is used.
        true
    }

    fn on_step(&mut self, step: &Step) {
        self.steps.push(*step);
        self.scheduler.fast_path().into_iter().for_each(|it| it.on_step(step));
    }

    fn abandoned(&mut self, step: &Step) {
        self.scheduler.fast_path().into_iter().for_each(|it| it.abandoned(step));
    }

    fn replay_choice(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        self.scheduler.fast_path()?.replay_choice(enabled, arrived)
    }

    fn replay_step(&mut self, made: &Step, enabled: TaskSet, arrived: &Step) -> Option<TaskId> {
        self.steps.push(*made);
        self.scheduler.fast_path()?.replay_step(made, enabled, arrived)
    }

    fn refuses(&mut self, step: &Step) -> bool {
        self.scheduler.fast_path().is_some_and(|it| it.refuses(step))
    }

    fn graph(&mut self) -> Option<&mut dyn GraphPath> {
        self.scheduler.fast_path()?.graph()
    }
}

/// What equivalent schedules have in common: the steps of each task with the values that it drew,
/// and the order of those that are dependent. A step is its task, its access, whether an operation
/// is called or returns with it, and values.
type Class = (Vec<(TaskId, Access, [bool; 2], Vec<u32>)>, Vec<[(TaskId, usize); 2]>);

fn class_of(steps: &[Step], values: &[(usize, u32)], world: World) -> Class {
    let name = |at: usize| {
        let task = steps[at].task;
        (task, steps[..at].iter().filter(|it| it.task == task).count())
    };
    let drawn = |at: usize| values.iter().filter(|it| it.0 == at).map(|it| it.1).collect();
    let made = |(at, it): (usize, &Step)| (it.task, it.access, [it.calls, it.returns], drawn(at));
    let mut all: Vec<_> = steps.iter().enumerate().map(made).collect();
    all.sort_by_key(|it| it.0);
    let pairs = (0..steps.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    let is_timed = world.model == MemoryModel::SequentiallyConsistent;
    let is_dependent = |one: &Step, other: &Step| match is_timed {
        true => one.is_dependent(other),
        false => one.conflicts(other),
    };
    let pairs = pairs.filter(|(earlier, later)| is_dependent(&steps[*earlier], &steps[*later]));
    let mut pairs: Vec<_> = pairs.map(|(earlier, later)| [name(earlier), name(later)]).collect();
    pairs.sort_unstable();
    (all, pairs)
}

/// What a scheduler explores.
#[derive(Default)]
struct Explored {
    histories: BTreeSet<History>,
    classes: HashSet<Class>,
    /// Executions to their end, and those that were abandoned because nothing new could follow.
    executions: usize,
    redundant: usize,
}

/// `None` if there are too many executions, or one is too long.
fn explored<S: Scheduler>(matrix: &Matrix, scheduler: S, most: usize) -> Option<Explored> {
    explored_in(World::default(), matrix, scheduler, most)
}

fn explored_in<S: Scheduler>(world: World, matrix: &Matrix, scheduler: S, most: usize) -> Option<Explored> {
    let mut scheduler = Recorded { scheduler, steps: Vec::new(), values: Vec::new() };
    let (mut program, mut begin) = (program_of(matrix, world), Begin::Anew);
    let mut explored = Explored::default();
    while scheduler.begin(begin) {
        begin = Begin::Next;
        match program.run(&mut scheduler) {
            Ending::Redundant => explored.redundant += 1,
            Ending::Restart => (begin, explored) = (Begin::Anew, Explored::default()),
            ending @ (Ending::Full | Ending::Stuck | Ending::Panicked) => {
                explored.executions += 1;
                explored.histories.insert(history(&program.outcome(), &ending));
                explored.classes.insert(class_of(&scheduler.steps, &scheduler.values, world));
            }
            Ending::Cut => return None,
            ending => panic!("{matrix:?}: {ending:?}"),
        }
        if most < explored.executions + explored.redundant {
            return None;
        }
    }
    Some(explored)
}

/// In these kinds of programs there are loops that wait, tasks that other tasks start, and values
/// that are drawn before the first step: what is done depends on more than the order of dependent
/// steps.
const NO_CLASSES: [&str; 10] = [
    "spin locks",
    "spins",
    "late loops",
    "tasks",
    "threads",
    "locks and tasks",
    "locks and threads",
    "values",
    "much",
    "all",
];

/// The same under weaker memory models.
const NO_WEAK_CLASSES: [&str; 4] = ["weak values", "weak spins", "weak threads", "weak panics"];

/// Here no task blocks.
const NEVER_BLOCKED: [&str; 2] = ["plain", "updates"];

#[test]
fn graph_executes_each_class_of_schedules_once() {
    let (mut programs, mut schedules, mut classes, mut redundant) = (0, 0, 0, 0);
    for (kind, actions) in KINDS.iter().filter(|it| !NO_CLASSES.contains(&it.0)) {
        for seed in 0..pick(4, 100) {
            let matrix = random_program(&mut Random::new(seed), actions);
            let Some(expected) = explored(&matrix, Exhaustive::default(), pick(120, 1_000)) else { continue };
            let found = explored(&matrix, Graph::default(), usize::MAX).expect("it ends");
            assert_eq!(found.histories, expected.histories, "{kind}, {seed}: {matrix:?}");
            assert!(found.classes == expected.classes, "{kind}, {seed}: {matrix:?}");
            assert_eq!(found.executions, found.classes.len(), "{kind}, {seed}: twice: {matrix:?}");
            if NEVER_BLOCKED.contains(kind) {
                assert_eq!(found.redundant, 0, "{kind}, {seed}: {matrix:?}");
            }
            (programs, schedules) = (programs + 1, schedules + expected.executions);
            (classes, redundant) = (classes + found.executions, redundant + found.redundant);
        }
    }
    let seen = format!(
        "{programs} programs, {schedules} schedules, {classes} classes, {redundant} executions without one"
    );
    eprintln!("{seen}");
    assert!(pick(30, 1_000) < programs && classes < schedules && redundant * 20 < classes, "{seen}");
}

/// A flush is a step. Calls and returns are not ordered.
#[test]
fn graph_executes_each_class_of_schedules_with_store_buffers_once() {
    let world = World { model: MemoryModel::Tso, ..World::default() };
    let (mut programs, mut schedules, mut classes, mut redundant) = (0, 0, 0, 0);
    for (kind, actions) in WEAK_KINDS.iter().filter(|it| !NO_WEAK_CLASSES.contains(&it.0)) {
        for seed in 0..pick(4, 50) {
            let matrix = random_program(&mut Random::new(seed), actions);
            let most = pick(1_000, 3_000);
            let Some(expected) = explored_in(world, &matrix, Exhaustive::default(), most) else { continue };
            let found = explored_in(world, &matrix, Graph::default(), usize::MAX).expect("it ends");
            assert_eq!(found.histories, expected.histories, "{kind}, {seed}: {matrix:?}");
            let (n, m) = (found.classes.len(), expected.classes.len());
            assert!(found.classes == expected.classes, "{kind}, {seed}: {n} of {m}: {matrix:?}");
            assert_eq!(found.executions, found.classes.len(), "{kind}, {seed}: twice: {matrix:?}");
            (programs, schedules) = (programs + 1, schedules + expected.executions);
            (classes, redundant) = (classes + found.executions, redundant + found.redundant);
        }
    }
    let seen = format!(
        "{programs} programs, {schedules} schedules, {classes} classes, {redundant} executions without one"
    );
    eprintln!("{seen}");
    assert!(pick(2, 50) < programs && classes * 5 < schedules && redundant * 20 < classes, "{seen}");
}

/// What was to be explored first comes first: with the newest of them first, a history of this
/// program is lost.
#[test]
fn graph_keeps_the_order_of_what_it_plans() {
    use Action::Load;
    let columns =
        vec![vec![vec![Load(2), Load(0)]], vec![vec![Load(0), Load(1)]], vec![vec![Load(0), Load(0)]]];
    let matrix = Calls { columns, ..Calls::default() };
    let expected = explored(&matrix, Exhaustive::default(), 1_000).expect("there are 90 schedules");
    let found = explored(&matrix, Graph::default(), 1_000).expect("there are fewer");
    assert_eq!(found.histories, expected.histories);
    assert_eq!((found.executions, found.redundant), (expected.classes.len(), 0));
}

/// Programs in which a step that is executed early may return, and one that is asleep stays asleep.
#[test]
fn graph_does_not_take_a_task_for_handled_that_stays_asleep() {
    use Action::{Add, Load, Store};
    for columns in [
        vec![
            vec![vec![Store(2, 85), Add(0)]],
            vec![vec![Store(0, 80), Load(2)]],
            vec![vec![Load(2), Load(0)]],
        ],
        vec![
            vec![vec![Store(2, 33), Store(0, 35)]],
            vec![vec![Store(1, 26), Load(2)]],
            vec![vec![Add(2), Add(1)]],
        ],
    ] {
        let matrix = Calls { columns, ..Calls::default() };
        let expected = explored(&matrix, Exhaustive::default(), 1_000).expect("there are 90 schedules");
        let found = explored(&matrix, Graph::default(), 1_000).expect("there are fewer");
        assert!(found.classes == expected.classes, "{matrix:?}");
        assert_eq!((found.executions, found.redundant), (found.classes.len(), 0));
    }
}

/// Programs that a rule of the exploration was found to be needed for: without it, a class is lost
/// or executed twice.
#[test]
fn graph_needs_each_of_its_rules() {
    use Action::{Load, Lock, Read, Store, TryLock, Write};
    use MemoryModel::{SequentiallyConsistent as Sc, Tso};
    let all = [
        // Races of what executions have in common are reversed again, since other steps follow.
        (
            Sc,
            vec![
                vec![vec![TryLock(1, vec![]), TryLock(0, vec![])]],
                vec![vec![Lock(0, vec![]), Load(1)]],
                vec![vec![]],
            ],
        ),
        // What is planned for a task that is asleep or blocked by then is left out.
        (
            Sc,
            vec![
                vec![vec![Write(vec![]), Write(vec![])]],
                vec![vec![Read(vec![Read(vec![])])]],
                vec![vec![Load(2), Read(vec![])]],
            ],
        ),
        // What is planned first is executed first, also at nodes below the first one of a plan.
        (
            Tso,
            vec![
                vec![vec![Write(vec![Store(0, 25)])]],
                vec![vec![Write(vec![])], vec![Load(0)]],
                vec![vec![Load(0)]],
            ],
        ),
        // A task that was asleep where nothing was planned may stay so to the end.
        (
            Tso,
            vec![
                vec![vec![TryLock(0, vec![])]],
                vec![vec![TryLock(1, vec![]), Lock(0, vec![])]],
                vec![vec![Lock(1, vec![Store(0, 25), Lock(0, vec![])]), Lock(0, vec![])]],
            ],
        ),
    ];
    for (model, columns) in all {
        let (world, matrix) = (World { model, ..World::default() }, Calls { columns, ..Calls::default() });
        let expected = explored_in(world, &matrix, Exhaustive::default(), 2_000).expect("there are few");
        let found = explored_in(world, &matrix, Graph::default(), 100).expect("there are fewer");
        assert_eq!(found.histories, expected.histories, "{matrix:?}");
        let (n, m) = (found.classes.len(), expected.classes.len());
        assert!(found.classes == expected.classes, "{n} of {m}: {matrix:?}");
        assert_eq!(found.executions, n, "twice: {matrix:?}");
    }
}

/// A task that waits for another one comes after it, also in a plan. Here tasks start others: so
/// histories are compared, not classes.
#[test]
fn graph_orders_tasks_that_wait_in_what_it_plans() {
    use Action::{Lock, PanicIf, Spawn};
    let columns = vec![
        vec![vec![Spawn(vec![], true)]],
        vec![vec![Lock(1, vec![Lock(0, vec![PanicIf(1)])])]],
        vec![vec![Spawn(vec![Spawn(vec![], true)], true)]],
    ];
    let matrix = Calls { columns, ..Calls::default() };
    let expected = explored(&matrix, Exhaustive::default(), 1_000).expect("there are 560 schedules");
    let found = explored(&matrix, Graph::default(), 100).expect("there are fewer");
    assert_eq!(found.histories, expected.histories);
}
