use std::collections::HashSet;

use clewline_core::Random;
use clewline_testing::share;

use super::*;

/// A few elements whose operations overlap a lot. None is removed before it may have been added.
fn elements(random: &mut Random) -> Elements {
    let mut elements = Elements::default();
    let count = 3 + random.below(4);
    let removed = count - random.below(2);
    let interval = |random: &mut Random, from: u32, most: usize| {
        let left = from + random.below(6) as u32;
        Interval { left, right: left + random.below(most) as u32 }
    };
    for number in 0..count as u32 {
        let added = interval(random, 0, 5);
        elements.adds.push(added);
        elements.added_by.push(number);
        if (number as usize) < removed {
            elements.removes.push(interval(random, added.left, 7));
            elements.removed_by.push(100 + number);
        }
    }
    if random.chance(0.2) {
        elements.empties.push(interval(random, 0, 6));
        elements.empty_by.push(200);
    }
    elements
}

/// Whether the remaining operations can follow: all orders are tried, on a queue in its simplest
/// form.
fn can_end(
    (elements, factor): (&Elements, u32),
    done: u32,
    line: &[(usize, u32)],
    dead: &mut HashSet<(u32, Vec<(usize, u32)>)>,
) -> bool {
    let (adds, removes) = (elements.len(), elements.removed());
    let count = adds + removes + elements.empties.len();
    let interval = |it: usize| match it {
        _ if it < adds => elements.adds[it],
        _ if it < adds + removes => elements.removes[it - adds],
        _ => elements.empties[it - adds - removes],
    };
    let left: Vec<usize> = (0..count).filter(|it| done & 1 << it == 0).collect();
    if left.is_empty() {
        return true;
    }
    if !dead.insert((done, line.to_vec())) {
        return false;
    }
    left.iter().filter(|&&it| left.iter().all(|&other| !interval(other).precedes(interval(it)))).any(|&it| {
        let mut line = line.to_vec();
        let may = if it < adds {
            line.push((it, 0));
            true
        } else if it < adds + removes {
            line.iter().position(|inside| inside.0 == it - adds).is_some_and(|place| {
                line.remove(place);
                line[..place].iter_mut().for_each(|passed| passed.1 += 1);
                place <= factor as usize && line[..place].iter().all(|passed| passed.1 <= factor)
            })
        } else {
            line.is_empty()
        };
        may && can_end((elements, factor), done | 1 << it, &line, dead)
    })
}

#[test]
fn a_schedule_is_found_if_and_only_if_there_is_an_order() {
    let (mut found, mut missing) = (0, 0);
    for seed in 0..share(60_000) {
        let mut random = Random::new(seed);
        let elements = elements(&mut random);
        let factor = 1 + random.below(2) as u32;
        let expected = can_end((&elements, factor), 0, &[], &mut HashSet::new());
        match ScheduleSearch::new(&elements, factor).search(SEARCH_STEPS_MIN, &Budget::unlimited()) {
            SearchResult::Found(schedule) => {
                assert!(expected, "seed {seed}, factor {factor}: {elements:?}");
                let order = schedule.merge(&elements);
                assert_eq!(order.len(), elements.len() + elements.removed() + elements.empties.len());
                found += 1;
            }
            SearchResult::None { .. } => {
                assert!(!expected, "seed {seed}, factor {factor}: {elements:?}");
                missing += 1;
            }
            SearchResult::GaveUp => panic!("seed {seed} has few operations"),
        }
    }
    assert!(share(5_000) < found && share(5_000) < missing, "{found} found, {missing} missing");
}

/// Elements with these gaps: when each is added, when the first of them are removed, and when
/// *empty* is returned.
fn drawn(adds: &[(u32, u32)], removes: &[(u32, u32)], empties: &[(u32, u32)]) -> Elements {
    let intervals = |gaps: &[(u32, u32)]| -> Vec<Interval> {
        gaps.iter().map(|&(left, right)| Interval { left, right }).collect()
    };
    let numbers = |from: u32, count: usize| -> Vec<u32> { (from..).take(count).collect() };
    Elements {
        adds: intervals(adds),
        added_by: numbers(0, adds.len()),
        removes: intervals(removes),
        removed_by: numbers(100, removes.len()),
        empties: intervals(empties),
        empty_by: numbers(200, empties.len()),
    }
}

/// In each of these the search meets a dead configuration, and later another that is not. They
/// differ in one respect; if the key lacks it the second is mistaken for the first.
#[test]
fn a_live_configuration_is_not_mistaken_for_a_dead_one() {
    let cases = [
        (
            "who was added",
            1,
            drawn(
                &[(1, 6), (2, 6), (7, 7), (9, 13), (4, 9)],
                &[(11, 13), (12, 14), (18, 22), (11, 12), (16, 18)],
                &[],
            ),
        ),
        (
            "who was removed",
            2,
            drawn(
                &[(7, 9), (2, 2), (4, 5), (9, 12), (6, 9), (8, 8), (5, 8)],
                &[(17, 18), (8, 10), (13, 15), (11, 12), (10, 13), (11, 13), (14, 17)],
                &[],
            ),
        ),
        (
            "who found nothing",
            1,
            drawn(
                &[(5, 10), (5, 10), (1, 3), (0, 0), (3, 5), (1, 4), (3, 7)],
                &[(12, 12), (16, 19), (2, 5), (0, 4), (4, 4), (5, 9), (10, 15)],
                &[(9, 13)],
            ),
        ),
        (
            "where those stand that are not removed yet",
            2,
            drawn(
                &[(0, 1), (2, 3), (1, 2), (2, 5), (7, 10), (6, 9), (4, 6)],
                &[(10, 14), (12, 13), (9, 15), (6, 12), (18, 21), (8, 9), (16, 17)],
                &[],
            ),
        ),
        (
            "where those stand that are not added yet",
            3,
            drawn(
                &[(1, 3), (3, 3), (1, 1), (2, 6), (3, 4), (2, 6), (0, 2)],
                &[(7, 10), (4, 4), (8, 8), (3, 4), (7, 12), (7, 8)],
                &[],
            ),
        ),
    ];
    for (about, factor, elements) in cases {
        assert!(can_end((&elements, factor), 0, &[], &mut HashSet::new()), "{about}");
        let found = ScheduleSearch::new(&elements, factor).search(SEARCH_STEPS_MIN, &Budget::unlimited());
        assert!(matches!(found, SearchResult::Found(_)), "{about}");
    }
}
