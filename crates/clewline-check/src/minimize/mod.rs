//! Cores: the few operations of a violation that cannot be ordered.
//!
//! A search that fails has looked at every operation; its reader should not have to. What cannot be ordered
//! among fewer operations cannot be ordered among all, as long as leaving an operation out never makes a
//! good history bad. Four ways of saying less have that property:
//!
//! * *Cutting*: what happened after some return is forgotten. A prefix of a good history is good.
//! * *Opening*: what happened before an operation that [resets](clewline_core::Specification::resets) the object is
//!   forgotten, or before one that [tells](clewline_core::Specification::determines_state) what it is like: then that is where the rest begins.
//!   Whoever overlaps it gets a chance, see below; a read among them can go. The operation itself belongs to the
//!   core: to say less about it is to give a chance to it and to all that were forgotten.
//!   Where that does not lead to a small core, only *doubt* is cast on whoever overlaps it: what came before the opening need not
//!   have happened after it, but if it did, then in its time and with its answer.
//! * *Leaving operations out*, if their [`Footprint`](clewline_core::Footprint) allows: a read alone; all
//!   operations on an element together, from when it came until it was certainly gone.
//! * *Giving an operation a chance*: it may have happened at any time, with any answer, or not at all. This is
//!   sound for every operation of every specification.
//!
//! Each only ever makes a problem easier to satisfy. So what is violated after it was violated before; and what
//! holds after it holds also when still less is said, so that whoever could not be spared once can never be:
//! one pass over the operations finds a set of which none can be spared ("minimal"). Blocks of operations are
//! tried first, from large to small, so that a long history shrinks in a logarithmic number of rounds.
//!
//! Attempts are given up early at first. If some were, and there is a budget left, everything is tried again with
//! more patience.
//!
//! Source: the blocks are those of delta debugging (A. Zeller and R. Hildebrandt, 2002).
//! Cost: a search for each attempt, all together within a given number of configurations. Where that does not
//! suffice the core is larger than need be, and says so.

use std::collections::HashSet;

use clewline_core::{
    Budget, Explanation, ObjectKind, OperationId, Problem, Retain, RoleKind, Span, Verdict, Violation,
};

use crate::{
    checker::Checker,
    monitor,
    options::Options,
    search::{jit_graph::JitGraph, queue_oriented::QueueOriented},
};

mod focus;
mod opened;
mod opening;
mod rules;
mod shortcuts;
mod units;

use opened::{Opening, Overlap};
use shortcuts::QuickVerdict;
use units::{comes_and_goes, lives, reads};

pub(crate) use shortcuts::refute;

/// How many configurations an attempt may visit at first, and how many times as many when it was not enough.
const ATTEMPT: u64 = 5_000;
const PATIENCE: u64 = 10;

/// The least that all attempts may take, for each operation.
const PER_OPERATION: u64 = 50;

/// With so many operations that may have happened at any time, a configuration takes about twice as long. Equal ones count once: the first of
/// them is tried.
const OPEN: u64 = 16;

/// An attempt among many chances may take this share of what is left.
const SHARE: u64 = 8;

/// Among many chances each configuration is compared with those that made other use of them: with so many in the time that it takes by itself.
const COMPARED: u64 = 256;

/// So many operations are seen at a glance while one configuration is visited.
const GLANCES: u64 = 64;

/// No attempt may hold more than this many bytes: states of a long queue are large, and an attempt that takes so much is not worth it.
const BYTES: usize = 256 << 20;

/// A core of more operations than this is looked for once more, with doubts.
const LARGE: usize = 12;

/// The core that a broken rule names is searched if it has no more operations than this.
const SEARCHED: usize = 100_000;

/// Shrinks the core of a violation of `problem`, and says what is wrong with it.
pub(crate) fn shrink(problem: &Problem<'_>, violation: Violation, options: &Options) -> Violation {
    if options.counterexample_configurations == 0 {
        return violation;
    }
    match violation.explanation {
        Explanation::Exhausted { next, .. } => {
            smallest(problem, next, options).into_violation(problem, violation, options)
        }
        // To a sum everything adds, but since an earlier answer only little.
        Explanation::Broken { .. } if problem.kind() == Some(ObjectKind::Counter) => {
            let next = last(problem, &violation);
            smallest(problem, next, options).into_violation(problem, violation, options)
        }
        // Whoever found the rule broken knows who breaks it; it remains to be seen who can be spared.
        Explanation::Broken { .. } if SEARCHED < violation.counterexample.len() => violation,
        Explanation::Broken { .. } => {
            let is_kept =
                |at: usize| violation.counterexample.binary_search(&problem.operations()[at]).is_ok();
            let core = problem.weaken(|at| if is_kept(at) { Retain::All } else { Retain::Drop });
            let budget = options.budget.child().with_configurations(1 << 20).with_quota(BYTES);
            match decide(&core, &budget) {
                Verdict::Violated(found) => {
                    let next = last(&core, &found);
                    smallest(&core, next, options).into_violation(problem, violation, options)
                }
                Verdict::Holds(_) => {
                    debug_assert!(false, "a broken rule is broken by its core alone: {core:?}");
                    violation
                }
                Verdict::Unknown(_) => violation,
            }
        }
    }
}

/// Says as little as it takes to violate, in the way that leaves less.
fn smallest<'a>(problem: &'a Problem<'a>, next: OperationId, options: &Options) -> Shrinking<'a> {
    let first = Shrinking::run(problem, next, Overlap::Chance, options);
    if first.core().count() <= LARGE {
        return first;
    }
    let second = Shrinking::run(problem, next, Overlap::Doubt, options);
    let size = |it: &Shrinking<'_>| (!it.is_minimal, it.core().count());
    if size(&second) < size(&first) { second } else { first }
}

/// Searches: a queue as a queue, which the other search may not be able to, as long as nothing forbids it. Where neither
/// gets on, a monitor may; but who may have taken what is a long story. For a set it never is.
fn decide(problem: &Problem<'_>, budget: &Budget) -> Verdict {
    if problem.kind() == Some(ObjectKind::Set)
        && let Ok(verdict) = monitor::decide_weaker(problem, budget)
    {
        return verdict;
    }
    let is_queue = problem.kind() == Some(ObjectKind::Queue);
    let verdict = if is_queue && QueueOriented.refuses(problem).is_none() {
        QueueOriented.decide(problem, budget)
    } else {
        JitGraph.decide(problem, budget)
    };
    match verdict {
        Verdict::Unknown(reason) if problem.spans().iter().all(|it| !it.is_pending()) => {
            monitor::decide_weaker(problem, budget).unwrap_or(Verdict::Unknown(reason))
        }
        verdict @ (Verdict::Holds(_) | Verdict::Violated(_) | Verdict::Unknown(_)) => verdict,
    }
}

/// The operation with whose return `problem` is certainly violated.
fn last(problem: &Problem<'_>, violation: &Violation) -> OperationId {
    match violation.explanation {
        Explanation::Exhausted { next, .. } => next,
        Explanation::Broken { .. } => {
            let end = |id: &&OperationId| problem.position(**id).and_then(|at| problem.spans()[at].ret());
            *violation.counterexample.iter().max_by_key(end).expect("what is violated has operations")
        }
    }
}

/// How many operations may have happened at any time, equal ones counted once.
fn differently_open(problem: &Problem<'_>) -> u64 {
    let automaton = problem.automaton();
    let labels = automaton.labels().iter().zip(problem.spans()).filter(|it| it.1.is_pending()).map(|it| it.0);
    labels.collect::<HashSet<_>>().len() as u64
}

/// Whether so much is said about an operation that it belongs to the core.
fn is_core(keep: Retain) -> bool {
    match keep {
        Retain::All | Retain::Optional | Retain::CallOnly => true,
        Retain::Unconstrained | Retain::Drop => false,
    }
}

struct Shrinking<'a> {
    problem: &'a Problem<'a>,
    budget: Budget,
    overlap: Overlap,
    // What is said about each operation. Invariant: this much is violated.
    keep: Vec<Retain>,
    // The operation that could not come next when it was last judged.
    next: OperationId,
    // How many configurations an attempt may visit, if it is not longer than that.
    attempt: u64,
    // How many configurations may still be visited, an operation counting as one.
    left: u64,
    is_minimal: bool,
    opening: Option<Opening>,
}

impl<'a> Shrinking<'a> {
    /// Says as little as it takes to violate.
    fn run(problem: &'a Problem<'a>, next: OperationId, overlap: Overlap, options: &Options) -> Self {
        // Judging anew takes at least a configuration an operation, however little is left out.
        // Of a counter hardly anything can be spared, as everything adds to the sum. Doubts are for what is near.
        let is_short = problem.kind() == Some(ObjectKind::Counter) || overlap == Overlap::Doubt;
        let each = if is_short { 0 } else { PER_OPERATION };
        let enough = |operations: usize| options.counterexample_configurations.max(each * operations as u64);
        let mut shrinking = Shrinking {
            problem,
            budget: options.budget.child(),
            overlap,
            keep: vec![Retain::All; problem.len()],
            next,
            // Few attempts leave out much; they are worth more patience than the many that follow.
            attempt: ATTEMPT * PATIENCE,
            left: enough(problem.len()),
            is_minimal: true,
            opening: None,
        };
        // Where lives are told apart, little is left without looking at what happened when; elsewhere reads may tell where to begin.
        if comes_and_goes(problem) {
            shrinking.focus();
        }
        shrinking.zoom();
        shrinking.cut();
        let is_left = |it: &&Retain| **it != Retain::Drop;
        let most = enough(shrinking.keep.iter().filter(is_left).count()).min(shrinking.left);
        shrinking.left = most;
        // The answers of a counter are reads, each of which tells the sum.
        if problem.kind() != Some(ObjectKind::Counter) {
            shrinking.focus();
        }
        if comes_and_goes(problem) {
            shrinking.clear();
        }
        shrinking.open();
        shrinking.attempt = ATTEMPT;
        loop {
            shrinking.is_minimal = true;
            let told = shrinking.keep.clone();
            // Elements go first: there are fewer of them.
            shrinking.pass(lives, Retain::Drop);
            shrinking.pass(reads, Retain::Drop);
            // With the reads gone that see everything, elements may be free to go.
            shrinking.pass(lives, Retain::Drop);
            shrinking.cut();
            shrinking.single();
            // Whoever is asked by itself, below, need not be known to be needed together with others.
            shrinking.is_minimal = true;
            shrinking.close();
            shrinking.pass(|problem| (0..problem.len()).map(|at| vec![at]).collect(), Retain::Unconstrained);
            // Who has only a chance may no longer hold an element.
            if told != shrinking.keep && shrinking.left != 0 {
                continue;
            }
            if shrinking.is_minimal || shrinking.left == 0 || most <= shrinking.attempt {
                return shrinking;
            }
            shrinking.attempt = (shrinking.attempt * PATIENCE).min(most);
        }
    }

    /// The positions of the core.
    fn core(&self) -> impl Iterator<Item = usize> {
        (0..self.keep.len()).filter(|&at| is_core(self.keep[at]))
    }

    /// The violation of what is still said, given how it was found in the `whole` problem.
    fn into_violation(self, whole: &Problem<'_>, found: Violation, options: &Options) -> Violation {
        let are = |is_it: fn(Retain) -> bool| -> Vec<OperationId> {
            let positions = (0..self.keep.len()).filter(|&at| is_it(self.keep[at]));
            positions.map(|at| self.problem.operations()[at]).collect()
        };
        let core = are(is_core);
        let weak = self.weaker(&self.keep, self.opening.as_ref());
        let why = rules::why(whole, &weak, &core, &found.explanation, &options.budget).map(Box::new);
        let mut violation = Violation::found(core, found.explanation);
        violation.pending = are(|it| it == Retain::CallOnly).into();
        // Without the only one there is nothing to be ordered.
        violation.is_minimal = self.is_minimal || violation.counterexample.len() == 1;
        violation.unconstrained = are(|it| it == Retain::Unconstrained).into();
        violation.why = why;
        violation
    }

    /// Forgets what happened after some return, as early a one as can be found quickly.
    ///
    /// A prefix of a good history is good. The search gives a hint where to cut, but only a hint: it knew the
    /// answers of operations that return later.
    fn cut(&mut self) {
        let spans = self.problem.spans();
        let is_whole = |at: &usize| matches!(self.keep[*at], Retain::All | Retain::Optional);
        let mut ranks: Vec<u32> =
            (0..spans.len()).filter(is_whole).filter_map(|at| spans[at].ret()).collect();
        // What comes before the opening rests on its return.
        let first = self.opening.as_ref().map_or(0, |it| spans[it.start].end());
        ranks.retain(|&it| first < it);
        ranks.sort_unstable();
        let hint = self.hint();
        let mut place = ranks.partition_point(|&it| it < hint);
        let mut stride = 1;
        while place < ranks.len() && self.left != 0 {
            let keep = self.until(ranks[place]);
            if keep == self.keep || self.attempt(keep) == Attempt::Violated {
                return;
            }
            place += stride;
            stride *= 2;
        }
    }

    /// What is said about what happened up to the return of rank `last`.
    fn until(&self, last: u32) -> Vec<Retain> {
        let cut = |(&keep, span): (&Retain, &Span)| match keep {
            Retain::All | Retain::Optional | Retain::CallOnly if last < span.call() => Retain::Drop,
            Retain::All | Retain::Optional if last < span.end() && !span.is_pending() => Retain::CallOnly,
            Retain::All | Retain::Optional | Retain::CallOnly | Retain::Unconstrained | Retain::Drop => keep,
        };
        self.keep.iter().zip(self.problem.spans()).map(cut).collect()
    }

    /// Gives a chance to all who found or missed something, but for the one that cannot come next: often it alone shows that too much, or too
    /// little, was put there.
    fn single(&mut self) {
        let Ok(roles) = self.problem.roles() else { return };
        let start = self.opening.as_ref().map(|it| it.start);
        let is_other = |at: usize| {
            let finds = match roles.kinds[at] {
                RoleKind::Remove
                | RoleKind::Observe
                | RoleKind::Absent
                | RoleKind::Empty
                | RoleKind::Replace => true,
                RoleKind::Add | RoleKind::RemoveUnknown | RoleKind::NoEffect => false,
            };
            finds && self.problem.operations()[at] != self.next && Some(at) != start
        };
        let less = |at: usize| {
            if is_core(self.keep[at]) && is_other(at) { Retain::Unconstrained } else { self.keep[at] }
        };
        let keep: Vec<Retain> = (0..self.keep.len()).map(less).collect();
        if keep != self.keep && 1 < self.core().count() {
            self.attempt(keep);
        }
    }

    /// When it was last known to be violated.
    fn hint(&self) -> u32 {
        self.problem.position(self.next).map_or(u32::MAX, |at| self.problem.spans()[at].end())
    }

    /// Says only `less` about as many as possible of the sets of operations that `units` names.
    ///
    /// Blocks of units are tried first, from large to small.
    fn pass(&mut self, units: impl Fn(&Problem<'_>) -> Vec<Vec<usize>>, less: Retain) {
        let mut size = usize::MAX;
        while size != 1 {
            let units = self.units(&units);
            size = if size == usize::MAX { units.len() } else { size }.div_ceil(2).max(1);
            for block in units.chunks(size) {
                if self.left == 0 {
                    self.is_minimal = false;
                    return;
                }
                let mut keep = self.keep.clone();
                block.iter().flatten().for_each(|&at| keep[at] = less);
                // If a single unit could not be judged, nobody knows whether it is needed.
                let is_undecided = self.attempt(keep) == Attempt::Undecided;
                self.is_minimal &= !(is_undecided && size == 1);
            }
        }
    }

    /// The units that there are now, as positions in the whole problem.
    fn units(&self, units: impl Fn(&Problem<'_>) -> Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let positions: Vec<usize> =
            (0..self.keep.len()).filter(|&at| self.keep[at] != Retain::Drop).collect();
        // Taken from what is still said: an operation whose return is forgotten may see more than it did.
        let now = self.weaker(&self.keep, self.opening.as_ref());
        let mut units = units(&now);
        units.iter_mut().flatten().for_each(|at| *at = positions[*at]);
        let start = self.opening.as_ref().map(|it| it.start);
        units.retain(|unit| unit.iter().any(|&at| is_core(self.keep[at])));
        // The opening is not spared by itself.
        units.retain(|unit| unit.iter().all(|&at| Some(at) != start));
        units
    }

    /// Says only as much as `keep`, if that is still violated.
    fn attempt(&mut self, keep: Vec<Retain>) -> Attempt {
        let opening = self.opening.clone();
        let (attempt, next) = self.judge(&keep, opening.as_ref());
        if attempt == Attempt::Violated {
            self.keep = keep;
            self.next = next;
        }
        attempt
    }

    /// What is said as much as `keep` about, since `opening`.
    fn weaker(&self, keep: &[Retain], opening: Option<&Opening>) -> Problem<'a> {
        let weaker = self.problem.weaken(|at| keep[at]);
        match opening.and_then(|it| it.state.as_ref()) {
            Some(state) => weaker.starting_at(state),
            None => weaker,
        }
    }

    /// Whether it holds even if more is said about those who have a chance already: that they happened as they did, or not at all. A search
    /// among few chances is short.
    fn holds_as_told(&mut self, keep: &[Retain], opening: Option<&Opening>) -> bool {
        const FEW: usize = 4;
        let is_old =
            |at: &usize| keep[*at] == Retain::Unconstrained && self.keep[*at] == Retain::Unconstrained;
        let old: Vec<usize> = (0..keep.len()).filter(is_old).collect();
        if old.len() < FEW {
            return false;
        }
        [Retain::All, Retain::Drop].into_iter().any(|more| {
            let mut said = keep.to_vec();
            old.iter().for_each(|&at| said[at] = more);
            let stronger = self.weaker(&said, opening);
            let operations = stronger.len() as u64;
            let before = self.budget.visited();
            let most = ATTEMPT.min(8 * operations + 1);
            let budget = self.budget.child().with_configurations(most).with_quota(BYTES);
            let verdict = decide(&stronger, &budget);
            let spent = self.budget.visited() - before + operations;
            self.left = self.left.saturating_sub(spent);
            matches!(verdict, Verdict::Holds(_))
        })
    }

    /// What becomes of saying only as much as `keep`, and the operation that shows it.
    fn judge(&mut self, keep: &[Retain], opening: Option<&Opening>) -> (Attempt, OperationId) {
        if self.left == 0 {
            return (Attempt::Undecided, self.next);
        }
        let weaker = self.weaker(keep, opening);
        let operations = weaker.len() as u64;
        let told = opening.filter(|it| it.state.is_some()).map(|it| self.problem.operations()[it.start]);
        let told = told.and_then(|it| weaker.position(it));
        if let Some(glance) = self.problem.kind().and_then(|kind| shortcuts::judge(&weaker, kind, told)) {
            self.left = self.left.saturating_sub(1 + operations / GLANCES);
            return match glance {
                QuickVerdict::Violated(next) => (Attempt::Violated, next),
                QuickVerdict::Holds => (Attempt::Holds, self.next),
            };
        }
        if self.holds_as_told(keep, opening) {
            return (Attempt::Holds, self.next);
        }
        let open = weaker.spans().iter().filter(|it| it.is_pending()).count() as u64;
        let weight = 1 + if open < OPEN { 0 } else { differently_open(&weaker) / OPEN };
        let least = 4 * (operations - open) + 1;
        // What would take all that is left is not worth it.
        if self.left / SHARE < least.saturating_mul(weight) {
            self.left = self.left.saturating_sub(operations);
            return (Attempt::Undecided, self.next);
        }
        // Each may be compared with all before it, so the time grows with their square.
        let comparable = if open < OPEN { u64::MAX } else { (self.left / SHARE * COMPARED).isqrt() };
        let most = (self.attempt / weight).min(comparable).max(least);
        let budget = self.budget.child().with_configurations(most).with_quota(BYTES);
        let before = self.budget.visited();
        let verdict = decide(&weaker, &budget);
        let visited = self.budget.visited() - before;
        let compared = if open < OPEN { 0 } else { visited.saturating_mul(visited) / COMPARED };
        let spent = visited.saturating_mul(weight).saturating_add(compared) + operations;
        self.left = self.left.saturating_sub(spent);
        match verdict {
            Verdict::Violated(violation) => (Attempt::Violated, last(&weaker, &violation)),
            Verdict::Holds(_) => (Attempt::Holds, self.next),
            Verdict::Unknown(_) => (Attempt::Undecided, self.next),
        }
    }
}

/// What became of an attempt to say less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    /// It is enough.
    Violated,
    /// It is too little.
    Holds,
    /// It was given up.
    Undecided,
}

#[cfg(test)]
mod tests;
