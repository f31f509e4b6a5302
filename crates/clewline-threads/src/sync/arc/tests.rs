use std::{collections::BTreeSet, ops::ControlFlow};

use clewline_explore::{Coverage, Ending, explore, schedulers::exhaustive::Exhaustive};

use super::*;
use crate::{
    control::{Calls, ExecutionOutcome, Leak, Limits, ThreadProgram},
    sync::{
        Mutex, UnsafeCell,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

/// The outcomes of all executions in which each column makes one call, with its number.
fn outcomes<T: 'static>(
    columns: usize,
    make: impl Fn() -> T + 'static,
    call: impl Fn(&T, &usize) -> usize + 'static,
) -> Vec<ExecutionOutcome<usize>> {
    let calls = Calls { columns: (0..columns).map(|it| vec![it]).collect(), ..Calls::default() };
    let mut program = ThreadProgram::new(calls, make, call, Limits::default());
    let mut outcomes = Vec::new();
    let (coverage, _) = explore(&mut program, &mut Exhaustive::default(), u64::MAX, |program, ending, _| {
        assert_eq!(*ending, Ending::Full);
        outcomes.push(program.outcome());
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted);
    outcomes
}

fn results(outcomes: &[ExecutionOutcome<usize>]) -> BTreeSet<Vec<usize>> {
    let of =
        |it: &ExecutionOutcome<usize>| it.operations.iter().filter_map(|it| it.ret.map(|it| it.1)).collect();
    outcomes.iter().map(of).collect()
}

#[test]
fn it_behaves_as_in_std() {
    let mut arc = Arc::new(3);
    assert_eq!((*arc, Arc::strong_count(&arc), Arc::weak_count(&arc)), (3, 1, 0));
    *Arc::get_mut(&mut arc).unwrap() = 4;
    let other = arc.clone();
    assert!(Arc::ptr_eq(&arc, &other) && Arc::get_mut(&mut arc).is_none());
    *Arc::make_mut(&mut arc) = 5;
    assert_eq!((*arc, *other), (5, 4));
    let weak = Arc::downgrade(&other);
    assert_eq!(weak.upgrade().as_deref(), Some(&4));
    let other = Arc::try_unwrap(other).unwrap();
    assert_eq!((other, weak.upgrade()), (4, None));
    assert_eq!((Arc::unwrap_or_clone(arc.clone()), Arc::unwrap_or_clone(Arc::new(6))), (5, 6));
    let (first, second) = (arc.clone(), arc);
    let first = Arc::try_unwrap(first).unwrap_err();
    assert_eq!((Arc::into_inner(first), Arc::into_inner(second)), (None, Some(5)));
    let words: Arc<[u8]> = [1, 2].into_iter().collect();
    assert_eq!((format!("{words:?}"), &*Arc::<str>::from("x")), ("[1, 2]".to_owned(), "x"));
    let cyclic = Arc::new_cyclic(|it: &Weak<usize>| it.strong_count());
    assert_eq!(*cyclic, 0);
    let raw = Arc::into_raw(cyclic);
    // SAFETY: it was just made by `into_raw`.
    assert_eq!(*unsafe { Arc::from_raw(raw) }, 0);
    let any: Arc<dyn std::any::Any> = Arc::from(std::sync::Arc::new(7) as std::sync::Arc<dyn std::any::Any>);
    assert!(any.is::<i32>());
}

#[test]
fn either_task_may_drop_the_last_owner() {
    // Each task takes one of two owners, and returns whether it got the value out.
    let make = || {
        let arc = Arc::new(7);
        [Mutex::new(Some(arc.clone())), Mutex::new(Some(arc))]
    };
    let take = |it: &[Mutex<Option<Arc<usize>>>; 2], at: &usize| {
        let arc = it[*at].lock().unwrap().take().unwrap();
        Arc::into_inner(arc).unwrap_or(0)
    };
    assert_eq!(results(&outcomes(2, make, take)), BTreeSet::from([vec![0, 7], vec![7, 0]]));
    // With `try_unwrap` both may fail: each sees the other owner, and only then drops its own.
    let unwrap = |it: &[Mutex<Option<Arc<usize>>>; 2], at: &usize| {
        let arc = it[*at].lock().unwrap().take().unwrap();
        Arc::try_unwrap(arc).unwrap_or(0)
    };
    let all = BTreeSet::from([vec![0, 0], vec![0, 7], vec![7, 0]]);
    assert_eq!(results(&outcomes(2, make, unwrap)), all);
    let counts = |it: &[Mutex<Option<Arc<usize>>>; 2], at: &usize| {
        let arc = it[*at].lock().unwrap().take().unwrap();
        Arc::strong_count(&arc)
    };
    assert_eq!(results(&outcomes(2, make, counts)), BTreeSet::from([vec![1, 2], vec![2, 1], vec![2, 2]]));
}

#[test]
fn a_weak_reference_observes_the_drop_of_the_value() {
    let make = || {
        let arc = Arc::new(7);
        (Arc::downgrade(&arc), Mutex::new(Some(arc)))
    };
    let call = |it: &(Weak<usize>, Mutex<Option<Arc<usize>>>), at: &usize| {
        if *at == 0 {
            return it.0.upgrade().map_or(0, |it| *it);
        }
        drop(it.1.lock().unwrap().take());
        1
    };
    assert_eq!(results(&outcomes(2, make, call)), BTreeSet::from([vec![0, 1], vec![7, 1]]));
}

#[test]
fn an_object_that_is_never_dropped_is_a_leak() {
    struct Node {
        next: Mutex<Option<Arc<Node>>>,
    }
    let ring = |_: &(), at: &usize| {
        let node = Arc::new(Node { next: Mutex::new(None) });
        if *at == 1 {
            let own = node.clone();
            *node.next.lock().unwrap() = Some(own);
        }
        0
    };
    let line = line!() - 7;
    let outcomes = outcomes(2, || (), ring);
    for outcome in outcomes {
        let lines: Vec<u32> = outcome.leaks.iter().map(|it: &Leak| it.place.site().line).collect();
        assert_eq!(lines, [line]);
    }
}

#[test]
fn an_object_owned_by_the_subject_is_not_a_leak() {
    let make = || Mutex::new(vec![Arc::new(0)]);
    let call = |it: &Mutex<Vec<Arc<usize>>>, at: &usize| {
        it.lock().unwrap().push(Arc::new(*at));
        0
    };
    assert!(outcomes(2, make, call).iter().all(|it| it.leaks.is_empty()));
}

#[test]
fn drops_of_other_owners_happen_before_the_last_drop() {
    struct Shared {
        cell: UnsafeCell<usize>,
    }
    // SAFETY: each task writes before it drops its owner, and only one of them writes.
    unsafe impl Sync for Shared {}
    type Subject = [Mutex<Option<Arc<Shared>>>; 2];
    let make = || -> Subject {
        let arc = Arc::new(Shared { cell: UnsafeCell::new(0) });
        [Mutex::new(Some(arc.clone())), Mutex::new(Some(arc))]
    };
    let call = |it: &Subject, at: &usize| {
        let arc = it[*at].lock().unwrap().take().unwrap();
        if *at == 0 {
            // SAFETY: no other task accesses it before it is dropped.
            arc.cell.with_mut(|it| unsafe { *it = 1 });
        }
        0
    };
    let good = outcomes(2, make, call);
    assert!(1 < good.len() && good.iter().all(|it| it.race.is_none()));
    // But reading a count of 1 does not synchronize: the count is read with a relaxed ordering.
    let call = |it: &Subject, at: &usize| {
        let arc = it[*at].lock().unwrap().take().unwrap();
        if *at == 0 || Arc::strong_count(&arc) == 1 {
            // SAFETY: no two tasks run at the same time here.
            arc.cell.with_mut(|it| unsafe { *it = 1 });
        }
        0
    };
    assert!(outcomes(2, make, call).iter().any(|it| it.race.is_some()));
}

#[test]
fn an_owner_is_not_taken_for_the_atomic_it_owns() {
    let make = || Arc::new(AtomicUsize::new(0));
    let call = |it: &Arc<AtomicUsize>, _: &usize| {
        let other = it.clone();
        other.fetch_add(1, SeqCst) + 10 * Arc::strong_count(&other)
    };
    let seen = results(&outcomes(2, make, call));
    assert!(seen.contains(&vec![20, 21]) && seen.contains(&vec![30, 31]), "{seen:?}");
}
