//! Undoing steps: how a state that was changed in place becomes what it was.
//!
//! A search that remembers no states needs only the present one, if it can take back its last step.

use std::fmt;

/// How to undo a step.
pub enum Undo<S> {
    /// The step changed nothing.
    Nothing,
    /// The state before the step.
    State(S),
    /// A function that changes the state back.
    Change(Box<dyn FnOnce(&mut S)>),
}

impl<S> Undo<S> {
    /// The step is undone by `change`.
    pub fn change(change: impl FnOnce(&mut S) + 'static) -> Undo<S> {
        Undo::Change(Box::new(change))
    }

    /// Changes `state`, which is the one after the step, to the one before it.
    pub fn apply(self, state: &mut S) {
        match self {
            Undo::Nothing => (),
            Undo::State(before) => *state = before,
            Undo::Change(change) => change(state),
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for Undo<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undo::Nothing => f.write_str("Nothing"),
            Undo::State(before) => f.debug_tuple("State").field(before).finish(),
            Undo::Change(_) => f.write_str("Change"),
        }
    }
}

/// A step that was made in place.
#[derive(Debug)]
pub struct StepInPlace<S> {
    /// How to undo it.
    pub undo: Undo<S>,
    /// Whether the step has further outcomes.
    pub has_more: bool,
}
