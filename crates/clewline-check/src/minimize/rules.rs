//! Explanations: a rule that readers know, or else the longest order and where it ends.
//!
//! A counterexample is small, so its operations can be examined one by one. A rule is used only if
//! it names the whole counterexample, and if each of its [claims](super::claims) is true of the
//! whole history; none trusts the checker that found the violation. Rules that count or compare
//! come first, since they can be stated in a sentence. Then the monitor is run, on the
//! counterexample alone. Otherwise the longest order is the explanation: it ends where it ends.

use std::cmp::Reverse;

use clewline_core::{
    Budget, DeadEnd, Elements, Explanation, ObjectKind, OperationId, Problem, Retain, RoleKind, Rule,
    Verdict, Why,
};
use clewline_monitor as monitor;

use super::{claims::History, proof, proof::Proven};

/// An order is searched within this many configurations.
const DEAD_END_CONFIGS: u64 = 1 << 17;

/// Longer orders, and larger counterexamples, are not readable.
const EXPLAINED_OPERATIONS_MAX: usize = 64;

/// At most this many reads of a counter or register are compared with each other.
const COMPARED_READS_MAX: usize = 8;

/// Explains why the `proven` counterexample of `whole` has no linearization. It was `found` like
/// this.
pub(super) fn explain(
    whole: &Problem<'_>,
    proven: &Proven<'_>,
    found: &Explanation,
    budget: &Budget,
) -> Option<Why> {
    let Proven { prefix, core, .. } = proven;
    let ids: Vec<OperationId> = core.iter().map(|&at| prefix.operations()[at]).collect();
    let broken = broken_rule(whole, &ids, found, budget);
    if let Some((rule, operations)) = &broken
        && is_self_explanatory(*rule)
    {
        return Some(Why::Rule { rule: *rule, operations: operations.clone(), end: None });
    }
    // That nothing which came before helps is known only of what is proven.
    let end = dead_end(prefix, core, budget).filter(|it| proven.is_verified || !it.prefix.is_empty());
    match (broken, end) {
        (Some((rule, operations)), end) => Some(Why::Rule { rule, operations, end }),
        (None, Some(end)) => Some(Why::End(end)),
        (None, None) => None,
    }
}

/// A rule that is broken, which is true of the whole history and names the whole counterexample.
fn broken_rule(
    whole: &Problem<'_>,
    core: &[OperationId],
    found: &Explanation,
    budget: &Budget,
) -> Option<(Rule, Vec<OperationId>)> {
    // Of the whole history, what concerns the elements of the counterexample.
    let is_core = |at: usize| core.binary_search(&whole.operations()[at]).is_ok();
    let elements: Vec<Elements> =
        (0..whole.len()).filter(|&at| is_core(at)).map(|at| whole.footprint(at).elements()).collect();
    let alone = whole.weaken(|at| if is_core(at) { Retain::All } else { Retain::Drop });
    let related = whole.weaken(|at| {
        let is_related = is_core(at) || elements.contains(&whole.footprint(at).elements());
        if is_related { Retain::All } else { Retain::Drop }
    });
    let seen = [alone, related].map(|it| match monitor::decide_weaker(&it, budget) {
        Ok(Verdict::Violated(violation)) => broken(violation.explanation),
        Ok(Verdict::Holds(_) | Verdict::Unknown(_)) | Err(_) => None,
    });
    let mut seen = seen.into_iter().chain([broken(found.clone())]).flatten();
    let names_all = |operations: &[OperationId]| core.iter().all(|it| operations.contains(it));
    // A monitor that was added has words of its own, which are not known here.
    if let Some(ObjectKind::Other(_)) = whole.kind() {
        return seen.find(|it| names_all(&it.1));
    }
    let history = History::new(whole, core)?;
    let positions: Vec<usize> = core.iter().filter_map(|&it| whole.position(it)).collect();
    let view = View { history: &history, core: &positions };
    let is_true = |(rule, operations): &(Rule, Vec<OperationId>)| {
        names_all(operations) && history.is_true(*rule, operations)
    };
    view.counted().find(is_true).or_else(|| seen.find(is_true))
}

fn broken(explanation: Explanation) -> Option<(Rule, Vec<OperationId>)> {
    match explanation {
        Explanation::Broken { rule, operations } => Some((rule, operations)),
        Explanation::Exhausted { .. } => None,
    }
}

/// Whether the operations of a rule show that it is broken, without an order of them.
fn is_self_explanatory(rule: Rule) -> bool {
    match rule {
        Rule::Added
        | Rule::AddedBefore
        | Rule::TakenOnce
        | Rule::Gone
        | Rule::Empty
        | Rule::FirstInFirstOut
        | Rule::OvertakesMany { .. }
        | Rule::OvertakenOften { .. }
        | Rule::OneInFront
        | Rule::FrontInTurn
        | Rule::GreatestFirst
        | Rule::LastInFirstOut
        | Rule::OneAtATime
        | Rule::NoRoom
        | Rule::ReplacedOnce
        | Rule::Chain
        | Rule::SumWithin { .. }
        | Rule::Often { .. }
        | Rule::OftenSince { .. }
        | Rule::AddedAgain { .. }
        | Rule::Left { .. }
        | Rule::Stale
        | Rule::Other(_) => true,
        Rule::OutOfOrder { .. } | Rule::NoneBelow | Rule::ThereOrNot | Rule::Sum => false,
    }
}

/// A counterexample in its history, by position.
struct View<'v> {
    history: &'v History<'v>,
    core: &'v [usize],
}

impl View<'_> {
    /// Rules that count or compare, and that may be broken: whether they are is checked afterwards.
    fn counted(&self) -> impl Iterator<Item = (Rule, Vec<OperationId>)> {
        [
            self.found_but_not_added(),
            self.found_too_often(),
            self.added_again(),
            self.not_empty_or_not_greatest(),
            self.sum_out_of_bounds(),
        ]
        .into_iter()
        .flatten()
        .chain(self.found_after_replaced())
    }

    fn kind(&self, at: usize) -> RoleKind {
        self.history.kind(at)
    }

    fn element(&self, at: usize) -> u32 {
        self.history.element(at)
    }

    fn precedes(&self, one: usize, other: usize) -> bool {
        self.history.precedes(one, other)
    }

    fn ids(&self, positions: impl IntoIterator<Item = usize>) -> Vec<OperationId> {
        positions.into_iter().map(|at| self.history.whole.operations()[at]).collect()
    }

    /// An operation found an element that was never added, or was added later.
    fn found_but_not_added(&self) -> Option<(Rule, Vec<OperationId>)> {
        let &[at] = self.core else { return None };
        if self.history.object == ObjectKind::Counter {
            return None;
        }
        if !matches!(self.kind(at), RoleKind::Observe | RoleKind::Remove | RoleKind::Replace) {
            return None;
        }
        let mut operations = self.ids([at]);
        match self.history.first_put_after(at) {
            None => Some((Rule::Added, operations)),
            Some(first) => {
                operations.push(first);
                Some((Rule::AddedBefore, operations))
            }
        }
    }

    /// An element was found more often than it was added.
    fn found_too_often(&self) -> Option<(Rule, Vec<OperationId>)> {
        if matches!(self.history.object, ObjectKind::Register { .. } | ObjectKind::Counter) {
            return None;
        }
        let start = self.core.iter().copied().find(|&at| self.kind(at) == RoleKind::Empty);
        let others = || self.core.iter().copied().filter(|&at| Some(at) != start);
        let element =
            self.element(others().find(|&at| self.kind(at) == RoleKind::Remove).or(others().next())?);
        let (mut takers, mut finder, mut named) = (Vec::new(), None, Vec::new());
        for at in others() {
            match self.kind(at) {
                _ if self.element(at) != element => return None,
                RoleKind::Remove => takers.push(at),
                RoleKind::Observe if finder.is_none() => finder = Some(at),
                RoleKind::Add => named.push(at),
                RoleKind::Observe
                | RoleKind::Absent
                | RoleKind::Empty
                | RoleKind::RemoveUnknown
                | RoleKind::Replace
                | RoleKind::NoEffect => return None,
            }
        }
        // One that had returned before is not counted.
        let is_early = |at: usize| start.is_some_and(|it| self.precedes(at, it));
        let adders: Vec<usize> = self.history.puts(element).filter(|&at| !is_early(at)).collect();
        if !named.iter().all(|it| adders.contains(it)) {
            return None;
        }
        let added = adders.len() as u32;
        let rule = if start.is_some() { Rule::OftenSince { added } } else { Rule::Often { added } };
        Some((rule, self.ids(start.into_iter().chain(takers).chain(finder).chain(adders))))
    }

    /// An element of a set was added more often than it was removed, and then once more.
    fn added_again(&self) -> Option<(Rule, Vec<OperationId>)> {
        let element = self.element(*self.core.first()?);
        let is_counted = |&at: &usize| {
            self.element(at) == element && matches!(self.kind(at), RoleKind::Add | RoleKind::Remove)
        };
        if self.history.object != ObjectKind::Set || !self.core.iter().all(is_counted) {
            return None;
        }
        let is_add = |at: &usize| self.kind(*at) == RoleKind::Add;
        let adders: Vec<usize> = self.core.iter().copied().filter(is_add).collect();
        let removers = self.history.removers_between(element, &adders);
        let removed = removers.len() as u32;
        Some((Rule::AddedAgain { removed }, self.ids(adders.into_iter().chain(removers))))
    }

    /// *Empty* was returned, though more elements were added than can have been removed; or an
    /// element was found, though more were added that are greater.
    fn not_empty_or_not_greatest(&self) -> Option<(Rule, Vec<OperationId>)> {
        let is_miss = |at: usize| match self.kind(at) {
            RoleKind::Empty => true,
            RoleKind::Absent => matches!(self.history.object, ObjectKind::Set | ObjectKind::Multiset),
            RoleKind::Remove | RoleKind::Observe => self.history.object == ObjectKind::PriorityQueue,
            RoleKind::Add | RoleKind::RemoveUnknown | RoleKind::Replace | RoleKind::NoEffect => false,
        };
        let miss =
            self.core.iter().copied().filter(|&at| is_miss(at)).max_by_key(|&at| self.history.end(at))?;
        let is_there = |at: usize| {
            self.history.is_missed(miss, at)
                && matches!(self.kind(at), RoleKind::Add | RoleKind::Observe)
                && self.precedes(at, miss)
        };
        let there: Vec<usize> = self.core.iter().copied().filter(|&at| is_there(at)).collect();
        let sights = there.iter().filter(|&&at| self.kind(at) == RoleKind::Observe).count();
        let added = match (there.len() - sights, sights) {
            (added, 0) => added,
            (0, 1) => 1,
            (_, _) => return None,
        };
        let removers = self.history.removers_of(&there, miss);
        if self.history.object == ObjectKind::PriorityQueue
            && self.kind(miss) != RoleKind::Empty
            && removers.is_empty()
            && let &[one] = there.as_slice()
        {
            return Some((Rule::GreatestFirst, self.ids([miss, one, one])));
        }
        let rule = Rule::Left { added: added as u32 };
        Some((rule, self.ids([miss].into_iter().chain(there).chain(removers))))
    }

    /// A value was found in a register after it had been replaced, by each operation that may have
    /// replaced it.
    fn found_after_replaced(&self) -> Vec<(Rule, Vec<OperationId>)> {
        if !matches!(self.history.object, ObjectKind::Register { .. }) {
            return Vec::new();
        }
        let finds = |at: &usize| matches!(self.kind(*at), RoleKind::Observe | RoleKind::Replace);
        let mut finders: Vec<usize> = self.core.iter().copied().filter(finds).collect();
        finders.sort_by_key(|&at| Reverse(self.history.end(at)));
        finders.truncate(COMPARED_READS_MAX);
        let mut stale = Vec::new();
        for late in finders {
            let element = self.element(late);
            let replaces = |at: usize| {
                at != late
                    && self.precedes(at, late)
                    && self.history.leaves(at).is_some_and(|it| it != element)
            };
            let newer = self.core.iter().copied().rev().filter(|&at| replaces(at));
            for newer in newer.take(COMPARED_READS_MAX) {
                let puts = self.history.puts(element).filter(|&it| it != late && it != newer);
                stale.push((Rule::Stale, self.ids([late, newer].into_iter().chain(puts))));
            }
        }
        stale
    }

    /// A sum was read that is out of bounds, from the initial state or since an earlier read.
    fn sum_out_of_bounds(&self) -> Option<(Rule, Vec<OperationId>)> {
        if self.history.object != ObjectKind::Counter {
            return None;
        }
        let is_read = |at: &usize| self.kind(*at) == RoleKind::Observe;
        let mut reads: Vec<usize> = self.core.iter().copied().filter(is_read).collect();
        // Mostly the last one is wrong.
        reads.drain(..reads.len().saturating_sub(COMPARED_READS_MAX));
        let adds: Vec<usize> = self.core.iter().copied().filter(|it| !is_read(it)).collect();
        for &late in &reads {
            let earlier = reads.iter().copied().filter(|&it| self.precedes(it, late));
            for since in earlier.map(Some).chain([None]) {
                let (least, greatest) = self.history.sum_bounds(since, late, &adds)?;
                let sum = self.history.word(late);
                if !(least..=greatest).contains(&sum) {
                    let operations = [Some(late), since].into_iter().flatten().chain(adds.clone());
                    return Some((Rule::SumWithin { least, greatest }, self.ids(operations)));
                }
            }
        }
        None
    }
}

/// Where the longest order ends that contains the counterexample.
fn dead_end(prefix: &Problem<'_>, core: &[usize], budget: &Budget) -> Option<DeadEnd> {
    if EXPLAINED_OPERATIONS_MAX < core.len() {
        return None;
    }
    let budget = budget.child().with_configurations(DEAD_END_CONFIGS);
    let end = proof::dead_end(prefix, core, &budget)?;
    (end.prefix.len() <= EXPLAINED_OPERATIONS_MAX).then_some(end)
}
