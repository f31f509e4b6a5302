//! Explanations: a rule that readers know, or else the longest order and where it ends.
//!
//! A counterexample is small, so its operations can be examined one by one. Each rule here shows by
//! itself that there is no order, from what is retained of the counterexample and of unconstrained
//! operations; none trusts the checker that found the violation. Rules that count or compare come
//! first, since they can be stated in a sentence. Then the monitor is run, on the counterexample
//! alone. Otherwise the longest order is the explanation.

use clewline_core::{
    Budget, DeadEnd, Explanation, ObjectKind, OperationId, Problem, RoleKind, Roles, Rule, Span, Verdict, Why,
};
use clewline_monitor as monitor;

use crate::{checker::Checker, search::jit_graph::JitGraph};

/// An order is searched within this many configurations.
const DEAD_END_CONFIGS: u64 = 1 << 17;

/// Longer orders, and larger counterexamples, are not readable.
const EXPLAINED_OPERATIONS_MAX: usize = 64;

/// At most this many reads of a counter are compared with each other.
const COMPARED_READS_MAX: usize = 8;

/// Explains the violation of `weak`: what is retained of `whole`, of which `core` is the
/// counterexample. It was `found` like this.
pub(super) fn explain(
    whole: &Problem<'_>,
    weak: &Problem<'_>,
    core: &[OperationId],
    found: &Explanation,
    budget: &Budget,
) -> Option<Why> {
    let named = View::new(whole, weak, core).and_then(|view| view.rule(whole));
    if let Some((rule, operations)) = named {
        return Some(Why::Rule { rule, operations, end: None });
    }
    let seen = monitor::decide_weaker(weak, budget).ok().and_then(|verdict| match verdict {
        Verdict::Violated(violation) => broken(violation.explanation),
        Verdict::Holds(_) | Verdict::Unknown(_) => None,
    });
    let all = || [seen.clone(), broken(found.clone())].into_iter().flatten();
    // A rule that leaves out part of the counterexample does not say what that part is for.
    let opens = |id: &OperationId| weak.position(*id).is_some_and(|at| weak.resets(at));
    let tells_all = |(rule, operations): &(Rule, Vec<OperationId>)| {
        is_self_explanatory(*rule) && core.iter().all(|it| operations.contains(it) || opens(it))
    };
    if let Some((rule, operations)) = all().find(tells_all) {
        return Some(Why::Rule { rule, operations, end: None });
    }
    let end = if core.len() <= EXPLAINED_OPERATIONS_MAX { dead_end(whole, weak, core, budget) } else { None };
    match (all().next(), end) {
        (Some((rule, operations)), end) => Some(Why::Rule { rule, operations, end }),
        (None, Some(end)) => Some(Why::End(end)),
        (None, None) => None,
    }
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
        Rule::AddedBefore
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
        // Another operation may have added it, one that itself cannot be placed.
        Rule::Added | Rule::OutOfOrder { .. } | Rule::NoneBelow | Rule::ThereOrNot | Rule::Sum => false,
    }
}

/// The operations of a counterexample and the unconstrained ones, by position.
struct View<'v> {
    problem: &'v Problem<'v>,
    kind: ObjectKind,
    roles: Roles,
    in_core: Vec<bool>,
}

impl<'v> View<'v> {
    fn new(whole: &Problem<'_>, problem: &'v Problem<'v>, core: &[OperationId]) -> Option<View<'v>> {
        let (kind, roles) = (whole.kind()?, problem.roles().ok()?);
        if let ObjectKind::Other(_) = kind {
            return None;
        }
        let in_core = problem.operations().iter().map(|it| core.binary_search(it).is_ok()).collect();
        Some(View { problem, kind, roles, in_core })
    }

    fn rule(&self, whole: &Problem<'_>) -> Option<(Rule, Vec<OperationId>)> {
        let whole_roles = whole.roles().ok()?;
        self.found_but_not_added(whole, &whole_roles)
            .or_else(|| self.found_too_often())
            .or_else(|| self.added_again())
            .or_else(|| self.not_empty_or_not_greatest())
            .or_else(|| self.found_after_replaced())
            .or_else(|| self.sum_out_of_bounds(whole, &whole_roles))
    }

    fn all(&self) -> impl Iterator<Item = usize> {
        0..self.problem.len()
    }

    fn counterexample(&self) -> impl Iterator<Item = usize> {
        self.all().filter(|&at| self.in_core[at])
    }

    fn kind(&self, at: usize) -> RoleKind {
        self.roles.kinds[at]
    }

    fn element(&self, at: usize) -> u32 {
        self.roles.elements[at]
    }

    /// The key by which a priority queue orders its elements.
    fn priority(&self, at: usize) -> i64 {
        self.roles.names[self.element(at) as usize].cast_signed()
    }

    fn precedes(&self, one: usize, other: usize) -> bool {
        self.problem.spans()[one].precedes(self.problem.spans()[other])
    }

    fn ids(&self, positions: impl IntoIterator<Item = usize>) -> Vec<OperationId> {
        positions.into_iter().map(|at| self.problem.operations()[at]).collect()
    }

    /// The positions of operations that add or write `element`.
    fn puts(&self, element: u32) -> impl Iterator<Item = usize> {
        self.all().filter(move |&at| match self.kind(at) {
            RoleKind::Add => self.element(at) == element,
            RoleKind::Replace => self.roles.seconds[at] == element,
            RoleKind::Remove
            | RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::NoEffect => false,
        })
    }

    /// Whether `word` is in the object at first, or may be.
    fn is_initial(&self, word: u64) -> bool {
        match self.kind {
            ObjectKind::Counter | ObjectKind::Other(_) => true,
            ObjectKind::Register { initial } => initial == word,
            ObjectKind::Set
            | ObjectKind::Queue
            | ObjectKind::QuasiQueue { .. }
            | ObjectKind::Stack
            | ObjectKind::QuasiStack { .. }
            | ObjectKind::PriorityQueue
            | ObjectKind::QuasiPriorityQueue { .. }
            | ObjectKind::Bag
            | ObjectKind::Multiset => false,
        }
    }

    /// An operation found an element that was never added, or was added later: known only from all
    /// operations.
    fn found_but_not_added(
        &self,
        whole: &Problem<'_>,
        whole_roles: &Roles,
    ) -> Option<(Rule, Vec<OperationId>)> {
        let mut core = self.counterexample();
        let (Some(at), None) = (core.next(), core.next()) else { return None };
        let element = self.element(at);
        let is_found = match self.kind(at) {
            RoleKind::Observe | RoleKind::Remove | RoleKind::Replace => true,
            RoleKind::Add
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::NoEffect => false,
        };
        let word = self.roles.names[element as usize];
        if !is_found || self.is_initial(word) || self.puts(element).any(|it| it != at) {
            return None;
        }
        let end = self.problem.spans()[at].end();
        let puts = |it: &usize| match whole_roles.kinds[*it] {
            RoleKind::Add => whole_roles.names[whole_roles.elements[*it] as usize] == word,
            RoleKind::Replace => whole_roles.names[whole_roles.seconds[*it] as usize] == word,
            RoleKind::Remove
            | RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::NoEffect => false,
        };
        let id = self.problem.operations()[at];
        let mut others = (0..whole.len()).filter(puts).filter(|&it| whole.operations()[it] != id).peekable();
        match others.peek().copied() {
            None => Some((Rule::Added, vec![id])),
            Some(first) if others.all(|it| end < whole.spans()[it].call()) => {
                Some((Rule::AddedBefore, vec![id, whole.operations()[first]]))
            }
            // It had been inside, and was removed: the history was empty in between, so the
            // counterexample need not show it.
            Some(_) => {
                // Another operation that removes it removed another copy, whichever came first.
                let by =
                    if self.kind(at) == RoleKind::Remove { end } else { self.problem.spans()[at].call() };
                let is_before = |&it: &usize| whole.spans()[it].end() < by;
                let takes = |it: &usize| {
                    whole_roles.kinds[*it] == RoleKind::Remove
                        && whole_roles.names[whole_roles.elements[*it] as usize] == word
                };
                let takers: Vec<usize> = (0..whole.len()).filter(takes).filter(is_before).collect();
                let is_early = |&it: &usize| whole.spans()[it].call() <= end;
                let adders: Vec<usize> = (0..whole.len()).filter(puts).filter(is_early).collect();
                let ids = |all: &[usize]| -> Vec<OperationId> {
                    all.iter().map(|&it| whole.operations()[it]).collect()
                };
                let added = adders.len();
                let operations = [ids(&takers), vec![id], ids(&adders)].concat();
                let is_gone = added <= takers.len() && !matches!(self.kind, ObjectKind::Register { .. });
                is_gone.then_some((Rule::Often { added: added as u32 }, operations))
            }
        }
    }

    /// An element was found more often than it was added.
    fn found_too_often(&self) -> Option<(Rule, Vec<OperationId>)> {
        if matches!(self.kind, ObjectKind::Register { .. } | ObjectKind::Counter) {
            return None;
        }
        let is_empty = |&at: &usize| self.kind(at) == RoleKind::Empty;
        let start = self.counterexample().find(is_empty);
        let element = self.element(self.counterexample().find(|&at| Some(at) != start)?);
        let (mut takers, mut finder) = (Vec::new(), None);
        for at in self.counterexample().filter(|&at| Some(at) != start) {
            match self.kind(at) {
                _ if self.element(at) != element || start.is_some_and(|it| !self.precedes(it, at)) => {
                    return None;
                }
                RoleKind::Remove => takers.push(at),
                RoleKind::Observe if finder.is_none() => finder = Some(at),
                RoleKind::Observe
                | RoleKind::Add
                | RoleKind::Absent
                | RoleKind::Empty
                | RoleKind::RemoveUnknown
                | RoleKind::Replace
                | RoleKind::NoEffect => {
                    return None;
                }
            }
        }
        let adders: Vec<usize> = self.puts(element).collect();
        // Together they leave no copy to be found.
        let is_late = |finder: usize| takers.iter().all(|&it| self.precedes(it, finder));
        let found = takers.len() + usize::from(finder.is_some_and(is_late));
        if found <= adders.len() || takers.len() + usize::from(finder.is_some()) != found {
            return None;
        }
        let added = adders.len() as u32;
        let rule = if start.is_some() { Rule::OftenSince { added } } else { Rule::Often { added } };
        Some((rule, self.ids(start.into_iter().chain(takers).chain(finder).chain(adders))))
    }

    /// An element of a set was added more often than it was removed, and then once more.
    fn added_again(&self) -> Option<(Rule, Vec<OperationId>)> {
        let element = self.element(self.counterexample().next()?);
        let is_add = |&at: &usize| self.kind(at) == RoleKind::Add && self.element(at) == element;
        let is_counted = |at: usize| {
            self.element(at) == element && matches!(self.kind(at), RoleKind::Add | RoleKind::Remove)
        };
        if self.kind != ObjectKind::Set || !self.counterexample().all(is_counted) {
            return None;
        }
        let adders: Vec<usize> = self.counterexample().filter(is_add).collect();
        let is_remove = |&at: &usize| self.kind(at) == RoleKind::Remove && self.element(at) == element;
        let removers: Vec<usize> = self.all().filter(is_remove).collect();
        let removed = removers.len() as u32;
        let is_too_often = removers.len() + 1 < adders.len();
        is_too_often.then(|| (Rule::AddedAgain { removed }, self.ids(adders.into_iter().chain(removers))))
    }

    /// *Empty* was returned, though more elements were added than can have been removed; or an
    /// element was found, though more were added that are greater.
    fn not_empty_or_not_greatest(&self) -> Option<(Rule, Vec<OperationId>)> {
        let is_miss = |&at: &usize| match self.kind(at) {
            RoleKind::Empty => true,
            RoleKind::Absent => matches!(self.kind, ObjectKind::Set | ObjectKind::Multiset),
            RoleKind::Remove | RoleKind::Observe => self.kind == ObjectKind::PriorityQueue,
            RoleKind::Add | RoleKind::RemoveUnknown | RoleKind::Replace | RoleKind::NoEffect => false,
        };
        let mut misses = self.counterexample().filter(is_miss);
        let first = misses.next()?;
        // An *empty* result before everything else does not matter here.
        let (start, miss) = misses.next().map_or((None, first), |second| (Some(first), second));
        if start.is_some_and(|it| self.kind(it) != RoleKind::Empty) {
            return None;
        }
        let is_of_it = |at: usize| match self.kind(miss) {
            RoleKind::Absent => self.element(at) == self.element(miss),
            RoleKind::Remove | RoleKind::Observe => self.priority(miss) < self.priority(at),
            RoleKind::Add
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => true,
        };
        let (mut adders, mut sights) = (Vec::new(), Vec::new());
        for at in self.counterexample().filter(|&at| at != miss && Some(at) != start) {
            match self.kind(at) {
                _ if start.is_some_and(|it| !self.precedes(it, at)) => return None,
                RoleKind::Add if is_of_it(at) && self.precedes(at, miss) => adders.push(at),
                RoleKind::Observe if is_of_it(at) && self.precedes(at, miss) => sights.push(at),
                _ => return None,
            }
        }
        let added = match (adders.len(), sights.len()) {
            (added, 0) => added,
            (0, _) => 1,
            (_, _) => return None,
        };
        let may_remove = |&at: &usize| match self.kind(at) {
            RoleKind::Remove => at != miss && is_of_it(at),
            RoleKind::RemoveUnknown => true,
            RoleKind::Add
            | RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::Replace
            | RoleKind::NoEffect => false,
        };
        let removers: Vec<usize> = self.all().filter(may_remove).collect();
        if added <= removers.len() {
            return None;
        }
        let mut there = adders.into_iter().chain(sights);
        if self.kind(miss) != RoleKind::Empty && self.kind == ObjectKind::PriorityQueue && removers.is_empty()
        {
            let one = there.next()?;
            return Some((Rule::GreatestFirst, self.ids([miss, one, one])))
                .filter(|_| there.next().is_none());
        }
        let rule = Rule::Left { added: added as u32 };
        Some((rule, self.ids([miss].into_iter().chain(there).chain(removers))))
    }

    /// A value was found in a register after it had been replaced.
    fn found_after_replaced(&self) -> Option<(Rule, Vec<OperationId>)> {
        if !matches!(self.kind, ObjectKind::Register { .. })
            || EXPLAINED_OPERATIONS_MAX < self.counterexample().count()
        {
            return None;
        }
        for late in
            self.counterexample().filter(|&at| matches!(self.kind(at), RoleKind::Observe | RoleKind::Replace))
        {
            let element = self.element(late);
            // The value right after each.
            let leaves = |at: usize| match self.kind(at) {
                RoleKind::Add | RoleKind::Observe => Some(self.element(at)),
                RoleKind::Replace => Some(self.roles.seconds[at]),
                RoleKind::Remove
                | RoleKind::Absent
                | RoleKind::Empty
                | RoleKind::RemoveUnknown
                | RoleKind::NoEffect => None,
            };
            let replaces = |&at: &usize| {
                self.precedes(at, late)
                    && leaves(at).is_some_and(|it| it != element)
                    && self.puts(element).all(|put| put == late || put != at && self.precedes(put, at))
            };
            if let Some(newer) = self.counterexample().filter(|&at| at != late).find(replaces) {
                let puts = self.puts(element).filter(|&it| it != late);
                return Some((Rule::Stale, self.ids([late, newer].into_iter().chain(puts))));
            }
        }
        None
    }

    /// A sum was read that is out of bounds, from the initial state or since an earlier read.
    fn sum_out_of_bounds(
        &self,
        whole: &Problem<'_>,
        whole_roles: &Roles,
    ) -> Option<(Rule, Vec<OperationId>)> {
        if self.kind != ObjectKind::Counter {
            return None;
        }
        let sums = Sums { spans: whole.spans(), roles: whole_roles };
        let is_read = |&at: &usize| self.kind(at) == RoleKind::Observe;
        let position = |at: usize| whole.position(self.problem.operations()[at]);
        let mut reads: Vec<usize> = self.counterexample().filter(is_read).filter_map(position).collect();
        // Mostly the last one is wrong.
        reads.drain(..reads.len().saturating_sub(COMPARED_READS_MAX));
        for &late in &reads {
            let earlier = reads.iter().copied().filter(|&it| whole.spans()[it].precedes(whole.spans()[late]));
            // The earlier read is part of the counterexample, so it belongs to the explanation.
            for since in earlier.map(Some).chain([None]) {
                let (least, greatest) = sums.bounds(since, late)?;
                if !(least..=greatest).contains(&sums.word(late)) {
                    let operations = [Some(late), since].into_iter().flatten();
                    let operations = operations.map(|at| whole.operations()[at]).collect();
                    return Some((Rule::SumWithin { least, greatest }, operations));
                }
            }
        }
        None
    }
}

/// The amounts that operations add to a counter.
struct Sums<'s> {
    spans: &'s [Span],
    roles: &'s Roles,
}

impl Sums<'_> {
    /// The amount that the operation adds, or the sum that it reads.
    fn word(&self, at: usize) -> i64 {
        self.roles.names[self.roles.elements[at] as usize].cast_signed()
    }

    /// The bounds of the sum when `late` takes effect, given the sum read at `since`. `None` if it
    /// may overflow.
    fn bounds(&self, since: Option<usize>, late: usize) -> Option<(i64, i64)> {
        let known = since.map_or(0, |at| self.word(at));
        let (mut least, mut greatest) = (known, known);
        for at in (0..self.spans.len()).filter(|&at| self.roles.kinds[at] == RoleKind::Add) {
            let (span, amount) = (self.spans[at], self.word(at));
            let is_known = since.is_some_and(|since| span.precedes(self.spans[since]));
            if is_known || self.spans[late].precedes(span) {
                continue;
            }
            let follows = since.is_none_or(|since| self.spans[since].precedes(span));
            let is_certain = follows && span.precedes(self.spans[late]);
            least = least.checked_add(if is_certain { amount } else { amount.min(0) })?;
            greatest = greatest.checked_add(if is_certain { amount } else { amount.max(0) })?;
        }
        Some((least, greatest))
    }
}

/// Where the longest order of `weak` ends, with as few unconstrained operations as possible.
fn dead_end(
    whole: &Problem<'_>,
    weak: &Problem<'_>,
    core: &[OperationId],
    budget: &Budget,
) -> Option<DeadEnd> {
    let budget = budget.child().with_configurations(DEAD_END_CONFIGS);
    let Verdict::Violated(found) = JitGraph.decide(weak, &budget) else { return None };
    let Explanation::Exhausted { prefix, .. } = found.explanation else { return None };
    let mut end = DeadEnd::after(weak, &prefix)?;
    // Unconstrained operations that make no difference are left out.
    let is_core = |id: &OperationId| core.binary_search(id).is_ok();
    let mut at = end.prefix.len();
    while 0 < at {
        at -= 1;
        if is_core(&end.prefix[at]) {
            continue;
        }
        let mut shorter = end.prefix.clone();
        shorter.remove(at);
        if let Some(other) = DeadEnd::after(weak, &shorter)
            && other.prefix == shorter
            && (other.next, &other.instead) == (end.next, &end.instead)
        {
            end = other;
            // An operation that removed what this one added may now be left out, too.
            at = end.prefix.len();
        }
    }
    let end = in_real_time_order(whole, weak, &end).unwrap_or(end);
    (end.prefix.len() <= EXPLAINED_OPERATIONS_MAX).then_some(end)
}

/// The same dead end after an order that respects the real-time order of `whole`. An unconstrained
/// operation may come at any time, so it may stand before operations that it really followed, which
/// a drawing would contradict. `None` if the order has no such flaw, or not the same end when
/// corrected.
fn in_real_time_order(whole: &Problem<'_>, weak: &Problem<'_>, end: &DeadEnd) -> Option<DeadEnd> {
    let span = |id: &OperationId| whole.position(*id).map(|at| whole.spans()[at]);
    let comes_late = |at: usize| {
        let late = span(&end.prefix[at]);
        let precedes = |it: &OperationId| span(it).zip(late).is_some_and(|(it, late)| late.precedes(it));
        end.prefix[..at].iter().any(precedes)
    };
    if !(1..end.prefix.len()).any(comes_late) {
        return None;
    }
    // In the order of calls no operation comes before one that it follows.
    let mut prefix = end.prefix.clone();
    prefix.sort_unstable();
    DeadEnd::after(weak, &prefix).filter(|it| it.prefix == prefix && it.next == end.next)
}
