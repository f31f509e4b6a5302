//! Tree searches that change their state in place visit what those that copy it visit, and an
//! execution that is undone has the steps of the automaton, which stores every state.

use std::collections::BTreeMap;

use clewline_check::search::SEARCHES;
use clewline_core::{
    Automaton, Budget, Codec, Event, History, LabelId, OperationId, Problem, Random, RawCall, Reason, Retain,
    Specification, StateId, UndoableExecution, Value, Values, Verdict, Witness,
};
use clewline_specs::{
    Visitor,
    queue::{Call, Queue},
};
use clewline_testing::share;

use crate::histories::random_history;

/// The same specification, whose state is copied before each step.
struct Copying<S>(S);

impl<S: Specification> Specification for Copying<S> {
    type State = S::State;
    type Call = S::Call;
    type Return = S::Return;

    fn initial(&self) -> S::State {
        self.0.initial()
    }

    fn step(&self, state: &S::State, call: &S::Call, ret: Option<&S::Return>, next: &mut Vec<S::State>) {
        self.0.step(state, call, ret, next);
    }

    fn canonical_return<'r>(&self, call: &S::Call, ret: &'r S::Return) -> &'r S::Return {
        self.0.canonical_return(call, ret)
    }

    fn state_bytes(&self, state: &S::State) -> usize {
        self.0.state_bytes(state)
    }

    fn footprint(&self, call: &S::Call, ret: Option<&S::Return>) -> clewline_core::Footprint {
        self.0.footprint(call, ret)
    }
}

/// The verdict, the order of its witness, and the number of configurations.
type Search = (&'static str, Vec<OperationId>, u64);

fn search(algorithm: &str, problem: &Problem<'_>) -> Search {
    let budget = Budget::unlimited().with_configurations(20_000);
    let checker = SEARCHES.iter().find(|it| it.name() == algorithm).unwrap();
    let verdict = checker.decide(problem, &budget);
    let order = match &verdict {
        Verdict::Holds(witness) => witness.order.clone(),
        Verdict::Violated(_) | Verdict::Unknown(_) => Vec::new(),
    };
    (verdict.word(), order, budget.visited())
}

fn typed<S: Codec>(specification: &S, name: &str, seed: u64) -> History<S::Call, S::Return> {
    let recording = random_history(name, seed).recording().unwrap();
    let values: &Values = &recording.values;
    let read = recording.history.clone().try_map(|_, raw: RawCall, ret| {
        let clewline_core::Datum::Text(method) = values.get(raw.method) else { panic!("a method is a text") };
        let call = specification.read_call(values, method, raw.arg)?;
        let ret = ret.map(|it| specification.read_return(values, &call, it)).transpose()?;
        Ok::<_, clewline_core::CodecError>((call, ret))
    });
    read.unwrap()
}

#[derive(Default)]
struct Compare {
    // By verdict.
    counts: BTreeMap<&'static str, usize>,
    // How many needed more configurations than operations.
    retreated: usize,
}

impl Visitor for Compare {
    fn visit<S>(&mut self, name: &'static str, specification: S)
    where
        S: Codec<Call: Send + Sync, Return: Send + Sync> + Clone + Send + Sync + 'static,
    {
        let copying = Copying(specification.clone());
        for seed in 0..share(60) {
            let history = typed(&specification, name, seed);
            let (one, other) =
                (Problem::of_objects(&specification, &history), Problem::of_objects(&copying, &history));
            for (one, other) in one.iter().zip(&other) {
                // Every third operation may not have taken effect, in every second history.
                let keep = |at: usize| match (seed % 2, at % 3) {
                    (1, 2) => Retain::Optional,
                    _ => Retain::All,
                };
                let (one, other) = (one.weaken(keep), other.weaken(keep));
                check_walk(&one, seed, name);
                check_walk(&other, seed, name);
                check_sizes(&other, seed, name);
                for algorithm in ["jit-tree", "wg-tree"] {
                    let seen = search(algorithm, &one);
                    let copied = search(algorithm, &other);
                    check_starts(&one, &seen.1, seed, name);
                    assert_eq!(seen, copied, "{algorithm} on {name}, seed {seed}: {one:#?}");
                    *self.counts.entry(seen.0).or_default() += 1;
                    self.retreated += usize::from(one.len() as u64 + 1 < seen.2);
                }
            }
        }
    }
}

#[test]
fn undoing_and_copying_searches_are_equal() {
    let mut compare = Compare::default();
    clewline_specs::visit(&mut compare);
    assert!(compare.counts["holds"] != 0 && compare.counts["violated"] != 0, "{:?}", compare.counts);
    assert!(compare.retreated != 0, "no search has retreated");
}

/// The state, and the way back: interned and undone.
struct BothWays<'p> {
    automaton: Box<dyn Automaton + 'p>,
    path: Vec<StateId>,
    execution: Box<dyn UndoableExecution + 'p>,
}

/// A step in place, and the state to which it leads.
#[derive(Clone, Copy)]
struct Step {
    label: LabelId,
    nth: u32,
    state: StateId,
    changes: bool,
}

impl BothWays<'_> {
    fn new<'p>(problem: &'p Problem<'_>) -> BothWays<'p> {
        let mut automaton = problem.automaton();
        let path = vec![automaton.initial()];
        BothWays { automaton, path, execution: problem.undoable() }
    }

    fn advance(&mut self, step: Step) {
        self.execution.advance(step.label, step.nth).unwrap();
        self.path.push(step.state);
    }

    fn undo(&mut self) {
        self.path.pop();
        self.execution.undo();
    }

    /// Makes every step that is possible here in both ways, and undoes it.
    #[track_caller]
    fn steps(&mut self, about: &str) -> Vec<Step> {
        let labels = self.execution.labels().to_vec();
        labels.into_iter().flat_map(|it| self.steps_of(it, about)).collect()
    }

    #[track_caller]
    fn steps_of(&mut self, label: LabelId, about: &str) -> Vec<Step> {
        assert_eq!(self.execution.is_read(label), self.automaton.is_read(label), "{about}: {label:?}");
        let present = self.path[self.path.len() - 1];
        let mut interned = Vec::new();
        while let Some(next) = self.automaton.step(present, label, interned.len() as u32) {
            interned.push(next.state);
            if !next.has_more {
                break;
            }
        }
        let mut in_place = Vec::new();
        let mut work = self.execution.work();
        while let Some(outcome) = self.execution.advance(label, in_place.len() as u32) {
            self.execution.undo();
            assert!(work < self.execution.work(), "{about}: a step is work");
            work = self.execution.work();
            in_place.push(outcome.changes);
            if !outcome.has_more {
                break;
            }
            assert!(in_place.len() < 1_000, "{about}: outcomes of {label:?} do not end");
        }
        // The automaton merges equal states, so that only the others are in the same order.
        let (changing, unchanged): (Vec<u32>, Vec<u32>) =
            (0..in_place.len() as u32).partition(|it| in_place[*it as usize]);
        let others: Vec<StateId> = interned.iter().copied().filter(|it| *it != present).collect();
        let seen = (changing.is_empty(), unchanged.is_empty());
        assert_eq!(seen, (others.is_empty(), others.len() == interned.len()), "{about}: {label:?}");
        assert!(others.len() <= changing.len(), "{about}: {label:?}");
        let is_paired = others.len() == changing.len();
        let changing = changing.into_iter().zip(others).filter(|_| is_paired);
        let step = |(nth, state): (u32, StateId)| Step { label, nth, state, changes: state != present };
        changing.chain(unchanged.into_iter().map(|it| (it, present))).map(step).collect()
    }
}

/// A random walk, forth and back.
#[track_caller]
fn check_walk(problem: &Problem<'_>, seed: u64, about: &str) {
    let (mut both, mut random) = (BothWays::new(problem), Random::new(seed));
    assert_eq!(both.execution.labels(), both.automaton.labels(), "{about}");
    for _ in 0..problem.len() {
        let steps = both.steps(about);
        if 1 < both.path.len() && (steps.is_empty() || random.chance(0.3)) {
            both.undo();
        } else if !steps.is_empty() {
            both.advance(steps[random.below(steps.len())]);
        }
    }
}

/// The same from the states in which the witness of a search can end.
#[track_caller]
fn check_starts(problem: &Problem<'_>, order: &[OperationId], seed: u64, about: &str) {
    for start in problem.ends(&[Witness { order: order.to_vec() }]).iter().take(2) {
        check_walk(&problem.weaken(|_| Retain::All).starting_at(start), seed, about);
    }
}

/// What is needed for going back counts, until it is used.
#[track_caller]
fn check_sizes(copying: &Problem<'_>, seed: u64, about: &str) {
    let mut both = BothWays::new(copying);
    let mut bytes_undone = Vec::new();
    for _ in 0..2 {
        let mut random = Random::new(seed);
        for _ in 0..copying.len() {
            let steps = both.steps(about);
            let before = both.execution.bytes();
            let Some(&step) = steps.get(random.below(steps.len().max(1))) else { break };
            both.advance(step);
            assert!(!step.changes || before < both.execution.bytes(), "{about}: a copy takes memory");
        }
        (1..both.path.len()).for_each(|_| both.undo());
        bytes_undone.push(both.execution.bytes());
    }
    assert_eq!(bytes_undone[0], bytes_undone[1], "{about}: what was undone is freed");
}

/// A tree search of a queue that becomes long needs memory for one queue, and one that copies it
/// for as many as there are operations.
#[test]
fn a_tree_search_that_undoes_needs_memory_for_one_state() {
    let enq = [Event::call(0, Call::Enq(Value::TRUE)), Event::ret(0, Value::TRUE)];
    let deq = [Event::call(0, Call::Deq), Event::ret(0, Value::TRUE)];
    let events = std::iter::repeat_n(enq, 1_000).chain(std::iter::repeat_n(deq, 1_000)).flatten();
    let history = History::from_events(events).unwrap();
    let (undoing, copying) = (Queue::new(), Copying(Queue::new()));
    let budget = || Budget::unlimited().with_memory(2 << 20);
    for algorithm in ["jit-tree", "wg-tree"] {
        let checker = SEARCHES.iter().find(|it| it.name() == algorithm).unwrap();
        let verdict = checker.decide(&Problem::new(&undoing, &history), &budget());
        assert_eq!(verdict.word(), "holds", "{algorithm}: {verdict:?}");
        let verdict = checker.decide(&Problem::new(&copying, &history), &budget());
        assert_eq!(verdict, Verdict::Unknown(Reason::Memory(2 << 20)), "{algorithm}");
    }
}
