//! Problems: a history and a specification with the payloads compiled away.
//!
//! This is the narrow waist of the project. To its left everything is generic in the call and return types
//! of some object; to its right nothing is. A search therefore compiles once, not once for each
//! specification, and its configurations are small integers that hash and compare in a word.

mod beginning;
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

pub use retain::Retain;
pub use start::Start;

use beginning::beginning;
use retain::Known;

/// A specification reduced to a step function on interned states and labels.
pub trait Automaton {
    /// The initial state.
    fn initial(&mut self) -> StateId;

    /// What each operation of the problem did: operations with one label are interchangeable but for time.
    fn labels(&self) -> &[LabelId];

    /// Whether operations with this label leave every state as it is.
    fn is_read(&self, label: LabelId) -> bool;

    /// The `nth` state, from 0, to which `label` may lead from `state`.
    fn step(&mut self, state: StateId, label: LabelId, nth: u32) -> Option<Successor>;

    /// Each answer that a call like that of `label` may get in `state`, whatever it did get, with each state to which
    /// that leads: none if it blocks. `None` if the specification does not say.
    fn results(&mut self, state: StateId, label: LabelId) -> Option<Vec<PossibleResult>>;

    /// How a report writes an operation with the call of `label` and this answer.
    fn show(&self, label: LabelId, answer: ResultId) -> String;

    /// About how many bytes states and remembered steps take.
    fn bytes(&self) -> usize;

    /// Forgets every state but those in `path`, which get new ids, in place.
    fn forget_all_but(&mut self, path: &mut [&mut StateId]);
}

/// One outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Successor {
    /// The state after it.
    pub state: StateId,
    /// Whether the step has further outcomes.
    pub has_more: bool,
}

/// One outcome of a call that may answer as it likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PossibleResult {
    /// What it answers.
    pub result: ResultId,
    /// The state after it.
    pub state: StateId,
}

/// A run of the specification, one operation after the other.
pub trait Replay {
    /// Executes the operation at `position`; false if the specification does not allow it here.
    fn advance(&mut self, position: usize) -> bool;

    /// What the operation at `position` could return here, each as a report writes the operation.
    fn could_return(&self, position: usize) -> Vec<String>;

    /// The states in which the object may be here, at most `most` letters of each, as their type is in `Debug`.
    fn states(&self, most: usize) -> Vec<String>;
}

/// How a report writes an operation: its call and, unless it is pending, its return.
pub type Show<'a, S> =
    dyn Fn(&<S as Specification>::Call, Option<&<S as Specification>::Return>) -> Shown + Send + Sync + 'a;

/// One question: are these operations on one object allowed by this specification?
#[derive(Clone)]
pub struct Problem<'a> {
    typed: Arc<dyn Typed + 'a>,
    // Ascends.
    operations: Vec<OperationId>,
    spans: Vec<Span>,
    // How much is known of each operation; empty if everything is.
    known: Vec<Known>,
    // What the object is like at first, if not as its specification says.
    start: Option<Start>,
}

impl<'a> Problem<'a> {
    /// One problem for each object of `history` that has operations, in the order of their ids.
    ///
    /// Linearizability is local: a history is linearizable if and only if it is so object by object.
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
        let typed = Arc::new(Pair { specification, history, show });
        Problem::by_object(typed, history.objects(), history.spans())
    }

    fn by_object(typed: Arc<dyn Typed + 'a>, objects: &[ObjectId], spans: &[Span]) -> Vec<Problem<'a>> {
        // One object, the common case, needs no look-ups.
        if let [first, rest @ ..] = objects
            && rest.iter().all(|it| it == first)
        {
            let operations = (0..objects.len()).map(OperationId::from_index).collect();
            return vec![Problem {
                typed,
                operations,
                spans: spans.to_vec(),
                known: Vec::new(),
                start: None,
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
            typed: Arc::new(Pair { specification, history, show: &show_debug::<S> }),
            operations: Vec::new(),
            spans: Vec::new(),
            known: Vec::new(),
            start: None,
        })
    }

    fn select(typed: &Arc<dyn Typed + 'a>, operations: Vec<OperationId>, spans: &[Span]) -> Problem<'a> {
        let spans = operations.iter().map(|it| spans[it.index()]).collect();
        Problem { typed: Arc::clone(typed), operations, spans, known: Vec::new(), start: None }
    }

    /// How many operations there are. A *position* is an index below this.
    #[must_use]
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The operations' ids, which ascend: a position here is a place in call order.
    #[must_use]
    pub fn operations(&self) -> &[OperationId] {
        &self.operations
    }

    /// Where each operation lies, by position. They ascend by call, except in a weaker problem.
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

    /// A fresh automaton; competing checkers each take their own.
    #[must_use]
    pub fn automaton(&self) -> Box<dyn Automaton + '_> {
        self.typed.automaton(self)
    }

    /// A fresh run of the specification.
    #[must_use]
    pub fn replay(&self) -> Box<dyn Replay + '_> {
        self.typed.replay(self)
    }

    /// What the operation at `position` touches.
    #[must_use]
    pub fn footprint(&self, position: usize) -> Footprint {
        self.typed.footprint(self.operations[position], self.is_forgotten(position))
    }

    /// Whether the operation at `position` may have to wait in some state: see [`Specification::may_block`].
    #[must_use]
    pub fn may_block(&self, position: usize) -> bool {
        self.typed.may_block(self.operations[position])
    }

    /// Whether what came before the operation at `position` does not matter after it: see [`Specification::resets`].
    #[must_use]
    pub fn resets(&self, position: usize) -> bool {
        let is_known = self.start.is_none() && self.known(position) == Known::All;
        is_known && self.typed.resets(self.operations[position])
    }

    /// What the object is like after the operation at `position`, wherever that may happen: see [`Specification::determines_state`].
    #[must_use]
    pub fn determines_state(&self, position: usize) -> Option<Start> {
        let is_known = self.start.is_none() && self.known(position) == Known::All;
        is_known.then(|| self.typed.determines_state(self.operations[position])).flatten()
    }

    /// What kind of object this is about, if that is known and it is at first as its specification says.
    #[must_use]
    pub fn kind(&self) -> Option<ObjectKind> {
        self.typed.kind().filter(|_| self.start.is_none())
    }

    /// The same operations on an object that is like this at first.
    #[must_use]
    pub fn starting_at(self, start: &Start) -> Problem<'a> {
        Problem { start: Some(start.clone()), ..self }
    }

    /// What the object may be like after the operations in the order of one of the `witnesses`, each of them once.
    #[must_use]
    pub fn ends(&self, witnesses: &[Witness]) -> Vec<Start> {
        self.typed.ends(self, witnesses)
    }

    /// Each of `starts` once.
    #[must_use]
    pub fn distinct(&self, starts: Vec<Start>) -> Vec<Start> {
        self.typed.distinct(starts)
    }

    /// The part that this problem is about, if all its operations are about one: see [`Specification::part`].
    #[must_use]
    pub fn part(&self) -> Option<u64> {
        self.operations.first().and_then(|&id| self.typed.part(id))
    }

    /// Whether each of its operations is about one part: see [`Specification::part`].
    #[must_use]
    pub fn is_about_parts(&self) -> bool {
        self.operations.iter().all(|&id| self.typed.part(id).is_some())
    }

    /// What each operation did, given the [`kind`](Self::kind) of the object.
    ///
    /// # Errors
    ///
    /// The first operation that no role describes, or of which it is not known whether it happened; none if the kind is not known.
    pub fn roles(&self) -> Result<Roles, Option<OperationId>> {
        match (0..self.known.len()).find(|&at| self.known[at] == Known::Doubted) {
            Some(at) => Err(Some(self.operations[at])),
            None => self.typed.roles(self),
        }
    }

    /// How a report writes an operation: `deq() → 3`.
    #[must_use]
    pub fn label(&self, id: OperationId) -> String {
        self.typed.shown(id).to_string()
    }

    /// How a report writes the method that an operation calls: `deq`.
    #[must_use]
    pub fn method(&self, id: OperationId) -> String {
        self.typed.shown(id).method
    }

    /// The independent parts of this problem, in the order of their first operations: the keys of a map.
    ///
    /// Parts are objects of their own, so the whole holds if and only if each part does.
    #[must_use]
    pub fn into_parts(self) -> Vec<Problem<'a>> {
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        let mut part_of: Vec<u32> = Vec::with_capacity(self.len());
        for &id in &self.operations {
            let Some(part) = self.typed.part(id) else { return vec![self] };
            let fresh = numbers.len() as u32;
            part_of.push(*numbers.entry(part).or_insert(fresh));
        }
        if numbers.len() <= 1 {
            return vec![self];
        }
        let mut sizes = vec![0; numbers.len()];
        part_of.iter().for_each(|&it| sizes[it as usize] += 1);
        let mut parts: Vec<Problem<'a>> = Vec::with_capacity(sizes.len());
        for size in sizes {
            parts.push(Problem {
                typed: Arc::clone(&self.typed),
                operations: Vec::with_capacity(size),
                spans: Vec::with_capacity(size),
                known: Vec::new(),
                start: self.start.clone(),
            });
        }
        for (at, &part) in part_of.iter().enumerate() {
            let part = &mut parts[part as usize];
            part.operations.push(self.operations[at]);
            part.spans.push(self.spans[at]);
            if !self.known.is_empty() {
                part.known.push(self.known[at]);
            }
        }
        parts
    }

    /// A problem that says less. Forgetting is always sound: if the answer is "violated" after it, so it is
    /// for this problem. Leaving operations out is sound only as their [`Footprint`] says.
    #[must_use]
    pub fn weaken(&self, mut keep: impl FnMut(usize) -> Retain) -> Problem<'a> {
        let mut weaker = Problem {
            typed: Arc::clone(&self.typed),
            operations: Vec::new(),
            spans: Vec::new(),
            known: Vec::new(),
            start: self.start.clone(),
        };
        for at in 0..self.len() {
            let span = self.spans[at];
            let (span, known) = match keep(at) {
                Retain::All => (span, self.known(at)),
                // What is pending need not have happened anyway.
                Retain::Optional if self.is_forgotten(at) || span.is_pending() => (span, self.known(at)),
                Retain::Optional => (span, Known::Doubted),
                Retain::CallOnly => (span.without_return(), Known::Call),
                Retain::Unconstrained => (Span::new(0, None), Known::Call),
                Retain::Drop => continue,
            };
            weaker.operations.push(self.operations[at]);
            weaker.spans.push(span);
            weaker.known.push(known);
        }
        weaker
    }

    /// The operations at these positions, as a problem of their own.
    #[must_use]
    pub fn range(&self, positions: std::ops::Range<usize>) -> Problem<'a> {
        let known = self.known.get(positions.clone()).unwrap_or_default().to_vec();
        let spans = self.spans[positions.clone()].to_vec();
        let operations = self.operations[positions].to_vec();
        Problem { typed: Arc::clone(&self.typed), operations, spans, known, start: self.start.clone() }
    }

    /// Brings witnesses of the parts of one history into one order that real time allows.
    ///
    /// Each operation takes effect at the latest call up to it in its part's order, which lies between its
    /// own call and return; sorting by that moment keeps every part's order and every real-time order.
    #[must_use]
    pub fn merge_witnesses(parts: &[Problem<'_>], witnesses: Vec<Witness>) -> Witness {
        if let [_] = parts {
            return witnesses.into_iter().next().unwrap_or_default();
        }
        let mut moments: Vec<(u32, u32, OperationId)> = Vec::new();
        for (part, witness) in parts.iter().zip(witnesses) {
            let mut latest = 0;
            for (place, id) in witness.order.into_iter().enumerate() {
                let at = part.position(id).expect("a witness names operations of its part");
                latest = latest.max(part.spans[at].call());
                moments.push((latest, place as u32, id));
            }
        }
        moments.sort_unstable();
        Witness { order: moments.into_iter().map(|(.., id)| id).collect() }
    }

    fn known(&self, position: usize) -> Known {
        self.known.get(position).copied().unwrap_or(Known::All)
    }

    /// Whether its return is not to be looked at.
    fn is_forgotten(&self, position: usize) -> bool {
        self.known(position) == Known::Call
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

/// The typed side of the waist, its types forgotten.
trait Typed: Send + Sync {
    fn automaton<'p>(&'p self, problem: &Problem<'_>) -> Box<dyn Automaton + 'p>;
    fn replay<'p>(&'p self, problem: &'p Problem<'_>) -> Box<dyn Replay + 'p>;
    fn part(&self, id: OperationId) -> Option<u64>;
    fn footprint(&self, id: OperationId, forgotten: bool) -> Footprint;
    fn may_block(&self, id: OperationId) -> bool;
    fn resets(&self, id: OperationId) -> bool;
    fn determines_state(&self, id: OperationId) -> Option<Start>;
    fn ends(&self, problem: &Problem<'_>, witnesses: &[Witness]) -> Vec<Start>;
    fn distinct(&self, starts: Vec<Start>) -> Vec<Start>;
    fn kind(&self) -> Option<ObjectKind>;
    fn roles(&self, problem: &Problem<'_>) -> Result<Roles, Option<OperationId>>;
    fn shown(&self, id: OperationId) -> Shown;
}

struct Pair<'a, S: Specification> {
    specification: &'a S,
    history: &'a History<S::Call, S::Return>,
    show: &'a Show<'a, S>,
}

impl<S> Typed for Pair<'_, S>
where
    S: Specification + Sync,
    S::Call: Sync,
    S::Return: Sync,
{
    fn automaton<'p>(&'p self, problem: &Problem<'_>) -> Box<dyn Automaton + 'p> {
        Box::new(Interned::new(self, problem))
    }

    fn replay<'p>(&'p self, problem: &'p Problem<'_>) -> Box<dyn Replay + 'p> {
        Box::new(Run { pair: self, problem, states: vec![start(self.specification, problem)] })
    }

    fn ends(&self, problem: &Problem<'_>, witnesses: &[Witness]) -> Vec<Start> {
        let mut ends: Vec<S::State> = Vec::new();
        for witness in witnesses {
            let mut states = vec![start(self.specification, problem)];
            for &id in &witness.order {
                let at = problem.position(id);
                let ret = self.history.ret(id).filter(|_| !at.is_some_and(|at| problem.is_forgotten(at)));
                self.specification.advance(&mut states, self.history.call(id), ret);
            }
            ends.extend(states);
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

    fn footprint(&self, id: OperationId, forgotten: bool) -> Footprint {
        let ret = self.history.ret(id).filter(|_| !forgotten);
        self.specification.footprint(self.history.call(id), ret)
    }

    fn may_block(&self, id: OperationId) -> bool {
        self.specification.may_block(self.history.call(id))
    }

    fn resets(&self, id: OperationId) -> bool {
        let ret = self.history.ret(id);
        ret.is_some_and(|ret| self.specification.resets(self.history.call(id), ret))
    }

    fn determines_state(&self, id: OperationId) -> Option<Start> {
        let state = self.specification.determines_state(self.history.call(id), self.history.ret(id)?)?;
        Some(Start(Arc::new(state)))
    }

    fn kind(&self) -> Option<ObjectKind> {
        self.specification.kind()
    }

    fn roles(&self, problem: &Problem<'_>) -> Result<Roles, Option<OperationId>> {
        let kind = self.specification.kind().ok_or(None)?;
        let role = |(at, &id): (usize, &OperationId)| {
            let ret = self.history.ret(id).filter(|_| !problem.is_forgotten(at));
            self.specification.role(self.history.call(id), ret)
        };
        let roles = problem.operations.iter().enumerate().map(role);
        Roles::collect(kind, roles).map_err(|at| Some(problem.operations[at]))
    }

    fn shown(&self, id: OperationId) -> Shown {
        (self.show)(self.history.call(id), self.history.ret(id))
    }
}

/// The state in which a problem begins.
fn start<S: Specification>(specification: &S, problem: &Problem<'_>) -> S::State {
    problem.start.as_ref().map_or_else(|| specification.initial(), |it| state::<S>(it).clone())
}

fn state<S: Specification>(start: &Start) -> &S::State {
    start.0.downcast_ref().expect("a problem starts where one of the same object ended")
}

struct Run<'p, S: Specification> {
    pair: &'p Pair<'p, S>,
    problem: &'p Problem<'p>,
    states: Vec<S::State>,
}

impl<S> Replay for Run<'_, S>
where
    S: Specification + Sync,
    S::Call: Sync,
    S::Return: Sync,
{
    fn advance(&mut self, position: usize) -> bool {
        let id = self.problem.operations[position];
        let ret = self.pair.history.ret(id).filter(|_| !self.problem.is_forgotten(position));
        let before = match self.problem.known(position) {
            Known::Doubted => self.states.clone(),
            Known::All | Known::Call => Vec::new(),
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
        distinct(self.states.iter().map(|it| beginning(it, most)).collect())
    }
}

/// Each of `texts` once, in order.
fn distinct(mut texts: Vec<String>) -> Vec<String> {
    texts.sort_unstable();
    texts.dedup();
    texts
}

/// The only generic automaton: interns states and labels, and remembers steps.
struct Interned<'p, S: Specification> {
    specification: &'p S,
    show: &'p Show<'p, S>,
    start: S::State,
    // For each label, a call and a return that have it, and how much is known of them.
    meanings: Vec<Meaning<'p, S>>,
    labels: Vec<LabelId>,
    reads: Vec<bool>,
    states: Interner<S::State>,
    // What `states` and `further` take.
    state_bytes: usize,
    // By state and label, in tables that grow one by one, lest the memory doubles at a stroke.
    steps: [FxHashMap<u64, Outcomes>; STEP_TABLES],
    // Second and later outcomes of nondeterministic steps.
    further: Vec<Box<[StateId]>>,
    scratch: Vec<S::State>,
    // What calls may return, as far as it was asked for.
    answers: Interner<S::Return>,
}

type Meaning<'p, S> = (&'p <S as Specification>::Call, Option<&'p <S as Specification>::Return>, Known);

#[derive(Clone, Copy)]
struct Outcomes {
    // `NONE` if there are none.
    first: u32,
    // Index into `further`, or `NONE`.
    further: u32,
}

const NONE: u32 = u32::MAX;
const STEP_TABLES: usize = 16;

impl<'p, S: Specification> Interned<'p, S> {
    fn new(pair: &'p Pair<'_, S>, problem: &Problem<'_>) -> Self {
        let Pair { specification, history, show } = *pair;
        let mut meanings: Interner<Meaning<'p, S>> = Interner::new();
        let mut labels = Vec::with_capacity(problem.len());
        for (at, &id) in problem.operations.iter().enumerate() {
            let ret = history.ret(id).filter(|_| !problem.is_forgotten(at));
            // Without a return it does not matter why it is not known.
            let known = if ret.is_none() { Known::Call } else { problem.known(at) };
            let meaning = (history.call(id), ret, known);
            labels.push(LabelId(meanings.intern(meaning)));
        }
        let meanings = meanings.into_values();
        let is_read = |&(call, ret, _): &Meaning<'p, S>| specification.footprint(call, ret).is_read();
        let reads = meanings.iter().map(is_read).collect();
        Interned {
            specification,
            show,
            start: start(specification, problem),
            meanings,
            labels,
            reads,
            states: Interner::new(),
            state_bytes: 0,
            steps: Default::default(),
            further: Vec::new(),
            scratch: Vec::new(),
            answers: Interner::new(),
        }
    }

    fn intern(&mut self, state: S::State) -> StateId {
        let known = self.states.len();
        let number = self.states.intern(state);
        if number as usize == known {
            self.state_bytes += self.specification.state_bytes(&self.states[number]) + size_of::<u32>() + 1;
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
        if known == Known::Doubted {
            next.push(self.states[state.0].clone());
        }
        let mut ids: Vec<StateId> = Vec::new();
        let mut first = NONE;
        for state in next.drain(..) {
            let id = self.intern(state);
            if first == NONE {
                first = id.0;
            } else if first != id.0 && !ids.contains(&id) {
                ids.push(id);
            }
        }
        self.scratch = next;
        let mut further = NONE;
        if !ids.is_empty() {
            further = self.further.len() as u32;
            self.state_bytes += size_of_val(&*ids) + size_of::<Box<[StateId]>>();
            self.further.push(ids.into());
        }
        let outcomes = Outcomes { first, further };
        self.steps[table].insert(key, outcomes);
        outcomes
    }
}

impl<S: Specification> Automaton for Interned<'_, S> {
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
        if first == NONE {
            return None;
        }
        let others = if further == NONE { &[] } else { &*self.further[further as usize] };
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
        // Who lists no answer of a call that may go on does not list answers at all.
        let is_said = next.is_empty() && !returns.iter().any(|it| self.specification.is_opaque(it));
        let mut all: Vec<PossibleResult> = Vec::new();
        for ret in returns {
            next.clear();
            self.specification.step(&self.states[state.0], call, Some(&ret), &mut next);
            let answer = ResultId(self.answers.intern(ret));
            all.extend(next.drain(..).map(|it| PossibleResult { result: answer, state: self.intern(it) }));
        }
        next.clear();
        self.scratch = next;
        is_said.then_some(all)
    }

    fn show(&self, label: LabelId, answer: ResultId) -> String {
        let (call, ..) = self.meanings[label.index()];
        (self.show)(call, Some(&self.answers[answer.0])).to_string()
    }

    fn bytes(&self) -> usize {
        let steps: usize = self.steps.iter().map(FxHashMap::capacity).sum();
        self.state_bytes + steps * (size_of::<(u64, Outcomes)>() + 1)
    }

    fn forget_all_but(&mut self, path: &mut [&mut StateId]) {
        let states = std::mem::take(&mut self.states);
        self.state_bytes = 0;
        self.steps = Default::default();
        self.further = Vec::new();
        for id in path {
            **id = self.intern(states[id.0].clone());
        }
    }
}

#[cfg(test)]
mod tests;
