//! Long histories, searched piece by piece.
//!
//! At a quiescent point, where no operation is open, what came before matters only through the
//! state it left. A piece of the history between two such points is searched from *every* state in
//! which the piece before it may have ended, and leaves every state in which it may end itself. The
//! memory of a piece is dropped with it, so memory is bounded by the longest piece, not by the
//! history.
//!
//! Cost: as for the just-in-time graph search, which finds one order of a piece; this one finds an
//! order to each final state.

use std::ops::Range;

use clewline_core::{Budget, Explanation, OperationId, Problem, Start, Verdict, Violation, Witness};

use super::{FINAL_STATES_MAX, final_state_witnesses, jit_graph::JitGraph};
use crate::checker::Checker;

/// Decides `problem` in pieces of at least `length` operations; `None` if it has no such pieces, or
/// too many states between them.
pub fn decide(problem: &Problem<'_>, budget: &Budget, length: usize) -> Option<Verdict> {
    let pieces = pieces(problem, length);
    if pieces.len() < 2 {
        return None;
    }
    let mut states: Vec<StartState> = vec![StartState { start: None, from: 0, order: Vec::new() }];
    let mut levels: Vec<Vec<StartState>> = Vec::new();
    for piece in &pieces {
        let piece = problem.range(piece.clone());
        let mut next: Vec<StartState> = Vec::new();
        let mut stuck: Option<(usize, Violation)> = None;
        for (from, state) in states.iter().enumerate() {
            let piece = match &state.start {
                Some(start) => piece.clone().starting_at(start),
                None => piece.clone(),
            };
            match ends(&piece, budget) {
                Ok(witnesses) => next.extend(reached(&piece, witnesses, from)),
                Err(Verdict::Violated(violation)) => stuck = stuck.or(Some((from, violation))),
                Err(verdict @ Verdict::Unknown(_)) if budget.stopped().is_some() => return Some(verdict),
                Err(Verdict::Unknown(_) | Verdict::Holds(_)) => return None,
            }
        }
        let next = distinct(problem, next);
        if FINAL_STATES_MAX < next.len() {
            return None;
        }
        levels.push(std::mem::replace(&mut states, next));
        if states.is_empty() {
            let (from, violation) = stuck.expect("a piece that leads nowhere is violated from some state");
            return Some(Verdict::Violated(of_whole_history(violation, &levels, from)));
        }
    }
    levels.push(states);
    Some(Verdict::Holds(Witness { order: path(&levels, 0) }))
}

/// One witness for each state in which a piece may end; one is enough for the last, which alone has
/// pending operations.
fn ends(piece: &Problem<'_>, budget: &Budget) -> Result<Vec<Witness>, Verdict> {
    if piece.spans().iter().all(|it| !it.is_pending()) {
        return final_state_witnesses(piece, budget);
    }
    match JitGraph.decide(piece, budget) {
        Verdict::Holds(witness) => Ok(vec![witness]),
        verdict @ (Verdict::Violated(_) | Verdict::Unknown(_)) => Err(verdict),
    }
}

/// A state in which a piece may begin.
struct StartState {
    // None: the initial state.
    start: Option<Start>,
    // Which of the states before the last piece leads to it, and how.
    from: usize,
    order: Vec<OperationId>,
}

fn reached(piece: &Problem<'_>, witnesses: Vec<Witness>, from: usize) -> Vec<StartState> {
    let mut all = Vec::new();
    for witness in witnesses {
        for start in piece.ends(std::slice::from_ref(&witness)) {
            all.push(StartState { start: Some(start), from, order: witness.order.clone() });
        }
    }
    all
}

/// One order to each state.
fn distinct(problem: &Problem<'_>, all: Vec<StartState>) -> Vec<StartState> {
    let starts: Vec<Start> = all.iter().filter_map(|it| it.start.clone()).collect();
    let mut kept = problem.distinct(starts).into_iter().peekable();
    // The first order to a state is the one that is kept.
    all.into_iter()
        .filter(|it| it.start.as_ref().is_some_and(|it| kept.next_if(|kept| kept.is(it)).is_some()))
        .collect()
}

/// The order that leads to one of the last states.
fn path(levels: &[Vec<StartState>], mut at: usize) -> Vec<OperationId> {
    let mut orders: Vec<&[OperationId]> = Vec::new();
    for level in levels.iter().rev() {
        orders.push(&level[at].order);
        at = level[at].from;
    }
    orders.into_iter().rev().flatten().copied().collect()
}

/// The violation of a piece, as one of the whole history.
fn of_whole_history(mut violation: Violation, levels: &[Vec<StartState>], from: usize) -> Violation {
    if let Explanation::Exhausted { prefix, .. } = &mut violation.explanation {
        prefix.splice(0..0, path(levels, from));
    }
    violation
}

/// Pieces between quiescent points.
fn pieces(problem: &Problem<'_>, length: usize) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let (mut start, mut end) = (0, 0);
    for (at, span) in problem.spans().iter().enumerate() {
        if start + length <= at && end < span.call() {
            pieces.push(start..at);
            start = at;
        }
        end = end.max(span.end());
    }
    // A pending operation has no end, so the piece it is in is the last.
    pieces.push(start..problem.len());
    pieces
}

#[cfg(test)]
mod tests {
    use clewline_core::{GeneratorConfig, ValueDomain};
    use clewline_specs::{CATALOG, find};
    use clewline_testing::pick;

    use super::*;

    /// Every other history has a result exchanged.
    #[test]
    fn pieces_agree_with_the_whole() {
        let (mut held, mut violated) = (0, 0);
        for entry in &CATALOG {
            for seed in 0..pick(25, 200) {
                let specification = find(entry.name).unwrap();
                let mut recording = specification.generate(&GeneratorConfig {
                    operations: 30,
                    processes: 3,
                    overlap: 0.4,
                    values: ValueDomain::Below(3),
                    keys: 1,
                    pending: if seed % 5 == 0 { 0.02 } else { 0.0 },
                    seed,
                    ..GeneratorConfig::default()
                });
                let chosen = (10 + seed as usize % 20).min(recording.history.len() - 1);
                let history = recording.history.clone();
                // The result of the previous operation of the same method.
                let same = |it: &OperationId| {
                    history.call(*it).method == history.call(OperationId::from_index(chosen)).method
                };
                let before = (0..chosen).rev().map(OperationId::from_index).find(same);
                let other = before.and_then(|it| history.ret(it).copied());
                let changed = history.clone().try_map(|id, call, ret| {
                    let ret = ret.map(|ret| {
                        if seed % 2 == 1 && id.index() == chosen { other.unwrap_or(ret) } else { ret }
                    });
                    Ok::<_, ()>((call, ret))
                });
                recording.history = changed.unwrap();
                let Ok(case) = specification.load(recording) else { continue };
                for part in case.problems().into_iter().flat_map(Problem::into_parts) {
                    let budget = Budget::unlimited();
                    let Some(verdict) = decide(&part, &budget, 3) else { continue };
                    let whole = JitGraph.decide(&part, &budget);
                    assert_eq!(verdict.word(), whole.word(), "{} {seed}: {part:#?}", entry.name);
                    match verdict {
                        Verdict::Holds(witness) => {
                            witness.verify(&part).unwrap();
                            held += 1;
                        }
                        Verdict::Violated(_) => violated += 1,
                        Verdict::Unknown(reason) => panic!("{reason}"),
                    }
                }
            }
        }
        assert!(pick(60, 500) < held && pick(25, 200) < violated, "{held} hold, {violated} are violated");
    }
}
