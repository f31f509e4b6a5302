//! The states of a system, as the engine that users have counts them.

use std::collections::{HashMap, HashSet};

use clewline_actors::{ActorSystem, CallOf, Harness, HistoryId, Rules, Scenario};
use clewline_core::{History, Specification};

use super::oracle::{Operation, is_linearizable};

/// The results of exploring all states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StateCounts {
    pub(super) states: usize,
    pub(super) edges: usize,
    /// Canonical histories at the end, those without pending calls, and those that are not
    /// linearizable.
    pub(super) histories: usize,
    pub(super) complete: usize,
    pub(super) violated: usize,
    /// There were more states than were allowed.
    pub(super) is_cut: bool,
}

/// When to stop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// All states were visited.
    TheEnd,
    /// Some history is not linearizable.
    Violated,
}

pub(super) fn count<H: Harness + 'static>(
    harness: H,
    scenario: Scenario<CallOf<H>>,
    rules: Rules,
    until: Until,
    limit: usize,
) -> StateCounts {
    let specification = harness.specification();
    let calls = scenario.calls.len();
    let system = ActorSystem::new(harness, scenario, rules).unwrap();
    let mut engine = system.engine();
    let mut counted = StateCounts::default();
    let mut verdicts: HashMap<HistoryId, bool> = HashMap::new();
    let mut judge =
        |id: HistoryId| *verdicts.entry(id).or_insert_with(|| is_right(&specification, &system.history(id)));
    let (mut visited, mut ends) = (HashSet::new(), HashSet::new());
    let mut stack = vec![engine.unstarted_world()];
    let mut actions = Vec::new();
    while let Some(world) = stack.pop() {
        if until == Until::Violated && !judge(world.history()) {
            counted.violated = 1;
            return counted;
        }
        actions.clear();
        engine.enabled(&world, &mut actions);
        let mut is_last = true;
        for action in &actions {
            let Some(fingerprint) = engine.plan(&world, *action) else { continue };
            is_last = false;
            counted.edges += 1;
            if limit <= visited.len() {
                counted.is_cut = true;
            } else if visited.insert(fingerprint) {
                let mut next = engine.unstarted_world();
                engine.build(&world, &mut next);
                stack.push(next);
            }
        }
        if is_last {
            ends.insert(world.history());
        }
    }
    // The first step, from before anything happened, is none.
    (counted.states, counted.edges) = (visited.len(), counted.edges - 1);
    counted.histories = ends.len();
    for end in ends {
        let history = system.history(end);
        counted.complete += usize::from(history.len() == calls && history.is_complete());
        counted.violated += usize::from(!judge(end));
    }
    assert!(engine.bad_handler().is_none(), "{:?}", engine.bad_handler());
    counted
}

/// Uses the oracle.
fn is_right<S: Specification>(specification: &S, history: &History<S::Call, S::Return>) -> bool {
    let calls: Vec<S::Call> = history.operations().map(|it| it.call.clone()).collect();
    let spans = history.spans();
    let before = |at: usize| {
        let preceding = (0..spans.len()).filter(|it| spans[*it].precedes(spans[at]));
        preceding.fold(0, |set, it| set | 1 << it)
    };
    let operations: Vec<(usize, Operation<S::Return>)> =
        history.operations().enumerate().map(|(at, it)| (at, (it.ret.cloned(), before(at)))).collect();
    is_linearizable(specification, &calls, &operations)
}
