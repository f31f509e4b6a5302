//! The state in which a depth-first search is.
//!
//! A graph search compares configurations, so its states are interned, each stored once. A tree
//! search compares none: it changes a single state in place, and changes it back, so that a step
//! takes as long in a large state as in a small one.

use clewline_core::{Automaton, LabelId, Problem, StateId, StepOutcome, Successor, UndoableExecution};

/// The present state, and the way back.
pub(super) enum PresentState<'p> {
    /// Of a graph search: the states of the path, the present one last.
    Interned(Box<dyn Automaton + 'p>, Vec<StateId>),
    /// Of a tree search.
    InPlace(Box<dyn UndoableExecution + 'p>),
}

impl<'p> PresentState<'p> {
    /// The state in which `problem` starts, interned.
    pub(super) fn interned(problem: &'p Problem<'_>) -> Self {
        let mut automaton = problem.automaton();
        let path = vec![automaton.initial()];
        PresentState::Interned(automaton, path)
    }

    /// The state in which `problem` starts, to be changed in place.
    pub(super) fn in_place(problem: &'p Problem<'_>) -> Self {
        PresentState::InPlace(problem.undoable())
    }

    /// The label of each operation.
    pub(super) fn labels(&self) -> &[LabelId] {
        match self {
            PresentState::Interned(automaton, _) => automaton.labels(),
            PresentState::InPlace(execution) => execution.labels(),
        }
    }

    /// Whether operations with this label leave every state unchanged.
    pub(super) fn is_read(&self, label: LabelId) -> bool {
        match self {
            PresentState::Interned(automaton, _) => automaton.is_read(label),
            PresentState::InPlace(execution) => execution.is_read(label),
        }
    }

    /// The number of the state, if states are interned.
    pub(super) fn id(&self) -> Option<StateId> {
        match self {
            PresentState::Interned(_, path) => path.last().copied(),
            PresentState::InPlace(_) => None,
        }
    }

    /// Makes the step to the `nth` state to which `label` leads; no step if there is none.
    pub(super) fn advance(&mut self, label: LabelId, nth: u32) -> Option<StepOutcome> {
        match self {
            PresentState::Interned(automaton, path) => {
                let (state, outcome) = successor(automaton, path, label, nth)?;
                path.push(state);
                Some(outcome)
            }
            PresentState::InPlace(execution) => execution.advance(label, nth),
        }
    }

    /// What the step to the first of these states would be.
    pub(super) fn probe(&mut self, label: LabelId) -> Option<StepOutcome> {
        match self {
            PresentState::Interned(automaton, path) => Some(successor(automaton, path, label, 0)?.1),
            PresentState::InPlace(execution) => {
                let outcome = execution.advance(label, 0)?;
                execution.undo();
                Some(outcome)
            }
        }
    }

    /// Undoes the last step.
    pub(super) fn undo(&mut self) {
        match self {
            PresentState::Interned(_, path) => drop(path.pop()),
            PresentState::InPlace(execution) => execution.undo(),
        }
    }

    /// Approximate size in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            PresentState::Interned(automaton, path) => {
                automaton.bytes() + path.capacity() * size_of::<StateId>()
            }
            PresentState::InPlace(execution) => execution.bytes(),
        }
    }

    /// How many bytes more the next step may take while a table grows.
    pub(super) fn growth(&self) -> usize {
        match self {
            PresentState::Interned(automaton, _) => automaton.growth(),
            PresentState::InPlace(_) => 0,
        }
    }

    /// A measure of the work done so far.
    pub(super) fn work(&self) -> u64 {
        match self {
            PresentState::Interned(automaton, _) => automaton.work(),
            PresentState::InPlace(execution) => execution.work(),
        }
    }
}

/// The step from the last state of a path.
fn successor<'p>(
    automaton: &mut Box<dyn Automaton + 'p>,
    path: &[StateId],
    label: LabelId,
    nth: u32,
) -> Option<(StateId, StepOutcome)> {
    let before = *path.last()?;
    let Successor { state, has_more } = automaton.step(before, label, nth)?;
    Some((state, StepOutcome { changes: state != before, has_more }))
}
