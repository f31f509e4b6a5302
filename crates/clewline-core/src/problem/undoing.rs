//! The execution of a specification that can be undone.

use super::{
    automaton::{StepOutcome, UndoableExecution},
    labels::Labels,
    pair::SpecAndHistory,
    retain::Retained,
};
use crate::{
    id::{LabelId, OperationId},
    specification::Specification,
    undo::{StepInPlace, Undo},
};

/// One state, and what undoes the steps that led to it.
pub(super) struct StateInPlace<'p, S: Specification> {
    specification: &'p S,
    labels: Labels<'p, S>,
    state: S::State,
    // Each with its approximate size in bytes.
    undos: Vec<(Undo<S::State>, usize)>,
    undo_bytes: usize,
    work: u64,
}

// The work of a step besides copying a state.
const STEP_WORK: u64 = 256;
// Of a function that undoes a step, on the heap.
const CHANGE_BYTES: usize = 48;

impl<'p, S: Specification> StateInPlace<'p, S> {
    /// In the state `start`, for `operations`, with what is retained of each.
    pub(super) fn new(
        pair: &'p SpecAndHistory<'_, S>,
        start: S::State,
        operations: impl ExactSizeIterator<Item = (OperationId, Retained)>,
    ) -> Self {
        StateInPlace {
            specification: pair.specification,
            labels: Labels::new(pair, operations),
            state: start,
            undos: Vec::new(),
            undo_bytes: 0,
            work: 0,
        }
    }
}

impl<S: Specification> UndoableExecution for StateInPlace<'_, S> {
    fn labels(&self) -> &[LabelId] {
        &self.labels.of_operations
    }

    fn is_read(&self, label: LabelId) -> bool {
        self.labels.reads[label.index()]
    }

    fn advance(&mut self, label: LabelId, nth: u32) -> Option<StepOutcome> {
        let (call, ret, known) = self.labels.meanings[label.index()];
        self.work += STEP_WORK;
        let step = self.specification.step_in_place(&mut self.state, call, ret, nth as usize);
        let StepInPlace { undo, has_more } = match (step, known) {
            // After all others comes the outcome that it did not take effect.
            (Some(step), Retained::Optional) => StepInPlace { has_more: true, ..step },
            (None, Retained::Optional) => StepInPlace { undo: Undo::Nothing, has_more: false },
            (step, Retained::All | Retained::CallOnly) => step?,
        };
        let (changes, bytes) = match &undo {
            Undo::Nothing => (false, 0),
            Undo::State(before) => (*before != self.state, self.specification.state_bytes(before)),
            Undo::Change(_) => (true, CHANGE_BYTES),
        };
        self.work += bytes as u64;
        self.undo_bytes += bytes;
        self.undos.push((undo, bytes));
        Some(StepOutcome { changes, has_more })
    }

    fn undo(&mut self) {
        let (undo, bytes) = self.undos.pop().expect("a step that is not undone");
        self.undo_bytes -= bytes;
        undo.apply(&mut self.state);
    }

    fn bytes(&self) -> usize {
        let undos = self.undos.capacity() * size_of::<(Undo<S::State>, usize)>();
        self.specification.state_bytes(&self.state) + self.undo_bytes + undos
    }

    fn work(&self) -> u64 {
        self.work
    }
}
