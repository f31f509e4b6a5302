//! Total store order: stores wait in a buffer of their task, first in, first out.
//!
//! A load takes the newest store of the own buffer, or else what is in memory. That a store leaves its buffer is a step of its own. An
//! atomic update, a sequentially consistent store or fence, and whatever locks do waits until the own buffer is empty.
//!
//! Source: P. Sewell et al., "x86-TSO: a rigorous and usable programmer's model for x86 multiprocessors", 2010.

use clewline_explore::{SharedId, TaskId};

use super::{Message, MemoryState};

impl MemoryState {
    /// Where the oldest store goes that waits in the buffer of `task`.
    pub(in crate::control) fn first_buffered(&self, task: TaskId) -> Option<SharedId> {
        self.tasks.get(task.index())?.buffer.0.front().map(|it| it.0)
    }

    /// That store reaches memory. Answers the object and its new value, if the atomic itself has to be told.
    pub(in crate::control) fn flush(&mut self, task: TaskId) -> Option<(SharedId, u64)> {
        let (object, value, view) = self.tasks[task.index()].buffer.0.pop_front()?;
        let location = &mut self.locations[object.0 as usize];
        location.messages.clear();
        location.messages.push(Message { stamp: 0, value, view, is_followed: false });
        // The atomic holds what was stored last, whoever did it. Only if it is not overwritten after all is that wrong.
        let is_last = !self.tasks.iter().any(|it| it.buffer.newest(object).is_some());
        let location = &mut self.locations[object.0 as usize];
        let must_tell = is_last && location.held != value;
        if must_tell {
            location.held = value;
        }
        must_tell.then_some((object, value))
    }

    /// The object is gone, or somebody has it for himself: no store waits for it. Answers the last one that did.
    pub(in crate::control) fn forget_buffered(&mut self, object: SharedId) -> Option<u64> {
        let mut last = None;
        for task in &mut self.tasks {
            last = task.buffer.newest(object).or(last);
            task.buffer.0.retain(|it| it.0 != object);
        }
        last
    }
}
