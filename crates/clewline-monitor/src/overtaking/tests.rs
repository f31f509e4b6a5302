use clewline_core::Random;
use clewline_testing::share;

use super::{
    container::{Action, Element, Operation},
    *,
};
use crate::columns::{Interval, NONE};

/// A few operations at random times. An element is not removed before it may have been added.
fn container(random: &mut Random) -> Container {
    let discipline = if random.chance(0.5) { Discipline::LastIn } else { Discipline::Greatest };
    let factor = random.below(3) as u32;
    let mut container = Container { discipline, factor, elements: Vec::new(), operations: Vec::new() };
    let interval = |random: &mut Random, from: u32| {
        let left = from + random.below(5) as u32;
        Interval { left, right: left + random.below(4) as u32 }
    };
    for number in 0..2 + random.below(2) as u32 {
        let added = interval(random, 0);
        let add = operation(&mut container, Action::Add(number), added);
        let remove = if random.chance(0.85) {
            let removed = interval(random, added.left);
            operation(&mut container, Action::Remove(number), removed)
        } else {
            NONE
        };
        container.elements.push(Element {
            add,
            remove,
            name: random.below(100) as i64 * 8 + i64::from(number),
        });
    }
    if random.chance(0.3) {
        let missed = interval(random, 0);
        operation(&mut container, Action::FindEmpty, missed);
    }
    container
}

fn operation(container: &mut Container, action: Action, interval: Interval) -> u32 {
    let at = container.operations.len() as u32;
    container.operations.push(Operation { action, interval, at });
    at
}

/// Whether any order is allowed: all are tried.
fn is_possible(container: &Container, order: &mut Vec<u32>) -> bool {
    let count = container.operations.len() as u32;
    if order.len() == count as usize {
        return container.allows(order);
    }
    for next in 0..count {
        if !order.contains(&next) {
            order.push(next);
            if is_possible(container, order) {
                return true;
            }
            order.pop();
        }
    }
    false
}

#[test]
fn an_empty_result_moves_to_where_the_container_is_empty() {
    let at = |left: u32, right: u32| Interval { left, right };
    for discipline in [Discipline::LastIn, Discipline::Greatest] {
        let mut container = Container { discipline, factor: 1, elements: Vec::new(), operations: Vec::new() };
        let add = operation(&mut container, Action::Add(0), at(0, 0));
        let remove = operation(&mut container, Action::Remove(0), at(2, 2));
        container.elements.push(Element { add, remove, name: 1 });
        let miss = operation(&mut container, Action::FindEmpty, at(1, 3));
        match local_search::search(&container, &Budget::unlimited()) {
            LocalSearchResult::Order(order) => assert_eq!(order, [add, remove, miss]),
            LocalSearchResult::Stuck(_) | LocalSearchResult::Stopped => panic!("it is one exchange away"),
        }
    }
}

/// Each of the three by itself: none may hide behind another.
#[test]
fn verdicts_on_a_few_operations_agree_with_all_orders() {
    let budget = Budget::unlimited();
    let (mut possible, mut impossible, mut moved, mut certain) = (0, 0, 0, 0);
    for seed in 0..share(30_000) {
        let container = container(&mut Random::new(seed));
        let is_possible = is_possible(&container, &mut Vec::new());
        *if is_possible { &mut possible } else { &mut impossible } += 1;
        match exact::search(&container, u64::MAX, &budget) {
            ExactResult::Order(order) => assert!(container.allows(&order), "seed {seed}: {container:?}"),
            ExactResult::None => assert!(!is_possible, "seed {seed}: {container:?}"),
            ExactResult::GaveUp => panic!("seed {seed} has few operations"),
        }
        if let LocalSearchResult::Order(order) = local_search::search(&container, &budget) {
            moved += 1;
            assert!(container.allows(&order), "seed {seed}: {container:?}");
        }
        if certain::violation(&container).is_some() {
            certain += 1;
            assert!(!is_possible, "seed {seed}: {container:?}");
        }
    }
    let tally = format!("{possible} possible, {moved} found, {impossible} not, {certain} certainly not");
    assert!(share(1_500) < impossible && share(500) < certain && 9 * possible < 10 * moved, "{tally}");
}

#[test]
fn an_exact_search_stops_at_its_budget() {
    let container = container(&mut Random::new(1));
    assert!(matches!(exact::search(&container, 0, &Budget::unlimited()), ExactResult::GaveUp));
}
