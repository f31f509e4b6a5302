//! Who certainly overtakes whom.
//!
//! Removals are asked in the order of their returns, while those who are certainly inside are kept in the order in which they
//! should leave. Who certainly should have left before is at one end, and more than k + 1 of them are never looked
//! at. Between them may stand some who are not certainly inside for the whole of the removal; when too many do, the removal
//! is not asked any further.
//!
//! Cost: O(n (k + w) log n) for w operations that overlap.

use std::collections::BTreeSet;

use clewline_core::Rule;

use super::scene::{Discipline, Scene};
use crate::monitor::{columns::NONE, verdict::RuleViolation};

/// How many of those in between are looked at for one removal.
const UNCERTAIN: usize = 256;

/// An element that certainly overtakes too many, or is certainly overtaken too often.
pub(super) fn breach(scene: &Scene) -> Option<RuleViolation> {
    let factor = scene.factor;
    let mut removed: Vec<u32> =
        numbers(scene).filter(|&it| scene.elements[it as usize].remove != NONE).collect();
    removed.sort_unstable_by_key(|&it| scene.removal(&scene.elements[it as usize]).right);
    let mut overtaken = vec![0; scene.elements.len()];
    let mut inside = Inside::new(scene);
    for one in removed {
        inside.advance(scene.removal(&scene.elements[one as usize]).right);
        let passed = inside.overtaken_by(one);
        if factor as usize + 1 == passed.len() {
            return Some(evidence(scene, one, &passed, Rule::OvertakesMany { allowed: factor }));
        }
        for other in passed {
            overtaken[other as usize] += 1;
            if factor < overtaken[other as usize] {
                let by = |&it: &u32| {
                    let elements = &scene.elements;
                    scene.certainly_overtakes(&elements[it as usize], &elements[other as usize])
                };
                let by: Vec<u32> = numbers(scene).filter(by).take(factor as usize + 1).collect();
                return Some(evidence(scene, other, &by, Rule::OvertakenOften { allowed: factor }));
            }
        }
    }
    None
}

fn numbers(scene: &Scene) -> impl Iterator<Item = u32> + use<> {
    0..scene.elements.len() as u32
}

/// The operations on one element and on others.
fn evidence(scene: &Scene, one: u32, others: &[u32], rule: Rule) -> RuleViolation {
    let mut operations = Vec::new();
    for &it in [one].iter().chain(others) {
        let element = &scene.elements[it as usize];
        let both = [element.add, element.remove].into_iter().filter(|&it| it != NONE);
        operations.extend(both.map(|it| scene.operations[it as usize].at));
    }
    RuleViolation { rule, evidence: operations.clone(), operations }
}

/// Who is certainly inside in a gap.
struct Inside<'s> {
    scene: &'s Scene,
    // Elements, in the order of the returns of their adds, and in that of the calls of their removals.
    coming: std::iter::Peekable<std::vec::IntoIter<u32>>,
    going: std::iter::Peekable<std::vec::IntoIter<u32>>,
    // By when they should leave, the first last.
    sorted: BTreeSet<(i64, u32)>,
}

impl<'s> Inside<'s> {
    fn new(scene: &'s Scene) -> Inside<'s> {
        let mut coming: Vec<u32> = numbers(scene).collect();
        let mut going = coming.clone();
        coming.sort_unstable_by_key(|&it| scene.interval(scene.elements[it as usize].add).right);
        going.sort_unstable_by_key(|&it| scene.removal(&scene.elements[it as usize]).left);
        let (coming, going) = (coming.into_iter().peekable(), going.into_iter().peekable());
        Inside { scene, coming, going, sorted: BTreeSet::new() }
    }

    /// By what those inside are sorted: whoever is greater may have to leave before.
    fn rank(&self, element: u32) -> i64 {
        let element = &self.scene.elements[element as usize];
        match self.scene.discipline {
            Discipline::LastIn => i64::from(self.scene.interval(element.add).left),
            Discipline::Greatest => element.name,
        }
    }

    /// Goes on to the end of the gap.
    fn advance(&mut self, gap: u32) {
        let scene = self.scene;
        while let Some(it) =
            self.coming.next_if(|&it| scene.interval(scene.elements[it as usize].add).right < gap)
        {
            self.sorted.insert((self.rank(it), it));
        }
        while let Some(it) = self.going.next_if(|&it| scene.removal(&scene.elements[it as usize]).left <= gap)
        {
            self.sorted.remove(&(self.rank(it), it));
        }
    }

    /// Those whom the removal of an element certainly overtakes, but not more than one too many.
    fn overtaken_by(&self, one: u32) -> Vec<u32> {
        let elements = &self.scene.elements;
        let bound = match self.scene.discipline {
            Discipline::LastIn => i64::from(self.scene.interval(elements[one as usize].add).right),
            Discipline::Greatest => elements[one as usize].name,
        };
        let before = self.sorted.iter().rev().take_while(|it| bound < it.0).map(|it| it.1);
        let limit = UNCERTAIN + self.scene.factor as usize + 1;
        before
            .take(limit)
            .filter(|&it| self.scene.certainly_overtakes(&elements[one as usize], &elements[it as usize]))
            .take(self.scene.factor as usize + 1)
            .collect()
    }
}
