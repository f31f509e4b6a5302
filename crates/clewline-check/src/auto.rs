//! The choice of `auto`: a monitor where one applies, a search for the rest.
//!
//! A monitor may be unable to decide a history, for example because a value is added twice. Then
//! the history is cut where the object is certainly empty and no operation is open: what comes
//! after does not depend on what came before. Pieces with distinct values still go to the monitor;
//! the others are searched. Before that, the whole history is tested for what needs no search: a
//! value that was found but never added, or found too often.
//!
//! A queue, relaxed queue or channel is searched with two frontiers, which needs no contents of the
//! queue, a stack by a pushdown search, which needs its top only, a relaxed stack by one which
//! needs what can be removed next, and a deque by late pushes, which orders pushes when they are
//! found. A bag is searched by the moments at which it is empty. A set that is read as a whole, and
//! from which nothing is removed, needs no search: each result bounds the moment at which an
//! element appeared. A queue, stack or deque with a capacity is searched without it first, which
//! gives the order in which the next search tries operations; but a queue is searched with two
//! frontiers and its capacity before that. Any other object goes to the just-in-time graph search,
//! which was the fastest, or nearly so, on everything measured (`docs/research/performance.md`); a
//! long history is searched piece by piece. If that takes long and the object is a register, an
//! abstraction may refute it. Competition gained little, and the tree searches do not finish where
//! it matters.

use std::ops::Range;

use clewline_core::{Budget, Explanation, ObjectKind, Problem, RoleKind, Verdict, Violation, Witness};
use clewline_monitor::{self as monitor, Columns, Unsupported};
use clewline_search::{Checker, decide_by_kind, few_states, jit_graph::JitGraph, segments, without_capacity};

use crate::{decided_by::DecidedBy, minimize};

/// A search with at least `SEGMENTED_SEARCH_OPERATIONS_MIN` operations is cut at quiescent points,
/// into pieces of at least `SEGMENT_OPERATIONS_MIN`.
const SEGMENTED_SEARCH_OPERATIONS_MIN: usize = 1 << 17;
const SEGMENT_OPERATIONS_MIN: usize = 1 << 14;

/// Decides `problem` with the checker that suits it; also returns which one that was.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> (Verdict, DecidedBy) {
    let mut deciders = DecidedBy::default();
    let Some(monitor) = problem.kind().and_then(monitor::find) else {
        return (decide_by_search(problem, budget, &mut deciders), deciders);
    };
    deciders.monitors.insert(monitor.name().into());
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
            // The whole was unsupported, so a piece that is the whole is unsupported as well.
            Ok(verdict) => verdict,
            Err(_) => decide_by_search(&piece, budget, &mut deciders),
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

/// Searches what no monitor decides.
fn decide_by_search(piece: &Problem<'_>, budget: &Budget, deciders: &mut DecidedBy) -> Verdict {
    let found = decide_by_kind(piece, budget)
        .or_else(|| without_capacity::decide(piece, budget))
        .or_else(|| few_states::decide(piece, budget));
    if let Some((name, verdict)) = found {
        deciders.add_search(name, piece.len());
        return verdict;
    }
    deciders.add_search("jit-graph", piece.len());
    let in_segments = if SEGMENTED_SEARCH_OPERATIONS_MIN <= piece.len() {
        segments::decide(piece, budget, SEGMENT_OPERATIONS_MIN)
    } else {
        None
    };
    in_segments.unwrap_or_else(|| JitGraph.decide(piece, budget))
}

/// Where `problem` can be cut: ranges of positions, each of which begins in the initial state.
fn pieces(problem: &Problem<'_>) -> Vec<Range<usize>> {
    let whole = 0..problem.len();
    match Columns::new(problem) {
        Ok(columns) => cut_where_empty(&columns),
        Err(Unsupported::AddedTwice(..) | Unsupported::Unfit(_) | Unsupported::Other(_)) => vec![whole],
    }
}

/// Cuts where no operation is open and as many elements were removed as added.
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
