//! Counterexamples: the few operations of a violation that cannot be ordered.
//!
//! A search that fails has looked at every operation; its reader should not have to. What cannot be
//! ordered among fewer operations cannot be ordered among all, as long as leaving an operation out
//! never makes a linearizable history violated. Four ways of weakening a problem have that
//! property:
//!
//! * *Cutting*: what happened after some return is dropped. A prefix of a linearizable history is
//!   linearizable.
//! * *Opening*: what happened before an operation that
//!   [resets](clewline_core::Specification::resets) the object is dropped, or before one that
//!   [determines](clewline_core::Specification::determines_state) its state: then the rest begins
//!   in that state. An operation that overlaps it becomes unconstrained, see below; a read among
//!   them can be dropped. The opening itself belongs to the counterexample: to weaken it means to
//!   make it and all dropped operations unconstrained. Where that does not lead to a small
//!   counterexample, operations that overlap the opening only become *optional*: one that took
//!   effect before the opening is left out, but one that took effect after it keeps its interval
//!   and its result.
//! * *Dropping operations*, if their [`Footprint`](clewline_core::Footprint) allows: a read alone;
//!   all operations on an element together, from when it was added until it was certainly gone.
//! * *Making an operation unconstrained*: it may have taken effect at any time, with any result, or
//!   not at all. This is sound for every operation of every specification.
//!
//! Each only makes a problem easier to satisfy. So what is violated after it was violated before;
//! and what holds after it still holds when weakened further, so that an operation that could not
//! be spared once can never be: one pass over the operations finds a set of which none can be
//! spared ("minimal"). Blocks of operations are tried first, from large to small, so that a long
//! history shrinks in a logarithmic number of rounds.
//!
//! Attempts are given up early at first. If some were, and there is budget left, everything is
//! tried again with more configurations per attempt.
//!
//! A set that is read as a whole needs none of that: what judges it names the few operations and
//! the few elements that they are about (`grow_only`).
//!
//! What is left is a candidate. `proof` has the definition of a counterexample, and judges the
//! candidate by itself; `claims` compares what is said about it with the history.
//!
//! Source: the blocks are those of delta debugging (A. Zeller and R. Hildebrandt, 2002). Cost: a
//! search for each attempt, all together within a given number of configurations. Where that does
//! not suffice the candidate is larger than necessary.

use std::collections::HashSet;

use clewline_core::{
    Budget, Explanation, ObjectKind, OperationId, Problem, Retain, RoleKind, Span, Verdict, Violation,
};
use clewline_monitor as monitor;
use clewline_search::{
    Checker, decide_by_kind, few_states,
    jit_graph::JitGraph,
    prefix::{first_failing_return, until},
};

use crate::options::JudgeOptions;

mod claims;
mod counting;
mod focus;
mod grow_only;
mod opened;
mod opening;
mod proof;
mod prover;
mod rules;
mod shortcuts;
mod units;

use opened::{Opening, Overlap};
use proof::prove;
use shortcuts::QuickVerdict;
use units::{comes_and_goes, lives, reads};

pub(crate) use shortcuts::refute;

/// How many configurations an attempt may visit at first, and the factor by which that grows when
/// it was not enough.
const ATTEMPT_CONFIGS: u64 = 5_000;
const RETRY_CONFIGS_FACTOR: u64 = 10;

/// How many configurations each search for the failure point may visit, and for each operation of
/// the history.
const FAILING_CONFIGS: u64 = 1 << 14;
const FAILING_CONFIGS_PER_OPERATION: u64 = 2;

/// How many configurations the proof of a counterexample may visit, and for each operation that was
/// found.
const PROOF_CONFIGS: u64 = 1 << 15;
const PROOF_CONFIGS_PER_OPERATION: u64 = 1 << 8;

/// The least number of configurations for all attempts, per operation.
const TOTAL_CONFIGS_PER_OPERATION: u64 = 50;

/// With each further group of this many unconstrained operations, a configuration takes about twice
/// as long. Equal operations count once: the first of them is tried.
const COST_DOUBLING_OPTIONAL_OPERATIONS: u64 = 16;

/// An attempt with many unconstrained operations may take one part in this many of what is left.
const BUDGET_SHARE_PER_ATTEMPT: u64 = 8;

/// With many unconstrained operations, each configuration is compared with those that used other
/// ones. This many comparisons take as long as the configuration itself.
const COMPARISONS_PER_CONFIG: u64 = 256;

/// Shortcuts process this many operations in the time of one configuration.
const SHORTCUT_OPERATIONS_PER_CONFIG: u64 = 64;

/// No attempt may use more than this many bytes: states of a long queue are large, and such an
/// attempt is not worth it.
const ATTEMPT_BYTES_MAX: usize = 256 << 20;

/// A counterexample of more operations than this is minimized once more, with optional operations.
const RETRIED_COUNTEREXAMPLE_OPERATIONS_MIN: usize = 12;

/// The counterexample that a broken rule names is minimized if it has no more operations than this.
const MINIMIZED_OPERATIONS_MAX: usize = 100_000;

/// Minimizes the counterexample of a violation of `problem`, proves it, and explains it.
pub(crate) fn shrink(problem: &Problem<'_>, violation: Violation, options: &JudgeOptions) -> Violation {
    if options.counterexample_configurations == 0 {
        return violation;
    }
    if let Some(shrunk) = grow_only::shrink(problem, &violation, options) {
        return shrunk;
    }
    let mut candidates = vec![candidate(problem, &violation, options)];
    let failing = failing_prefix(problem, &candidates[0], options);
    // Another operation may go wrong before the one that was found: the report blames the first.
    if let Some((next, prefix)) = &failing {
        if last_to_return(problem, &candidates[0]) != Some(*next) {
            candidates[0] = smallest(prefix, *next, options).operations();
            if let Err(place) = candidates[0].binary_search(next) {
                candidates[0].insert(place, *next);
            }
        }
        candidates.extend(counting::changed_too_often(prefix, *next));
    }
    let until = failing.as_ref().map_or(problem, |it| &it.1);
    let most = candidates.iter().map(Vec::len).max().unwrap_or(0) as u64;
    let configurations = PROOF_CONFIGS.max(PROOF_CONFIGS_PER_OPERATION * most);
    let budget = options.budget.child().with_quota(ATTEMPT_BYTES_MAX);
    let budget = budget.with_configurations(options.counterexample_configurations.min(configurations));
    let proven = prove(until, &candidates, failing.is_some(), &budget);
    let explained = rules::explain(problem, &proven, &violation.explanation, &options.budget);
    let core = proven.core.iter().map(|&at| proven.prefix.operations()[at]).collect();
    let mut violation = Violation::found(core, violation.explanation);
    // Claims that are true of the history may be a proof as well. Without a single operation there
    // is nothing to contradict.
    violation.is_verified = proven.is_verified || explained.as_ref().is_some_and(|it| it.is_proof);
    violation.is_minimal = proven.is_minimal || violation.is_verified && violation.counterexample.len() == 1;
    violation.why = explained.map(|it| Box::new(it.why));
    violation
}

/// The failure point, near the last return of what was found: the operation with whose return there
/// is no linearization any more, and the history up to that return. `None` if it cannot be found
/// quickly.
fn failing_prefix<'a>(
    problem: &Problem<'a>,
    found: &[OperationId],
    options: &JudgeOptions,
) -> Option<(OperationId, Problem<'a>)> {
    let configurations = FAILING_CONFIGS.max(FAILING_CONFIGS_PER_OPERATION * problem.len() as u64);
    let configurations = options.counterexample_configurations.min(configurations);
    let budget = options.budget.child().with_configurations(configurations).with_quota(ATTEMPT_BYTES_MAX);
    let near = found.iter().filter_map(|&it| problem.spans()[problem.position(it)?].ret()).max();
    let decide = |prefix: &Problem<'_>| match monitor::decide(prefix, &budget) {
        Ok(verdict) => verdict,
        Err(_) => decide(prefix, &budget),
    };
    let rank = first_failing_return(problem, near, decide).ok()?;
    let at = problem.spans().iter().position(|it| it.ret() == Some(rank))?;
    Some((problem.operations()[at], until(problem, rank)))
}

/// The operations of a small counterexample, still to be proven.
fn candidate(problem: &Problem<'_>, violation: &Violation, options: &JudgeOptions) -> Vec<OperationId> {
    match violation.explanation {
        Explanation::Exhausted { next, .. } => smallest(problem, next, options).operations(),
        // Everything adds to a sum, but only a few operations since an earlier read.
        Explanation::Broken { .. } if problem.kind() == Some(ObjectKind::Counter) => {
            smallest(problem, last(problem, violation), options).operations()
        }
        // The monitor that found the rule broken names its operations; it remains to drop those
        // that can be spared.
        Explanation::Broken { .. } if MINIMIZED_OPERATIONS_MAX < violation.counterexample.len() => {
            violation.counterexample.clone()
        }
        Explanation::Broken { .. } => {
            let is_kept =
                |at: usize| violation.counterexample.binary_search(&problem.operations()[at]).is_ok();
            let core = problem.weaken(|at| if is_kept(at) { Retain::All } else { Retain::Drop });
            let budget = options.budget.child().with_configurations(1 << 20).with_quota(ATTEMPT_BYTES_MAX);
            match decide(&core, &budget) {
                Verdict::Violated(found) => {
                    let next = last(&core, &found);
                    smallest(&core, next, options).operations()
                }
                Verdict::Holds(_) => {
                    debug_assert!(false, "a broken rule is broken by its core alone: {core:?}");
                    violation.counterexample.clone()
                }
                Verdict::Unknown(_) => violation.counterexample.clone(),
            }
        }
    }
}

/// Retains as little as it takes to violate, in the way that leaves less.
fn smallest<'a>(problem: &'a Problem<'a>, next: OperationId, options: &JudgeOptions) -> Shrinking<'a> {
    let first = Shrinking::run(problem, next, Overlap::Unconstrained, options);
    if first.counterexample().count() <= RETRIED_COUNTEREXAMPLE_OPERATIONS_MIN {
        return first;
    }
    let second = Shrinking::run(problem, next, Overlap::Optional, options);
    let size = |it: &Shrinking<'_>| (!it.is_minimal, it.counterexample().count());
    if size(&second) < size(&first) { second } else { first }
}

/// Searches: by a search for the kind of object where there is one, as the other search may not
/// finish. Where neither finishes, a monitor may; but assigning elements to pending removals may
/// take it long. For a set it never does.
fn decide(problem: &Problem<'_>, budget: &Budget) -> Verdict {
    if problem.kind() == Some(ObjectKind::Set)
        && let Ok(verdict) = monitor::decide_weaker(problem, budget)
    {
        return verdict;
    }
    let decided = decide_by_kind(problem, budget).or_else(|| few_states::decide(problem, budget));
    let verdict = decided.map(|it| it.1).unwrap_or_else(|| JitGraph.decide(problem, budget));
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
            last_to_return(problem, &violation.counterexample).expect("what is violated has operations")
        }
    }
}

/// The one of these operations that returned last.
fn last_to_return(problem: &Problem<'_>, operations: &[OperationId]) -> Option<OperationId> {
    let end = |id: &OperationId| problem.position(*id).and_then(|at| problem.spans()[at].ret());
    operations.iter().copied().max_by_key(end)
}

/// How many operations are unconstrained; equal ones are counted once.
fn distinct_unconstrained_operations(problem: &Problem<'_>) -> u64 {
    let automaton = problem.automaton();
    let labels = automaton.labels().iter().zip(problem.spans()).filter(|it| it.1.is_pending()).map(|it| it.0);
    labels.collect::<HashSet<_>>().len() as u64
}

/// Whether so much is retained of an operation that it belongs to the counterexample.
fn is_in_counterexample(keep: Retain) -> bool {
    match keep {
        Retain::All | Retain::Optional | Retain::CallOnly => true,
        Retain::Unconstrained | Retain::Drop => false,
    }
}

struct Shrinking<'a> {
    problem: &'a Problem<'a>,
    budget: Budget,
    overlap: Overlap,
    // What is retained of each operation. Invariant: this is violated.
    keep: Vec<Retain>,
    // The operation that could not come next in the last decision.
    next: OperationId,
    // How many configurations an attempt may visit, if the problem has no more operations.
    attempt: u64,
    // How many configurations may still be visited; an operation counts as one.
    left: u64,
    is_minimal: bool,
    opening: Option<Opening>,
}

impl<'a> Shrinking<'a> {
    /// Retains as little as it takes to violate.
    fn run(problem: &'a Problem<'a>, next: OperationId, overlap: Overlap, options: &JudgeOptions) -> Self {
        // Deciding anew takes at least a configuration per operation, however little is dropped. Of
        // a counter hardly anything can be spared, as everything adds to the sum. Optional
        // operations are used near the failure only.
        let is_short = problem.kind() == Some(ObjectKind::Counter) || overlap == Overlap::Optional;
        let each = if is_short { 0 } else { TOTAL_CONFIGS_PER_OPERATION };
        let enough = |operations: usize| options.counterexample_configurations.max(each * operations as u64);
        let mut shrinking = Shrinking {
            problem,
            budget: options.budget.child(),
            overlap,
            keep: vec![Retain::All; problem.len()],
            next,
            // The first few attempts drop much; they may take longer than the many that follow.
            attempt: ATTEMPT_CONFIGS * RETRY_CONFIGS_FACTOR,
            left: enough(problem.len()),
            is_minimal: true,
            opening: None,
        };
        // Where elements have lives, little is left without considering times; elsewhere reads may
        // show where to begin.
        if comes_and_goes(problem) {
            shrinking.focus();
        }
        shrinking.zoom();
        shrinking.cut();
        let is_left = |it: &&Retain| **it != Retain::Drop;
        let most = enough(shrinking.keep.iter().filter(is_left).count()).min(shrinking.left);
        shrinking.left = most;
        // The results of a counter are reads, each of which determines the sum.
        if problem.kind() != Some(ObjectKind::Counter) {
            shrinking.focus();
        }
        if comes_and_goes(problem) {
            shrinking.clear();
        }
        shrinking.open();
        shrinking.attempt = ATTEMPT_CONFIGS;
        loop {
            shrinking.is_minimal = true;
            let before = shrinking.keep.clone();
            // Elements are dropped first: there are fewer of them.
            shrinking.pass(lives, Retain::Drop);
            shrinking.pass(reads, Retain::Drop);
            // Without the reads that observe everything, more elements can be dropped.
            shrinking.pass(lives, Retain::Drop);
            shrinking.cut();
            shrinking.single();
            // Each operation is tried by itself below, so minimality is decided there.
            shrinking.is_minimal = true;
            shrinking.close();
            shrinking.pass(|problem| (0..problem.len()).map(|at| vec![at]).collect(), Retain::Unconstrained);
            // An operation that became unconstrained may no longer need an element.
            if before != shrinking.keep && shrinking.left != 0 {
                continue;
            }
            if shrinking.is_minimal || shrinking.left == 0 || most <= shrinking.attempt {
                return shrinking;
            }
            shrinking.attempt = (shrinking.attempt * RETRY_CONFIGS_FACTOR).min(most);
        }
    }

    /// The positions of the counterexample.
    fn counterexample(&self) -> impl Iterator<Item = usize> {
        (0..self.keep.len()).filter(|&at| is_in_counterexample(self.keep[at]))
    }

    /// The operations whose results matter, in call order.
    fn operations(&self) -> Vec<OperationId> {
        let matters = |at: &usize| matches!(self.keep[*at], Retain::All | Retain::Optional);
        (0..self.keep.len()).filter(matters).map(|at| self.problem.operations()[at]).collect()
    }

    /// Drops what happened after some return, as early a one as can be found quickly.
    ///
    /// A prefix of a linearizable history is linearizable. The search gives only a hint where to
    /// cut: it knew the results of operations that return later.
    fn cut(&mut self) {
        let spans = self.problem.spans();
        let is_whole = |at: &usize| matches!(self.keep[*at], Retain::All | Retain::Optional);
        let mut ranks: Vec<u32> =
            (0..spans.len()).filter(is_whole).filter_map(|at| spans[at].ret()).collect();
        // Cutting before the return of the opening would invalidate the opening.
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

    /// What is retained of the prefix up to the return of rank `last`.
    fn until(&self, last: u32) -> Vec<Retain> {
        let cut = |(&keep, span): (&Retain, &Span)| match keep {
            Retain::All | Retain::Optional | Retain::CallOnly if last < span.call() => Retain::Drop,
            Retain::All | Retain::Optional if last < span.end() && !span.is_pending() => Retain::CallOnly,
            Retain::All | Retain::Optional | Retain::CallOnly | Retain::Unconstrained | Retain::Drop => keep,
        };
        self.keep.iter().zip(self.problem.spans()).map(cut).collect()
    }

    /// Makes all operations that found or missed an element unconstrained, except the one that
    /// cannot come next: often it alone shows that too many, or too few, elements were added.
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
            if is_in_counterexample(self.keep[at]) && is_other(at) {
                Retain::Unconstrained
            } else {
                self.keep[at]
            }
        };
        let keep: Vec<Retain> = (0..self.keep.len()).map(less).collect();
        if keep != self.keep && 1 < self.counterexample().count() {
            self.attempt(keep);
        }
    }

    /// The return at which the problem was last known to be violated.
    fn hint(&self) -> u32 {
        self.problem.position(self.next).map_or(u32::MAX, |at| self.problem.spans()[at].end())
    }

    /// Weakens as many as possible of the sets of operations that `units` returns to `less`.
    ///
    /// Blocks of units are tried first, from large to small.
    fn pass(&mut self, units: impl Fn(&Problem<'_>) -> Vec<Vec<usize>>, less: Retain) {
        let mut size = usize::MAX;
        while size != 1 {
            if self.left == 0 {
                self.is_minimal = false;
                return;
            }
            let units = self.units(&units);
            size = if size == usize::MAX { units.len() } else { size }.div_ceil(2).max(1);
            for block in units.chunks(size) {
                if self.left == 0 {
                    self.is_minimal = false;
                    return;
                }
                let mut keep = self.keep.clone();
                block.iter().flatten().for_each(|&at| keep[at] = less);
                // If a single unit could not be decided, it is unknown whether it is needed.
                let is_undecided = self.attempt(keep) == Attempt::Undecided;
                self.is_minimal &= !(is_undecided && size == 1);
            }
        }
    }

    /// The current units, as positions in the whole problem.
    fn units(&self, units: impl Fn(&Problem<'_>) -> Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let positions: Vec<usize> =
            (0..self.keep.len()).filter(|&at| self.keep[at] != Retain::Drop).collect();
        // Computed from what is retained: an operation whose return was dropped may observe more
        // than it did.
        let now = self.weaker(&self.keep, self.opening.as_ref());
        let mut units = units(&now);
        units.iter_mut().flatten().for_each(|at| *at = positions[*at]);
        let start = self.opening.as_ref().map(|it| it.start);
        units.retain(|unit| unit.iter().any(|&at| is_in_counterexample(self.keep[at])));
        // The opening is not spared by itself.
        units.retain(|unit| unit.iter().all(|&at| Some(at) != start));
        units
    }

    /// Retains only `keep`, if that is still violated.
    fn attempt(&mut self, keep: Vec<Retain>) -> Attempt {
        let opening = self.opening.clone();
        let (attempt, next) = self.judge(&keep, opening.as_ref());
        if attempt == Attempt::Violated {
            self.keep = keep;
            self.next = next;
        }
        attempt
    }

    /// The problem that retains `keep`, starting at `opening`.
    fn weaker(&self, keep: &[Retain], opening: Option<&Opening>) -> Problem<'a> {
        let weaker = self.problem.weaken(|at| keep[at]);
        match opening.and_then(|it| it.state.as_ref()) {
            Some(state) => weaker.starting_at(state),
            None => weaker,
        }
    }

    /// Whether it holds even if the unconstrained operations keep their times and results, or are
    /// left out. A search with few optional operations is short.
    fn holds_with_recorded_results(&mut self, keep: &[Retain], opening: Option<&Opening>) -> bool {
        const OPTIONAL_OPERATIONS_MAX: usize = 4;
        let is_old =
            |at: &usize| keep[*at] == Retain::Unconstrained && self.keep[*at] == Retain::Unconstrained;
        let old: Vec<usize> = (0..keep.len()).filter(is_old).collect();
        if old.len() < OPTIONAL_OPERATIONS_MAX {
            return false;
        }
        [Retain::All, Retain::Drop].into_iter().any(|more| {
            let mut said = keep.to_vec();
            old.iter().for_each(|&at| said[at] = more);
            let stronger = self.weaker(&said, opening);
            let operations = stronger.len() as u64;
            let before = self.budget.visited();
            let most = ATTEMPT_CONFIGS.min(8 * operations + 1);
            let budget = self.budget.child().with_configurations(most).with_quota(ATTEMPT_BYTES_MAX);
            let verdict = decide(&stronger, &budget);
            let spent = self.budget.visited() - before + operations;
            self.left = self.left.saturating_sub(spent);
            matches!(verdict, Verdict::Holds(_))
        })
    }

    /// The result of retaining only `keep`, and the operation that shows a violation.
    fn judge(&mut self, keep: &[Retain], opening: Option<&Opening>) -> (Attempt, OperationId) {
        // Preparing an attempt takes time as well, and there may be many.
        if self.budget.allow(0).is_err() {
            self.left = 0;
        }
        if self.left == 0 {
            return (Attempt::Undecided, self.next);
        }
        let weaker = self.weaker(keep, opening);
        let operations = weaker.len() as u64;
        let opening_at =
            opening.filter(|it| it.state.is_some()).map(|it| self.problem.operations()[it.start]);
        let opening_at = opening_at.and_then(|it| weaker.position(it));
        if let Some(quick) = self.problem.kind().and_then(|kind| shortcuts::judge(&weaker, kind, opening_at))
        {
            self.left = self.left.saturating_sub(1 + operations / SHORTCUT_OPERATIONS_PER_CONFIG);
            return match quick {
                QuickVerdict::Violated(next) => (Attempt::Violated, next),
                QuickVerdict::Holds => (Attempt::Holds, self.next),
            };
        }
        if self.holds_with_recorded_results(keep, opening) {
            return (Attempt::Holds, self.next);
        }
        let open = weaker.spans().iter().filter(|it| it.is_pending()).count() as u64;
        let weight = 1 + if open < COST_DOUBLING_OPTIONAL_OPERATIONS {
            0
        } else {
            distinct_unconstrained_operations(&weaker) / COST_DOUBLING_OPTIONAL_OPERATIONS
        };
        let least = 4 * (operations - open) + 1;
        // An attempt that would take all that is left is not worth it.
        if self.left / BUDGET_SHARE_PER_ATTEMPT < least.saturating_mul(weight) {
            self.left = self.left.saturating_sub(operations);
            return (Attempt::Undecided, self.next);
        }
        // Each configuration may be compared with all before it, so the time grows quadratically.
        let comparable = if open < COST_DOUBLING_OPTIONAL_OPERATIONS {
            u64::MAX
        } else {
            (self.left / BUDGET_SHARE_PER_ATTEMPT * COMPARISONS_PER_CONFIG).isqrt()
        };
        let most = (self.attempt / weight).min(comparable).max(least);
        let budget = self.budget.child().with_configurations(most).with_quota(ATTEMPT_BYTES_MAX);
        let before = self.budget.visited();
        let verdict = decide(&weaker, &budget);
        let visited = self.budget.visited() - before;
        let compared = if open < COST_DOUBLING_OPTIONAL_OPERATIONS {
            0
        } else {
            visited.saturating_mul(visited) / COMPARISONS_PER_CONFIG
        };
        let spent = visited.saturating_mul(weight).saturating_add(compared) + operations;
        self.left = self.left.saturating_sub(spent);
        match verdict {
            Verdict::Violated(violation) => (Attempt::Violated, last(&weaker, &violation)),
            Verdict::Holds(_) => (Attempt::Holds, self.next),
            Verdict::Unknown(_) => (Attempt::Undecided, self.next),
        }
    }
}

/// The result of an attempt to retain less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    /// It is still violated.
    Violated,
    /// It holds: too little is retained.
    Holds,
    /// It was given up.
    Undecided,
}

#[cfg(test)]
mod tests;
