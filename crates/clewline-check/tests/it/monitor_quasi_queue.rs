//! The monitor for queues out of order by a bound: rules, evidence, and agreement with a search on random histories.

use clewline_testing::pick;

use crate::relaxed::{Tally, check_drawn, compare};

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
    // Nor is one that never leaves.
    let drawing = "A: |-enq 1-| |-enq 2-| |-enq 3-| |-deq → 2-| |-deq → 3-|";
    check_drawn("quasi-queue:1", drawing, "overtaken more than 1 times");
}

#[test]
fn who_overlaps_may_change_places() {
    let drawing = "
        A: |-enq 1-|           |-enq 3-| |-deq → 3-| |-deq → 1-|
        B:         |-enq 2---------------|                      |-deq → 2-|";
    check_drawn("quasi-queue:1", drawing, "holds");
}

#[test]
fn nothing_is_found_only_in_an_empty_queue_however_much_it_is_out_of_order() {
    check_drawn("quasi-queue:3", "A: |-enq 1-| |-deq → nil-|", "out of order by more than 3");
    check_drawn("quasi-queue:3", "A: |-enq 1-| |-deq → 1-| |-deq → nil-|", "holds");
    let drawing = "
        A: |-enq 1-| |-deq → 1--------------|
        B:           |-enq 2-| |-deq → nil-|  |-deq → 2-|";
    check_drawn("quasi-queue:3", drawing, "out of order by more than 3");
}

#[test]
fn on_random_histories_the_monitor_agrees_with_a_search() {
    let tally = compare(("quasi-queue", ["enq", "deq"]), pick(200, 1_200), 200_000);
    let Tally { holds, violated, undecided, refused } = tally;
    assert!(pick(50, 500) < holds && pick(30, 300) < violated && undecided + refused < 100, "{tally:?}");
}
