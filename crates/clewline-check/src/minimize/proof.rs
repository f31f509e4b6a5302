//! The proof of a counterexample: it is judged by itself, by a search that shares nothing with what
//! found it but the automaton of the specification.
//!
//! The *definition*: a set of operations is a *counterexample* if the history up to the last return
//! among them has no linearization, even if every operation outside of the set may be left out. So
//! each of the others happened as recorded, or not at all; one that had not returned by then may
//! have any result. A counterexample is *minimal* if each of its operations matters: had any one of
//! them happened at another time, with another result, or not at all, there would be a
//! linearization, with some of the others.
//!
//! A reader who sees only the counterexample need not wonder about the rest: whichever of the
//! others are left out, it does not help. To require fewer operations never makes fewer orders
//! possible. So one pass over the operations, which spares each one if the rest still contradicts
//! without it, ends with a minimal set. It starts from what was found; if that does not suffice,
//! from the whole history.
//!
//! The last operation of a counterexample is the one whose return is the failure point, where that
//! can be found in time: the report then blames one operation only.
//!
//! Of a long history, a [`Window`] is searched: of the operations that came long before the
//! counterexample, only the states matter to which they may have led, and for these one operation
//! of each label suffices. Where that is not conclusive, the whole history is searched. If the
//! first operation of the counterexample resets the object, nothing before it matters.
//!
//! Source: the definition of linearizability; deletion-based extraction of minimal unsatisfiable
//! sets. Cost: that of [`prover`](super::prover), in a window; and a pass over the history. Where
//! the budget does not suffice, the counterexample is not verified, or not minimal, and says so.

use std::{cmp::Reverse, collections::HashSet};

use clewline_core::{Budget, DeadEnd, LabelId, OperationId, Problem, Reason, Retain};

use super::prover::{End, Left, NEAR_OPERATIONS, Prover, Survey};
use clewline_search::prefix::until;

/// Where what was found does not suffice, this many operations are added at first.
const FIRST_ADDED_OPERATIONS: usize = 8;

/// A counterexample, as far as it is proven.
#[derive(Clone, Debug)]
pub(super) struct Proven<'a> {
    /// The history up to the last return of the counterexample.
    pub(super) prefix: Problem<'a>,
    /// The positions of the counterexample in it.
    pub(super) core: Vec<usize>,
    /// Whether these contradict each other, whichever of the others happened.
    pub(super) is_verified: bool,
    /// Whether no one of them can be spared.
    pub(super) is_minimal: bool,
}

/// Proves that the operations of one of the `candidates` contradict each other, in the history up
/// to the last return among them, which is the same for all; or finds others that do. Then spares
/// those that can be spared. The last one is not spared if `is_failing`: without its return there
/// is a linearization.
pub(super) fn prove<'a>(
    problem: &Problem<'a>,
    candidates: &[Vec<OperationId>],
    is_failing: bool,
    budget: &Budget,
) -> Proven<'a> {
    let is_found =
        |at: &usize| candidates.iter().any(|it| it.binary_search(&problem.operations()[*at]).is_ok());
    let last = (0..problem.len()).filter(is_found).filter_map(|at| problem.spans()[at].ret()).max();
    let prefix = until(problem, last.unwrap_or(0));
    let required = |found: &Vec<OperationId>| -> Vec<bool> {
        let is_it = |at: usize| found.binary_search(&prefix.operations()[at]).is_ok();
        (0..prefix.len()).map(|at| is_it(at) && !prefix.spans()[at].is_pending()).collect()
    };
    let candidates: Vec<Vec<bool>> = candidates.iter().map(required).collect();
    if budget.allow(0).is_err() {
        let first = candidates.first().map_or(&[][..], |it| it);
        let core = (0..first.len()).filter(|&at| first[at]).collect();
        return Proven { prefix, core, is_verified: false, is_minimal: false };
    }
    let history = History::new(&prefix);
    let mut left = Left::new(budget);
    let is_enough = |required: &&Vec<bool>, left: &mut Left<'_>| {
        left.part(|left| history.is_possible(required, left)).is_ok_and(|it| !it)
    };
    let found = candidates.iter().find(|it| is_enough(it, &mut left)).cloned();
    let first = || candidates.first().cloned().unwrap_or_else(|| vec![false; prefix.len()]);
    let (is_verified, mut required) = match found {
        Some(required) => (true, required),
        None => match history.enough(&first(), &mut left) {
            Ok(required) => (true, required),
            Err(_) => (false, first()),
        },
    };
    let is_last = |at: usize| prefix.spans()[at].ret() == last;
    let is_minimal = is_verified && history.spare(&mut required, is_last, &mut left);
    // That the last one is spared is rare, and would begin everything anew.
    let mut is_last_needed = || -> Result<bool, Reason> {
        let mut fewer = required.clone();
        let at = (0..prefix.len()).find(|&at| is_last(at)).unwrap_or(0);
        fewer[at] = false;
        Prover::new(&without(&prefix, at)).is_possible(&fewer, &mut left)
    };
    let is_minimal = is_minimal && (is_failing || is_last_needed().unwrap_or(false));
    let core = (0..required.len()).filter(|&at| required[at]).collect();
    Proven { prefix, core, is_verified, is_minimal }
}

/// The problem in which the operation at one position may happen at any time, with any result, or
/// not at all.
fn without<'a>(problem: &Problem<'a>, at: usize) -> Problem<'a> {
    problem.weaken(|it| if it == at { Retain::Unconstrained } else { Retain::All })
}

/// A history up to the last return of a counterexample.
struct History<'h, 'a> {
    problem: &'h Problem<'a>,
    survey: Survey,
    labels: Vec<LabelId>,
    // An operation resets one of the parts.
    has_parts: bool,
}

/// Some operations of a history, as a problem of their own.
struct Window<'a> {
    problem: Problem<'a>,
    // Their positions in the history.
    positions: Vec<usize>,
}

impl<'a> Window<'a> {
    fn new(problem: &Problem<'a>, is_in: impl Fn(usize) -> bool) -> Window<'a> {
        let positions: Vec<usize> = (0..problem.len()).filter(|&at| is_in(at)).collect();
        let problem = problem.weaken(|at| if is_in(at) { Retain::All } else { Retain::Drop });
        Window { problem, positions }
    }

    /// Of operations of the history, those of the window.
    fn of<T: Copy>(&self, all: &[T]) -> Vec<T> {
        self.positions.iter().map(|&at| all[at]).collect()
    }
}

impl<'h, 'a> History<'h, 'a> {
    fn new(problem: &'h Problem<'a>) -> History<'h, 'a> {
        let labels = problem.automaton().labels().to_vec();
        let has_parts = 1 < problem.clone().into_parts().len();
        History { problem, survey: Survey::new(problem), labels, has_parts }
    }

    /// The operations that an order may need and that are near the required ones, those that were
    /// open then, and of those that came long before one for each label.
    fn window(&self, required: &[bool]) -> Window<'a> {
        let used = self.survey.used(required);
        let first = required.iter().position(|&it| it).unwrap_or(0);
        let near = (0..first).rev().filter(|&at| used[at]).nth(NEAR_OPERATIONS - 1).unwrap_or(0);
        let spans = self.problem.spans();
        let mut seen: HashSet<LabelId> = HashSet::new();
        let is_first: Vec<bool> = (0..near).map(|at| used[at] && seen.insert(self.labels[at])).collect();
        let is_open = |at: usize| spans[at].call() == 0 || spans[near].call() < spans[at].end();
        Window::new(self.problem, |at| used[at] && (near <= at || is_open(at) || is_first[at]))
    }

    /// All operations that an order may need.
    fn whole(&self, required: &[bool]) -> Window<'a> {
        let used = self.survey.used(required);
        Window::new(self.problem, |at| used[at])
    }

    /// The operations that an order may need since one of the required ones
    /// [reset](Problem::resets) the object, before the others were called: what came before it
    /// makes no difference to what comes after it, and need not happen. `kept` may be needed, too.
    fn since_reset(&self, required: &[bool], kept: &[bool]) -> Option<Window<'a>> {
        let spans = self.problem.spans();
        let first = required.iter().position(|&it| it)?;
        let is_after = |at: usize| at == first || spans[first].precedes(spans[at]);
        let mut others = (0..required.len()).filter(|&at| required[at]);
        if self.has_parts || !self.problem.resets(first) || !others.all(is_after) {
            return None;
        }
        let used = self.survey.used(kept);
        Some(Window::new(self.problem, |at| used[at] && spans[first].call() < spans[at].end()))
    }

    /// Whether some linearization contains the required operations, and any of the others.
    fn is_possible(&self, required: &[bool], left: &mut Left<'_>) -> Result<bool, Reason> {
        if let Some(since) = self.since_reset(required, required) {
            return Prover::new(&since.problem).is_possible(&since.of(required), left);
        }
        let window = self.window(required);
        let nearby = Prover::new(&window.problem).is_possible_nearby(&window.of(required), left)?;
        if let Some(is_possible) = nearby {
            return Ok(is_possible);
        }
        let whole = self.whole(required);
        Prover::new(&whole.problem).is_possible(&whole.of(required), left)
    }

    /// The same, if one of them, which is not required, happened at any time, with any result, or
    /// not at all. The window is that of all of them.
    fn is_possible_without(
        &self,
        spared: usize,
        required: &[bool],
        window: &Window<'a>,
        left: &mut Left<'_>,
    ) -> Result<bool, Reason> {
        let freed = |it: &Window<'a>| it.positions.binary_search(&spared).map(|at| without(&it.problem, at));
        let mut all = required.to_vec();
        all[spared] = true;
        if let Some(since) = self.since_reset(required, &all)
            && let Ok(problem) = freed(&since)
        {
            return Prover::new(&problem).is_possible(&since.of(required), left);
        }
        let Ok(near) = freed(window) else { return self.is_possible(required, left) };
        let nearby = Prover::new(&near).is_possible_nearby(&window.of(required), left)?;
        if let Some(is_possible) = nearby {
            return Ok(is_possible);
        }
        let whole = self.whole(&all);
        let Ok(problem) = freed(&whole) else { return self.is_possible(required, left) };
        Prover::new(&problem).is_possible(&whole.of(required), left)
    }

    /// Operations that contradict each other, as few as can be found quickly: the required ones,
    /// and those that returned last, twice as many each time.
    fn enough(&self, required: &[bool], left: &mut Left<'_>) -> Result<Vec<bool>, Reason> {
        let spans = self.problem.spans();
        let mut latest: Vec<usize> = (0..spans.len()).filter(|&at| !spans[at].is_pending()).collect();
        latest.sort_unstable_by_key(|&at| Reverse(spans[at].end()));
        let mut number = FIRST_ADDED_OPERATIONS;
        let (window, all) = loop {
            let mut more = required.to_vec();
            latest.iter().take(number).for_each(|&at| more[at] = true);
            let is_whole = latest.len() <= number;
            // Before all are required, it is not worthwhile to search from the initial state.
            let window = if is_whole { self.whole(&more) } else { self.window(&more) };
            let is_possible = if is_whole {
                Prover::new(&window.problem).is_possible(&window.of(&more), left)?
            } else {
                let nearby = Prover::new(&window.problem).is_possible_nearby(&window.of(&more), left)?;
                nearby != Some(false)
            };
            match (is_possible, is_whole) {
                (false, _) => break (window, more),
                (true, true) => {
                    return Err(Reason::Refused("the operations have a linearization".to_owned()));
                }
                (true, false) => number *= 2,
            }
        };
        // Blocks first, from large to small.
        let mut prover = Prover::new(&window.problem);
        let (found, mut all) = (window.of(required), window.of(&all));
        let mut others: Vec<usize> = (0..all.len()).filter(|&at| all[at] && !found[at]).collect();
        let mut size = others.len();
        while 0 < size {
            for block in others.chunks(size) {
                let mut fewer = all.clone();
                block.iter().for_each(|&at| fewer[at] = false);
                if prover.is_possible_nearby(&fewer, left)? == Some(false) {
                    all = fewer;
                }
            }
            others.retain(|&at| all[at]);
            size = if size == 1 { 0 } else { size.div_ceil(2).min(others.len()) };
        }
        let mut enough = required.to_vec();
        window.positions.iter().zip(all).for_each(|(&at, is_needed)| enough[at] = is_needed);
        Ok(enough)
    }

    /// Spares those of the required operations that make no difference, except one. Whether each
    /// that is left is known to matter.
    fn spare(&self, required: &mut Vec<bool>, is_kept: impl Fn(usize) -> bool, left: &mut Left<'_>) -> bool {
        let window = self.window(required);
        let mut prover = Prover::new(&window.problem);
        let mut needed = window.of(required);
        let mut trail = prover.trail(&needed, left).ok();
        let mut is_minimal = true;
        // The later ones are mostly near to what went wrong.
        let positions = &window.positions;
        let mut order: Vec<usize> =
            (0..needed.len()).filter(|&at| needed[at] && !is_kept(positions[at])).collect();
        order.sort_by_key(|&at| window.problem.spans()[at].end());
        for at in order {
            // If it can be left out, it need not happen at another time.
            if let Some(trail) = &mut trail
                && prover.is_possible_without(at, &needed, trail, left).unwrap_or(false)
            {
                continue;
            }
            let mut fewer = required.clone();
            fewer[positions[at]] = false;
            match left.part(|left| self.is_possible_without(positions[at], &fewer, &window, left)) {
                Ok(true) => {}
                Ok(false) => {
                    *required = fewer;
                    needed[at] = false;
                    trail = prover.trail(&needed, left).ok();
                }
                Err(_) => is_minimal = false,
            }
        }
        is_minimal
    }
}

/// Where the longest order of the history of `problem` ends that contains the operations of `core`,
/// without other operations that make no difference. `None` if it has a linearization, or the
/// budget does not suffice.
pub(super) fn dead_end(problem: &Problem<'_>, core: &[usize], budget: &Budget) -> Option<DeadEnd> {
    let required: Vec<bool> = (0..problem.len()).map(|at| core.binary_search(&at).is_ok()).collect();
    let window = History::new(problem).window(&required);
    let (problem, required) = (&window.problem, window.of(&required));
    let End { mut order, next } = Prover::tracing(problem).end(&required, &mut Left::new(budget)).ok()??;
    // The claim itself: the order is allowed, and the operation cannot come next.
    let stuck = |order: &[usize]| {
        let mut replay = problem.replay();
        let is_allowed = order.iter().all(|&at| replay.advance(at));
        let instead = replay.could_return(next);
        (is_allowed && !replay.advance(next)).then_some(instead)
    };
    let instead = stuck(&order)?;
    let mut place = order.len();
    while 0 < place {
        place -= 1;
        let mut shorter = order.clone();
        if !required[shorter.remove(place)] && stuck(&shorter).as_ref() == Some(&instead) {
            // What removed the element that this one added may now be left out, too.
            order = shorter;
            place = order.len();
        }
    }
    let id = |at: usize| problem.operations()[at];
    Some(DeadEnd::new(order.into_iter().map(id).collect(), id(next), instead))
}

/// Whether some linearization of a part of `problem` contains the required operations.
#[cfg(test)]
pub(super) fn is_possible(problem: &Problem<'_>, required: &[bool], budget: &Budget) -> bool {
    History::new(problem).is_possible(required, &mut Left::new(budget)).expect("the budget suffices")
}

/// For each of the required operations, in turn, whether some linearization contains the others, as
/// far as those that are near show it.
#[cfg(test)]
pub(super) fn possible_without(
    problem: &Problem<'_>,
    required: &[bool],
    budget: &Budget,
) -> Vec<(usize, bool)> {
    let window = History::new(problem).window(required);
    let (required, mut left) = (window.of(required), Left::new(budget));
    let mut prover = Prover::new(&window.problem);
    let mut trail = prover.trail(&required, &mut left).expect("the budget suffices");
    let all = (0..required.len()).filter(|&at| required[at]);
    all.map(|at| {
        let is_possible = prover.is_possible_without(at, &required, &mut trail, &mut left);
        (window.positions[at], is_possible.expect("the budget suffices"))
    })
    .collect()
}
