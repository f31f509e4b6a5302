//! The engine's state for weak memory models.

use clewline_explore::{TaskId, TaskSet};

use crate::control::{memory::Memory, place::Place, races::Race, view::HappensBefore};

/// Writes a value into the atomic at the given address.
pub(crate) type WriteBack = unsafe fn(*const (), u64);

/// The engine's state for weak memory models.
#[derive(Debug, Default)]
pub(super) struct WeakMemory {
    pub(super) settings: Memory,
    /// Tasks that represent store buffers.
    pub(super) buffers: TaskSet,
    /// Tasks that wait until their store buffer is empty.
    pub(super) undrained: TaskSet,
    /// The task that ran before buffers were flushed: switching to any other task is a preemption.
    pub(super) runner: Option<TaskId>,
    // The store buffer of each task.
    pub(super) buffer_of: [Option<TaskId>; TaskId::MAX],
    pub(super) owner_of: [Option<TaskId>; TaskId::MAX],
    // By object: its address and how to write to it.
    pub(super) write_back: Vec<Option<(*const (), WriteBack)>>,
    // The lock that this step acquires has been acquired.
    pub(super) has_acquired: bool,
    // Where `compare_exchange_weak` failed spuriously, and in which operation.
    pub(super) spurious_failures: Vec<(TaskId, u32, Place)>,
    pub(super) race: Option<Race>,
    // Of each operation, if happens-before determines which precede which.
    pub(super) orders: Vec<HappensBefore>,
    /// Some task observes reference counts.
    pub(super) counts_matter: bool,
}

impl WeakMemory {
    pub(super) fn clear(&mut self) {
        *self = WeakMemory {
            settings: self.settings,
            counts_matter: self.counts_matter,
            write_back: std::mem::take(&mut self.write_back),
            spurious_failures: std::mem::take(&mut self.spurious_failures),
            orders: std::mem::take(&mut self.orders),
            ..WeakMemory::default()
        };
        self.write_back.clear();
        self.spurious_failures.clear();
        self.orders.clear();
    }
}
