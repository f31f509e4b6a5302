//! Shortest executions that lead to a given state.
//!
//! A search of the state graph does not record paths. Once a target is known to exist, this finds a
//! shortest path to it, breadth first. Steps are tried in an order that depends on the contents of
//! messages and not on ids, so that the path does not depend on what was explored before.
//!
//! Cost: 64 bytes for each state, and all states at two consecutive depths at once.

use std::{collections::VecDeque, time::Instant};

use clewline_core::is_interrupted;
use rustc_hash::FxHashMap;

use crate::{
    engine::Engine,
    interned::{BadHandler, Fingerprint},
    world::{Action, World},
};

/// The limits of the search for a path.
#[derive(Clone, Copy, Debug)]
pub struct TraceLimits {
    /// Maximum number of states to visit, approximately.
    pub states_max: usize,
    /// When to stop, unless there are so few states that the clock is never read.
    pub deadline: Option<Instant>,
}

impl Default for TraceLimits {
    /// No limits.
    fn default() -> Self {
        TraceLimits { states_max: usize::MAX, deadline: None }
    }
}

// The number of states between two reads of the clock.
const CLOCK_CHECK_INTERVAL_STATES: usize = 1 << 12;

/// The result of the search for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceResult {
    /// The actions on a shortest path.
    Found(Vec<Action>),
    /// No such state is reachable.
    Unreachable,
    /// The limit on states or on time was reached.
    GivenUp,
    /// A handler is not pure, or panicked.
    BadHandler(BadHandler),
}

/// A shortest path to a state for which `is_it` returns true. Its arguments are the state, and
/// whether no action is enabled in it.
pub fn trace(
    engine: &mut Engine,
    reach: TraceLimits,
    is_it: &mut dyn FnMut(&mut Engine, &World, bool) -> bool,
) -> TraceResult {
    let mut ways: FxHashMap<Fingerprint, (Fingerprint, Action)> = FxHashMap::default();
    let mut queue = VecDeque::from([engine.unstarted_world()]);
    let mut steps: Vec<(Action, Fingerprint)> = Vec::new();
    let mut actions = Vec::new();
    for looked in 1_usize.. {
        let Some(world) = queue.pop_front() else { break };
        let is_late = || is_interrupted() || reach.deadline.is_some_and(|it| it <= Instant::now());
        if looked.is_multiple_of(CLOCK_CHECK_INTERVAL_STATES) && is_late() {
            return TraceResult::GivenUp;
        }
        if let Some(bad_handler) = engine.bad_handler() {
            return TraceResult::BadHandler(bad_handler.clone());
        }
        actions.clear();
        engine.enabled(&world, &mut actions);
        steps.clear();
        for &action in &actions {
            steps.extend(engine.plan(&world, action).map(|it| (action, it)));
        }
        if world.is_begun && is_it(engine, &world, steps.is_empty()) {
            return TraceResult::Found(back_to_void(&ways, world.fingerprint));
        }
        // Where two actions lead to one state, either will do.
        steps.sort_by_key(|&(_, fingerprint)| fingerprint);
        for &(action, fingerprint) in &steps {
            if reach.states_max <= ways.len() {
                return TraceResult::GivenUp;
            }
            if let std::collections::hash_map::Entry::Vacant(free) = ways.entry(fingerprint) {
                free.insert((world.fingerprint, action));
                queue.push_back(engine.apply(&world, action).expect("it was planned"));
            }
        }
    }
    TraceResult::Unreachable
}

/// The actions on the path through states whose fingerprints have these lower halves. The first of
/// them is an initial state.
pub(crate) fn trace_along(engine: &mut Engine, halves: &[u64]) -> Vec<Action> {
    let mut world = engine.unstarted_world();
    let mut way = Vec::new();
    for &wanted in halves {
        let mut actions = Vec::new();
        engine.enabled(&world, &mut actions);
        let action =
            actions.into_iter().find(|&it| engine.plan(&world, it).is_some_and(|it| it as u64 == wanted));
        let action = action.expect("each state leads to the next");
        world = engine.apply(&world, action).expect("it was planned");
        way.push(action);
    }
    way
}

fn back_to_void(
    ways: &FxHashMap<Fingerprint, (Fingerprint, Action)>,
    mut fingerprint: Fingerprint,
) -> Vec<Action> {
    let mut actions = Vec::new();
    while let Some(&(before, action)) = ways.get(&fingerprint) {
        actions.push(action);
        // The start of the actors is the first action.
        if let Action::Begin { .. } = action {
            break;
        }
        fingerprint = before;
    }
    actions.reverse();
    actions
}
