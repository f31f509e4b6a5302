//! What the engine remembers for memory models.

use clewline_explore::{TaskId, TaskSet};

use crate::control::{memory::Memory, place::Place, races::Race};

/// How a value is put into an atomic whose address is known.
pub(crate) type WriteBack = unsafe fn(*const (), u64);

/// What the engine remembers for memory models.
#[derive(Debug, Default)]
pub(super) struct WeakMemory {
    pub(super) settings: Memory,
    /// Tasks that are buffers.
    pub(super) buffers: TaskSet,
    /// Tasks that wait until their buffer is empty.
    pub(super) undrained: TaskSet,
    /// Who ran before buffers were emptied: to go on with anybody else is a preemption.
    pub(super) runner: Option<TaskId>,
    // The buffer of each task.
    pub(super) buffer_of: [Option<TaskId>; TaskId::MAX],
    pub(super) owner_of: [Option<TaskId>; TaskId::MAX],
    // By object: where it is.
    pub(super) write_back: Vec<Option<(*const (), WriteBack)>>,
    // The lock that this step was to take is taken.
    pub(super) has_acquired: bool,
    // Where `compare_exchange_weak` failed for no reason, and in which operation.
    pub(super) spurious_failures: Vec<(TaskId, u32, Place)>,
    pub(super) race: Option<Race>,
    /// Somebody looks at how many owners something has.
    pub(super) counts_matter: bool,
}

impl WeakMemory {
    pub(super) fn clear(&mut self) {
        *self = WeakMemory {
            settings: self.settings,
            counts_matter: self.counts_matter,
            write_back: std::mem::take(&mut self.write_back),
            spurious_failures: std::mem::take(&mut self.spurious_failures),
            ..WeakMemory::default()
        };
        self.write_back.clear();
        self.spurious_failures.clear();
    }
}
