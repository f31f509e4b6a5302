//! Stream states: judging a history while it grows, and dropping what no longer matters.
//!
//! When a live system, or a file larger than memory, is checked, only a *window* is kept: the
//! operations that may still matter. When it has grown enough it is judged and compacted; these
//! operations are dropped:
//!
//! * *Queues, priority queues, bags*: the operations on an element that was removed, if all of them
//!   returned before the call of every operation that is open, or overlaps an open one. They
//!   precede everything still to come, and their relation to the remaining elements has been
//!   judged. *Empty* results are dropped likewise.
//! * *Stacks*: the operations on elements that are gone by a moment at which the stack may have
//!   been empty, if that moment is before every operation that is open or overlaps an open one. An
//!   operation that could take effect then may as well have done so. (To drop elements that are
//!   gone while others are inside would be wrong: `push(5)[0,4] push(6)[1,2] push(7)[3,7]
//!   pop→6[5,6] pop→5[8,9]` is violated, though nothing before or after 7.5 is.)
//! * *Any of these while values have several copies, and relaxed containers*: everything before a
//!   quiescent point at which the object is empty.
//! * *Sets*: the operations on an element before a moment at which none on that element is open,
//!   except one that added it if it is present.
//! * *Everything else*, key by key: everything before a quiescent point, except the possible
//!   states: *every* state, found by a search that continues after it has found one.
//!
//! Compaction never makes a linearizable history violated, and is exact: what is dropped would not
//! have mattered. Cost: each operation is judged about twice, as a window is judged when it has
//! doubled.

use std::collections::{HashMap, HashSet};

use clewline_core::{ObjectId, ObjectKind, OperationId, Problem, Reason, RoleKind, Start, Verdict, Witness};
use clewline_monitor::{Columns, Interval, Lifetimes, NONE};
use clewline_search::{Checker, FINAL_STATES_MAX, final_state_witnesses, jit_graph::JitGraph};

use crate::{
    auto::cut_where_empty,
    decided_by::DecidedBy,
    judge::{Judgement, judge, judge_with_deciders},
    options::JudgeOptions,
};

/// An object, and which part of it; no part if it is judged as a whole.
type Key = (ObjectId, Option<u64>);

/// Steps per operation to find these states. A monitor may decide at once what takes a search
/// forever.
const FINAL_STATES_STEPS_PER_OPERATION: u64 = 8;

/// What is remembered of dropped operations.
#[derive(Clone, Debug, Default)]
pub struct StreamState {
    // By object and part: the possible states at the beginning of the window, unless it is the
    // initial one.
    starts: HashMap<Key, Vec<Start>>,
    // Whether an object with known states is continued as a whole, or part by part.
    is_whole: HashMap<ObjectId, bool>,
    // All objects, and parts of objects, that were seen.
    seen: HashSet<Key>,
    // Those of them that are violated, and remain so whatever follows, with their number in the
    // order in which they were found.
    violated: HashMap<Key, usize>,
    deciders: DecidedBy,
}

/// What to do with a window.
#[derive(Clone, Debug)]
pub enum Compaction {
    /// It holds so far, but for what was set aside. Whether each operation, by its id, still
    /// matters.
    Keep(Vec<bool>),
    /// It is violated, or unknown.
    Stop(Box<Judgement>),
}

impl StreamState {
    /// Nothing has been dropped.
    #[must_use]
    pub fn new() -> StreamState {
        StreamState::default()
    }

    /// Judges a window, given what was dropped before it, but for what was set aside.
    #[must_use]
    pub fn judge(
        &self,
        problems: Vec<Problem<'_>>,
        object: &dyn Fn(OperationId) -> ObjectId,
        options: &JudgeOptions,
    ) -> Judgement {
        let mut fresh: Vec<Problem<'_>> = Vec::new();
        let mut resumed: Vec<(Problem<'_>, &[Start])> = Vec::new();
        let mut is_unclear = false;
        for problem in problems {
            if self.starts.is_empty() && self.violated.is_empty() {
                fresh.push(problem);
                continue;
            }
            let Ok(parts) = self.divide(problem, object) else {
                is_unclear = true;
                continue;
            };
            for (key, part) in parts.into_iter().filter(|(key, _)| !self.violated.contains_key(key)) {
                match self.starts.get(&key) {
                    Some(starts) => resumed.push((part, starts)),
                    None => fresh.push(part),
                }
            }
        }
        let mut whole = judge(fresh, options);
        if is_unclear {
            whole = merge(whole, refused());
        }
        for (part, starts) in resumed {
            if let Verdict::Violated(_) = whole.verdict {
                break;
            }
            whole = merge(whole, judge_from_any(&part, starts, options).0);
        }
        whole
    }

    /// Judges a window and returns what of it still matters; the rest is remembered as far as
    /// necessary. A window that does not hold changes nothing.
    #[must_use]
    pub fn compact(
        &mut self,
        problems: Vec<Problem<'_>>,
        object: &dyn Fn(OperationId) -> ObjectId,
        options: &JudgeOptions,
    ) -> Compaction {
        let operations = problems.iter().map(Problem::len).sum();
        let mut keep = vec![true; operations];
        // Takes effect only if the whole window holds.
        let mut next = Next::default();
        let mut forget = |id: OperationId| keep[id.index()] = false;
        for problem in problems {
            if is_kept_by_operations(&problem) {
                let key = whole_object(&problem, object);
                next.seen.push(key);
                if self.violated.contains_key(&key) {
                    returned(&problem).for_each(&mut forget);
                    continue;
                }
                let (judgement, deciders) = judge_with_deciders(vec![problem.clone()], options);
                let Verdict::Holds(_) = judgement.verdict else {
                    return Compaction::Stop(Box::new(judgement));
                };
                next.deciders.absorb(deciders);
                let Ok(columns) = Columns::new(&problem) else { continue };
                removable(&columns).into_iter().for_each(|at| forget(problem.operations()[at]));
                continue;
            }
            let Ok(parts) = self.divide(problem, object) else {
                return Compaction::Stop(Box::new(refused()));
            };
            for (key, part) in parts {
                next.seen.push(key);
                if self.violated.contains_key(&key) {
                    returned(&part).for_each(&mut forget);
                    continue;
                }
                match self.compact_part(key, &part, options, &mut next) {
                    Part::Compacted(count) => part.operations()[..count].iter().for_each(|&id| forget(id)),
                    Part::Stop(judgement) => return Compaction::Stop(judgement),
                }
            }
        }
        for (key, starts) in next.starts {
            self.is_whole.insert(key.0, key.1.is_none());
            self.starts.insert(key, starts);
        }
        self.seen.extend(next.seen);
        self.deciders.absorb(next.deciders);
        Compaction::Keep(keep)
    }

    /// Sets aside the violated parts of a window: from now on they are not judged. Returns, for
    /// each of them, its number among all that were set aside and its operations.
    pub fn set_aside_violated(
        &mut self,
        problems: Vec<Problem<'_>>,
        object: &dyn Fn(OperationId) -> ObjectId,
        options: &JudgeOptions,
    ) -> Vec<(usize, Vec<OperationId>)> {
        let quick = JudgeOptions { counterexample_configurations: 0, ..options.clone() };
        let mut found = Vec::new();
        let divided = problems.into_iter().filter_map(|it| self.divide(it, object).ok());
        for (key, part) in divided.flatten().collect::<Vec<_>>() {
            let starts = self.starts.get(&key).map_or(&[] as &[Start], Vec::as_slice);
            if !self.violated.contains_key(&key)
                && let Verdict::Violated(_) = judge_from_any(&part, starts, &quick).0.verdict
            {
                let number = self.violated.len();
                self.seen.insert(key);
                self.violated.insert(key, number);
                found.push((number, part.operations().to_vec()));
            }
        }
        found
    }

    /// Judges what was set aside: a counterexample for each part, in the order in which they were
    /// found. The counts are those of all parts of the stream.
    #[must_use]
    pub fn judge_set_aside(
        &self,
        problems: Vec<Problem<'_>>,
        object: &dyn Fn(OperationId) -> ObjectId,
        options: &JudgeOptions,
    ) -> Judgement {
        let divided = problems.into_iter().filter_map(|it| self.divide(it, object).ok()).flatten();
        let number = |key: &Key| self.violated.get(key).copied();
        let mut parts: Vec<_> = divided.filter_map(|(key, it)| Some((number(&key)?, key, it))).collect();
        parts.sort_by_key(|it| it.0);
        let (mut violations, mut unknown) = (Vec::new(), None);
        for (_, key, part) in parts {
            let starts = self.starts.get(&key).map_or(&[] as &[Start], Vec::as_slice);
            match judge_from_any(&part, starts, options).0.verdict {
                Verdict::Violated(violation) => violations.push(violation),
                Verdict::Unknown(reason) => unknown = unknown.or(Some(reason)),
                Verdict::Holds(_) => {
                    debug_assert!(false, "what was set aside is violated: {part:?}");
                }
            }
        }
        let nothing = || Reason::Internal("what was set aside is not violated".to_owned());
        let (verdict, others) = match violations.is_empty() {
            true => (Verdict::Unknown(unknown.unwrap_or_else(nothing)), violations),
            false => (Verdict::Violated(violations.remove(0)), violations),
        };
        let (deciders, configurations) = (self.deciders.names(), options.budget.visited());
        let mut judgement = Judgement::new(verdict, self.seen.len(), deciders, configurations);
        judgement.found.violated = (0..self.violated.len()).collect();
        Judgement { others, ..judgement }
    }

    /// How many objects, or parts of objects, are remembered by their states.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.starts.len()
    }

    /// The checkers that have decided, so far.
    #[must_use]
    pub fn deciders(&self) -> String {
        self.deciders.names()
    }

    /// The parts of an object. One that was compacted as a whole is not divided later; an error if
    /// it was divided and now an operation concerns the whole.
    fn divide<'a>(
        &self,
        problem: Problem<'a>,
        object: &dyn Fn(OperationId) -> ObjectId,
    ) -> Result<Vec<(Key, Problem<'a>)>, Divided> {
        let key = whole_object(&problem, object);
        if is_kept_by_operations(&problem) {
            return Ok(vec![(key, problem)]);
        }
        let object = key.0;
        match (self.is_whole.get(&object), problem.is_about_parts()) {
            (Some(false), false) => Err(Divided),
            (Some(true), _) | (None, false) => Ok(vec![((object, None), problem)]),
            (Some(false) | None, true) => {
                Ok(problem.into_parts().into_iter().map(|it| ((object, it.part()), it)).collect())
            }
        }
    }

    fn compact_part(&self, key: Key, part: &Problem<'_>, options: &JudgeOptions, next: &mut Next) -> Part {
        let starts = self.starts.get(&key).map_or(&[] as &[Start], Vec::as_slice);
        let rest = quiescent_prefix_len(part);
        let ends = if rest == 0 { None } else { final_states(&part.range(0..rest), starts, options) };
        let compacted = if ends.is_some() { rest } else { 0 };
        if compacted < part.len() {
            let open = part.range(compacted..part.len());
            let (judgement, deciders) = judge_from_any(&open, ends.as_deref().unwrap_or(starts), options);
            match judgement.verdict {
                Verdict::Holds(_) => next.deciders.absorb(deciders),
                Verdict::Violated(_) | Verdict::Unknown(_) => return Part::Stop(Box::new(judgement)),
            }
        }
        if let Some(ends) = ends {
            next.starts.push((key, ends));
            next.deciders.absorb(DecidedBy::search(JitGraph.name().to_owned(), compacted));
        }
        Part::Compacted(compacted)
    }
}

/// What a window adds to what is remembered.
#[derive(Default)]
struct Next {
    seen: Vec<Key>,
    starts: Vec<(Key, Vec<Start>)>,
    deciders: DecidedBy,
}

/// The result for a part.
enum Part {
    /// It holds so far. The possible states after this many operations are remembered.
    Compacted(usize),
    /// It is violated, or unknown.
    Stop(Box<Judgement>),
}

/// Whether operations, not states, are kept of such an object.
fn is_kept_by_operations(problem: &Problem<'_>) -> bool {
    problem.kind().is_some_and(|it| it.is_container() || it == ObjectKind::Set)
}

/// The object of a problem, undivided.
fn whole_object(problem: &Problem<'_>, object: &dyn Fn(OperationId) -> ObjectId) -> Key {
    (problem.operations().first().map_or(ObjectId(0), |&it| object(it)), None)
}

/// The operations that are over.
fn returned(problem: &Problem<'_>) -> impl Iterator<Item = OperationId> {
    let all = problem.operations().iter().zip(problem.spans());
    all.filter(|(_, span)| !span.is_pending()).map(|(&id, _)| id)
}

/// The states of an object are known part by part, and not as a whole.
struct Divided;

fn refused() -> Judgement {
    let reason = "an operation concerns all parts of an object after some were forgotten one by one";
    Judgement::new(Verdict::Unknown(Reason::Refused(reason.to_owned())), 1, "auto".to_owned(), 0)
}

/// Judges a part from each of the states in which it may begin; from the initial one if none are
/// given.
fn judge_from_any(part: &Problem<'_>, starts: &[Start], options: &JudgeOptions) -> (Judgement, DecidedBy) {
    let mut worst: Option<(Judgement, DecidedBy)> = None;
    for start in starts {
        let judged = judge_with_deciders(vec![part.clone().starting_at(start)], options);
        match &judged.0.verdict {
            Verdict::Holds(_) => return judged,
            // Unknown from one state, so unknown.
            Verdict::Unknown(_) => worst = Some(judged),
            Verdict::Violated(_) => worst = worst.or(Some(judged)),
        }
    }
    worst.unwrap_or_else(|| judge_with_deciders(vec![part.clone()], options))
}

/// How many operations lie before the last quiescent point of a part.
fn quiescent_prefix_len(part: &Problem<'_>) -> usize {
    let (mut rest, mut end) = (0, 0);
    for (at, span) in part.spans().iter().enumerate() {
        if end < span.call() {
            rest = at;
        }
        // A pending operation has no end.
        end = end.max(span.end());
    }
    if part.spans().iter().all(|it| !it.is_pending()) { part.len() } else { rest }
}

/// The states in which a complete part may end, if there are some and not too many.
fn final_states(part: &Problem<'_>, starts: &[Start], options: &JudgeOptions) -> Option<Vec<Start>> {
    let steps = FINAL_STATES_STEPS_PER_OPERATION.saturating_mul(part.len() as u64 + 1);
    let limited = || options.budget.child().with_configurations(options.budget.configurations().min(steps));
    // Most parts of a stream of many keys are a few operations, one after the other.
    let is_sequential = part.spans().is_sorted_by(|one, next| one.end() < next.call());
    let from = |part: Problem<'_>| -> Option<Vec<Start>> {
        if is_sequential {
            return Some(part.ends(&[Witness { order: part.operations().to_vec() }]));
        }
        match final_state_witnesses(&part, &limited()) {
            Ok(witnesses) => {
                let is_right = |it: &Witness| it.verify_within(&part, &options.budget) == Ok(Ok(()));
                witnesses.iter().all(is_right).then(|| part.ends(&witnesses))
            }
            Err(Verdict::Violated(_)) => Some(Vec::new()),
            Err(Verdict::Holds(_) | Verdict::Unknown(_)) => None,
        }
    };
    if starts.is_empty() {
        return from(part.clone()).filter(|it| !it.is_empty() && part.fault().is_none());
    }
    let mut ends: Vec<Start> = Vec::new();
    for start in starts {
        ends.extend(from(part.clone().starting_at(start))?);
    }
    let ends = part.distinct(ends);
    // Of a specification that has failed, states may be missing.
    let is_certain = !ends.is_empty() && part.fault().is_none();
    (is_certain && ends.len() <= FINAL_STATES_MAX).then_some(ends)
}

fn merge(one: Judgement, other: Judgement) -> Judgement {
    let mut names: Vec<String> = vec![one.algorithm, other.algorithm];
    names.dedup();
    let verdict = match one.verdict.merge(other.verdict) {
        // The operations of a window are no witness of what came before it.
        Verdict::Holds(_) => Verdict::Holds(Witness::default()),
        verdict @ (Verdict::Violated(_) | Verdict::Unknown(_)) => verdict,
    };
    let configurations = one.configurations + other.configurations;
    Judgement::new(verdict, one.parts + other.parts, names.join(", "), configurations)
}

/// The positions of operations that no longer matter, given that all of them can be ordered.
fn removable(columns: &Columns) -> Vec<usize> {
    match columns.kind {
        ObjectKind::Set => removable_from_set(columns),
        ObjectKind::Queue | ObjectKind::PriorityQueue | ObjectKind::Bag => match Lifetimes::new(columns) {
            Ok(Ok(_)) => removable_values(columns),
            Ok(Err(_)) | Err(_) => removable_pieces(columns),
        },
        // Removed elements may have overtaken those that are still inside.
        ObjectKind::QuasiQueue { .. }
        | ObjectKind::QuasiStack { .. }
        | ObjectKind::QuasiPriorityQueue { .. } => removable_pieces(columns),
        ObjectKind::Stack => match Lifetimes::new(columns) {
            Ok(Ok(lifetimes)) => removable_from_stack(columns, &lifetimes),
            Ok(Err(_)) | Err(_) => removable_pieces(columns),
        },
        ObjectKind::Multiset
        | ObjectKind::Counter
        | ObjectKind::Register { .. }
        | ObjectKind::Channel
        | ObjectKind::Deque
        | ObjectKind::Other(_) => Vec::new(),
    }
}

/// What lies before the last quiescent point at which the object is empty.
fn removable_pieces(columns: &Columns) -> Vec<usize> {
    let pieces = cut_where_empty(columns);
    let Some(last) = pieces.last() else { return Vec::new() };
    let inside = |at: usize| match columns.kinds[at] {
        RoleKind::Add => 1,
        RoleKind::Remove => -1,
        RoleKind::Observe
        | RoleKind::Absent
        | RoleKind::Empty
        | RoleKind::RemoveUnknown
        | RoleKind::Replace
        | RoleKind::NoEffect => 0,
    };
    let is_over = |range: std::ops::Range<usize>| {
        range.clone().all(|at| !columns.is_pending(at)) && range.map(inside).sum::<i32>() == 0
    };
    let end = if is_over(last.clone()) { last.end } else { last.start };
    (0..end).collect()
}

/// The first gap of any operation that is open, or that overlaps an open one.
fn horizon(intervals: &[Interval], last: u32) -> u32 {
    let first = |reaches: u32| {
        intervals.iter().filter(|it| reaches <= it.right).map(|it| it.left).min().unwrap_or(NONE)
    };
    match first(last) {
        NONE => NONE,
        open => first(open),
    }
}

/// Operations on removed elements, and *empty* results, before the [`horizon`].
fn removable_values(columns: &Columns) -> Vec<usize> {
    let horizon = horizon(&columns.intervals, columns.last);
    // By element: whether it was removed, and whether an operation on it is not over.
    let mut is_removed = vec![false; columns.names.len()];
    let mut is_open = vec![false; columns.names.len()];
    for at in 0..columns.len() {
        let element = columns.elements[at] as usize;
        match columns.kinds[at] {
            RoleKind::Add | RoleKind::Remove | RoleKind::Observe => {
                is_removed[element] |= columns.kinds[at] == RoleKind::Remove;
                is_open[element] |= horizon <= columns.intervals[at].right;
            }
            RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => (),
        }
    }
    let is_removable = |&at: &usize| match columns.kinds[at] {
        RoleKind::Add | RoleKind::Remove | RoleKind::Observe => {
            let element = columns.elements[at] as usize;
            is_removed[element] && !is_open[element]
        }
        RoleKind::Empty => columns.intervals[at].right < horizon,
        RoleKind::Absent | RoleKind::RemoveUnknown | RoleKind::Replace | RoleKind::NoEffect => false,
    };
    (0..columns.len()).filter(is_removable).collect()
}

/// Operations on elements that are gone by the last gap before the [`horizon`] in which no element
/// must be inside, and *empty* results before the horizon.
fn removable_from_stack(columns: &Columns, lifetimes: &Lifetimes) -> Vec<usize> {
    let horizon = horizon(&columns.intervals, columns.last).min(columns.last);
    let mut is_open = vec![false; columns.names.len()];
    for at in 0..columns.len() {
        if matches!(columns.kinds[at], RoleKind::Add | RoleKind::Remove | RoleKind::Observe) {
            is_open[columns.elements[at] as usize] |= horizon <= columns.intervals[at].right;
        }
    }
    // Differences of the number of elements that are, or may yet turn out to be, inside.
    let mut inside = vec![0_i32; columns.gaps() + 1];
    for (life, &is_open) in lifetimes.all.iter().zip(&is_open) {
        let end = if is_open { columns.last } else { life.inside_before };
        if life.inside_after + 1 < end {
            inside[life.inside_after as usize + 1] += 1;
            inside[end as usize] -= 1;
        }
    }
    let mut count = 0;
    let mut last_free: Option<u32> = None;
    for (gap, change) in (0..horizon).zip(inside) {
        count += change;
        if count == 0 {
            last_free = Some(gap);
        }
    }
    let is_below = |element: u32| {
        let life = &lifetimes.all[element as usize];
        !is_open[element as usize]
            && life.remove != NONE
            && last_free.is_some_and(|gap| life.inside_before <= gap)
    };
    let is_removable = |&at: &usize| match columns.kinds[at] {
        RoleKind::Add | RoleKind::Remove | RoleKind::Observe => is_below(columns.elements[at]),
        RoleKind::Empty => columns.intervals[at].right < horizon,
        RoleKind::Absent | RoleKind::RemoveUnknown | RoleKind::Replace | RoleKind::NoEffect => false,
    };
    (0..columns.len()).filter(is_removable).collect()
}

/// Operations on an element before its last quiescent moment, except one that added it.
fn removable_from_set(columns: &Columns) -> Vec<usize> {
    #[derive(Clone, Copy)]
    struct Element {
        // The number of adds, less that of removals.
        count: i32,
        last_add: u32,
        // Where its last operation ends.
        end: u32,
        // The first position that still matters, and the add before that.
        rest: u32,
        kept: u32,
    }
    let none = Element { count: 0, last_add: NONE, end: 0, rest: 0, kept: NONE };
    let mut elements = vec![none; columns.names.len()];
    let is_about_one = |at: usize| columns.kinds[at] != RoleKind::NoEffect;
    // The element, or the result, of these is not known yet.
    let unknown = (0..columns.len()).find(|&at| !is_about_one(at) && columns.is_pending(at));
    let open = unknown.map_or(NONE, |at| columns.intervals[at].left);
    for at in (0..columns.len()).filter(|&at| is_about_one(at)) {
        let Interval { left, right } = columns.intervals[at];
        let element = &mut elements[columns.elements[at] as usize];
        if element.end < left.min(open) {
            element.rest = at as u32;
            element.kept = if element.count == 1 { element.last_add } else { NONE };
        }
        element.end = element.end.max(right);
        match columns.kinds[at] {
            RoleKind::Add => (element.count, element.last_add) = (element.count + 1, at as u32),
            RoleKind::Remove => element.count -= 1,
            RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => (),
        }
    }
    for element in elements.iter_mut().filter(|it| it.end < columns.last.min(open)) {
        element.rest = NONE;
        element.kept = if element.count == 1 { element.last_add } else { NONE };
    }
    let is_removable = |&at: &usize| {
        let element = &elements[columns.elements[at] as usize];
        (at as u32) < element.rest && at as u32 != element.kept
    };
    (0..columns.len()).filter(|&at| is_about_one(at)).filter(is_removable).collect()
}
