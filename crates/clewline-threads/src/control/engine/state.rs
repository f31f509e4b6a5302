//! The state of an execution: its engine, its tasks, and the handle that tasks have to it.

use std::{
    any::Any,
    cell::Cell,
    ops::Range,
    ptr::{self, NonNull},
    sync::{Arc, atomic::AtomicBool},
};

use clewline_explore::{Ending, FastPath, Pick, SharedId, Step, TaskId, TaskSet};

use super::{
    buffers::WeakMemory,
    replay::Replay,
    types::{ExecutionLimit, Holder, Limits, Moment, Need, Unended, WakeCondition},
    values::Locals,
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
        repeat::Repetition,
        spin::SpinDetector,
    },
    real::noise::NoiseHook,
};

pub(in crate::control) type Body = Box<dyn FnOnce()>;

pub(super) struct Task {
    pub(super) pending: Step,
    pub(super) place: Place,
    pub(super) need: Need,
    pub(super) until: WakeCondition,
    pub(super) is_woken: bool,
    /// The next access is the first of an operation.
    pub(super) calls: bool,
    pub(super) operation: u32,
    /// The task has yielded.
    pub(super) yields: bool,
    /// How many times it timed out in this operation.
    pub(super) timeouts: u32,
    /// How many times it was interrupted in this operation although it could go on.
    pub(super) interruptions: u32,
    /// Its last hint was not followed by an access.
    pub(super) is_idle: bool,
    /// The objects read by its waiting loop, if it waits for one of them to change.
    pub(super) spins: Option<Vec<SharedId>>,
    pub(super) rounds: SpinDetector,
    /// Tasks that must end before it begins.
    pub(super) after: TaskSet,
    pub(super) seat: Seat,
    /// It was unwinding when it was last suspended.
    pub(super) is_panicking: bool,
    /// It has panicked while another task was unwinding, and may have caught the panic since.
    pub(super) has_panicked: bool,
    /// How many more times it may wake spuriously.
    pub(super) spurious: u32,
    pub(super) locals: Locals,
    /// The data that the primitives attach to it.
    pub(super) task_data: Option<Arc<dyn Any + Send + Sync>>,
}

/// When an operation was called and when it returned, in steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::control) struct Times {
    /// The step of its call, from 1; 0 if it was not called.
    pub(in crate::control) call: u32,
    /// The step of its return; 0 if it has not returned.
    pub(in crate::control) ret: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// No task: the execution has ended.
    None,
    Task(TaskId),
    /// New tasks must run to their first point.
    Start,
}

pub(crate) struct Engine {
    // Used only during the call of `run` that borrows it.
    pub(super) scheduler: Option<NonNull<dyn FastPath>>,
    pub(super) limits: Limits,
    #[allow(clippy::vec_box, reason = "a task is large, and goes from one list to the other")]
    pub(super) tasks: Vec<Box<Task>>,
    /// The fiber of each task until it has ended. The capacity is reserved for the maximum number
    /// of tasks, so fibers do not move.
    pub(super) fibers: Vec<Option<Fiber>>,
    pub(super) root: Root,
    /// The tasks that have reached their first point.
    pub(super) started: TaskSet,
    pub(super) ended: TaskSet,
    /// The tasks that have a need or a wait condition.
    pub(super) waiting: TaskSet,
    pub(super) current: TaskId,
    pub(super) next: Next,
    /// The current step. Its task is the running one.
    pub(super) step: Option<Step>,
    pub(super) steps: u32,
    /// The fast path applies until this number of steps, if no thread panics; 0 if it does not
    /// apply.
    pub(super) fast_path_until_step: u32,
    pub(super) is_free: bool,
    /// The scheduler ended the execution.
    pub(super) is_stopped: bool,
    pub(super) ending: Option<Ending>,
    pub(super) objects: Objects,
    pub(super) fairness: Fairness,
    /// The tasks that could move but yield to others.
    pub(super) held_back: TaskSet,
    pub(super) spinning: TaskSet,
    pub(super) idle_rounds: u32,
    /// How many changes there have been.
    pub(super) changes: u64,
    /// The tasks that have arrived at a point since the scheduler was last asked in this execution.
    pub(super) newly_arrived: TaskSet,
    /// The tasks whose blocking has not been reported to the scheduler yet.
    pub(super) newly_blocked: TaskSet,
    pub(super) blocked: Vec<Step>,
    /// The pending accesses of the tasks in `listed_tasks`; those of `stale_tasks` are outdated.
    pub(super) enabled: Vec<Step>,
    pub(super) listed_tasks: TaskSet,
    pub(super) stale_tasks: TaskSet,
    /// The index in `enabled` of each listed task.
    pub(super) enabled_index: [u8; TaskId::MAX],
    pub(super) times: Vec<Times>,
    pub(super) panic: Option<(TaskId, Panic)>,
    /// Panics of tasks that were started by others, and whether each has not been joined.
    pub(super) unjoined: Vec<((TaskId, Panic), Arc<AtomicBool>)>,
    /// Releasing a lock is a point: a task tries locks without waiting.
    pub(super) has_release_points: bool,
    pub(super) schedule: Vec<Pick>,
    /// The schedule is returned.
    pub(super) keeps_schedule: bool,
    pub(super) repetition: Repetition,
    /// The round to run again, if this is a replica.
    pub(super) replay: Option<Box<Replay>>,
    /// No task runs: the next one is chosen outside of all of them.
    pub(super) is_driving: bool,
    /// Where the first execution was cut that was too long.
    pub(super) unended: Option<Unended>,
    pub(super) moments: Option<Vec<Moment>>,
    /// By task, the place of its access that reports show, if steps are recorded: in foreign code,
    /// that of the caller of a library function.
    pub(super) shown_places: Vec<Place>,
    /// The locks that are held, if steps are recorded.
    pub(super) holds: Vec<(SharedId, Holder)>,
    /// Tasks of earlier executions, for reuse.
    #[allow(clippy::vec_box, reason = "a task is large, and goes from one list to the other")]
    pub(super) spare: Vec<Box<Task>>,
    /// Lives as long as the engine, not one execution: other threads read what it writes at every
    /// access.
    pub(super) _noise_hook: NoiseHook,
    pub(super) limit: Option<ExecutionLimit>,
    /// A loop that was classified as waiting although it may be counting.
    pub(super) possible_counter_loop: Option<Place>,
    /// Unique among the executions of this process.
    pub(super) execution: u64,
    /// Tasks are being unwound.
    pub(super) is_ending: bool,
    /// A task is being unwound right now.
    pub(super) is_unwinding: bool,
    /// The accesses of that task since it last yielded.
    pub(super) accesses_since_yield: u32,
    /// How many times it has caught the abandonment payload.
    pub(super) catches: u32,
    /// The memory state of atomics, if the values alone are not enough.
    pub(super) memory: Option<Box<MemoryState>>,
    pub(super) weak: WeakMemory,
    /// The scheduler explores execution graphs.
    pub(super) is_graph: bool,
    /// Notified of events if tasks run foreign code. Such tasks are never unwound.
    pub(super) foreign: Option<&'static dyn Foreign>,
}

/// The handle of the primitives of [`sync`](crate::sync) to their execution.
#[derive(Clone, Copy, Debug)]
pub struct Control(pub(super) NonNull<Engine>);

/// Receives events of tasks that run foreign code.
pub trait Foreign {
    /// `task` has this stack, from its lowest address to its highest.
    fn stack(&self, task: TaskId, stack: Range<usize>);

    /// An execution begins: restores the initial state. `is_shown`: the steps of the execution are
    /// recorded.
    fn begin(&self, is_shown: bool);

    /// `task` continues on its own stack. If another task ran until now, there was no
    /// [`leave`](Self::leave) call for it.
    fn enter(&self, task: TaskId, control: Control);

    /// The task has stopped, temporarily or permanently, and no task continues right after it.
    fn leave(&self, task: TaskId);

    /// The place that reports show for an access of the running task at `place`: that of the code
    /// under test which called a library function.
    fn shown_place(&self, place: Place) -> Place {
        place
    }

    /// Runs `code`, which is not code under test, whatever it calls.
    fn as_runtime(&self, code: &mut dyn FnMut());

    /// The number of writes of the running task outside of its stack.
    fn write_count(&self) -> u64;

    /// Adds the memory that this library writes while tasks run: it is no state of the code under
    /// test.
    fn own_memory(&self, to: &mut Vec<Range<usize>>);

    /// An execution has ended. Returns the failure found in the final state, if any.
    fn end(&self, ending: &Ending) -> Option<Panic>;
}

explorer_local! {
    // The engine whose tasks run on this thread.
    pub(super) static ENGINE: Cell<*mut Engine> = const { Cell::new(ptr::null_mut()) };
    // The engine whose tasks are being unwound on this thread.
    pub(super) static ENDING: Cell<*mut Engine> = const { Cell::new(ptr::null_mut()) };
}
