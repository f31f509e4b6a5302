//! Claims: what an explanation says about the operations of a history, as data.
//!
//! A [`Rule`] and its operations stand for a sentence of a report. The sentence says which
//! operation returned before which was called, that no other operation added or removed an element,
//! and so on. Each of these is a claim, and each is compared with the recorded history before the
//! sentence is used. The operations that are not named in a claim are those that would refute it: a
//! claim is true if there are none. Where a claim counts, it counts what was called before the
//! counterexample ended.

use std::collections::{BTreeSet, HashSet};

use clewline_core::{ObjectKind, OperationId, Problem, RoleKind, Roles, Rule};

/// At most this many sums of a counter are compared with the one that was read.
const COUNTER_SUMS_MAX: usize = 1 << 8;

/// A statement about operations, by their positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// The first had returned before the second was called.
    Before(usize, usize),
    /// It has this role, and had returned when the counterexample ended.
    Did(usize, RoleKind),
    /// Both are about the same element.
    SameElement(usize, usize),
    /// No other operation adds or writes the element, which is not there at first.
    PutOnlyBy(u32, Vec<usize>),
    /// Each other operation that adds or writes the element had returned before this one was
    /// called.
    NoPutSince { element: u32, since: usize, except: usize },
    /// Each other operation that may remove the element had returned before `since` was called, or
    /// was called after `until` had returned.
    NoRemoveBetween { element: u32, since: usize, until: usize, except: Vec<usize> },
    /// The first number is less than the second.
    Fewer(usize, usize),
    /// After the first and before the second of each pair, some element is certainly there; the
    /// pairs follow each other without a gap, from the call to the return of the operation.
    Covered { operation: usize, pairs: Vec<(usize, usize)> },
    /// A sum is not within bounds.
    OutOfBounds { sum: i64, least: i64, greatest: i64 },
}

/// What follows from claims that are true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    /// They exclude every order by themselves.
    Proof,
    /// That they exclude every order follows from what a monitor found.
    Consistent,
}

/// A history whose operations have roles, and the moment at which a counterexample ends.
pub(super) struct History<'h> {
    pub(super) object: ObjectKind,
    pub(super) whole: &'h Problem<'h>,
    roles: Roles,
    // The rank of the last return of the counterexample.
    ends: u32,
}

impl<'h> History<'h> {
    /// `None` if the roles are not known.
    pub(super) fn new(whole: &'h Problem<'_>, core: &[OperationId]) -> Option<History<'h>> {
        let object = whole
            .kind()
            .filter(|it| !matches!(it, ObjectKind::Channel | ObjectKind::Deque | ObjectKind::Other(_)))?;
        let ret = |it: &OperationId| whole.spans()[whole.position(*it)?].ret();
        let ends = core.iter().filter_map(ret).max()?;
        Some(History { object, whole, roles: whole.roles().ok()?, ends })
    }

    pub(super) fn kind(&self, at: usize) -> RoleKind {
        self.roles.kinds[at]
    }

    pub(super) fn element(&self, at: usize) -> u32 {
        self.roles.elements[at]
    }

    /// The rank of its return.
    pub(super) fn end(&self, at: usize) -> u32 {
        self.whole.spans()[at].end()
    }

    pub(super) fn precedes(&self, one: usize, other: usize) -> bool {
        self.whole.spans()[one].precedes(self.whole.spans()[other])
    }

    /// The amount that an operation adds, the sum that it reads, or the key by which a priority
    /// queue orders its element.
    pub(super) fn word(&self, at: usize) -> i64 {
        self.roles.names[self.element(at) as usize].cast_signed()
    }

    /// What was called before the counterexample ended.
    fn all(&self) -> impl Iterator<Item = usize> {
        (0..self.whole.len()).filter(|&at| self.whole.spans()[at].call() < self.ends)
    }

    /// The positions of operations that add or write `element`.
    pub(super) fn puts(&self, element: u32) -> impl Iterator<Item = usize> {
        self.all().filter(move |&at| put(&self.roles, at) == Some(element))
    }

    /// What was called before the counterexample ended and adds to a sum.
    pub(super) fn adds(&self) -> Vec<usize> {
        self.all().filter(|&at| self.kind(at) == RoleKind::Add).collect()
    }

    /// Whether a register contains the element at first.
    fn is_initial(&self, element: u32) -> bool {
        match self.object {
            ObjectKind::Register { initial } => self.roles.names[element as usize] == initial,
            _ => false,
        }
    }

    /// The element that is there right after the operation, of a register.
    pub(super) fn leaves(&self, at: usize) -> Option<u32> {
        match self.kind(at) {
            RoleKind::Observe => Some(self.element(at)),
            _ => put(&self.roles, at),
        }
    }

    /// Whether the operation may remove `element`.
    fn may_remove(&self, at: usize, element: u32) -> bool {
        match self.kind(at) {
            RoleKind::Remove => self.element(at) == element,
            RoleKind::RemoveUnknown => true,
            RoleKind::Add
            | RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::Replace
            | RoleKind::NoEffect => false,
        }
    }

    /// Of the operations that put the element which the one at `at` found, and that were called
    /// only after that had returned, the first.
    pub(super) fn first_put_after(&self, at: usize) -> Option<OperationId> {
        let is_late = |it: &usize| self.end(at) < self.whole.spans()[*it].call();
        let puts = |&it: &usize| put(&self.roles, it) == Some(self.element(at));
        let first = (0..self.whole.len()).filter(is_late).find(puts)?;
        Some(self.whole.operations()[first])
    }

    /// The operations that may undo the `changes` of an element, which all added or all removed it,
    /// after one of them and before another.
    pub(super) fn opposites_between(&self, element: u32, changes: &[usize]) -> Vec<usize> {
        let spans = self.whole.spans();
        let first = changes.iter().map(|&at| spans[at].call()).min().unwrap_or(0);
        let last = changes.iter().map(|&at| spans[at].end()).max().unwrap_or(0);
        let is_between = |&at: &usize| first < spans[at].end() && spans[at].call() < last;
        let is_added = changes.first().is_some_and(|&at| self.kind(at) == RoleKind::Add);
        let is_opposite = |&at: &usize| match is_added {
            true => self.may_remove(at, element),
            false => put(&self.roles, at) == Some(element),
        };
        self.all().filter(is_opposite).filter(is_between).collect()
    }

    /// Whether `miss` shows that the element of the operation at `at` is not there.
    pub(super) fn is_missed(&self, miss: usize, at: usize) -> bool {
        match self.kind(miss) {
            RoleKind::Empty => true,
            RoleKind::Remove | RoleKind::Observe => self.word(miss) < self.word(at),
            RoleKind::Absent
            | RoleKind::Add
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => self.element(miss) == self.element(at),
        }
    }

    /// The operations that may have removed one of the elements which were `there`, before `miss`
    /// took effect.
    pub(super) fn removers_of(&self, there: &[usize], miss: usize) -> Vec<usize> {
        let may = |&at: &usize| {
            at != miss
                && !self.precedes(miss, at)
                && there.iter().any(|&it| self.may_remove(at, self.element(it)) && !self.precedes(at, it))
        };
        self.all().filter(may).collect()
    }

    /// Whether the operation replaced a value by itself.
    fn puts_itself(&self, at: usize) -> bool {
        self.kind(at) == RoleKind::Replace && put(&self.roles, at) == Some(self.element(at))
    }

    /// The sums of each choice among these operations. `None` if there are too many, or one may
    /// overflow.
    pub(super) fn sums_of(&self, adds: &[usize]) -> Option<BTreeSet<i64>> {
        let mut sums = BTreeSet::from([0]);
        for &at in adds {
            let more: Option<Vec<i64>> = sums.iter().map(|it| self.word(at).checked_add(*it)).collect();
            sums.extend(more?);
            if COUNTER_SUMS_MAX < sums.len() {
                return None;
            }
        }
        Some(sums)
    }

    /// The bounds of the sum when `late` takes effect, given the sum that was read at `since`. Of
    /// the operations that add to it, only `sure` ones have certainly happened. `None` if it may
    /// overflow.
    pub(super) fn sum_bounds(&self, since: Option<usize>, late: usize, sure: &[usize]) -> Option<(i64, i64)> {
        let known = since.map_or(0, |at| self.word(at));
        let (mut least, mut greatest) = (known, known);
        for at in self.all().filter(|&at| self.kind(at) == RoleKind::Add) {
            if since.is_some_and(|since| self.precedes(at, since)) || self.precedes(late, at) {
                continue;
            }
            let amount = self.word(at);
            let follows = since.is_none_or(|since| self.precedes(since, at));
            let is_certain = sure.contains(&at) && follows && self.precedes(at, late);
            least = least.checked_add(if is_certain { amount } else { amount.min(0) })?;
            greatest = greatest.checked_add(if is_certain { amount } else { amount.max(0) })?;
        }
        Some((least, greatest))
    }

    /// What is known if everything is true that a sentence about `rule` and its `operations` says;
    /// `None` if it is not.
    pub(super) fn compared(&self, rule: Rule, operations: &[OperationId]) -> Option<Truth> {
        let positions: Option<Vec<usize>> = operations.iter().map(|&it| self.whole.position(it)).collect();
        let (claims, truth) = self.claims(rule, &positions?)?;
        claims.iter().all(|it| self.holds(it)).then_some(truth)
    }

    /// What a sentence about `rule` and its operations says, and what follows from it. `None` if it
    /// cannot be said of them.
    fn claims(&self, rule: Rule, operations: &[usize]) -> Option<(Vec<Claim>, Truth)> {
        if !self.is_about_such(rule) || !is_named_once(rule, operations) {
            return None;
        }
        let (claims, truth) = match rule {
            Rule::Added
            | Rule::AddedBefore
            | Rule::TakenOnce
            | Rule::Gone
            | Rule::Often { .. }
            | Rule::OftenSince { .. }
            | Rule::AddedAgain { .. }
            | Rule::RemovedAgain { .. }
            | Rule::AbsentSince => (self.claims_of_copies(rule, operations), Truth::Proof),
            Rule::Left { .. } | Rule::Empty | Rule::GreatestFirst | Rule::FirstInFirstOut => {
                (self.claims_of_presence(rule, operations), Truth::Proof)
            }
            Rule::Stale | Rule::SumWithin { .. } | Rule::Sum | Rule::ReplacedOnce | Rule::Lineage => {
                (self.claims_of_values(rule, operations), Truth::Proof)
            }
            Rule::OneInFront
            | Rule::FrontInTurn
            | Rule::LastInFirstOut
            | Rule::OneAtATime
            | Rule::NoRoom
            | Rule::Chain
            | Rule::OvertakesMany { .. }
            | Rule::OvertakenOften { .. }
            | Rule::OutOfOrder { .. }
            | Rule::NoneBelow => (self.claims_of_order(rule, operations), Truth::Consistent),
            // The first says only that no order is right, as the sentence about the longest order
            // does; the words of the second are not known here. The others are said of sets that
            // are read as a whole, whose operations have no roles.
            Rule::ThereOrNot
            | Rule::Other(_)
            | Rule::FoundUnadded { .. }
            | Rule::Lost { .. }
            | Rule::ReadsDisagree { .. }
            | Rule::EarlierMissing { .. } => return None,
        };
        Some((claims?, truth))
    }

    /// Whether the rule is one of objects of this kind.
    fn is_about_such(&self, rule: Rule) -> bool {
        let is_register = matches!(self.object, ObjectKind::Register { .. });
        let is_counter = self.object == ObjectKind::Counter;
        match rule {
            Rule::Added | Rule::AddedBefore => !is_counter,
            Rule::TakenOnce
            | Rule::Gone
            | Rule::Often { .. }
            | Rule::OftenSince { .. }
            | Rule::Left { .. }
            | Rule::Empty => !is_counter && !is_register,
            Rule::AddedAgain { .. } | Rule::RemovedAgain { .. } | Rule::AbsentSince => {
                self.object == ObjectKind::Set
            }
            Rule::GreatestFirst => self.object == ObjectKind::PriorityQueue,
            Rule::FirstInFirstOut => self.object == ObjectKind::Queue,
            Rule::Stale | Rule::ReplacedOnce | Rule::Lineage => is_register,
            Rule::SumWithin { .. } | Rule::Sum => is_counter,
            Rule::FoundUnadded { .. }
            | Rule::Lost { .. }
            | Rule::ReadsDisagree { .. }
            | Rule::EarlierMissing { .. } => false,
            // These are said of what a monitor for the kind of object has found.
            Rule::OneInFront
            | Rule::FrontInTurn
            | Rule::LastInFirstOut
            | Rule::OneAtATime
            | Rule::NoRoom
            | Rule::Chain
            | Rule::OvertakesMany { .. }
            | Rule::OvertakenOften { .. }
            | Rule::OutOfOrder { .. }
            | Rule::NoneBelow
            | Rule::ThereOrNot
            | Rule::Other(_) => true,
        }
    }

    /// Whether the operation had returned when the counterexample ended: one that had not may have
    /// had no effect.
    fn has_returned(&self, at: usize) -> bool {
        self.end(at) <= self.ends
    }

    /// Whether the operation found an element.
    fn is_finder(&self, at: usize) -> bool {
        self.has_returned(at)
            && matches!(self.kind(at), RoleKind::Observe | RoleKind::Remove | RoleKind::Replace)
    }

    /// Whether the element of the operation was there when it returned, as far as it knows.
    fn shows_presence(&self, at: usize) -> bool {
        matches!(self.kind(at), RoleKind::Add | RoleKind::Observe)
    }

    /// Whether the operation did not find something that may have been there: nothing at all, this
    /// element, or in a priority queue what goes first.
    pub(super) fn is_miss(&self, at: usize) -> bool {
        match self.kind(at) {
            _ if !self.has_returned(at) => false,
            RoleKind::Empty => true,
            RoleKind::Absent => matches!(self.object, ObjectKind::Set | ObjectKind::Multiset),
            RoleKind::Add => self.object == ObjectKind::Set,
            RoleKind::Remove | RoleKind::Observe => self.object == ObjectKind::PriorityQueue,
            RoleKind::RemoveUnknown | RoleKind::Replace | RoleKind::NoEffect => false,
        }
    }

    /// The claims of rules that count how often an element was added and removed.
    fn claims_of_copies(&self, rule: Rule, operations: &[usize]) -> Option<Vec<Claim>> {
        let mut claims = Vec::new();
        match (rule, operations) {
            (Rule::Added, &[at]) if self.is_finder(at) => {
                claims.push(Claim::PutOnlyBy(self.element(at), vec![at]));
                claims.push(Claim::Fewer(usize::from(self.first_put_after(at).is_some()), 1));
            }
            (Rule::AddedBefore, &[at, later]) if self.is_finder(at) => {
                claims.push(Claim::PutOnlyBy(self.element(at), vec![at]));
                claims.push(Claim::Before(at, later));
            }
            (Rule::TakenOnce, &[one, other]) => {
                let puts: Vec<usize> = self.puts(self.element(one)).collect();
                claims.push(Claim::SameElement(one, other));
                claims.extend([one, other].map(|at| Claim::Did(at, RoleKind::Remove)));
                claims.push(Claim::Fewer(puts.len(), 2));
                claims.push(Claim::PutOnlyBy(self.element(one), puts));
            }
            (Rule::Gone, &[one, other]) if self.is_finder(other) => {
                let puts: Vec<usize> = self.puts(self.element(one)).collect();
                claims.push(Claim::Did(one, RoleKind::Remove));
                claims.push(Claim::SameElement(one, other));
                claims.push(Claim::Before(one, other));
                claims.push(Claim::Fewer(puts.len(), 2));
                claims.push(Claim::PutOnlyBy(self.element(one), puts));
            }
            (Rule::Often { added }, _) => {
                let (found, adders) = split_last(operations, added)?;
                self.claim_often(found, adders, &mut claims)?;
                claims.push(Claim::PutOnlyBy(self.element(*found.first()?), adders.to_vec()));
            }
            (Rule::OftenSince { added }, [start, operations @ ..]) => {
                let (found, adders) = split_last(operations, added)?;
                claims.push(Claim::Did(*start, RoleKind::Empty));
                claims.extend(found.iter().map(|&at| Claim::Before(*start, at)));
                self.claim_often(found, adders, &mut claims)?;
                let element = self.element(*found.first()?);
                let early = self.puts(element).filter(|it| !adders.contains(it));
                claims.extend(early.map(|at| Claim::Before(at, *start)));
            }
            (Rule::AddedAgain { removed: undone } | Rule::RemovedAgain { added: undone }, _) => {
                let (changes, opposites) = split_last(operations, undone)?;
                let is_added = matches!(rule, Rule::AddedAgain { .. });
                let kind = if is_added { RoleKind::Add } else { RoleKind::Remove };
                claims.extend(changes.iter().map(|&at| Claim::Did(at, kind)));
                claims.extend(changes.iter().map(|&at| Claim::SameElement(changes[0], at)));
                claims.push(Claim::Fewer(opposites.len() + 1, changes.len()));
                let all = self.opposites_between(self.element(*changes.first()?), changes);
                let named: HashSet<usize> = opposites.iter().copied().collect();
                claims.push(Claim::Fewer(all.iter().filter(|it| !named.contains(it)).count(), 1));
            }
            (Rule::AbsentSince, &[found, absent, ..]) => {
                let element = self.element(found);
                claims.push(Claim::SameElement(found, absent));
                claims.push(Claim::Before(absent, found));
                claims.push(Claim::NoPutSince { element, since: absent, except: found });
                let shows_absence = matches!(self.kind(absent), RoleKind::Absent | RoleKind::Remove);
                if !shows_absence || !self.is_finder(found) {
                    return None;
                }
            }
            (_, _) => return None,
        }
        Some(claims)
    }

    /// The claims of rules about elements that were certainly there.
    fn claims_of_presence(&self, rule: Rule, operations: &[usize]) -> Option<Vec<Claim>> {
        let mut claims = Vec::new();
        match (rule, operations) {
            (Rule::Left { added }, [miss, rest @ ..]) => {
                let there = rest.get(..added as usize)?;
                let removers = &rest[added as usize..];
                claims.extend(there.iter().map(|&at| Claim::Before(at, *miss)));
                let all = self.removers_of(there, *miss);
                claims.push(Claim::Fewer(all.iter().filter(|it| !removers.contains(it)).count(), 1));
                claims.push(Claim::Fewer(removers.len(), there.len()));
                let is_there = |&at: &usize| self.shows_presence(at) && self.is_missed(*miss, at);
                if !self.is_miss(*miss) || !there.iter().all(is_there) {
                    return None;
                }
                // One that observed an element does not show how many there were.
                let is_sight = |at: usize| self.kind(at) == RoleKind::Observe;
                let is_same =
                    |one: usize, other: usize| one != other && self.element(one) == self.element(other);
                let is_doubtful = |&at: &usize| is_sight(at) && there.iter().any(|&it| is_same(at, it));
                if there.iter().any(is_doubtful) {
                    return None;
                }
                // Another addition is counted, not missed.
                if self.kind(*miss) == RoleKind::Add && !there.iter().all(|&at| is_sight(at)) {
                    return None;
                }
            }
            (Rule::Empty, [miss, pairs @ ..]) => {
                claims.push(Claim::Did(*miss, RoleKind::Empty));
                claims.push(Claim::Covered { operation: *miss, pairs: in_pairs(pairs)? });
            }
            (Rule::GreatestFirst, [finder, pairs @ ..]) => {
                let pairs = in_pairs(pairs)?;
                if !self.is_finder(*finder) || !pairs.iter().all(|&(at, _)| self.is_missed(*finder, at)) {
                    return None;
                }
                claims.push(Claim::Covered { operation: *finder, pairs });
            }
            (Rule::FirstInFirstOut, &[one, other, found, ref left @ ..])
                if self.shows_presence(one) && self.kind(other) == RoleKind::Add && self.is_finder(found) =>
            {
                claims.push(Claim::Before(one, other));
                claims.push(Claim::SameElement(other, found));
                claims.extend(left.iter().map(|&at| Claim::SameElement(one, at)));
                claims.extend(left.iter().map(|&at| Claim::Before(found, at)));
                claims.push(Claim::PutOnlyBy(self.element(other), vec![other]));
                let element = self.element(one);
                let except = left.to_vec();
                claims.push(Claim::NoRemoveBetween { element, since: one, until: found, except });
            }
            (_, _) => return None,
        }
        Some(claims)
    }

    /// The claims of rules about values that follow each other.
    fn claims_of_values(&self, rule: Rule, operations: &[usize]) -> Option<Vec<Claim>> {
        let mut claims = Vec::new();
        match (rule, operations) {
            (Rule::Stale, [late, newer, ..]) if self.is_finder(*late) => {
                let element = self.element(*late);
                claims.push(Claim::Before(*newer, *late));
                claims.push(Claim::NoPutSince { element, since: *newer, except: *late });
                if self.leaves(*newer).is_none_or(|it| it == element) {
                    return None;
                }
            }
            (Rule::SumWithin { least, greatest }, [late, rest @ ..]) => {
                claims.push(Claim::Did(*late, RoleKind::Observe));
                let is_read = |at: &usize| self.kind(*at) == RoleKind::Observe;
                let since = rest.first().copied().filter(is_read);
                let sure = &rest[usize::from(since.is_some())..];
                claims.extend(since.map(|at| Claim::Before(at, *late)));
                claims.extend(sure.iter().map(|&at| Claim::Before(at, *late)));
                claims.extend(since.iter().flat_map(|&it| sure.iter().map(move |&at| Claim::Before(it, at))));
                if self.sum_bounds(since, *late, sure) != Some((least, greatest)) {
                    return None;
                }
                claims.push(Claim::OutOfBounds { sum: self.word(*late), least, greatest });
            }
            (Rule::Sum, [late, adds @ ..]) => {
                let is_it = |&at: &usize| self.kind(at) == RoleKind::Add && !self.precedes(*late, at);
                let all: Vec<usize> = self.all().filter(is_it).collect();
                let sums = self.sums_of(&all)?;
                claims.push(Claim::Did(*late, RoleKind::Observe));
                claims.push(Claim::Fewer(usize::from(sums.contains(&self.word(*late))), 1));
                if all != adds || adds.is_empty() {
                    return None;
                }
            }
            (Rule::Lineage, [.., last]) => {
                for link in operations.windows(2) {
                    claims.push(Claim::PutOnlyBy(self.element(link[0]), vec![link[0], link[1]]));
                    let is_link = self.kind(link[1]) == RoleKind::Replace;
                    if !is_link || put(&self.roles, link[1]) != Some(self.element(link[0])) {
                        return None;
                    }
                }
                claims.push(Claim::PutOnlyBy(self.element(*last), vec![*last]));
                if operations.len() < 2
                    || !self.is_finder(operations[0])
                    || operations.iter().any(|&at| self.puts_itself(at))
                {
                    return None;
                }
            }
            (Rule::ReplacedOnce, &[one, other]) => {
                claims.extend([one, other].map(|at| Claim::Did(at, RoleKind::Replace)));
                let puts = self.puts(self.element(one)).filter(|&it| it != one && it != other).count();
                let is_first = usize::from(self.is_initial(self.element(one)));
                claims.push(Claim::Fewer(puts + is_first, 2));
                let is_same = self.element(one) == self.element(other);
                let is_restored =
                    [one, other].iter().any(|&it| put(&self.roles, it) == Some(self.element(one)));
                if !is_same || is_restored {
                    return None;
                }
            }
            (_, _) => return None,
        }
        Some(claims)
    }

    /// The claims of rules about the order of elements: each of these was put once, and all
    /// operations on them are named.
    fn claims_of_order(&self, rule: Rule, operations: &[usize]) -> Option<Vec<Claim>> {
        if operations.iter().any(|&at| matches!(self.kind(at), RoleKind::Empty | RoleKind::Absent)) {
            return None;
        }
        let mut claims = in_real_time(rule, operations);
        claims.extend(self.once(operations));
        Some(claims)
    }

    /// That the `found` operations each removed a copy, the last one possibly only found it, and
    /// `adders` are too few.
    fn claim_often(&self, found: &[usize], adders: &[usize], claims: &mut Vec<Claim>) -> Option<()> {
        let (&last, takers) = found.split_last()?;
        claims.extend(takers.iter().map(|&at| Claim::Did(at, RoleKind::Remove)));
        claims.extend(found.iter().map(|&at| Claim::SameElement(found[0], at)));
        if self.kind(last) == RoleKind::Observe {
            claims.push(Claim::Did(last, RoleKind::Observe));
            claims.extend(takers.iter().map(|&at| Claim::Before(at, last)));
        } else {
            claims.push(Claim::Did(last, RoleKind::Remove));
        }
        claims.push(Claim::Fewer(adders.len(), found.len()));
        Some(())
    }

    /// That each element of these operations was put once, and that no operation which is not named
    /// removes it.
    fn once(&self, operations: &[usize]) -> Vec<Claim> {
        let mut elements: Vec<u32> = operations.iter().map(|&at| self.element(at)).collect();
        elements.extend(operations.iter().filter_map(|&at| put(&self.roles, at)));
        elements.sort_unstable();
        elements.dedup();
        let mut claims = Vec::new();
        for element in elements {
            let is_other = |at: &usize| self.may_remove(*at, element) && !operations.contains(at);
            let puts = self.puts(element).count() + usize::from(self.is_initial(element));
            claims.push(Claim::Fewer(puts, 2));
            claims.push(Claim::Fewer(self.all().filter(is_other).count(), 1));
        }
        claims
    }

    /// Whether the history shows it.
    fn holds(&self, claim: &Claim) -> bool {
        match claim {
            &Claim::Before(one, other) => self.precedes(one, other),
            &Claim::Did(at, kind) => self.kind(at) == kind && self.has_returned(at),
            &Claim::SameElement(one, other) => {
                let is_it = |at: usize| [Some(self.element(at)), put(&self.roles, at)];
                is_it(one).iter().flatten().any(|it| is_it(other).contains(&Some(*it)))
            }
            Claim::PutOnlyBy(element, by) => {
                !self.is_initial(*element) && self.puts(*element).all(|at| by.contains(&at))
            }
            &Claim::NoPutSince { element, since, except } => {
                self.puts(element).all(|at| at == except || at != since && self.precedes(at, since))
            }
            Claim::NoRemoveBetween { element, since, until, except } => {
                let is_outside = |at: usize| self.precedes(at, *since) || self.precedes(*until, at);
                let mut may = self.all().filter(|&at| self.may_remove(at, *element));
                may.all(|at| except.contains(&at) || is_outside(at))
            }
            Claim::Fewer(one, other) => one < other,
            Claim::Covered { operation, pairs } => self.is_covered(*operation, pairs),
            &Claim::OutOfBounds { sum, least, greatest } => !(least..=greatest).contains(&sum),
        }
    }

    /// Whether something was there during the whole operation, and each pair as the sentence says:
    /// from the first on, no operation may have removed its element before the second was called,
    /// or, if that is too late to matter, before the operation returned.
    fn is_covered(&self, operation: usize, pairs: &[(usize, usize)]) -> bool {
        let spans = self.whole.spans();
        // Everything up to here is covered.
        let mut until = spans[operation].call();
        for &(first, last) in pairs {
            let element = self.element(first);
            let is_about = self.may_remove(last, element) || self.finds(last) == Some(element);
            if !self.shows_presence(first) || until < spans[first].end() || first != last && !is_about {
                return false;
            }
            let end = match first == last {
                true => spans[operation].end(),
                false => spans[last].call().min(spans[operation].end()),
            };
            let removes = |at: usize| {
                at != operation
                    && self.may_remove(at, element)
                    && !self.precedes(at, first)
                    && spans[at].call() < end
            };
            if self.all().any(removes) {
                return false;
            }
            until = until.max(end);
        }
        spans[operation].end() <= until
    }

    /// The element that the operation found and left there.
    fn finds(&self, at: usize) -> Option<u32> {
        (self.kind(at) == RoleKind::Observe).then(|| self.element(at))
    }
}

/// The element that the operation adds or writes, if it does.
fn put(roles: &Roles, at: usize) -> Option<u32> {
    match roles.kinds[at] {
        RoleKind::Add => Some(roles.elements[at]),
        RoleKind::Replace => Some(roles.seconds[at]),
        RoleKind::Remove
        | RoleKind::Observe
        | RoleKind::Absent
        | RoleKind::Empty
        | RoleKind::RemoveUnknown
        | RoleKind::NoEffect => None,
    }
}

/// Whether each operation is named once, where operations are counted. Where they come in pairs,
/// one may be in two of them.
fn is_named_once(rule: Rule, operations: &[usize]) -> bool {
    let named: HashSet<usize> = operations.iter().copied().collect();
    let is_counted = matches!(
        rule,
        Rule::TakenOnce
            | Rule::Often { .. }
            | Rule::OftenSince { .. }
            | Rule::AddedAgain { .. }
            | Rule::RemovedAgain { .. }
            | Rule::Left { .. }
            | Rule::ReplacedOnce
    );
    !is_counted || named.len() == operations.len()
}

/// The last `number` operations, and those before them.
fn split_last(operations: &[usize], number: u32) -> Option<(&[usize], &[usize])> {
    operations.split_at_checked(operations.len().checked_sub(number as usize)?)
}

/// Pairs of operations. An end that is missing, or called too late to matter, is the beginning.
fn in_pairs(operations: &[usize]) -> Option<Vec<(usize, usize)>> {
    (!operations.is_empty()).then(|| operations.chunks(2).map(|it| (it[0], it[it.len() - 1])).collect())
}

/// Which operation had returned before which was called, according to the rule.
fn in_real_time(rule: Rule, operations: &[usize]) -> Vec<Claim> {
    let places: &[(usize, usize)] = match (rule, operations.len()) {
        (Rule::Chain, _) | (Rule::OneInFront, 3) => &[(0, 1)],
        (Rule::OneInFront, 4..) | (Rule::OneAtATime, _) => &[(0, 1), (2, 3)],
        (Rule::FrontInTurn | Rule::LastInFirstOut, 6..) => &[(0, 1), (2, 3), (4, 5)],
        (Rule::FrontInTurn | Rule::LastInFirstOut, _) => &[(0, 1), (2, 3)],
        (_, _) => &[],
    };
    let claim =
        |&(one, other): &(usize, usize)| Some(Claim::Before(*operations.get(one)?, *operations.get(other)?));
    places.iter().filter_map(claim).collect()
}

#[cfg(test)]
pub(super) mod tests;
