//! Queues with a capacity, searched with two frontiers, agree with the oracle.

use clewline_check::{JudgeOptions, judge, search::two_frontiers::search_within};
use clewline_core::{Budget, GeneratorConfig, Problem, Random, ValueDomain, Verdict};
use clewline_monitor::Columns;
use clewline_specs::find;
use clewline_testing::{pick_of_three, share};

use crate::{
    histories::{drawn, every_history},
    pending::check_judged,
    queues::generated_of,
};

/// The oracle's verdict, which is `auto`'s, and that of the search alone; whether it holds.
#[track_caller]
fn check_alone(problem: &Problem<'_>) -> bool {
    let columns = Columns::with_refused(problem).unwrap();
    let found = search_within(&columns, problem.capacity().unwrap(), &Budget::unlimited()).unwrap();
    let holds = check_judged(problem);
    assert_eq!(found.is_some(), holds, "{problem:#?}");
    holds
}

/// Whatever can be said of room without pending operations.
#[test]
fn every_small_history() {
    let actions =
        ["enq 1 → true", "enq 2 → true", "enq 1 → false", "deq → 1", "deq → 2", "deq → nil", "peek → 2"];
    for (spec, most) in [("queue:1", [4, 5, 7]), ("queue:2", [4, 5, 7])] {
        let (mut held, mut violated) = (0, 0);
        for n in 1..=pick_of_three(most[0], most[1], most[2]) {
            every_history(spec, n, &actions, |case| match check_alone(&case.problems()[0]) {
                true => held += 1,
                false => violated += 1,
            });
        }
        assert!(held + violated < 50 * held.min(violated), "{spec}: {held} hold, {violated} are violated");
    }
}

#[test]
fn random_histories() {
    let (mut held, mut violated) = (0, 0);
    let cases = share(60_000);
    for seed in 0..cases {
        let mut random = Random::new(seed ^ 0xcafe);
        let enqs = 4 + random.below(4) as u32;
        let plan = GeneratorConfig {
            operations: 4 + random.below(13),
            processes: 2 + random.below(5),
            overlap: [0.3, 0.6, 1.0][random.below(3)],
            values: ValueDomain::Below(1 + random.below(4) as u32),
            mix: [("enq", enqs), ("deq", 4), ("peek", 1)].map(|it| (it.0.to_owned(), it.1)).to_vec(),
            seed,
            ..GeneratorConfig::default()
        };
        let spec = ["queue:1", "queue:2", "queue:3"][random.below(3)];
        let case = generated_of(spec, &plan, random.below(3));
        eprintln!("seed {seed}: {spec}");
        match check_alone(&case.problems()[0]) {
            true => held += 1,
            false => violated += 1,
        }
    }
    assert!(cases < 20 * held.min(violated), "{held} hold, {violated} are violated");
}

/// Where operations have to wait for room, an order found without capacity is wrong.
#[test]
fn long_histories_that_are_often_full() {
    for (spec, processes) in [("queue:8", 8), ("queue:16", 8)] {
        let plan = GeneratorConfig {
            operations: pick_of_three(2_000, 4_000, 4_000),
            processes,
            mix: [("enq", 6), ("deq", 5), ("peek", 1)].map(|it| (it.0.to_owned(), it.1)).to_vec(),
            seed: 7,
            ..GeneratorConfig::default()
        };
        let specification = find(spec).unwrap();
        let case = specification.load(specification.generate(&plan)).unwrap();
        let budget = Budget::unlimited();
        let judgement = judge(case.problems(), &JudgeOptions { budget, ..JudgeOptions::default() });
        assert!(matches!(judgement.verdict, Verdict::Holds(_)), "{spec}: {:?}", judgement.verdict);
    }
}

#[track_caller]
fn check_drawn(spec: &str, drawing: &str, holds: bool) {
    assert_eq!(check_alone(&drawn(spec, drawing).problems()[0]), holds, "{drawing}");
}

/// The second enq waits until the deq has made room, and returns before it is called.
#[test]
fn an_enq_waits_for_room() {
    let late = "
        A: |-enq 1 → true-| |-enq 2 → true-|
        B:                                    |-deq → 1-| |-deq → 2-|
        ";
    check_drawn("queue:1", late, false);
    check_drawn("queue:2", late, true);
    let in_time = "
        A: |-enq 1 → true-| |-enq 2 → true--------|
        B:                                  |-deq → 1-| |-deq → 2-|
        ";
    check_drawn("queue:1", in_time, true);
}

/// The enq that found no room is called when the deq is placed already, which has to be later.
#[test]
fn a_deq_waits_for_an_enq_that_finds_no_room() {
    check_drawn(
        "queue:1",
        "
        A: |-enq 1 → true-|                       |-enq 3 → true-|
        B:              |-deq → 1------------|
        C:                    |-enq 2 → false-|                    |-deq → 3-|
        ",
        true,
    );
    check_drawn(
        "queue:1",
        "
        A: |-enq 1 → true-|
        B:              |-deq → 1-|
        C:                           |-enq 2 → false-|
        ",
        false,
    );
}

/// The queue was full only before it was empty.
#[test]
fn what_finds_no_room_comes_before_what_finds_nothing() {
    check_drawn(
        "queue:1",
        "
        A: |-enq 1 → true----| |-deq → nil-|
        B: |-deq → 1---------|
        C:                     |-enq 2 → false-|
        ",
        false,
    );
    check_drawn(
        "queue:1",
        "
        A: |-enq 1 → true----| |-deq → nil-|
        B: |-deq → 1------------------|
        C:                     |-enq 2 → false-|
        ",
        true,
    );
}

/// The deq and the nil come late, for the queue was full before.
#[test]
fn an_empty_waits_for_what_finds_no_room() {
    check_drawn(
        "queue:2",
        "
        A: |-enq 1 → true-| |-enq 2 → true-|
        B: |-enq 3 → false------------------------------------|
        C:                   |-deq → 1------------------------|
        D:                   |-deq → nil----------------------|
        E:                                    |-deq → 2-----|
        ",
        true,
    );
}
