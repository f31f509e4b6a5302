//! Message schedulers on DS2's systems: the sound ones find all histories, and those that follow
//! the rules as published give the figures of the paper's tables.

use std::collections::BTreeSet;

use clewline_actors::{
    ActorSystem, AnyActor, CallOf, Clients, Execution, Faults, Harness, Histories, HistoryId, Keyed,
    RefutedIndependence, ReturnOf, Rules, SameReceiver, Scenario, Snapshots, Statistics, Verdicts, refute,
    schedulers::{self, MessageSchedulerSettings, delay_bounded, dpor, source_sets},
};
use clewline_core::{Budget, Codec, History, Specification, Verdict};
use clewline_explore::{Bounds, Coverage, Limit};
use clewline_testing::pick;

use crate::{
    ds2::{self, AsPublished, Published},
    systems::{FoundSystem, ReadsAndWrites, Shape, SystemVisitor, find_system, systems},
};

/// Tries every order.
fn is_linearizable<S: Specification>(specification: &S, history: &History<S::Call, S::Return>) -> bool {
    fn go_on<S: Specification>(
        specification: &S,
        history: &History<S::Call, S::Return>,
        done: u64,
        state: &S::State,
    ) -> bool {
        let (operations, spans): (Vec<_>, _) = (history.operations().collect(), history.spans());
        let left = || (0..operations.len()).filter(|it| done >> it & 1 == 0);
        if left().all(|it| operations[it].ret.is_none()) {
            return true;
        }
        left().any(|it| {
            let mut next = Vec::new();
            specification.step(state, operations[it].call, operations[it].ret, &mut next);
            !left().any(|other| spans[other].precedes(spans[it]))
                && next.iter().any(|state| go_on(specification, history, done | 1 << it, state))
        })
    }
    go_on(specification, history, 0, &specification.initial())
}

/// The scheduler.
#[derive(Clone, Copy)]
enum SchedulerKind {
    /// A scheduler of the table, by name.
    Sound(&'static str),
    /// Reduction with dependence by receiver alone.
    Receiver,
    /// The rules as published.
    Published(Published, Snapshots),
}

#[derive(Debug, PartialEq, Eq)]
struct Counts {
    coverage: Coverage,
    schedules: u64,
    incomplete: u64,
    redundant: u64,
    unique: usize,
    // As DS2 counts: complete ones, by the order of their events.
    unique_violated: usize,
    canonical: usize,
    violated: usize,
    // The ordinal of the first schedule with a violation, and the schedule.
    first: Option<(u64, String)>,
}

struct Visit {
    by: SchedulerKind,
    shape: Shape,
    shapes: &'static [ReadsAndWrites],
    actors: u32,
    settings: MessageSchedulerSettings,
}

impl SystemVisitor for Visit {
    type Output = Counts;

    fn visit<H: Harness<Specification: Codec> + 'static>(self, harness: H) -> Counts {
        match self.by {
            SchedulerKind::Published(..) => {
                let harness = AsPublished(harness);
                self.count(harness)
            }
            SchedulerKind::Sound(_) | SchedulerKind::Receiver => self.count(harness),
        }
    }
}

impl Visit {
    fn count<H: Harness<Specification: Codec> + 'static>(self, harness: H) -> Counts {
        let mut scenario = scenario(self.shape, self.shapes, &harness.specification(), self.actors);
        // DS2's harness has the writes first.
        let specification = harness.specification();
        scenario.calls.sort_by_key(|it| matches!(specification.write_call(&it.call).0, "read" | "get"));
        (0..).zip(&mut scenario.calls).for_each(|(at, it)| it.client = at);
        let system = ActorSystem::new(harness, scenario, Rules::default()).unwrap();
        let cast = system.shared_tables();
        let mut verdicts = Verdicts::new(Box::new(move |histories: &Histories, id: HistoryId| {
            let history = cast.lock().unwrap().history(histories, id);
            if is_linearizable(&specification, &history) { Verdict::Holds(()) } else { Verdict::Violated(()) }
        }));
        let budget = Budget::unlimited();
        let engine = system.engine();
        let (coverage, statistics) = match self.by {
            SchedulerKind::Sound(name) => {
                let entry = schedulers::find(name).unwrap();
                schedulers::explore(entry, engine, &self.settings, &mut verdicts, &budget)
            }
            SchedulerKind::Receiver => {
                let mut execution = Execution::new(engine, Snapshots::Sound);
                let mut statistics = Statistics::new(&self.settings, &mut verdicts, &budget);
                let reduction = source_sets::Reduction { dependence: &SameReceiver, ..dpor::REDUCTION };
                assert!(
                    source_sets::explore(&mut execution, reduction, &self.settings, &mut statistics)
                        .is_continue()
                );
                (Coverage::Limited(Limit::Unsound), statistics)
            }
            SchedulerKind::Published(published, snapshots) => {
                let entry = ds2::entry(published, snapshots);
                schedulers::explore(entry, engine, &self.settings, &mut verdicts, &budget)
            }
        };
        Counts {
            coverage,
            schedules: statistics.schedules,
            incomplete: statistics.incomplete,
            redundant: statistics.redundant,
            unique: statistics.unique(),
            unique_violated: statistics.unique_complete_violated(),
            canonical: statistics.canonical(),
            violated: statistics.violated(),
            first: statistics.first_violation.as_ref().map(|it| (it.nth, it.schedule.to_string())),
        }
    }
}

fn scenario<S: Codec>(
    shape: Shape,
    shapes: &[ReadsAndWrites],
    specification: &S,
    actors: u32,
) -> Scenario<S::Call> {
    let words = ReadsAndWrites::of(shapes, specification).unwrap();
    shape.scenario(specification, words, actors, Clients::Tight).unwrap()
}

fn look(system: &str, calls: &str, by: SchedulerKind, settings: MessageSchedulerSettings) -> Counts {
    let found = find_system(system).unwrap();
    let actors = found.variant.actors;
    let shapes = found.system.shapes;
    found.visit(actors, Visit { by, shape: calls.parse().unwrap(), shapes, actors, settings })
}

/// The number of schedules of each reduction, and what they all find: canonical histories, and
/// violated ones.
#[track_caller]
fn check_sound(system: &str, calls: &str, names: &[&'static str], schedules: u64, seen: (usize, usize)) {
    for name in names {
        let settings =
            MessageSchedulerSettings { schedules: u64::MAX, ..MessageSchedulerSettings::default() };
        let counts = look(system, calls, SchedulerKind::Sound(name), settings);
        assert_eq!(counts.coverage, Coverage::Exhausted, "{name} {system}");
        assert_eq!((counts.canonical, counts.violated), seen, "{name} {system} {calls}");
        assert_eq!(counts.schedules, schedules, "{name} {system} {calls}");
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let mut wrong = 0;
    let has_shape = |it: &FoundSystem| it.variant.calls.parse().is_ok_and(|it: Shape| it != Shape::Nothing);
    // In `./test` one of twenty.
    for found in systems().filter(has_shape).skip(pick(1, 0)).step_by(pick(20, 1)) {
        for entry in &schedulers::SCHEDULERS {
            let settings = MessageSchedulerSettings {
                schedules: 200,
                steps: 60,
                seed: 7,
                ..MessageSchedulerSettings::default()
            };
            let look = |jobs| {
                let settings = MessageSchedulerSettings { jobs, ..settings.clone() };
                look(&found.name(), found.variant.calls, SchedulerKind::Sound(entry.name), settings)
            };
            let alone = look(1);
            wrong += u64::from(alone.first.is_some());
            for jobs in [2, 4] {
                assert_eq!(look(jobs), alone, "{} by {} with {jobs} threads", found.name(), entry.name);
            }
        }
    }
    assert!(pick(0, 50) < wrong, "{wrong} are wrong");
}

const REDUCTIONS: &[&str] = &["dpor", "transdpor", "ired", "liviola"];

#[test]
fn every_schedule_of_the_papers_systems_is_counted() {
    check_sound("dr", "2r+1w", &["exhaustive"], 4_200, (44, 0));
    check_sound("edr", "2r+1w", &["exhaustive"], 252, (32, 12));
    check_sound("adr", "2r+1w", &["exhaustive"], 1_680, (35, 0));
    check_sound("open-chord", "2r+1w", &["exhaustive"], 18_396, (41, 9));
}

#[test]
fn reductions_find_every_history_of_the_papers_systems() {
    check_sound("dr", "2r+1w", REDUCTIONS, 597, (44, 0));
    check_sound("edr", "2r+1w", REDUCTIONS, 54, (32, 12));
    check_sound("adr", "2r+1w", REDUCTIONS, 279, (35, 0));
    check_sound("open-chord", "2r+1w", REDUCTIONS, 1_708, (41, 9));
    if !pick(false, true) {
        return;
    }
    check_sound("dr", "2r+2w", &["dpor"], 147_781, (399, 0));
    check_sound("edr", "2r+2w", &["dpor"], 24_604, (562, 272));
    check_sound("adr", "2r+2w", &["dpor"], 19_290, (551, 0));
    check_sound("open-chord", "2r+2w", &["dpor"], 87_478, (432, 91));
}

#[test]
fn keys_save_schedules_and_lose_no_history() {
    for (system, calls) in
        [("open-chord", "1r+2w"), ("open-chord:answers-early", "1r+2w"), ("paxos", "3r+0w")]
    {
        let by = |name| {
            let settings =
                MessageSchedulerSettings { schedules: u64::MAX, ..MessageSchedulerSettings::default() };
            let counts = look(system, calls, SchedulerKind::Sound(name), settings);
            assert_eq!(counts.coverage, Coverage::Exhausted, "{name} {system}");
            (counts.schedules, counts.canonical, counts.violated)
        };
        let (without, with) = (by("ired"), by("liviola"));
        assert!(with.0 < without.0, "{system} {calls}: {} of {}", with.0, without.0);
        let states = super::look_for(&find_system(system).unwrap(), calls, super::Until::TheEnd);
        let seen = (states.histories, states.violated);
        assert_eq!(((with.1, with.2), (without.1, without.2)), (seen, seen), "{system} {calls}");
    }
}

/// Whether the published keys or the promised ones are used.
#[derive(Clone, Copy)]
enum KeySource {
    Promises,
    Lists,
}

struct WithKeys<H> {
    harness: H,
    keys: KeySource,
}

impl<H: Harness> Harness for WithKeys<H> {
    type Message = H::Message;
    type Specification = H::Specification;

    fn specification(&self) -> H::Specification {
        self.harness.specification()
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<H::Message>>> {
        self.harness.actors()
    }

    fn request(&self, call: &CallOf<H>, n: u32) -> H::Message {
        self.harness.request(call, n)
    }

    fn response(&self, message: &H::Message) -> Option<ReturnOf<H>> {
        self.harness.response(message)
    }

    fn is_response_to(&self, request: &H::Message, response: &H::Message) -> bool {
        self.harness.is_response_to(request, response)
    }

    fn key(&self, message: &H::Message) -> Option<u64> {
        match self.keys {
            KeySource::Promises => self.harness.key(message),
            KeySource::Lists => self.harness.published_key(message),
        }
    }
}

/// Executes steps with different keys in both orders.
struct RefuteKeys {
    shape: Shape,
    shapes: &'static [ReadsAndWrites],
    actors: u32,
    rules: Rules,
    keys: KeySource,
}

impl SystemVisitor for RefuteKeys {
    type Output = Option<RefutedIndependence>;

    fn visit<H: Harness<Specification: Codec> + 'static>(self, harness: H) -> Option<RefutedIndependence> {
        let scenario = scenario(self.shape, self.shapes, &harness.specification(), self.actors);
        let harness = WithKeys { harness, keys: self.keys };
        let system = ActorSystem::new(harness, scenario, self.rules).unwrap();
        let settings = MessageSchedulerSettings {
            schedules: 20,
            steps: 40,
            seed: 1,
            ..MessageSchedulerSettings::default()
        };
        refute(&mut Execution::new(system.engine(), Snapshots::Sound), &Keyed, &settings)
    }
}

fn refuted(found: &FoundSystem, calls: &str, faults: Faults, keys: KeySource) -> Option<RefutedIndependence> {
    let (actors, rules) = (found.variant.actors, Rules { faults, ..Rules::default() });
    found.visit(
        actors,
        RefuteKeys { shape: calls.parse().unwrap(), shapes: found.system.shapes, actors, rules, keys },
    )
}

#[test]
fn handlers_of_different_keys_commute() {
    let some = Faults { lose: 1, duplicate: 1, crash: 1, ..Faults::default() };
    let calls = pick(["1r+1w", "1r+1w", "1c"], ["2r+2w", "2r+2w", "2c"]);
    // In `./test` every fifth.
    for found in systems().filter(|it| !it.system.offers.is_empty()).step_by(pick(5, 1)) {
        for (calls, faults) in calls.into_iter().zip([Faults::default(), some, some]) {
            assert_eq!(refuted(&found, calls, faults, KeySource::Promises), None, "{} {calls}", found.name());
        }
    }
}

#[test]
fn published_keys_are_not_sound() {
    for name in ["paxos", "open-chord:repaired"] {
        let found = find_system(name).unwrap();
        let refuted = refuted(&found, "2r+2w", Faults::default(), KeySource::Lists);
        assert!(refuted.is_some(), "{name}");
    }
}

// An implementation in which a message races with its cause abandons more executions.
#[test]
fn no_execution_of_three_calls_is_redundant() {
    for system in ["dr", "edr", "adr", "open-chord"] {
        let seen = look(system, "2r+1w", SchedulerKind::Sound("dpor"), MessageSchedulerSettings::default());
        assert_eq!(seen.redundant, 0, "{system}");
    }
}

#[test]
fn dependence_by_receiver_alone_loses_histories() {
    for (system, schedules, (canonical, violated)) in
        [("dr", 536, (44, 0)), ("edr", 8, (32, 12)), ("adr", 200, (35, 0)), ("open-chord", 600, (41, 9))]
    {
        let seen = look(system, "2r+1w", SchedulerKind::Receiver, MessageSchedulerSettings::default());
        assert_eq!(seen.schedules, schedules, "{system}");
        assert!(seen.canonical < canonical, "{system}: {} of {canonical}", seen.canonical);
        assert!(seen.violated < violated || violated == 0, "{system}: {} of {violated}", seen.violated);
    }
}

#[test]
fn few_delays_give_few_schedules() {
    let counts = |system: &str, delays: u32| {
        let bounds = Bounds::default().with(&delay_bounded::DELAYS, delays);
        let settings = MessageSchedulerSettings { bounds, ..MessageSchedulerSettings::default() };
        look(system, "2r+1w", SchedulerKind::Sound("delay-bounded"), settings)
    };
    let schedules = |system: &str| [0, 1, 2, 3, 4].map(|it| counts(system, it).schedules);
    let violated = |system: &str| [0, 1, 2, 3, 4].map(|it| counts(system, it).violated);
    assert_eq!(schedules("edr"), [1, 7, 21, 47, 93]);
    assert_eq!(violated("edr"), [0, 0, 0, 2, 8]);
    assert_eq!(schedules("open-chord"), [1, 9, 45, 158, 440]);
    assert_eq!(violated("open-chord"), [0, 0, 0, 0, 1]);
}

#[test]
#[ignore = "long"]
fn random_schedules_find_every_violation_of_small_systems() {
    for (system, seen) in [("edr", (32, 12)), ("open-chord", (41, 9))] {
        let counts =
            look(system, "2r+1w", SchedulerKind::Sound("random"), MessageSchedulerSettings::default());
        assert_eq!((counts.canonical, counts.violated), seen, "{system}");
    }
}

/// Schedules, incomplete ones, unique histories, and violated ones, as in the tables.
type Cell = (u64, u64, usize, usize);

#[track_caller]
fn check_published(system: &str, calls: &str, snapshots: Snapshots, cells: &[(Published, Cell)]) {
    for &(published, expected) in cells {
        let by = SchedulerKind::Published(published, snapshots);
        let seen = look(system, calls, by, MessageSchedulerSettings::default());
        let cell = (seen.schedules, seen.incomplete, seen.unique, seen.unique_violated);
        assert_eq!(cell, expected, "{} of {system} {calls}", published.column());
        assert_eq!(seen.coverage, Coverage::Limited(Limit::Unsound));
    }
}

fn row(cells: [Cell; 5]) -> Vec<(Published, Cell)> {
    Published::ALL.into_iter().zip(cells).collect()
}

#[test]
fn the_rules_as_published_give_the_papers_tables() {
    let a2 =
        [(4200, 4195, 37, 0), (2984, 2979, 37, 0), (2906, 2901, 37, 0), (2906, 2901, 37, 0), (88, 83, 22, 0)];
    check_published("dr", "2r+1w", Snapshots::Aliased, &row(a2));
    let a3 = (Published::LiViola, (7236, 7236, 147, 0));
    check_published("dr", "2r+2w", Snapshots::Aliased, &[a3]);
    let a4 = [(252, 247, 11, 2), (20, 15, 11, 3), (20, 15, 12, 4), (14, 11, 8, 2), (14, 11, 8, 2)];
    check_published("edr", "2r+1w", Snapshots::Aliased, &row(a4));
    let a6 =
        [(1680, 887, 148, 0), (908, 462, 140, 0), (818, 419, 132, 0), (802, 412, 124, 0), (802, 412, 124, 0)];
    check_published("adr", "2r+1w", Snapshots::Sound, &row(a6));
    let a10 = (Published::Exhaustive, (18396, 0, 165, 17));
    check_published("open-chord", "2r+1w", Snapshots::Sound, &[a10]);
}

#[test]
fn delays_change_the_order_of_schedules_and_leave_none_out() {
    let a6 = [(Published::DelayBounded, (1680, 887, 148, 0))];
    check_published("adr", "2r+1w", Snapshots::Sound, &a6);
    // Where the search is cut, other delays have shown other histories.
    let cut = |published, seed| {
        let settings =
            MessageSchedulerSettings { schedules: 200, seed, ..MessageSchedulerSettings::default() };
        look("adr", "2r+1w", SchedulerKind::Published(published, Snapshots::Sound), settings).unique
    };
    let seen: BTreeSet<usize> = (1..20).map(|seed| cut(Published::DelayBounded, seed)).collect();
    assert!(1 < seen.len(), "{seen:?}");
}

#[test]
fn liviola_sees_the_key_of_a_read_through_paxos() {
    // All are cut, as in the paper: there are as many as the limit allows.
    let settings = MessageSchedulerSettings { schedules: 2_000, ..MessageSchedulerSettings::default() };
    let by = SchedulerKind::Published(Published::LiViola, Snapshots::Sound);
    let seen = look("paxos", "2r+1w", by, settings);
    assert_eq!((seen.schedules, seen.incomplete, seen.unique_violated), (2_000, 0, 0));
    // Without it, 150 schedules would be all, and have 2 histories.
    assert!(4 <= seen.unique, "{}", seen.unique);
}

#[test]
fn random_picks_reproduce_the_papers_figures_for_its_registers() {
    for (system, unique) in [("dr", 26), ("adr", 28)] {
        let settings =
            MessageSchedulerSettings { schedules: 20_000, seed: 1, ..MessageSchedulerSettings::default() };
        let by = SchedulerKind::Published(Published::Random, Snapshots::Sound);
        let seen = look(system, "2r+1w", by, settings);
        let cell = (seen.schedules, seen.incomplete, seen.unique, seen.unique_violated);
        assert_eq!(cell, (20_000, 0, unique, 0), "{system}");
    }
}

#[test]
fn with_sound_snapshots_the_rules_as_published_find_one_violation_of_twelve() {
    let cells = [(20, 0, 10, 1), (20, 0, 10, 1), (14, 0, 7, 1), (14, 0, 7, 1)];
    let reductions: Vec<_> = Published::ALL.into_iter().skip(1).zip(cells).collect();
    check_published("edr", "2r+1w", Snapshots::Sound, &reductions);
}
