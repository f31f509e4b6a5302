//! Properties of states, limits, and handlers that are not pure.

use clewline_core::Verdict;
use clewline_testing::pick;
use std::sync::atomic::{AtomicBool, Ordering as Order};

use super::*;
use crate::{
    Actor, ActorId, ActorSystem, AnyActor, Clients, Context, Execution, GlobalState, Harness, Input,
    Property, Rules, Scenario, Snapshots, TraceLimits, TraceResult,
    samples::{Call, OneRequest, Register, hasty, judge},
    trace,
};

/// Two messages in any order: 1 and 2. The sum forgets which came first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Collector(u8);

impl Actor for Collector {
    type Message = u8;

    fn on_start(&mut self, context: &mut Context<u8>) {
        context.send(context.me(), 1);
        context.send(context.me(), 2);
    }

    fn on_message(&mut self, _from: ActorId, message: &u8, _context: &mut Context<u8>) {
        self.0 += message;
    }
}

/// A lamp that blinks forever, and a message to it that may never be delivered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Lamp {
    is_lit: bool,
    has_received: bool,
}

impl Actor for Lamp {
    type Message = u8;

    fn on_start(&mut self, context: &mut Context<u8>) {
        context.set_timer(0);
        context.send(context.me(), 1);
    }

    fn on_message(&mut self, _from: ActorId, _message: &u8, _context: &mut Context<u8>) {
        self.has_received = true;
    }

    fn on_timer(&mut self, _timer: &u8, context: &mut Context<u8>) {
        self.is_lit = !self.is_lit;
        context.set_timer(0);
    }
}

type Holds = fn(&GlobalState<'_, u8>) -> bool;

#[derive(Clone)]
struct SingleActor<A> {
    actor: A,
    properties: Vec<(Modality, Holds)>,
}

impl<A: Actor<Message = u8>> Harness for SingleActor<A> {
    type Message = u8;
    type Specification = Register;

    fn specification(&self) -> Register {
        Register
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<u8>>> {
        vec![Box::new(self.actor.clone())]
    }

    fn request(&self, _call: &Call, _n: u32) -> u8 {
        0
    }

    fn response(&self, _message: &u8) -> Option<u8> {
        None
    }

    fn properties(&self) -> Vec<Property<u8>> {
        self.properties.iter().map(|&(when, holds)| Property { name: "", when, holds }).collect()
    }
}

fn sum(state: &GlobalState<'_, u8>) -> u8 {
    state.all::<Collector>().next().expect("it is there").0
}

fn lamp<'a>(state: &'a GlobalState<'_, u8>) -> &'a Lamp {
    state.all::<Lamp>().next().expect("it is there")
}

fn explore<A: Actor<Message = u8>>(
    harness: SingleActor<A>,
    jobs: usize,
) -> (ActorSystem<SingleActor<A>>, Explored) {
    let when: Vec<Modality> = harness.properties.iter().map(|it| it.0).collect();
    let scenario = Scenario { calls: Vec::new(), clients: Clients::Tight };
    let system = ActorSystem::new(harness, scenario, Rules::default()).unwrap();
    let search = Search { jobs, count: Count::Schedules, ..Search::default() };
    let mut verdicts = Verdicts::new(Box::new(judge(&system)));
    let seen = explore_states(&system.engine(), &when, &mut verdicts, &search, &|_| ());
    (system, seen)
}

fn is_violated(found: &PropertyVerdict) -> bool {
    match found {
        Verdict::Violated(_) => true,
        Verdict::Holds(()) => false,
        Verdict::Unknown(()) => panic!("everything was seen"),
    }
}

#[test]
fn properties_are_decided_where_executions_merge() {
    let properties: Vec<(Modality, Holds)> = vec![
        (Modality::Always, |it| sum(it) <= 3),
        (Modality::Always, |it| sum(it) != 2),
        (Modality::Sometimes, |it| sum(it) == 2),
        (Modality::Sometimes, |it| sum(it) == 4),
        (Modality::Eventually, |it| sum(it) == 3),
        // Only if 1 comes first; both orders end in one state, in which it is not true.
        (Modality::Eventually, |it| sum(it) == 1),
        (Modality::Eventually, |it| sum(it) == 1 || sum(it) == 2),
    ];
    let harness = SingleActor { actor: Collector(0), properties };
    for jobs in [1, 2] {
        let (system, seen) = explore(harness.clone(), jobs);
        let violated: Vec<bool> = seen.properties.iter().map(is_violated).collect();
        assert_eq!(violated, [false, true, false, true, false, true, false]);
        let Verdict::Violated(path) = &seen.properties[5] else { panic!("it is violated") };
        let mut execution = Execution::new(system.engine(), Snapshots::Sound);
        execution.follow(path);
        assert_eq!(execution.events()[0].step.ordinal, 1, "2 comes first");
        assert!(execution.enabled().is_empty());
        assert_eq!(seen.paths, Some(Paths { schedules: Some(2), depth: 2, has_cycle: false }));
    }
}

#[test]
fn a_cycle_may_avoid_a_property() {
    let properties: Vec<(Modality, Holds)> = vec![
        (Modality::Always, |it| !lamp(it).is_lit || lamp(it).has_received),
        (Modality::Eventually, |it| lamp(it).is_lit || lamp(it).has_received),
        (Modality::Eventually, |it| lamp(it).has_received),
        (Modality::Eventually, |it| !lamp(it).is_lit),
    ];
    let harness = SingleActor { actor: Lamp { is_lit: false, has_received: false }, properties };
    let (_, seen) = explore(harness, 1);
    let violated: Vec<bool> = seen.properties.iter().map(is_violated).collect();
    assert_eq!(violated, [true, false, true, false]);
    assert_eq!(seen.paths, Some(Paths { schedules: None, depth: 2, has_cycle: true }));
    assert_eq!((seen.unique, seen.generated, seen.ends), (4, 1 + 6, 0));
}

fn up_to(states_max: usize) -> TraceLimits {
    TraceLimits { states_max, deadline: None }
}

/// Counts to 10,000, one message after the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Counter(u32);

impl Actor for Counter {
    type Message = ();

    fn on_start(&mut self, context: &mut Context<()>) {
        context.send(context.me(), ());
    }

    fn on_message(&mut self, _from: ActorId, (): &(), context: &mut Context<()>) {
        self.0 += 1;
        if self.0 < 10_000 {
            context.send(context.me(), ());
        }
    }
}

#[test]
fn a_long_path_is_given_up_at_the_deadline() {
    let scenario = Scenario { calls: Vec::new(), clients: Clients::Tight };
    let harness = OneRequest { actors: || vec![Box::new(Counter(0))], request: (), done: None };
    let system = ActorSystem::new(harness, scenario, Rules::default()).unwrap();
    let mut is_it = |_: &mut Engine, _: &World, is_end: bool| is_end;
    let mut path =
        |deadline| trace(&mut system.engine(), TraceLimits { deadline, ..up_to(100_000) }, &mut is_it);
    assert!(matches!(path(None), TraceResult::Found(path) if path.len() == 10_001));
    assert_eq!(path(Some(Instant::now())), TraceResult::GivenUp);
}

#[test]
fn a_shortest_path_to_a_violation_is_found() {
    let system = hasty();
    let mut verdicts = Verdicts::new(Box::new(judge(&system)));
    let shared = system.engine().shared.clone();
    let mut is_violated = |_: &mut Engine, world: &World, _| {
        verdicts.of(&lock(&shared.histories), world.history) == Verdict::Violated(())
    };
    let TraceResult::Found(path) = trace(&mut system.engine(), up_to(1000), &mut is_violated) else {
        panic!("there is one")
    };
    let mut execution = Execution::new(system.engine(), Snapshots::Sound);
    execution.follow(&path);
    // The write, one replication, its acknowledgement; then a read at the other replica.
    assert_eq!(execution.events().len(), 4);
    assert_eq!(trace(&mut system.engine(), up_to(10), &mut is_violated), TraceResult::GivenUp);
    assert_eq!(trace(&mut system.engine(), up_to(1000), &mut |_, _, _| false), TraceResult::Unreachable);
}

#[test]
fn a_search_that_stops_early_has_the_same_results_for_any_number_of_threads() {
    let system = hasty();
    let look = |search: &Search| {
        let mut verdicts = Verdicts::new(Box::new(judge(&system)));
        explore_states(&system.engine(), &[], &mut verdicts, search, &|_| ())
    };
    let mut ended = Vec::new();
    let limits = (1..=240)
        .step_by(pick(12, 1))
        .map(|it| (it, StopWhen::Exhausted))
        .chain([(u64::MAX, StopWhen::Violated)]);
    for (states_max, until) in limits {
        let search = Search { states_max, until, count: Count::Schedules, ..Search::default() };
        let alone = look(&search);
        for jobs in [2, 4] {
            assert_eq!(look(&Search { jobs, ..search.clone() }), alone, "{states_max}, {until:?}, {jobs}");
        }
        ended.push(alone.ended);
    }
    assert_eq!(ended.iter().filter(|it| **it == StopReason::States).count(), pick(20, 232));
    assert_eq!(ended.last(), Some(&StopReason::Violated));
}

#[test]
fn progress_reports_the_depth_of_the_search() {
    let reported = Mutex::new(Vec::new());
    let system = hasty();
    let mut verdicts = Verdicts::new(Box::new(judge(&system)));
    let note = |it: GraphProgress| reported.lock().unwrap().push((it.unique, it.depth));
    explore_states(&system.engine(), &[], &mut verdicts, &Search::default(), &note);
    assert_eq!(reported.into_inner().unwrap().last(), Some(&(232, 7)));
}

fn limited(search: &Search) -> Explored {
    let system = hasty();
    let mut verdicts = Verdicts::new(Box::new(judge(&system)));
    explore_states(&system.engine(), &[Modality::Always; 0], &mut verdicts, search, &|_| ())
}

#[test]
fn a_limit_that_was_reached_is_reported() {
    for jobs in [1, 2] {
        let states = limited(&Search { jobs, states_max: 50, ..Search::default() });
        assert_eq!(states.ended, StopReason::States);
        assert!((50..232).contains(&states.unique), "{} states", states.unique);
        let memory = limited(&Search { jobs, bytes_max: 1000, ..Search::default() });
        assert_eq!(memory.ended, StopReason::Memory);
        let time = limited(&Search { jobs, deadline: Some(Instant::now()), ..Search::default() });
        assert_eq!(time.ended, StopReason::Time);
        let first = limited(&Search { jobs, until: StopWhen::Violated, ..Search::default() });
        assert_eq!(first.ended, StopReason::Violated);
        assert_eq!(first.violated, 1);
    }
}

static IS_IMPURE_LATER: AtomicBool = AtomicBool::new(false);

/// A handler that is impure at once or later, or that panics.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ImpureActor {
    Each(u8),
    Later(u8),
    AtOnce,
    Panics,
}

static BEGINS: AtomicBool = AtomicBool::new(false);
static FLIPS: AtomicBool = AtomicBool::new(false);

impl Actor for ImpureActor {
    type Message = u8;

    fn on_start(&mut self, context: &mut Context<u8>) {
        let is_odd = matches!(self, ImpureActor::AtOnce) && BEGINS.fetch_not(Order::Relaxed);
        context.send(context.me(), if is_odd { 8 } else { 7 });
    }

    fn on_message(&mut self, _from: ActorId, _message: &u8, _context: &mut Context<u8>) {
        match self {
            ImpureActor::AtOnce => (),
            ImpureActor::Panics => panic!("no idea what to do"),
            ImpureActor::Each(it) => *it = u8::from(FLIPS.fetch_not(Order::Relaxed)) + 1,
            ImpureActor::Later(it) => *it = u8::from(IS_IMPURE_LATER.load(Order::Relaxed)) + 1,
        }
    }
}

#[test]
fn a_handler_that_is_not_pure_is_named() {
    let (_, seen) = explore(SingleActor { actor: ImpureActor::Each(0), properties: Vec::new() }, 1);
    assert_eq!(seen.ended, StopReason::BadHandler);
    let text = seen.bad_handler.expect("it is not pure").to_string();
    assert_eq!(
        text,
        "the handler of N1 is not pure: message 7 from N1 in the same state did something else the second time"
    );
}

#[test]
fn a_handler_that_panics_is_named() {
    for jobs in [1, 2] {
        let (_, seen) = explore(SingleActor { actor: ImpureActor::Panics, properties: Vec::new() }, jobs);
        assert_eq!(seen.ended, StopReason::BadHandler);
        assert_eq!(
            seen.bad_handler.expect("it panicked").to_string(),
            "the handler of N1 panicked at message 7 from N1: no idea what to do"
        );
    }
}

#[test]
#[should_panic(expected = "cannot decide")]
fn a_property_that_panics_leaves_no_thread_waiting() {
    fn is_new(state: &GlobalState<'_, u8>) -> bool {
        state.all().next() == Some(&ImpureActor::Later(0)) || panic!("cannot decide")
    }
    explore(SingleActor { actor: ImpureActor::Later(0), properties: vec![(Modality::Always, is_new)] }, 2);
}

#[test]
fn paths_are_not_counted_if_half_fingerprints_coincide() {
    let record = |states, held| GraphRecord { roots: vec![1], states, edges: vec![(2, 1)], held };
    let recorded = StateGraph::new(record(vec![(1, 1), (2, 0)], Vec::new()));
    assert_eq!(recorded.unwrap().paths().schedules, Some(1));
    assert!(StateGraph::new(record(vec![(1, 1), (2, 0), (2, 0)], Vec::new())).is_none());
    // One of them was reached, but not expanded.
    assert!(StateGraph::new(record(vec![(1, 1), (2, 0)], vec![(1, 0), (2, 0), (2, 1)])).is_none());
}

#[test]
fn a_start_that_is_not_pure_is_named() {
    let (_, seen) = explore(SingleActor { actor: ImpureActor::AtOnce, properties: Vec::new() }, 1);
    assert_eq!(seen.ended, StopReason::BadHandler);
    assert_eq!(seen.bad_handler.expect("it is not pure").input, "its start");
}

#[test]
fn a_handler_that_becomes_impure_later_is_found_by_a_sample() {
    let harness = SingleActor { actor: ImpureActor::Later(0), properties: Vec::new() };
    let scenario = Scenario { calls: Vec::new(), clients: Clients::Tight };
    let system = ActorSystem::new(harness, scenario, Rules::default()).unwrap();
    let mut engine = system.engine();
    let world = engine.apply(&engine.unstarted_world(), Action::Begin { outcome: 0 }).unwrap();
    let input = Input::Envelope(world.in_flight[0]);
    engine.reaction(world.locals[0], input);
    assert_eq!(engine.bad_handler(), None);
    IS_IMPURE_LATER.store(true, Order::Relaxed);
    (0..1 << 12).for_each(|_| _ = engine.reaction(world.locals[0], input));
    assert!(engine.bad_handler().is_some());
}
