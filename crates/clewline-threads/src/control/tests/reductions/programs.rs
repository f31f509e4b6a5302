//! Random programs of many kinds, and their histories.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    ops::ControlFlow,
    rc::Rc,
    sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release},
    time::Duration,
};

use clewline_core::Random;
use clewline_explore::{Access, Coverage, Ending, Limit, Scheduler, TaskId, explore};

use super::super::*;
use crate::{
    sync::{Barrier, Condvar, Once, RwLock, atomic::fence, mpsc},
    thread,
};

/// The actions of a random operation, in sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Action {
    Load(usize),
    Store(usize, usize),
    Add(usize),
    Fence,
    /// Adds in a compare-and-swap loop.
    Cas(usize),
    Lock(usize, Vec<Action>),
    TryLock(usize, Vec<Action>),
    /// A spin lock, with a hint or without.
    SpinLock(usize, bool, Vec<Action>),
    Read(Vec<Action>),
    Write(Vec<Action>),
    TryRead(Vec<Action>),
    TryWrite(Vec<Action>),
    Choose(usize),
    PanicIf(usize),
    SpinUntil(usize, bool),
    /// Yields until the cell is not 0.
    YieldUntil(usize),
    /// Yields, and writes in every round.
    WriteUntil(usize),
    Yield,
    Hint,
    /// Channels that are only counts.
    Take(usize),
    TakeOrLate(usize),
    /// In a loop, until the cell is not 0.
    LateUntil(usize),
    Put(usize),
    /// Sleepers that are only tasks.
    Sleep,
    SleepOrLate,
    Wake,
    Wait(usize),
    WaitOrLate(usize),
    /// Waits for a condition.
    WaitUntil(usize),
    /// Sets it and notifies one, or all.
    Notify(usize, bool),
    Park,
    ParkOrLate,
    Unpark(usize),
    Send,
    Receive,
    ReceiveOrLate,
    TryReceive,
    Once(Vec<Action>),
    Barrier,
    /// A task that is not joined, or that is.
    Start(Vec<Action>, bool),
    Spawn(Vec<Action>, bool),
}

use Action::*;

/// The objects that actions access.
pub(in super::super) struct Objects {
    cells: [AtomicUsize; 3],
    locks: [Mutex<()>; 2],
    shared: RwLock<()>,
    condition: Condvar,
    once: Once,
    barrier: Barrier,
    sender: mpsc::SyncSender<usize>,
    receiver: mpsc::Receiver<usize>,
    // Counted by their levels.
    channels: [u8; 2],
    sleepers: RefCell<Vec<TaskId>>,
    joins: u8,
    // Of the columns. They are known before any task makes a step.
    threads: RefCell<Vec<(usize, thread::Thread)>>,
}

impl Objects {
    fn new() -> Self {
        let (sender, receiver) = mpsc::sync_channel(1);
        Objects {
            cells: Default::default(),
            locks: Default::default(),
            shared: RwLock::new(()),
            condition: Condvar::new(),
            once: Once::new(),
            barrier: Barrier::new(2),
            sender,
            receiver,
            channels: [0; 2],
            sleepers: RefCell::default(),
            joins: 0,
            threads: RefCell::default(),
        }
    }
}

const LONG: Duration = Duration::from_secs(1_000);

// Moves a value to a thread although its type may not allow it.
struct AssertSend<T>(T);

// SAFETY: all tasks of an exploration run on the exploring thread.
unsafe impl<T> std::marker::Send for AssertSend<T> {}

impl<T> AssertSend<T> {
    fn get(self) -> T {
        self.0
    }
}

fn act(objects: &Rc<Objects>, actions: &[Action]) -> usize {
    let mut result = 1;
    for action in actions {
        result = result * 31 + act_once(objects, action);
    }
    result
}

fn act_once(objects: &Rc<Objects>, action: &Action) -> usize {
    let inside = |inner: &[Action]| act(objects, inner);
    match action {
        Load(at) => objects.cells[*at].load([Relaxed, Acquire, SeqCst][*at]),
        Store(at, value) => {
            objects.cells[*at].store(*value, [Relaxed, Release, SeqCst][*value % 3]);
            0
        }
        Add(at) => objects.cells[*at].fetch_add(1, [Relaxed, AcqRel, SeqCst][*at]),
        Fence => {
            fence(SeqCst);
            0
        }
        Cas(at) => {
            let mut old = objects.cells[*at].load(SeqCst);
            while let Err(now) = objects.cells[*at].compare_exchange(old, old + 1, SeqCst, SeqCst) {
                old = now;
            }
            old
        }
        Lock(at, inner) => {
            let _guard = objects.locks[*at].lock();
            inside(inner)
        }
        TryLock(at, inner) => objects.locks[*at].try_lock().map_or(7, |_guard| inside(inner)),
        SpinLock(at, hint, inner) => {
            while objects.cells[*at].swap(1, SeqCst) != 0 {
                if *hint {
                    spin_loop();
                }
            }
            let result = inside(inner);
            objects.cells[*at].store(0, SeqCst);
            result
        }
        Read(inner) => {
            let _guard = objects.shared.read();
            inside(inner)
        }
        Write(inner) => {
            let _guard = objects.shared.write();
            inside(inner)
        }
        TryRead(inner) => objects.shared.try_read().map_or(7, |_guard| inside(inner)),
        TryWrite(inner) => objects.shared.try_write().map_or(7, |_guard| inside(inner)),
        Choose(n) => crate::choose(*n),
        PanicIf(at) => {
            assert!(objects.cells[*at].load(SeqCst) == 0, "as it may");
            0
        }
        Once(inner) => {
            let result = Cell::new(7);
            objects.once.call_once(|| result.set(inside(inner)));
            result.get()
        }
        Barrier => usize::from(objects.barrier.wait().is_leader()),
        Start(inner, joins) => start(objects, inner, *joins),
        Spawn(inner, joins) => spawn(objects, inner, *joins),
        other => wait_or_wake(objects, other),
    }
}

fn start(objects: &Rc<Objects>, inner: &[Action], joins: bool) -> usize {
    let control = control().unwrap();
    let (shared, inner) = (Rc::clone(objects), inner.to_vec());
    let result = Rc::new(Cell::new(0));
    let place = Rc::clone(&result);
    let task = control.spawn(Box::new(move || place.set(act(&shared, &inner))));
    if !joins {
        return 0;
    }
    control.attempt(&objects.joins, Attempt::new(Access::Join).after(task));
    result.get()
}

fn spawn(objects: &Rc<Objects>, inner: &[Action], joins: bool) -> usize {
    let carried = AssertSend((Rc::clone(objects), inner.to_vec()));
    let spawned = thread::spawn(move || {
        let (objects, inner) = carried.get();
        act(&objects, &inner)
    });
    if joins { spawned.join().unwrap_or(7) } else { 0 }
}

fn wait_or_wake(objects: &Rc<Objects>, action: &Action) -> usize {
    let control = control().unwrap();
    let load = |at: &usize| objects.cells[*at].load(SeqCst);
    match action {
        SpinUntil(at, hint) => {
            while load(at) == 0 {
                if *hint {
                    spin_loop();
                }
            }
        }
        YieldUntil(at) => {
            while load(at) == 0 {
                thread::yield_now();
            }
        }
        WriteUntil(at) => {
            while load(at) == 0 {
                objects.cells[(at + 1) % 3].fetch_add(1, SeqCst);
                thread::yield_now();
            }
        }
        Yield => thread::yield_now(),
        Hint => spin_loop(),
        Take(at) => {
            let channel = &objects.channels[*at];
            control.attempt(channel, Attempt::new(Access::Receive).needing(Need::AtLeast(1)));
            control.set_level(channel, control.level(channel) - 1);
        }
        TakeOrLate(at) => return take_or_late(objects, *at),
        LateUntil(at) => {
            while load(at) == 0 {
                take_or_late(objects, 0);
            }
        }
        Put(at) => {
            let channel = &objects.channels[*at];
            control.access(channel, Access::Send);
            control.set_level(channel, control.level(channel) + 1);
        }
        Sleep | SleepOrLate => {
            control.access(&objects.sleepers, Access::Wait);
            objects.sleepers.borrow_mut().push(control.me());
            let until = if *action == Sleep { WakeCondition::Woken } else { WakeCondition::WokenOrTimeout };
            let is_woken = control.attempt(&objects.sleepers, Attempt::new(Access::Wait).until(until));
            objects.sleepers.borrow_mut().retain(|it| *it != control.me());
            return usize::from(is_woken);
        }
        Wake => {
            control.access(&objects.sleepers, Access::Notify);
            let first = objects.sleepers.borrow().first().copied();
            if let Some(first) = first {
                objects.sleepers.borrow_mut().remove(0);
                control.wake(first);
            }
        }
        Park => thread::park(),
        ParkOrLate => thread::park_timeout(LONG),
        Unpark(column) => {
            let thread = objects.threads.borrow().iter().find(|it| it.0 == *column).map(|it| it.1.clone());
            thread.inspect(thread::Thread::unpark);
        }
        other => return wait_or_send(objects, other),
    }
    0
}

fn take_or_late(objects: &Objects, at: usize) -> usize {
    let (control, channel) = (control().unwrap(), &objects.channels[at]);
    let take = Attempt::new(Access::Receive).needing(Need::AtLeast(1));
    let is_met = control.attempt(channel, take.until(WakeCondition::MetOrTimeout));
    control.set_level(channel, control.level(channel) - i32::from(is_met));
    usize::from(is_met)
}

fn wait_or_send(objects: &Objects, action: &Action) -> usize {
    let lock = || objects.locks[0].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    match action {
        Wait(_) => drop(objects.condition.wait(lock())),
        WaitOrLate(_) => {
            let waited = objects.condition.wait_timeout(lock(), LONG);
            return usize::from(waited.is_ok_and(|it| it.1.timed_out()));
        }
        WaitUntil(at) => {
            drop(objects.condition.wait_while(lock(), |()| objects.cells[*at].load(SeqCst) == 0));
        }
        Notify(at, all) => {
            {
                let _guard = lock();
                objects.cells[*at].store(1, SeqCst);
            }
            if *all { objects.condition.notify_all() } else { objects.condition.notify_one() }
        }
        Send => return usize::from(objects.sender.send(3).is_ok()),
        Receive => return objects.receiver.recv().unwrap_or(7),
        ReceiveOrLate => return objects.receiver.recv_timeout(LONG).unwrap_or(7),
        TryReceive => return objects.receiver.try_recv().unwrap_or(7),
        other => unreachable!("{other:?}"),
    }
    0
}

/// The other inputs that determine what a program does.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct World {
    pub(in super::super) model: MemoryModel,
    /// How many times each task may wake spuriously.
    pub(in super::super) spurious: u32,
}

/// The operations before, during, and after the concurrent part.
pub(in super::super) type Matrix = Calls<Vec<Action>>;

pub(in super::super) type History = (u8, Vec<(bool, Option<usize>, Vec<bool>)>);

/// The ending, and for each operation: whether it was called, its result, and which others it
/// precedes.
pub(in super::super) fn history(outcome: &ExecutionOutcome<usize>, ending: &Ending) -> History {
    let of = |it: &CallOutcome<usize>| {
        let after = outcome.operations.iter().map(|other| it.precedes(other)).collect();
        (it.call.is_some(), it.ret.as_ref().map(|it| it.1), after)
    };
    let ending = match ending {
        Ending::Full => 0,
        Ending::Stuck => 1,
        Ending::Panicked => 2,
        Ending::Cut => 3,
        other => panic!("{other:?}"),
    };
    (ending, outcome.operations.iter().map(of).collect())
}

pub(in super::super) fn program_of(
    matrix: &Matrix,
    world: World,
) -> ThreadProgram<Rc<Objects>, (Option<usize>, Vec<Action>), usize> {
    let with = |column: Option<usize>, it: &Vec<Action>| (column, it.clone());
    // `Unpark` counts from the first column that does something.
    let idle = matrix.columns.iter().take_while(|it| it.is_empty()).count();
    let calls = Calls {
        initial: matrix.initial.iter().map(|it| with(None, it)).collect(),
        columns: matrix
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| column.iter().map(|it| with(at.checked_sub(idle), it)).collect())
            .collect(),
        last: matrix.last.iter().map(|it| with(None, it)).collect(),
    };
    let limits = Limits { steps: 300, spurious: world.spurious };
    let call = |it: &Rc<Objects>, (column, actions): &(Option<usize>, Vec<Action>)| {
        let mut threads = it.threads.borrow_mut();
        if let Some(column) = column
            && threads.iter().all(|it| it.0 != *column)
        {
            threads.push((*column, thread::current()));
        }
        drop(threads);
        act(it, actions)
    };
    let memory = Memory { model: world.model, ..Memory::default() };
    ThreadProgram::new(calls, || Rc::new(Objects::new()), call, limits).with_memory(memory)
}

/// The canonical histories that `scheduler` sees, and the number of executions: `None` if they are
/// too many, or some too long.
pub(in super::super) fn histories_within(
    matrix: &Matrix,
    world: World,
    scheduler: &mut dyn Scheduler,
    most: u64,
) -> (BTreeSet<History>, Option<u64>) {
    let mut program = program_of(matrix, world);
    let mut seen = BTreeSet::new();
    let (coverage, executions) = explore(&mut program, scheduler, most, |program, ending, _| {
        seen.insert(history(&program.outcome(), ending));
        ControlFlow::Continue(())
    });
    match coverage {
        Coverage::Exhausted => (seen, Some(executions)),
        Coverage::Limited(Limit::Diverged(diverged)) => panic!("{matrix:?}: {diverged}"),
        Coverage::Limited(_) => (seen, None),
    }
}

const NONE: Vec<Action> = Vec::new();

/// Kinds of programs, and their actions.
pub(in super::super) const KINDS: &[(&str, &[Action])] = &[
    ("plain", PLAIN),
    ("updates", &[Load(0), Store(0, 0), Cas(0), Cas(0)]),
    ("locks", &[Load(0), Store(0, 0), Add(0), Lock(0, NONE), Lock(0, NONE)]),
    ("tries", &[Load(0), Store(0, 0), Lock(0, NONE), TryLock(0, NONE), TryLock(0, NONE)]),
    ("spin locks", &[Load(1), Store(0, 0), SpinLock(0, false, NONE), SpinLock(0, true, NONE)]),
    ("shared locks", &[Load(0), Store(0, 0), Read(NONE), Read(NONE), Write(NONE)]),
    ("tried shared locks", &[Load(0), Store(0, 0), Read(NONE), Write(NONE), TryRead(NONE), TryWrite(NONE)]),
    ("values", &[Load(0), Store(0, 0), Add(0), Choose(1)]),
    ("panics", &[Load(0), Store(0, 0), Add(0), Lock(0, NONE), PanicIf(0)]),
    ("spins", &[Load(0), Store(0, 0), Store(0, 0), SpinUntil(0, false)]),
    ("yields", &[Load(0), Store(0, 0), Store(0, 0), YieldUntil(0), Yield, Hint]),
    ("loops that write", &[Load(0), Store(0, 0), Store(0, 0), WriteUntil(0)]),
    ("counts", &[Load(0), Store(0, 0), Take(0), Take(0), Put(0), Put(0)]),
    ("late", &[Load(0), Store(0, 0), TakeOrLate(0), Take(0), Put(0), Put(0)]),
    ("late loops", &[Load(0), Store(0, 0), LateUntil(0), LateUntil(0), Put(0)]),
    ("sleepers", &[Load(0), Store(0, 0), Sleep, SleepOrLate, Wake, Wake]),
    ("conditions", &[Load(0), Store(0, 0), Wait(0), WaitUntil(0), Notify(0, false), Notify(0, true)]),
    ("late conditions", &[Load(0), WaitOrLate(0), Wait(0), Notify(0, false), Notify(0, true)]),
    ("tokens", &[Load(0), Store(0, 0), Park, Park, ParkOrLate, Unpark(0), Unpark(0), Unpark(0)]),
    ("channels", &[Load(0), Store(0, 0), Send, Send, Receive]),
    ("late channels", &[Load(0), Send, Send, Receive, ReceiveOrLate, TryReceive]),
    ("barriers", &[Load(0), Store(0, 0), Once(NONE), Barrier]),
    ("tasks", &[Load(0), Store(0, 0), Add(0), Start(NONE, false)]),
    ("threads", &[Load(0), Store(0, 0), Add(0), Spawn(NONE, false)]),
    ("locks and tasks", &[Load(0), Store(0, 0), Lock(0, NONE), Start(NONE, false)]),
    ("locks and threads", &[Load(0), Store(0, 0), Lock(0, NONE), Spawn(NONE, false), PanicIf(0)]),
    (
        "much",
        &[
            Load(0),
            Store(0, 0),
            Add(0),
            Lock(0, NONE),
            TryLock(0, NONE),
            Choose(1),
            PanicIf(0),
            Take(0),
            TakeOrLate(0),
            Put(0),
            Sleep,
            SleepOrLate,
            Wake,
            Start(NONE, false),
        ],
    ),
    (
        "all",
        &[
            Load(0),
            Store(0, 0),
            Cas(0),
            Lock(0, NONE),
            TryLock(0, NONE),
            SpinLock(0, false, NONE),
            Read(NONE),
            Write(NONE),
            TryRead(NONE),
            TryWrite(NONE),
            Choose(1),
            PanicIf(0),
            SpinUntil(0, false),
            YieldUntil(0),
            Yield,
            Hint,
            Wait(0),
            WaitOrLate(0),
            WaitUntil(0),
            Notify(0, false),
            Park,
            ParkOrLate,
            Unpark(0),
            Send,
            Receive,
            ReceiveOrLate,
            TryReceive,
            Once(NONE),
            Barrier,
            Spawn(NONE, false),
        ],
    ),
];

pub(super) const PLAIN: &[Action] = &[Load(0), Load(0), Store(0, 0), Store(0, 0), Add(0)];

/// Kinds in which a task may wake spuriously.
pub(super) const SPURIOUS_KINDS: &[(&str, &[Action])] = &[
    ("early conditions", &[Load(0), Store(0, 0), Wait(0), WaitUntil(0), Notify(0, false), Notify(0, true)]),
    ("early or late conditions", &[Load(0), WaitOrLate(0), Wait(0), Notify(0, false), Notify(0, true)]),
    ("early tokens", &[Load(0), Store(0, 0), Park, Park, ParkOrLate, Unpark(0), Unpark(0), Unpark(0)]),
];

/// The same for weaker memory models.
pub(in super::super) const WEAK_KINDS: &[(&str, &[Action])] = &[
    ("weak", PLAIN),
    ("weak updates", &[Load(0), Load(0), Store(0, 0), Store(0, 0), Add(0), Cas(0)]),
    ("weak fences", &[Load(0), Load(0), Store(0, 0), Store(0, 0), Fence]),
    ("weak locks", &[Load(0), Store(0, 0), Lock(0, NONE), TryLock(0, NONE)]),
    ("weak values", &[Load(0), Store(0, 0), Store(0, 0), Choose(1)]),
    ("weak spins", &[Load(0), Store(0, 0), Store(0, 0), SpinUntil(0, false), YieldUntil(0)]),
    ("weak channels", &[Load(0), Store(0, 0), Send, Receive, ReceiveOrLate]),
    ("weak tokens", &[Load(0), Store(0, 0), Park, ParkOrLate, Unpark(0), Unpark(0)]),
    ("weak conditions", &[Load(0), Store(0, 0), WaitUntil(0), WaitOrLate(0), Notify(0, true)]),
    ("weak shared locks", &[Load(0), Store(0, 0), Read(NONE), Write(NONE)]),
    ("weak barriers", &[Load(0), Store(0, 0), Store(0, 0), Barrier]),
    ("weak threads", &[Load(0), Store(0, 0), Spawn(NONE, false), Once(NONE)]),
    ("weak panics", &[Load(0), Store(0, 0), PanicIf(0), Spawn(NONE, false)]),
];

/// The kinds that `graph` explores.
pub(super) const GRAPH_KINDS: &[(&str, &[Action])] = &[
    ("graph", PLAIN),
    ("graph updates", &[Load(0), Load(0), Store(0, 0), Store(0, 0), Add(0), Cas(0)]),
    ("graph fences", &[Load(0), Load(0), Store(0, 0), Store(0, 0), Fence]),
    ("graph values", &[Load(0), Store(0, 0), Store(0, 0), Choose(1)]),
    ("graph yields", &[Load(0), Store(0, 0), Store(0, 0), Yield, Hint]),
];

/// A variant of `action`.
fn vary(random: &mut Random, action: &Action, kind: &[Action], depth: u32) -> Action {
    let (cell, lock, coin) = (random.below(3), random.below(2), random.below(2) == 0);
    let mut inner = || if depth == 0 { Vec::new() } else { random_actions(random, kind, 0, 2, depth - 1) };
    match action {
        Load(_) => Load(cell),
        Store(..) => Store(cell, 1 + random.below(90)),
        Add(_) => Add(cell),
        Cas(_) => Cas(lock),
        Lock(..) => Lock(lock, inner()),
        TryLock(..) => TryLock(lock, inner()),
        SpinLock(_, hint, _) => SpinLock(lock, *hint, inner()),
        Read(_) => Read(inner()),
        Write(_) => Write(inner()),
        TryRead(_) => TryRead(inner()),
        TryWrite(_) => TryWrite(inner()),
        Choose(_) => Choose(1 + random.below(3)),
        PanicIf(_) => PanicIf(cell),
        SpinUntil(..) => SpinUntil(cell, coin),
        YieldUntil(_) => YieldUntil(cell),
        WriteUntil(_) => WriteUntil(cell),
        Take(_) => Take(lock),
        TakeOrLate(_) => TakeOrLate(lock),
        LateUntil(_) => LateUntil(cell),
        Put(_) => Put(lock),
        WaitUntil(_) => WaitUntil(lock),
        Notify(_, all) => Notify(lock, *all),
        Unpark(_) => Unpark(cell),
        Once(_) => Once(inner()),
        Start(..) => Start(inner(), coin),
        Spawn(..) => Spawn(inner(), coin),
        Fence | Yield | Hint | Sleep | SleepOrLate | Wake | Wait(_) | WaitOrLate(_) | Park | ParkOrLate
        | Send | Receive | ReceiveOrLate | TryReceive | Barrier => action.clone(),
    }
}

fn random_actions(
    random: &mut Random,
    kind: &[Action],
    least: usize,
    most: usize,
    depth: u32,
) -> Vec<Action> {
    let n = least + random.below(most + 1 - least);
    (0..n)
        .map(|_| {
            let at = random.below(kind.len());
            vary(random, &kind[at], kind, depth)
        })
        .collect()
}

/// A program of this kind.
pub(in super::super) fn random_program(random: &mut Random, kind: &[Action]) -> Matrix {
    let tasks = 2 + random.below(2);
    let most = if tasks == 2 { 3 } else { 2 };
    let mut columns = Vec::new();
    for _ in 0..tasks {
        let n = 1 + random.below(2);
        columns.push(operations_of(random, kind, n, most));
    }
    let before = usize::from(random.below(6) == 0);
    let after = usize::from(random.below(6) == 0);
    Calls {
        initial: operations_of(random, kind, before, 1),
        columns,
        last: operations_of(random, kind, after, 1),
    }
}

fn operations_of(random: &mut Random, kind: &[Action], n: usize, most: usize) -> Vec<Vec<Action>> {
    // Sometimes an operation without accesses.
    let one = |random: &mut Random| {
        let depth = if random.below(4) == 0 { 2 } else { 1 };
        if random.below(8) == 0 { Vec::new() } else { random_actions(random, kind, 1, most, depth) }
    };
    (0..n).map(|_| one(random)).collect()
}

/// The actions for variants of programs.
const LIKE: &[Action] = &[
    Load(0),
    Store(0, 0),
    Lock(0, NONE),
    TryLock(0, NONE),
    Read(NONE),
    Write(NONE),
    Take(0),
    Put(0),
    TakeOrLate(0),
    Start(NONE, false),
];

/// A variant of `matrix`, with a few actions more or less, or its columns in another order.
pub(super) fn random_like(random: &mut Random, matrix: &Matrix) -> Matrix {
    let mut matrix = matrix.clone();
    for _ in 0..1 + random.below(3) {
        let (one, other) = (random.below(matrix.columns.len()), random.below(matrix.columns.len()));
        let column = &mut matrix.columns[one];
        match random.below(5) {
            0 => {
                let less = smaller(&matrix).into_iter().filter(|it| !it.columns.is_empty());
                let less: Vec<Matrix> = less.collect();
                if !less.is_empty() {
                    matrix = less[random.below(less.len())].clone();
                }
            }
            1 => matrix.columns.swap(one, other),
            2 if column.len() < 2 => column.push(Vec::new()),
            _ if column.is_empty() => (),
            _ => {
                let at = random.below(column.len());
                let action = random.below(LIKE.len());
                let action = vary(random, &LIKE[action], LIKE, 1);
                // Inside a lock, if there is one, or beside it.
                let actions = &mut column[at];
                let is_inside = random.below(2) == 0;
                let actions = match actions.iter().position(|it| matches!(it, Lock(..) | TryLock(..))) {
                    Some(at) if is_inside => match &mut actions[at] {
                        Lock(_, inner) | TryLock(_, inner) => inner,
                        other => unreachable!("{other:?}"),
                    },
                    Some(_) | None => actions,
                };
                actions.insert(random.below(actions.len() + 1), action);
            }
        }
    }
    matrix
}

/// All variants with one action less.
fn smaller_actions(actions: &[Action]) -> Vec<Vec<Action>> {
    let mut all = Vec::new();
    for at in 0..actions.len() {
        let (head, tail) = (&actions[..at], &actions[at + 1..]);
        let with = |middle: &[Action]| [head, middle, tail].concat();
        all.push(with(&[]));
        type Rebuild = Box<dyn Fn(Vec<Action>) -> Action>;
        let (inner, rebuild): (_, Rebuild) = match actions[at].clone() {
            Lock(lock, inner) => (inner, Box::new(move |it| Lock(lock, it))),
            TryLock(lock, inner) => (inner, Box::new(move |it| TryLock(lock, it))),
            SpinLock(lock, hint, inner) => (inner, Box::new(move |it| SpinLock(lock, hint, it))),
            Read(inner) => (inner, Box::new(Read)),
            Write(inner) => (inner, Box::new(Write)),
            TryRead(inner) => (inner, Box::new(TryRead)),
            TryWrite(inner) => (inner, Box::new(TryWrite)),
            Once(inner) => (inner, Box::new(Once)),
            Start(inner, joins) => (inner, Box::new(move |it| Start(it, joins))),
            Spawn(inner, joins) => (inner, Box::new(move |it| Spawn(it, joins))),
            _ => continue,
        };
        all.push(with(&inner));
        all.extend(smaller_actions(&inner).into_iter().map(|it| with(&[rebuild(it)])));
    }
    all
}

fn smaller_column(column: &[Vec<Action>]) -> Vec<Vec<Vec<Action>>> {
    let mut all = Vec::new();
    for at in 0..column.len() {
        let mut without = column.to_vec();
        without.remove(at);
        all.push(without);
        for actions in smaller_actions(&column[at]) {
            let mut with = column.to_vec();
            with[at] = actions;
            all.push(with);
        }
    }
    all
}

pub(super) fn smaller(matrix: &Matrix) -> Vec<Matrix> {
    let mut all = Vec::new();
    for task in 0..matrix.columns.len() {
        let mut without = matrix.clone();
        without.columns.remove(task);
        all.push(without);
        for column in smaller_column(&matrix.columns[task]) {
            let mut with = matrix.clone();
            with.columns[task] = column;
            all.push(with);
        }
    }
    all.extend(smaller_column(&matrix.initial).into_iter().map(|it| Calls { initial: it, ..matrix.clone() }));
    all.extend(smaller_column(&matrix.last).into_iter().map(|it| Calls { last: it, ..matrix.clone() }));
    all
}
