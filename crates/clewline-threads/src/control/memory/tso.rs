//! Total store order: stores wait in a FIFO buffer of their task.
//!
//! A load returns the newest store of its own task's buffer, otherwise the value in memory. A
//! flush, by which a store leaves its buffer, is a separate step. An atomic update, a sequentially
//! consistent store or fence, and every lock operation wait until the task's own buffer is empty.
//!
//! Source: P. Sewell et al., "x86-TSO: a rigorous and usable programmer's model for x86
//! multiprocessors", 2010.

use clewline_explore::{SharedId, TaskId};

use super::{AtomicAccess, MemoryState, Message, origin::Missed};

impl MemoryState {
    /// The object of the oldest store in the buffer of `task`.
    pub(in crate::control) fn first_buffered(&self, task: TaskId) -> Option<SharedId> {
        self.tasks.get(task.index())?.buffer.0.front().map(|it| it.0)
    }

    /// That store reaches memory. Returns the object and its new value if the atomic itself must be
    /// written.
    pub(in crate::control) fn flush(&mut self, task: TaskId) -> Option<(SharedId, u64)> {
        let (object, value, view, origin) = self.tasks[task.index()].buffer.0.pop_front()?;
        let location = &mut self.locations[object.0 as usize];
        location.messages.clear();
        location.messages.push(Message { stamp: 0, value, view, is_followed: false, origin });
        // The atomic holds the latest store of any task. That is wrong only if it is not
        // overwritten after all.
        let is_last = !self.tasks.iter().any(|it| it.buffer.newest(object).is_some());
        let location = &mut self.locations[object.0 as usize];
        let must_write = is_last && location.held != value;
        if must_write {
            location.held = value;
        }
        must_write.then_some((object, value))
    }

    /// The newest store to the object that waits in the buffer of another task.
    pub(super) fn buffered_elsewhere(&self, by: AtomicAccess) -> Option<Missed> {
        let others = self.tasks.iter().enumerate().filter(|it| it.0 != by.task.index());
        let newest = others.filter_map(|it| it.1.buffer.newest(by.object)).max_by_key(|it| it.1.number);
        newest.map(|(value, origin)| Missed { value, origin, is_buffered: true })
    }

    /// The object is dropped, or the caller has exclusive access: discards its buffered stores.
    /// Returns the last of them.
    pub(in crate::control) fn forget_buffered(&mut self, object: SharedId) -> Option<u64> {
        let mut last = None;
        for task in &mut self.tasks {
            last = task.buffer.newest(object).map(|it| it.0).or(last);
            task.buffer.0.retain(|it| it.0 != object);
        }
        last
    }
}
