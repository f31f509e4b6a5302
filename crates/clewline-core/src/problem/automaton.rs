//! The step function that searches see, and the replay that verifies.

use crate::{
    id::{LabelId, ResultId, StateId},
    shown::Shown,
};

/// A specification reduced to a step function on interned states and labels.
pub trait Automaton {
    /// The initial state.
    fn initial(&mut self) -> StateId;

    /// The label of each operation of the problem. Operations with equal labels differ only in
    /// their times.
    fn labels(&self) -> &[LabelId];

    /// Whether operations with this label leave every state unchanged.
    fn is_read(&self, label: LabelId) -> bool;

    /// The `nth` state, from 0, to which `label` can lead from `state`.
    fn step(&mut self, state: StateId, label: LabelId, nth: u32) -> Option<Successor>;

    /// Each result that a call like that of `label` can return in `state`, whatever the operation
    /// itself returned, with each state to which that leads. Empty if the call blocks. `None` if
    /// the specification does not list results.
    fn results(&mut self, state: StateId, label: LabelId) -> Option<Vec<PossibleResult>>;

    /// How a report writes an operation with the call of `label` and this result.
    fn show(&self, label: LabelId, result: ResultId) -> Shown;

    /// Approximate size in bytes of the states and cached steps.
    fn bytes(&self) -> usize;

    /// How many bytes more the next step may take while a table grows. Steps that are cached, and
    /// states, take less than a table has room for.
    fn growth(&self) -> usize;

    /// A measure of the work done so far, in bytes of states: copying a state takes its size.
    fn work(&self) -> u64;

    /// Removes every state except those in `path`, whose ids are updated in place.
    fn forget_all_but(&mut self, path: &mut [&mut StateId]);
}

/// An execution of the specification in a single state, which is changed in place, step by step and
/// back.
pub trait UndoableExecution {
    /// The label of each operation of the problem. Operations with equal labels differ only in
    /// their times.
    fn labels(&self) -> &[LabelId];

    /// Whether operations with this label leave every state unchanged.
    fn is_read(&self, label: LabelId) -> bool;

    /// Makes the step to the `nth` state, from 0, to which `label` can lead. Returns `None`, and
    /// makes no step, if there is no such state.
    fn advance(&mut self, label: LabelId, nth: u32) -> Option<StepOutcome>;

    /// Undoes the last step that is not undone.
    ///
    /// # Panics
    ///
    /// If there is none.
    fn undo(&mut self);

    /// Approximate size in bytes of the state and of what undoes the steps.
    fn bytes(&self) -> usize;

    /// A measure of the work done so far, in bytes of states: copying a state takes its size.
    fn work(&self) -> u64;
}

/// What is known of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOutcome {
    /// Whether the state after it may be another.
    pub changes: bool,
    /// Whether the step has further outcomes.
    pub has_more: bool,
}

/// One outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Successor {
    /// The state after it.
    pub state: StateId,
    /// Whether the step has further outcomes.
    pub has_more: bool,
}

/// One outcome of a call whose result is not fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PossibleResult {
    /// The result.
    pub result: ResultId,
    /// The state after it.
    pub state: StateId,
}

/// A sequential execution of the specification.
pub trait SequentialExecution {
    /// Executes the operation at `position`. Returns false if the specification does not allow it
    /// here.
    fn advance(&mut self, position: usize) -> bool;

    /// Executes the operations at `positions` in turn, and returns how many: not all of them if the
    /// object [may be in many states](Self::has_many_states), so that limits can be checked.
    ///
    /// # Errors
    ///
    /// The index in `positions` of the first one that the specification does not allow.
    fn advance_each(&mut self, positions: &[u32]) -> Result<usize, usize> {
        for (at, &position) in positions.iter().enumerate() {
            if !self.advance(position as usize) {
                return Err(at);
            }
            if self.has_many_states() {
                return Ok(at + 1);
            }
        }
        Ok(positions.len())
    }

    /// Whether the object may be in many states here: then each step takes long.
    fn has_many_states(&self) -> bool;

    /// The operation at `position` with each result that it can return here.
    fn could_return(&self, position: usize) -> Vec<Shown>;

    /// The possible states of the object here: the first `most` characters of each in `Debug`
    /// format.
    fn states(&self, most: usize) -> Vec<String>;
}
