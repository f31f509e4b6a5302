//! Regular registers: each read by itself.
//!
//! A read returns the value of a write that does not come after it, unless another write comes
//! between the two; or the initial value, unless a write comes before it. *After* and *before* are
//! those of time. So a read that overlaps writes returns the value before them, or one of theirs;
//! two reads, one after the other, may return a new value and then the old one. If there is one
//! writer at a time, this is Lamport's definition; otherwise it is the weakest of its extensions,
//! MWR1: each read, with all writes and without the other reads, is linearizable.
//!
//! Source: L. Lamport, On interprocess communication, 1986; C. Shao, J. L. Welch, E. Pierce and
//! H. Lee, Multiwriter consistency conditions for shared memory registers, 2011. Requires: reads
//! and writes only. Cost: two sorts.

use clewline_core::{
    Budget, ErasedHistory, ObjectKind, OperationId, Problem, Reason, RoleKind, Rule, Span, Verdict, Why,
    Witness,
};

use super::procedure::violation;

/// The name of this procedure in reports.
pub(super) const NAME: &str = "regular";

/// Decides whether each register of the history is regular.
pub(super) fn decide(history: &dyn ErasedHistory, budget: &Budget) -> Verdict {
    for problem in history.problems() {
        for part in problem.into_parts() {
            if let Err(reason) = budget.allow(0) {
                return Verdict::Unknown(reason);
            }
            budget.visit(part.len() as u64);
            match decide_one(&part) {
                Verdict::Holds(_) => (),
                verdict @ (Verdict::Violated(_) | Verdict::Unknown(_)) => return verdict,
            }
        }
    }
    // Each read has an order of its own.
    Verdict::Holds(Witness::default())
}

/// Whether histories of the object can be regular: it is a register, and is only read and written.
pub(super) fn is_register(problem: &Problem<'_>) -> bool {
    let is_register = matches!(problem.kind(), Some(ObjectKind::Register { .. }));
    let is_known = |it: &RoleKind| matches!(it, RoleKind::Add | RoleKind::Observe | RoleKind::NoEffect);
    is_register && problem.roles().is_ok_and(|it| it.kinds.iter().all(is_known))
}

/// The writes of a register.
#[derive(Default)]
struct Writes {
    // The return of each, and the latest call of those that returned until then.
    by_return: Vec<(u32, u32, OperationId)>,
    // By value: the call of each, and the latest return of those that were called until then.
    by_value: Vec<Vec<(u32, u32)>>,
}

impl Writes {
    fn new(values: usize, writes: &[(usize, Span, OperationId)]) -> Writes {
        let mut by_value: Vec<Vec<(u32, u32)>> = vec![Vec::new(); values];
        // In the order of their calls.
        for &(value, span, _) in writes {
            let latest = by_value[value].last().map_or(0, |it| it.1).max(span.end());
            by_value[value].push((span.call(), latest));
        }
        let mut ended: Vec<(u32, u32, OperationId)> =
            writes.iter().filter_map(|(_, span, id)| Some((span.ret()?, span.call(), *id))).collect();
        ended.sort_unstable();
        for at in 1..ended.len() {
            if ended[at].1 < ended[at - 1].1 {
                (ended[at].1, ended[at].2) = (ended[at - 1].1, ended[at - 1].2);
            }
        }
        Writes { by_return: ended, by_value }
    }

    /// Of the writes before the read, the one that was called last, and its call.
    fn last_before(&self, read: Span) -> Option<(u32, OperationId)> {
        let count = self.by_return.partition_point(|it| it.0 < read.call());
        self.by_return[..count].last().map(|it| (it.1, it.2))
    }
}

fn decide_one(part: &Problem<'_>) -> Verdict {
    let Ok(roles) = part.roles() else { return not_registers() };
    if !is_register(part) {
        return not_registers();
    }
    let of_kind = |kind: RoleKind| -> Vec<(usize, Span, OperationId)> {
        let own = (0..part.len()).filter(|&at| roles.kinds[at] == kind);
        own.map(|at| (roles.elements[at] as usize, part.spans()[at], part.operations()[at])).collect()
    };
    let writes = Writes::new(roles.names.len(), &of_kind(RoleKind::Add));
    for (value, span, id) in of_kind(RoleKind::Observe) {
        let last = writes.last_before(span);
        let possible = &writes.by_value[value];
        let begun = possible.partition_point(|it| it.0 < span.end());
        let is_written = begun != 0 && last.is_none_or(|(call, _)| call < possible[begun - 1].1);
        // The initial value is number 0.
        let is_initial = value == 0 && last.is_none();
        if is_written || is_initial {
            continue;
        }
        let (text, mut operations) = match last {
            Some((_, later)) if begun != 0 || value == 0 => (OVERWRITTEN, vec![id, later]),
            Some(_) | None => (NOT_WRITTEN, vec![id]),
        };
        let why = Why::Rule { rule: Rule::Other(text), operations: operations.clone(), end: None };
        operations.sort_unstable();
        let mut violation = violation(operations);
        (violation.is_minimal, violation.why) = (true, Some(Box::new(why)));
        return Verdict::Violated(violation);
    }
    Verdict::Holds(Witness::default())
}

const OVERWRITTEN: &str = "the write had returned before the read was called, and the value was older";
const NOT_WRITTEN: &str = "no write of this value had been called by then";

fn not_registers() -> Verdict {
    let why = "regular are registers that are only read and written, and this object is none";
    Verdict::Unknown(Reason::Refused(why.to_owned()))
}
