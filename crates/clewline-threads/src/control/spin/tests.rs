use super::*;

const OBJECT: SharedId = SharedId(1);

fn place(at: usize) -> Place {
    Place::code(at)
}

/// Makes these accesses, each at its own place, until a loop is found. Returns after how many, and
/// the loop.
fn find(
    round: &[(usize, SharedId)],
    mut version: impl FnMut(usize) -> u32,
    mut local_state: impl FnMut(usize) -> Option<u64>,
) -> Option<(usize, SpinLoop)> {
    let mut detector = SpinDetector::default();
    (0..10_000).find_map(|at| {
        let (code, object) = round[at % round.len()];
        let is_suspect = detector.note(place(code), object, version(at));
        let found = if is_suspect { detector.spin_loop(|| local_state(at)) } else { None };
        found.map(|it| (at + 1, it))
    })
}

fn waits(objects: &[SharedId]) -> SpinLoop {
    SpinLoop { objects: objects.to_vec(), accesses: objects.len(), is_guess: false }
}

#[test]
fn a_loop_with_the_same_local_state_waits_after_four_rounds() {
    let one = [(16, OBJECT)];
    assert_eq!(find(&one, |_| 0, |_| Some(7)), Some((4, waits(&[OBJECT]))));
    let other = SharedId(2);
    let two = [(16, other), (24, OBJECT)];
    assert_eq!(find(&two, |_| 0, |at| Some(at as u64 % 2)), Some((8, waits(&[OBJECT, other]))));
}

#[test]
fn a_loop_with_unknown_local_state_is_guessed_to_wait() {
    let expected = SpinLoop { is_guess: true, ..waits(&[OBJECT]) };
    assert_eq!(find(&[(16, OBJECT)], |_| 0, |_| None), Some((4, expected)));
}

#[test]
fn a_counting_loop_is_a_guess_and_gets_more_rounds() {
    let (accesses, round) = find(&[(16, OBJECT)], |_| 0, |at| Some(at as u64)).expect("a loop is found");
    assert_eq!((accesses, round.is_guess), (ROUNDS_WITH_CHANGING_STATE, true));
    let longest: Vec<_> = (0..LOOP_ACCESSES_MAX).map(|it| (8 * it, SharedId(it as u32))).collect();
    let (accesses, round) = find(&longest, |_| 0, |at| Some(at as u64)).expect("a loop is found");
    assert_eq!((accesses, round.is_guess), (ROUNDS_WITH_CHANGING_STATE * LOOP_ACCESSES_MAX, true));
}

#[test]
fn a_loop_that_stops_counting_waits() {
    let found = find(&[(16, OBJECT)], |_| 0, |at| Some(at.min(9) as u64));
    assert_eq!(found, Some((11, waits(&[OBJECT]))));
}

/// Finding the state of a task on its stack takes longer than many accesses do.
#[test]
fn the_local_state_is_looked_at_in_some_rounds_and_at_one_access_of_them() {
    let round = [(16, OBJECT), (24, SharedId(2)), (32, SharedId(3))];
    let mut looks = Vec::new();
    let state = |at: usize| {
        looks.push((at / 3 + 1, at % 3));
        Some(at as u64)
    };
    let (accesses, found) = find(&round, |_| 0, state).expect("a loop is found");
    assert_eq!((accesses, found.is_guess), (3 * ROUNDS_WITH_CHANGING_STATE, true));
    let rounds: Vec<usize> = looks.iter().map(|it| it.0).collect();
    assert_eq!(rounds, [3, 4, 6, 7, 10, 11, 16, 17, 22, 23], "{looks:?}");
    // What counts for a while, and then waits, is seen to wait.
    for last in 0..40 {
        let (accesses, found) = find(&round, |_| 0, |at| Some(at.min(last) as u64)).expect("it is found");
        assert!(!found.is_guess && accesses <= last + 8 * 3, "{last}: {accesses}");
    }
}

#[test]
fn a_loop_with_a_hint_waits_after_two_rounds() {
    let found = find(&[(16, OBJECT), (24, SharedId::NONE)], |_| 0, |at| Some(at as u64));
    assert_eq!(found, Some((4, waits(&[OBJECT]))));
}

#[test]
fn a_loop_whose_object_changes_does_not_wait() {
    assert_eq!(find(&[(16, OBJECT)], |at| at as u32 / 3, |_| Some(7)), None);
}

#[test]
fn a_loop_that_is_too_long_is_not_recognised() {
    let long: Vec<_> = (0..=LOOP_ACCESSES_MAX).map(|it| (8 * it, SharedId(it as u32))).collect();
    assert_eq!(find(&long, |_| 0, |_| Some(7)), None);
}

#[test]
fn parts_of_a_place_are_different_places() {
    let mut detector = SpinDetector::default();
    for at in 0..8 {
        let is_suspect = detector.note(place(16).part(at), OBJECT, 0);
        assert!(!is_suspect || detector.spin_loop(|| Some(7)).is_none());
    }
}

#[test]
fn one_more_round_is_enough_for_a_known_waiting_loop() {
    for local_state in [Some(7), None] {
        let mut detector = SpinDetector::default();
        let mut note =
            || if detector.note(place(16), OBJECT, 0) { detector.spin_loop(|| local_state) } else { None };
        let found: Vec<bool> = (0..6).map(|_| note().is_some()).collect();
        assert_eq!(found, [false, false, false, true, true, true]);
    }
}

#[test]
fn accesses_before_a_change_do_not_count() {
    let mut detector = SpinDetector::default();
    for _ in 0..3 {
        detector.note(place(16), OBJECT, 0);
    }
    detector.clear();
    assert!(!detector.note(place(16), OBJECT, 0));
    assert_eq!(detector.observed.len(), 1);
}

/// Makes rounds of these accesses, each at its own place, some of which change their object.
/// Returns the loop, if one is found as soon as it is looked for.
fn find_writing(round: &[(Place, SharedId, bool)]) -> Option<SpinLoop> {
    let mut detector = SpinDetector::default();
    let mut changes = 0;
    let last = ROUNDS_WITH_CHANGING_STATE + CHANGES_PER_LOOK as usize;
    (1..=last).find_map(|nth| {
        let mut found = None;
        for (place, object, does_change) in round {
            detector.note(*place, *object, changes as u32);
            if *does_change {
                changes += 1;
                found = detector.keep(changes).or(found);
            }
        }
        assert!(found.is_none() || ROUNDS_WITH_CHANGING_STATE <= nth);
        found
    })
}

#[test]
fn a_loop_that_counts_its_attempts_waits_by_a_guess() {
    let (lock, attempts) = (SharedId(2), SharedId(3));
    let waits = SpinLoop { objects: vec![lock, attempts], accesses: 2, is_guess: true };
    let loops = find_writing(&[(place(8), lock, false), (place(16), attempts, true)]);
    assert_eq!(loops, Some(waits));
    // Both are parts of one word.
    let waits = SpinLoop { objects: vec![lock], accesses: 2, is_guess: true };
    let [one, other] = [place(8).part(4), place(16)];
    assert_eq!(find_writing(&[(one, lock, false), (other, lock, true)]), Some(waits));
}

#[test]
fn a_loop_that_takes_back_what_it_added_waits_if_it_says_so() {
    let object = SharedId(2);
    let [add, subtract] = [(place(8), object, true), (place(16), object, true)];
    assert_eq!(find_writing(&[add, subtract]), None);
    let waits = SpinLoop { objects: vec![object], accesses: 2, is_guess: true };
    let hint = (place(24), SharedId::NONE, false);
    assert_eq!(find_writing(&[add, subtract, hint]), Some(waits));
}

#[test]
fn a_loop_that_changes_all_that_it_reads_is_not_one_that_waits() {
    assert_eq!(find_writing(&[(place(8), SharedId(2), true), (place(16), SharedId(3), true)]), None);
}

/// A walk over memory, which is counted.
#[test]
fn a_loop_that_reads_something_else_in_each_round_is_not_one_that_waits() {
    let mut detector = SpinDetector::default();
    for nth in 0..10 * ROUNDS_WITH_CHANGING_STATE {
        detector.note(place(8), SharedId(2 + nth as u32), 0);
        detector.note(place(16), OBJECT, nth as u32);
        assert_eq!(detector.keep(1 + nth as u64), None, "{nth}");
    }
}

#[test]
fn what_another_task_changes_ends_a_loop_that_changes_something() {
    let mut detector = SpinDetector::default();
    let mut changes = 0;
    for nth in 0..10 * ROUNDS_WITH_CHANGING_STATE {
        detector.note(place(8), SharedId(2), 0);
        detector.note(place(16), SharedId(3), changes as u32);
        changes += if nth % (ROUNDS_WITH_CHANGING_STATE - 1) == 0 { 2 } else { 1 };
        assert_eq!(detector.keep(changes), None, "{nth}");
    }
}

#[test]
fn a_loop_in_which_a_task_waits_in_vain_gets_more_rounds() {
    let mut detector = SpinDetector::default();
    let mut found = Vec::new();
    for change in 1..2_000 {
        detector.note(place(8), SharedId(2), 0);
        detector.note(place(16), SharedId(3), change as u32);
        found.extend(detector.keep(change).map(|_| change));
    }
    let pauses: Vec<u64> = found.windows(2).map(|it| it[1] - it[0]).collect();
    assert_eq!(pauses[..3], [48, 96, 192]);
}
