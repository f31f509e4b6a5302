use std::{
    ops::ControlFlow::{Break, Continue},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use super::*;

#[test]
fn results_are_visited_in_the_order_of_the_tasks() {
    for jobs in [1, 2, 5] {
        let mut seen = Vec::new();
        // Later tasks take less time.
        let work = |it: u64| {
            thread::sleep(Duration::from_micros(300 - 10 * it));
            2 * it
        };
        let flow = map_in_order(jobs, 1, 0..30, work, |it| {
            seen.push(it);
            Continue::<()>(())
        });
        assert_eq!(flow, Continue(()));
        assert_eq!(seen, (0..30).map(|it| 2 * it).collect::<Vec<u64>>(), "{jobs} jobs");
    }
}

#[test]
fn tasks_are_not_started_too_far_ahead_nor_after_a_break() {
    for jobs in [1, 3] {
        let made = AtomicUsize::new(0);
        let tasks = (0..1_000).inspect(|_| {
            made.fetch_add(1, Relaxed);
        });
        let flow =
            map_in_order(jobs, 1, tasks, |it| it, |it| if it == 10 { Break(it) } else { Continue(()) });
        assert_eq!(flow, Break(10));
        assert!(
            (11..=11 + RESULTS_AHEAD_PER_JOB_MAX * jobs).contains(&made.load(Relaxed)),
            "{made:?} tasks with {jobs} jobs"
        );
    }
}

#[test]
fn no_task_is_no_trouble() {
    let flow = map_in_order(3, 1, std::iter::empty(), |it: u32| it, Break);
    assert_eq!(flow, Continue(()));
    assert!(map_until_break(3, 0, &Budget::unlimited(), |it, _| Continue(it)).is_empty());
}

#[test]
fn panics_go_on_in_the_caller() {
    let message = |run: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("it panics");
        panic.downcast_ref::<&str>().expect("a text").to_string()
    };
    let work = |it: usize| if it == 7 { panic!("seven") } else { it };
    for jobs in [1, 3] {
        let ordered =
            || assert_eq!(map_in_order(jobs, 1, 0..100, work, |_| Continue::<()>(())), Continue(()));
        assert_eq!(message(&ordered), "seven");
        let visiting = || {
            let visit = |it| if it == 7 { panic!("visited") } else { Continue::<()>(()) };
            assert_eq!(map_in_order(jobs, 1, 0..100, |it| it, visit), Continue(()));
        };
        assert_eq!(message(&visiting), "visited");
        let raced = || {
            assert!(map_until_break(jobs, 100, &Budget::unlimited(), |it, _| Continue(work(it))).is_empty())
        };
        assert_eq!(message(&raced), "seven");
    }
}

#[test]
fn all_tasks_before_the_first_break_are_done() {
    for jobs in [1, 2, 4] {
        let results = map_until_break(jobs, 50, &Budget::unlimited(), |it, _| {
            if it % 10 == 7 { Break(it) } else { Continue(it) }
        });
        let done: Vec<usize> = results[..8].iter().copied().flatten().collect();
        assert_eq!(done, (0..8).collect::<Vec<usize>>(), "{jobs} jobs");
        assert_eq!(results.len(), 50);
        // Other threads may have run far ahead before the first break.
        assert!(1 < jobs || results[8..].iter().all(Option::is_none));
    }
}

#[test]
fn tasks_after_a_break_are_stopped() {
    let results = map_until_break(2, 2, &Budget::unlimited(), |it, budget| {
        if it == 0 {
            return Break(None);
        }
        while budget.stopped().is_none() {
            thread::yield_now();
        }
        Continue(budget.stopped())
    });
    assert_eq!(results[0], Some(None));
    assert!([None, Some(Some(Reason::Cancelled))].contains(&results[1]));
}

#[test]
fn work_runs_alongside_this_thread() {
    let here = thread::current().id();
    let (mine, others) =
        run_alongside(0..3, |it| (it, thread::current().id() != here), || thread::current().id() == here);
    assert!(mine);
    assert_eq!(others, [(0, true), (1, true), (2, true)]);
}
