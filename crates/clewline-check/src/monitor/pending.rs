//! Pending removals: who may have taken what.
//!
//! A pending `deq` has taken some element that was added and that nobody else removed, or nothing. Taking one away can
//! only help if it is in the way. So first the history is judged as if no pending removal had happened. If that is violated, it is judged
//! as if each element left over had been taken by a removal of its own, as early as the first of them: if even this is violated, so is
//! the history. Only what lies between is tried out: of the elements in the broken rule one must be taken, by one of the removals.
//!
//! Cost: one or two runs of the monitor, and more only where removals that never returned matter, which is rare.

use clewline_core::{Budget, RoleKind};

use super::{
    columns::{Columns, Interval},
    contract::Monitor,
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};

/// How often a monitor may be run to find out who took what.
const TRIALS: u32 = 200;

/// Judges with `monitor`, whatever pending removals there are.
pub(super) fn judge(
    monitor: &dyn Monitor,
    columns: &Columns,
    want: Want,
    budget: &Budget,
) -> Result<MonitorVerdict, Unsupported> {
    let takes: Vec<u32> =
        (0..).zip(&columns.kinds).filter(|it| *it.1 == RoleKind::RemoveUnknown).map(|it| it.0).collect();
    let ruling = monitor.judge_within(columns, want, budget)?;
    let MonitorVerdict::Violated(breach) = ruling else { return Ok(ruling) };
    if takes.is_empty() {
        return Ok(MonitorVerdict::Violated(breach));
    }
    let mut left_over = LeftOver::new(columns);
    let all_taken = left_over.all_taken(columns, takes[0]);
    if let MonitorVerdict::Violated(breach) = monitor.judge_within(&all_taken, Want::Verdict, budget)? {
        return Ok(MonitorVerdict::Violated(with_takes(breach, columns.len(), &takes)));
    }
    let mut trial =
        Trial { monitor, columns: columns.clone(), want, budget, takes, left_over: &mut left_over, runs: 0 };
    trial.search(breach)
}

/// A breach in which removals that were made up stand for the first pending one.
fn with_takes(breach: RuleViolation, operations: usize, takes: &[u32]) -> RuleViolation {
    let real = |at: u32| if (at as usize) < operations { at } else { takes[0] };
    let mut evidence: Vec<u32> = breach.evidence.into_iter().map(real).chain(takes.iter().copied()).collect();
    evidence.sort_unstable();
    evidence.dedup();
    RuleViolation {
        rule: breach.rule,
        operations: breach.operations.into_iter().map(real).collect(),
        evidence,
    }
}

/// The elements that were added and that nobody is known to have removed.
struct LeftOver {
    // By element.
    is_in: Vec<bool>,
}

impl LeftOver {
    fn new(columns: &Columns) -> LeftOver {
        let mut is_in = vec![false; columns.names.len()];
        let acts = || columns.kinds.iter().zip(&columns.elements);
        acts().filter(|it| *it.0 == RoleKind::Add).for_each(|it| is_in[*it.1 as usize] = true);
        acts().filter(|it| *it.0 == RoleKind::Remove).for_each(|it| is_in[*it.1 as usize] = false);
        LeftOver { is_in }
    }

    /// As if each had been taken from the call of `first` on.
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

struct Trial<'t> {
    monitor: &'t dyn Monitor,
    // In which some pending removals have taken something.
    columns: Columns,
    want: Want,
    budget: &'t Budget,
    // Those that have not, in the order of their calls.
    takes: Vec<u32>,
    left_over: &'t mut LeftOver,
    runs: u32,
}

impl Trial<'_> {
    /// Mends `breach` by letting a pending removal take one of its elements, in every way.
    fn search(&mut self, breach: RuleViolation) -> Result<MonitorVerdict, Unsupported> {
        let mut candidates: Vec<u32> = Vec::new();
        for &at in &breach.evidence {
            let element = self.columns.elements[at as usize];
            if self.columns.kinds[at as usize] == RoleKind::Add && self.left_over.is_in[element as usize] {
                candidates.push(element);
            }
        }
        // Whatever shows that nobody can have taken it is part of the proof.
        let mut evidence = breach.evidence.clone();
        for element in candidates {
            // The latest first: it constrains the others least.
            for number in (0..self.takes.len()).rev() {
                if TRIALS <= self.runs || self.budget.stopped().is_some() {
                    return Err(Unsupported::Other("too many pending operations may have removed something"));
                }
                self.runs += 1;
                let take = self.takes.remove(number);
                self.columns.kinds[take as usize] = RoleKind::Remove;
                self.columns.elements[take as usize] = element;
                self.left_over.is_in[element as usize] = false;
                let ruling = match self.monitor.judge_within(&self.columns, self.want, self.budget)? {
                    MonitorVerdict::Violated(next) => self.search(next)?,
                    holds @ MonitorVerdict::Holds(_) => holds,
                };
                match ruling {
                    MonitorVerdict::Holds(_) => return Ok(ruling),
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
        Ok(MonitorVerdict::Violated(RuleViolation { evidence, ..breach }))
    }
}
