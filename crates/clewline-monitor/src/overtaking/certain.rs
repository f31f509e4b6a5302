//! Certain overtaking: which element overtakes which in every order.
//!
//! Removals are processed in the order of their returns, while the elements that are certainly
//! inside are kept in the order in which they should be removed. Those that certainly should have
//! been removed before are at one end, and at most k + 1 of them are examined. Between them may
//! stand elements that are not certainly inside for the whole of the removal; when there are too
//! many of these, the removal is not examined any further.
//!
//! Cost: O(n (k + w) log n) for w operations that overlap.

use std::collections::BTreeSet;

use clewline_core::Rule;

use super::container::{Container, Discipline};
use crate::{columns::NONE, verdict::RuleViolation};

/// How many elements that are not certainly inside are examined for one removal.
const UNCERTAIN_ELEMENTS_PER_REMOVAL_MAX: usize = 256;

/// An element that certainly overtakes too many, or is certainly overtaken too often.
pub(super) fn violation(container: &Container) -> Option<RuleViolation> {
    let factor = container.factor;
    let mut removed: Vec<u32> =
        numbers(container).filter(|&it| container.elements[it as usize].remove != NONE).collect();
    removed.sort_unstable_by_key(|&it| container.removal(&container.elements[it as usize]).right);
    let mut overtaken = vec![0; container.elements.len()];
    let mut inside = CertainlyInside::new(container);
    for one in removed {
        inside.advance(container.removal(&container.elements[one as usize]).right);
        let passed = inside.overtaken_by(one);
        if factor as usize + 1 == passed.len() {
            return Some(evidence(container, one, &passed, Rule::OvertakesMany { allowed: factor }));
        }
        for other in passed {
            overtaken[other as usize] += 1;
            if factor < overtaken[other as usize] {
                let by = |&it: &u32| {
                    let elements = &container.elements;
                    container.certainly_overtakes(&elements[it as usize], &elements[other as usize])
                };
                let by: Vec<u32> = numbers(container).filter(by).take(factor as usize + 1).collect();
                return Some(evidence(container, other, &by, Rule::OvertakenOften { allowed: factor }));
            }
        }
    }
    None
}

fn numbers(container: &Container) -> impl Iterator<Item = u32> + use<> {
    0..container.elements.len() as u32
}

/// The operations on one element and on others.
fn evidence(container: &Container, one: u32, others: &[u32], rule: Rule) -> RuleViolation {
    let mut operations = Vec::new();
    for &it in [one].iter().chain(others) {
        let element = &container.elements[it as usize];
        let both = [element.add, element.remove].into_iter().filter(|&it| it != NONE);
        operations.extend(both.map(|it| container.operations[it as usize].at));
    }
    RuleViolation { rule, evidence: operations.clone(), operations }
}

/// The elements that are certainly inside in a gap.
struct CertainlyInside<'s> {
    container: &'s Container,
    // Elements, in the order of the returns of their adds, and in that of the calls of their
    // removals.
    coming: std::iter::Peekable<std::vec::IntoIter<u32>>,
    going: std::iter::Peekable<std::vec::IntoIter<u32>>,
    // By when they should be removed, the first last.
    sorted: BTreeSet<(i64, u32)>,
}

impl<'s> CertainlyInside<'s> {
    fn new(container: &'s Container) -> CertainlyInside<'s> {
        let mut coming: Vec<u32> = numbers(container).collect();
        let mut going = coming.clone();
        coming.sort_unstable_by_key(|&it| container.interval(container.elements[it as usize].add).right);
        going.sort_unstable_by_key(|&it| container.removal(&container.elements[it as usize]).left);
        let (coming, going) = (coming.into_iter().peekable(), going.into_iter().peekable());
        CertainlyInside { container, coming, going, sorted: BTreeSet::new() }
    }

    /// The sort key of elements inside: one with a greater key may have to be removed before.
    fn rank(&self, element: u32) -> i64 {
        let element = &self.container.elements[element as usize];
        match self.container.discipline {
            Discipline::LastIn => i64::from(self.container.interval(element.add).left),
            Discipline::Greatest => element.name,
        }
    }

    /// Advances to the end of the gap.
    fn advance(&mut self, gap: u32) {
        let container = self.container;
        while let Some(it) =
            self.coming.next_if(|&it| container.interval(container.elements[it as usize].add).right < gap)
        {
            self.sorted.insert((self.rank(it), it));
        }
        while let Some(it) =
            self.going.next_if(|&it| container.removal(&container.elements[it as usize]).left <= gap)
        {
            self.sorted.remove(&(self.rank(it), it));
        }
    }

    /// The elements that the removal of an element certainly overtakes, at most one more than
    /// allowed.
    fn overtaken_by(&self, one: u32) -> Vec<u32> {
        let elements = &self.container.elements;
        let bound = match self.container.discipline {
            Discipline::LastIn => i64::from(self.container.interval(elements[one as usize].add).right),
            Discipline::Greatest => elements[one as usize].name,
        };
        let before = self.sorted.iter().rev().take_while(|it| bound < it.0).map(|it| it.1);
        let limit = UNCERTAIN_ELEMENTS_PER_REMOVAL_MAX + self.container.factor as usize + 1;
        before
            .take(limit)
            .filter(|&it| self.container.certainly_overtakes(&elements[one as usize], &elements[it as usize]))
            .take(self.container.factor as usize + 1)
            .collect()
    }
}
