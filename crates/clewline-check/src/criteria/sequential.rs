//! Sequential consistency: one order of all operations that keeps the order of each process.
//!
//! An operation comes after those of its process that had returned when it was called, and after
//! an initial state. An order of time between processes is not required. A pending operation
//! comes after those, too, and constrains nothing that follows; or it does not happen.
//!
//! The search places one operation after the other. A *lane* is a sequence of operations of one
//! process, each called after the one before had returned; a pending operation has a lane of its
//! own. A configuration is how much of each lane has been placed, and the states of all objects;
//! none is entered twice. An operation that changes nothing and may come next is placed at once:
//! it can only make room for others.
//!
//! Source: L. Lamport, How to make a multiprocessor computer that correctly executes multiprocess
//! programs, 1979. Cost: exponential in the number of processes; the problem is NP-complete
//! (P. B. Gibbons and E. Korach, 1997).

use std::collections::{HashMap, HashSet};

use clewline_core::{
    Budget, Charge, ErasedHistory, OperationId, OwnTimes, Problem, ProcessId, Reason, Span, StateId, Verdict,
    Witness,
};

use super::{
    procedure::violation,
    product::{Operation, Outcome, Product, States},
};

/// The name of this search in reports.
pub(super) const NAME: &str = "sequential";

// The budget is checked after this many configurations.
const CHECK_INTERVAL_CONFIGS: u64 = 64;

/// Decides whether the objects together are sequentially consistent.
pub(super) fn decide(history: &dyn ErasedHistory, problems: &[Problem<'_>], budget: &Budget) -> Verdict {
    let doubled: Vec<Problem<'_>> = problems.iter().map(Problem::with_and_without_results).collect();
    let mut search = Search::new(history, Product::new(&doubled), budget);
    let found = search.run();
    budget.visit(search.visited);
    let order = match found {
        Err(reason) => return Verdict::Unknown(reason),
        Ok(None) => {
            let all = search.product.operations.iter().filter(|it| !it.span.is_pending());
            return Verdict::Violated(violation(all.map(|it| it.id).collect()));
        }
        Ok(Some(order)) => order,
    };
    let witness = Witness { order: order.iter().map(|&at| search.product.operations[at].id).collect() };
    match wrong(history, problems, &witness) {
        None => Verdict::Holds(witness),
        Some(why) => {
            Verdict::Unknown(Reason::Internal(format!("the sequential order found is wrong ({why})")))
        }
    }
}

/// Operations of one process, each of which precedes the next; or a single pending one.
struct Lane {
    operations: Vec<usize>,
    // For each, how many operations of other lanes come before it.
    needs: Vec<Vec<(usize, u32)>>,
    is_pending: bool,
}

struct Search<'p> {
    product: Product<'p>,
    lanes: Vec<Lane>,
    budget: &'p Budget,
    charge: Charge,
    entered: HashSet<Box<[u32]>>,
    visited: u64,
}

/// How many operations of each lane have been placed, and the states.
struct Configuration {
    placed: Box<[u32]>,
    states: States,
    // The operation that led here.
    last: Option<usize>,
}

impl<'p> Search<'p> {
    fn new(history: &dyn ErasedHistory, product: Product<'p>, budget: &'p Budget) -> Search<'p> {
        let lanes = lanes(history, &product.operations);
        Search { product, lanes, budget, charge: budget.charge(), entered: HashSet::new(), visited: 0 }
    }

    /// An order of all complete operations, by their indices, if there is one.
    fn run(&mut self) -> Result<Option<Vec<usize>>, Reason> {
        let placed = vec![0; self.lanes.len()].into_boxed_slice();
        let first = Configuration { placed, states: self.product.initial(), last: None };
        // The configurations that are left to try, and those on the path to here.
        let mut left: Vec<(usize, Configuration)> = vec![(0, first)];
        let mut path: Vec<usize> = Vec::new();
        while let Some((depth, configuration)) = left.pop() {
            path.truncate(depth.saturating_sub(1));
            path.extend(configuration.last);
            if !self.enter(&configuration)? {
                continue;
            }
            if self.is_whole(&configuration) {
                return Ok(Some(path));
            }
            // The last one is tried first.
            let mut next = self.next(&configuration);
            next.reverse();
            left.extend(next.into_iter().map(|it| (depth + 1, it)));
        }
        Ok(None)
    }

    fn enter(&mut self, configuration: &Configuration) -> Result<bool, Reason> {
        let states = configuration.states.iter().map(|&StateId(state)| state);
        let key: Box<[u32]> = configuration.placed.iter().copied().chain(states).collect();
        let size = size_of_val(&*key) + size_of::<Box<[u32]>>();
        if !self.entered.insert(key) {
            return Ok(false);
        }
        self.visited += 1;
        if self.visited.is_multiple_of(CHECK_INTERVAL_CONFIGS) || self.visited == 1 {
            self.charge.set(2 * size * self.entered.len() + self.product.bytes());
        }
        self.budget.allow(self.visited)?;
        Ok(true)
    }

    fn is_whole(&self, configuration: &Configuration) -> bool {
        let is_placed =
            |(lane, &placed): (&Lane, &u32)| lane.is_pending || lane.operations.len() == placed as usize;
        self.lanes.iter().zip(&configuration.placed).all(is_placed)
    }

    /// The configurations that can follow, in the order in which they are tried.
    fn next(&mut self, configuration: &Configuration) -> Vec<Configuration> {
        let Configuration { placed, states, .. } = configuration;
        let mut ready: Vec<(bool, u32, usize, usize)> = Vec::new();
        for (at, lane) in self.lanes.iter().enumerate() {
            let place = placed[at] as usize;
            let Some(&operation) = lane.operations.get(place) else { continue };
            if lane.needs[place].iter().all(|&(other, count)| count <= placed[other]) {
                let end = self.product.operations[operation].span.end();
                ready.push((lane.is_pending, end, at, operation));
            }
        }
        // As they returned: that is an order of time, which is often the right one.
        ready.sort_unstable();
        let mut next = Vec::new();
        for (is_pending, _, lane, operation) in ready {
            let is_read = self.product.is_read(operation, Outcome::Recorded);
            if is_pending && is_read {
                continue;
            }
            for states in self.product.step(states, operation, Outcome::Recorded) {
                let mut placed = placed.clone();
                placed[lane] += 1;
                let after = Configuration { placed, states, last: Some(operation) };
                if is_read && after.states == configuration.states {
                    return vec![after];
                }
                next.push(after);
            }
        }
        next
    }
}

/// The lanes of `operations`, which are in the order of their calls.
fn lanes(history: &dyn ErasedHistory, operations: &[Operation]) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    let mut of_process: HashMap<ProcessId, Vec<usize>> = HashMap::new();
    let own: Vec<OwnTimes> = operations.iter().map(|it| own_times(history, it.id, it.span)).collect();
    // The lane of an initial state, which comes before everything.
    let mut initial = None;
    for (at, operation) in operations.iter().enumerate() {
        let own_lanes = of_process.entry(own[at].process).or_default();
        let returned = |lane: &Lane| lane.operations.partition_point(|&it| own[it].precedes(own[at]));
        let mut needs: Vec<(usize, u32)> =
            own_lanes.iter().map(|&it| (it, returned(&lanes[it]) as u32)).filter(|it| it.1 != 0).collect();
        needs.extend(initial.map(|it: usize| (it, lanes[it].operations.len() as u32)));
        let is_pending = operation.span.is_pending();
        let is_free = |it: &usize| returned(&lanes[*it]) == lanes[*it].operations.len();
        let free = own_lanes.iter().copied().find(is_free).filter(|_| !is_pending);
        let lane = free.unwrap_or_else(|| {
            lanes.push(Lane { operations: Vec::new(), needs: Vec::new(), is_pending });
            // Nothing has to come after a pending operation.
            if !is_pending {
                own_lanes.push(lanes.len() - 1);
            }
            lanes.len() - 1
        });
        needs.retain(|it| it.0 != lane);
        lanes[lane].operations.push(at);
        lanes[lane].needs.push(needs);
        if is_initial(history, operation.id) {
            initial = Some(lane);
        }
    }
    lanes
}

/// The process of an operation, and when it called and returned by its own clock.
pub(super) fn own_times(history: &dyn ErasedHistory, id: OperationId, span: Span) -> OwnTimes {
    let given = history.names().own_times.as_ref().and_then(|it| it.get(history.source(id)));
    let by_span = OwnTimes {
        process: history.process(id),
        called: i64::from(span.call()),
        returned: span.ret().map_or(i64::MAX, i64::from),
    };
    // A weaker problem may have dropped the return.
    let given = given.map(|it| if span.is_pending() { OwnTimes { returned: i64::MAX, ..*it } } else { *it });
    given.unwrap_or(by_span)
}

/// Whether the operation makes an initial state.
pub(super) fn is_initial(history: &dyn ErasedHistory, id: OperationId) -> bool {
    history.names().line(history.source(id)) == 0
}

/// Whether a linearization keeps the order of each process. It does if spans have that order.
pub(super) fn keeps_processes(
    history: &dyn ErasedHistory,
    problems: &[Problem<'_>],
    witness: &Witness,
) -> bool {
    history.names().own_times.is_none() || wrong(history, problems, witness).is_none()
}

/// Why `witness` is no sequential order of the operations, if it is none. It shares nothing with
/// the search.
fn wrong(history: &dyn ErasedHistory, problems: &[Problem<'_>], witness: &Witness) -> Option<String> {
    let mut places: HashMap<OperationId, usize> = HashMap::new();
    for (place, &id) in witness.order.iter().enumerate() {
        if places.insert(id, place).is_some() {
            return Some(format!("{id:?} occurs twice"));
        }
    }
    let mut by_process: HashMap<ProcessId, Vec<(OperationId, OwnTimes)>> = HashMap::new();
    for problem in problems {
        let mut replay = problem.replay();
        let own = witness.order.iter().filter_map(|&it| problem.position(it));
        for at in own {
            if !replay.advance(at) {
                return Some(format!("{:?} is not allowed at its place", problem.operations()[at]));
            }
        }
        for (&id, &span) in problem.operations().iter().zip(problem.spans()) {
            if !span.is_pending() && !places.contains_key(&id) {
                return Some(format!("{id:?} is missing"));
            }
            let own = own_times(history, id, span);
            by_process.entry(own.process).or_default().push((id, own));
        }
    }
    for operations in by_process.values() {
        // The greatest place of those that returned before a call, by the order of returns.
        let ended = operations.iter().filter(|it| it.1.returned != i64::MAX);
        let mut ended: Vec<(i64, usize)> = ended.map(|(id, own)| (own.returned, places[id])).collect();
        ended.sort_unstable();
        let mut latest = 0;
        for end in &mut ended {
            latest = latest.max(end.1);
            end.1 = latest;
        }
        for (id, own) in operations {
            let before = ended.partition_point(|it| it.0 < own.called);
            if let (Some(&place), Some(&(_, last))) = (places.get(id), ended[..before].last())
                && place < last
            {
                return Some(format!("{id:?} comes before one that its process called earlier"));
            }
        }
    }
    None
}
