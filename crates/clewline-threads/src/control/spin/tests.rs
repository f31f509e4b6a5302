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
fn a_loop_with_unknown_local_state_is_a_waiting_loop() {
    assert_eq!(find(&[(16, OBJECT)], |_| 0, |_| None), Some((4, waits(&[OBJECT]))));
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
