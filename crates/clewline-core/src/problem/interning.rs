//! The automaton of a specification.

use rustc_hash::FxHashMap;

use super::{
    automaton::{Automaton, PossibleResult, Successor},
    labels::Labels,
    pair::{Show, SpecAndHistory},
    retain::Retained,
};
use crate::{
    id::{LabelId, OperationId, ResultId, StateId},
    intern::Interner,
    shown::Shown,
    specification::Specification,
};

/// The only generic automaton: it interns states and labels, and caches steps.
pub(super) struct InterningAutomaton<'p, S: Specification> {
    specification: &'p S,
    show: &'p Show<'p, S>,
    start: S::State,
    labels: Labels<'p, S>,
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
    /// An automaton for `operations`, with what is retained of each.
    pub(super) fn new(
        pair: &'p SpecAndHistory<'_, S>,
        start: S::State,
        operations: impl ExactSizeIterator<Item = (OperationId, Retained)>,
    ) -> Self {
        let SpecAndHistory { specification, show, .. } = *pair;
        InterningAutomaton {
            specification,
            show,
            start,
            labels: Labels::new(pair, operations),
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
        let (call, ret, known) = self.labels.meanings[label.index()];
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
        &self.labels.of_operations
    }

    fn is_read(&self, label: LabelId) -> bool {
        self.labels.reads[label.index()]
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
        let (call, ..) = self.labels.meanings[label.index()];
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

    fn show(&self, label: LabelId, result: ResultId) -> Shown {
        let (call, ..) = self.labels.meanings[label.index()];
        (self.show)(call, Some(&self.results[result.0]))
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
