//! The engine's state for weak memory models.

use clewline_explore::{Access, PerTask, SharedId, Step, TaskId, TaskSet};

use crate::control::{memory::Memory, place::Place, races::DataRace, view::HappensBefore};

/// Writes a value into the atomic at the given address.
pub(crate) type WriteBack = unsafe fn(*const (), u64);

/// What a task has read last from an atomic.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastRead {
    pub(super) task: TaskId,
    /// As schedulers see it: of foreign code, the word that contains it.
    pub(super) object: SharedId,
    pub(super) atomic: SharedId,
    /// A number that other values hardly have.
    pub(super) value: u32,
    /// How many values the task had read.
    pub(super) time: u32,
}

/// The engine's state for weak memory models.
#[derive(Debug, Default)]
pub(super) struct WeakMemory {
    pub(super) settings: Memory,
    /// Tasks that represent store buffers which have been used.
    pub(super) buffers: TaskSet,
    /// The scheduler knows what depends on a store buffer.
    pub(super) reduces: bool,
    /// Store buffers do not only change by stores and flushes: each step is ordered with all
    /// others.
    pub(super) is_irregular: bool,
    /// The task that ran before buffers were flushed: switching to any other task is a preemption.
    pub(super) runner: Option<TaskId>,
    // The store buffer of each task.
    pub(super) buffer_of: PerTask<Option<TaskId>>,
    pub(super) owner_of: PerTask<Option<TaskId>>,
    // By object: its address and how to write to it.
    pub(super) write_back: Vec<Option<(*const (), WriteBack)>>,
    // The lock that this step acquires has been acquired.
    pub(super) has_acquired: bool,
    // The lock that is released was held shared.
    pub(super) is_shared_release: bool,
    // Where `compare_exchange_weak` failed spuriously, and in which operation.
    pub(super) spurious_failures: Vec<(TaskId, u32, Place)>,
    pub(super) race: Option<DataRace>,
    // Of each operation, if happens-before determines which precede which.
    pub(super) orders: Vec<HappensBefore>,
    // If execution graphs are explored.
    pub(super) last_read: Vec<LastRead>,
    // How many values each task has read, and how many accesses a round of its loop has.
    pub(super) reads: PerTask<u32>,
    pub(super) round_accesses: PerTask<u32>,
    // The same for objects other than atomics: how many times the object had changed.
    pub(super) last_version: Vec<(TaskId, SharedId, u32)>,
    /// If a task has failed: how long the schedule was, and the number of steps.
    pub(super) failed_at: (usize, u32),
    /// The task that has started others.
    pub(super) starts_others: Option<TaskId>,
    /// Some task observes reference counts.
    pub(super) counts_matter: bool,
}

impl WeakMemory {
    pub(super) fn clear(&mut self) {
        // Every execution begins here, and most have none of this: it is not made anew and moved.
        let WeakMemory {
            settings: _,
            buffers,
            reduces: _,
            is_irregular: _,
            runner,
            buffer_of,
            owner_of,
            write_back,
            has_acquired,
            is_shared_release: _,
            spurious_failures,
            race,
            orders,
            last_read,
            reads,
            round_accesses: _,
            last_version,
            failed_at: _,
            starts_others,
            counts_matter: _,
        } = self;
        if buffer_of[0].is_some() || !buffers.is_empty() {
            (*buffer_of, *owner_of) = Default::default();
        }
        (*buffers, *runner) = (TaskSet::EMPTY, None);
        (*has_acquired, *race, *starts_others) = (false, None, None);
        write_back.clear();
        spurious_failures.clear();
        orders.clear();
        if !last_read.is_empty() {
            last_read.clear();
            *reads = PerTask::default();
        }
        last_version.clear();
    }
    /// The tasks after which `step` of `me` comes. Every access except a plain load or store waits
    /// until the task's own store buffer is empty.
    pub(super) fn with_buffers(&self, me: TaskId, step: &Step) -> TaskSet {
        let goes_on = matches!(
            step.access,
            Access::Local
                | Access::Read
                | Access::Write
                | Access::Buffer
                | Access::Yield
                | Access::Flush
                | Access::Join
        );
        let own = if goes_on { None } else { self.buffer_of[me.index()] };
        own.into_iter().fold(self.with_buffers_of(step.after), |all, it| all.union(TaskSet::only(it)))
    }

    /// `tasks`, and their store buffers.
    pub(super) fn with_buffers_of(&self, tasks: TaskSet) -> TaskSet {
        tasks.iter().filter_map(|it| self.buffer_of[it.index()]).fold(tasks, |mut all, it| {
            all.insert(it);
            all
        })
    }
}
