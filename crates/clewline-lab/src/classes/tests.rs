//! Tests of all classes: their serial results, that the plain ones hold, and that each root cause
//! is found.

mod oracle;

use std::collections::BTreeSet;

use clewline_core::Random;
use clewline_matrix::Explorable;
use clewline_testing::pick;

use self::oracle::{check, columns, results};
use super::*;
use crate::{ClassVariant, Flaw};

fn variant(name: &str, variant: &str) -> &'static ClassVariant {
    let class = CLASSES.iter().find(|it| it.name == name).unwrap();
    class.variants.iter().find(|it| it.name == variant).unwrap()
}

fn flaws() -> impl Iterator<Item = (&'static Class, &'static ClassVariant, Flaw)> {
    let all = CLASSES.iter().flat_map(|class| class.variants.iter().map(move |it| (class, it)));
    all.filter_map(|(class, it)| Some((class, it, it.flaw?)))
}

/// A matrix with uniformly random entries.
fn draw(subject: &dyn Explorable, columns: usize, rows: usize, random: &mut Random) -> Vec<Vec<String>> {
    let calls = subject.invocations();
    let mut column = || (0..rows).map(|_| calls[random.below(calls.len())].clone()).collect();
    (0..columns).map(|_| column()).collect()
}

/// Makes calls one after the other, and compares their results, in order; `#` stands for a call
/// that blocks.
#[track_caller]
fn check_serial(class: &str, calls: &str, expected: &str) {
    let (name, kind) = class.split_once(':').unwrap_or((class, ""));
    let results = results(&*(variant(name, kind).build)(), &columns(calls));
    assert_eq!(results.join(" "), expected, "{class}: {calls}");
}

#[test]
fn lazy_makes_its_value_once() {
    let calls = "is-value-created to-string value value to-string is-value-created";
    check_serial("lazy", calls, r#"false "not-created" 1 1 "1" true"#);
}

#[test]
fn an_event_releases_waiters_while_it_is_set() {
    check_serial("manual-reset-event", "is-set set is-set wait wait-one set wait", "false - true - - - -");
    check_serial("manual-reset-event", "set reset is-set wait", "- - false #");
    check_serial("manual-reset-event", "reset wait-one", "- #");
}

#[test]
fn a_semaphore_gives_its_permits_and_no_more() {
    check_serial("semaphore-slim", "wait wait-zero release(2) wait wait-zero wait", "- false 0 - true #");
    check_serial("semaphore-slim", "release current-count wait-zero current-count", "1 2 true 1");
}

#[test]
fn a_countdown_stays_at_zero() {
    let calls =
        "signal try-add-count signal(2) is-set wait wait-one wait-zero try-add-count(2) add-count signal";
    let expected = "Ok(false) true Ok(true) true - - true false Err(Set) Err(TooMany)";
    check_serial("countdown-event", calls, expected);
    check_serial(
        "countdown-event",
        "add-count(2) signal(2) current-count wait-zero wait",
        "Ok(()) Ok(false) 2 false #",
    );
    check_serial("countdown-event", "wait-one", "#");
}

#[test]
fn a_dictionary_holds_one_value_a_key() {
    let calls = "try-add(10) try-add(10) get(10) set(10) try-update(10) try-get(10) count \
                 try-remove(10) try-remove(10) get(10)";
    let expected = "true false Ok(10) - false Some(11) 1 Some(11) None Err(KeyNotFound)";
    check_serial("concurrent-dictionary", calls, expected);
    let calls =
        "set(20) try-add(10) try-update(10) try-get(10) count clear is-empty contains-key(20) try-update(20)";
    check_serial("concurrent-dictionary", calls, "- true true Some(12) 2 - true false false");
}

#[test]
fn a_queue_is_first_in_first_out_across_segments() {
    let calls = "enqueue(10) enqueue(20) enqueue(10) enqueue(20) try-peek count to-array \
                 try-dequeue try-dequeue try-dequeue \
                 to-array try-peek try-dequeue try-dequeue is-empty count";
    let expected =
        "- - - - Some(10) 4 [10,20,10,20] Some(10) Some(20) Some(10) [20] Some(20) Some(20) None true 0";
    check_serial("concurrent-queue", calls, expected);
    check_serial("concurrent-queue:pre", "enqueue(10) try-dequeue try-dequeue", "- Some(10) None");
}

#[test]
fn a_stack_is_last_in_first_out_with_ranges() {
    let calls = "push(10) push(20) try-peek try-pop-range(4) try-pop push-range-ten try-pop-range(2) count clear count";
    let expected = "- - Some(20) [20,10] None - [10,9] 8 - 0";
    check_serial("concurrent-stack", calls, expected);
    check_serial(
        "concurrent-stack",
        "push(20) push(10) to-array-order-by try-pop-range(1)",
        "- - [10,20] [10]",
    );
}

#[test]
fn a_list_has_two_ends() {
    let calls = "add-first(10) add-last(20) add-last(20) count remove-first-out \
                 remove-last-out remove-last remove-first remove-last-out count";
    check_serial("concurrent-linked-list", calls, "- - - 3 Some(10) Some(20) true false None 0");
}

#[test]
fn a_collection_ends_when_adding_is_complete_and_all_is_taken() {
    let calls = "add(10) try-add(20) try-add(30,1) count to-array take try-take complete-adding \
                 is-completed is-adding-completed \
                 add(10) take-with-enum is-completed take take-with-enum try-take(1)";
    let expected = "Ok(()) Ok(true) Ok(true) 3 [10,20,30] Ok(10) Some(20) - false true \
                    Err(Completed) Some(30) true Err(Completed) None None";
    check_serial("blocking-collection", calls, expected);
    check_serial("blocking-collection", "try-take try-take(1) take", "None None #");
    check_serial(
        "blocking-collection:cancel",
        "add(10) cancel take try-take",
        "Ok(()) - Err(Canceled) Some(10)",
    );
}

#[test]
fn a_bag_returns_the_elements_added() {
    let calls =
        "is-empty try-peek add(10) add(20) count to-array try-peek try-take try-take try-take is-empty";
    check_serial("concurrent-bag", calls, "true None - - 2 [20,10] Some(20) Some(20) Some(10) None true");
}

#[test]
fn a_task_ends_once() {
    let calls =
        "try-result exception try-set-result(10) set-result(20) try-set-canceled try-result wait exception";
    check_serial(
        "task-completion-source",
        calls,
        "None None true Err(AlreadyEnded) false Some(10) Ok(10) None",
    );
    let calls = "set-exception(40) try-set-exception(30) exception wait try-result set-canceled";
    let expected = "Ok(()) false Some(40) Err(Exception(40)) None Err(AlreadyEnded)";
    check_serial("task-completion-source", calls, expected);
    check_serial("task-completion-source", "set-canceled wait exception", "Ok(()) Err(Canceled) None");
    check_serial("task-completion-source", "wait", "#");
}

#[test]
fn a_source_is_canceled_once() {
    check_serial("cancellation-token-source", "increment cancel increment cancel", "false - true -");
}

#[test]
fn a_barrier_counts_its_participants() {
    let calls = "participants-remaining add-participant participant-count remove-participant remove-participant \
                 remove-participant remove-participant current-phase-number cancel-token participants-remaining";
    check_serial("barrier", calls, "2 Ok(0) 3 Ok(()) Ok(()) Ok(()) Err(NoParticipant) 0 - 0");
    let calls = "remove-participant signal-and-wait current-phase-number add-participant cancel-token signal-and-wait";
    check_serial("barrier:signal-and-wait", calls, "Ok(()) Ok(()) 1 Ok(1) - Err(Canceled)");
    check_serial("barrier:signal-and-wait", "signal-and-wait", "#");
}

#[test]
fn plain_variants_hold() {
    for class in &CLASSES {
        let subject = (class.variants[0].build)();
        for (columns, rows, samples) in [(2, 2, pick(4, 12)), (3, 2, pick(1, 4))] {
            let mut random = Random::new(5);
            for _ in 0..samples {
                let matrix = draw(&*subject, columns, rows, &mut random);
                let seen = check(&*subject, &matrix);
                assert!(seen.causes.is_empty(), "{}: {matrix:?}: {seen:?}", class.name);
            }
        }
    }
}

#[test]
fn all_serial_histories_are_found() {
    // Nine calls in three columns that never wait: 9! / (3!)^3 orders.
    let matrix = "increment cancel increment | increment increment cancel | cancel increment increment";
    let seen = check(&*(variant("cancellation-token-source", "").build)(), &columns(matrix));
    assert_eq!((seen.serial, seen.stuck_serial), (1_680, 0));
    assert!(1_680 < seen.executions, "{seen:?}");
    // One permit: the second waiter blocks, and no thread releases.
    let seen = check(&*(variant("semaphore-slim", "").build)(), &columns("wait | wait wait"));
    assert_eq!((seen.serial, seen.stuck_serial), (3, 3));
}

#[test]
fn root_causes_are_found_and_their_matrices_are_minimal() {
    let mut letters = BTreeSet::new();
    for (class, variant, flaw) in flaws() {
        let subject = (variant.build)();
        let matrix = columns(flaw.matrix);
        let seen = check(&*subject, &matrix);
        assert_eq!(seen.causes, BTreeSet::from([flaw.cause]), "{}:{}: {seen:?}", class.name, variant.name);
        for column in 0..matrix.len() {
            for row in 0..matrix[column].len() {
                let mut less = matrix.clone();
                less[column].remove(row);
                let seen = check(&*subject, &less);
                assert!(seen.causes.is_empty(), "{}:{}: {less:?}: {seen:?}", class.name, variant.name);
            }
        }
        letters.insert(flaw.letter);
    }
    assert_eq!(letters, ('A'..='L').collect());
}
