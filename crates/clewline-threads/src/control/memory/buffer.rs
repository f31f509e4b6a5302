//! The store buffer of one task.

use std::collections::VecDeque;

use clewline_explore::SharedId;

use super::{super::view::View, origin::Origin};

/// The stores of one task that other tasks cannot see yet.
#[derive(Debug, Default)]
pub(super) struct Buffer(pub(super) VecDeque<(SharedId, u64, View, Origin)>);

impl Buffer {
    pub(super) fn push(&mut self, object: SharedId, value: u64, view: View, origin: Origin) {
        self.0.push_back((object, value, view, origin));
    }

    /// The last store to `object` in the buffer.
    pub(super) fn newest(&self, object: SharedId) -> Option<(u64, Origin)> {
        self.0.iter().rev().find(|it| it.0 == object).map(|it| (it.1, it.3))
    }
}
