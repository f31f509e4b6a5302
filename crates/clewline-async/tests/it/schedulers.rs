//! Schedulers, reductions and memory models with tasks: random programs, explored in several ways.

use std::{
    collections::BTreeSet,
    future::{Future, poll_fn},
    ops::ControlFlow,
    pin::Pin,
    sync::Arc,
    task::{Poll, Waker},
    time::Duration,
};

use clewline_async::{
    block_on, may_cancel, select, spawn,
    sync::{Mutex, Notify, mpsc},
    timeout, yield_now,
};
use clewline_core::{Random, ResultId};
use clewline_explore::{
    Coverage, Ending, Scheduler, explore,
    schedulers::{
        SCHEDULERS, SchedulerSettings, bounded::Bounded, bounded_dpor::BoundedDpor,
        causality::DependenceRelation, dpor::Dpor, exhaustive::Exhaustive,
    },
};
use clewline_testing::pick;
use clewline_threads::{
    control::{Calls, Limits, Memory, MemoryModel, ThreadProgram},
    sync::{
        self as threads,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
};

/// One thing that a task does.
#[derive(Clone, Debug)]
enum Action {
    Load(usize),
    Add(usize),
    Set(usize),
    Wait(usize),
    WaitOrCancel(usize),
    WaitOrLate(usize),
    /// Waits for one of both events.
    Select,
    /// Adds to a number while it holds the lock, across an `.await`.
    Lock(usize),
    Notify,
    Notified,
    Send,
    Receive,
    /// Starts a task, and awaits it if so.
    Spawn(Vec<Action>, bool),
}

/// An event that tasks wait for.
#[derive(Default)]
struct Event {
    is_set: AtomicBool,
    wakers: threads::Mutex<Vec<Waker>>,
}

impl Event {
    fn set(&self) {
        self.is_set.store(true, SeqCst);
        let wakers = std::mem::take(&mut *self.wakers.lock().unwrap());
        wakers.into_iter().for_each(Waker::wake);
    }

    async fn wait(&self) {
        poll_fn(|context| {
            self.wakers.lock().unwrap().push(context.waker().clone());
            if self.is_set.load(SeqCst) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

struct World {
    numbers: [AtomicU32; 2],
    events: [Event; 2],
    lock: Mutex<()>,
    notify: Notify,
    sender: mpsc::Sender<u32>,
    receiver: Mutex<mpsc::Receiver<u32>>,
}

impl World {
    fn new() -> Arc<World> {
        let (sender, receiver) = mpsc::channel(1);
        Arc::new(World {
            numbers: Default::default(),
            events: Default::default(),
            lock: Mutex::new(()),
            notify: Notify::new(),
            sender,
            receiver: Mutex::new(receiver),
        })
    }
}

/// Makes the actions, and returns what was seen.
fn run(world: Arc<World>, actions: Vec<Action>) -> Pin<Box<dyn Future<Output = u32> + Send>> {
    Box::pin(async move {
        let mut seen = 1;
        for action in actions {
            seen = seen * 5 % 99_991 + act(&world, action).await;
        }
        seen
    })
}

async fn act(world: &Arc<World>, action: Action) -> u32 {
    match action {
        Action::Load(at) => return world.numbers[at].load(SeqCst),
        Action::Add(at) => return world.numbers[at].fetch_add(1, SeqCst),
        Action::Set(at) => world.events[at].set(),
        Action::Wait(at) => world.events[at].wait().await,
        Action::WaitOrCancel(at) => return may_cancel(world.events[at].wait()).await.is_some().into(),
        Action::WaitOrLate(at) => {
            return timeout(Duration::from_secs(1), world.events[at].wait()).await.is_ok().into();
        }
        Action::Select => {
            let [one, other] = &world.events;
            return select! {
                () = one.wait() => 1,
                () = other.wait() => 2,
            };
        }
        Action::Lock(at) => {
            let guard = world.lock.lock().await;
            let before = world.numbers[at].load(SeqCst);
            yield_now().await;
            world.numbers[at].store(before + 1, SeqCst);
            drop(guard);
        }
        Action::Notify => world.notify.notify_one(),
        Action::Notified => world.notify.notified().await,
        Action::Send => return world.sender.send(3).await.is_ok().into(),
        Action::Receive => return world.receiver.lock().await.recv().await.unwrap_or(4),
        Action::Spawn(actions, is_awaited) => {
            let task = spawn(run(Arc::clone(world), actions));
            if is_awaited {
                return task.await.unwrap_or(4);
            }
        }
    }
    0
}

/// The actions of each call of each task.
type Matrix = Vec<Vec<Vec<Action>>>;

fn random_action(random: &mut Random, depth: u32) -> Action {
    let at = random.below(2);
    match random.below(if depth == 0 { 13 } else { 15 }) {
        0 => Action::Load(at),
        1 => Action::Add(at),
        2 | 3 => Action::Set(at),
        4 | 5 => Action::Wait(at),
        6 => Action::WaitOrCancel(at),
        7 => Action::WaitOrLate(at),
        8 => Action::Select,
        9 => Action::Lock(at),
        10 => Action::Notify,
        11 => Action::Notified,
        12 => {
            if at == 0 {
                Action::Send
            } else {
                Action::Receive
            }
        }
        _ => Action::Spawn(vec![random_action(random, depth - 1)], at == 0),
    }
}

fn random_program(random: &mut Random) -> Matrix {
    let call = |random: &mut Random| {
        let n = 1 + random.below(2);
        (0..n).map(|_| random_action(random, 1)).collect::<Vec<_>>()
    };
    (0..2).map(|_| vec![call(random)]).collect()
}

/// The canonical histories, the executions, and whether that is all that `scheduler` explores.
fn histories(
    matrix: &Matrix,
    model: MemoryModel,
    scheduler: &mut dyn Scheduler,
    most: u64,
) -> (BTreeSet<Vec<u32>>, u64, Coverage) {
    let calls = Calls { columns: matrix.clone(), ..Calls::default() };
    let call =
        |it: &Arc<World>, actions: &Vec<Action>| ResultId(block_on(run(Arc::clone(it), actions.clone())));
    // With race detection, everything that tasks do has its place in happens-before.
    let memory = Memory { model, races: true, ..Memory::default() };
    let mut program = ThreadProgram::new(calls, World::new, call, Limits::default()).with_memory(memory);
    let (mut found, mut key) = (BTreeSet::new(), Vec::new());
    let (coverage, executions) = explore(&mut program, scheduler, most, |program, ending, _| {
        assert!(matches!(ending, Ending::Full | Ending::Stuck), "{matrix:?}: {ending:?}");
        program.outcome().canonical(ending, &mut key);
        found.insert(key.clone());
        ControlFlow::Continue(())
    });
    (found, executions, coverage)
}

const EXECUTIONS_MAX: u64 = 1_500;

/// Compares `expect` with `find` on random programs. Returns the number of programs, of those in
/// which a call may wait forever, and the executions of each of the two.
fn compare(
    model: MemoryModel,
    programs: usize,
    expect: &dyn Fn() -> Box<dyn Scheduler>,
    find: &dyn Fn() -> Box<dyn Scheduler>,
) -> (usize, usize, u64, u64) {
    let mut random = Random::new(7);
    let (mut compared, mut blocked, mut all, mut few) = (0, 0, 0, 0);
    for _ in 0..programs {
        let matrix = random_program(&mut random);
        let (expected, executions, coverage) = histories(&matrix, model, &mut *expect(), EXECUTIONS_MAX);
        if coverage != Coverage::Exhausted {
            continue;
        }
        let (found, reduced, coverage) = histories(&matrix, model, &mut *find(), 2 * EXECUTIONS_MAX);
        assert_eq!((found, coverage), (expected.clone(), Coverage::Exhausted), "{matrix:?} with seed 7");
        assert!(reduced <= executions, "{matrix:?}: {reduced} executions instead of {executions}");
        compared += 1;
        blocked += usize::from(expected.iter().any(|it| it[0] == 1));
        (all, few) = (all + executions, few + reduced);
    }
    (compared, blocked, all, few)
}

fn exhaustive() -> Box<dyn Scheduler> {
    Box::new(Exhaustive::default())
}

#[test]
fn dpor_loses_no_history_of_tasks() {
    let dpor = || -> Box<dyn Scheduler> { Box::new(Dpor::new(DependenceRelation::Histories)) };
    for model in MemoryModel::ALL {
        let (programs, blocked, all, few) = compare(model, pick(8, 400), &exhaustive, &dpor);
        let is_enough =
            pick(1, 60) < programs && 0 < blocked && blocked < programs + pick(1, 0) && few <= all;
        assert!(is_enough, "{model:?}: {programs} programs, {blocked} blocked, {all} and {few} executions");
    }
}

#[test]
fn bounded_dpor_loses_no_history_of_tasks() {
    for bound in 0..=2 {
        let bounded = || -> Box<dyn Scheduler> { Box::new(Bounded::new(Some(bound))) };
        let reduced = || -> Box<dyn Scheduler> { Box::new(BoundedDpor::new(Some(bound))) };
        let model = MemoryModel::SequentiallyConsistent;
        let (programs, blocked, all, few) = compare(model, pick(8, 300), &bounded, &reduced);
        let is_enough = pick(1, 80) < programs && 0 < blocked && few <= all;
        assert!(is_enough, "{bound}: {programs} programs, {blocked} blocked, {all} and {few} executions");
    }
}

/// Random ones find nothing that is not there, and together with the others most of what is.
#[test]
fn every_scheduler_sees_histories_of_tasks() {
    let mut random = Random::new(11);
    let (mut programs, mut seen, mut there) = (0, 0, 0);
    for _ in 0..pick(4, 100) {
        let matrix = random_program(&mut random);
        for model in MemoryModel::ALL {
            let (all, _, coverage) = histories(&matrix, model, &mut *exhaustive(), EXECUTIONS_MAX);
            if coverage != Coverage::Exhausted {
                continue;
            }
            programs += 1;
            for entry in SCHEDULERS.iter() {
                let settings = SchedulerSettings { seed: 3, executions: 60, ..SchedulerSettings::default() };
                let mut scheduler = (entry.make)(&settings);
                let (found, ..) = histories(&matrix, model, &mut *scheduler, 10_000);
                assert!(found.is_subset(&all), "{} of {matrix:?} with seed 11", entry.name);
                (seen, there) = (seen + found.len(), there + all.len());
            }
        }
    }
    assert!(pick(3, 80) < programs, "{programs} programs");
    assert!(there / 2 < seen && seen < there, "{seen} of {there} histories");
}
