//! Every monitor agrees with the referee on every small history, and its evidence is right.

use std::time::Instant;

use clewline_core::{Budget, ObjectKind, RoleKind};
use clewline_monitor::{MONITORS, MonitorVerdict, RuleViolation, Want, find, judge_columns};
use clewline_testing::pick_of_three;

use super::{
    VerdictCounts,
    referee::{DeadConfigurations, Referee},
    small_histories::{Menu, Small, enough},
};

/// What is tried of one kind of object.
struct Experiment {
    menu: Menu,
    /// The most operations in `./test all`, one less in `./test`, and the most where there are
    /// hours.
    most: usize,
    most_in_hours: usize,
    /// The greatest share of histories that may be left to a search.
    refused: f64,
}

const REGISTER: ObjectKind = ObjectKind::Register { initial: 0 };

const CONTAINER: &[RoleKind] = &[RoleKind::Add, RoleKind::Remove, RoleKind::Observe, RoleKind::Empty];
const BITS: &[RoleKind] = &[RoleKind::Add, RoleKind::Remove, RoleKind::Observe, RoleKind::Absent];
const TAKING: &[RoleKind] = &[RoleKind::Add, RoleKind::RemoveUnknown];
const TAKING_OR_NOT: &[RoleKind] = &[RoleKind::Add, RoleKind::RemoveUnknown, RoleKind::NoEffect];

/// Distinct values; these and pending operations; anything at all.
fn container(kind: ObjectKind, acts: &'static [RoleKind]) -> [Experiment; 3] {
    let distinct = Menu { kind, acts, pending: &[], values: 8, sees: 8, is_distinct: true };
    [
        Experiment { menu: distinct, most: 6, most_in_hours: 7, refused: 0.0 },
        Experiment { menu: Menu { pending: TAKING, ..distinct }, most: 5, most_in_hours: 6, refused: 0.0 },
        Experiment {
            menu: Menu { pending: TAKING_OR_NOT, values: 2, is_distinct: false, ..distinct },
            most: 4,
            most_in_hours: 5,
            refused: 0.7,
        },
    ]
}

#[track_caller]
fn check_every(experiments: &[Experiment]) {
    for Experiment { menu, most, most_in_hours, refused } in experiments {
        if find(menu.kind).is_none() {
            eprintln!("{:?}: there is no monitor", menu.kind);
            continue;
        }
        let most = pick_of_three(most - 1, *most, *most_in_hours);
        let budget = Budget::unlimited();
        let start = Instant::now();
        let mut counts = VerdictCounts::default();
        let mut seen = DeadConfigurations::default();
        for n in 0..=most {
            // Priorities have an order, so that each number of them is a menu of its own.
            let is_ordered =
                matches!(menu.kind, ObjectKind::PriorityQueue | ObjectKind::QuasiPriorityQueue { .. });
            let fewest = if is_ordered { 0 } else { menu.values };
            for values in fewest..=menu.values.min(n as u64).max(fewest) {
                enough(&Menu { values, ..*menu }, n, &mut |small| {
                    check_one(small, &budget, &mut seen, &mut counts);
                });
            }
        }
        eprintln!("{menu:?}, up to {most} operations: {counts:?} in {:?}", start.elapsed());
        counts.expect(0.02, *refused, &format!("{menu:?}"));
    }
}

fn check_one(small: Small<'_>, budget: &Budget, seen: &mut DeadConfigurations, counts: &mut VerdictCounts) {
    let columns = small.columns();
    let referee = Referee::new(small);
    let all = (1 << small.roles.len()) - 1;
    let about = || small.drawing();
    let ruling = judge_columns(&columns, Want::Witness, budget);
    let quickly = judge_columns(&columns, Want::Verdict, budget);
    match (ruling, quickly) {
        (Err(_), Err(_)) => counts.refused += 1,
        (Ok(MonitorVerdict::Holds(Some(order))), Ok(MonitorVerdict::Holds(None))) => {
            counts.holds += 1;
            if let Some(fault) = referee.fault(&order) {
                assert!(referee.holds(all, seen), "is violated, but was held to hold: {}", about());
                panic!("{fault} in the witness {order:?}, though there is one: {}", about());
            }
        }
        (Ok(MonitorVerdict::Violated(violation)), Ok(MonitorVerdict::Violated(_))) => {
            counts.violated += 1;
            let RuleViolation { operations, evidence, .. } = &violation;
            assert!(operations.iter().all(|it| evidence.contains(it)), "{violation:?}: {}", about());
            let evidence = evidence.iter().fold(0, |set, at| set | 1 << at);
            assert!(!referee.holds(all, seen), "called violated, but holds: {violation:?}: {}", about());
            assert!(!referee.holds(evidence, seen), "no evidence: {violation:?}: {}", about());
        }
        (ruling, quickly) => panic!("with a witness {ruling:?}, without one {quickly:?}: {}", about()),
    }
}

#[test]
fn every_monitor_is_tried() {
    let kinds = [
        ObjectKind::Set,
        ObjectKind::Queue,
        ObjectKind::QuasiQueue { factor: 1 },
        ObjectKind::Stack,
        ObjectKind::QuasiStack { factor: 1 },
        ObjectKind::PriorityQueue,
        ObjectKind::QuasiPriorityQueue { factor: 1 },
        ObjectKind::Bag,
        ObjectKind::Multiset,
        ObjectKind::Counter,
        REGISTER,
    ];
    for monitor in &MONITORS {
        assert!(kinds.iter().any(|&it| monitor.suits(it)), "{} is not tried", monitor.name());
    }
}

/// Three values, each added and removed, and one of them observed as well: the fewest operations in
/// which three elements of a queue are in a cycle and no two of them are.
fn in_turn(kind: ObjectKind) -> Experiment {
    let acts = &[RoleKind::Add, RoleKind::Remove, RoleKind::Observe];
    let menu = Menu { kind, acts, pending: &[], values: 3, sees: 1, is_distinct: true };
    Experiment { menu, most: 7, most_in_hours: 7, refused: 0.0 }
}

#[test]
fn every_small_queue_history() {
    check_every(&container(ObjectKind::Queue, CONTAINER));
    check_every(&[in_turn(ObjectKind::Queue)]);
}

#[test]
fn every_small_history_of_a_relaxed_queue() {
    check_out_of_order(|factor| ObjectKind::QuasiQueue { factor }, 0);
}

#[test]
fn every_small_history_of_a_relaxed_stack() {
    check_out_of_order(|factor| ObjectKind::QuasiStack { factor }, 0);
}

#[test]
fn every_small_history_of_a_relaxed_priority_queue() {
    // Values differ by more than their names, so that there are many more histories.
    check_out_of_order(|factor| ObjectKind::QuasiPriorityQueue { factor }, 1);
}

fn check_out_of_order(kind: impl Fn(u32) -> ObjectKind, fewer: usize) {
    for factor in [1, 2] {
        let kind = kind(factor);
        let acts = &[RoleKind::Add, RoleKind::Remove, RoleKind::Empty];
        let distinct = Menu { kind, acts, pending: &[], values: 8, sees: 0, is_distinct: true };
        let pending = Menu { pending: TAKING, ..distinct };
        // Three elements, all of them removed: the fewest that can be out of order by two.
        let whole = Menu { acts: &[RoleKind::Add, RoleKind::Remove], values: 3, ..distinct };
        check_every(&[
            Experiment { menu: distinct, most: 6 - fewer, most_in_hours: 7 - fewer, refused: 0.0 },
            Experiment { menu: pending, most: 5 - fewer, most_in_hours: 6 - fewer, refused: 0.0 },
            Experiment { menu: whole, most: 7 - fewer, most_in_hours: 8 - fewer, refused: 0.0 },
        ]);
    }
}

#[test]
fn every_small_stack_history() {
    check_every(&container(ObjectKind::Stack, CONTAINER));
    if pick_of_three(false, false, true) {
        check_every(&[in_turn(ObjectKind::Stack)]);
    }
}

#[test]
fn every_small_priority_queue_history() {
    // Values differ by more than their names, so that there are many more histories.
    let [distinct, pending, anything] = container(ObjectKind::PriorityQueue, CONTAINER);
    // Three of them, all removed, can conflict.
    let unseen =
        Menu { acts: &[RoleKind::Add, RoleKind::Remove, RoleKind::Empty], values: 3, ..distinct.menu };
    check_every(&[
        Experiment { most: 5, most_in_hours: 6, ..distinct },
        Experiment { menu: unseen, most: 6, most_in_hours: 7, refused: 0.0 },
        Experiment { most: 4, most_in_hours: 5, ..pending },
        anything,
    ]);
}

#[test]
fn every_small_bag_history() {
    check_every(&container(ObjectKind::Bag, &[RoleKind::Add, RoleKind::Remove, RoleKind::Empty]));
    let counted = Menu {
        kind: ObjectKind::Bag,
        acts: &[RoleKind::Add, RoleKind::Remove],
        pending: &[],
        values: 2,
        sees: 8,
        is_distinct: false,
    };
    check_every(&[Experiment { menu: counted, most: 6, most_in_hours: 7, refused: 0.0 }]);
}

#[test]
fn every_small_set_history() {
    let one =
        Menu { kind: ObjectKind::Set, acts: BITS, pending: &[], values: 1, sees: 8, is_distinct: false };
    let pending = Menu { pending: &[RoleKind::Add, RoleKind::Remove, RoleKind::NoEffect], ..one };
    check_every(&[
        Experiment { menu: one, most: 6, most_in_hours: 7, refused: 0.0 },
        Experiment { menu: pending, most: 5, most_in_hours: 6, refused: 0.0 },
        Experiment { menu: Menu { values: 2, ..pending }, most: 4, most_in_hours: 5, refused: 0.0 },
    ]);
}

#[test]
fn every_small_multiset_history() {
    let one =
        Menu { kind: ObjectKind::Multiset, acts: BITS, pending: &[], values: 1, sees: 8, is_distinct: false };
    let pending = Menu { pending: &[RoleKind::Add, RoleKind::Remove, RoleKind::NoEffect], ..one };
    check_every(&[
        Experiment { menu: one, most: 6, most_in_hours: 7, refused: 0.7 },
        Experiment { menu: pending, most: 5, most_in_hours: 6, refused: 0.8 },
        Experiment { menu: Menu { values: 2, ..pending }, most: 4, most_in_hours: 5, refused: 0.7 },
    ]);
}

#[test]
fn every_small_counter_history() {
    let ones = Menu {
        kind: ObjectKind::Counter,
        acts: &[RoleKind::Add, RoleKind::Observe],
        pending: &[],
        values: 7,
        sees: 8,
        is_distinct: true,
    };
    let pending = Menu { pending: &[RoleKind::Add], ..ones };
    let amounts =
        Menu { pending: &[RoleKind::Add, RoleKind::NoEffect], values: 3, is_distinct: false, ..ones };
    check_every(&[
        Experiment { menu: ones, most: 6, most_in_hours: 7, refused: 0.0 },
        Experiment { menu: pending, most: 5, most_in_hours: 7, refused: 0.0 },
        Experiment { menu: amounts, most: 4, most_in_hours: 5, refused: 1.0 },
    ]);
}

#[test]
fn every_small_register_history() {
    let writes = Menu {
        kind: REGISTER,
        acts: &[RoleKind::Add, RoleKind::Observe],
        pending: &[],
        values: 8,
        sees: 8,
        is_distinct: true,
    };
    let replaces = Menu { acts: &[RoleKind::Add, RoleKind::Observe, RoleKind::Replace], ..writes };
    let anything = Menu {
        acts: &[RoleKind::Add, RoleKind::Observe, RoleKind::Absent, RoleKind::Replace],
        pending: &[RoleKind::Add, RoleKind::Replace, RoleKind::NoEffect],
        values: 2,
        is_distinct: false,
        ..writes
    };
    check_every(&[
        Experiment { menu: writes, most: 6, most_in_hours: 7, refused: 0.0 },
        Experiment { menu: replaces, most: 5, most_in_hours: 6, refused: 0.0 },
        Experiment {
            menu: Menu { pending: &[RoleKind::Add], ..writes },
            most: 5,
            most_in_hours: 6,
            refused: 0.0,
        },
        Experiment {
            menu: Menu { pending: &[RoleKind::Add, RoleKind::Replace], ..replaces },
            most: 4,
            most_in_hours: 5,
            refused: 0.0,
        },
        Experiment { menu: anything, most: 3, most_in_hours: 4, refused: 0.9 },
    ]);
}
