use clewline_core::Random;

use super::{
    scene::{Deed, Element, Operation},
    *,
};
use crate::monitor::columns::{Interval, NONE};

/// A few operations at random times. An element is not removed before it may have been added.
fn scene(random: &mut Random) -> Scene {
    let discipline = if random.chance(0.5) { Discipline::LastIn } else { Discipline::Greatest };
    let factor = random.below(3) as u32;
    let mut scene = Scene { discipline, factor, elements: Vec::new(), operations: Vec::new() };
    let interval = |random: &mut Random, from: u32| {
        let left = from + random.below(5) as u32;
        Interval { left, right: left + random.below(4) as u32 }
    };
    for number in 0..2 + random.below(2) as u32 {
        let added = interval(random, 0);
        let add = operation(&mut scene, Deed::Add(number), added);
        let remove = if random.chance(0.85) {
            let removed = interval(random, added.left);
            operation(&mut scene, Deed::Remove(number), removed)
        } else {
            NONE
        };
        scene.elements.push(Element { add, remove, name: random.below(100) as i64 * 8 + i64::from(number) });
    }
    if random.chance(0.3) {
        let missed = interval(random, 0);
        operation(&mut scene, Deed::Miss, missed);
    }
    scene
}

fn operation(scene: &mut Scene, deed: Deed, interval: Interval) -> u32 {
    let at = scene.operations.len() as u32;
    scene.operations.push(Operation { deed, interval, at });
    at
}

/// Whether any order is allowed: all are tried.
fn is_possible(scene: &Scene, order: &mut Vec<u32>) -> bool {
    let count = scene.operations.len() as u32;
    if order.len() == count as usize {
        return scene.allows(order);
    }
    for next in 0..count {
        if !order.contains(&next) {
            order.push(next);
            if is_possible(scene, order) {
                return true;
            }
            order.pop();
        }
    }
    false
}

#[test]
fn who_finds_nothing_moves_to_where_nothing_is() {
    let at = |left: u32, right: u32| Interval { left, right };
    for discipline in [Discipline::LastIn, Discipline::Greatest] {
        let mut scene = Scene { discipline, factor: 1, elements: Vec::new(), operations: Vec::new() };
        let add = operation(&mut scene, Deed::Add(0), at(0, 0));
        let remove = operation(&mut scene, Deed::Remove(0), at(2, 2));
        scene.elements.push(Element { add, remove, name: 1 });
        let miss = operation(&mut scene, Deed::Miss, at(1, 3));
        match moving::search(&scene, &Budget::unlimited()) {
            Moved::Order(order) => assert_eq!(order, [add, remove, miss]),
            Moved::Stuck(_) | Moved::Stopped => panic!("it is one exchange away"),
        }
    }
}

/// Each of the three by itself: none may hide behind another.
#[test]
fn whatever_is_claimed_about_a_few_operations_is_so() {
    let budget = Budget::unlimited();
    let (mut possible, mut impossible, mut moved, mut certain) = (0, 0, 0, 0);
    for seed in 0..6_000 {
        let scene = scene(&mut Random::new(seed));
        let is_possible = is_possible(&scene, &mut Vec::new());
        *if is_possible { &mut possible } else { &mut impossible } += 1;
        match exact::search(&scene, u64::MAX, &budget) {
            Exact::Order(order) => assert!(scene.allows(&order), "seed {seed}: {scene:?}"),
            Exact::None => assert!(!is_possible, "seed {seed}: {scene:?}"),
            Exact::GaveUp => panic!("seed {seed} has few operations"),
        }
        if let Moved::Order(order) = moving::search(&scene, &budget) {
            moved += 1;
            assert!(scene.allows(&order), "seed {seed}: {scene:?}");
        }
        if certain::breach(&scene).is_some() {
            certain += 1;
            assert!(!is_possible, "seed {seed}: {scene:?}");
        }
    }
    let tally = format!("{possible} possible, {moved} found, {impossible} not, {certain} certainly not");
    assert!(300 < impossible && 100 < certain && 9 * possible < 10 * moved, "{tally}");
}

#[test]
fn a_search_among_a_few_stops_when_it_is_told_to() {
    let scene = scene(&mut Random::new(1));
    assert!(matches!(exact::search(&scene, 0, &Budget::unlimited()), Exact::GaveUp));
}
