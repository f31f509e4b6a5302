//! Cores: the few operations of a violation that cannot be ordered.
//!
//! A search that fails has looked at every operation; its reader should not have to. What cannot be ordered
//! among fewer operations cannot be ordered among all, as long as leaving an operation out never makes a
//! good history bad. Three ways of saying less have that property:
//!
//! * *Cutting*: what happened after some return is forgotten. A prefix of a good history is good.
//! * *Leaving operations out*, if their [`Footprint`](clewline_core::Footprint) allows: a read alone; all
//!   operations on an element together.
//! * *Giving an operation a chance*: it may have happened at any time, with any answer, or not at all. This is
//!   sound for every operation of every specification.
//!
//! Each only ever makes a problem easier to satisfy. So what is violated after it was violated before; and what
//! holds after it holds also when still less is said, so that whoever could not be spared once can never be:
//! one pass over the operations finds a set of which none can be spared ("minimal"). Blocks of operations are
//! tried first, from large to small, so that a long history shrinks in a logarithmic number of rounds.
//!
//! Source: the blocks are those of delta debugging (A. Zeller and R. Hildebrandt, 2002).
//! Cost: a search for each attempt, all together within a given number of configurations. Where that does not
//! suffice the core is larger than need be, and says so.

use std::collections::HashMap;

use clewline_core::{
    Budget, Elements, Explanation, Keep, Kind, OperationId, Problem, Span, Verdict, Violation,
};

use crate::{
    Checker, Options,
    search::{jit_graph::JitGraph, queue_oriented::QueueOriented},
};

/// One attempt may take this part of what all of them may.
const ATTEMPT: u64 = 40;

/// The least that all attempts may take, for each operation.
const PER_OPERATION: u64 = 50;

/// The core that a broken rule names is searched if it has no more operations than this.
const SEARCHED: usize = 2_000;

/// Shrinks the core of a violation of `problem`.
pub(crate) fn shrink(problem: &Problem<'_>, violation: Violation, options: &Options) -> Violation {
    match violation.explanation {
        Explanation::Exhausted { next, .. } => shrink_from(problem, violation, next, options),
        // Whoever found the rule broken knows who breaks it; it remains to be seen who can be spared.
        Explanation::Broken { .. } if SEARCHED < violation.core.len() || options.core_configurations == 0 => {
            violation
        }
        Explanation::Broken { .. } => {
            let is_kept = |at: usize| violation.core.binary_search(&problem.operations()[at]).is_ok();
            let core = problem.weaken(|at| if is_kept(at) { Keep::Whole } else { Keep::Nothing });
            match decide(&core, &options.budget.child().with_configurations(1 << 20)) {
                Verdict::Violated(Violation { explanation: Explanation::Exhausted { next, .. }, .. }) => {
                    shrink_from(&core, violation, next, options)
                }
                Verdict::Holds(_) => {
                    debug_assert!(false, "a broken rule is broken by its core alone: {core:?}");
                    violation
                }
                Verdict::Violated(_) | Verdict::Unknown(_) => violation,
            }
        }
    }
}

/// Searches: a queue as a queue, which the other search may not be able to, as long as nothing forbids it.
fn decide(problem: &Problem<'_>, budget: &Budget) -> Verdict {
    let is_queue = problem.kind() == Some(Kind::Queue);
    if is_queue && QueueOriented.refuses(problem).is_none() {
        QueueOriented.decide(problem, budget)
    } else {
        JitGraph.decide(problem, budget)
    }
}

fn shrink_from(
    problem: &Problem<'_>,
    violation: Violation,
    next: OperationId,
    options: &Options,
) -> Violation {
    let Shrinking { keep, is_minimal, .. } = Shrinking::run(problem, next, options);
    let is_kept = |&at: &usize| matches!(keep[at], Keep::Whole | Keep::Call);
    let core = (0..problem.len()).filter(is_kept).map(|at| problem.operations()[at]).collect();
    Violation { core, is_minimal, ..violation }
}

/// Reads, each of which can be left out alone.
fn reads(problem: &Problem<'_>) -> Vec<Vec<usize>> {
    let is_read = |at: &usize| problem.footprint(*at).is_read();
    (0..problem.len()).filter(is_read).map(|at| vec![at]).collect()
}

/// Elements, each with all operations on it; linked elements together.
fn elements(problem: &Problem<'_>) -> Vec<Vec<usize>> {
    let mut groups = Groups::default();
    let mut seen: Vec<(usize, u64)> = Vec::new();
    for at in 0..problem.len() {
        match problem.footprint(at).elements() {
            Elements::None => (),
            Elements::One(element) => seen.push((at, element)),
            Elements::Two(one, other) => {
                groups.join(one, other);
                seen.push((at, one));
            }
            // A pending operation need not have happened; any other may depend on every element.
            Elements::Any if problem.spans()[at].is_pending() => (),
            Elements::Any => return Vec::new(),
        }
    }
    let mut units: Vec<Vec<usize>> = Vec::new();
    let mut unit_of: HashMap<u64, usize> = HashMap::new();
    for (at, element) in seen {
        let unit = *unit_of.entry(groups.find(element)).or_insert(units.len());
        if unit == units.len() {
            units.push(Vec::new());
        }
        units[unit].push(at);
    }
    units
}

/// Elements that can only go together: a union-find over those that some operation links.
#[derive(Default)]
struct Groups {
    parent: HashMap<u64, u64>,
}

impl Groups {
    fn find(&mut self, element: u64) -> u64 {
        let mut root = element;
        while let Some(&parent) = self.parent.get(&root) {
            root = parent;
        }
        if root != element {
            self.parent.insert(element, root);
        }
        root
    }

    fn join(&mut self, one: u64, other: u64) {
        let (one, other) = (self.find(one), self.find(other));
        if one != other {
            self.parent.insert(one, other);
        }
    }
}

struct Shrinking<'a> {
    problem: &'a Problem<'a>,
    budget: Budget,
    // What is said about each operation. Invariant: this much is violated.
    keep: Vec<Keep>,
    // The operation that could not come next when it was last judged.
    next: OperationId,
    // How many configurations an attempt may visit, if it is not longer than that.
    attempt: u64,
    // How many configurations may still be visited, an operation counting as one.
    left: u64,
    is_minimal: bool,
}

impl<'a> Shrinking<'a> {
    /// Says as little as it takes to violate.
    fn run(problem: &'a Problem<'a>, next: OperationId, options: &Options) -> Self {
        // Judging anew takes at least a configuration an operation, however little is left out.
        let most = match options.core_configurations {
            0 => 0,
            most => most.max(PER_OPERATION * problem.len() as u64),
        };
        let mut shrinking = Shrinking {
            problem,
            budget: options.budget.child(),
            keep: vec![Keep::Whole; problem.len()],
            next,
            attempt: most / ATTEMPT,
            left: most,
            is_minimal: true,
        };
        shrinking.cut();
        shrinking.pass(reads, Keep::Nothing);
        // With the reads gone that see everything, elements may be free to go.
        shrinking.pass(elements, Keep::Nothing);
        shrinking.cut();
        shrinking.pass(|problem| (0..problem.len()).map(|at| vec![at]).collect(), Keep::Chance);
        shrinking
    }

    /// Forgets what happened after some return, as early a one as can be found quickly.
    ///
    /// A prefix of a good history is good. The search gives a hint where to cut, but only a hint: it knew the
    /// answers of operations that return later.
    fn cut(&mut self) {
        let spans = self.problem.spans();
        let is_whole = |at: &usize| self.keep[*at] == Keep::Whole;
        let mut ranks: Vec<u32> =
            (0..spans.len()).filter(is_whole).filter_map(|at| spans[at].ret()).collect();
        ranks.sort_unstable();
        let hint = self.problem.position(self.next).map_or(u32::MAX, |at| spans[at].end());
        let mut place = ranks.partition_point(|&it| it < hint);
        let mut stride = 1;
        while place + 1 < ranks.len() && self.left != 0 {
            let last = ranks[place];
            let cut = |(&keep, span): (&Keep, &Span)| match keep {
                Keep::Whole | Keep::Call if last < span.call() => Keep::Nothing,
                Keep::Whole if last < span.end() => Keep::Call,
                Keep::Whole | Keep::Call | Keep::Chance | Keep::Nothing => keep,
            };
            let keep = self.keep.iter().zip(spans).map(cut).collect();
            if self.attempt(keep) == Attempt::Violated {
                return;
            }
            place += stride;
            stride *= 2;
        }
    }

    /// Says only `less` about as many as possible of the sets of operations that `units` names.
    ///
    /// Blocks of units are tried first, from large to small.
    fn pass(&mut self, units: impl Fn(&Problem<'_>) -> Vec<Vec<usize>>, less: Keep) {
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
            (0..self.keep.len()).filter(|&at| self.keep[at] != Keep::Nothing).collect();
        // Taken from what is still said: an operation whose return is forgotten may see more than it did.
        let now = self.problem.weaken(|at| self.keep[at]);
        let mut units = units(&now);
        units.iter_mut().flatten().for_each(|at| *at = positions[*at]);
        units.retain(|unit| unit.iter().any(|&at| matches!(self.keep[at], Keep::Whole | Keep::Call)));
        units
    }

    /// Says only as much as `keep`, if that is still violated.
    fn attempt(&mut self, keep: Vec<Keep>) -> Attempt {
        if self.left == 0 {
            return Attempt::Undecided;
        }
        let weaker = self.problem.weaken(|at| keep[at]);
        let operations = weaker.len() as u64;
        let budget = self.budget.child().with_configurations(self.attempt.max(4 * operations));
        let before = self.budget.visited();
        let verdict = decide(&weaker, &budget);
        let spent = self.budget.visited() - before + operations;
        self.left = self.left.saturating_sub(spent);
        match verdict {
            Verdict::Violated(Violation { explanation: Explanation::Exhausted { next, .. }, .. }) => {
                self.keep = keep;
                self.next = next;
                Attempt::Violated
            }
            Verdict::Holds(_) => Attempt::Holds,
            // A search explains what it did in no other way.
            Verdict::Violated(_) | Verdict::Unknown(_) => Attempt::Undecided,
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
