//! Tree searches that change their state in place visit what those that copy it visit.

use std::collections::BTreeMap;

use clewline_check::search::SEARCHES;
use clewline_core::{
    Budget, Codec, History, OperationId, Problem, RawCall, Retain, Specification, Values, Verdict,
};
use clewline_specs::Visitor;
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
                for algorithm in ["jit-tree", "wg-tree"] {
                    let seen = search(algorithm, &one);
                    let copied = search(algorithm, &other);
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
