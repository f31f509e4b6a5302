//! Counterexamples, judged by themselves: by other means than those that found them.
//!
//! | criterion | how |
//! |---|---|
//! | sequential | every order that keeps the order of each process, one operation after the other |
//! | buffered durable | every cut of each era; what survives is judged by the ordinary checkers |
//! | regular | each read with all writes, judged by the ordinary checkers: the definition |
//!
//! Cost: as that of the criterion, without what makes its search fast; so it is given up early.

use std::collections::{HashMap, HashSet};

use clewline_core::{
    Criterion, ErasedHistory, OperationId, OwnTimes, Problem, Retain, RoleKind, StateId, Verdict,
};

use super::{
    buffered::era_numbers,
    sequential::{is_initial, own_times},
    smaller::with_only,
};
use crate::{judge::judge, options::JudgeOptions};

// Configurations, or judgements of cuts, until it is given up; and operations.
const RECHECK_CONFIGS_MAX: u64 = 1 << 16;
const RECHECK_CUTS_MAX: u64 = 1 << 10;
const RECHECKED_OPERATIONS_MAX: usize = 1 << 11;

/// Whether the history satisfies the criterion if only the `needed` operations are required; `None`
/// if to find out would take too long.
pub(super) fn holds(
    history: &dyn ErasedHistory,
    criterion: Criterion,
    needed: &[OperationId],
    options: &JudgeOptions,
) -> Option<bool> {
    let quick = JudgeOptions {
        budget: options
            .budget
            .child()
            .with_configurations(RECHECK_CONFIGS_MAX.min(options.budget.configurations())),
        counterexample_configurations: 0,
        violations_max: 1,
        ..options.clone()
    };
    if criterion == Criterion::Regular {
        return reads_hold(history.problems(), needed, &quick);
    }
    let problems = with_only(&history.problems(), needed);
    if RECHECKED_OPERATIONS_MAX < problems.iter().map(Problem::len).sum() {
        return None;
    }
    match criterion {
        Criterion::Sequential => is_ordered(history, &problems),
        _ => Cuts::new(history, &problems, &quick).hold(),
    }
}

/// Whether each of the reads is linearizable with all writes, and without the other reads.
fn reads_hold(problems: Vec<Problem<'_>>, reads: &[OperationId], options: &JudgeOptions) -> Option<bool> {
    for part in problems.into_iter().flat_map(Problem::into_parts) {
        let roles = part.roles().ok()?;
        let is_read = |at: usize| roles.kinds[at] == RoleKind::Observe;
        for read in reads.iter().filter_map(|it| part.position(*it)).filter(|it| is_read(*it)) {
            let one = part.weaken(|at| if at == read || !is_read(at) { Retain::All } else { Retain::Drop });
            if !linearizable(vec![one], options)? {
                return Some(false);
            }
        }
    }
    Some(true)
}

fn linearizable(problems: Vec<Problem<'_>>, options: &JudgeOptions) -> Option<bool> {
    match judge(problems, options).verdict {
        Verdict::Holds(_) => Some(true),
        Verdict::Violated(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// Whether there is an order of all complete operations that keeps the order of each process.
fn is_ordered(history: &dyn ErasedHistory, problems: &[Problem<'_>]) -> Option<bool> {
    let mut automata: Vec<_> = problems.iter().map(Problem::automaton).collect();
    // The object of each operation, and its label.
    let mut operations = Vec::new();
    let mut own: Vec<(OperationId, OwnTimes)> = Vec::new();
    for (object, problem) in problems.iter().enumerate() {
        for (at, (&id, &span)) in problem.operations().iter().zip(problem.spans()).enumerate() {
            operations.push((object, automata[object].labels()[at]));
            own.push((id, own_times(history, id, span)));
        }
    }
    let precedes = |one: usize, other: usize| {
        let is_first = is_initial(history, own[one].0) && !is_initial(history, own[other].0);
        is_first || own[one].1.precedes(own[other].1)
    };
    let before: Vec<Vec<usize>> = (0..operations.len())
        .map(|it| (0..operations.len()).filter(|&other| precedes(other, it)).collect())
        .collect();
    let states: Vec<StateId> = automata.iter_mut().map(|it| it.initial()).collect();
    let mut left = vec![(vec![false; operations.len()], states)];
    let mut seen: HashSet<(Vec<bool>, Vec<StateId>)> = HashSet::new();
    while let Some((placed, states)) = left.pop() {
        if (0..placed.len()).all(|it| placed[it] || own[it].1.returned == i64::MAX) {
            return Some(true);
        }
        if RECHECK_CONFIGS_MAX < seen.len() as u64 {
            return None;
        }
        if !seen.insert((placed.clone(), states.clone())) {
            continue;
        }
        let is_next = |it: &usize| !placed[*it] && before[*it].iter().all(|&other| placed[other]);
        for at in (0..placed.len()).filter(is_next) {
            let (object, label) = operations[at];
            for nth in 0.. {
                let Some(step) = automata[object].step(states[object], label, nth) else { break };
                let mut after = (placed.clone(), states.clone());
                after.0[at] = true;
                after.1[object] = step.state;
                left.push(after);
                if !step.has_more {
                    break;
                }
            }
        }
    }
    Some(false)
}

/// The cuts of eras.
struct Cuts<'p> {
    problems: &'p [Problem<'p>],
    options: &'p JudgeOptions,
    // By era: its operations, in the order of their calls, with the ranks of call and end.
    eras: Vec<Vec<(OperationId, u32, u32)>>,
    left: u64,
}

/// What survives of the eras before one.
type Survivors = HashMap<OperationId, Retain>;

impl<'p> Cuts<'p> {
    fn new(history: &dyn ErasedHistory, problems: &'p [Problem<'p>], options: &'p JudgeOptions) -> Cuts<'p> {
        let (numbers, count) = era_numbers(history);
        let mut eras = vec![Vec::new(); count];
        for problem in problems {
            for (&id, span) in problem.operations().iter().zip(problem.spans()) {
                eras[numbers(id)].push((id, span.call(), span.end()));
            }
        }
        eras.iter_mut().for_each(|it| it.sort_by_key(|it| it.1));
        Cuts { problems, options, eras, left: RECHECK_CUTS_MAX }
    }

    fn hold(mut self) -> Option<bool> {
        self.holds_from(0, &Survivors::new())
    }

    /// Whether there are cuts such that this era and those after it are linearizable.
    fn holds_from(&mut self, era: usize, survivors: &Survivors) -> Option<bool> {
        let Some(operations) = self.eras.get(era).cloned() else { return Some(true) };
        self.left = self.left.checked_sub(1)?;
        let mut all = survivors.clone();
        all.extend(operations.iter().map(|it| (it.0, Retain::All)));
        let view = |problem: &'p Problem<'p>| {
            problem.weaken(|at| all.get(&problem.operations()[at]).copied().unwrap_or(Retain::Drop))
        };
        if !linearizable(self.problems.iter().map(view).collect(), self.options)? {
            return Some(false);
        }
        // An initial state is never lost, and of the last era nothing is.
        if era == 0 || era + 1 == self.eras.len() {
            return self.holds_from(era + 1, &all);
        }
        self.holds_with_cut(era, &operations, &mut Vec::new(), u32::MAX, survivors)
    }

    /// Whether there is such a cut in which these operations are kept or lost, and the first return
    /// that is lost has the rank `lost`.
    fn holds_with_cut(
        &mut self,
        era: usize,
        operations: &[(OperationId, u32, u32)],
        is_kept: &mut Vec<bool>,
        lost: u32,
        survivors: &Survivors,
    ) -> Option<bool> {
        let Some(&(_, call, end)) = operations.get(is_kept.len()) else {
            let mut after = survivors.clone();
            for (&(id, call, _), &is_kept) in operations.iter().zip(&*is_kept) {
                match is_kept {
                    true => _ = after.insert(id, Retain::All),
                    false if call < lost => _ = after.insert(id, Retain::CallOnly),
                    false => (),
                }
            }
            return self.holds_from(era + 1, &after);
        };
        for keeps in [true, false] {
            if keeps && (end == u32::MAX || lost < call) {
                continue;
            }
            is_kept.push(keeps);
            let lost = if keeps { lost } else { lost.min(end) };
            let holds = self.holds_with_cut(era, operations, is_kept, lost, survivors);
            is_kept.pop();
            if holds? {
                return Some(true);
            }
        }
        Some(false)
    }
}
