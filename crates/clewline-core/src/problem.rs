//! Problems: a history and a specification with the types of calls and results erased.
//!
//! Before this point everything is generic in the call and return types of some object; after it
//! nothing is. A search is therefore compiled once, not once for each specification, and its
//! configurations are small integers that hash and compare as one word.

mod automaton;
mod debug_prefix;
mod hints;
mod interning;
mod interrupt;
mod labels;
mod pair;
mod parts;
mod retain;
mod start;
mod undoing;

use std::{fmt, sync::Arc};

use rustc_hash::FxHashMap;

use crate::{
    history::{History, Span},
    id::{ObjectId, OperationId},
    role::{ObjectKind, Roles},
    set_operation::SetOperations,
    shown::Shown,
    specification::{Elements, Footprint, Specification, show_debug},
    witness::Witness,
};

pub use automaton::{
    Automaton, PossibleResult, SequentialExecution, StepOutcome, Successor, UndoableExecution,
};
pub use pair::Show;
pub use retain::Retain;
pub use start::Start;

use debug_prefix::debug_prefix;
use interning::InterningAutomaton;
use pair::SpecAndHistory;
use retain::Retained;
use undoing::StateInPlace;

/// The problem to decide: do these operations on one object have a linearization that this
/// specification allows?
#[derive(Clone)]
pub struct Problem<'a> {
    typed: Arc<dyn ErasedPair + 'a>,
    // In ascending order.
    operations: Vec<OperationId>,
    spans: Vec<Span>,
    // What is retained of each operation; empty if everything is.
    retained: Vec<Retained>,
    // The state at the start, if it is not the specification's initial state.
    start: Option<Start>,
    // By operation id: see `order_hint`.
    hints: Option<Arc<[Option<i64>]>>,
}

impl<'a> Problem<'a> {
    /// One problem for each object of `history` that has operations, in the order of their ids.
    ///
    /// Linearizability is local: a history is linearizable if and only if its restriction to each
    /// object is.
    pub fn of_objects<S>(specification: &'a S, history: &'a History<S::Call, S::Return>) -> Vec<Problem<'a>>
    where
        S: Specification + Sync,
        S::Call: Sync,
        S::Return: Sync,
    {
        Problem::of_objects_shown(specification, history, &show_debug::<S>)
    }

    /// As [`Problem::of_objects`], with operations written by `show` in reports.
    pub fn of_objects_shown<S>(
        specification: &'a S,
        history: &'a History<S::Call, S::Return>,
        show: &'a Show<'a, S>,
    ) -> Vec<Problem<'a>>
    where
        S: Specification + Sync,
        S::Call: Sync,
        S::Return: Sync,
    {
        let typed = Arc::new(SpecAndHistory { specification, history, show });
        Problem::by_object(typed, history.objects(), history.spans())
    }

    fn by_object(typed: Arc<dyn ErasedPair + 'a>, objects: &[ObjectId], spans: &[Span]) -> Vec<Problem<'a>> {
        // One object, the common case, needs no look-ups.
        if let [first, rest @ ..] = objects
            && rest.iter().all(|it| it == first)
        {
            let operations = (0..objects.len()).map(OperationId::from_index).collect();
            return vec![Problem {
                typed,
                operations,
                spans: spans.to_vec(),
                retained: Vec::new(),
                start: None,
                hints: None,
            }];
        }
        let mut members: FxHashMap<ObjectId, Vec<OperationId>> = FxHashMap::default();
        let all = (0..objects.len()).map(OperationId::from_index);
        all.zip(objects).for_each(|(id, &object)| members.entry(object).or_default().push(id));
        let mut members: Vec<(ObjectId, Vec<OperationId>)> = members.into_iter().collect();
        members.sort_unstable_by_key(|&(object, _)| object);
        members.into_iter().map(|(_, it)| Problem::select(&typed, it, spans)).collect()
    }

    /// The problem of a history of one object.
    ///
    /// # Panics
    ///
    /// If there are several objects; use [`Problem::of_objects`] then.
    pub fn new<S>(specification: &'a S, history: &'a History<S::Call, S::Return>) -> Problem<'a>
    where
        S: Specification + Sync,
        S::Call: Sync,
        S::Return: Sync,
    {
        let mut problems = Problem::of_objects(specification, history);
        assert!(problems.len() <= 1, "a history of several objects poses several problems");
        problems.pop().unwrap_or_else(|| Problem {
            typed: Arc::new(SpecAndHistory { specification, history, show: &show_debug::<S> }),
            operations: Vec::new(),
            spans: Vec::new(),
            retained: Vec::new(),
            start: None,
            hints: None,
        })
    }

    fn select(typed: &Arc<dyn ErasedPair + 'a>, operations: Vec<OperationId>, spans: &[Span]) -> Problem<'a> {
        let spans = operations.iter().map(|it| spans[it.index()]).collect();
        Problem {
            typed: Arc::clone(typed),
            operations,
            spans,
            retained: Vec::new(),
            start: None,
            hints: None,
        }
    }

    /// The number of operations. A *position* is an index below this.
    #[must_use]
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The ids of the operations, in ascending order: positions are in call order.
    #[must_use]
    pub fn operations(&self) -> &[OperationId] {
        &self.operations
    }

    /// The span of each operation, by position. Spans ascend by call, except in a weakened problem.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The position of an operation.
    #[must_use]
    pub fn position(&self, id: OperationId) -> Option<usize> {
        // A whole history of one object, the common case, needs no search.
        match self.operations.get(id.index()) {
            Some(&found) if found == id => Some(id.index()),
            Some(_) | None => self.operations.binary_search(&id).ok(),
        }
    }

    /// A new automaton; checkers that run concurrently each use their own.
    #[must_use]
    pub fn automaton(&self) -> Box<dyn Automaton + '_> {
        self.typed.automaton(self)
    }

    /// A new execution of the specification that can be undone, for checkers that remember no
    /// states.
    #[must_use]
    pub fn undoable(&self) -> Box<dyn UndoableExecution + '_> {
        self.typed.undoable(self)
    }

    /// A new sequential execution of the specification.
    #[must_use]
    pub fn replay(&self) -> Box<dyn SequentialExecution + '_> {
        self.typed.replay(self)
    }

    /// What the operation at `position` reads and changes.
    #[must_use]
    pub fn footprint(&self, position: usize) -> Footprint {
        self.typed.footprint(self.operations[position], self.ignores_return(position))
    }

    /// Whether the operation at `position` blocks in some state: see [`Specification::may_block`].
    #[must_use]
    pub fn may_block(&self, position: usize) -> bool {
        self.typed.may_block(self.operations[position])
    }

    /// Whether the state after the operation at `position` does not depend on the state before it:
    /// see [`Specification::resets`].
    #[must_use]
    pub fn resets(&self, position: usize) -> bool {
        let is_known = self.start.is_none() && self.retained(position) == Retained::All;
        is_known && self.typed.resets(self.operations[position])
    }

    /// The state after the operation at `position`, if it is the same wherever the operation is
    /// allowed: see [`Specification::determines_state`].
    #[must_use]
    pub fn determines_state(&self, position: usize) -> Option<Start> {
        let is_known = self.start.is_none() && self.retained(position) == Retained::All;
        is_known.then(|| self.typed.determines_state(self.operations[position])).flatten()
    }

    /// The kind of the object, if it is known and the object starts in the specification's initial
    /// state.
    #[must_use]
    pub fn kind(&self) -> Option<ObjectKind> {
        self.typed.kind().filter(|_| self.start.is_none())
    }

    /// Why the specification could not be evaluated, if that has happened: see
    /// [`Specification::fault`].
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.typed.fault()
    }

    /// The same operations on an object that starts in this state.
    #[must_use]
    pub fn starting_at(self, start: &Start) -> Problem<'a> {
        Problem { start: Some(start.clone()), ..self }
    }

    /// The distinct states in which the object can be after the operations in the order of one of
    /// the `witnesses`.
    #[must_use]
    pub fn ends(&self, witnesses: &[Witness]) -> Vec<Start> {
        self.typed.ends(self, witnesses)
    }

    /// `starts` without duplicates.
    #[must_use]
    pub fn distinct(&self, starts: Vec<Start>) -> Vec<Start> {
        self.typed.distinct(starts)
    }

    /// The part that all operations of this problem access, if they access a single one: see
    /// [`Specification::part`].
    #[must_use]
    pub fn part(&self) -> Option<u64> {
        self.operations.first().and_then(|&id| self.typed.part(id))
    }

    /// Whether each operation accesses a single part: see [`Specification::part`].
    #[must_use]
    pub fn is_about_parts(&self) -> bool {
        self.operations.iter().all(|&id| self.typed.part(id).is_some())
    }

    /// The role of each operation, given the [`kind`](Self::kind) of the object.
    ///
    /// # Errors
    ///
    /// The first operation that has no role, or that may not have taken effect; `None` if the kind
    /// is not known.
    pub fn roles(&self) -> Result<Roles, Option<OperationId>> {
        match (0..self.retained.len()).find(|&at| self.retained[at] == Retained::Optional) {
            Some(at) => Err(Some(self.operations[at])),
            None => self.typed.roles(self),
        }
    }

    /// The kind of the same object without its capacity, the positions of the operations that have
    /// a role there, and these roles: see [`Specification::kind_without_capacity`]. `None` if
    /// another operation may have changed something.
    #[must_use]
    pub fn without_capacity(&self) -> Option<(ObjectKind, Vec<u32>, Roles)> {
        let is_known = self.start.is_none() && !self.retained.contains(&Retained::Optional);
        is_known.then(|| self.typed.without_capacity(self)).flatten()
    }

    /// How many elements the object holds at most: see [`Specification::capacity`].
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.typed.capacity()
    }

    /// The operations, if they are those of a set that starts empty: see
    /// [`Specification::set_operation`]. `None` if one of them may not have taken effect though it
    /// returned.
    #[must_use]
    pub fn set_operations(&self) -> Option<SetOperations> {
        let is_known = self.start.is_none() && !self.retained.contains(&Retained::Optional);
        is_known.then(|| self.typed.set_operations(self)).flatten()
    }

    /// The result of `judge` for the same problem without all elements but these: if that one is
    /// violated, so is this one. Operations keep their ids; those on other elements are left out.
    /// See [`Specification::restricted_return`]; `None` if the specification does not have it.
    pub fn restricted<T>(&self, elements: &[u64], judge: impl FnOnce(&Problem<'_>) -> T) -> Option<T> {
        let is_other = |at: usize| match self.footprint(at).elements() {
            Elements::One(element) => Some(!elements.contains(&element)),
            Elements::None | Elements::Any => Some(false),
            Elements::Two(..) | Elements::Every => None,
        };
        let is_other: Vec<bool> = (0..self.len()).map(is_other).collect::<Option<_>>()?;
        if self.start.is_some() {
            return None;
        }
        let (mut judge, mut result) = (Some(judge), None);
        self.typed.restricted(elements, &mut |typed| {
            let whole = Problem {
                typed: Arc::clone(typed),
                operations: self.operations.clone(),
                spans: self.spans.clone(),
                retained: self.retained.clone(),
                start: None,
                hints: self.hints.clone(),
            };
            let rest = whole.weaken(|at| if is_other[at] { Retain::Drop } else { Retain::All });
            result = judge.take().map(|judge| judge(&rest));
        });
        result
    }

    /// How a report writes an operation: `deq() → 3`.
    #[must_use]
    pub fn label(&self, id: OperationId) -> String {
        self.typed.shown(id).to_string()
    }

    /// How a report writes an operation, in parts.
    #[must_use]
    pub fn shown(&self, id: OperationId) -> Shown {
        self.typed.shown(id)
    }

    /// How a report writes the method that an operation calls: `deq`.
    #[must_use]
    pub fn method(&self, id: OperationId) -> String {
        self.typed.shown(id).method
    }

    /// A weaker problem, which retains less of its operations. Forgetting is always sound: if the
    /// weaker problem is violated, so is this one. Dropping operations is sound only as far as
    /// their [`Footprint`] permits.
    #[must_use]
    pub fn weaken(&self, mut keep: impl FnMut(usize) -> Retain) -> Problem<'a> {
        let mut weaker = Problem {
            typed: Arc::clone(&self.typed),
            operations: Vec::new(),
            spans: Vec::new(),
            retained: Vec::new(),
            start: self.start.clone(),
            hints: self.hints.clone(),
        };
        for at in 0..self.len() {
            let span = self.spans[at];
            let (span, known) = match keep(at) {
                Retain::All => (span, self.retained(at)),
                // A pending operation is optional anyway.
                Retain::Optional if self.ignores_return(at) || span.is_pending() => (span, self.retained(at)),
                Retain::Optional => (span, Retained::Optional),
                Retain::CallOnly => (span.without_return(), Retained::CallOnly),
                Retain::Unconstrained => (Span::new(0, None), Retained::CallOnly),
                Retain::Drop => continue,
            };
            weaker.operations.push(self.operations[at]);
            weaker.spans.push(span);
            weaker.retained.push(known);
        }
        weaker
    }

    /// The operations at these positions, as a problem of their own.
    #[must_use]
    pub fn range(&self, positions: std::ops::Range<usize>) -> Problem<'a> {
        let retained = self.retained.get(positions.clone()).unwrap_or_default().to_vec();
        let spans = self.spans[positions.clone()].to_vec();
        let operations = self.operations[positions].to_vec();
        let (start, hints) = (self.start.clone(), self.hints.clone());
        Problem { typed: Arc::clone(&self.typed), operations, spans, retained, start, hints }
    }

    fn retained(&self, position: usize) -> Retained {
        self.retained.get(position).copied().unwrap_or(Retained::All)
    }

    /// The operations, with what is retained of each.
    fn with_retained(&self) -> impl ExactSizeIterator<Item = (OperationId, Retained)> {
        self.operations.iter().enumerate().map(|(at, &id)| (id, self.retained(at)))
    }

    /// Whether the return of the operation is ignored.
    fn ignores_return(&self, position: usize) -> bool {
        self.retained(position) == Retained::CallOnly
    }
}

impl fmt::Debug for Problem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.operations.iter().zip(&self.spans);
        f.debug_list()
            .entries(lines.map(|(&id, span)| format!("{id:?} {span:?} {}", self.label(id))))
            .finish()
    }
}

/// A specification and a history with their types erased.
trait ErasedPair: Send + Sync {
    fn automaton<'p>(&'p self, problem: &Problem<'_>) -> Box<dyn Automaton + 'p>;
    fn undoable<'p>(&'p self, problem: &Problem<'_>) -> Box<dyn UndoableExecution + 'p>;
    fn replay<'p>(&'p self, problem: &'p Problem<'_>) -> Box<dyn SequentialExecution + 'p>;
    fn part(&self, id: OperationId) -> Option<u64>;
    fn footprint(&self, id: OperationId, ignores_return: bool) -> Footprint;
    fn may_block(&self, id: OperationId) -> bool;
    fn resets(&self, id: OperationId) -> bool;
    fn determines_state(&self, id: OperationId) -> Option<Start>;
    fn ends(&self, problem: &Problem<'_>, witnesses: &[Witness]) -> Vec<Start>;
    fn distinct(&self, starts: Vec<Start>) -> Vec<Start>;
    fn kind(&self) -> Option<ObjectKind>;
    fn roles(&self, problem: &Problem<'_>) -> Result<Roles, Option<OperationId>>;
    fn without_capacity(&self, problem: &Problem<'_>) -> Option<(ObjectKind, Vec<u32>, Roles)>;
    fn capacity(&self) -> Option<usize>;
    fn set_operations(&self, problem: &Problem<'_>) -> Option<SetOperations>;
    fn restricted(&self, elements: &[u64], judge: &mut dyn for<'p> FnMut(&Arc<dyn ErasedPair + 'p>));
    fn shown(&self, id: OperationId) -> Shown;
    fn fault(&self) -> Option<String>;
}

impl<S> ErasedPair for SpecAndHistory<'_, S>
where
    S: Specification + Sync,
    S::Call: Sync,
    S::Return: Sync,
{
    fn automaton<'p>(&'p self, problem: &Problem<'_>) -> Box<dyn Automaton + 'p> {
        let start = start(self.specification, problem);
        Box::new(InterningAutomaton::new(self, start, problem.with_retained()))
    }

    fn undoable<'p>(&'p self, problem: &Problem<'_>) -> Box<dyn UndoableExecution + 'p> {
        let start = start(self.specification, problem);
        Box::new(StateInPlace::new(self, start, problem.with_retained()))
    }

    fn replay<'p>(&'p self, problem: &'p Problem<'_>) -> Box<dyn SequentialExecution + 'p> {
        Box::new(StateReplay { pair: self, problem, states: vec![start(self.specification, problem)] })
    }

    fn ends(&self, problem: &Problem<'_>, witnesses: &[Witness]) -> Vec<Start> {
        let mut ends: Vec<S::State> = Vec::new();
        for witness in witnesses {
            let states = vec![start(self.specification, problem)];
            let mut replay = StateReplay { pair: self, problem, states };
            for at in witness.order.iter().filter_map(|&id| problem.position(id)) {
                replay.advance(at);
            }
            ends.extend(replay.states);
        }
        self.distinct(ends.into_iter().map(|it| Start(Arc::new(it))).collect())
    }

    fn distinct(&self, starts: Vec<Start>) -> Vec<Start> {
        let mut seen: std::collections::HashSet<S::State> = std::collections::HashSet::new();
        starts.into_iter().filter(|it| seen.insert(state::<S>(it).clone())).collect()
    }

    fn part(&self, id: OperationId) -> Option<u64> {
        self.specification.part(self.history.call(id))
    }

    fn footprint(&self, id: OperationId, ignores_return: bool) -> Footprint {
        let ret = self.ret(id).filter(|_| !ignores_return);
        self.specification.footprint(self.history.call(id), ret)
    }

    fn may_block(&self, id: OperationId) -> bool {
        self.specification.may_block(self.history.call(id))
    }

    fn resets(&self, id: OperationId) -> bool {
        let ret = self.ret(id);
        ret.is_some_and(|ret| self.specification.resets(self.history.call(id), ret))
    }

    fn determines_state(&self, id: OperationId) -> Option<Start> {
        let state = self.specification.determines_state(self.history.call(id), self.ret(id)?)?;
        Some(Start(Arc::new(state)))
    }

    fn kind(&self) -> Option<ObjectKind> {
        self.specification.kind()
    }

    fn roles(&self, problem: &Problem<'_>) -> Result<Roles, Option<OperationId>> {
        let kind = self.specification.kind().ok_or(None)?;
        let role = |(at, &id): (usize, &OperationId)| {
            let ret = self.ret(id).filter(|_| !problem.ignores_return(at));
            self.specification.role(self.history.call(id), ret)
        };
        let roles = problem.operations.iter().enumerate().map(role);
        Roles::collect(kind, roles).map_err(|at| Some(problem.operations[at]))
    }

    fn capacity(&self) -> Option<usize> {
        self.specification.capacity()
    }

    fn without_capacity(&self, problem: &Problem<'_>) -> Option<(ObjectKind, Vec<u32>, Roles)> {
        let kind = self.specification.kind_without_capacity()?;
        let (mut positions, mut roles) = (Vec::new(), Vec::new());
        for (at, &id) in problem.operations.iter().enumerate() {
            let (call, ret) = (self.history.call(id), self.ret(id).filter(|_| !problem.ignores_return(at)));
            match self.specification.role(call, ret) {
                Some(role) => {
                    positions.push(at as u32);
                    roles.push(Some(role));
                }
                None if matches!(self.specification.footprint(call, ret), Footprint::Reads(_)) => (),
                None => return None,
            }
        }
        Some((kind, positions, Roles::collect(kind, roles.into_iter()).ok()?))
    }

    fn set_operations(&self, problem: &Problem<'_>) -> Option<SetOperations> {
        SetOperations::collect(problem.operations.iter().enumerate().map(|(at, &id)| {
            let ret = self.ret(id).filter(|_| !problem.ignores_return(at));
            self.specification.set_operation(self.history.call(id), ret)
        }))
    }

    fn restricted(&self, elements: &[u64], judge: &mut dyn for<'p> FnMut(&Arc<dyn ErasedPair + 'p>)) {
        let restricted = |_, call: S::Call, ret: Option<S::Return>| match ret {
            None => Ok::<_, ()>((call, None)),
            Some(ret) => {
                let ret = self.specification.canonical_return(&call, &ret);
                let ret = self.specification.restricted_return(&call, ret, elements).ok_or(())?;
                Ok((call, Some(ret)))
            }
        };
        if let Ok(history) = self.history.clone().try_map(restricted) {
            let (specification, show) = (self.specification, self.show);
            let pair: Arc<dyn ErasedPair + '_> =
                Arc::new(SpecAndHistory { specification, history: &history, show });
            judge(&pair);
        }
    }

    fn shown(&self, id: OperationId) -> Shown {
        (self.show)(self.history.call(id), self.history.ret(id))
    }

    fn fault(&self) -> Option<String> {
        self.specification.fault()
    }
}

/// The state in which a problem starts.
fn start<S: Specification>(specification: &S, problem: &Problem<'_>) -> S::State {
    problem.start.as_ref().map_or_else(|| specification.initial(), |it| state::<S>(it).clone())
}

fn state<S: Specification>(start: &Start) -> &S::State {
    start.0.downcast_ref().expect("a problem starts where one of the same object ended")
}

struct StateReplay<'p, S: Specification> {
    pair: &'p SpecAndHistory<'p, S>,
    problem: &'p Problem<'p>,
    states: Vec<S::State>,
}

impl<S> SequentialExecution for StateReplay<'_, S>
where
    S: Specification + Sync,
    S::Call: Sync,
    S::Return: Sync,
{
    #[inline]
    fn advance(&mut self, position: usize) -> bool {
        let id = self.problem.operations[position];
        let ret = self.pair.ret(id).filter(|_| !self.problem.ignores_return(position));
        let before = match self.problem.retained(position) {
            Retained::Optional => Some(self.states.clone()),
            Retained::All | Retained::CallOnly => None,
        };
        self.pair.specification.advance(&mut self.states, self.pair.history.call(id), ret);
        if let Some(before) = before {
            for it in before {
                if !self.states.contains(&it) {
                    self.states.push(it);
                }
            }
        }
        !self.states.is_empty()
    }

    fn has_many_states(&self) -> bool {
        const FEW_STATES_MAX: usize = 16;
        FEW_STATES_MAX < self.states.len()
    }

    fn could_return(&self, position: usize) -> Vec<Shown> {
        let call = self.pair.history.call(self.problem.operations[position]);
        let mut all: Vec<Shown> = Vec::new();
        for state in &self.states {
            let returns = self.pair.specification.returns(state, call);
            all.extend(returns.iter().map(|ret| (self.pair.show)(call, Some(ret))));
        }
        all.sort_by_cached_key(Shown::to_string);
        all.dedup();
        all
    }

    fn states(&self, most: usize) -> Vec<String> {
        let mut texts: Vec<String> = self.states.iter().map(|it| debug_prefix(it, most)).collect();
        texts.sort_unstable();
        texts.dedup();
        texts
    }
}

#[cfg(test)]
mod tests;
