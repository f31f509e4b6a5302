//! All objects of a history as one: the product of their automata.

use clewline_core::{Automaton, LabelId, OperationId, Problem, Span, StateId};

/// The state of each object.
pub(super) type States = Box<[StateId]>;

/// An operation of some object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) id: OperationId,
    pub(super) span: Span,
    object: usize,
    /// As it is recorded, and without its result.
    labels: [LabelId; 2],
}

/// Whether an operation has the result that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Recorded,
    Any,
}

/// The automata of all objects, and their operations in the order of their calls.
pub(super) struct Product<'p> {
    automata: Vec<Box<dyn Automaton + 'p>>,
    pub(super) operations: Vec<Operation>,
}

impl<'p> Product<'p> {
    /// The product of objects, whose problems are `doubled`
    /// ([`with_and_without_results`](Problem::with_and_without_results)).
    pub(super) fn new(doubled: &'p [Problem<'_>]) -> Product<'p> {
        let automata: Vec<Box<dyn Automaton + 'p>> = doubled.iter().map(Problem::automaton).collect();
        let mut operations = Vec::new();
        for (object, problem) in doubled.iter().enumerate() {
            let labels = automata[object].labels();
            for at in (0..problem.len()).step_by(2) {
                let (id, span) = (problem.operations()[at], problem.spans()[at]);
                operations.push(Operation { id, span, object, labels: [labels[at], labels[at + 1]] });
            }
        }
        operations.sort_by_key(|it| it.id);
        Product { automata, operations }
    }

    /// The initial state of each object.
    pub(super) fn initial(&mut self) -> States {
        self.automata.iter_mut().map(|it| it.initial()).collect()
    }

    /// Whether the operation never changes its object.
    pub(super) fn is_read(&self, at: usize, outcome: Outcome) -> bool {
        let operation = &self.operations[at];
        self.automata[operation.object].is_read(operation.labels[outcome as usize])
    }

    /// The states after the operation.
    pub(super) fn step(&mut self, states: &States, at: usize, outcome: Outcome) -> Vec<States> {
        let Operation { object, labels, .. } = self.operations[at];
        let mut all = Vec::new();
        for nth in 0.. {
            let label = labels[outcome as usize];
            let Some(next) = self.automata[object].step(states[object], label, nth) else { break };
            let mut after = states.clone();
            after[object] = next.state;
            all.push(after);
            if !next.has_more {
                break;
            }
        }
        all
    }

    /// The size of the automata in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.automata.iter().map(|it| it.bytes()).sum()
    }
}
