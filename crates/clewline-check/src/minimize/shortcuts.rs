//! Verdicts on weakened problems that need no search.
//!
//! An unconstrained operation may take effect anywhere, so a search has to try every choice among
//! them. Five questions need no search:
//!
//! * *Never added*: an operation found an element that no operation adds in time.
//! * *A sum*: the one read of a counter is within reach at some moment, or not at all. Operations
//!   that have returned by then count; those called by then count if that helps.
//! * *One finder*: one operation found an element of a queue, stack or priority queue, or *empty*;
//!   all others only added something or are unconstrained. Elements certainly in its way must be
//!   removed by the unconstrained ones, one each.
//! * *Membership*: a set has a monitor for which unconstrained operations make no difference.
//! * *Copies*: elements of a bag that is never found empty only need to have been added before they
//!   are removed, each once.
//!
//! Verdicts from here are right; other cases are left to a search.
//!
//! Cost: a pass over the operations, and sorting.

use std::cmp::Reverse;

use clewline_core::{Budget, ObjectKind, OperationId, Problem, RoleKind, Roles, Span};
use clewline_monitor::{self as monitor, Columns, MonitorVerdict, Want};

/// A verdict without a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuickVerdict {
    /// Violated: this operation cannot have taken effect.
    Violated(OperationId),
    /// It holds.
    Holds,
}

/// Decides a problem about an object of that kind, if that is easy. `opening` is the position of an
/// operation that determines the initial state.
pub(super) fn judge(problem: &Problem<'_>, kind: ObjectKind, opening: Option<usize>) -> Option<QuickVerdict> {
    let roles = problem.roles().ok()?;
    let view = View { problem, roles };
    match kind {
        ObjectKind::Counter => view.sum(opening),
        ObjectKind::Bag | ObjectKind::Multiset => view.found_but_not_added(None).or_else(|| view.copies()),
        ObjectKind::Register { initial } => view.found_but_not_added(Some(initial)),
        ObjectKind::Queue | ObjectKind::Stack | ObjectKind::PriorityQueue => view
            .found_but_not_added(None)
            .or_else(|| view.one_finder(kind))
            .or_else(|| view.is_of_one_element().then(|| view.copies()).flatten()),
        ObjectKind::Set => by_monitor(problem),
        ObjectKind::Channel | ObjectKind::Deque | ObjectKind::Other(_) => None,
        ObjectKind::QuasiQueue { .. }
        | ObjectKind::QuasiStack { .. }
        | ObjectKind::QuasiPriorityQueue { .. } => view.found_but_not_added(None),
    }
}

/// The verdict of the monitor, which decides sets in one pass, unconstrained operations included.
fn by_monitor(problem: &Problem<'_>) -> Option<QuickVerdict> {
    let (columns, order) = Columns::of_weaker(problem).ok()?;
    match monitor::judge_columns(&columns, Want::Verdict, &Budget::unlimited()).ok()? {
        MonitorVerdict::Holds(_) => Some(QuickVerdict::Holds),
        // The one that had to return and could not.
        MonitorVerdict::Violated(violation) => {
            let at = order[*violation.operations.first()? as usize];
            Some(QuickVerdict::Violated(problem.operations()[at as usize]))
        }
    }
}

/// An operation that cannot have returned its result, if that is easily seen in a whole history: it
/// found an element that was never added, or a copy too many, or *empty* although elements were
/// left. A search would have to try all orders to find that out; a long queue with equal values has
/// too many.
pub(crate) fn refute(problem: &Problem<'_>) -> Option<OperationId> {
    let roles = problem.roles().ok()?;
    let view = View { problem, roles };
    let id = |at: usize| problem.operations()[at];
    let never_added = |initial| match view.found_but_not_added(initial) {
        Some(QuickVerdict::Violated(id)) => Some(id),
        Some(QuickVerdict::Holds) | None => None,
    };
    match problem.kind()? {
        ObjectKind::Counter | ObjectKind::Channel | ObjectKind::Deque | ObjectKind::Other(_) => None,
        ObjectKind::Register { initial } => never_added(Some(initial)),
        // Each element is added and removed again and again, and no operation finds all of them
        // absent at once.
        ObjectKind::Set | ObjectKind::Multiset => never_added(None),
        ObjectKind::Queue
        | ObjectKind::QuasiQueue { .. }
        | ObjectKind::Stack
        | ObjectKind::QuasiStack { .. }
        | ObjectKind::PriorityQueue
        | ObjectKind::QuasiPriorityQueue { .. }
        | ObjectKind::Bag => {
            never_added(None).or_else(|| view.taken_too_often().map(id)).or_else(|| view.not_empty().map(id))
        }
    }
}

/// Whether operations called before `moment` can add up to `missing`, with all that have returned
/// by then, as far as choosing the largest first shows.
fn reaches(adds: &[(Span, i128)], moment: u32, mut missing: i128) -> bool {
    let mut chances: Vec<i128> = Vec::new();
    for &(span, amount) in adds {
        if span.end() < moment {
            missing -= amount;
        } else if span.call() < moment {
            chances.push(amount);
        }
    }
    chances.sort_unstable_by_key(|it| Reverse(it.abs()));
    for amount in chances {
        if amount.signum() == missing.signum() && amount.abs() <= missing.abs() {
            missing -= amount;
        }
    }
    missing == 0
}

struct View<'v> {
    problem: &'v Problem<'v>,
    roles: Roles,
}

impl View<'_> {
    fn is_pending(&self, at: usize) -> bool {
        self.problem.spans()[at].is_pending()
    }

    /// The element that the operation adds or writes, if it does.
    fn put_by(&self, at: usize) -> Option<u32> {
        match self.roles.kinds[at] {
            RoleKind::Add => Some(self.roles.elements[at]),
            RoleKind::Replace => Some(self.roles.seconds[at]),
            RoleKind::Remove
            | RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::NoEffect => None,
        }
    }

    /// Whether an operation found an element that no other operation adds before that. `initial` is
    /// there at first.
    fn found_but_not_added(&self, initial: Option<u64>) -> Option<QuickVerdict> {
        let spans = self.problem.spans();
        // By element: the earliest calls of two operations that add it, since one may be the
        // finder.
        let mut first = vec![[(u32::MAX, usize::MAX); 2]; self.roles.names.len()];
        for (at, span) in spans.iter().enumerate() {
            let Some(element) = self.put_by(at) else { continue };
            let earliest = &mut first[element as usize];
            let put = (span.call(), at);
            if put < earliest[0] {
                *earliest = [put, earliest[0]];
            } else if put < earliest[1] {
                earliest[1] = put;
            }
        }
        let is_invented = |&at: &usize| {
            let is_found = match self.roles.kinds[at] {
                RoleKind::Observe | RoleKind::Remove | RoleKind::Replace => true,
                RoleKind::Add
                | RoleKind::Absent
                | RoleKind::Empty
                | RoleKind::RemoveUnknown
                | RoleKind::NoEffect => false,
            };
            let element = self.roles.elements[at] as usize;
            is_found
                && !self.is_pending(at)
                && initial != Some(self.roles.names[element])
                && first[element].iter().all(|&(call, by)| by == at || spans[at].end() < call)
        };
        let found = (0..spans.len()).filter(is_invented).min_by_key(|&at| spans[at].end())?;
        Some(QuickVerdict::Violated(self.problem.operations()[found]))
    }

    /// Whether the one read of a counter can be reached, from the sum of `opening` or from zero.
    fn sum(&self, opening: Option<usize>) -> Option<QuickVerdict> {
        let spans = self.problem.spans();
        let word = |at: usize| i128::from(self.roles.names[self.roles.elements[at] as usize].cast_signed());
        let is_read = |&at: &usize| {
            self.roles.kinds[at] == RoleKind::Observe && !self.is_pending(at) && Some(at) != opening
        };
        let mut reads = (0..spans.len()).filter(is_read);
        let (Some(late), None) = (reads.next(), reads.next()) else { return None };
        let start = opening.map_or(0, word);
        let adds: Vec<(Span, i128)> = (0..spans.len())
            .filter(|&at| self.roles.kinds[at] == RoleKind::Add)
            .map(|at| (spans[at], word(at)))
            .collect();
        let bounds = |of: &mut dyn Iterator<Item = i128>| {
            of.fold((0, 0), |(least, greatest), it| (least + it.min(0), greatest + it.max(0)))
        };
        // A sum that may wrap around has no bounds.
        let (lowest, highest) = bounds(&mut adds.iter().map(|it| it.1));
        let fits = |it: i128| i64::try_from(it).is_ok();
        if !fits(start + lowest) || !fits(start + highest) {
            return None;
        }
        // Operations that returned before the read was called count, at whichever moment it takes
        // effect.
        let (call, end) = (spans[late].call(), spans[late].end());
        let is_certain = |it: &&(Span, i128)| it.0.end() < call;
        let certain: i128 = adds.iter().filter(is_certain).map(|it| it.1).sum();
        let others = adds.iter().filter(|it| !is_certain(it) && it.0.call() < end);
        let (least, greatest) = bounds(&mut others.map(|it| it.1));
        let missing = word(late) - start;
        if !(certain + least..=certain + greatest).contains(&missing) {
            return Some(QuickVerdict::Violated(self.problem.operations()[late]));
        }
        let is_reached = [call, end].into_iter().any(|moment| reaches(&adds, moment, missing));
        is_reached.then_some(QuickVerdict::Holds)
    }

    /// Whether the unconstrained operations suffice to remove what is in the way of the one
    /// operation that found an element, or *empty*.
    fn one_finder(&self, kind: ObjectKind) -> Option<QuickVerdict> {
        let spans = self.problem.spans();
        let is_open = |at: usize| match self.roles.kinds[at] {
            RoleKind::Add | RoleKind::RemoveUnknown | RoleKind::NoEffect => true,
            RoleKind::Remove | RoleKind::Observe | RoleKind::Absent | RoleKind::Empty | RoleKind::Replace => {
                false
            }
        };
        let mut finders = (0..spans.len()).filter(|&at| !is_open(at));
        let (Some(finder), None) = (finders.next(), finders.next()) else { return None };
        if self.is_pending(finder)
            || (0..spans.len())
                .any(|at| !self.is_pending(at) && self.roles.kinds[at] == RoleKind::RemoveUnknown)
        {
            return None;
        }
        let way = self.elements_in_the_way(kind, finder)?;
        let takers_before = |moment: u32| {
            let takes =
                |&at: &usize| self.roles.kinds[at] == RoleKind::RemoveUnknown && spans[at].call() < moment;
            (0..spans.len()).filter(takes).count()
        };
        // One that is called while the finder is open may have to wait for what is added by then.
        if way <= takers_before(spans[finder].call()) {
            Some(QuickVerdict::Holds)
        } else if takers_before(spans[finder].end()) < way {
            Some(QuickVerdict::Violated(self.problem.operations()[finder]))
        } else {
            None
        }
    }

    /// How many elements have to be removed before `finder` can find its element. Of the operations
    /// that may have added that, the one is chosen for which this is least.
    fn elements_in_the_way(&self, kind: ObjectKind, finder: usize) -> Option<usize> {
        let spans = self.problem.spans();
        let adds = || (0..spans.len()).filter(|&at| self.roles.kinds[at] == RoleKind::Add);
        let priority = |at: usize| self.roles.names[self.roles.elements[at] as usize].cast_signed();
        let is_before = |at: usize| spans[at].precedes(spans[finder]);
        if self.roles.kinds[finder] == RoleKind::Empty {
            return Some(adds().filter(|&at| is_before(at)).count());
        }
        let element = self.roles.elements[finder];
        let adders =
            adds().filter(|&at| self.roles.elements[at] == element && spans[at].call() < spans[finder].end());
        Some(match kind {
            ObjectKind::Queue => {
                let adder = adders.min_by_key(|&at| spans[at].call())?;
                adds().filter(|&at| spans[at].precedes(spans[adder])).count()
            }
            ObjectKind::Stack => {
                let adder = adders.max_by_key(|&at| spans[at].end())?;
                adds().filter(|&at| spans[adder].precedes(spans[at]) && is_before(at)).count()
            }
            ObjectKind::PriorityQueue => {
                let adder = adders.min_by_key(|&at| spans[at].call())?;
                let is_early = |at: usize| is_before(at) || spans[at].precedes(spans[adder]);
                adds().filter(|&at| is_early(at) && priority(finder) < priority(at)).count()
            }
            ObjectKind::Set
            | ObjectKind::QuasiQueue { .. }
            | ObjectKind::QuasiStack { .. }
            | ObjectKind::QuasiPriorityQueue { .. }
            | ObjectKind::Bag
            | ObjectKind::Multiset
            | ObjectKind::Counter
            | ObjectKind::Register { .. }
            | ObjectKind::Channel
            | ObjectKind::Deque
            | ObjectKind::Other(_) => return None,
        })
    }

    /// Whether all elements are copies of one, whatever the container.
    fn is_of_one_element(&self) -> bool {
        let puts = |at: &usize| matches!(self.roles.kinds[*at], RoleKind::Add | RoleKind::Remove);
        let mut elements = (0..self.problem.len()).filter(puts).map(|at| self.roles.elements[at]);
        let first = elements.next();
        elements.all(|it| Some(it) == first)
    }

    /// Whether removed elements were added before, each copy once. Nothing else may be observed.
    fn copies(&self) -> Option<QuickVerdict> {
        let sees_more = |at: usize| match self.roles.kinds[at] {
            RoleKind::Observe | RoleKind::Absent | RoleKind::Empty | RoleKind::Replace => {
                !self.is_pending(at)
            }
            RoleKind::Add | RoleKind::Remove | RoleKind::RemoveUnknown | RoleKind::NoEffect => false,
        };
        if (0..self.problem.len()).any(sees_more) {
            return None;
        }
        let missed = self.taken_too_often();
        Some(missed.map_or(QuickVerdict::Holds, |at| QuickVerdict::Violated(self.problem.operations()[at])))
    }

    /// Of the operations that removed a copy not added by then, if others removed theirs, the one
    /// that returns first.
    fn taken_too_often(&self) -> Option<usize> {
        let spans = self.problem.spans();
        let (mut adds, mut takes) = (Vec::new(), Vec::new());
        for (at, span) in spans.iter().enumerate() {
            match self.roles.kinds[at] {
                RoleKind::Add => adds.push((self.roles.elements[at], span.call())),
                // One that may not have taken effect removes nothing that another one needs.
                RoleKind::Remove if self.is_pending(at) => (),
                RoleKind::Remove => takes.push((self.roles.elements[at], span.end(), at)),
                RoleKind::Observe
                | RoleKind::Absent
                | RoleKind::Empty
                | RoleKind::RemoveUnknown
                | RoleKind::Replace
                | RoleKind::NoEffect => (),
            }
        }
        adds.sort_unstable();
        takes.sort_unstable();
        let mut next = 0;
        let mut missed: Option<(u32, usize)> = None;
        for (element, end, at) in takes {
            // Copies of smaller elements are left over.
            while adds.get(next).is_some_and(|it| it.0 < element) {
                next += 1;
            }
            match adds.get(next) {
                Some(&(it, call)) if it == element && call < end => next += 1,
                Some(_) | None => missed = Some(missed.map_or((end, at), |it| it.min((end, at)))),
            }
        }
        missed.map(|it| it.1)
    }

    /// Of the operations that returned *empty* although more was added than can have been removed
    /// by then, the one that returns first.
    fn not_empty(&self) -> Option<usize> {
        let spans = self.problem.spans();
        let (mut added, mut taken) = (Vec::new(), Vec::new());
        for (at, span) in spans.iter().enumerate() {
            match self.roles.kinds[at] {
                RoleKind::Add if !self.is_pending(at) => added.push(span.end()),
                RoleKind::Remove | RoleKind::RemoveUnknown => taken.push(span.call()),
                RoleKind::Add
                | RoleKind::Observe
                | RoleKind::Absent
                | RoleKind::Empty
                | RoleKind::Replace
                | RoleKind::NoEffect => (),
            }
        }
        added.sort_unstable();
        taken.sort_unstable();
        let before = |all: &[u32], moment: u32| all.partition_point(|&it| it < moment);
        let is_wrong = |at: &usize| {
            let is_empty = self.roles.kinds[*at] == RoleKind::Empty && !self.is_pending(*at);
            is_empty && before(&taken, spans[*at].end()) < before(&added, spans[*at].call())
        };
        (0..spans.len()).filter(is_wrong).min_by_key(|&at| spans[at].end())
    }
}
