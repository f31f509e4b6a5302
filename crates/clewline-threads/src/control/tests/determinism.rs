//! Nondeterminism is detected wherever a step is replayed.

use std::{rc::Rc, sync::Arc};

use clewline_core::Random;
use clewline_explore::{Bounds, Pick, Schedule, schedulers::bounded::PREEMPTIONS};

use super::*;

/// What an operation does.
#[derive(Clone, Copy, Debug)]
enum OperationKind {
    /// Reads one of two atomics: a step.
    Reads(usize),
    /// Takes one of two locks and adds: two steps.
    TakesOne(usize),
    /// Takes both locks and adds: three steps. A task that takes either lock meanwhile waits.
    TakesBoth,
    /// Reads, then takes a lock: three steps.
    ReadsAndTakes,
    /// Reads, then takes the other lock.
    ReadsAndTakesOther,
    /// Adds to one of two atomics: a step.
    Adds(usize),
    /// Takes a lock, adds, releases it and reads: three steps.
    GivesBack,
    /// The same, but releases it at the end.
    GivesBackLate,
    /// Reads twice: two steps.
    ReadsTwice,
    /// Reads, chooses one of this many numbers, and reads: two steps.
    Draws(usize),
    /// Reads, and panics.
    Panics,
    /// Starts a thread that reads, and then takes a lock if there is one.
    Starts(Option<usize>),
}

impl OperationKind {
    const ALL: [OperationKind; 5] = [
        OperationKind::Reads(0),
        OperationKind::Reads(1),
        OperationKind::TakesOne(0),
        OperationKind::TakesOne(1),
        OperationKind::TakesBoth,
    ];

    const fn steps(self) -> usize {
        match self {
            OperationKind::Reads(_)
            | OperationKind::Adds(_)
            | OperationKind::Panics
            | OperationKind::Starts(_) => 1,
            OperationKind::TakesOne(_) | OperationKind::ReadsTwice | OperationKind::Draws(_) => 2,
            OperationKind::TakesBoth
            | OperationKind::ReadsAndTakes
            | OperationKind::ReadsAndTakesOther
            | OperationKind::GivesBack
            | OperationKind::GivesBackLate => 3,
        }
    }

    /// A different action.
    const fn changed(self) -> OperationKind {
        match self {
            OperationKind::Reads(at) => OperationKind::TakesOne(at),
            OperationKind::TakesOne(at) => OperationKind::TakesOne(1 - at),
            OperationKind::TakesBoth
            | OperationKind::ReadsAndTakes
            | OperationKind::ReadsAndTakesOther
            | OperationKind::Adds(_)
            | OperationKind::GivesBack
            | OperationKind::GivesBackLate
            | OperationKind::ReadsTwice
            | OperationKind::Draws(_)
            | OperationKind::Panics
            | OperationKind::Starts(_) => OperationKind::TakesOne(1),
        }
    }
}

/// In one execution, an operation that does something different.
#[derive(Clone, Copy, Debug)]
struct Change {
    execution: u64,
    column: usize,
    row: usize,
    does: OperationKind,
}

impl Change {
    /// The task that does something different. A thread started by an operation comes after those
    /// of the columns and of the initial calls.
    const fn task(&self, columns: usize) -> usize {
        if let OperationKind::Starts(_) = self.does { columns + 1 } else { self.column }
    }
}

#[derive(Debug)]
struct Shared {
    execution: u64,
    locks: [Mutex<()>; 2],
    atomics: [AtomicUsize; 2],
}

impl Shared {
    fn call(self: &Arc<Self>, does: OperationKind) -> usize {
        let take = |at: usize| self.locks[at].lock().expect("no task panics");
        match does {
            OperationKind::Reads(at) => self.atomics[at].load(SeqCst),
            OperationKind::Adds(at) => self.atomics[at].fetch_add(1, SeqCst),
            OperationKind::GivesBack | OperationKind::GivesBackLate => {
                let guard = take(0);
                self.atomics[0].fetch_add(1, SeqCst);
                let guard = Some(guard).filter(|_| matches!(does, OperationKind::GivesBackLate));
                let seen = self.atomics[0].load(SeqCst);
                drop(guard);
                seen
            }
            OperationKind::ReadsTwice => {
                self.call(OperationKind::Reads(0)) + self.call(OperationKind::Reads(0))
            }
            OperationKind::Draws(from) => {
                let (first, drawn) = (self.call(OperationKind::Reads(0)), crate::choose(from));
                assert!(drawn < from, "whatever was drawn before");
                first + drawn + self.call(OperationKind::Reads(0))
            }
            OperationKind::Panics => panic!("after {}", self.call(OperationKind::Reads(0))),
            OperationKind::TakesOne(at) => {
                let _guard = take(at);
                self.atomics[at].fetch_add(1, SeqCst)
            }
            OperationKind::TakesBoth => {
                let _guards = (take(0), take(1));
                self.atomics[0].fetch_add(1, SeqCst)
            }
            OperationKind::ReadsAndTakes => {
                self.call(OperationKind::Reads(1)) + self.call(OperationKind::TakesOne(0))
            }
            OperationKind::ReadsAndTakesOther => {
                self.call(OperationKind::Reads(1)) + self.call(OperationKind::TakesOne(1))
            }
            OperationKind::Starts(lock) => {
                let shared = Arc::clone(self);
                crate::thread::spawn(move || {
                    let seen = shared.call(OperationKind::Reads(1));
                    seen + lock.map_or(0, |at| shared.call(OperationKind::TakesOne(at)))
                });
                0
            }
        }
    }
}

const EXECUTIONS_MAX: u64 = 100;

/// The coverage, the number of executions, and the schedules of those that were not redundant.
fn run(
    columns: &[Vec<OperationKind>],
    change: Option<Change>,
    scheduler: &mut dyn Scheduler,
) -> (Coverage, u64, Vec<(u64, Schedule)>) {
    let places = |column: usize, it: &[OperationKind]| -> Vec<(usize, usize, OperationKind)> {
        it.iter().enumerate().map(|(row, does)| (column, row, *does)).collect()
    };
    // Objects are numbered in the same order in all executions.
    let first = [OperationKind::TakesOne(0), OperationKind::TakesOne(1)];
    let calls = Calls {
        initial: places(usize::MAX, &first),
        columns: columns.iter().enumerate().map(|(at, it)| places(at, it)).collect(),
        last: Vec::new(),
    };
    let made = Rc::new(Cell::new(0));
    let make = move || {
        made.set(made.get() + 1);
        Arc::new(Shared { execution: made.get(), locks: Default::default(), atomics: Default::default() })
    };
    let call = move |it: &Arc<Shared>, &(column, row, does): &(usize, usize, OperationKind)| {
        let is_changed = |to: &Change| (to.execution, to.column, to.row) == (it.execution, column, row);
        it.call(change.filter(is_changed).map_or(does, |it| it.does))
    };
    let mut program = ThreadProgram::new(calls, make, call, Limits::default());
    program.keep(true, false);
    let mut schedules = Vec::new();
    let (coverage, executions) = explore(&mut program, scheduler, EXECUTIONS_MAX, |program, _, number| {
        schedules.push((number, program.schedule().expect("kept")));
        ControlFlow::Continue(())
    });
    (coverage, executions, schedules)
}

/// The number of choices after which the task has arrived at what follows its first `steps` steps.
fn comes_after(schedule: &Schedule, task: usize, steps: usize) -> Option<usize> {
    let is_its = |it: &Pick| matches!(it, Pick::Task(it) if it.index() == task);
    let mut at = schedule.0.iter().enumerate().filter(|(_, it)| is_its(it)).map(|(at, _)| at + 1);
    at.nth(steps - 1)
}

fn common(a: &Schedule, b: &Schedule) -> usize {
    a.0.iter().zip(&b.0).take_while(|(a, b)| a == b).count()
}

/// Returns in how many executions `change` occurs in a replayed part; each time it must be detected
/// immediately. The first `same` steps of its task are unchanged, and `is_meant` returns whether
/// the choices up to then matter.
fn check_change(
    columns: &[Vec<OperationKind>],
    change: Change,
    same: usize,
    is_meant: impl Fn(&[Pick]) -> bool,
    scheduler: &dyn Fn() -> Box<dyn Scheduler>,
) -> u32 {
    let (_, _, schedules) = run(columns, None, &mut *scheduler());
    let mut changes = 0;
    for at in 1..schedules.len() {
        let (execution, schedule) = &schedules[at];
        let again = schedules[..at].iter().map(|it| common(&it.1, schedule)).max().expect("one before");
        let is_again = |it: usize| it <= again && is_meant(&schedule.0[..it]);
        if !comes_after(schedule, change.task(columns.len()), same).is_some_and(is_again) {
            continue;
        }
        changes += 1;
        let change = Change { execution: *execution, ..change };
        let (coverage, executions, _) = run(columns, Some(change), &mut *scheduler());
        // A panic ends the execution: no later point can detect the change.
        let when = *execution + u64::from(matches!(change.does, OperationKind::Panics));
        let is_found = matches!(coverage, Coverage::Limited(Limit::Diverged(_))) && executions == when;
        assert!(is_found, "{columns:?}, {change:?}: {coverage:?} after {executions}");
    }
    changes
}

type Make = Box<dyn Fn() -> Box<dyn Scheduler>>;

/// Schedulers that replay prefixes.
fn schedulers() -> Vec<(&'static str, Make)> {
    let mut all: Vec<(&str, Make)> = vec![("serial", Box::new(|| Box::new(Serial::default())))];
    for entry in SCHEDULERS.iter().filter(|it| it.is_exhaustive && !it.explores_graphs) {
        for preemptions in [None, Some(1)] {
            let bounds = Bounds::default().with(&PREEMPTIONS, preemptions);
            let settings = SchedulerSettings { bounds, ..SchedulerSettings::default() };
            all.push((entry.name, Box::new(move || (entry.make)(&settings))));
        }
    }
    all
}

#[test]
fn a_different_access_is_detected() {
    for (name, scheduler) in schedulers() {
        let mut random = Random::new(5);
        let mut changes = 0;
        for _ in 0..12 {
            let mut column = || [0; 2].map(|_: usize| OperationKind::ALL[random.below(5)]).to_vec();
            let columns = [column(), column()];
            for (column, calls) in columns.iter().enumerate() {
                let change = Change { execution: 0, column, row: 1, does: calls[1].changed() };
                changes += check_change(&columns, change, calls[0].steps(), |_| true, &*scheduler);
            }
        }
        assert!(10 < changes, "{name}: {changes}");
    }
}

/// One task takes both locks; another one performs `waits`, which reaches one of them meanwhile; a
/// third one may continue. Checks that it is detected if the waiting task does something different
/// after its first step.
fn check_waiting(waits: OperationKind, does: OperationKind) {
    let columns =
        [vec![OperationKind::TakesBoth], vec![waits], vec![OperationKind::Adds(1), OperationKind::Adds(1)]];
    // Both locks are taken.
    let is_kept_waiting = |chosen: &[Pick]| {
        chosen.iter().filter(|it| matches!(it, Pick::Task(it) if it.index() == 0)).count() == 2
    };
    for (name, scheduler) in schedulers().into_iter().filter(|it| it.0 != "serial") {
        let change = Change { execution: 0, column: 1, row: 0, does };
        let changes = check_change(&columns, change, 1, is_kept_waiting, &*scheduler);
        assert_ne!(changes, 0, "{name}");
    }
}

#[test]
fn waiting_for_a_different_lock_is_detected() {
    check_waiting(OperationKind::ReadsAndTakes, OperationKind::ReadsAndTakesOther);
    check_waiting(OperationKind::Starts(Some(0)), OperationKind::Starts(Some(1)));
}

#[test]
fn a_task_that_ends_where_it_waited_is_detected() {
    check_waiting(OperationKind::ReadsAndTakes, OperationKind::Reads(1));
    check_waiting(OperationKind::Starts(Some(0)), OperationKind::Starts(None));
}

#[test]
fn a_different_effect_of_a_step_is_detected_by_dependent_tasks() {
    let columns = [vec![OperationKind::GivesBack], vec![OperationKind::Adds(0), OperationKind::Adds(0)]];
    for (name, scheduler) in schedulers().into_iter().filter(|it| it.0.ends_with("dpor")) {
        let change = Change { execution: 0, column: 0, row: 0, does: OperationKind::GivesBackLate };
        assert_ne!(check_change(&columns, change, 2, |_| true, &*scheduler), 0, "{name}");
    }
}

#[test]
fn a_later_release_is_detected_while_a_task_waits_for_the_lock() {
    let columns = [vec![OperationKind::GivesBack], vec![OperationKind::TakesOne(0), OperationKind::Adds(1)]];
    let is_waited_for =
        |chosen: &[Pick]| !chosen.iter().any(|it| matches!(it, Pick::Task(it) if it.index() == 1));
    for (name, scheduler) in schedulers().into_iter().filter(|it| it.0 != "serial") {
        let change = Change { execution: 0, column: 0, row: 0, does: OperationKind::GivesBackLate };
        assert_ne!(check_change(&columns, change, 2, is_waited_for, &*scheduler), 0, "{name}");
    }
}

#[test]
fn a_different_number_of_choices_and_a_panic_are_detected_beside_other_tasks() {
    for (does, changed) in [
        (OperationKind::Draws(2), OperationKind::Draws(3)),
        (OperationKind::Draws(3), OperationKind::Draws(2)),
        (OperationKind::Draws(2), OperationKind::Panics),
        (OperationKind::Draws(2), OperationKind::ReadsTwice),
        (OperationKind::ReadsTwice, OperationKind::Draws(2)),
    ] {
        let columns = [vec![does], vec![OperationKind::Adds(0), OperationKind::Adds(0)]];
        for (name, scheduler) in schedulers() {
            let change = Change { execution: 0, column: 0, row: 0, does: changed };
            let changes = check_change(&columns, change, 1, |_| true, &*scheduler);
            // In serial executions, only chosen numbers follow a replayed part.
            let is_serial = name == "serial" && matches!(does, OperationKind::ReadsTwice);
            assert_eq!(changes == 0, is_serial, "{name}, {does:?}");
        }
    }
}

#[test]
fn an_execution_that_ends_before_its_replay_is_complete_is_detected() {
    for entry in SCHEDULERS.iter().filter(|it| it.is_exhaustive && !it.explores_graphs) {
        for different in 2..4 {
            let turn = Cell::new(0);
            let call = move |it: &AtomicUsize, (): &()| {
                let seen = it.load(SeqCst);
                turn.set(turn.get() + 1);
                seen + if turn.get() == different { 0 } else { crate::choose(3) }
            };
            let calls = Calls { columns: vec![vec![()]], ..Calls::default() };
            let mut program = ThreadProgram::new(calls, || AtomicUsize::new(0), call, Limits::default());
            let mut scheduler = (entry.make)(&SchedulerSettings::default());
            let (coverage, _) =
                explore(&mut program, &mut *scheduler, 10, |_, _, _| ControlFlow::Continue(()));
            assert!(
                matches!(coverage, Coverage::Limited(Limit::Diverged(_))),
                "{}: {coverage:?}",
                entry.name
            );
        }
    }
}
