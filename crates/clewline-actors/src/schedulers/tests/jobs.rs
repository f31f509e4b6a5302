//! All counts are the same for any number of threads, and for any division into parts.

use clewline_core::VerdictKind;
use clewline_explore::Limit;
use clewline_testing::pick;

use super::{super::*, delays, random_actors::draw};
use crate::{
    Actor, ActorId, ActorSystem, AnyActor, BadHandler, Clients, Context, FirstViolation, Harness, HistoryId,
    MessageSchedule, Rules, SampledPart, SampledSchedules, Scenario, random_systems,
    samples::{OneRequest, Register, hasty, judge},
};

/// Everything that was counted, and the first violation.
#[derive(Debug, PartialEq, Eq)]
struct CountsAndViolation {
    coverage: Coverage,
    bad_handler: Option<BadHandler>,
    // Schedules, incomplete, redundant, cut, steps, depth, unique, complete and violated.
    counts: [u64; 8],
    before_violated: Option<u64>,
    histories: Vec<(HistoryId, VerdictKind)>,
    first: Option<(u64, MessageSchedule, HistoryId)>,
}

/// The results, and the number of branches explored by workers.
fn explore_counted<H>(
    entry: &MessageSchedulerEntry,
    system: &ActorSystem<H>,
    settings: &MessageSchedulerSettings,
) -> (CountsAndViolation, u64)
where
    H: Harness<Specification = Register> + 'static,
{
    let mut verdicts = Verdicts::new(Box::new(judge(system)));
    let budget = Budget::unlimited();
    let (coverage, statistics) = explore(entry, system.engine(), settings, &mut verdicts, &budget);
    let first = |it: &FirstViolation| (it.nth, it.schedule.clone(), it.history);
    let all = CountsAndViolation {
        coverage,
        bad_handler: statistics.bad_handler.clone(),
        counts: [
            statistics.schedules,
            statistics.incomplete,
            statistics.redundant,
            statistics.cut,
            statistics.steps,
            statistics.depth as u64,
            statistics.unique() as u64,
            statistics.unique_complete_violated() as u64,
        ],
        before_violated: statistics.before_violated,
        histories: statistics.histories(),
        first: statistics.first_violation.as_ref().map(first),
    };
    (all, statistics.added)
}

/// Returns the number of branches explored by workers.
fn compare<H>(
    entry: &MessageSchedulerEntry,
    system: &ActorSystem<H>,
    settings: &MessageSchedulerSettings,
    about: &str,
) -> u64
where
    H: Harness<Specification = Register> + 'static,
{
    let (alone, added) = explore_counted(entry, system, settings);
    assert_eq!(added, 0, "there are no workers");
    let together = [2, 4].map(|jobs| {
        let (together, added) =
            explore_counted(entry, system, &MessageSchedulerSettings { jobs, ..settings.clone() });
        assert_eq!(together, alone, "{} with {jobs} threads, {settings:?}, {about}", entry.name);
        added
    });
    if entry.is_random {
        for length in [1, 7, 32, 45] {
            let joined = joined(entry, system, settings, length);
            assert_eq!(joined, alone, "{} in parts of {length}, {settings:?}, {about}", entry.name);
        }
    }
    together.iter().sum()
}

/// The results if schedules are executed in parts of this length, each by itself, and then joined.
fn joined<H>(
    entry: &MessageSchedulerEntry,
    system: &ActorSystem<H>,
    settings: &MessageSchedulerSettings,
    length: u64,
) -> CountsAndViolation
where
    H: Harness<Specification = Register> + 'static,
{
    let mut known: Vec<SampledSchedules> = Vec::new();
    for first in (0..settings.schedules).step_by(length as usize) {
        let numbers = first..(first + length).min(settings.schedules);
        let part = MessageSchedulerSettings { part: SampledPart::Numbers(numbers), ..settings.clone() };
        let mut verdicts = Verdicts::new(Box::new(judge(system)));
        let (_, statistics) = explore(entry, system.engine(), &part, &mut verdicts, &Budget::unlimited());
        known.push(statistics.sampled.expect("schedules have numbers"));
    }
    let new: usize = known.iter().map(|it| it.new.len()).sum();
    assert!(
        length == 1 || settings.schedules < 100 || (new as u64) < settings.schedules,
        "all are executed again"
    );
    let whole = MessageSchedulerSettings { part: SampledPart::Known(known.into()), ..settings.clone() };
    explore_counted(entry, system, &whole).0
}

#[test]
fn results_do_not_depend_on_the_number_of_threads_for_the_hasty_register() {
    let system = hasty();
    for entry in &SCHEDULERS {
        let whole = MessageSchedulerSettings {
            schedules: pick(120, 300),
            bounds: delays(4),
            ..MessageSchedulerSettings::default()
        };
        assert!(0 < compare(entry, &system, &whole, "whole"), "{} has workers", entry.name);
        for schedules in (1..60).step_by(pick(40, 1)) {
            compare(entry, &system, &MessageSchedulerSettings { schedules, ..whole.clone() }, "schedules");
        }
        for violations in (1..13).step_by(pick(7, 1)) {
            compare(entry, &system, &MessageSchedulerSettings { violations, ..whole.clone() }, "violations");
        }
        for steps in (1..9).step_by(pick(5, 1)) {
            compare(entry, &system, &MessageSchedulerSettings { steps, ..whole.clone() }, "steps");
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads_for_random_systems() {
    let (mut helped, mut wrong) = (0, 0);
    for seed in 0..pick(2, 60) {
        let settings = MessageSchedulerSettings {
            schedules: pick(25, 100),
            steps: 40,
            seed,
            ..MessageSchedulerSettings::default()
        };
        let (system, about) = draw(seed);
        let (harness, scenario, rules) = random_systems::random(seed);
        let random_system = ActorSystem::new(harness, scenario, rules).unwrap();
        for entry in &SCHEDULERS {
            helped += compare(entry, &system, &settings, &about);
            helped += compare(entry, &random_system, &settings, &format!("random {seed}"));
            wrong += u64::from(explore_counted(entry, &system, &settings).0.first.is_some());
        }
    }
    assert!(pick(10, 2_000) < helped, "{helped} branches were explored by workers");
    assert!(pick(0, 60) < wrong, "{wrong} are wrong");
}

#[test]
fn workers_end_when_the_exploration_is_cancelled() {
    for entry in &SCHEDULERS {
        let system = hasty();
        let mut verdicts = Verdicts::new(Box::new(judge(&system)));
        let budget = Budget::unlimited();
        budget.stop(clewline_core::Reason::Cancelled);
        let settings = MessageSchedulerSettings { jobs: 4, ..MessageSchedulerSettings::default() };
        let (coverage, statistics) = explore(entry, system.engine(), &settings, &mut verdicts, &budget);
        assert_eq!(
            (coverage, statistics.schedules),
            (Coverage::Limited(Limit::Budget(clewline_core::Reason::Cancelled)), 0)
        );
    }
}

/// Receives four numbers, and panics if they arrive in one particular order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PanicsInOneOrder(Vec<u8>);

impl Actor for PanicsInOneOrder {
    type Message = u8;

    fn on_start(&mut self, context: &mut Context<u8>) {
        (0..4).for_each(|it| context.send(context.me(), it));
    }

    fn on_message(&mut self, _from: ActorId, message: &u8, _context: &mut Context<u8>) {
        self.0.push(*message);
        assert_ne!(self.0, [3, 2, 1, 0]);
    }
}

#[test]
fn a_handler_that_panics_is_reported_by_any_thread() {
    let scenario = Scenario { calls: Vec::new(), clients: Clients::Tight };
    for entry in &SCHEDULERS {
        for jobs in [1, 2, 4] {
            let actors = || -> Vec<Box<dyn AnyActor<u8>>> { vec![Box::new(PanicsInOneOrder(Vec::new()))] };
            let harness = OneRequest { actors, request: 0, done: None };
            let system = ActorSystem::new(harness, scenario.clone(), Rules::default()).unwrap();
            let settings = MessageSchedulerSettings {
                jobs,
                schedules: 1_000,
                bounds: delays(9),
                ..MessageSchedulerSettings::default()
            };
            let (CountsAndViolation { coverage, bad_handler, .. }, _) =
                explore_counted(entry, &system, &settings);
            let bad_handler = bad_handler.unwrap_or_else(|| panic!("{} with {jobs}: {coverage}", entry.name));
            assert_eq!(coverage.to_string(), bad_handler.to_string());
        }
    }
}
