use super::*;

fn step(task: u8, access: Access, object: u32) -> Step {
    Step::new(TaskId(task), access, SharedId(object))
}

/// Whether they conflict, in either order.
fn conflict(one: Step, other: Step) -> bool {
    assert_eq!(one.conflicts(&other), other.conflicts(&one), "{one:?} {other:?}");
    one.conflicts(&other)
}

#[test]
fn accesses_of_one_object_conflict_unless_both_leave_it_as_it_is() {
    use Access::{AcquireShared, Join, Read, TryAcquireShared};
    let leaves_it = [Read, AcquireShared, TryAcquireShared, Join];
    for one in Access::ALL {
        for other in Access::ALL {
            let is_ordered = [one, other].iter().any(|it| matches!(it, Access::Yield | Access::Fence));
            let is_private = [one, other].contains(&Access::Buffer);
            let both_leave_it = leaves_it.contains(&one) && leaves_it.contains(&other);
            let expected = is_ordered || !(is_private || both_leave_it);
            assert_eq!(conflict(step(0, one, 1), step(1, other, 1)), expected, "{one:?} {other:?}");
        }
    }
}

#[test]
fn accesses_of_different_objects_conflict_if_one_is_ordered_with_everything() {
    for one in Access::ALL {
        for other in Access::ALL {
            let expected = [one, other].iter().any(|it| matches!(it, Access::Yield | Access::Fence));
            assert_eq!(conflict(step(0, one, 1), step(1, other, 2)), expected, "{one:?} {other:?}");
            // Two objects that are not shared are not the same object.
            let (one, other) = (step(0, one, SharedId::NONE.0), step(1, other, SharedId::NONE.0));
            assert_eq!(conflict(one, other), expected, "{one:?} {other:?}");
            assert!(conflict(one, Step { yields: true, ..other }));
        }
    }
}

#[test]
fn steps_of_one_task_conflict() {
    assert!(conflict(step(0, Access::Read, 1), step(0, Access::Local, SharedId::NONE.0)));
}

#[test]
fn a_return_and_a_call_are_dependent_whichever_is_first() {
    let [one, other] = [step(0, Access::Read, 1), step(1, Access::Read, 2)];
    let dependent = |(calls, returns), (other_calls, other_returns)| {
        let one = Step { calls, returns, ..one };
        let other = Step { calls: other_calls, returns: other_returns, ..other };
        assert!(!conflict(one, other));
        one.is_dependent(&other)
    };
    assert!(dependent((true, false), (false, true)));
    assert!(dependent((false, true), (true, false)));
    assert!(!dependent((true, false), (true, false)));
    assert!(!dependent((false, true), (false, true)));
    assert!(!dependent((false, false), (true, true)));
    assert!(step(0, Access::Write, 1).is_dependent(&step(1, Access::Read, 1)));
}

#[test]
fn steps_begin_alike_if_everything_known_at_their_start_is_equal() {
    let begun = step(1, Access::Read, 2);
    let (cause, some) = (Some(TaskId(0)), TaskSet::only(TaskId(3)));
    let others = [
        step(2, Access::Read, 2),
        step(1, Access::Write, 2),
        step(1, Access::Read, 3),
        Step { cause, ..begun },
        Step { calls: true, ..begun },
        Step { after: some, ..begun },
    ];
    for other in others {
        assert!(!begun.is_begun_like(&other) && !other.is_begun_like(&begun), "{other:?}");
        assert!(other.is_begun_like(&other));
    }
    // Its effects are known later.
    let made = Step { returns: true, wakes: some, frees: SharedId(4), yields: true, ..begun };
    assert!(begun.is_begun_like(&made));
}

#[test]
fn accesses_are_listed_by_their_numbers() {
    let numbers: Vec<usize> = Access::ALL.iter().map(|it| *it as usize).collect();
    assert_eq!(numbers, (0..=Access::Flush as usize).collect::<Vec<_>>());
}

#[test]
fn a_set_counts_and_finds_its_members() {
    let high = (0..=u64::BITS).map(|n| u64::MAX.checked_shr(n).unwrap_or(0));
    let sets =
        (0..1 << 12).chain((0..1 << 8).map(|it| it << 56)).chain(high.clone()).chain(high.map(|it| !it));
    for bits in sets {
        let (set, members) = (TaskSet(bits), TaskSet(bits).iter().collect::<Vec<_>>());
        assert_eq!(set.len(), members.len());
        for n in 0..=TaskId::MAX {
            assert_eq!(set.nth(n), members.get(n).copied(), "{n} of {set:?}");
        }
        for &member in &members {
            assert!(set.contains(member));
            assert_eq!(set.nth(set.before(member).len()), Some(member));
        }
    }
}

#[test]
fn the_first_tasks_are_a_set_of_as_many() {
    for n in 0..=TaskId::MAX {
        let first: Vec<_> = TaskSet::all(n).iter().map(TaskId::index).collect();
        assert_eq!(first, (0..n).collect::<Vec<_>>());
    }
}
