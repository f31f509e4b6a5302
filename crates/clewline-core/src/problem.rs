//! Problems: a history and a specification with the types of calls and results erased.
//!
//! Before this point everything is generic in the call and return types of some object; after it
//! nothing is. A search is therefore compiled once, not once for each specification, and its
//! configurations are small integers that hash and compare as one word.

mod automaton;
mod debug_prefix;
mod hints;
mod interrupt;
mod parts;
mod retain;
mod start;

use std::{fmt, sync::Arc};

use rustc_hash::FxHashMap;

use crate::{
    history::{History, Span},
    id::{LabelId, ObjectId, OperationId, ResultId, StateId},
    intern::Interner,
    role::{ObjectKind, Roles},
    shown::Shown,
    specification::{Footprint, Specification, show_debug},
    witness::Witness,
};

pub use automaton::{Automaton, PossibleResult, Replay, Successor};
pub use retain::Retain;
pub use start::Start;

use debug_prefix::debug_prefix;
use retain::Retained;

/// How a report writes an operation: its call and, unless it is pending, its return.
pub type Show<'a, S> =
    dyn Fn(&<S as Specification>::Call, Option<&<S as Specification>::Return>) -> Shown + Send + Sync + 'a;

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

    /// A new sequential execution of the specification.
    #[must_use]
    pub fn replay(&self) -> Box<dyn Replay + '_> {
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
    fn replay<'p>(&'p self, problem: &'p Problem<'_>) -> Box<dyn Replay + 'p>;
    fn part(&self, id: OperationId) -> Option<u64>;
    fn footprint(&self, id: OperationId, ignores_return: bool) -> Footprint;
    fn may_block(&self, id: OperationId) -> bool;
    fn resets(&self, id: OperationId) -> bool;
    fn determines_state(&self, id: OperationId) -> Option<Start>;
    fn ends(&self, problem: &Problem<'_>, witnesses: &[Witness]) -> Vec<Start>;
    fn distinct(&self, starts: Vec<Start>) -> Vec<Start>;
    fn kind(&self) -> Option<ObjectKind>;
    fn roles(&self, problem: &Problem<'_>) -> Result<Roles, Option<OperationId>>;
    fn shown(&self, id: OperationId) -> Shown;
    fn fault(&self) -> Option<String>;
}

struct SpecAndHistory<'a, S: Specification> {
    specification: &'a S,
    history: &'a History<S::Call, S::Return>,
    show: &'a Show<'a, S>,
}

impl<S: Specification> SpecAndHistory<'_, S> {
    /// The result of an operation that has returned, in the form that the specification knows.
    #[inline]
    fn ret(&self, id: OperationId) -> Option<&S::Return> {
        let ret = self.history.ret(id)?;
        Some(self.specification.canonical_return(self.history.call(id), ret))
    }
}

impl<S> ErasedPair for SpecAndHistory<'_, S>
where
    S: Specification + Sync,
    S::Call: Sync,
    S::Return: Sync,
{
    fn automaton<'p>(&'p self, problem: &Problem<'_>) -> Box<dyn Automaton + 'p> {
        Box::new(InterningAutomaton::new(self, problem))
    }

    fn replay<'p>(&'p self, problem: &'p Problem<'_>) -> Box<dyn Replay + 'p> {
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

impl<S> Replay for StateReplay<'_, S>
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
            Retained::Optional => self.states.clone(),
            Retained::All | Retained::CallOnly => Vec::new(),
        };
        self.pair.specification.advance(&mut self.states, self.pair.history.call(id), ret);
        before.into_iter().for_each(|it| {
            if !self.states.contains(&it) {
                self.states.push(it);
            }
        });
        !self.states.is_empty()
    }

    fn could_return(&self, position: usize) -> Vec<String> {
        let call = self.pair.history.call(self.problem.operations[position]);
        let mut texts: Vec<String> = Vec::new();
        for state in &self.states {
            for ret in self.pair.specification.returns(state, call) {
                texts.push((self.pair.show)(call, Some(&ret)).to_string());
            }
        }
        distinct(texts)
    }

    fn states(&self, most: usize) -> Vec<String> {
        distinct(self.states.iter().map(|it| debug_prefix(it, most)).collect())
    }
}

/// Sorts `texts` and removes duplicates.
fn distinct(mut texts: Vec<String>) -> Vec<String> {
    texts.sort_unstable();
    texts.dedup();
    texts
}

/// The only generic automaton: it interns states and labels, and caches steps.
struct InterningAutomaton<'p, S: Specification> {
    specification: &'p S,
    show: &'p Show<'p, S>,
    start: S::State,
    // For each label, a call and a result that have it, and what is retained of them.
    meanings: Vec<LabelMeaning<'p, S>>,
    labels: Vec<LabelId>,
    reads: Vec<bool>,
    states: Interner<S::State>,
    // The size of `states` and `further` in bytes.
    state_bytes: usize,
    // The size of the largest state in bytes, and the work so far.
    state_bytes_max: usize,
    work: u64,
    // By state and label, in tables that grow one at a time, so that the memory does not double at
    // once.
    steps: [FxHashMap<u64, Outcomes>; STEP_TABLES],
    // The size of `steps` in bytes, and of the largest one that is full.
    step_bytes: usize,
    step_growth: usize,
    // Second and later outcomes of nondeterministic steps.
    further: Vec<Box<[StateId]>>,
    scratch: Vec<S::State>,
    // The results that calls can return, as far as they were requested.
    results: Interner<S::Return>,
}

type LabelMeaning<'p, S> =
    (&'p <S as Specification>::Call, Option<&'p <S as Specification>::Return>, Retained);

#[derive(Clone, Copy)]
struct Outcomes {
    // `NO_INDEX` if there are none.
    first: u32,
    // Index into `further`, or `NO_INDEX`.
    further: u32,
}

const NO_INDEX: u32 = u32::MAX;
const STEP_TABLES: usize = 16;
// A byte of the table is for control.
const STEP_BYTES: usize = size_of::<(u64, Outcomes)>() + 1;
// The work of a step besides copying a state.
const STEP_WORK: u64 = 256;

impl<'p, S: Specification> InterningAutomaton<'p, S> {
    fn new(pair: &'p SpecAndHistory<'_, S>, problem: &Problem<'_>) -> Self {
        let SpecAndHistory { specification, history, show } = *pair;
        let mut meanings: Interner<LabelMeaning<'p, S>> = Interner::new();
        let mut labels = Vec::with_capacity(problem.len());
        for (at, &id) in problem.operations.iter().enumerate() {
            let ret = pair.ret(id).filter(|_| !problem.ignores_return(at));
            let known = match (problem.retained(at), ret) {
                (Retained::Optional, _) => Retained::Optional,
                // Without a return it does not matter why it is missing.
                (_, None) => Retained::CallOnly,
                (known, Some(_)) => known,
            };
            let meaning = (history.call(id), ret, known);
            labels.push(LabelId(meanings.intern(meaning)));
        }
        let meanings = meanings.into_values();
        let is_read = |&(call, ret, _): &LabelMeaning<'p, S>| specification.footprint(call, ret).is_read();
        let reads = meanings.iter().map(is_read).collect();
        InterningAutomaton {
            specification,
            show,
            start: start(specification, problem),
            meanings,
            labels,
            reads,
            states: Interner::new(),
            state_bytes: 0,
            state_bytes_max: 0,
            work: 0,
            steps: Default::default(),
            step_bytes: 0,
            step_growth: 0,
            further: Vec::new(),
            scratch: Vec::new(),
            results: Interner::new(),
        }
    }

    fn intern(&mut self, state: S::State) -> StateId {
        let known = self.states.len();
        let number = self.states.intern(state);
        if number as usize == known {
            let bytes = self.specification.state_bytes(&self.states[number]);
            self.state_bytes += bytes + size_of::<u32>() + 1;
            self.state_bytes_max = self.state_bytes_max.max(bytes);
        }
        StateId(number)
    }

    fn outcomes(&mut self, state: StateId, label: LabelId) -> Outcomes {
        let key = u64::from(state.0) << 32 | u64::from(label.0);
        let table = state.index() % STEP_TABLES;
        if let Some(&known) = self.steps[table].get(&key) {
            return known;
        }
        let (call, ret, known) = self.meanings[label.index()];
        let mut next = std::mem::take(&mut self.scratch);
        self.specification.step(&self.states[state.0], call, ret, &mut next);
        if known == Retained::Optional {
            next.push(self.states[state.0].clone());
        }
        let mut ids: Vec<StateId> = Vec::new();
        let mut first = NO_INDEX;
        for state in next.drain(..) {
            let id = self.intern(state);
            if first == NO_INDEX {
                first = id.0;
            } else if first != id.0 && !ids.contains(&id) {
                ids.push(id);
            }
        }
        self.scratch = next;
        let mut further = NO_INDEX;
        if !ids.is_empty() {
            further = self.further.len() as u32;
            self.state_bytes += size_of_val(&*ids) + size_of::<Box<[StateId]>>();
            self.further.push(ids.into());
        }
        let outcomes = Outcomes { first, further };
        self.insert_step(table, key, outcomes);
        self.work += self.state_bytes_max as u64 + STEP_WORK;
        outcomes
    }

    fn insert_step(&mut self, table: usize, key: u64, outcomes: Outcomes) {
        let steps = &mut self.steps[table];
        let capacity = steps.capacity();
        steps.insert(key, outcomes);
        if steps.capacity() != capacity || steps.len() == steps.capacity() {
            let bytes = |it: &FxHashMap<u64, Outcomes>| it.capacity() * STEP_BYTES;
            let is_full = |it: &&FxHashMap<u64, Outcomes>| it.len() == it.capacity();
            self.step_bytes = self.steps.iter().map(bytes).sum();
            self.step_growth = 2 * self.steps.iter().filter(is_full).map(bytes).max().unwrap_or(0);
        }
    }
}

impl<S: Specification> Automaton for InterningAutomaton<'_, S> {
    fn initial(&mut self) -> StateId {
        self.intern(self.start.clone())
    }

    fn labels(&self) -> &[LabelId] {
        &self.labels
    }

    fn is_read(&self, label: LabelId) -> bool {
        self.reads[label.index()]
    }

    fn step(&mut self, state: StateId, label: LabelId, nth: u32) -> Option<Successor> {
        let Outcomes { first, further } = self.outcomes(state, label);
        if first == NO_INDEX {
            return None;
        }
        let others = if further == NO_INDEX { &[] } else { &*self.further[further as usize] };
        let state = if nth == 0 { StateId(first) } else { *others.get(nth as usize - 1)? };
        Some(Successor { state, has_more: (nth as usize) < others.len() })
    }

    fn results(&mut self, state: StateId, label: LabelId) -> Option<Vec<PossibleResult>> {
        let (call, ..) = self.meanings[label.index()];
        let returns = self.specification.returns(&self.states[state.0], call);
        let mut next = std::mem::take(&mut self.scratch);
        if returns.is_empty() {
            self.specification.step(&self.states[state.0], call, None, &mut next);
        }
        // A specification that lists no result of a call which does not block does not list results
        // at all.
        let is_specified = next.is_empty() && !returns.iter().any(|it| self.specification.is_opaque(it));
        let mut all: Vec<PossibleResult> = Vec::new();
        for ret in returns {
            next.clear();
            self.specification.step(&self.states[state.0], call, Some(&ret), &mut next);
            let result = ResultId(self.results.intern(ret));
            all.extend(next.drain(..).map(|it| PossibleResult { result, state: self.intern(it) }));
        }
        next.clear();
        self.scratch = next;
        is_specified.then_some(all)
    }

    fn show(&self, label: LabelId, result: ResultId) -> String {
        let (call, ..) = self.meanings[label.index()];
        (self.show)(call, Some(&self.results[result.0])).to_string()
    }

    fn bytes(&self) -> usize {
        self.state_bytes + self.step_bytes
    }

    fn growth(&self) -> usize {
        self.step_growth.max(self.states.growth())
    }

    fn work(&self) -> u64 {
        self.work
    }

    fn forget_all_but(&mut self, path: &mut [&mut StateId]) {
        self.state_bytes = 0;
        self.state_bytes_max = 0;
        self.steps = Default::default();
        (self.step_bytes, self.step_growth) = (0, 0);
        self.further = Vec::new();
        // States are moved: those of a long path may take most of the memory, and are not held
        // twice.
        let mut states: Vec<Option<S::State>> =
            std::mem::take(&mut self.states).into_values().into_iter().map(Some).collect();
        let mut renamed: FxHashMap<StateId, StateId> = FxHashMap::default();
        for id in path {
            **id = match states[id.index()].take() {
                Some(state) => {
                    let new = self.intern(state);
                    renamed.insert(**id, new);
                    new
                }
                // It is on the path twice.
                None => renamed[&**id],
            };
        }
    }
}

#[cfg(test)]
mod tests;
