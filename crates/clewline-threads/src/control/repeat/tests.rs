use super::*;

const A: TaskId = TaskId(0);
const B: TaskId = TaskId(1);

fn picks(tasks: &[TaskId]) -> Vec<Pick> {
    tasks.iter().map(|it| Pick::Task(*it)).collect()
}

fn set(tasks: &[TaskId]) -> TaskSet {
    tasks.iter().copied().collect()
}

#[test]
fn a_round_begins_and_ends_at_the_same_places() {
    let mut repetition = Repetition::default();
    let schedule = picks(&[A, B, A, B]);
    let both = set(&[A, B]);
    assert_eq!(repetition.note(7, None, both, &[]), None);
    assert_eq!(repetition.note(8, None, both, &schedule[..1]), None);
    let round = repetition.note(7, None, both, &schedule[..2]);
    assert_eq!(round, Some(Round { position: 0, tasks: both }));
}

#[test]
fn every_task_that_could_moves_in_a_round() {
    let mut repetition = Repetition::default();
    let schedule = picks(&[A, A, B, A]);
    assert_eq!(repetition.note(7, None, TaskSet::EMPTY, &[]), None);
    assert_eq!(repetition.note(7, None, set(&[A, B]), &schedule[..2]), None);
    // A longer round may be fair.
    let round = repetition.note(7, None, set(&[A, B]), &schedule);
    assert_eq!(round, Some(Round { position: 2, tasks: set(&[A, B]) }));
}

#[test]
fn a_round_changes_no_local_state() {
    let mut repetition = Repetition::default();
    let schedule = picks(&[A; 9]);
    let mut note = |at: usize, state: u64| repetition.note(7, Some((A, state)), set(&[A]), &schedule[..at]);
    assert_eq!(note(1, 1), None);
    assert_eq!(note(2, 2), None);
    assert_eq!(note(3, 1), Some(Round { position: 1, tasks: set(&[A]) }));
}

#[test]
fn a_round_without_known_local_states_is_tried_once_in_an_execution() {
    let mut repetition = Repetition::default();
    let schedule = picks(&[A; 100]);
    for execution in 0..2 * UNKNOWN_STATE_REPLICAS_MAX {
        let mut tried = 0;
        for at in execution as usize..execution as usize + 5 {
            if let Some(round) = repetition.note(7, None, set(&[A]), &schedule[..at]) {
                repetition.found(&round, &schedule[..at], false);
                tried += 1;
            }
        }
        assert_eq!(tried, u32::from(execution < UNKNOWN_STATE_REPLICAS_MAX), "{execution}");
        repetition.clear();
    }
}

#[test]
fn an_execution_goes_on_where_it_went_on_before() {
    let mut repetition = Repetition::default();
    let schedule = picks(&[A; 9]);
    let state = Some((A, 5));
    for expected in [true, false] {
        repetition.note(7, state, set(&[A]), &schedule[..1]);
        let round = repetition.note(7, state, set(&[A]), &schedule[..2]);
        assert_eq!(round.is_some(), expected);
        round.iter().for_each(|it| repetition.found(it, &schedule[..2], false));
        // Another one is tried all the same.
        assert!(repetition.note(7, state, set(&[A]), &schedule[..3]).is_some());
        repetition.clear();
    }
}

#[test]
fn a_round_with_a_choice_is_none() {
    let mut repetition = Repetition::default();
    let schedule = [Pick::Task(A), Pick::Value(1), Pick::Task(A)];
    assert_eq!(repetition.note(7, None, set(&[A]), &[]), None);
    assert_eq!(repetition.note(7, None, set(&[A]), &schedule), None);
}

#[test]
fn a_proven_round_is_that_of_its_execution_only() {
    let mut repetition = Repetition::default();
    let schedule = picks(&[A, A]);
    repetition.note(7, None, set(&[A]), &[]);
    let round = repetition.note(7, None, set(&[A]), &schedule).expect("a round");
    repetition.found(&round, &schedule, true);
    assert_eq!(repetition.round, Some((2, set(&[A]))));
    repetition.clear();
    assert_eq!(repetition.round, None);
}

#[test]
fn many_occasions_are_used_seldom() {
    let used: Vec<u32> = (1..50).filter(|it| is_sparse(*it)).collect();
    assert_eq!(used, [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48]);
}
