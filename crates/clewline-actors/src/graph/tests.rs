use clewline_core::{Verdict, VerdictKind};
use clewline_testing::pick;
use std::collections::BTreeSet;

use super::*;
use crate::{
    ActorId, ActorSystem, ClientCall, Clients, Execution, Harness, HistoryEvent, HistorySummary,
    IncrementalJudge, ReturnId, Rules, Scenario, Snapshots, Stepwise,
    random_systems::random,
    reference::{CanonicalHistory as Canonical, Enumeration as Enumerated, ReferenceExplorer},
    samples::{Call, HastyRegister, Register, hasty, is_linearizable, judge},
};

fn schedules(jobs: usize) -> Search {
    Search { jobs, count: Count::Schedules, ..Search::default() }
}

fn explore<H: Harness<Specification = Register> + 'static>(
    system: &ActorSystem<H>,
    search: &Search,
) -> Explored {
    let mut verdicts = Verdicts::new(Box::new(judge(system)));
    explore_states(&system.engine(), &[], &mut verdicts, search, &|_| ())
}

#[test]
fn the_hasty_register_is_counted_without_enumerating() {
    let seen = explore(&hasty(), &schedules(1));
    let paths = seen.paths.expect("they were counted");
    assert_eq!(paths, Paths { schedules: Some(252), depth: 7, has_cycle: false });
    assert_eq!((seen.unique, seen.generated - 1), (232, 335));
    assert_eq!((seen.final_histories.len(), seen.final_complete, seen.final_violated), (32, 32, 12));
    assert_eq!((seen.stuck, seen.undelivered, seen.ended), (0, 0, StopReason::Exhausted));
}

// The canonical history in the form of the reference explorer.
fn canonical<H: Harness<Specification = Register> + 'static>(
    system: &ActorSystem<H>,
    id: HistoryId,
) -> Canonical {
    let mut seen = Canonical::new();
    let mut returned = BTreeSet::new();
    for event in system.histories().events(id) {
        match event {
            HistoryEvent::Call(operation) => {
                seen.insert(operation as usize, (returned.clone(), None));
            }
            HistoryEvent::Return(operation, ret) => {
                returned.insert(operation as usize);
                seen.get_mut(&(operation as usize)).unwrap().1 = Some(*system.tables().returned(ret));
            }
        }
    }
    seen
}

#[test]
fn graph_search_and_reference_enumeration_agree_on_random_systems() {
    let (mut compared, mut violated, mut holding, mut kinds) = (0, 0, 0, BTreeSet::new());
    for seed in 0..pick(150, 1_000) {
        let (harness, scenario, rules) = random(seed);
        let found = Enumerated::default();
        let mut reference =
            ReferenceExplorer { harness: &harness, scenario: &scenario, rules, found, schedules_max: 1000 };
        if !reference.run() {
            continue;
        }
        let reference = reference.found;
        let calls: Vec<_> = scenario.calls.iter().map(|it| it.call).collect();
        let system = ActorSystem::new(harness, scenario.clone(), rules).unwrap();
        let seen = explore(&system, &schedules(1));
        let about = format!("seed {seed}, {rules:?}, {harness:?}, {scenario:?}");
        let paths = seen.paths.clone().unwrap();
        assert_eq!(paths.schedules, Some(reference.schedules), "schedules of {about}");
        assert_eq!(paths.depth, reference.depth, "depth of {about}");
        let finals: BTreeSet<Canonical> =
            seen.final_histories.iter().map(|it| canonical(&system, *it)).collect();
        assert_eq!(finals, reference.finals, "histories of {about}");
        assert_eq!(seen.final_histories.len(), reference.finals.len(), "each history once: {about}");
        assert_eq!(seen.bad_handler, None);
        for id in &seen.final_histories {
            let events = system.histories().events(*id);
            let returns = |it| *system.tables().returned(ReturnId(it));
            if is_linearizable(&events, &calls, &returns) { holding += 1 } else { violated += 1 }
        }
        let mut execution = Execution::new(system.engine(), Snapshots::Sound);
        let executed = execute_all(&mut execution, &mut kinds);
        assert_eq!(executed.0, reference.schedules, "schedules of executions, {about}");
        assert_eq!(
            executed.1,
            seen.final_histories.iter().copied().collect(),
            "histories of executions, {about}"
        );
        assert_eq!(executed.2.len() as u64, seen.unique, "states of executions, {about}");
        let two = explore(&system, &schedules(2));
        assert_eq!(two, seen, "two threads, {about}");
        let exact = explore(&system, &Search { compare: StateComparison::Exactly, ..schedules(2) });
        assert_eq!(exact, seen, "compared exactly, {about}");
        compared += 1;
    }
    println!("{compared} systems, {holding} histories hold, {violated} are violated, {kinds:?}");
    assert!(pick(8, 500) < compared && pick(2, 200) < violated && pick(2, 200) < holding);
    assert_eq!(kinds.len(), 9, "every kind of step was made: {kinds:?}");
}

type ExecutionSets = (u128, BTreeSet<HistoryId>, BTreeSet<u128>);

fn execute_all(execution: &mut Execution, kinds: &mut BTreeSet<String>) -> ExecutionSets {
    let mut all: ExecutionSets = (0, BTreeSet::new(), BTreeSet::new());
    if execution.world().is_begun {
        all.2.insert(execution.world().fingerprint());
    }
    if execution.enabled().is_empty() {
        all.0 = 1;
        all.1.insert(execution.history());
    }
    for at in 0..execution.enabled().len() {
        kinds.insert(format!("{:?}", execution.enabled()[at].kind));
        execution.take(at);
        let below = execute_all(execution, kinds);
        execution.back();
        all.0 += below.0;
        all.1.extend(below.1);
        all.2.extend(below.2);
    }
    all
}

/// Represents the knowledge about a history by its events.
struct EventReplayJudge {
    known: Vec<Vec<HistoryEvent>>,
    calls: Vec<Call>,
    returns: Box<dyn Fn(u32) -> u8 + Send>,
}

impl IncrementalJudge for EventReplayJudge {
    fn start(&mut self) -> u32 {
        self.known.push(Vec::new());
        self.known.len() as u32 - 1
    }

    fn extend(&mut self, knowledge: u32, before: HistorySummary, event: HistoryEvent) -> u32 {
        let mut events = self.known[knowledge as usize].clone();
        let calls = events.iter().filter(|it| matches!(it, HistoryEvent::Call(_))).count();
        assert_eq!(calls, before.called.count_ones() as usize, "the history before is passed");
        events.push(event);
        self.known.push(events);
        self.known.len() as u32 - 1
    }

    fn judgement(&mut self, knowledge: u32) -> VerdictKind {
        let returns = &*self.returns;
        match is_linearizable(&self.known[knowledge as usize], &self.calls, returns) {
            true => Verdict::Holds(()),
            false => Verdict::Violated(()),
        }
    }
}

#[test]
fn judging_event_by_event_gives_the_same_verdicts() {
    let system = hasty();
    let tables = system.shared_tables();
    let calls = tables.lock().unwrap().scenario().calls.iter().map(|it| it.call).collect();
    let returns = Box::new(move |it| *tables.lock().unwrap().returned(ReturnId(it)));
    let mut verdicts =
        Verdicts::new(Box::new(Stepwise::new(EventReplayJudge { known: Vec::new(), calls, returns })));
    let seen = explore_states(&system.engine(), &[], &mut verdicts, &schedules(1), &|_| ());
    assert_eq!(seen, explore(&system, &schedules(1)));
    assert_eq!(seen.final_violated, 12);
}

#[test]
fn a_request_that_arrives_twice_calls_nothing_the_second_time() {
    // Both requests are equal: only their order distinguishes them.
    let write = |_| ClientCall { client: 0, to: ActorId::new(0), call: Call::Write(1) };
    let scenario = Scenario { calls: (0..2).map(write).collect(), clients: Clients::Tight };
    let faults = Faults { duplicate: 1, ..Faults::default() };
    let system = ActorSystem::new(HastyRegister, scenario, Rules { faults, ..Rules::default() }).unwrap();
    let seen = explore(&system, &Search::default());
    // A history in which a client calls before its previous response would be ill-formed.
    let lengths: BTreeSet<usize> = seen.final_histories.iter().map(|it| system.history(*it).len()).collect();
    assert_eq!(lengths, BTreeSet::from([2]));
}
