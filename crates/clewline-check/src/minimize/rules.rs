//! Explanations: a rule that readers know, or else the longest order and where it ends.
//!
//! A counterexample is small, so its operations can be examined one by one. A rule is used only if
//! it names the whole counterexample, and if each of its [claims](super::claims) is true of the
//! whole history; none trusts the checker that found the violation. Rules that count or compare
//! come first, since they can be stated in a sentence. Then the monitor is run, on the
//! counterexample alone. Otherwise the longest order is the explanation: it ends where it ends.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashSet},
};

use clewline_core::{
    Budget, DeadEnd, Elements, Explanation, ObjectKind, OperationId, Problem, Retain, RoleKind, Rule,
    Verdict, Why,
};
use clewline_monitor as monitor;

use super::{
    claims::{History, Truth},
    proof,
    proof::Proven,
};

/// An order is searched within this many configurations.
const DEAD_END_CONFIGS: u64 = 1 << 17;

/// Longer orders, and larger counterexamples, are not readable.
const EXPLAINED_OPERATIONS_MAX: usize = 64;

/// A longer lineage of values is not readable.
const LINEAGE_OPERATIONS_MAX: usize = 5;

/// At most this many reads of a counter or register are compared with each other.
const COMPARED_READS_MAX: usize = 8;

/// Why a counterexample has no linearization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Explained {
    pub(super) why: Why,
    /// Whether it is a proof by itself.
    pub(super) is_proof: bool,
}

/// A rule, the operations that break it, and what follows from that.
type Broken = (Rule, Vec<OperationId>, Truth);

/// Explains why the `proven` counterexample of `whole` has no linearization. It was `found` like
/// this.
pub(super) fn explain(
    whole: &Problem<'_>,
    proven: &Proven<'_>,
    found: &Explanation,
    budget: &Budget,
) -> Option<Explained> {
    let Proven { prefix, core, .. } = proven;
    let ids: Vec<OperationId> = core.iter().map(|&at| prefix.operations()[at]).collect();
    let broken = broken_rule(whole, &ids, proven.is_verified, found, budget);
    if let Some((rule, operations, truth)) = &broken
        && is_self_explanatory(*rule)
    {
        let why = Why::Rule { rule: *rule, operations: operations.clone(), end: None };
        return Some(Explained { why, is_proof: *truth == Truth::Proof });
    }
    // That nothing which came before helps is known only of what is proven.
    let end = dead_end(prefix, core, budget).filter(|it| proven.is_verified || !it.prefix.is_empty());
    let why = match (broken, end) {
        (Some((rule, operations, _)), end) => Why::Rule { rule, operations, end },
        (None, Some(end)) => Why::End(end),
        (None, None) => return None,
    };
    Some(Explained { why, is_proof: false })
}

/// A rule that is broken, which is true of the whole history and names the whole counterexample.
fn broken_rule(
    whole: &Problem<'_>,
    core: &[OperationId],
    is_verified: bool,
    found: &Explanation,
    budget: &Budget,
) -> Option<Broken> {
    // Of the whole history, what concerns the elements of the counterexample.
    let is_core = |at: usize| core.binary_search(&whole.operations()[at]).is_ok();
    let mut elements: Vec<Elements> = Vec::new();
    for element in (0..whole.len()).filter(|&at| is_core(at)).map(|at| whole.footprint(at).elements()) {
        if !elements.contains(&element) {
            elements.push(element);
        }
    }
    let alone = whole.weaken(|at| if is_core(at) { Retain::All } else { Retain::Drop });
    let related = whole.weaken(|at| {
        let is_related = is_core(at) || elements.contains(&whole.footprint(at).elements());
        if is_related { Retain::All } else { Retain::Drop }
    });
    let seen = |problem: &Problem<'_>| match monitor::decide_weaker(problem, budget) {
        Ok(Verdict::Violated(violation)) => broken(violation.explanation),
        Ok(Verdict::Holds(_) | Verdict::Unknown(_)) | Err(_) => None,
    };
    // A monitor that was added has words of its own, which are not known here: they are used for
    // what they were said of, the counterexample alone, if that is proven.
    if let Some(ObjectKind::Other(_)) = whole.kind() {
        let is_exact = |operations: &[OperationId]| {
            let named: BTreeSet<OperationId> = operations.iter().copied().collect();
            named.iter().eq(core)
        };
        let said = seen(&alone).filter(|it| is_verified && is_exact(&it.1));
        return said.map(|(rule, operations)| (rule, operations, Truth::Consistent));
    }
    let history = History::new(whole, core)?;
    let positions: Vec<usize> = core.iter().filter_map(|&it| whole.position(it)).collect();
    let view = View { history: &history, core: &positions };
    let compared = |(rule, operations): (Rule, Vec<OperationId>)| {
        let named: HashSet<OperationId> = operations.iter().copied().collect();
        let names_all = core.iter().all(|it| named.contains(it));
        let truth = names_all.then(|| history.compared(rule, &operations)).flatten()?;
        Some((rule, operations, truth))
    };
    let said = || [seen(&alone), seen(&related), broken(found.clone())].into_iter().flatten();
    view.counted().find_map(compared).or_else(|| said().find_map(compared))
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
        | Rule::RemovedAgain { .. }
        | Rule::AbsentSince
        | Rule::Left { .. }
        | Rule::Stale
        | Rule::Lineage
        | Rule::Sum
        | Rule::FoundUnadded { .. }
        | Rule::Lost { .. }
        | Rule::ReadsDisagree { .. }
        | Rule::EarlierMissing { .. }
        | Rule::Other(_) => true,
        Rule::OutOfOrder { .. } | Rule::NoneBelow | Rule::ThereOrNot => false,
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
            self.changed_again(),
            self.absent_since(),
            self.not_empty_or_not_greatest(),
            self.sum_out_of_bounds(),
            self.no_sum(),
            self.lineage(),
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

    /// An element of a set was added more often than it was removed, and then once more; or the
    /// other way round.
    fn changed_again(&self) -> Option<(Rule, Vec<OperationId>)> {
        let element = self.element(*self.core.first()?);
        let is_counted = |&at: &usize| {
            self.element(at) == element && matches!(self.kind(at), RoleKind::Add | RoleKind::Remove)
        };
        if self.history.object != ObjectKind::Set || !self.core.iter().all(is_counted) {
            return None;
        }
        let of_kind = |kind: RoleKind| -> Vec<usize> {
            self.core.iter().copied().filter(|&at| self.kind(at) == kind).collect()
        };
        let (adders, removers) = (of_kind(RoleKind::Add), of_kind(RoleKind::Remove));
        let is_added = removers.len() < adders.len();
        let changes = if is_added { adders } else { removers };
        let opposites = self.history.opposites_between(element, &changes);
        let number = opposites.len() as u32;
        let rule = if is_added {
            Rule::AddedAgain { removed: number }
        } else {
            Rule::RemovedAgain { added: number }
        };
        Some((rule, self.ids(changes.into_iter().chain(opposites))))
    }

    /// An element of a set was found after it had been absent.
    fn absent_since(&self) -> Option<(Rule, Vec<OperationId>)> {
        let found = self.core.iter().copied().max_by_key(|&at| self.history.end(at))?;
        let is_absent = |&at: &usize| {
            matches!(self.kind(at), RoleKind::Absent | RoleKind::Remove) && self.precedes(at, found)
        };
        let earlier = self.core.iter().copied().filter(is_absent);
        let absent = earlier.max_by_key(|&at| self.history.end(at))?;
        let puts = self.history.puts(self.element(found)).filter(|&it| it != found && it != absent);
        Some((Rule::AbsentSince, self.ids([found, absent].into_iter().chain(puts))))
    }

    /// A sum was read that no choice of the operations before has.
    fn no_sum(&self) -> Option<(Rule, Vec<OperationId>)> {
        match (self.history.object, self.core) {
            (ObjectKind::Counter, &[late]) => {
                Some((Rule::Sum, self.ids([late].into_iter().chain(self.history.adds()))))
            }
            _ => None,
        }
    }

    /// A value was found that only one operation can have put there, which replaced a value that
    /// only one can have put there, and so on; the last of these was not there.
    fn lineage(&self) -> Option<(Rule, Vec<OperationId>)> {
        let (ObjectKind::Register { .. }, &[finder]) = (self.history.object, self.core) else { return None };
        let mut links = vec![finder];
        loop {
            let element = self.element(*links.last()?);
            let puts: Vec<usize> = self.history.puts(element).filter(|it| !links.contains(it)).collect();
            match puts[..] {
                [] => return Some((Rule::Lineage, self.ids(links))),
                [link] if links.len() < LINEAGE_OPERATIONS_MAX => links.push(link),
                [..] => return None,
            }
        }
    }

    /// *Empty* was returned, though more elements were added than can have been removed; or an
    /// element was found, though more were added that are greater.
    fn not_empty_or_not_greatest(&self) -> Option<(Rule, Vec<OperationId>)> {
        let miss = self
            .core
            .iter()
            .copied()
            .filter(|&at| self.history.is_miss(at))
            .max_by_key(|&at| self.history.end(at))?;
        let is_there = |at: usize| {
            self.history.is_missed(miss, at)
                && matches!(self.kind(at), RoleKind::Add | RoleKind::Observe)
                && self.precedes(at, miss)
        };
        let there: Vec<usize> = self.core.iter().copied().filter(|&at| is_there(at)).collect();
        let removers = self.history.removers_of(&there, miss);
        if self.history.object == ObjectKind::PriorityQueue
            && self.kind(miss) != RoleKind::Empty
            && removers.is_empty()
            && let &[one] = there.as_slice()
        {
            return Some((Rule::GreatestFirst, self.ids([miss, one, one])));
        }
        let rule = Rule::Left { added: there.len() as u32 };
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
