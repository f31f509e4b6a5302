mod jobs;
mod random_actors;
mod random_systems;

use clewline_core::Verdict;
use clewline_explore::{Bounds, Limit};

use super::*;
use crate::{
    Flow,
    samples::{hasty, judge},
};

fn delays(n: u32) -> Bounds {
    Bounds::default().with(&delay_bounded::DELAYS, n)
}

/// Schedules, incomplete, unique, canonical, violated.
type Counts = (u64, u64, usize, usize, usize);

fn run(name: &str, settings: &MessageSchedulerSettings) -> (Coverage, Counts, Option<(u64, String)>) {
    let system = hasty();
    let mut verdicts = Verdicts::new(Box::new(judge(&system)));
    let budget = Budget::unlimited();
    let entry = find(name).unwrap();
    let (coverage, statistics) = explore(entry, system.engine(), settings, &mut verdicts, &budget);
    let counts = (
        statistics.schedules,
        statistics.incomplete,
        statistics.unique(),
        statistics.canonical(),
        statistics.violated(),
    );
    let first = statistics.first_violation.as_ref().map(|it| (it.nth, it.schedule.to_string()));
    (coverage, counts, first)
}

#[test]
fn every_built_in_scheduler_is_a_constant_and_read_from_its_name() {
    let constants = [
        ActorScheduler::States,
        ActorScheduler::DELAY_BOUNDED,
        ActorScheduler::DPOR,
        ActorScheduler::EXHAUSTIVE,
        ActorScheduler::IRED,
        ActorScheduler::LIVIOLA,
        ActorScheduler::PCT,
        ActorScheduler::POS,
        ActorScheduler::RANDOM,
        ActorScheduler::TRANSDPOR,
    ];
    let names: Vec<&str> = constants.iter().map(ActorScheduler::name).collect();
    assert_eq!(names, ActorScheduler::all().map(|it| it.0).collect::<Vec<_>>());
    for name in names {
        assert_eq!(name.parse::<ActorScheduler>().map(|it| it.name()), Ok(name));
    }
    assert!("fate".parse::<ActorScheduler>().is_err());
}

#[test]
fn every_schedule_of_the_hasty_register_is_counted() {
    let (coverage, counts, first) = run("exhaustive", &MessageSchedulerSettings::default());
    assert_eq!((coverage, counts), (Coverage::Exhausted, (252, 0, 32, 32, 12)));
    assert!(first.is_some());
}

#[test]
fn only_a_limit_that_was_reached_limits_coverage() {
    let limited = |schedules| {
        run("exhaustive", &MessageSchedulerSettings { schedules, ..MessageSchedulerSettings::default() })
    };
    assert_eq!(limited(252).0, Coverage::Exhausted);
    let (coverage, counts, _) = limited(251);
    assert_eq!((coverage, counts.0), (Coverage::Limited(Limit::Executions(251)), 251));
}

#[test]
fn long_executions_are_cut_and_their_prefixes_judged() {
    let (coverage, counts, _) =
        run("exhaustive", &MessageSchedulerSettings { steps: 6, ..MessageSchedulerSettings::default() });
    assert!(matches!(coverage, Coverage::Limited(Limit::Cut(n)) if 0 < n), "{coverage}");
    assert_eq!(counts.0, 0);
    assert!(0 < counts.4, "violations show before the end");
}

#[test]
fn drawn_executions_that_were_cut_limit_coverage() {
    for entry in SCHEDULERS.iter().filter(|it| it.is_random) {
        let (coverage, counts, _) = run(
            entry.name,
            &MessageSchedulerSettings { steps: 6, schedules: 50, ..MessageSchedulerSettings::default() },
        );
        assert_eq!((coverage, counts.0), (Coverage::Limited(Limit::Cut(50)), 0), "{}", entry.name);
    }
}

#[test]
fn exploration_stops_at_the_first_violation_if_asked() {
    let settings = MessageSchedulerSettings { violations: 1, ..MessageSchedulerSettings::default() };
    let (coverage, counts, first) = run("exhaustive", &settings);
    assert_eq!((coverage, counts.4), (Coverage::Limited(Limit::Violations(1)), 1));
    assert_eq!(first.unwrap().0, counts.0);
}

#[test]
fn an_exploration_can_be_cancelled() {
    let system = hasty();
    let mut verdicts = Verdicts::new(Box::new(judge(&system)));
    let budget = Budget::unlimited();
    budget.stop(clewline_core::Reason::Cancelled);
    let entry = find("exhaustive").unwrap();
    let (coverage, statistics) =
        explore(entry, system.engine(), &MessageSchedulerSettings::default(), &mut verdicts, &budget);
    assert_eq!(
        (coverage, statistics.schedules),
        (Coverage::Limited(Limit::Budget(clewline_core::Reason::Cancelled)), 0)
    );
}

#[test]
fn delays_bound_the_schedules_explored() {
    let counts = [(1, 0), (7, 0), (21, 0), (47, 2), (93, 8)];
    for (n, (schedules, violated)) in (0..).zip(counts) {
        let (coverage, counts, _) = run(
            "delay-bounded",
            &MessageSchedulerSettings { bounds: delays(n), ..MessageSchedulerSettings::default() },
        );
        assert_eq!(
            (coverage, counts.0, counts.4),
            (Coverage::Limited(Limit::Bound), schedules, violated),
            "{n}"
        );
    }
    let (coverage, counts, _) = run(
        "delay-bounded",
        &MessageSchedulerSettings { bounds: delays(100), ..MessageSchedulerSettings::default() },
    );
    assert_eq!((coverage, counts), (Coverage::Exhausted, (252, 0, 32, 32, 12)));
    let cut = run(
        "delay-bounded",
        &MessageSchedulerSettings { bounds: delays(3), schedules: 46, ..MessageSchedulerSettings::default() },
    );
    assert_eq!((cut.0, cut.1.0), (Coverage::Limited(Limit::Executions(46)), 46));
}

#[test]
fn random_schedules_depend_on_the_seed_alone() {
    let some = |seed| {
        run(
            "random",
            &MessageSchedulerSettings { seed, schedules: 100, ..MessageSchedulerSettings::default() },
        )
    };
    assert_eq!(some(1), some(1));
    assert_ne!(some(1), some(2));
    assert_eq!(some(1).0, Coverage::Limited(Limit::Sampled));
    let many =
        run("random", &MessageSchedulerSettings { schedules: 5_000, ..MessageSchedulerSettings::default() });
    assert_eq!((many.1.3, many.1.4), (32, 12));
}

#[test]
fn the_first_violation_can_be_replayed() {
    let system = hasty();
    let mut verdicts = Verdicts::new(Box::new(judge(&system)));
    let budget = Budget::unlimited();
    for entry in &SCHEDULERS {
        let settings = MessageSchedulerSettings {
            schedules: 1_000,
            violations: 1,
            bounds: delays(4),
            ..MessageSchedulerSettings::default()
        };
        let (_, statistics) = explore(entry, system.engine(), &settings, &mut verdicts, &budget);
        let found = statistics.first_violation.unwrap_or_else(|| panic!("{} finds it", entry.name));
        let token = found.schedule.to_string();
        let mut execution = Execution::new(system.engine(), Snapshots::Sound);
        execution.replay(&token.parse().unwrap()).unwrap();
        assert_eq!(execution.history(), found.history, "{} {token}", entry.name);
        assert_eq!(verdicts.of(&system.histories(), execution.history()), Verdict::Violated(()));
    }
}

#[test]
fn names_are_unique_and_in_order() {
    assert!(SCHEDULERS.iter().is_sorted_by(|one, other| one.name < other.name));
}

#[test]
fn reductions_find_every_history_from_few_schedules() {
    for entry in SCHEDULERS.iter().filter(|it| it.is_exhaustive) {
        let (coverage, counts, _) = run(entry.name, &MessageSchedulerSettings::default());
        assert_eq!((coverage, counts.3, counts.4), (Coverage::Exhausted, 32, 12), "{}", entry.name);
        assert!(counts.0 <= 252, "{}: {} schedules", entry.name, counts.0);
    }
    for name in ["dpor", "ired", "liviola", "transdpor"] {
        assert_eq!(run(name, &MessageSchedulerSettings::default()).1.0, 54, "{name}");
    }
}

#[test]
fn dependence_by_receiver_alone_loses_violations() {
    let system = hasty();
    let mut verdicts = Verdicts::new(Box::new(judge(&system)));
    let budget = Budget::unlimited();
    let mut execution = Execution::new(system.engine(), Snapshots::Sound);
    let mut statistics = Statistics::new(&MessageSchedulerSettings::default(), &mut verdicts, &budget);
    let reduction = source_sets::Reduction { dependence: &crate::SameReceiver, ..dpor::REDUCTION };
    assert!(
        source_sets::explore(
            &mut execution,
            reduction,
            &MessageSchedulerSettings::default(),
            &mut statistics
        )
        .is_continue()
    );
    assert_eq!(statistics.schedules, 8);
    assert!(statistics.canonical() <= 8 && statistics.violated() <= 3, "of 32 and of 12");
}

#[test]
fn samplers_find_violations_of_the_hasty_register() {
    for name in ["pct", "pos", "random"] {
        let (coverage, counts, _) =
            run(name, &MessageSchedulerSettings { schedules: 5_000, ..MessageSchedulerSettings::default() });
        assert_eq!(coverage, Coverage::Limited(Limit::Sampled), "{name}");
        assert!(6 <= counts.4, "{name} found {} of 12", counts.4);
    }
}

#[test]
fn bounds_of_the_same_name_are_the_same_and_each_matters() {
    let all = bounds();
    for entry in &SCHEDULERS {
        for bound in entry.bounds {
            assert!(all.contains(&bound), "{} of {}", bound.name, entry.name);
            let seen = |value: u32| {
                let bounds = Bounds::default().with(bound, value);
                run(
                    entry.name,
                    &MessageSchedulerSettings {
                        schedules: 300,
                        bounds,
                        ..MessageSchedulerSettings::default()
                    },
                )
            };
            assert_ne!(seen(1), seen(4), "{} of {}", bound.name, entry.name);
        }
    }
}

/// Takes what was offered last, and stops after one schedule.
struct Last;

impl MessageScheduler for Last {
    fn explore(&mut self, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow {
        while !statistics.is_end(execution)? {
            execution.take(execution.enabled().len() - 1);
        }
        ControlFlow::Break(Coverage::Limited(Limit::Sampled))
    }
}

#[test]
fn a_scheduler_outside_the_table_can_explore() {
    let entry = MessageSchedulerEntry { name: "last", make: |_| Box::new(Last), ..random::ENTRY };
    let system = hasty();
    let mut verdicts = Verdicts::new(Box::new(judge(&system)));
    let budget = Budget::unlimited();
    let (coverage, statistics) =
        explore(&entry, system.engine(), &MessageSchedulerSettings::default(), &mut verdicts, &budget);
    assert_eq!((coverage, statistics.schedules), (Coverage::Limited(Limit::Sampled), 1));
}
