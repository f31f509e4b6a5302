//! The two readings of a relaxed queue, and the smallest histories that distinguish them.
//!
//! The other reading: an element may be removed if at most k are in front of it, and none of these
//! has been overtaken k times before; everything else is as in a queue, and real time is respected.
//! Implemented here in the simplest way.

use clewline_check::relaxed::{QuasiVerdict, displaced};
use clewline_core::{Budget, ErasedHistory, Problem};
use clewline_testing::pick;

use super::factors::relaxation;
use crate::histories::{drawn, every_history};

/// Whether real time allows an order in which every element is removed as a queue relaxed by `k`
/// allows.
fn is_relaxed(problem: &Problem<'_>, k: usize) -> bool {
    let texts: Vec<String> = problem.operations().iter().map(|&id| problem.label(id)).collect();
    let left: Vec<usize> = (0..problem.len()).collect();
    place_next(problem, &texts, k, &left, &[])
}

/// Whether those `left` can follow; the queue holds texts of values, and how often each was
/// overtaken.
fn place_next(
    problem: &Problem<'_>,
    texts: &[String],
    k: usize,
    left: &[usize],
    queue: &[(&str, usize)],
) -> bool {
    let spans = problem.spans();
    let is_next = |at: usize| left.iter().all(|&it| !spans[it].precedes(spans[at]));
    left.is_empty()
        || left.iter().filter(|&&at| is_next(at)).any(|&at| {
            let mut queue = queue.to_vec();
            let is_legal = match texts[at].split_once(" → ") {
                Some((_, "null")) => queue.is_empty(),
                Some((_, value)) => {
                    let place = queue.iter().position(|it| it.0 == value);
                    place.is_some_and(|place| {
                        queue.remove(place);
                        let overtaken = &mut queue[..place];
                        overtaken.iter_mut().for_each(|it| it.1 += 1);
                        place <= k && overtaken.iter().all(|it| it.1 <= k)
                    })
                }
                None => {
                    queue.push((&texts[at]["enq(".len()..texts[at].len() - 1], 0));
                    true
                }
            };
            let rest: Vec<usize> = left.iter().copied().filter(|&it| it != at).collect();
            is_legal && place_next(problem, texts, k, &rest, &queue)
        })
}

fn is_displaced(problem: &Problem<'_>, factors: &str) -> bool {
    match displaced(problem, &relaxation(problem, factors), &Budget::unlimited()) {
        QuasiVerdict::Holds(_) => true,
        QuasiVerdict::Violated(_) => false,
        QuasiVerdict::Unknown(reason) => panic!("{reason}"),
    }
}

/// Histories on which the readings differ, of at most `most` operations with distinct values.
fn differences(most: usize, factors: &str, k: usize, actions: &[&str]) -> Vec<(usize, String, bool)> {
    let mut found = Vec::new();
    for n in 1..=most {
        every_history("queue", n, actions, |case| {
            let problem = &case.problems()[0];
            let texts: Vec<String> = problem.operations().iter().map(|&id| problem.label(id)).collect();
            if (1..n).any(|it| texts[..it].contains(&texts[it])) {
                return;
            }
            let relaxed = is_relaxed(problem, k);
            if is_displaced(problem, factors) != relaxed {
                let serial = problem.spans().windows(2).all(|it| it[0].precedes(it[1]));
                let order = if serial { texts.join(" ") } else { format!("overlapping {}", texts.join(" ")) };
                found.push((n, order, relaxed));
            }
        });
    }
    found
}

#[track_caller]
fn check_readings(case: &dyn ErasedHistory, factors: &str, k: usize, [by_displacement, relaxed]: [bool; 2]) {
    let problem = &case.problems()[0];
    assert_eq!([is_displaced(problem, factors), is_relaxed(problem, k)], [by_displacement, relaxed]);
}

/// Separate classes do not tie a `deq` to its `enq`, not even with factor 0.
#[test]
fn a_deq_before_its_enq_is_in_place_class_by_class() {
    let case = drawn("queue", "A: |deq → 1| |enq 1|");
    check_readings(&*case, "enq=0,deq=0", 0, [true, false]);
    check_readings(&*case, "enq=0,deq=2", 2, [true, false]);
    check_readings(&*case, "all=0", 0, [false, false]);
    // A class of all operations bounds it, as far as the factor goes.
    check_readings(&*case, "all=1", 1, [true, false]);
    let actions = ["enq 1", "deq → 1", "deq → nil"];
    for factors in ["enq=0,deq=0", "enq=0,deq=1", "all=1"] {
        let differences = differences(2, factors, 1, &actions);
        let [(2, first, false), ..] = &differences[..] else { panic!("{factors}: {differences:?}") };
        assert_eq!(first, "deq() → 1 enq(1)", "{factors}");
    }
}

/// Where every element is added in time, places are counted between orders in which `enq` may have
/// moved as well.
#[test]
fn displacement_of_all_lets_an_element_pass_two_others_with_factor_1() {
    let case = drawn("queue", "A: |enq 1| |enq 2| |enq 3| |deq → 3| |deq → 1| |deq → 2|");
    check_readings(&*case, "all=1", 1, [true, false]);
    check_readings(&*case, "all=1", 2, [true, true]);
    check_readings(&*case, "all=0", 0, [false, false]);
    check_readings(&*case, "enq=0,deq=1", 1, [false, false]);
    check_readings(&*case, "enq=1,deq=1", 1, [true, false]);
}

/// Nor does the other reading imply it: between 1 and 2, and between the operations that remove
/// them, there is one operation more than the factor of all lets them move by.
#[test]
fn a_history_of_the_relaxed_specification_may_exceed_displacement_among_all() {
    let case = drawn("queue", "A: |enq 0| |enq 1| |deq → 0| |enq 2| |deq → 2| |enq 3| |deq → 1| |deq → 3|");
    check_readings(&*case, "all=1", 1, [false, true]);
    check_readings(&*case, "enq=0,deq=1", 1, [true, true]);
}

/// Of the `deq` alone every drained history of a relaxed queue respects the factor; among all,
/// those of two elements do.
#[test]
fn a_drained_history_of_the_relaxed_specification_is_in_bounds() {
    let mut compared = 0;
    for n in 1..=4 {
        every_history("queue", n, &["enq 1", "enq 2", "deq → 1", "deq → 2"], |case| {
            let problem = &case.problems()[0];
            let mut texts: Vec<String> = problem.operations().iter().map(|&id| problem.label(id)).collect();
            texts.sort();
            texts.dedup();
            if texts.len() < n || texts.iter().filter(|it| it.starts_with('d')).count() * 2 != n {
                return;
            }
            for k in 0..=1 {
                if is_relaxed(problem, k) {
                    compared += 1;
                    assert!(is_displaced(problem, &format!("enq=0,deq={k}")), "{problem:#?}");
                    assert!(is_displaced(problem, &format!("all={k}")), "{problem:#?}");
                }
            }
        });
    }
    assert!(pick(20, 100) < compared, "{compared}");
}
