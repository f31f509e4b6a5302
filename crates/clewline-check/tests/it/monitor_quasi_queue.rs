//! The monitor for relaxed queues: rules, evidence, and agreement with a search on random
//! histories.

use clewline_testing::pick;

use crate::relaxed::{VerdictCounts, check_drawn, compare};

#[test]
fn a_removal_overtakes_no_more_than_the_factor() {
    let drawing = "A: |-enq 1-| |-enq 2-| |-enq 3-| |-deq → 3-| |-deq → 1-| |-deq → 2-|";
    check_drawn("quasi-queue:1", drawing, "more than 1 are overtaken");
    check_drawn("quasi-queue:2", drawing, "holds");
}

#[test]
fn an_element_is_overtaken_no_more_often_than_the_factor() {
    let drawing = "A: |-enq 1-| |-enq 2-| |-enq 3-| |-deq → 2-| |-deq → 3-| |-deq → 1-|";
    check_drawn("quasi-queue:1", drawing, "overtaken more than 1 times");
    check_drawn("quasi-queue:2", drawing, "holds");
    // Nor is one that is never removed.
    let drawing = "A: |-enq 1-| |-enq 2-| |-enq 3-| |-deq → 2-| |-deq → 3-|";
    check_drawn("quasi-queue:1", drawing, "overtaken more than 1 times");
}

#[test]
fn overlapping_operations_may_change_places() {
    let drawing = "
        A: |-enq 1-|           |-enq 3-| |-deq → 3-| |-deq → 1-|
        B:         |-enq 2---------------|                      |-deq → 2-|";
    check_drawn("quasi-queue:1", drawing, "holds");
}

#[test]
fn an_empty_result_needs_an_empty_queue_whatever_the_factor() {
    check_drawn("quasi-queue:3", "A: |-enq 1-| |-deq → nil-|", "out of order by more than 3");
    check_drawn("quasi-queue:3", "A: |-enq 1-| |-deq → 1-| |-deq → nil-|", "holds");
    let drawing = "
        A: |-enq 1-| |-deq → 1--------------|
        B:           |-enq 2-| |-deq → nil-|  |-deq → 2-|";
    check_drawn("quasi-queue:3", drawing, "out of order by more than 3");
}

#[test]
fn on_random_histories_the_monitor_agrees_with_a_search() {
    let counts = compare(("quasi-queue", ["enq", "deq"]), pick(25, 1_200), 200_000);
    let VerdictCounts { holds, violated, undecided, refused } = counts;
    assert!(pick(5, 500) < holds && pick(3, 300) < violated && undecided + refused < 100, "{counts:?}");
}
