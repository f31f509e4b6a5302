//! State-graph search: visits every reachable state once.
//!
//! Executions that lead to the same state and the same canonical history have the same
//! continuations, so they are merged. The results are the same for any number of threads: each
//! state is expanded once, by the thread that reaches it first, and every count is a sum over
//! states. If the search stops early, the order of visits determines the results; a single thread
//! then repeats the search up to the limit. Schedules are not enumerated but counted, as paths in
//! the graph.
//!
//! States are distinguished by fingerprints of 128 bits. For `n` states, the probability of a
//! collision is about `n²/2¹²⁹`: less than one in 10²³ for 41 million states, which is less than
//! that of an error in memory. [`StateComparison::Exactly`] compares the states themselves. Edges
//! store half fingerprints. If two states have the same half, which is detected, paths are not
//! counted.
//!
//! Cost: 23 to 46 bytes a state and, if paths are counted, 16 more and 16 an edge.

use std::{
    sync::{
        Condvar, Mutex, RwLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use clewline_core::{Verdict, is_interrupted, parallel};
use rustc_hash::FxHashSet;

use crate::{
    engine::{Engine, PlannedDelivery, lock},
    faults::{FaultPlacement, Faults},
    harness::Modality,
    histories::HistoryId,
    interned::{BadHandler, Fingerprint},
    judge::Verdicts,
    paths::{GraphRecord, Paths, StateGraph},
    trace::trace_along,
    visited::Visited,
    world::{Action, World},
};

/// The limits and the purpose of a search.
#[derive(Clone, Debug)]
pub struct Search {
    /// Number of threads.
    pub jobs: usize,
    /// What is counted.
    pub count: Count,
    /// How states are distinguished.
    pub compare: StateComparison,
    /// At which places faults are explored.
    pub places: FaultPlacement,
    /// When to stop before the search is exhausted.
    pub until: StopWhen,
    /// Maximum number of states to visit.
    pub states_max: u64,
    /// Approximate memory limit, in bytes.
    pub bytes_max: usize,
    /// When to stop at the latest.
    pub deadline: Option<Instant>,
}

impl Default for Search {
    fn default() -> Self {
        Search {
            jobs: 1,
            count: Count::States,
            compare: StateComparison::Fingerprints,
            places: FaultPlacement::All,
            until: StopWhen::Exhausted,
            states_max: u64::MAX,
            bytes_max: usize::MAX,
            deadline: None,
        }
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// States and edges.
    States,
    /// Paths too, which requires all edges. Edges are also kept for [`Modality::Eventually`].
    Schedules,
}

/// How states are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateComparison {
    /// By fingerprints of 128 bits: two states are taken for one with a probability of `n²/2¹²⁹`.
    Fingerprints,
    /// As they are: some hundred bytes a state. Paths are counted by fingerprints all the same.
    Exactly,
}

/// When to stop before the search is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopWhen {
    /// Never.
    Exhausted,
    /// When a history or a property is violated.
    Violated,
}

/// Why a search stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All reachable states were visited.
    Exhausted,
    /// A violation was found, and the search was to stop there.
    Violated,
    /// The limit on states was reached.
    States,
    /// The limit on memory was reached.
    Memory,
    /// Time was up.
    Time,
    /// A handler is not pure, or panicked: the results are unreliable.
    BadHandler,
}

/// The results of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// Why it ended.
    pub ended: StopReason,
    /// At which places faults were explored.
    pub places: FaultPlacement,
    /// States generated, with repetitions: the number of edges plus the number of initial states.
    pub generated: u64,
    /// Different states.
    pub unique: u64,
    /// States without enabled actions.
    pub ends: u64,
    /// Those in which an operation has not returned.
    pub stuck: u64,
    /// Those in which a message was never received.
    pub undelivered: u64,
    /// Different canonical histories of all states.
    pub histories: u64,
    /// Violated ones.
    pub violated: u64,
    /// Those without a verdict.
    pub unknown: u64,
    /// Different canonical histories of states without enabled actions, by id.
    pub final_histories: Vec<HistoryId>,
    /// The number of complete ones.
    pub final_complete: u64,
    /// The number of violated ones.
    pub final_violated: u64,
    /// Each property, in the order of the harness.
    pub properties: Vec<PropertyVerdict>,
    /// The paths, if they were counted.
    pub paths: Option<Paths>,
    /// A handler that is not pure, or panicked.
    pub bad_handler: Option<BadHandler>,
}

/// The verdict on a property. It holds if it does in all states visited; it is unknown if the
/// search was not exhausted. If it is violated: for [`Modality::Always`], [`trace`](super::trace)
/// finds a counterexample; for [`Modality::Eventually`], these actions lead to a state without
/// enabled actions, or around a cycle.
pub type PropertyVerdict = Verdict<(), Vec<Action>, ()>;

/// The progress of a search.
#[derive(Clone, Copy, Debug)]
pub struct GraphProgress {
    /// States generated so far.
    pub generated: u64,
    /// Different ones.
    pub unique: u64,
    /// Steps on the longest path by which a state was first reached.
    pub depth: u64,
}

/// Visits every state that can be reached.
///
/// `progress` is called now and then.
pub fn explore_states(
    engine: &Engine,
    properties: &[Modality],
    verdicts: &mut Verdicts,
    search: &Search,
    progress: &(dyn Fn(GraphProgress) + Sync),
) -> Explored {
    let explored = explore_once(engine, properties, verdicts, search, progress);
    let has_limit = match explored.ended {
        StopReason::Violated | StopReason::States => true,
        StopReason::Exhausted | StopReason::Memory | StopReason::Time | StopReason::BadHandler => false,
    };
    if search.jobs <= 1 || !has_limit {
        return explored;
    }
    // The result of a single thread counts, unless there is too little time for it.
    verdicts.clear();
    let alone = explore_once(engine, properties, verdicts, &Search { jobs: 1, ..search.clone() }, progress);
    match alone.ended {
        StopReason::Exhausted | StopReason::Violated | StopReason::States | StopReason::BadHandler => alone,
        StopReason::Memory | StopReason::Time => explored,
    }
}

fn explore_once(
    engine: &Engine,
    properties: &[Modality],
    verdicts: &mut Verdicts,
    search: &Search,
    progress: &(dyn Fn(GraphProgress) + Sync),
) -> Explored {
    let all = Search { places: FaultPlacement::All, ..search.clone() };
    if search.places == FaultPlacement::Few && engine.supports_few_placements() {
        let done = search_all(engine, properties, verdicts, search, progress);
        if !lock(&engine.shared.model).has_read_network_state() {
            return summarize(engine, properties, verdicts, search, done);
        }
        verdicts.clear();
    }
    let done = search_all(engine, properties, verdicts, &all, progress);
    summarize(engine, properties, verdicts, &all, done)
}

fn search_all(
    engine: &Engine,
    properties: &[Modality],
    verdicts: &mut Verdicts,
    search: &Search,
    progress: &(dyn Fn(GraphProgress) + Sync),
) -> Vec<WorkerResult> {
    let records = properties.contains(&Modality::Eventually) || search.count == Count::Schedules;
    let jobs = search.jobs.max(1);
    let common = SharedSearch {
        search,
        properties,
        progress,
        records,
        visited: RwLock::new(Visited::new((1usize << 16) * jobs.next_power_of_two())),
        exact: Mutex::default(),
        verdicts: Mutex::new(verdicts),
        queue: Mutex::new(Queue { worlds: Vec::new(), idle: 0 }),
        work_changed: Condvar::new(),
        idle_workers: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        generated: AtomicU64::new(0),
        unique: AtomicU64::new(0),
        depth: AtomicU64::new(0),
        jobs,
    };
    let mut first = Worker::new(engine.fork(), &common);
    first.push_initial_states();
    let others: Vec<_> = (1..jobs).map(|_| Worker::new(engine.fork(), &common)).collect();
    let (first, mut done) = parallel::run_alongside(others, Worker::run, || first.run());
    done.insert(0, first);
    done
}

fn summarize(
    engine: &Engine,
    properties: &[Modality],
    verdicts: &Verdicts,
    search: &Search,
    done: Vec<WorkerResult>,
) -> Explored {
    let mut all = WorkerResult::default();
    done.into_iter().for_each(|it| all.add(it));
    let ended = all.ended.unwrap_or(StopReason::Exhausted);
    // Counting paths through a part of the graph is meaningless, but a part may refute that a
    // property becomes true. There is no time for either after a timeout.
    let is_eventual = properties.contains(&Modality::Eventually);
    let needs_graph = match ended {
        StopReason::Exhausted => is_eventual || search.count == Count::Schedules,
        StopReason::Violated | StopReason::States => is_eventual,
        StopReason::Memory | StopReason::Time | StopReason::BadHandler => false,
    };
    let recorded = needs_graph.then(|| StateGraph::new(std::mem::take(&mut all.record))).flatten();
    let properties = property_verdicts(engine, properties, &all, ended, recorded.as_ref());
    let mut finals: Vec<HistoryId> = all
        .is_final_history
        .iter()
        .enumerate()
        .filter(|(_, it)| **it)
        .map(|(at, _)| HistoryId(at as u32))
        .collect();
    finals.sort_unstable();
    let mut engine = engine.fork();
    engine.catch_up();
    let is_violated = |id: HistoryId| verdicts.known(id) == Some(Verdict::Violated(()));
    let of = |judgement| verdicts.all().filter(|&(_, it)| it == judgement).count() as u64;
    Explored {
        ended,
        places: search.places,
        generated: all.generated,
        unique: all.unique,
        ends: all.ends,
        stuck: all.stuck,
        undelivered: all.undelivered,
        histories: verdicts.all().count() as u64,
        violated: of(Verdict::Violated(())),
        unknown: of(Verdict::Unknown(())),
        final_complete: finals.iter().filter(|it| engine.summary(**it).is_complete()).count() as u64,
        final_violated: finals.iter().filter(|it| is_violated(**it)).count() as u64,
        final_histories: finals,
        properties,
        paths: recorded.filter(|_| search.count == Count::Schedules).map(|it| it.paths()),
        bad_handler: all.bad_handler,
    }
}

fn property_verdicts(
    engine: &Engine,
    properties: &[Modality],
    all: &WorkerResult,
    ended: StopReason,
    recorded: Option<&StateGraph>,
) -> Vec<PropertyVerdict> {
    let mut found: Vec<PropertyVerdict> = Vec::new();
    for (at, when) in properties.iter().enumerate() {
        let bit = 1 << at;
        let violated = match when {
            Modality::Always => (all.failed & bit != 0).then(Vec::new),
            Modality::Sometimes => (all.held & bit == 0).then(Vec::new),
            Modality::Eventually => recorded.and_then(|it| it.path_avoiding(at)),
        };
        let is_unclear = *when == Modality::Eventually && recorded.is_none();
        found.push(match (violated, when, ended) {
            _ if is_unclear => Verdict::Unknown(()),
            (None, Modality::Sometimes, _) | (None, _, StopReason::Exhausted) => Verdict::Holds(()),
            (Some(_), Modality::Sometimes, StopReason::Exhausted) | (Some(_), Modality::Always, _) => {
                Verdict::Violated(Vec::new())
            }
            (Some(way), Modality::Eventually, _) => Verdict::Violated(trace_along(&mut engine.fork(), &way)),
            (None, Modality::Always | Modality::Eventually, _) | (Some(_), Modality::Sometimes, _) => {
                Verdict::Unknown(())
            }
        });
    }
    found
}

// State shared by the threads of one search.
struct SharedSearch<'a> {
    search: &'a Search,
    properties: &'a [Modality],
    progress: &'a (dyn Fn(GraphProgress) + Sync),
    records: bool,
    visited: RwLock<Visited>,
    // The states themselves, if they are compared exactly.
    exact: Mutex<FxHashSet<Box<[u32]>>>,
    verdicts: Mutex<&'a mut Verdicts>,
    queue: Mutex<Queue>,
    work_changed: Condvar,
    // Number of threads that wait for work.
    idle_workers: AtomicUsize,
    stop: AtomicBool,
    generated: AtomicU64,
    unique: AtomicU64,
    depth: AtomicU64,
    jobs: usize,
}

impl SharedSearch<'_> {
    // Makes all threads stop.
    fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
        // A thread that has read `stop` before holds the lock until it waits, and is notified.
        drop(self.queue.lock());
        self.work_changed.notify_all();
    }
}

// Makes all threads stop if a handler panics: otherwise the others would wait for it.
struct HaltOnPanic<'a>(&'a SharedSearch<'a>);

impl Drop for HaltOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.halt();
        }
    }
}

// States that no thread works on yet.
struct Queue {
    worlds: Vec<FrontierState>,
    idle: usize,
}

// A state, and the number of steps after which it was reached.
struct FrontierState {
    world: World,
    depth: u64,
}

// The results of one thread.
#[derive(Default)]
struct WorkerResult {
    generated: u64,
    unique: u64,
    ends: u64,
    stuck: u64,
    undelivered: u64,
    // Whether each history, by id, is that of a state without enabled actions.
    is_final_history: Vec<bool>,
    // The properties that were true in some state, and those that were false in some state.
    held: u64,
    failed: u64,
    // The maximum number of steps after which a state was reached.
    depth: u64,
    ended: Option<StopReason>,
    record: GraphRecord,
    bad_handler: Option<BadHandler>,
}

impl WorkerResult {
    fn add(&mut self, other: WorkerResult) {
        self.generated += other.generated;
        self.unique += other.unique;
        self.ends += other.ends;
        self.stuck += other.stuck;
        self.undelivered += other.undelivered;
        if self.is_final_history.len() < other.is_final_history.len() {
            self.is_final_history.resize(other.is_final_history.len(), false);
        }
        other
            .is_final_history
            .iter()
            .enumerate()
            .filter(|(_, it)| **it)
            .for_each(|(at, _)| self.is_final_history[at] = true);
        self.held |= other.held;
        self.failed |= other.failed;
        // A bad handler outweighs everything.
        self.bad_handler = self.bad_handler.take().or(other.bad_handler);
        self.ended = if self.bad_handler.is_some() {
            Some(StopReason::BadHandler)
        } else {
            self.ended.or(other.ended)
        };
        self.record.add(other.record);
    }
}

struct Worker<'a> {
    engine: Engine,
    shared: &'a SharedSearch<'a>,
    stack: Vec<FrontierState>,
    spare: Vec<World>,
    result: WorkerResult,
    judged: Vec<bool>,
    actions: Vec<Action>,
    // Unused lists, kept to reuse their memory.
    deliveries: Vec<Vec<PlannedDelivery>>,
    // The counts already added to the shared counters: generated and unique.
    reported: (u64, u64),
    exact_bytes: usize,
}

// New states between two checks of limits and of shared state. Smaller in tests, which have small
// systems.
const BATCH_STATES: u64 = if cfg!(test) { 8 } else { 1 << 11 };

impl<'a> Worker<'a> {
    fn new(engine: Engine, common: &'a SharedSearch<'a>) -> Self {
        let (stack, spare, actions) = (Vec::new(), Vec::new(), Vec::new());
        Worker {
            engine,
            shared: common,
            stack,
            spare,
            result: WorkerResult::default(),
            judged: Vec::new(),
            actions,
            deliveries: Vec::new(),
            reported: (0, 0),
            exact_bytes: 0,
        }
    }

    // Pushes the possible initial states.
    fn push_initial_states(&mut self) {
        let void = self.engine.unstarted_world();
        let mut actions = Vec::new();
        self.engine.enabled(&void, &mut actions);
        let visited = self.shared.visited.read().expect("no handler panicked");
        for action in actions {
            let world = self.engine.apply(&void, action).expect("a start is never left out");
            self.result.generated += 1;
            if self.shared.records {
                self.result.record.roots.push(world.fingerprint as u64);
            }
            let is_exact = self.shared.search.compare == StateComparison::Exactly;
            if if is_exact { self.is_new_exactly(&world) } else { visited.insert(world.fingerprint) } {
                self.on_new_state(&world);
                self.stack.push(FrontierState { world, depth: 0 });
            }
        }
    }

    fn run(mut self) -> WorkerResult {
        let _halt = HaltOnPanic(self.shared);
        loop {
            if self.stack.is_empty() && !self.take_work() {
                break;
            }
            self.batch();
            if let Err(ended) = self.check_limits() {
                self.result.ended.get_or_insert(ended);
                self.shared.halt();
            }
            if self.shared.stop.load(Ordering::Relaxed) {
                break;
            }
            if 0 < self.shared.idle_workers.load(Ordering::Relaxed) {
                self.give_work();
            }
        }
        self.result.bad_handler = self.engine.bad_handler().cloned();
        self.result
    }

    fn batch(&mut self) {
        let common = self.shared;
        let left = common.search.states_max.saturating_sub(common.unique.load(Ordering::Relaxed));
        let end = self.reported.1 + BATCH_STATES.min(left.max(1));
        let visited = common.visited.read().expect("no handler panicked");
        // Waiting for memory would dominate. So the next state is planned, and the memory it needs
        // is prefetched, while the current one is expanded.
        let mut ahead: Option<(FrontierState, Vec<PlannedDelivery>)> = None;
        loop {
            let goes_on = self.result.unique < end && self.result.ended.is_none();
            let next = if goes_on { self.stack.pop() } else { None };
            let next = next.map(|met| {
                let deliveries = self.plan_and_prefetch(&met.world, &visited);
                (met, deliveries)
            });
            match (std::mem::replace(&mut ahead, next), &ahead) {
                (Some((met, deliveries)), _) => {
                    self.expand(&met, &deliveries, &visited);
                    self.spare.push(met.world);
                    self.deliveries.push(deliveries);
                }
                (None, Some(_)) => (),
                (None, None) => break,
            }
        }
    }

    fn plan_and_prefetch(&mut self, world: &World, visited: &Visited) -> Vec<PlannedDelivery> {
        let mut deliveries = self.deliveries.pop().unwrap_or_default();
        deliveries.clear();
        self.engine.plan_deliveries(world, &mut deliveries);
        std::hint::black_box(deliveries.iter().fold(0, |sum, it| sum ^ visited.prefetch(it.fingerprint)));
        deliveries
    }

    fn expand(&mut self, met: &FrontierState, deliveries: &[PlannedDelivery], visited: &Visited) {
        let before = self.result.generated;
        let world = &met.world;
        let has_few_places = self.shared.search.places == FaultPlacement::Few;
        let deliveries = if has_few_places && self.engine.must_repair(world) { &[] } else { deliveries };
        for delivery in deliveries {
            self.engine.restore_plan(world, delivery);
            self.visit_successor(met, delivery.action(), Some(delivery.fingerprint), visited);
        }
        if self.engine.rules().faults != Faults::default() {
            let mut actions = std::mem::take(&mut self.actions);
            actions.clear();
            self.engine.push_fault_actions(world, &mut actions);
            if has_few_places {
                self.engine.drop_redundant_faults(world, &mut actions);
            }
            for &action in &actions {
                let fingerprint = self.engine.plan(world, action);
                self.visit_successor(met, action, fingerprint, visited);
            }
            self.actions = actions;
        }
        let edges = self.result.generated - before;
        if self.shared.records {
            self.result.record.states.push((world.fingerprint as u64, edges as u32));
        }
        if edges == 0 {
            self.on_end_state(world);
        }
    }

    // Visits the successor by the planned `action`, if it is new.
    fn visit_successor(
        &mut self,
        met: &FrontierState,
        action: Action,
        fingerprint: Option<Fingerprint>,
        visited: &Visited,
    ) {
        let Some(fingerprint) = fingerprint else { return };
        let FrontierState { world, depth } = met;
        self.result.generated += 1;
        if self.shared.records {
            let weight = self.engine.multiplicity(world, action);
            self.result.record.edges.push((fingerprint as u64, weight));
        }
        let is_exact = self.shared.search.compare == StateComparison::Exactly;
        if !is_exact && !visited.insert(fingerprint) {
            return;
        }
        let mut next = self.spare.pop().unwrap_or_default();
        self.engine.build(world, &mut next);
        if is_exact && !self.is_new_exactly(&next) {
            self.spare.push(next);
            return;
        }
        self.on_new_state(&next);
        self.result.depth = self.result.depth.max(depth + 1);
        self.stack.push(FrontierState { world: next, depth: depth + 1 });
    }

    fn is_new_exactly(&mut self, world: &World) -> bool {
        self.exact_bytes += world.key_bytes();
        self.shared.exact.lock().expect("no handler panicked").insert(world.key())
    }

    // A new state was reached.
    fn on_new_state(&mut self, world: &World) {
        self.result.unique += 1;
        let history = world.history.0 as usize;
        if self.judged.len() <= history {
            self.judged.resize(history + 1, false);
        }
        if !std::mem::replace(&mut self.judged[history], true) {
            self.judge(world.history);
        }
        let held = self.evaluate_properties(world);
        if self.shared.properties.contains(&Modality::Eventually) {
            self.result.record.held.push((world.fingerprint as u64, held));
        }
    }

    fn judge(&mut self, history: HistoryId) {
        let shared = self.engine.shared.clone();
        let mut verdicts = self.shared.verdicts.lock().expect("no handler panicked");
        let judgement = verdicts.of(&lock(&shared.histories), history);
        if judgement == Verdict::Violated(()) {
            self.on_violation();
        }
    }

    fn on_violation(&mut self) {
        if self.shared.search.until == StopWhen::Violated {
            self.result.ended = Some(StopReason::Violated);
            self.shared.halt();
        }
    }

    fn evaluate_properties(&mut self, world: &World) -> u64 {
        let mut held = 0;
        if self.shared.properties.is_empty() {
            return 0;
        }
        let shared = self.engine.shared.clone();
        let model = lock(&shared.model);
        for (at, when) in self.shared.properties.iter().enumerate() {
            if model.holds(at, &world.locals, &world.in_flight, world.down) {
                held |= 1 << at;
            } else if *when == Modality::Always {
                self.on_violation();
            }
        }
        self.result.held |= held;
        self.result.failed |= !held;
        held
    }

    // No action is enabled in `world`.
    fn on_end_state(&mut self, world: &World) {
        self.result.ends += 1;
        let summary = self.engine.summary(world.history);
        let all = u64::MAX.checked_shr(64 - self.engine.operations() as u32).unwrap_or(0);
        self.result.stuck += u64::from(summary.returned != all);
        let mut in_flight = world.in_flight.iter();
        self.result.undelivered += u64::from(in_flight.any(|&it| !self.engine.envelope(it).is_timer));
        let history = world.history.0 as usize;
        if self.result.is_final_history.len() <= history {
            self.result.is_final_history.resize(history + 1, false);
        }
        self.result.is_final_history[history] = true;
    }

    // Publishes the progress of this thread, and checks the limits.
    fn check_limits(&mut self) -> Result<(), StopReason> {
        let common = self.shared;
        let (generated, unique) =
            (self.result.generated - self.reported.0, self.result.unique - self.reported.1);
        self.reported = (self.result.generated, self.result.unique);
        let generated = common.generated.fetch_add(generated, Ordering::Relaxed) + generated;
        let total = common.unique.fetch_add(unique, Ordering::Relaxed) + unique;
        let depth = common.depth.fetch_max(self.result.depth, Ordering::Relaxed).max(self.result.depth);
        (common.progress)(GraphProgress { generated, unique: total, depth });
        if self.engine.bad_handler().is_some() {
            return Err(StopReason::BadHandler);
        }
        let search = common.search;
        if search.states_max <= total && !(self.stack.is_empty() && self.is_single_threaded()) {
            return Err(StopReason::States);
        }
        if is_interrupted() || search.deadline.is_some_and(|it| it <= Instant::now()) {
            return Err(StopReason::Time);
        }
        let mut bytes = (self.result.record.bytes() + self.exact_bytes) * common.jobs;
        if search.bytes_max != usize::MAX {
            // In two statements, so that only one lock is held at a time: `judge` takes both, in
            // the other order.
            bytes += lock(&self.engine.shared.model).bytes();
            bytes += lock(&self.engine.shared.histories).bytes();
        }
        let visited = common.visited.read().expect("no handler panicked");
        visited.count(unique);
        let (is_crowded, now, next) = (visited.is_crowded(), visited.bytes(), visited.next_bytes());
        drop(visited);
        // While it grows there are both, the old set and the new one.
        let needed = if is_crowded { now + next } else { now };
        if search.bytes_max < bytes + needed {
            return Err(StopReason::Memory);
        }
        if is_crowded {
            let mut visited = common.visited.write().expect("no handler panicked");
            if visited.is_crowded() {
                visited.grow();
            }
        }
        Ok(())
    }

    fn is_single_threaded(&self) -> bool {
        self.shared.jobs == 1
    }

    // Shares the older half of its stack: those states usually have more successors to explore.
    fn give_work(&mut self) {
        if self.stack.len() < 2 {
            return;
        }
        let half = self.stack.len() / 2;
        let mut queue = self.shared.queue.lock().expect("no handler panicked");
        queue.worlds.extend(self.stack.drain(..half));
        self.shared.work_changed.notify_all();
    }

    // Waits for work; false if there is none left, or if all threads are to stop.
    fn take_work(&mut self) -> bool {
        let common = self.shared;
        let mut queue = common.queue.lock().expect("no handler panicked");
        queue.idle += 1;
        common.idle_workers.fetch_add(1, Ordering::Relaxed);
        loop {
            if common.stop.load(Ordering::Relaxed) {
                return false;
            }
            if !queue.worlds.is_empty() {
                break;
            }
            if queue.idle == common.jobs {
                common.work_changed.notify_all();
                return false;
            }
            queue = common.work_changed.wait(queue).expect("no handler panicked");
        }
        queue.idle -= 1;
        common.idle_workers.fetch_sub(1, Ordering::Relaxed);
        let share = queue.worlds.len().div_ceil(common.jobs);
        let rest = queue.worlds.len() - share;
        self.stack.extend(queue.worlds.drain(rest..));
        drop(queue);
        self.engine.catch_up();
        true
    }
}

#[cfg(test)]
mod fault_placement;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
