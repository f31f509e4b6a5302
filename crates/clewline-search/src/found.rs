//! What searches of columns have in common: which problems they refuse, and their verdicts.

use clewline_core::{
    Explanation, ObjectKind, OperationId, Problem, Reason, RoleKind, Verdict, Violation, Witness,
};
use clewline_monitor::{Columns, Unsupported};

use crate::{
    links::{positions_by_call, positions_by_return},
    prefix::{first_failing_return, until},
};

/// What a search found, as positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A linearization.
    Linearization(Vec<u32>),
    /// There is none; this is how far the longest attempt came, up to what real time allows.
    Longest(Vec<u32>),
}

impl Found {
    /// The verdict on `problem`.
    pub(super) fn verdict(self, problem: &Problem<'_>) -> Verdict {
        let ids = |order: &[u32]| order.iter().map(|&at| problem.operations()[at as usize]).collect();
        match self {
            Found::Linearization(order) => Verdict::Holds(Witness { order: ids(&order) }),
            Found::Longest(prefix) => {
                let next = first_left(problem, &prefix);
                let explanation = Explanation::Exhausted { prefix: ids(&prefix), next };
                Verdict::Violated(Violation::found(problem.operations().to_vec(), explanation))
            }
        }
    }
}

/// The violation of `problem`, which has no linearization, as `decide` says of it and its prefixes.
///
/// What returned before the first return after which there is none is ordered, and that return is
/// where a counterexample is. `order` decides the prefix before it, and may know more.
pub(super) fn refute(
    problem: &Problem<'_>,
    decide: impl Fn(&Problem<'_>) -> Verdict,
    order: impl Fn(&Problem<'_>) -> Verdict,
) -> Verdict {
    let rank = first_failing_return(problem, None, decide);
    let longest = rank.ok().map(|rank| match order(&until(problem, rank - 1)) {
        Verdict::Holds(witness) => as_far_as_permitted(problem, &witness.order),
        Verdict::Violated(_) | Verdict::Unknown(_) => Vec::new(),
    });
    Found::Longest(longest.unwrap_or_default()).verdict(problem)
}

/// A linearization of a prefix, up to the first operation that returned something else than there.
fn as_far_as_permitted(problem: &Problem<'_>, order: &[OperationId]) -> Vec<u32> {
    let mut replay = problem.replay();
    let positions = order.iter().filter_map(|&it| problem.position(it));
    positions.take_while(|&at| replay.advance(at)).map(|at| at as u32).collect()
}

/// The objects that a search knows.
pub(super) struct Scope {
    /// The name of the search.
    pub(super) name: &'static str,
    /// The objects, as an error message calls them.
    pub(super) objects: &'static str,
    /// Whether this is their kind.
    pub(super) knows: fn(ObjectKind) -> bool,
}

impl Scope {
    /// The columns of `problem`, or why the search does not support it.
    pub(super) fn columns(&self, problem: &Problem<'_>) -> Result<Columns, String> {
        if !problem.kind().is_some_and(self.knows) {
            return Err(format!("{} judges {} without capacity only", self.name, self.objects));
        }
        let unknown = |at: usize| {
            let label = problem.operations().get(at).map(|&it| problem.label(it));
            Err(format!("{} does not know {}", self.name, label.as_deref().unwrap_or("some operation")))
        };
        match Columns::with_copies(problem) {
            Ok(columns) => match unknown_operation(&columns) {
                Some(at) => unknown(at),
                None => Ok(columns),
            },
            Err(Unsupported::Unfit(at)) => unknown(at as usize),
            Err(_) => unknown(problem.len()),
        }
    }

    /// Checks columns that were made elsewhere.
    pub(super) fn check(&self, columns: &Columns) -> Result<(), Reason> {
        if (self.knows)(columns.kind) && unknown_operation(columns).is_none() {
            return Ok(());
        }
        Err(Reason::Refused(format!("{} judges {} only", self.name, self.objects)))
    }
}

/// An operation that is not one of such an object, or whose result is known though it is pending,
/// or not known though it is complete.
fn unknown_operation(columns: &Columns) -> Option<usize> {
    (0..columns.len()).find(|&at| match columns.kinds[at] {
        RoleKind::Add => false,
        RoleKind::Remove | RoleKind::Observe | RoleKind::Empty => columns.is_pending(at),
        RoleKind::RemoveUnknown | RoleKind::NoEffect => !columns.is_pending(at),
        RoleKind::Absent => columns.kind != ObjectKind::Channel || columns.is_pending(at),
        RoleKind::Replace => true,
    })
}

/// An order up to the first operation that is called after one returned that is not in it yet.
pub(super) fn as_far_as_allowed(columns: &Columns, mut order: Vec<u32>) -> Vec<u32> {
    let mut is_left: Vec<bool> = (0..columns.len()).map(|it| !columns.is_pending(it)).collect();
    let mut by_return = positions_by_return(columns, &positions_by_call(columns));
    by_return.retain(|&it| is_left[it as usize]);
    let mut first = 0;
    for place in 0..order.len() {
        while by_return.get(first).is_some_and(|&it| !is_left[it as usize]) {
            first += 1;
        }
        let Some(&owed) = by_return.get(first) else { break };
        if columns.intervals[owed as usize].precedes(columns.intervals[order[place] as usize]) {
            order.truncate(place);
            break;
        }
        is_left[order[place] as usize] = false;
    }
    order
}

/// The complete operation not in `prefix` that returns first.
fn first_left(problem: &Problem<'_>, prefix: &[u32]) -> OperationId {
    let mut is_left: Vec<bool> = problem.spans().iter().map(|it| !it.is_pending()).collect();
    prefix.iter().for_each(|&it| is_left[it as usize] = false);
    let left = (0..problem.len()).filter(|&at| is_left[at]);
    let next = left.min_by_key(|&at| problem.spans()[at].end()).expect("an operation could not be placed");
    problem.operations()[next]
}
