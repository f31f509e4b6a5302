//! The state of an execution: its engine, its tasks, and the handle that tasks have on it.

use std::{
    any::Any,
    cell::Cell,
    ops::Range,
    ptr::{self, NonNull},
};

use clewline_explore::{Ending, FastPath, Pick, SharedId, Step, TaskId, TaskSet};

use super::{
    buffers::WeakMemory,
    values::Locals,
    types::{Limit, Limits, Moment, Need, Until},
};
use crate::{
    control::{
        explorer::explorer_local,
        fair::Fairness,
        fiber::{Fiber, Root, Seat},
        memory::MemoryState,
        objects::Objects,
        panics::Panic,
        place::Place,
        spin::SpinDetector,
    },
    real::noise::NoiseHook,
};

pub(in crate::control) type Body = Box<dyn FnOnce()>;

pub(super) struct Task {
    pub(super) pending: Step,
    pub(super) place: Place,
    pub(super) need: Need,
    pub(super) until: Until,
    pub(super) is_woken: bool,
    /// The next access is the first of an operation.
    pub(super) calls: bool,
    pub(super) operation: u32,
    /// It said that it lets others run.
    pub(super) yields: bool,
    /// How often its time was up in this operation.
    pub(super) timeouts: u32,
    /// Its last hint was not followed by an access.
    pub(super) is_idle: bool,
    /// The objects of the loop that it runs round, if it waits for one of them to change.
    pub(super) spins: Option<Vec<SharedId>>,
    pub(super) rounds: SpinDetector,
    /// Tasks that must end before it begins.
    pub(super) after: TaskSet,
    pub(super) seat: Seat,
    /// It was unwinding when it last gave up its turn.
    pub(super) is_panicking: bool,
    /// It has panicked while another one was unwinding, and perhaps caught it since.
    pub(super) has_panicked: bool,
    /// How often it may still wake up though nobody woke it.
    pub(super) spurious: u32,
    pub(super) locals: Locals,
    /// What the primitives keep for it.
    pub(super) task_data: Option<std::sync::Arc<dyn Any + Send + Sync>>,
}

/// When operations were called and returned, in steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::control) struct Times {
    /// The step it was called with: from 1. 0 if it was not.
    pub(in crate::control) call: u32,
    /// The step it returned with. 0 if it has not.
    pub(in crate::control) ret: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nobody: the execution is over.
    None,
    Task(TaskId),
    /// Tasks were started that have not come to a point yet.
    Start,
}

pub(crate) struct Engine {
    // The life is that of the call to `run`, in which alone it is used.
    pub(super) scheduler: Option<NonNull<dyn FastPath>>,
    pub(super) limits: Limits,
    #[allow(clippy::vec_box, reason = "a task is large, and goes from one list to the other")]
    pub(super) tasks: Vec<Box<Task>>,
    /// What each of them runs in, until it has ended. There is room for as many as there may be, so they stay where they are.
    pub(super) fibers: Vec<Option<Fiber>>,
    pub(super) root: Root,
    /// Those who have come to their first point.
    pub(super) started: TaskSet,
    pub(super) ended: TaskSet,
    /// There is something that they need or wait for.
    pub(super) waiting: TaskSet,
    pub(super) current: TaskId,
    pub(super) next: Next,
    /// The step that is being made; its task is whoever runs.
    pub(super) step: Option<Step>,
    pub(super) steps: u32,
    /// Until so many steps were made nothing is unusual, if no thread panics; 0 if something may be.
    pub(super) fast_path_until_step: u32,
    pub(super) is_free: bool,
    /// The scheduler ended the execution.
    pub(super) is_stopped: bool,
    pub(super) ending: Option<Ending>,
    pub(super) objects: Objects,
    pub(super) fairness: Fairness,
    /// Those who could move, but let others go first.
    pub(super) held_back: TaskSet,
    pub(super) spinning: TaskSet,
    pub(super) idle_rounds: u32,
    /// Who has come to a point since the scheduler was last asked in this execution.
    pub(super) newly_arrived: TaskSet,
    /// Those of whom it has not heard yet that they wait, and what for.
    pub(super) newly_blocked: TaskSet,
    pub(super) blocked: Vec<Step>,
    /// What those in `listed` are about to do, but for those in `stale`, who have come to another point since.
    pub(super) enabled: Vec<Step>,
    pub(super) listed_tasks: TaskSet,
    pub(super) stale_tasks: TaskSet,
    /// Where in `enabled` each of `listed` is.
    pub(super) enabled_index: [u8; TaskId::MAX],
    pub(super) times: Vec<Times>,
    pub(super) panic: Option<(TaskId, Panic)>,
    /// Releases of locks are points as well: someone tries locks without waiting.
    pub(super) has_release_points: bool,
    pub(super) schedule: Option<Vec<Pick>>,
    pub(super) moments: Option<Vec<Moment>>,
    /// Those of earlier executions, to be used again.
    #[allow(clippy::vec_box, reason = "a task is large, and goes from one list to the other")]
    pub(super) spare: Vec<Box<Task>>,
    /// As long as there is an engine, and not for each execution: others read what it writes at every access.
    pub(super) _noise_hook: NoiseHook,
    pub(super) limit: Option<Limit>,
    /// A loop that was taken for one that waits, and may as well count.
    pub(super) possible_counter_loop: Option<Place>,
    /// No two executions of this process have the same.
    pub(super) execution: u64,
    /// Tasks are being unwound.
    pub(super) is_ending: bool,
    /// One of them is being so right now.
    pub(super) is_unwinding: bool,
    /// How many accesses it has made since it gave way.
    pub(super) accesses_since_yield: u32,
    /// How often it has caught what it was given up with.
    pub(super) catches: u32,
    /// What atomics are besides their values, if they are.
    pub(super) memory: Option<Box<MemoryState>>,
    pub(super) weak: WeakMemory,
    /// Who is told what happens, if tasks run foreign code. Such tasks are never unwound.
    pub(super) foreign: Option<&'static dyn Foreign>,
}

/// What the primitives of [`sync`](crate::sync) know of the execution they are in.
#[derive(Clone, Copy, Debug)]
pub struct Control(pub(super) NonNull<Engine>);

/// Who is told what happens to tasks that run foreign code.
pub trait Foreign {
    /// `task` has this stack, from its lowest address to its highest.
    fn stack(&self, task: TaskId, stack: Range<usize>);

    /// An execution begins: everything is to be as it was at first. Somebody will look at its steps if `is_shown`.
    fn begin(&self, is_shown: bool);

    /// `task` goes on, on its own stack. If another one has until now, nobody was told that it [stopped](Self::leave).
    fn enter(&self, task: TaskId, control: Control);

    /// It has stopped, for now or for good, and no task goes on right after it.
    fn leave(&self, task: TaskId);

    /// What the task that runs has in mind: `look` finds out what is in its registers and on its stack, and is not code under test,
    /// whatever it calls. What the task has written elsewhere counts as well.
    fn local_state_hash(&self, look: &dyn Fn() -> Option<u64>) -> Option<u64>;

    /// An execution has ended. Answers what is wrong with what is left, if anything is.
    fn end(&self, ending: &Ending) -> Option<Panic>;
}

explorer_local! {
    // Of the execution whose tasks run on this thread.
    pub(super) static ENGINE: Cell<*mut Engine> = const { Cell::new(ptr::null_mut()) };
    // Of the execution whose tasks are being unwound on this thread.
    pub(super) static ENDING: Cell<*mut Engine> = const { Cell::new(ptr::null_mut()) };
}
