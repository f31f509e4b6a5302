//! Properties of the bounds that schedulers declare.

use std::collections::BTreeSet;

use super::{
    super::{SCHEDULERS, ThreadScheduler, bounds, find, find_bound},
    *,
};

#[test]
fn bounds_of_the_same_name_are_the_same_and_each_is_listed_once() {
    let all = bounds();
    let names: BTreeSet<&str> = all.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), all.len());
    for entry in &SCHEDULERS {
        for bound in entry.bounds {
            assert!(all.contains(&bound), "{} of {}", bound.name, entry.name);
            assert_eq!(find_bound(bound.name), Some(*bound));
            assert!(bound.name.chars().all(|it| it.is_ascii_lowercase() || it == '-'), "{}", bound.name);
            assert!(!bound.help.is_empty() && !bound.help.contains('\n'), "{}", bound.name);
        }
    }
    for other in ["", "dept", "depths", "preemptions "] {
        assert_eq!(find_bound(other), None, "{other}");
    }
    assert!(find("pct").is_some_and(|it| it.bounds == [pct::DEPTH]));
}

#[test]
fn every_built_in_scheduler_is_a_constant_and_read_from_its_name() {
    let constants = [
        ThreadScheduler::BOUNDED,
        ThreadScheduler::BOUNDED_DPOR,
        ThreadScheduler::DPOR,
        ThreadScheduler::EXHAUSTIVE,
        ThreadScheduler::GRAPH,
        ThreadScheduler::ITERATIVE,
        ThreadScheduler::PCT,
        ThreadScheduler::POS,
        ThreadScheduler::RANDOM,
    ];
    let names: Vec<&str> = constants.iter().map(|it| it.entry().name).collect();
    assert_eq!(names, SCHEDULERS.built_in().iter().map(|it| it.name).collect::<Vec<_>>());
    for name in names {
        assert_eq!(name.parse::<ThreadScheduler>().map(|it| it.entry().name), Ok(name));
    }
    let error = "fate".parse::<ThreadScheduler>().expect_err("no scheduler").to_string();
    assert!(error.starts_with("no scheduler is called `fate` (there are bounded, "), "{error}");
}

#[test]
fn a_bound_is_its_default_until_it_is_set_and_lifted_only_if_it_may_be() {
    for bound in bounds() {
        let unset = Bounds::default();
        assert_eq!(unset.get(bound), Some(bound.default));
        assert!(!unset.is_set(bound));
        let set = unset.with(bound, 17).with(bound, 18);
        assert_eq!((set.get(bound), set.is_set(bound)), (Some(18), true));
        let mut lifted = set.clone();
        assert_eq!(lifted.change(bound, None).is_ok(), bound.may_be_none);
        assert_eq!(set.with(bound, None).get(bound), None);
        assert_eq!(bound.parse("17"), Some(Some(17)));
        assert_eq!(bound.parse("none"), bound.may_be_none.then_some(None));
        assert_eq!(bound.parse("-1"), None);
        assert_eq!(
            (bound.count(1), bound.count(2)),
            (format!("1 {}", bound.one), format!("2 {}", bound.name))
        );
    }
}

#[test]
fn a_bound_that_is_declared_matters() {
    for entry in &SCHEDULERS {
        for bound in entry.bounds {
            let seen = |value: u32| {
                let bounds = Bounds::default().with(bound, value);
                let mut scheduler = (entry.make)(&SchedulerSettings {
                    seed: 1,
                    executions: 100,
                    bounds,
                    ..SchedulerSettings::default()
                });
                let tasks = vec![vec![0; 4]; 2];
                let mut writers = Writers { tasks, steps_max: usize::MAX, order: String::new() };
                let mut orders = Vec::new();
                explore(&mut writers, &mut *scheduler, 100, |writers, _, _| {
                    orders.push(writers.order.clone());
                    ControlFlow::Continue(())
                });
                orders
            };
            assert_ne!(seen(1), seen(4), "{} of {}", bound.name, entry.name);
        }
    }
}
