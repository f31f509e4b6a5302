//! What `auto` chooses: a monitor where one applies, a search for the rest.
//!
//! A history that its monitor cannot decide, because a value is added twice, say, is cut where the object is
//! certainly empty and nobody is using it: what comes after does not depend on what came before. Pieces in which values are
//! distinct are still the monitor's; the others are searched. Before that, what can be seen without any search is looked for in the whole: a value
//! that nobody put there, or found too often.
//!
//! A queue is searched by the queue-oriented search, as long as that gets on. Otherwise the search is the just-in-time
//! graph search, which was the fastest, or nearly so, on everything measured (`docs/performance.md`); a long history is
//! searched piece by piece. Competition gained little, and the tree searches do not finish where it matters.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
    ops::Range,
};

use clewline_core::{Budget, Explanation, ObjectKind, Problem, RoleKind, Verdict, Violation, Witness};

use crate::{
    checker::{Checker, check},
    minimize,
    monitor::{self, Columns, Unsupported},
    search::{jit_graph::JitGraph, queue_oriented::QueueOriented, segments},
};

/// How many steps for each operation the queue-oriented search may take, before another one is tried. It rarely takes
/// more than one.
const STEPS: u64 = 64;

/// A search is cut where nobody uses the object if it has so many operations, into pieces of at least so many.
const LONG: usize = 1 << 17;
const SEGMENT: usize = 1 << 14;

/// Who decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DecidedBy {
    // The monitors that were asked.
    monitors: BTreeSet<&'static str>,
    // Those who judged what no monitor could, and how many operations that were.
    searches: BTreeMap<Cow<'static, str>, usize>,
}

impl DecidedBy {
    pub(crate) fn search(name: impl Into<Cow<'static, str>>, operations: usize) -> DecidedBy {
        let mut deciders = DecidedBy::default();
        deciders.add_search(name, operations);
        deciders
    }

    fn add_search(&mut self, name: impl Into<Cow<'static, str>>, operations: usize) {
        *self.searches.entry(name.into()).or_insert(0) += operations;
    }

    pub(crate) fn absorb(&mut self, other: DecidedBy) {
        self.monitors.extend(other.monitors);
        other.searches.into_iter().for_each(|(name, operations)| self.add_search(name, operations));
    }

    /// Their names alone: `queue monitor, jit-graph`.
    pub(crate) fn names(&self) -> String {
        let searches = self.searches.keys().map(|it| &**it);
        self.monitors.iter().copied().chain(searches).collect::<Vec<_>>().join(", ")
    }

    /// Whether nobody was asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.monitors.is_empty() && self.searches.is_empty()
    }
}

/// `queue monitor, then jit-graph on 12 operations`.
impl fmt::Display for DecidedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let monitors: Vec<&str> = self.monitors.iter().copied().collect();
        if self.searches.is_empty() {
            return f.write_str(&monitors.join(", "));
        }
        if monitors.is_empty() {
            let names: Vec<&str> = self.searches.keys().map(|it| &**it).collect();
            return f.write_str(&names.join(", "));
        }
        let told = |(name, &operations): (&Cow<'_, str>, &usize)| match operations {
            1 => format!("{name} on 1 operation"),
            _ => format!("{name} on {operations} operations"),
        };
        let searches: Vec<String> = self.searches.iter().map(told).collect();
        write!(f, "{}, then {}", monitors.join(", "), searches.join(" and "))
    }
}

/// Decides `problem` with whatever suits it; answers also what that was.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> (Verdict, DecidedBy) {
    let mut deciders = DecidedBy::default();
    let Some(monitor) = problem.kind().and_then(monitor::find) else {
        return (searched(problem, budget, &mut deciders), deciders);
    };
    deciders.monitors.insert(monitor.name());
    if let Ok(verdict) = monitor::decide(problem, budget) {
        return (verdict, deciders);
    }
    if let Some(next) = minimize::refute(problem) {
        let explanation = Explanation::Exhausted { prefix: Vec::new(), next };
        let violation = Violation::found(problem.operations().to_vec(), explanation);
        return (Verdict::Violated(violation), deciders);
    }
    let mut order = Vec::new();
    let mut unknown: Option<Verdict> = None;
    for piece in pieces(problem) {
        let piece = problem.range(piece);
        let verdict = match monitor::decide(&piece, budget) {
            // The whole was refused, so a piece that is the whole is refused as well.
            Ok(verdict) => verdict,
            Err(_) => searched(&piece, budget, &mut deciders),
        };
        match verdict {
            Verdict::Holds(witness) => order.extend(witness.order),
            Verdict::Violated(_) => return (verdict, deciders),
            // A later piece may be known to be violated.
            Verdict::Unknown(_) => unknown = unknown.or(Some(verdict)),
        }
    }
    (unknown.unwrap_or(Verdict::Holds(Witness { order })), deciders)
}

/// Searches what no monitor judges. A queue is first searched as one.
fn searched(piece: &Problem<'_>, budget: &Budget, deciders: &mut DecidedBy) -> Verdict {
    if piece.kind() == Some(ObjectKind::Queue) {
        let steps = STEPS.saturating_mul(piece.len() as u64 + 1);
        let limited = budget.child().with_configurations(budget.configurations().min(steps));
        let verdict = check(&QueueOriented, piece, &limited);
        if !matches!(verdict, Verdict::Unknown(_)) {
            deciders.add_search("queue-oriented", piece.len());
            return verdict;
        }
    }
    deciders.add_search("jit-graph", piece.len());
    let in_segments = if LONG <= piece.len() { segments::decide(piece, budget, SEGMENT) } else { None };
    in_segments.unwrap_or_else(|| JitGraph.decide(piece, budget))
}

/// Where `problem` falls apart: ranges of positions, each of which begins when the object is as it was at first.
fn pieces(problem: &Problem<'_>) -> Vec<Range<usize>> {
    let whole = 0..problem.len();
    match Columns::new(problem) {
        Ok(columns) => cut_where_empty(&columns),
        Err(Unsupported::AddedTwice(..) | Unsupported::Unfit(_) | Unsupported::Other(_)) => vec![whole],
    }
}

/// Cuts where nobody is using the object and as many elements have left it as came.
pub(crate) fn cut_where_empty(columns: &Columns) -> Vec<Range<usize>> {
    let is_counted = columns.kind.is_container() || columns.kind == ObjectKind::Multiset;
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    let mut inside = 0_i64;
    let mut end = 0;
    for at in 0..columns.len() {
        let interval = columns.intervals[at];
        if is_counted && start < at && inside == 0 && end < interval.left {
            pieces.push(start..at);
            start = at;
        }
        end = end.max(interval.right);
        match columns.kinds[at] {
            RoleKind::Add => inside += 1,
            RoleKind::Remove => inside -= 1,
            RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => (),
        }
    }
    pieces.push(start..columns.len());
    pieces
}
