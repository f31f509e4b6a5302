//! Pending removals: which element each of them may have removed.
//!
//! A pending `deq` has removed some element that was added and that no other operation removed, or
//! took no effect. Removing an element only helps if it is in the way. So first the history is
//! judged as if no pending removal had taken effect. If that is violated, it is judged as if each
//! unremoved element had been removed by a removal of its own, as early as the first of them: if
//! even this is violated, so is the history. Only the cases in between are tried out: one of the
//! elements in the broken rule must be removed, by one of the pending removals.
//!
//! Cost: one or two runs of the monitor, and more only where pending removals matter, which is
//! rare.

use clewline_core::{Budget, RoleKind};

use crate::{
    columns::{Columns, Interval},
    contract::Monitor,
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};

/// How often a monitor may be run to assign elements to pending removals.
const MONITOR_RUNS_MAX: u32 = 200;

/// Judges with `monitor`, whatever pending removals there are.
pub(super) fn judge(
    monitor: &dyn Monitor,
    columns: &Columns,
    want: Want,
    budget: &Budget,
) -> Result<MonitorVerdict, Unsupported> {
    let takes: Vec<u32> =
        (0..).zip(&columns.kinds).filter(|it| *it.1 == RoleKind::RemoveUnknown).map(|it| it.0).collect();
    let verdict = monitor.judge(columns, want, budget)?;
    let MonitorVerdict::Violated(violation) = verdict else { return Ok(verdict) };
    if takes.is_empty() {
        return Ok(MonitorVerdict::Violated(violation));
    }
    let mut left_over = UnremovedElements::new(columns);
    let all_taken = left_over.all_taken(columns, takes[0]);
    if let MonitorVerdict::Violated(violation) = monitor.judge(&all_taken, Want::Verdict, budget)? {
        return Ok(MonitorVerdict::Violated(with_takes(violation, columns.len(), &takes)));
    }
    let mut assignment = Assignment {
        monitor,
        columns: columns.clone(),
        want,
        budget,
        takes,
        left_over: &mut left_over,
        runs: 0,
    };
    assignment.search(violation)
}

/// A violation in which artificial removals stand for the first pending one.
fn with_takes(violation: RuleViolation, operations: usize, takes: &[u32]) -> RuleViolation {
    let real = |at: u32| if (at as usize) < operations { at } else { takes[0] };
    let mut evidence: Vec<u32> =
        violation.evidence.into_iter().map(real).chain(takes.iter().copied()).collect();
    evidence.sort_unstable();
    evidence.dedup();
    RuleViolation {
        rule: violation.rule,
        operations: violation.operations.into_iter().map(real).collect(),
        evidence,
    }
}

/// The elements that were added and that no operation is known to have removed.
struct UnremovedElements {
    // By element.
    is_in: Vec<bool>,
}

impl UnremovedElements {
    fn new(columns: &Columns) -> UnremovedElements {
        let mut is_in = vec![false; columns.names.len()];
        let acts = || columns.kinds.iter().zip(&columns.elements);
        acts().filter(|it| *it.0 == RoleKind::Add).for_each(|it| is_in[*it.1 as usize] = true);
        acts().filter(|it| *it.0 == RoleKind::Remove).for_each(|it| is_in[*it.1 as usize] = false);
        UnremovedElements { is_in }
    }

    /// The history in which each was removed, from the call of `first` on.
    fn all_taken(&self, columns: &Columns, first: u32) -> Columns {
        let mut relaxed = columns.clone();
        let left = columns.intervals[first as usize].left;
        for element in (0..).zip(&self.is_in).filter(|it| *it.1).map(|it| it.0) {
            relaxed.kinds.push(RoleKind::Remove);
            relaxed.intervals.push(Interval { left, right: columns.last });
            relaxed.elements.push(element);
        }
        relaxed
    }
}

struct Assignment<'t> {
    monitor: &'t dyn Monitor,
    // In which some pending removals have removed an element.
    columns: Columns,
    want: Want,
    budget: &'t Budget,
    // Those that have not, in the order of their calls.
    takes: Vec<u32>,
    left_over: &'t mut UnremovedElements,
    runs: u32,
}

impl Assignment<'_> {
    /// Tries to repair `violation` by letting a pending removal remove one of its elements, in
    /// every way.
    fn search(&mut self, violation: RuleViolation) -> Result<MonitorVerdict, Unsupported> {
        let mut candidates: Vec<u32> = Vec::new();
        for &at in &violation.evidence {
            let element = self.columns.elements[at as usize];
            if self.columns.kinds[at as usize] == RoleKind::Add && self.left_over.is_in[element as usize] {
                candidates.push(element);
            }
        }
        // The operations which show that no pending removal can have removed it are part of the
        // proof.
        let mut evidence = violation.evidence.clone();
        for element in candidates {
            // The latest first: it constrains the others least.
            for number in (0..self.takes.len()).rev() {
                if MONITOR_RUNS_MAX <= self.runs || self.budget.stopped().is_some() {
                    return Err(Unsupported::Other("too many pending operations may have removed something"));
                }
                self.runs += 1;
                let take = self.takes.remove(number);
                self.columns.kinds[take as usize] = RoleKind::Remove;
                self.columns.elements[take as usize] = element;
                self.left_over.is_in[element as usize] = false;
                let verdict = match self.monitor.judge(&self.columns, self.want, self.budget)? {
                    MonitorVerdict::Violated(next) => self.search(next)?,
                    holds @ MonitorVerdict::Holds(_) => holds,
                };
                match verdict {
                    MonitorVerdict::Holds(_) => return Ok(verdict),
                    MonitorVerdict::Violated(other) => evidence.extend(other.evidence),
                }
                self.left_over.is_in[element as usize] = true;
                self.columns.kinds[take as usize] = RoleKind::RemoveUnknown;
                self.columns.elements[take as usize] = 0;
                self.takes.insert(number, take);
            }
        }
        // So are the removals.
        let takes =
            (0..).zip(&self.columns.kinds).filter(|it| *it.1 == RoleKind::RemoveUnknown).map(|it| it.0);
        evidence.extend(takes);
        evidence.sort_unstable();
        evidence.dedup();
        Ok(MonitorVerdict::Violated(RuleViolation { evidence, ..violation }))
    }
}
